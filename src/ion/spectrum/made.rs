//! From a source's reads to a job: its steps, its plan, and the memory it is given.

use std::ops::Range;

use super::gather::{Filled, Gather};
use super::{From, Plan, Source, SpectrumJob};
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::ion::images::{BASE, Wish};
use crate::ion::reads::{CHUNK, Reads};
use crate::ion::schedule::look_ahead;
use crate::store::head::{Bins, Contents, Layout, Real};

/// Most bytes of a read, so that progress shows.
const PIECE: u64 = 8 << 20;

/// Reads that are worked on together.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    /// What of the source they bring: a read of a pass, a batch of a pair.
    pub(super) part: usize,
    /// The first read of the pass over the region that they belong to.
    pub(super) first: usize,
    /// The read behind them.
    pub(super) end: usize,
    /// Reads that may be asked for in the meantime.
    pub(super) until: usize,
}

/// All that a job is made of besides what it gathers into.
pub(super) struct Made<'n> {
    pub(super) source: Source,
    pub(super) from: From,
    pub(super) name: &'n str,
    /// The reads of one pass over the region, and where each part ends among them.
    pub(super) ranges: Vec<Range<u64>>,
    pub(super) ends: Vec<usize>,
    pub(super) passes: u32,
    pub(super) pixels: u64,
    pub(super) fixed: u64,
    pub(super) minimum: u64,
    /// Bytes for reads.
    pub(super) room: u64,
}

impl Made<'_> {
    pub(super) fn job(self, gather: Gather, wish: &Wish) -> Result<SpectrumJob> {
        let once = self.ranges.len();
        let mut ranges = self.ranges;
        for _ in 1..self.passes {
            ranges.extend_from_within(..once);
        }
        let mut steps = Vec::new();
        let mut bytes = Vec::new();
        let mut start = 0;
        for pass in 0..self.passes as usize {
            for (part, end) in self.ends.iter().enumerate() {
                let end = pass * once + end;
                bytes.push(
                    ranges[start..end]
                        .iter()
                        .map(|range| range.end - range.start)
                        .sum(),
                );
                steps.push(Step {
                    part,
                    first: pass * once,
                    end,
                    until: end,
                });
                start = end;
            }
        }
        let (ahead, peak) = look_ahead(&bytes, self.room);
        for (at, ahead) in ahead.into_iter().enumerate() {
            steps[at].until = steps[ahead - 1].end;
        }
        let mut budget = Budget::new(wish.memory);
        budget.reserve(self.fixed, "the program")?;
        let plan = Plan {
            from: self.from,
            pixels: self.pixels,
            passes: self.passes,
            requests: ranges.len() as u64,
            bytes: bytes.iter().sum(),
            peak_bytes: self.fixed + peak,
            minimum_bytes: self.minimum,
            memory: wish.memory,
        };
        Ok(SpectrumJob {
            plan,
            source: self.source,
            reads: Reads::new(self.name, ranges),
            steps,
            at: 0,
            budget,
            fixed: self.fixed,
            gather,
            filled: Filled::default(),
            done: false,
        })
    }
}

/// Memory of any spectrum.
pub(super) fn base(wish: &Wish) -> u64 {
    BASE + u64::from(wish.in_flight) * CHUNK
}

/// What the budget leaves for reads.
pub(super) fn room(wish: &Wish, fixed: u64, minimum: u64) -> Result<u64> {
    if wish.memory < minimum {
        return Err(Error::Budget {
            need: minimum,
            have: wish.memory,
            what: "a spectrum of this dataset".to_owned(),
        });
    }
    Ok(wish.memory - fixed)
}

/// Bytes of a piece, so that one is worked on while the others are on their way.
pub(super) fn piece(room: u64, wish: &Wish) -> u64 {
    (room / (u64::from(wish.in_flight) + 1)).min(PIECE)
}

/// The bins of m/z from `lo` to `hi`, as a store of these would have them; none if there are no peaks.
pub(super) fn bins_of(file: &str, lo: f64, hi: f64) -> Result<Bins> {
    let peaks = u64::from(lo <= hi);
    let contents = Contents {
        mz: Real::F64,
        intensity: Real::F64,
        width: 1,
        height: 1,
        slices: 1,
        peaks,
        spectra: peaks,
        first_mz: if peaks == 0 { 0.0 } else { lo },
        last_mz: if peaks == 0 { 0.0 } else { hi },
        meta_bytes: 0,
    };
    Ok(Layout::new(file, contents)?.bins)
}
