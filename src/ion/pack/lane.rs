//! Slots that are filled in any order and emptied in the order in which they were asked for.

use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::job::{Fetch, Read};

/// A slot, and how far its reads have come.
#[derive(Debug, Default)]
struct Slot {
    buffer: Vec<u8>,
    /// Which fetch it belongs to, counted from the first.
    turn: u64,
    full: bool,
    source: u32,
    /// The reads that fill it, from when they are asked for until they are complete.
    reads: Vec<Read>,
    /// Bytes fed without a gap from the start of each read.
    fed: Vec<u64>,
}

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
            all.push(Slot {
                buffer: budget.allocate(bytes, "a slot")?,
                ..Slot::default()
            });
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
        let slot = &mut self.slots[index as usize];
        let mut at = 0;
        slot.reads.clear();
        for range in ranges {
            slot.reads.push(Read {
                source,
                range: range.clone(),
                slot: index,
                at,
            });
            at += usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
        }
        slot.turn = self.asked;
        slot.full = false;
        slot.source = source;
        slot.fed.clear();
        slot.fed.resize(ranges.len(), 0);
        // Within the capacity that was allocated when the job began.
        slot.buffer.resize(at, 0);
        self.asked += 1;
        Some(Fetch {
            slot: index,
            source,
            reads: slot.reads.clone(),
        })
    }

    pub(super) fn lend(&mut self, fetch: &Fetch) -> Vec<u8> {
        let slot = self.slots.get_mut(fetch.slot as usize);
        slot.map(|slot| std::mem::take(&mut slot.buffer))
            .unwrap_or_default()
    }

    pub(super) fn filled(
        &mut self,
        fetch: &Fetch,
        buffer: Vec<u8>,
        names: &[String; 2],
    ) -> Result<()> {
        let slot = self.slot(fetch.slot)?;
        let asked: u64 = slot.reads.iter().map(Read::len).sum();
        if buffer.len() as u64 != asked {
            return Err(Error::Unexpected {
                file: name(names, slot.source).to_owned(),
                at: slot.reads.first().map_or(0, |read| read.range.start),
                asked,
                got: buffer.len() as u64,
            });
        }
        slot.buffer = buffer;
        for (fed, read) in slot.fed.iter_mut().zip(&slot.reads) {
            *fed = read.len();
        }
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
        let name = name(names, slot.source);
        let (Some(asked), Some(fed)) = (slot.reads.get(read), slot.fed.get_mut(read)) else {
            return Err(Error::Parameter {
                name: "read",
                what: format!("{name}: read {read} of this slot was not asked for"),
            });
        };
        let end = offset.saturating_add(len as u64);
        if offset > *fed || end > asked.len() {
            return Err(Error::Unexpected {
                file: name.to_owned(),
                at: asked.range.start + *fed,
                asked: asked.len() - *fed,
                got: end,
            });
        }
        #[expect(
            clippy::cast_possible_truncation,
            reason = "within a read, which lies in a slot"
        )]
        let start = asked.at + offset as usize;
        write(&mut slot.buffer[start..start + len]);
        *fed = (*fed).max(end);
        Ok(())
    }

    /// Says that all reads of a slot have been fed.
    pub(super) fn complete(&mut self, slot: u32, names: &[String; 2]) -> Result<()> {
        let slot = self.slot(slot)?;
        let name = name(names, slot.source);
        if slot.reads.is_empty() {
            return Err(Error::Parameter {
                name: "slot",
                what: format!("{name}: nothing was asked for in this slot"),
            });
        }
        for (read, fed) in slot.reads.iter().zip(&slot.fed) {
            if *fed != read.len() {
                return Err(Error::Unexpected {
                    file: name.to_owned(),
                    at: read.range.start,
                    asked: read.len(),
                    got: *fed,
                });
            }
        }
        slot.reads.clear();
        slot.full = true;
        Ok(())
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
