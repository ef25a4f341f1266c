//! Which blocks are in memory when: decided in the order of the groups, before any of them arrives.
//!
//! The shelf takes one group after the other and says what is read for it, what is put away first, and how many
//! groups must be done by then. As nothing here depends on when bytes arrive, a plan and a job that go through the
//! same groups agree in every request.

use std::collections::VecDeque;
use std::ops::Range;

use crate::budget::Budget;
use crate::error::Result;
use crate::ion::draft::length;
use crate::store::head::Head;

/// Groups that may be on their way while one is worked on.
pub(super) const AHEAD: usize = 3;

/// Most bytes of one request, where the budget allows them.
const REQUEST: u64 = 1 << 20;

/// What is done so that a group's blocks are at hand.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Turn {
    /// Groups, counted from the first, that must be done before.
    pub(super) after: u64,
    /// The first blocks of the runs that are put away then.
    pub(super) drops: Vec<u32>,
    /// The runs that are asked for: consecutive blocks, one request each.
    pub(super) runs: Vec<Range<u32>>,
}

/// What all turns so far have cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Cost {
    pub(super) groups: u64,
    pub(super) blocks: u64,
    pub(super) requests: u64,
    pub(super) bytes: u64,
    pub(super) refetched: u64,
    /// Most bytes of blocks at one time.
    pub(super) peak: u64,
}

/// Blocks that one request brings, or has brought.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Run {
    blocks: Range<u32>,
    bytes: u64,
}

/// The blocks that will be in memory.
#[derive(Debug, Clone)]
pub(super) struct Shelf {
    room: u64,
    /// Most bytes of a group.
    share: u64,
    request: u64,
    /// By blocks, disjoint.
    held: Vec<Run>,
    /// The blocks of the groups that may be under way, the last ones of those seen.
    recent: VecDeque<Vec<Range<u32>>>,
    /// One bit a block: whether it was read before.
    seen: Vec<u64>,
    cost: Cost,
}

impl Shelf {
    /// An empty shelf for `room` bytes, which hold the largest block.
    pub(super) fn new(head: &Head, room: u64, budget: &mut Budget) -> Result<Self> {
        let words = head.blocks.len().div_ceil(64);
        let last = u32::try_from(head.blocks.len()).unwrap_or(u32::MAX);
        let all = bytes_of(head, &(0..last));
        Ok(Self {
            room,
            share: if room < all { room / 2 } else { room },
            request: (room / 8).clamp(1, REQUEST),
            held: Vec::new(),
            recent: VecDeque::new(),
            seen: budget.allocate(words, "the blocks that were read")?,
            cost: Cost::default(),
        })
    }

    /// Bytes of the book-keeping for a store.
    pub(super) fn bytes(head: &Head) -> u64 {
        head.blocks.len().div_ceil(64) as u64 * 8
    }

    /// Most bytes of blocks that a group should have, so that the next is read while it is worked on.
    pub(super) fn share(&self) -> u64 {
        self.share
    }

    /// Most bytes of blocks that a group can have.
    pub(super) fn room(&self) -> u64 {
        self.room
    }

    /// What all turns so far have cost.
    pub(super) fn cost(&self) -> Cost {
        self.cost
    }

    /// Takes the next group: the blocks that it needs, as disjoint ascending ranges that fit into the room; no later
    /// group needs a block before `floor`.
    pub(super) fn take(&mut self, head: &Head, need: Vec<Range<u32>>, floor: u32) -> Turn {
        let mut turn = Turn::default();
        for waiting in 0..=self.recent.len() {
            turn.after = self.cost.groups - (self.recent.len() - waiting) as u64;
            if let Some((drops, runs)) = self.fit(head, waiting, &need, floor) {
                (turn.drops, turn.runs) = (drops, runs);
                break;
            }
            if waiting == self.recent.len() {
                // Runs that the group shares with earlier ones bring too much besides: all is read anew.
                turn.drops = self.held.iter().map(|run| run.blocks.start).collect();
                turn.runs = self.missing(head, &need, &turn.drops);
            }
        }
        self.carry_out(head, &turn);
        self.recent.push_back(need);
        if self.recent.len() > AHEAD {
            self.recent.pop_front();
        }
        turn
    }

    /// What is put away and read if all recent groups but the first `done` are under way; `None` if that is more than
    /// there is room for.
    fn fit(
        &self,
        head: &Head,
        done: usize,
        need: &[Range<u32>],
        floor: u32,
    ) -> Option<(Vec<u32>, Vec<Range<u32>>)> {
        let free = |run: &&Run| {
            let mut pinned = self.recent.range(done..);
            !touches(need, &run.blocks) && !pinned.any(|need| touches(need, &run.blocks))
        };
        let over = |run: &&Run| run.blocks.end <= floor;
        let mut drops: Vec<u32> = (self.held.iter().filter(free).filter(over))
            .map(|run| run.blocks.start)
            .collect();
        let runs = self.missing(head, need, &[]);
        let kept = (self.held.iter()).filter(|run| !drops.contains(&run.blocks.start));
        let mut bytes = kept.map(|run| run.bytes).sum::<u64>()
            + runs.iter().map(|run| bytes_of(head, run)).sum::<u64>();
        // The first blocks are of use for the shortest time.
        for run in self.held.iter().filter(free).filter(|run| !over(run)) {
            if bytes <= self.room {
                break;
            }
            bytes -= run.bytes;
            drops.push(run.blocks.start);
        }
        (bytes <= self.room).then_some((drops, runs))
    }

    /// The runs that bring what of `need` is not held once `drops` are put away.
    fn missing(&self, head: &Head, need: &[Range<u32>], drops: &[u32]) -> Vec<Range<u32>> {
        let mut runs: Vec<Range<u32>> = Vec::new();
        let mut bytes = 0;
        for n in need.iter().cloned().flatten() {
            if self.holds(n).is_some_and(|run| !drops.contains(&run)) {
                continue;
            }
            let own = length(&head.block_range(n as usize));
            match runs.last_mut() {
                Some(last) if last.end == n && bytes + own <= self.request => {
                    last.end = n + 1;
                    bytes += own;
                }
                _ => {
                    runs.push(n..n + 1);
                    bytes = own;
                }
            }
        }
        runs
    }

    /// The first block of the run that holds block `n`.
    fn holds(&self, n: u32) -> Option<u32> {
        let at = self.held.partition_point(|run| run.blocks.end <= n);
        let run = self.held.get(at).filter(|run| run.blocks.start <= n)?;
        Some(run.blocks.start)
    }

    fn carry_out(&mut self, head: &Head, turn: &Turn) {
        self.held
            .retain(|run| !turn.drops.contains(&run.blocks.start));
        for run in &turn.runs {
            let bytes = bytes_of(head, run);
            self.cost.requests += 1;
            self.cost.bytes += bytes;
            for n in run.clone() {
                let word = self.seen.get_mut(n as usize / 64);
                let bit = 1 << (n % 64);
                if word.as_ref().is_some_and(|word| **word & bit != 0) {
                    self.cost.refetched += 1;
                } else {
                    self.cost.blocks += 1;
                }
                if let Some(word) = word {
                    *word |= bit;
                }
            }
            let blocks = run.clone();
            self.held.push(Run { blocks, bytes });
        }
        self.held.sort_unstable_by_key(|run| run.blocks.start);
        let held = self.held.iter().map(|run| run.bytes).sum();
        self.cost.peak = self.cost.peak.max(held);
        self.cost.groups += 1;
    }
}

/// Bytes of consecutive blocks.
pub(super) fn bytes_of(head: &Head, run: &Range<u32>) -> u64 {
    let last = run.end.saturating_sub(1);
    let (start, end) = (
        head.block_range(run.start as usize).start,
        head.block_range(last as usize).end,
    );
    end.saturating_sub(start)
}

/// Whether a run has a block in one of several disjoint ascending ranges.
fn touches(need: &[Range<u32>], run: &Range<u32>) -> bool {
    let at = need.partition_point(|range| range.end <= run.start);
    need.get(at).is_some_and(|range| range.start < run.end)
}
