//! What of a job is in the bucket: one listing, from which everything else is concluded.

use std::collections::BTreeSet;

use super::document::Document;
use super::id::Id;
use super::keys::{Key, prefix};
use super::message::Task;

/// What finished shards have cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spent {
    /// Requests.
    pub requests: u64,
    /// Bytes that were fetched.
    pub bytes: u64,
}

/// The keys of one job, sorted by what they are for.
///
/// Some 50 bytes a shard.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each says that one key is there, and any of them may be"
)]
pub struct Held {
    /// `job.json` is there.
    pub job: bool,
    /// All messages have been sent.
    pub sent: bool,
    /// Everything is being removed.
    pub cancelled: bool,
    /// Results are whole.
    pub done: bool,
    /// Finished shards.
    pub parts: BTreeSet<u32>,
    /// What was put back, and is to be tried again.
    pub retries: BTreeSet<Task>,
    /// What was given up.
    pub failed: BTreeSet<Task>,
    /// Results with their sizes, finished or not.
    pub results: Vec<(String, u64)>,
    /// What the finished shards have cost.
    pub spent: Spent,
    /// Keys that nothing here writes.
    pub others: Vec<String>,
}

impl Held {
    /// Takes one object of the listing: its whole key, its size, what it has cost (of a part).
    pub fn take(&mut self, job: &Id, key: &str, size: u64, spent: Spent) {
        let Some(name) = key.strip_prefix(&prefix(job)) else {
            return;
        };
        match Key::parse(name) {
            Some(Key::Job) => self.job = true,
            Some(Key::Sent) => self.sent = true,
            Some(Key::Cancelled) => self.cancelled = true,
            Some(Key::Done) => self.done = true,
            Some(Key::Part(shard)) => {
                self.parts.insert(shard);
                self.spent.requests = self.spent.requests.saturating_add(spent.requests);
                self.spent.bytes = self.spent.bytes.saturating_add(spent.bytes);
            }
            Some(Key::Retry(task)) => {
                self.retries.insert(task);
            }
            Some(Key::Failed(task)) => {
                self.failed.insert(task);
            }
            Some(Key::Result(name)) => self.results.push((name, size)),
            None => self.others.push(name.to_owned()),
        }
    }

    /// Whether there is a job that may be worked on: not removed, and not about to be.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        self.job && !self.cancelled
    }

    /// Whether all shards are finished.
    #[must_use]
    pub fn is_whole(&self, document: &Document) -> bool {
        (1..=document.shards).all(|shard| self.parts.contains(&shard))
    }

    /// Shards that are neither finished nor given up.
    #[must_use]
    pub fn missing(&self, document: &Document) -> Vec<u32> {
        let is_missing = |shard: &u32| {
            !self.parts.contains(shard) && !self.failed.contains(&Task::Shard(*shard))
        };
        (1..=document.shards).filter(is_missing).collect()
    }

    /// What is of no use once the results are whole, or once they are not wanted: parts and what was tried.
    #[must_use]
    pub fn working(&self) -> Vec<Key> {
        let parts = self.parts.iter().copied().map(Key::Part);
        let retries = self.retries.iter().copied().map(Key::Retry);
        let failed = self.failed.iter().copied().map(Key::Failed);
        parts.chain(retries).chain(failed).collect()
    }

    /// Results, finished or not.
    #[must_use]
    pub fn made(&self) -> Vec<Key> {
        let results = self.results.iter();
        results.map(|(name, _)| Key::Result(name.clone())).collect()
    }
}
