//! Slots that are filled in any order and emptied in the order in which they were asked for.

use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::job::slot::Slot;
use crate::job::{Fetch, Read};

/// All slots of a job.
#[derive(Debug)]
pub(super) struct Lane {
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// Fetches asked for so far.
    asked: u64,
    /// The fetch whose bytes are used next.
    current: u64,
}

impl Lane {
    pub(super) fn new(slots: u32, bytes: usize, budget: &mut Budget) -> Result<Self> {
        let mut all = Vec::new();
        for _ in 0..slots {
            all.push(Slot::new(budget.allocate(bytes, "a slot")?));
        }
        Ok(Self {
            slots: all,
            free: (0..slots).rev().collect(),
            asked: 0,
            current: 0,
        })
    }

    /// Gives all slots up.
    pub(super) fn clear(&mut self) {
        self.slots = Vec::new();
        self.free = Vec::new();
    }

    /// Whether a fetch can be asked for.
    pub(super) fn has_room(&self) -> bool {
        !self.free.is_empty()
    }

    /// Fetches asked for and not yet used up.
    pub(super) fn waiting(&self) -> u64 {
        self.asked - self.current
    }

    /// Takes a free slot for a fetch of these `(range, start in the slot)`.
    pub(super) fn ask(&mut self, source: u32, ranges: &[std::ops::Range<u64>]) -> Option<Fetch> {
        let index = self.free.pop()?;
        let mut at = 0;
        let mut reads = Vec::with_capacity(ranges.len());
        for range in ranges {
            reads.push(Read {
                source,
                range: range.clone(),
                slot: index,
                at,
            });
            at += usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
        }
        let fetch = Fetch {
            slot: index,
            source,
            reads,
        };
        self.slots[index as usize].take(self.asked, &fetch);
        self.asked += 1;
        Some(fetch)
    }

    pub(super) fn lend(&mut self, fetch: &Fetch) -> Vec<u8> {
        let slot = self.slots.get_mut(fetch.slot as usize);
        slot.map(Slot::lend).unwrap_or_default()
    }

    pub(super) fn filled(
        &mut self,
        fetch: &Fetch,
        buffer: Vec<u8>,
        names: &[String; 2],
    ) -> Result<()> {
        let slot = self.slot(fetch.slot)?;
        slot.put(name(names, slot.source), buffer)?;
        self.complete(fetch.slot, names)
    }

    /// Takes a piece of a read; `write` fills its place in the slot.
    pub(super) fn feed(
        &mut self,
        place: (u32, usize, u64),
        len: usize,
        names: &[String; 2],
        write: impl FnOnce(&mut [u8]),
    ) -> Result<()> {
        let (slot, read, offset) = place;
        let slot = self.slot(slot)?;
        slot.feed(name(names, slot.source), read, offset, len, write)
    }

    /// Says that all reads of a slot have been fed.
    pub(super) fn complete(&mut self, slot: u32, names: &[String; 2]) -> Result<()> {
        let slot = self.slot(slot)?;
        slot.complete(name(names, slot.source))
    }

    /// Index of the slot whose turn it is, if it is full.
    pub(super) fn front(&self) -> Option<usize> {
        let current = self.current;
        self.slots
            .iter()
            .position(|slot| slot.full && slot.turn == current)
    }

    /// The bytes of a slot.
    pub(super) fn bytes(&self, slot: usize) -> &[u8] {
        self.slots.get(slot).map_or(&[], |slot| &slot.buffer)
    }

    /// Frees the slot whose turn it was.
    pub(super) fn pass(&mut self, slot: usize) {
        if let Some(full) = self.slots.get_mut(slot).filter(|slot| slot.full) {
            full.full = false;
            self.current += 1;
            self.free.extend(u32::try_from(slot));
        }
    }

    fn slot(&mut self, slot: u32) -> Result<&mut Slot> {
        self.slots
            .get_mut(slot as usize)
            .ok_or_else(|| Error::Parameter {
                name: "slot",
                what: format!("there is no slot {slot}"),
            })
    }
}

fn name(names: &[String; 2], source: u32) -> &str {
    names.get(source as usize).map_or("job", String::as_str)
}
