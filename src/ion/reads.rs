//! Ranges of one source on their way: asked for in order, filled in any order, let go in order.

use std::collections::VecDeque;
use std::ops::Range;

use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::job::{Fetch, Read};

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
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// Why the next range cannot be asked for, which only the job's next turn can say.
    fault: Option<Error>,
}

#[derive(Debug, Default)]
struct Slot {
    range: Range<u64>,
    buffer: Vec<u8>,
    /// Bytes fed without a gap from the start.
    fed: u64,
    lent: bool,
    full: bool,
}

impl Reads {
    /// The reads of `ranges`, none of which is empty, from the source `name`.
    pub(super) fn new(name: &str, ranges: Vec<Range<u64>>) -> Self {
        Self {
            name: name.to_owned(),
            ranges,
            live: VecDeque::new(),
            first: 0,
            slots: Vec::new(),
            free: Vec::new(),
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
        let id = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            u32::try_from(self.slots.len() - 1).unwrap_or(u32::MAX)
        });
        self.slots[id as usize] = Slot {
            range: range.clone(),
            buffer,
            ..Slot::default()
        };
        self.live.push_back(id);
        Some(Fetch {
            slot: id,
            source: 0,
            reads: vec![Read {
                source: 0,
                range,
                slot: id,
                at: 0,
            }],
        })
    }

    /// Moves a slot's buffer out to be filled.
    pub(super) fn lend(&mut self, fetch: &Fetch) -> Vec<u8> {
        let slot = self.slots.get_mut(fetch.slot as usize);
        slot.map_or_else(Vec::new, |slot| {
            slot.lent = true;
            std::mem::take(&mut slot.buffer)
        })
    }

    /// Takes a filled buffer back.
    pub(super) fn filled(&mut self, fetch: &Fetch, buffer: Vec<u8>) -> Result<()> {
        let Some(slot) = open(&mut self.slots, fetch.slot).filter(|slot| slot.lent) else {
            return Err(not_asked(&self.name, fetch.slot));
        };
        let asked = slot.range.end - slot.range.start;
        if buffer.len() as u64 != asked {
            return Err(Error::Unexpected {
                file: self.name.clone(),
                at: slot.range.start,
                asked,
                got: buffer.len() as u64,
            });
        }
        slot.buffer = buffer;
        slot.lent = false;
        slot.full = true;
        Ok(())
    }

    /// Takes a piece of a read from byte `offset` of it; `write` fills its place. A piece may begin anywhere up
    /// to the first byte that is missing.
    pub(super) fn feed(
        &mut self,
        slot: u32,
        read: usize,
        offset: u64,
        len: usize,
        write: impl FnOnce(&mut [u8]),
    ) -> Result<()> {
        let found = open(&mut self.slots, slot).filter(|slot| read == 0 && !slot.lent);
        let Some(slot) = found else {
            return Err(not_asked(&self.name, slot));
        };
        let end = offset.saturating_add(len as u64);
        let place = usize::try_from(offset)
            .ok()
            .filter(|_| offset <= slot.fed)
            .and_then(|start| slot.buffer.get_mut(start..start.checked_add(len)?));
        let Some(place) = place else {
            return Err(Error::Unexpected {
                file: self.name.clone(),
                at: slot.range.start + slot.fed,
                asked: slot.range.end - slot.range.start - slot.fed,
                got: end,
            });
        };
        write(place);
        slot.fed = slot.fed.max(end);
        Ok(())
    }

    /// Says that a slot's read has been fed whole.
    pub(super) fn complete(&mut self, slot: u32) -> Result<()> {
        let Some(slot) = open(&mut self.slots, slot).filter(|slot| !slot.lent) else {
            return Err(not_asked(&self.name, slot));
        };
        let asked = slot.range.end - slot.range.start;
        if slot.fed != asked {
            return Err(Error::Unexpected {
                file: self.name.clone(),
                at: slot.range.start,
                asked,
                got: slot.fed,
            });
        }
        slot.full = true;
        Ok(())
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
            && (self.live.iter().take(wanted)).all(|id| self.slots[*id as usize].full))
    }

    /// The bytes of a range that has arrived and was not let go; none otherwise.
    pub(super) fn bytes(&self, index: usize) -> &[u8] {
        let id = index
            .checked_sub(self.first)
            .and_then(|at| self.live.get(at));
        id.map_or(&[], |id| &self.slots[*id as usize].buffer)
    }

    /// Lets go of all ranges before `end`.
    pub(super) fn release(&mut self, end: usize, budget: &mut Budget) {
        while self.first < end
            && let Some(id) = self.live.pop_front()
        {
            self.first += 1;
            let slot = std::mem::take(&mut self.slots[id as usize]);
            budget.release(slot.range.end - slot.range.start);
            self.free.push(id);
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

/// A slot that waits for bytes.
fn open(slots: &mut [Slot], slot: u32) -> Option<&mut Slot> {
    let slot = slots.get_mut(slot as usize)?;
    (!slot.full && !slot.range.is_empty()).then_some(slot)
}

fn not_asked(name: &str, slot: u32) -> Error {
    Error::Parameter {
        name: "slot",
        what: format!("{name}: nothing was asked for in slot {slot}"),
    }
}
