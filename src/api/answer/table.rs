//! One range of one source, read as a whole: a table of a store, a tile of a pyramid.

use std::ops::Range;

use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::job::slot::Slot;
use crate::job::{Fetch, Read};

/// A range that is asked for once.
#[derive(Debug)]
pub(super) struct Table {
    name: String,
    range: Range<u64>,
    slot: Slot,
    asked: bool,
}

impl Table {
    /// The bytes of `range` of the source `name`; room for them is taken at once.
    pub(super) fn new(name: &str, range: Range<u64>, budget: &mut Budget) -> Result<Self> {
        let bytes = range.end - range.start;
        let len = usize::try_from(bytes).map_err(|_| Error::Budget {
            need: bytes,
            have: budget.limit(),
            what: "one read".to_owned(),
        })?;
        Ok(Self {
            name: name.to_owned(),
            asked: range.is_empty(),
            range,
            slot: Slot::new(budget.allocate(len, "one read")?),
        })
    }

    /// The one fetch.
    pub(super) fn next(&mut self) -> Option<Fetch> {
        if self.asked {
            return None;
        }
        self.asked = true;
        let read = Read {
            source: 0,
            range: self.range.clone(),
            slot: 0,
            at: 0,
        };
        let fetch = Fetch {
            slot: 0,
            source: 0,
            reads: vec![read],
        };
        self.slot.take(0, &fetch);
        Some(fetch)
    }

    pub(super) fn lend(&mut self) -> Vec<u8> {
        self.slot.lend()
    }

    pub(super) fn filled(&mut self, buffer: Vec<u8>) -> Result<()> {
        self.slot.put(&self.name, buffer)?;
        self.slot.complete(&self.name)
    }

    pub(super) fn feed(
        &mut self,
        read: usize,
        offset: u64,
        len: usize,
        write: impl FnOnce(&mut [u8]),
    ) -> Result<()> {
        self.slot.feed(&self.name, read, offset, len, write)
    }

    pub(super) fn complete(&mut self) -> Result<()> {
        self.slot.complete(&self.name)
    }

    /// The bytes, once they are all there.
    pub(super) fn bytes(&self) -> Option<&[u8]> {
        (self.slot.full || self.range.is_empty()).then_some(&self.slot.buffer)
    }

    /// Bytes that it holds.
    pub(super) fn held(&self) -> u64 {
        self.range.end - self.range.start
    }
}
