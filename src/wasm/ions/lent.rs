//! Slots that are lent to JavaScript, which reads files straight into them.

use std::collections::BTreeMap;

use super::{Thrown, flat, thrown};
use crate::error::Error;
use crate::job::{Fetch, Job};

/// Fetches on their way, and the buffers of those that were moved out of the job.
#[derive(Default)]
pub(super) struct Lent {
    fetches: BTreeMap<u32, Fetch>,
    buffers: BTreeMap<u32, Vec<u8>>,
}

impl Lent {
    /// Asks the job for its next fetch and remembers it.
    pub(super) fn next(&mut self, job: &mut impl Job) -> Option<Vec<f64>> {
        let fetch = job.next()?;
        let told = flat(&fetch);
        self.fetches.insert(fetch.slot, fetch);
        Some(told)
    }

    /// Address and length of a read's place.
    pub(super) fn place(
        &mut self,
        job: &mut impl Job,
        slot: u32,
        read: usize,
    ) -> Result<Vec<f64>, Thrown> {
        let Some(fetch) = self.fetches.get(&slot) else {
            return Err(not_asked(slot));
        };
        let buffer = self.buffers.entry(slot).or_insert_with(|| job.lend(fetch));
        let place = fetch.reads.get(read).and_then(|read| {
            let end = read.at.checked_add(usize::try_from(read.len()).ok()?)?;
            buffer.get(read.at..end)
        });
        place
            .map(|place| whereabouts(place).to_vec())
            .ok_or_else(|| not_asked(slot))
    }

    /// Forgets a fetch; with its buffer, if that had been moved out.
    pub(super) fn give_back(&mut self, slot: u32) -> Option<(Fetch, Vec<u8>)> {
        let fetch = self.fetches.remove(&slot)?;
        Some((fetch, self.buffers.remove(&slot)?))
    }
}

/// Where bytes lie in the core's memory: address and length.
pub(super) fn whereabouts(bytes: &[u8]) -> [f64; 2] {
    let number = |value: usize| super::number(value as u64);
    [
        number(bytes.as_ptr().expose_provenance()),
        number(bytes.len()),
    ]
}

fn not_asked(slot: u32) -> Thrown {
    thrown(Error::Parameter {
        name: "slot",
        what: format!("nothing was asked for in slot {slot}"),
    })
}
