//! `job.json`: what was asked, and how it is cut.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::MOST_SHARDS;
use super::ask::Asked;
use super::id::Id;
use crate::error::{Error, Result};

/// The version that is written, and the only one that is read.
const VERSION: u32 = 1;

/// What a job will cost, all shards together, and how it is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Estimate {
    /// Shards.
    pub shards: u32,
    /// Requests of all shards.
    pub requests: u64,
    /// Bytes that all shards fetch.
    pub bytes: u64,
    /// Most bytes that one shard holds.
    pub peak_bytes: u64,
    /// Milliseconds of processor time that the most expensive shard takes.
    pub shard_cpu_ms: u64,
    /// Requests of the most expensive shard.
    pub shard_requests: u64,
    /// Requests of the assembly.
    pub assembly_requests: u64,
    /// Bytes of all results.
    pub result_bytes: u64,
}

/// A job that has begun. Nothing in it depends on who began it, or when: it is the same whoever writes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// The job's name.
    pub id: Id,
    /// `name@version`.
    pub dataset: String,
    /// The program's version: another one makes other parts.
    pub program: String,
    /// What is computed.
    pub asked: Asked,
    /// Into how many shards it is cut.
    pub shards: u32,
    /// What it was expected to cost.
    pub estimate: Estimate,
    /// All that its parts depend on, as [`results::stack`](crate::results::stack::Description) or
    /// [`results::shards`](crate::results::shards::Description) writes it down.
    pub work: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    sectile: u32,
    id: String,
    dataset: String,
    program: String,
    asked: Value,
    estimate: Estimate,
    work: String,
}

impl Document {
    /// The document of a job over `dataset` (`name@version`), planned so.
    #[must_use]
    pub fn new(dataset: &str, asked: Asked, program: &str, estimate: Estimate, work: &str) -> Self {
        Self {
            id: Id::new(dataset, &asked, program),
            dataset: dataset.to_owned(),
            program: program.to_owned(),
            asked,
            shards: estimate.shards,
            estimate,
            work: work.to_owned(),
        }
    }

    /// The bytes of `job.json`.
    #[must_use]
    pub fn to_json(&self) -> String {
        let written = Written {
            sectile: VERSION,
            id: self.id.to_string(),
            dataset: self.dataset.clone(),
            program: self.program.clone(),
            asked: self.asked.to_value(),
            estimate: self.estimate,
            work: self.work.clone(),
        };
        let mut text = serde_json::to_string(&written).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Reads `job.json` of the job `id`.
    ///
    /// # Errors
    /// [`Error::Format`] for what is none, for that of another job, and for shards without end.
    pub fn parse(id: &Id, bytes: &[u8]) -> Result<Self> {
        let refused = |what: String| Error::Format {
            file: super::keys::Key::Job.of(id),
            at: 0,
            what: format!("{what}; DELETE the job and ask for it again"),
        };
        let written: Written =
            serde_json::from_slice(bytes).map_err(|fault| refused(fault.to_string()))?;
        if written.sectile != VERSION {
            return Err(refused(format!(
                "version {} is not known here",
                written.sectile
            )));
        }
        let asked = Asked::parse(written.asked.to_string().as_bytes())
            .map_err(|fault| refused(fault.to_string()))?;
        if !(1..=MOST_SHARDS).contains(&written.estimate.shards) {
            return Err(refused(format!("{} shards", written.estimate.shards)));
        }
        let read = Self::new(
            &written.dataset,
            asked,
            &written.program,
            written.estimate,
            &written.work,
        );
        if read.id != *id || written.id != id.as_str() {
            return Err(refused("it is about another job".to_owned()));
        }
        Ok(read)
    }

    /// SHA-256 of the list of an annotation, as its [`work`](Self::work) has it: the id has the list's name only.
    #[must_use]
    pub fn list(&self) -> Option<String> {
        if !matches!(self.asked, Asked::Annotation(_)) {
            return None;
        }
        let work: Value = serde_json::from_str(&self.work).ok()?;
        Some(work.get("list")?.get("sha256")?.as_str()?.to_owned())
    }

    /// The dataset's name, without its version.
    #[must_use]
    pub fn name(&self) -> &str {
        self.dataset.split('@').next().unwrap_or_default()
    }
}
