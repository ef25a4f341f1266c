//! Ranges of one source on their way: asked for in order, filled in any order, let go in order.

use std::collections::VecDeque;
use std::ops::Range;

use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::ion::slots::Slots;
use crate::job::Fetch;
use crate::job::slot::Slot;

/// What a driver holds of a body on its way into a slot.
pub(super) const CHUNK: u64 = 64 << 10;

/// The queue of a job's reads, each into a buffer of its own length.
#[derive(Debug)]
pub(super) struct Reads {
    name: String,
    ranges: Vec<Range<u64>>,
    /// The slots of the ranges from `first` to those that were asked for last.
    live: VecDeque<u32>,
    /// The first range that was not let go.
    first: usize,
    slots: Slots,
    /// Why the next range cannot be asked for, which only the job's next turn can say.
    fault: Option<Error>,
}

impl Reads {
    /// The reads of `ranges`, none of which is empty, from the source `name`.
    pub(super) fn new(name: &str, ranges: Vec<Range<u64>>) -> Self {
        Self {
            name: name.to_owned(),
            ranges,
            live: VecDeque::new(),
            first: 0,
            slots: Slots::default(),
            fault: None,
        }
    }

    /// Asks for the next range, if it is one of the first `until` and there is memory for it.
    pub(super) fn next(&mut self, until: usize, budget: &mut Budget) -> Option<Fetch> {
        let index = self.first + self.live.len();
        if self.fault.is_some() || index >= until.min(self.ranges.len()) {
            return None;
        }
        let range = self.ranges[index].clone();
        let buffer = usize::try_from(range.end - range.start)
            .map_err(|_| Error::Budget {
                need: range.end - range.start,
                have: budget.limit(),
                what: "one read".to_owned(),
            })
            .and_then(|len| budget.allocate(len, "one read"));
        let buffer = match buffer {
            Ok(buffer) => buffer,
            Err(error) => {
                // With something under way, memory will be let go; otherwise nobody ever would.
                if self.live.is_empty() {
                    self.fault = Some(error);
                }
                return None;
            }
        };
        let fetch = self.slots.ask(index as u64, range, buffer);
        self.live.push_back(fetch.slot);
        Some(fetch)
    }

    /// Moves a slot's buffer out to be filled.
    pub(super) fn lend(&mut self, fetch: &Fetch) -> Vec<u8> {
        self.slots.lend(fetch)
    }

    /// Takes a filled buffer back.
    pub(super) fn filled(&mut self, fetch: &Fetch, buffer: Vec<u8>) -> Result<()> {
        let (name, slot) = self.slot(fetch.slot)?;
        slot.put(name, buffer)?;
        slot.complete(name)
    }

    /// Takes a piece of a read from byte `offset` of it; `write` fills its place.
    pub(super) fn feed(
        &mut self,
        slot: u32,
        read: usize,
        offset: u64,
        len: usize,
        write: impl FnOnce(&mut [u8]),
    ) -> Result<()> {
        let (name, slot) = self.slot(slot)?;
        slot.feed(name, read, offset, len, write)
    }

    /// Says that a slot's read has been fed whole.
    pub(super) fn complete(&mut self, slot: u32) -> Result<()> {
        let (name, slot) = self.slot(slot)?;
        slot.complete(name)
    }

    fn slot(&mut self, slot: u32) -> Result<(&str, &mut Slot)> {
        let found = self.slots.of(&self.name, slot)?;
        Ok((&self.name, found))
    }

    /// Whether all ranges before `end` have arrived.
    ///
    /// # Errors
    /// Why the next range can never be asked for.
    pub(super) fn arrived(&mut self, end: usize) -> Result<bool> {
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        let wanted = end.saturating_sub(self.first);
        Ok(self.live.len() >= wanted
            && (self.live.iter().take(wanted))
                .all(|id| self.slots.get(*id).is_some_and(|slot| slot.full)))
    }

    /// The bytes of a range that has arrived and was not let go; none otherwise.
    pub(super) fn bytes(&self, index: usize) -> &[u8] {
        let id = index
            .checked_sub(self.first)
            .and_then(|at| self.live.get(at));
        let slot = id.and_then(|id| self.slots.get(*id));
        slot.map_or(&[], |slot| &slot.buffer)
    }

    /// Lets go of all ranges before `end`.
    pub(super) fn release(&mut self, end: usize, budget: &mut Budget) {
        while self.first < end
            && let Some(id) = self.live.pop_front()
        {
            let range = &self.ranges[self.first];
            budget.release(range.end - range.start);
            self.first += 1;
            self.slots.free(id);
        }
    }

    /// The source's name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The ranges, in the order in which they are asked for.
    pub(super) fn ranges(&self) -> &[Range<u64>] {
        &self.ranges
    }
}
