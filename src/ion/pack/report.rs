//! What came of packing, and how far it is.

use serde::Serialize;

use crate::store::head::Counts;

/// What a finished job says about its store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Peaks in the store.
    pub peaks: u64,
    /// Spectra in it, those without peaks among them.
    pub spectra: u64,
    /// What was found, dropped or repaired.
    pub counts: Counts,
    /// What the user should know, a sentence each; the store says the same.
    pub warnings: Vec<String>,
    /// Bytes of the store.
    pub store_bytes: u64,
    /// Bytes that were put into the spill.
    pub spill_bytes: u64,
}

/// What a job is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Spectra are read.
    Read,
    /// Peaks are sorted and written.
    Sort,
    /// The store is finished.
    Done,
}

impl Phase {
    /// One lower-case word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Sort => "sort",
            Self::Done => "done",
        }
    }
}

/// How far a job is: both phases count peaks, each from 0 to its own total.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Progress {
    /// What it is doing.
    pub phase: Phase,
    /// Peaks of this phase that are done.
    pub done: u64,
    /// Peaks of this phase.
    pub total: u64,
}
