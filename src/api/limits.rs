//! What one answer may take, and what it would take.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::problem::Problem;

/// What a host allows one answer, or one shard of a job, to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Requests to the bucket or to other servers.
    pub requests: u64,
    /// Milliseconds of processor time.
    pub cpu_ms: u64,
    /// Bytes of memory.
    pub memory: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Bytes of an answer's body.
    pub answer_bytes: u64,
}

impl Default for Limits {
    /// A paid Cloudflare Worker: 10,000 requests, 30 s, and of its 128 MB the 48 MiB that leave room for the module and
    /// for what JavaScript holds.
    fn default() -> Self {
        Self {
            requests: 10_000,
            cpu_ms: 30_000,
            memory: 48 << 20,
            bytes: 1 << 30,
            answer_bytes: 32 << 20,
        }
    }
}

/// What an answer would take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Cost {
    /// Requests to the bucket or to other servers.
    pub requests: u64,
    /// Bytes that they bring.
    pub bytes: u64,
    /// Most bytes held at one time.
    pub peak_bytes: u64,
    /// Milliseconds of processor time, estimated.
    pub cpu_ms: u64,
    /// Bytes of the answer's body, at most.
    pub answer_bytes: u64,
}

impl Limits {
    /// Refuses what takes more than is allowed.
    ///
    /// # Errors
    /// 413 with the members `plan` and `limits`, and each limit that is passed in the text.
    pub fn check(&self, cost: &Cost) -> Result<(), Problem> {
        let pairs = [
            ("requests", cost.requests, self.requests),
            ("bytes to read", cost.bytes, self.bytes),
            ("bytes of memory", cost.peak_bytes, self.memory),
            ("ms of processor time", cost.cpu_ms, self.cpu_ms),
            ("bytes of answer", cost.answer_bytes, self.answer_bytes),
        ];
        let passed: Vec<String> = pairs
            .into_iter()
            .filter(|(_, takes, allowed)| takes > allowed)
            .map(|(what, takes, allowed)| format!("{takes} {what}, of which {allowed} are allowed"))
            .collect();
        if passed.is_empty() {
            return Ok(());
        }
        let detail = format!(
            "this takes {}; ask for a smaller part, a finer level or a computed pyramid",
            passed.join("; ")
        );
        Err(Problem::new("budget", detail)
            .with("plan", json!(cost))
            .with("limits", json!(self)))
    }
}
