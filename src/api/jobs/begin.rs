//! How a job begins, begins again and is removed: a function of what the bucket holds.

use super::document::Document;
use super::effect::{Answer, Effect};
use super::held::Held;
use super::keys::Key;
use super::message::{Message, Task};

/// Messages that are sent at once: the most that a queue takes.
pub const BATCH: usize = 100;

/// What somebody wants who begins a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanting {
    /// The job itself: what of it was given up is to be tried again.
    Job,
    /// An answer that there is once the job is done: nobody means to try anything again by that.
    Answer,
}

/// What is to be done when a job is asked for.
///
/// `planned` is the job as it would begin now; `found` the document that is in the bucket, which holds where it differs
/// (limits may have been others when it began).
///
/// A job that is there is left alone, but what was given up is tried again, and so is a beginning that was broken off.
/// Where its list of molecules has been replaced under the same name, all of it is removed, and it begins anew.
#[must_use]
pub fn begin(
    planned: &Document,
    found: Option<&Document>,
    held: &Held,
    wanting: Wanting,
) -> Vec<Effect> {
    if held.cancelled {
        return removal(held)
            .unwrap_or_else(|| vec![Effect::Delete(vec![Key::Cancelled]), Effect::Look]);
    }
    let Some(document) = found.filter(|_| held.job) else {
        return create(planned, held);
    };
    if document.list() != planned.list() {
        return removal(held).unwrap_or_else(|| vec![Effect::Look]);
    }
    if held.done {
        return vec![Effect::Reply(Answer::There)];
    }
    if !held.failed.is_empty() && wanting == Wanting::Job {
        return again(document, held);
    }
    if held.sent {
        return vec![Effect::Reply(Answer::There)];
    }
    send(document, held)
}

/// What is to be done when a job is to be removed.
#[must_use]
pub fn remove(held: &Held) -> Vec<Effect> {
    if *held == Held::default() {
        return vec![Effect::Reply(Answer::Unknown)];
    }
    removal(held).unwrap_or_else(|| {
        vec![
            Effect::Delete(vec![Key::Cancelled]),
            Effect::Reply(Answer::Removed),
        ]
    })
}

fn create(planned: &Document, held: &Held) -> Vec<Effect> {
    let mut stale = held.working();
    if held.done {
        stale.push(Key::Done);
    }
    stale.extend(held.made());
    if held.sent {
        stale.push(Key::Sent);
    }
    if !stale.is_empty() {
        // Written after the job was removed, by those who had not noticed yet.
        return vec![Effect::Delete(stale), Effect::Look];
    }
    let document = Effect::Put {
        key: Key::Job,
        body: planned.to_json(),
        fresh: true,
    };
    let mut effects = vec![document];
    effects.extend(send(planned, held));
    effects
}

/// Sends all that is missing, and then says so.
fn send(document: &Document, held: &Held) -> Vec<Effect> {
    let shards = held.missing(document).into_iter().map(Task::Shard);
    let mut messages: Vec<Message> = shards.map(|task| message(document, task)).collect();
    if messages.is_empty() {
        messages.push(message(document, Task::Assemble));
    }
    let mut effects: Vec<Effect> = messages
        .chunks(BATCH)
        .map(|batch| Effect::Send(batch.to_vec()))
        .collect();
    effects.push(Effect::Put {
        key: Key::Sent,
        body: String::new(),
        fresh: false,
    });
    effects.push(Effect::Reply(Answer::Begun));
    effects
}

/// Forgets what was given up; then all that is missing is sent.
fn again(document: &Document, held: &Held) -> Vec<Effect> {
    // First of all, so that a beginning that is broken off here is seen to be one.
    let mut keys = vec![Key::Sent];
    let mut left = held.clone();
    if held.failed.contains(&Task::Assemble) {
        // Parts that could not be put together are made anew.
        keys.extend(held.working());
        left.parts.clear();
    } else {
        keys.extend(held.failed.iter().copied().map(Key::Failed));
    }
    left.failed.clear();
    let mut effects = vec![Effect::Delete(keys)];
    effects.extend(send(document, &left));
    effects
}

/// Marks a job as removed, so that nobody works on it any more, and removes everything but the mark; `None` once there
/// is nothing else.
fn removal(held: &Held) -> Option<Vec<Effect>> {
    let mut effects = Vec::new();
    if !held.cancelled {
        effects.push(Effect::Put {
            key: Key::Cancelled,
            body: String::new(),
            fresh: false,
        });
    }
    let mut keys = Vec::new();
    // What says that results are whole goes before them.
    for (is_there, key) in [
        (held.done, Key::Done),
        (held.job, Key::Job),
        (held.sent, Key::Sent),
    ] {
        if is_there {
            keys.push(key);
        }
    }
    keys.extend(held.working());
    keys.extend(held.made());
    keys.extend(held.others.iter().cloned().map(Key::Result));
    if held.cancelled && keys.is_empty() {
        return None;
    }
    effects.push(Effect::Delete(keys));
    effects.push(Effect::Look);
    Some(effects)
}

fn message(document: &Document, task: Task) -> Message {
    Message {
        dataset: document.dataset.clone(),
        job: document.id.clone(),
        task,
    }
}
