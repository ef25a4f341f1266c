//! What a host does for a job: the only words between the decisions and the bucket, the queue and the client.

use serde_json::{Value, json};

use super::id::Id;
use super::keys::Key;
use super::message::Message;

/// One thing to do; a list of them is done from the first to the last.
///
/// Every list ends with one of [`Look`](Self::Look), [`Ack`](Self::Ack), [`Retry`](Self::Retry) and
/// [`Reply`](Self::Reply). A host that is stopped between two of them has done no harm: the message comes again, or the
/// client asks again, and decisions are made anew from what the bucket holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Writes an object.
    Put {
        /// Where.
        key: Key,
        /// What.
        body: String,
        /// Only if there is none of this key: who comes second changes nothing.
        fresh: bool,
    },
    /// Removes objects, in this order; those that are gone already do not matter.
    Delete(Vec<Key>),
    /// Puts messages into the queue.
    Send(Vec<Message>),
    /// Computes a shard and writes its part, pictures first; then goes on with the list.
    Compute(u32),
    /// Writes all results out of the parts, and then `done.json`; then goes on with the list.
    Assemble,
    /// Lists the bucket and decides anew.
    Look,
    /// The message is dealt with.
    Ack,
    /// The message is to come again after so many seconds.
    Retry(u32),
    /// Writes a line into the log.
    Log(String),
    /// Answers the client; how is the route's business.
    Reply(Answer),
}

/// What a client is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// The job has begun, or has begun again: 202.
    Begun,
    /// The job was there already: 200.
    There,
    /// The job is removed: 204.
    Removed,
    /// There is no such job: 404.
    Unknown,
}

impl Answer {
    /// The status of HTTP.
    #[must_use]
    pub fn status(self) -> u16 {
        match self {
            Self::Begun => 202,
            Self::There => 200,
            Self::Removed => 204,
            Self::Unknown => 404,
        }
    }
}

impl Effect {
    /// The same for JavaScript: an object whose `do` says what.
    #[must_use]
    pub fn to_value(&self, job: &Id) -> Value {
        match self {
            Self::Put { key, body, fresh } => {
                json!({ "do": "put", "key": key.of(job), "body": body, "fresh": fresh })
            }
            Self::Delete(keys) => {
                let keys: Vec<String> = keys.iter().map(|key| key.of(job)).collect();
                json!({ "do": "delete", "keys": keys })
            }
            Self::Send(messages) => {
                let messages: Vec<Value> = messages.iter().map(Message::to_value).collect();
                json!({ "do": "send", "messages": messages })
            }
            Self::Compute(shard) => json!({
                "do": "compute",
                "shard": shard,
                "part": Key::Part(*shard).of(job),
                "pictures": Key::Pictures(*shard).of(job),
            }),
            Self::Assemble => json!({ "do": "assemble", "done": Key::Done.of(job) }),
            Self::Look => json!({ "do": "look" }),
            Self::Ack => json!({ "do": "ack" }),
            Self::Retry(seconds) => json!({ "do": "retry", "seconds": seconds }),
            Self::Log(text) => json!({ "do": "log", "text": text }),
            Self::Reply(answer) => json!({ "do": "reply", "status": answer.status() }),
        }
    }
}
