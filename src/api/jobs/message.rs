//! What the queue carries: which shard of which job, nothing else.

use serde_json::{Map, Value, json};

use super::MOST_SHARDS;
use super::id::Id;

/// The version that is written, and the only one that is read.
const VERSION: u64 = 1;

/// A piece of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Task {
    /// One shard, counted from 1.
    Shard(u32),
    /// Putting the parts of all shards together.
    Assemble,
}

/// A message: it may come twice, out of order, and again after a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// `name@version`.
    pub dataset: String,
    /// The job.
    pub job: Id,
    /// What of it.
    pub task: Task,
}

impl Message {
    /// Reads a message.
    ///
    /// # Errors
    /// Why it is none, as a sentence for the log: nobody can do anything about it, and it would come again for ever.
    pub fn parse(body: &Value) -> Result<Self, String> {
        let Value::Object(members) = body else {
            return Err("the message is no JSON object".to_owned());
        };
        match members.get("v").map(Value::as_u64) {
            Some(Some(VERSION)) => {}
            Some(version) => {
                return Err(format!(
                    "version {version:?} of the message is not known here"
                ));
            }
            None => return Err("the message has no version".to_owned()),
        }
        let known = ["v", "dataset", "job", "shard", "assemble"];
        if let Some(member) = members.keys().find(|key| !known.contains(&key.as_str())) {
            return Err(format!("the message has an unknown member {member:?}"));
        }
        let text = |name: &str| {
            let text = members.get(name).and_then(Value::as_str);
            text.ok_or_else(|| format!("the message has no text {name:?}"))
        };
        let job = text("job")?;
        Ok(Self {
            dataset: text("dataset")?.to_owned(),
            job: Id::parse(job).ok_or_else(|| format!("{job:?} is no id of a job"))?,
            task: task(members)?,
        })
    }

    /// The message as the queue carries it.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut value = json!({ "v": VERSION, "dataset": self.dataset, "job": self.job.as_str() });
        match self.task {
            Task::Shard(shard) => value["shard"] = shard.into(),
            Task::Assemble => value["assemble"] = true.into(),
        }
        value
    }
}

fn task(members: &Map<String, Value>) -> Result<Task, String> {
    match (members.get("shard"), members.get("assemble")) {
        (Some(shard), None) => {
            let number = shard.as_u64().and_then(|shard| u32::try_from(shard).ok());
            let number = number.filter(|number| (1..=MOST_SHARDS).contains(number));
            let number = number.ok_or_else(|| format!("{shard} is no shard"))?;
            Ok(Task::Shard(number))
        }
        (None, Some(Value::Bool(true))) => Ok(Task::Assemble),
        _ => Err("the message names neither a shard nor the assembly".to_owned()),
    }
}
