//! Slots of one read each, every one with a buffer of its own length.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::job::slot::Slot;
use crate::job::{Fetch, Read};

/// Slots that are taken and freed in any order.
#[derive(Debug, Default)]
pub(super) struct Slots {
    slots: Vec<Slot>,
    free: Vec<u32>,
}

impl Slots {
    /// Takes a slot for a range of the job's only source, which `buffer` is as long as.
    pub(super) fn ask(&mut self, turn: u64, range: Range<u64>, buffer: Vec<u8>) -> Fetch {
        let id = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            u32::try_from(self.slots.len() - 1).unwrap_or(u32::MAX)
        });
        let fetch = Fetch {
            slot: id,
            source: 0,
            reads: vec![Read {
                source: 0,
                range,
                slot: id,
                at: 0,
            }],
        };
        let slot = &mut self.slots[id as usize];
        *slot = Slot::new(buffer);
        slot.take(turn, &fetch);
        fetch
    }

    /// Moves a slot's buffer out to be filled.
    pub(super) fn lend(&mut self, fetch: &Fetch) -> Vec<u8> {
        let slot = self.slots.get_mut(fetch.slot as usize);
        slot.map(Slot::lend).unwrap_or_default()
    }

    /// A slot of the job on the source `name`.
    pub(super) fn of(&mut self, name: &str, slot: u32) -> Result<&mut Slot> {
        let slots = self.slots.get_mut(slot as usize);
        slots.ok_or_else(|| Error::Parameter {
            name: "slot",
            what: format!("{name}: there is no slot {slot}"),
        })
    }

    /// A slot as it is.
    pub(super) fn get(&self, slot: u32) -> Option<&Slot> {
        self.slots.get(slot as usize)
    }

    /// Lets go of a slot's buffer; the slot is free then.
    pub(super) fn free(&mut self, slot: u32) {
        if let Some(taken) = self.slots.get_mut(slot as usize) {
            *taken = Slot::default();
        }
        self.free.push(slot);
    }
}
