//! How far a job is, as `GET /v1/{dataset}/jobs/{id}` says it.

use serde_json::{Value, json};

use super::document::Document;
use super::held::Held;
use super::keys::Key;
use super::message::Task;
use super::step::Fault;

/// Failures that are told one by one; the others are counted.
pub const TOLD: usize = 20;

/// Where a job stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Nothing is finished yet.
    Queued,
    /// Some shards are.
    Running,
    /// All shards are, and their parts are being put together.
    Assembling,
    /// Results are whole.
    Done,
    /// Something was given up; the rest goes on, and asking for the job anew tries it again.
    Failed,
    /// Everything is being removed.
    Cancelled,
}

impl State {
    /// Where a job stands, by what the bucket holds.
    #[must_use]
    pub fn of(document: &Document, held: &Held) -> Self {
        if held.cancelled {
            Self::Cancelled
        } else if held.done {
            Self::Done
        } else if !held.failed.is_empty() {
            Self::Failed
        } else if held.is_whole(document) {
            Self::Assembling
        } else if held.parts.is_empty() && held.retries.is_empty() {
            Self::Queued
        } else {
            Self::Running
        }
    }

    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Assembling => "assembling",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether it will not change by itself.
    #[must_use]
    pub fn is_final(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Cancelled)
    }
}

/// What has to be read before the progress can be told: reasons, at most [`TOLD`] of each kind, and the results' sizes.
#[must_use]
pub fn wanted(held: &Held) -> Vec<Key> {
    let failed = held.failed.iter().copied().map(Key::Failed);
    let retries = held.retries.iter().copied().map(Key::Retry);
    failed.take(TOLD).chain(retries.take(TOLD)).collect()
}

/// The progress as JSON.
///
/// `address` is the job's own; `read` has what [`wanted`] asked for, `None` where it was gone.
///
/// Members: `id`, `type`, `dataset`, `state` (`queued`, `running`, `assembling`, `done`, `failed`, `cancelled`),
/// `asked`, `shards` (`total`, `done`, `failed`, `retrying`), `tally` (`requests`, `bytes_fetched` of the finished shards,
/// while their parts are kept), `estimate`, `failures` and `retries` (`shard` or `assembly`, `code`, `reason`), `results` (`name`, `bytes`,
/// `media_type`, `href`; none before all are whole), `links`.
#[must_use]
pub fn progress(
    document: &Document,
    held: &Held,
    address: &str,
    read: &[(Key, Option<Vec<u8>>)],
) -> Value {
    let state = State::of(document, held);
    let failed = held.failed.iter().filter(|task| **task != Task::Assemble);
    let retrying = held.retries.iter().filter(|task| **task != Task::Assemble);
    let finished = if held.done {
        document.shards as usize
    } else {
        held.parts.len()
    };
    let mut value = json!({
        "id": document.id.as_str(),
        "type": document.asked.kind(),
        "dataset": document.dataset,
        "state": state.name(),
        "asked": document.asked.to_value(),
        "shards": {
            "total": document.shards,
            "done": finished,
            "failed": failed.count(),
            "retrying": retrying.count(),
        },
        "estimate": document.estimate,
        "failures": reasons(read, |key| matches!(key, Key::Failed(_))),
        "retries": reasons(read, |key| matches!(key, Key::Retry(_))),
        "results": results(document, held, state, address),
        "links": { "self": address },
    });
    if !held.done {
        value["tally"] = json!({
            "requests": held.spent.requests,
            "bytes_fetched": held.spent.bytes,
        });
    }
    value
}

fn reasons(read: &[(Key, Option<Vec<u8>>)], is_wanted: impl Fn(&Key) -> bool) -> Vec<Value> {
    let told = read.iter().filter(|(key, _)| is_wanted(key));
    told.filter_map(|(key, bytes)| {
        let (Key::Failed(task) | Key::Retry(task)) = key else {
            return None;
        };
        let fault = bytes.as_deref().and_then(Fault::parse)?;
        serde_json::from_str(&fault.to_json(*task)).ok()
    })
    .collect()
}

fn results(document: &Document, held: &Held, state: State, address: &str) -> Vec<Value> {
    if state != State::Done {
        return Vec::new();
    }
    let names = document.asked.results().iter();
    names
        .filter_map(|name| {
            let (_, bytes) = held.results.iter().find(|(there, _)| there == name)?;
            Some(json!({
                "name": name,
                "bytes": bytes,
                "media_type": media_type(name),
                "href": format!("{address}/{name}"),
            }))
        })
        .collect()
}

/// The media type of a result, by its name.
#[must_use]
pub fn media_type(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("fits") => "application/fits",
        Some("csv") => "text/csv; charset=utf-8",
        Some("json") => "application/json",
        _ => "application/octet-stream",
    }
}
