//! What a job asks of a driver: the vocabulary of the sans-I/O core.
//!
//! A job never reads. It names byte ranges and the slots they go into; a driver brings the bytes;
//! the job hands out finished items.

pub(crate) mod front;
pub(crate) mod slot;
pub mod whole;

use std::ops::Range;

use serde::Serialize;

use crate::error::Result;

/// One contiguous byte range of one source, and where in memory it goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Read {
    /// Index of the source in the order in which the job was given its sources.
    pub source: u32,
    /// The bytes `[start, end)`; a driver clips the end to the file's size where that is smaller.
    pub range: Range<u64>,
    /// The slot the bytes go into.
    pub slot: u32,
    /// Where in the slot the first of them goes.
    pub at: usize,
}

impl Read {
    /// Length of the range in bytes.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.range.end - self.range.start
    }

    /// Whether the range holds no byte at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.range.is_empty()
    }
}

/// One turn of a state machine whose next range depends on bytes already seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step<T> {
    /// The job cannot go on without these bytes.
    Need(Range<u64>),
    /// An item is finished.
    Ready(T),
    /// There is nothing more to do.
    Done,
}

/// What a job has cost so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Tally {
    /// Requests sent (or local reads made), retries included.
    pub requests: u64,
    /// Requests that had to be sent again.
    pub retries: u64,
    /// Bytes of bodies that were received, wanted or not.
    pub bytes_fetched: u64,
    /// Bytes that the plan asked for and that were used.
    pub bytes_payload: u64,
    /// Highest number of bytes held at one time.
    pub peak_bytes: u64,
    /// Sections finished in this run.
    pub sections: u64,
    /// Wall time in seconds.
    pub seconds: f64,
}

/// A state machine over one source, used only where bytes decide the next range.
pub trait Machine {
    /// What it finds.
    type Item;

    /// One turn. After [`Step::Need`] the same range is asked for until it is fed.
    ///
    /// # Errors
    /// Whatever is wrong with the bytes fed so far.
    fn step(&mut self) -> Result<Step<Self::Item>>;

    /// Takes the bytes of the range asked for.
    ///
    /// `at` is the range's start. Fewer bytes than asked for mean that the source ends there.
    /// `total` is the source's size, where the driver knows it.
    ///
    /// # Errors
    /// [`Error::Unexpected`](crate::error::Error::Unexpected) for bytes that were not asked for.
    fn feed(&mut self, at: u64, bytes: &[u8], total: Option<u64>) -> Result<()>;
}

/// One slot to fill from one source: the unit of work that is in flight.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetch {
    /// The slot, lent to the driver until [`Job::filled`].
    pub slot: u32,
    /// Index of the source.
    pub source: u32,
    /// The ranges that fill the slot, in ascending order. One, unless parts of rows are fetched.
    pub reads: Vec<Read>,
}

/// A planned job: everything it will read is known, and it only waits for bytes.
pub trait Job {
    /// What it hands out; borrowed from the job, so that nothing is copied.
    type Item<'a>
    where
        Self: 'a;

    /// The next slot to fill, or `None` while no slot is free or when all are asked for.
    fn next(&mut self) -> Option<Fetch>;

    /// Moves a slot's buffer out to be filled. Its length is the bytes that the fetch brings.
    fn lend(&mut self, fetch: &Fetch) -> Vec<u8>;

    /// Takes a filled buffer back.
    ///
    /// # Errors
    /// [`Error::Unexpected`](crate::error::Error::Unexpected) if its length is not the lent one.
    fn filled(&mut self, fetch: &Fetch, buffer: Vec<u8>) -> Result<()>;

    /// The next finished item, or `None` if more bytes are needed first.
    ///
    /// # Errors
    /// Those of the reduction.
    fn ready(&mut self) -> Result<Option<Self::Item<'_>>>;

    /// Whether every item has been handed out.
    fn is_done(&self) -> bool;

    /// Most bytes held at one time so far, by the job's own account.
    fn peak(&self) -> u64;
}
