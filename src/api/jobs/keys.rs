//! Where everything of a job lies in the bucket.
//!
//! | key under `.sectile/jobs/{id}/` | what |
//! |---|---|
//! | `job.json` | the [document](super::document::Document): what was asked, and how it is cut |
//! | `sent` | all messages are in the queue |
//! | `parts/{k:05}` | what shard k has found; it is there when the shard is finished |
//! | `parts/{k:05}.images` | the pictures of shard k, written before the former |
//! | `retries/{k:05}.json` | why shard k was put back last |
//! | `failed/{k:05}.json`, `failed/assembly.json` | why it was given up |
//! | `cancelled` | everything is being removed |
//! | `median.fits`, `pyramid.fits`, … | results |
//! | `done.json` | results are whole; parts are of no use any more |

use super::MOST_SHARDS;
use super::id::Id;
use super::message::Task;

/// What all keys of all jobs begin with; removing what begins so removes all jobs.
pub const ROOT: &str = ".sectile/jobs/";

/// What a key is for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    /// `job.json`.
    Job,
    /// `sent`.
    Sent,
    /// `cancelled`.
    Cancelled,
    /// `done.json`.
    Done,
    /// A finished shard.
    Part(u32),
    /// The pictures of a shard.
    Pictures(u32),
    /// Why a piece of work was put back.
    Retry(Task),
    /// Why it was given up.
    Failed(Task),
    /// A result.
    Result(String),
}

/// The prefix of a job's keys.
#[must_use]
pub fn prefix(job: &Id) -> String {
    format!("{ROOT}{job}/")
}

impl Key {
    /// The whole key of a job.
    #[must_use]
    pub fn of(&self, job: &Id) -> String {
        format!("{}{}", prefix(job), self.name())
    }

    /// The key without the prefix.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Job => "job.json".to_owned(),
            Self::Sent => "sent".to_owned(),
            Self::Cancelled => "cancelled".to_owned(),
            Self::Done => "done.json".to_owned(),
            Self::Part(shard) => format!("parts/{shard:05}"),
            Self::Pictures(shard) => format!("parts/{shard:05}.images"),
            Self::Retry(task) => format!("retries/{}.json", work(*task)),
            Self::Failed(task) => format!("failed/{}.json", work(*task)),
            Self::Result(name) => name.clone(),
        }
    }

    /// Reads a key without the prefix; what is in no folder and nothing else is a result.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let in_folder = |folder: &str, end: &str| name.strip_prefix(folder)?.strip_suffix(end);
        Some(match name {
            "job.json" => Self::Job,
            "sent" => Self::Sent,
            "cancelled" => Self::Cancelled,
            "done.json" => Self::Done,
            _ => {
                if let Some(shard) = in_folder("parts/", ".images") {
                    Self::Pictures(number(shard)?)
                } else if let Some(shard) = in_folder("parts/", "") {
                    Self::Part(number(shard)?)
                } else if let Some(task) = in_folder("retries/", ".json") {
                    Self::Retry(named(task)?)
                } else if let Some(task) = in_folder("failed/", ".json") {
                    Self::Failed(named(task)?)
                } else if name.is_empty() || name.contains('/') {
                    return None;
                } else {
                    Self::Result(name.to_owned())
                }
            }
        })
    }
}

fn work(task: Task) -> String {
    match task {
        Task::Shard(shard) => format!("{shard:05}"),
        Task::Assemble => "assembly".to_owned(),
    }
}

fn named(text: &str) -> Option<Task> {
    match text {
        "assembly" => Some(Task::Assemble),
        shard => number(shard).map(Task::Shard),
    }
}

/// A number of five digits or more, as [`Key::name`] writes it.
fn number(text: &str) -> Option<u32> {
    let number: u32 = text.parse().ok()?;
    let known = (1..=MOST_SHARDS).contains(&number) && format!("{number:05}") == text;
    known.then_some(number)
}
