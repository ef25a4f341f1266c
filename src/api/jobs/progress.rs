//! How far a job is.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::NewJob;
use crate::api::reply::Reply;

/// What has become of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Some shards are not finished.
    Running,
    /// All shards are there, and are being put together.
    Assembling,
    /// The results are there.
    Done,
    /// Some shards cannot be computed, and no other is being computed.
    Failed,
    /// It was cancelled, and what is left of it is being removed.
    Cancelled,
}

/// A shard that cannot be computed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The shard, counted from 1.
    pub shard: u64,
    /// Why.
    pub reason: String,
}

/// A result that can be fetched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultFile {
    /// Its name, one of [`RESULTS`](super::RESULTS).
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// Its address.
    pub href: String,
}

/// How far a job is: what `GET …/jobs/{id}` answers, and POST too.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// The job.
    pub job: String,
    /// The dataset's id.
    pub dataset: String,
    /// What was asked, canonical.
    pub request: Value,
    /// What has become of it.
    pub state: State,
    /// Shards in all.
    pub shards: u64,
    /// Shards whose result is there.
    pub done: u64,
    /// Shards that cannot be computed.
    pub failures: Vec<Failure>,
    /// Results that are there.
    pub results: Vec<ResultFile>,
    /// What it has cost so far, where that is known.
    pub tally: Value,
}

impl Progress {
    /// The progress of a job of which nothing is done.
    #[must_use]
    pub fn new(job: &NewJob, shards: u64) -> Self {
        Self {
            job: job.at.job.clone(),
            dataset: job.at.id.clone(),
            request: job.request.to_json(),
            state: State::Running,
            shards,
            done: 0,
            failures: Vec::new(),
            results: Vec::new(),
            tally: json!({}),
        }
    }

    /// The answer: 200, or 202 for a job that was started just now, with the address of its progress.
    #[must_use]
    pub fn reply(&self, status: u16, location: &str) -> Reply {
        let mut value = json!(self);
        value["location"] = json!(location);
        Reply::json(status, &value).with("Location", location)
    }
}
