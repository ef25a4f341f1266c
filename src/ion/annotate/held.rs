//! The blocks that are in memory or on their way, as turns demand.

use std::collections::VecDeque;
use std::ops::Range;

use super::shelf::bytes_of;
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::ion::slots::Slots;
use crate::job::Fetch;
use crate::job::slot::Slot;
use crate::store::block::Block;
use crate::store::head::Head;

/// Consecutive blocks that one request brings.
#[derive(Debug)]
struct Run {
    blocks: Range<u32>,
    slot: u32,
    /// Whether its checksums were compared.
    checked: bool,
}

/// Runs of blocks, each from when it is asked for until it is put away.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// By blocks, disjoint.
    runs: Vec<Run>,
    /// Runs that were not asked for yet.
    queue: VecDeque<Range<u32>>,
    slots: Slots,
    asked: u64,
    /// Why a run cannot be asked for.
    fault: Option<Error>,
}

impl Held {
    /// Will ask for these runs.
    pub(super) fn want(&mut self, runs: &[Range<u32>]) {
        self.queue.extend(runs.iter().cloned());
    }

    /// Will not ask for these runs, as far as it has not yet.
    pub(super) fn forget(&mut self, runs: &[Range<u32>]) {
        self.queue.retain(|run| !runs.contains(run));
    }

    /// Asks for the next run.
    pub(super) fn next(&mut self, head: &Head, budget: &mut Budget) -> Option<Fetch> {
        if self.fault.is_some() {
            return None;
        }
        let blocks = self.queue.front()?.clone();
        let bytes = bytes_of(head, &blocks);
        let len = usize::try_from(bytes).unwrap_or(usize::MAX);
        let buffer = match budget.allocate(len, "the blocks of a request") {
            Ok(buffer) => buffer,
            Err(error) => {
                self.fault = Some(error);
                return None;
            }
        };
        self.queue.pop_front();
        let start = head.block_range(blocks.start as usize).start;
        let fetch = self.slots.ask(self.asked, start..start + bytes, buffer);
        self.asked += 1;
        let at = self
            .runs
            .partition_point(|run| run.blocks.start < blocks.start);
        let run = Run {
            blocks,
            slot: fetch.slot,
            checked: false,
        };
        self.runs.insert(at, run);
        Some(fetch)
    }

    /// Puts away the runs that begin with these blocks.
    pub(super) fn put_away(&mut self, head: &Head, drops: &[u32], budget: &mut Budget) {
        let Self { runs, slots, .. } = self;
        runs.retain(|run| {
            let kept = !drops.contains(&run.blocks.start);
            if !kept {
                budget.release(bytes_of(head, &run.blocks));
                slots.free(run.slot);
            }
            kept
        });
    }

    /// Whether these blocks have arrived; those that have are checked, once.
    ///
    /// # Errors
    /// [`Error::Format`] naming the byte if a block is damaged; why a run cannot be asked for.
    pub(super) fn arrived(&mut self, head: &Head, need: &[Range<u32>]) -> Result<bool> {
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        for range in need {
            let mut n = range.start;
            while n < range.end {
                let at = self.runs.partition_point(|run| run.blocks.end <= n);
                let Some(run) = self.runs.get_mut(at).filter(|run| run.blocks.start <= n) else {
                    return Ok(false);
                };
                let Some(slot) = self.slots.get(run.slot).filter(|slot| slot.full) else {
                    return Ok(false);
                };
                if !run.checked {
                    for n in run.blocks.clone() {
                        Block::open(head, n as usize, part(&slot.buffer, head, &run.blocks, n))?;
                    }
                    run.checked = true;
                }
                n = run.blocks.end;
            }
        }
        Ok(true)
    }

    /// A block that has arrived and was checked.
    ///
    /// # Errors
    /// [`Error::Unexpected`] if it is not there.
    pub(super) fn block<'b>(&'b self, head: &'b Head, n: u32) -> Result<Block<'b>> {
        let at = self.runs.partition_point(|run| run.blocks.end <= n);
        let run = self.runs.get(at).filter(|run| run.blocks.start <= n);
        let bytes = run.and_then(|run| {
            let slot = self.slots.get(run.slot)?;
            Some(part(&slot.buffer, head, &run.blocks, n))
        });
        Block::again(head, n as usize, bytes.unwrap_or_default())
    }

    /// Requests so far.
    pub(super) fn asked(&self) -> u64 {
        self.asked
    }

    /// The slot of a fetch.
    pub(super) fn slot(&mut self, head: &Head, slot: u32) -> Result<&mut Slot> {
        self.slots.of(&head.file, slot)
    }

    /// Moves a slot's buffer out to be filled.
    pub(super) fn lend(&mut self, fetch: &Fetch) -> Vec<u8> {
        self.slots.lend(fetch)
    }
}

/// The bytes of block `n` among those of a run.
fn part<'b>(bytes: &'b [u8], head: &Head, run: &Range<u32>, n: u32) -> &'b [u8] {
    let base = head.block_range(run.start as usize).start;
    let block = head.block_range(n as usize);
    let place = |at: u64| usize::try_from(at.saturating_sub(base)).ok();
    let found = place(block.start).zip(place(block.end));
    found
        .and_then(|(start, end)| bytes.get(start..end))
        .unwrap_or_default()
}
