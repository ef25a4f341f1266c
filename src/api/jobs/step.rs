//! What the consumer of the queue does with a message: a function of what the bucket holds, and of nothing else.
//!
//! No step depends on what this consumer did before, so that a message may come twice, late, out of order, or to a host
//! that was started anew: the same is concluded. Two that do the same at once write the same bytes under the same keys.
//!
//! What a step writes is looked at again afterwards. So whatever is written after a job was removed is removed by
//! who wrote it, and a part that is written after the results are whole goes as the others went.

use serde_json::{Value, json};

use super::document::Document;
use super::effect::Effect;
use super::held::Held;
use super::keys::Key;
use super::message::{Message, Task};

/// Why a piece of work has not ended well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The kind of error as one word, as problems have it.
    pub code: String,
    /// What a person is told.
    pub reason: String,
}

/// Seconds before a message comes again for the first time; twice as long each time, up to [`LONGEST`].
const PAUSE: u32 = 5;
/// The longest pause.
const LONGEST: u32 = 600;

/// What is to be done with a message.
///
/// `document` is that of the job, if it is there.
#[must_use]
pub fn decide(message: &Message, document: Option<&Document>, held: &Held) -> Vec<Effect> {
    let document = match on_life(message, document, held) {
        Ok(document) => document,
        Err(effects) => return effects,
    };
    match message.task {
        Task::Shard(shard) => of_shard(message, shard, document, held),
        Task::Assemble => of_assembly(document, held),
    }
}

/// What is to be done with a message that has failed too often: what it was about is given up.
///
/// `last` is what [`Key::Retry`] holds of it, if anything.
#[must_use]
pub fn give_up(
    message: &Message,
    document: Option<&Document>,
    held: &Held,
    last: Option<&[u8]>,
) -> Vec<Effect> {
    let effects = decide(message, document, held);
    let is_work = |effect: &Effect| matches!(effect, Effect::Compute(_) | Effect::Assemble);
    if !effects.iter().any(is_work) {
        return effects;
    }
    let last = last.and_then(Fault::parse).unwrap_or_else(|| Fault {
        code: "stopped".to_owned(),
        reason: "the worker was stopped, for time or memory".to_owned(),
    });
    let fault = Fault {
        reason: format!(
            "given up after several tries; the last one: {}",
            last.reason
        ),
        ..last
    };
    failed(message.task, &fault)
}

/// What is to be done after a piece of work that could not be done; `attempts` counts from 1.
#[must_use]
pub fn after(message: &Message, fault: &Fault, attempts: u32) -> Vec<Effect> {
    if !fault.is_passing() {
        return failed(message.task, fault);
    }
    let doubled = PAUSE.saturating_mul(1 << attempts.saturating_sub(1).min(16));
    vec![
        Effect::Put {
            key: Key::Retry(message.task),
            body: fault.to_json(message.task),
            fresh: false,
        },
        Effect::Retry(doubled.min(LONGEST)),
    ]
}

/// What a message is good for that nobody can read: the log.
#[must_use]
pub fn poison(why: &str) -> Vec<Effect> {
    vec![
        Effect::Log(format!("a message of the queue is let go: {why}")),
        Effect::Ack,
    ]
}

fn failed(task: Task, fault: &Fault) -> Vec<Effect> {
    vec![
        Effect::Put {
            key: Key::Failed(task),
            body: fault.to_json(task),
            fresh: true,
        },
        Effect::Look,
    ]
}

/// The document of a job that is to be worked on, or what to do where there is none.
fn on_life<'a>(
    message: &Message,
    document: Option<&'a Document>,
    held: &Held,
) -> Result<&'a Document, Vec<Effect>> {
    let Some(document) = document.filter(|_| held.is_alive()) else {
        return Err(cleared(own(message.task, held)));
    };
    if document.dataset != message.dataset {
        return Err(poison(&format!(
            "job {} is over {}, not over {}",
            message.job, document.dataset, message.dataset
        )));
    }
    if let Task::Shard(shard) = message.task
        && shard > document.shards
    {
        return Err(poison(&format!(
            "job {} has {} shards, and none has the number {shard}",
            message.job, document.shards
        )));
    }
    if held.done {
        return Err(cleared(held.working()));
    }
    Ok(document)
}

/// Removes what is to be removed, and ends when nothing is left of it.
fn cleared(keys: Vec<Key>) -> Vec<Effect> {
    if keys.is_empty() {
        vec![Effect::Ack]
    } else {
        vec![Effect::Delete(keys), Effect::Look]
    }
}

/// What of the bucket a piece of work has written.
fn own(task: Task, held: &Held) -> Vec<Key> {
    let mut keys = Vec::new();
    match task {
        Task::Shard(shard) => {
            if held.parts.contains(&shard) {
                keys.push(Key::Part(shard));
            }
            if held.pictures.contains(&shard) {
                keys.push(Key::Pictures(shard));
            }
        }
        Task::Assemble => {
            // `done.json` before what it promises.
            if held.done {
                keys.push(Key::Done);
            }
            keys.extend(held.made());
        }
    }
    keys.extend(tried(task, held));
    keys
}

/// Why a piece of work was put back or given up.
fn tried(task: Task, held: &Held) -> Vec<Key> {
    let retry = held.retries.contains(&task).then_some(Key::Retry(task));
    let failed = held.failed.contains(&task).then_some(Key::Failed(task));
    retry.into_iter().chain(failed).collect()
}

fn of_shard(message: &Message, shard: u32, document: &Document, held: &Held) -> Vec<Effect> {
    let task = message.task;
    if held.parts.contains(&shard) {
        let tried = tried(task, held);
        if !tried.is_empty() {
            return vec![Effect::Delete(tried), Effect::Look];
        }
        if !held.is_whole(document) {
            return vec![Effect::Ack];
        }
        let assemble = Message {
            task: Task::Assemble,
            ..message.clone()
        };
        return vec![Effect::Send(vec![assemble]), Effect::Ack];
    }
    if held.failed.contains(&task) {
        return given_up(task, held);
    }
    vec![Effect::Compute(shard), Effect::Look]
}

fn of_assembly(document: &Document, held: &Held) -> Vec<Effect> {
    if held.failed.contains(&Task::Assemble) {
        return given_up(Task::Assemble, held);
    }
    if !held.is_whole(document) {
        // A shard that was given up and is tried again will ask for the assembly when it is finished.
        return vec![Effect::Ack];
    }
    vec![Effect::Assemble, Effect::Look]
}

fn given_up(task: Task, held: &Held) -> Vec<Effect> {
    let retry = held.retries.contains(&task).then_some(Key::Retry(task));
    cleared(retry.into_iter().collect())
}

impl Fault {
    /// A fault of this kind.
    #[must_use]
    pub fn new(code: &str, reason: &str) -> Self {
        Self {
            code: code.to_owned(),
            reason: reason.to_owned(),
        }
    }

    /// Whether the same may go well the next time: a server that did not answer, a worker that was stopped.
    ///
    /// What a file, a list or an option has wrong stays wrong.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        ![
            "format",
            "unsupported",
            "mismatch",
            "budget",
            "parameter",
            "changed",
            "missing",
            "denied",
            "range",
        ]
        .contains(&self.code.as_str())
    }

    /// What is written of it.
    #[must_use]
    pub fn to_json(&self, task: Task) -> String {
        let mut value = json!({ "code": self.code, "reason": self.reason });
        match task {
            Task::Shard(shard) => value["shard"] = shard.into(),
            Task::Assemble => value["assembly"] = true.into(),
        }
        format!("{value}\n")
    }

    /// Reads what [`to_json`](Self::to_json) wrote; `None` for anything else.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let value: Value = serde_json::from_slice(bytes).ok()?;
        let text = |name: &str| value.get(name)?.as_str().map(str::to_owned);
        Some(Self {
            code: text("code")?,
            reason: text("reason")?,
        })
    }
}
