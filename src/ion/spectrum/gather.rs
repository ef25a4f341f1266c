//! Where a spectrum's peaks go: into a list, or into bins.

use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::store::format::BINS;
use crate::store::head::Bins;
use crate::store::rounded;

/// Takes peaks one after another.
#[derive(Debug)]
pub(super) enum Gather {
    /// The peaks themselves: of one pixel.
    Exact(Exact),
    /// Mean and maximum in bins: of a region.
    Binned(Binned),
    /// The least and the greatest m/z: of a region, before its bins are chosen.
    Extent { lo: f64, hi: f64 },
}

impl Gather {
    /// Adds a peak.
    #[inline]
    pub(super) fn add(&mut self, mz: f64, intensity: f64, budget: &mut Budget) -> Result<()> {
        match self {
            Self::Exact(exact) => return exact.add(mz, intensity, budget),
            Self::Binned(binned) => binned.add(mz, intensity),
            Self::Extent { lo, hi } => (*lo, *hi) = (lo.min(mz), hi.max(mz)),
        }
        Ok(())
    }
}

/// Peaks in two columns.
#[derive(Debug, Default)]
pub(super) struct Exact {
    pub(super) mz: Vec<f64>,
    pub(super) intensity: Vec<f64>,
    /// Peaks so far, once they were too many for the budget: they are only counted, so that it can be
    /// said what would do.
    too_many: u64,
}

/// Peaks for which a list has room at first.
const FIRST: u64 = 1024;

impl Exact {
    /// Bytes that so many peaks take while they are put in order.
    pub(super) fn bytes(peaks: u64) -> u64 {
        peaks.saturating_mul((4 * size_of::<f64>() + size_of::<u32>()) as u64)
    }

    /// An empty list with room for so many peaks, whose [bytes](Self::bytes) are reserved by the caller.
    pub(super) fn with_room(peaks: u64) -> Result<Self> {
        let short = |_| Error::Budget {
            need: Self::bytes(peaks),
            have: 0,
            what: "the peaks of the spectrum".to_owned(),
        };
        let len = usize::try_from(peaks).unwrap_or(usize::MAX);
        let mut exact = Self::default();
        exact.mz.try_reserve_exact(len).map_err(short)?;
        exact.intensity.try_reserve_exact(len).map_err(short)?;
        Ok(exact)
    }

    /// Bytes of a list that grew from nothing to so many peaks.
    pub(super) fn grown(peaks: u64) -> u64 {
        let room = peaks.div_ceil(FIRST).max(1).checked_next_power_of_two();
        Self::bytes(room.map_or(u64::MAX, |room| room.saturating_mul(FIRST)))
    }

    /// How many peaks there were, if they were too many.
    pub(super) fn too_many(&self) -> Option<u64> {
        (self.too_many > 0).then_some(self.too_many)
    }

    fn add(&mut self, mz: f64, intensity: f64, budget: &mut Budget) -> Result<()> {
        if self.too_many > 0 {
            self.too_many += 1;
            return Ok(());
        }
        if self.mz.len() == self.mz.capacity() && !self.grow(budget)? {
            self.too_many = self.mz.len() as u64 + 1;
            (self.mz, self.intensity) = (Vec::new(), Vec::new());
            return Ok(());
        }
        self.mz.push(mz);
        self.intensity.push(intensity);
        Ok(())
    }

    /// Makes room for twice as many, if the budget has it; what moving them takes is reserved as well.
    fn grow(&mut self, budget: &mut Budget) -> Result<bool> {
        #[expect(clippy::cast_possible_truncation, reason = "1024")]
        let first = FIRST as usize;
        let before = self.mz.capacity();
        let more = before.max(first);
        let what = "the peaks of the spectrum";
        if budget.reserve(Self::bytes(more as u64), what).is_err() {
            return Ok(false);
        }
        for column in [&mut self.mz, &mut self.intensity] {
            if column.try_reserve_exact(more).is_err() {
                return Err(Error::Budget {
                    need: Self::bytes((before + more) as u64),
                    have: budget.limit(),
                    what: what.to_owned(),
                });
            }
        }
        Ok(true)
    }

    /// Puts the peaks in order of m/z; those of equal m/z stay as they came.
    pub(super) fn sort(&mut self) -> Result<()> {
        if self.mz.is_sorted() {
            return Ok(());
        }
        let short = |_| Error::Budget {
            need: Self::bytes(self.mz.len() as u64),
            have: 0,
            what: "the order of the peaks".to_owned(),
        };
        let len = self.mz.len();
        let (mut order, mut mz, mut intensity) = (Vec::new(), Vec::new(), Vec::new());
        order.try_reserve_exact(len).map_err(short)?;
        mz.try_reserve_exact(len).map_err(short)?;
        intensity.try_reserve_exact(len).map_err(short)?;
        order.extend((0_u32..).take(len));
        // Unstable with the place as a tie-breaker: in order, and without the memory that a stable sort takes.
        order.sort_unstable_by(|a, b| {
            let (left, right) = (self.mz[*a as usize], self.mz[*b as usize]);
            left.total_cmp(&right).then(a.cmp(b))
        });
        mz.extend(order.iter().map(|at| self.mz[*at as usize]));
        intensity.extend(order.iter().map(|at| self.intensity[*at as usize]));
        (self.mz, self.intensity) = (mz, intensity);
        Ok(())
    }
}

/// Sums, moments and maxima of the bins of a grid.
#[derive(Debug)]
pub(super) struct Binned {
    edges: Vec<f64>,
    totals: Vec<f64>,
    moments: Vec<f64>,
    max: Vec<f32>,
    /// The bin of the peak before.
    bin: usize,
}

/// Bytes a bin: its edge, sums and maximum, and what is handed out of it.
const BIN: u64 = 3 * 8 + 4 + 2 * 8 + 4;

/// The bins that have peaks.
#[derive(Debug, Default)]
pub(super) struct Filled {
    pub(super) mz: Vec<f64>,
    pub(super) mean: Vec<f64>,
    pub(super) max: Vec<f32>,
}

impl Binned {
    /// Bytes that a grid takes.
    pub(super) fn bytes(bins: &Bins) -> u64 {
        (u64::from(bins.count) + 1) * BIN
    }

    /// Bytes that the largest grid takes.
    pub(super) fn most_bytes() -> u64 {
        (u64::from(BINS) + 1) * BIN
    }

    /// Empty bins; their bytes are reserved by the caller.
    pub(super) fn new(bins: &Bins) -> Result<Self> {
        let mut edges = Vec::new();
        let len = bins.count as usize;
        edges.try_reserve_exact(len + 1).map_err(|_| short(len))?;
        edges.extend(bins.edges().take(len + 1));
        Ok(Self {
            edges,
            totals: column(len, 0.0)?,
            moments: column(len, 0.0)?,
            max: column(len, f32::NEG_INFINITY)?,
            bin: 0,
        })
    }

    #[inline]
    fn add(&mut self, mz: f64, intensity: f64) {
        let len = self.totals.len();
        if len == 0 {
            return;
        }
        let inside = self.edges[self.bin] <= mz && mz < self.edges[self.bin + 1];
        if !inside {
            // What is below the first bin belongs to it, and what is above the last one to that.
            self.bin = self.edges[1..len].partition_point(|edge| *edge <= mz);
        }
        self.totals[self.bin] += intensity;
        self.moments[self.bin] += intensity * (mz - self.edges[self.bin]);
        self.max[self.bin] = self.max[self.bin].max(rounded(intensity));
    }

    /// The bins that have peaks, with the mean over `pixels`.
    #[expect(clippy::cast_precision_loss, reason = "a number of pixels, below 2^32")]
    pub(super) fn finish(&self, pixels: u64) -> Result<Filled> {
        let count = self
            .max
            .iter()
            .filter(|max| **max > f32::NEG_INFINITY)
            .count();
        let mut filled = Filled::default();
        let short = |_| short(count);
        filled.mz.try_reserve_exact(count).map_err(short)?;
        filled.mean.try_reserve_exact(count).map_err(short)?;
        filled.max.try_reserve_exact(count).map_err(short)?;
        for (bin, max) in self.max.iter().enumerate() {
            if *max > f32::NEG_INFINITY {
                filled.mz.push(self.centre(bin));
                filled.mean.push(self.totals[bin] / pixels.max(1) as f64);
                filled.max.push(*max);
            }
        }
        Ok(filled)
    }

    /// The mean m/z of a bin's peaks, weighted by intensity; its middle where negative ones balance the others.
    fn centre(&self, bin: usize) -> f64 {
        let (low, high) = (self.edges[bin], self.edges[bin + 1]);
        let share = self.moments[bin] / self.totals[bin] / (high - low);
        if self.totals[bin] > 0.0 && share.is_finite() {
            low + (high - low) * share.clamp(0.0, 1.0)
        } else {
            f64::midpoint(low, high)
        }
    }
}

fn column<T: Clone>(len: usize, value: T) -> Result<Vec<T>> {
    let mut column = Vec::new();
    column.try_reserve_exact(len).map_err(|_| short(len))?;
    column.resize(len, value);
    Ok(column)
}

fn short(bins: usize) -> Error {
    Error::Budget {
        need: bins as u64 * BIN,
        have: 0,
        what: "the bins of the spectrum".to_owned(),
    }
}
