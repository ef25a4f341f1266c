//! The mean and the maximum spectrum on the grid of bins.

use super::head::{Bins, Head};
use super::pixels::{columns, rounded};
use crate::budget::Budget;
use crate::error::Result;

/// The bin table of a store.
#[derive(Debug, Clone, PartialEq)]
pub struct BinTable {
    /// Sum of the bin's intensities over the number of spectra.
    pub mean: Vec<f32>,
    /// Greatest intensity of one peak in the bin; 0 without peaks.
    pub max: Vec<f32>,
    /// Where in the bin its peaks lie: 0 is its lower edge, 1 its upper one.
    pub centre: Vec<f32>,
}

impl BinTable {
    /// Reads the bytes at [`Bins::range`].
    ///
    /// # Errors
    /// [`Error::Unexpected`](crate::error::Error::Unexpected) if their number is another;
    /// [`Error::Format`](crate::error::Error::Format) if a value is not finite;
    /// [`Error::Budget`](crate::error::Error::Budget) if 12 bytes a bin are more than is left.
    pub fn parse(head: &Head, bytes: &[u8], budget: &mut Budget) -> Result<Self> {
        let bins = &head.layout.bins;
        let len = bins.count as usize;
        let mut columns = columns(head, bins.at, bytes, 3, len, budget)?.into_iter();
        Ok(Self {
            mean: columns.next().unwrap_or_default(),
            max: columns.next().unwrap_or_default(),
            centre: columns.next().unwrap_or_default(),
        })
    }

    /// Bins that hold peaks: m/z of their centre, mean, maximum.
    pub fn filled(&self, bins: &Bins) -> impl Iterator<Item = (f64, f32, f32)> {
        let edges = bins.edges().zip(bins.edges().skip(1));
        let values = self.mean.iter().zip(&self.max).zip(&self.centre);
        edges
            .zip(values)
            .filter(|(_, ((mean, max), _))| **mean != 0.0 || **max != 0.0)
            .map(|((low, high), ((mean, max), centre))| {
                (low + (high - low) * f64::from(*centre), *mean, *max)
            })
    }
}

/// Builds the table from peaks in ascending m/z.
#[derive(Debug, Clone)]
pub(super) struct BinSums {
    /// Factor of an edge and the one before.
    factor: f64,
    spectra: f64,
    /// The bin that is being filled, and its edges.
    bin: usize,
    low: f64,
    high: f64,
    current: Current,
    /// Three columns of the table, complete before `bin`.
    columns: [Vec<f32>; 3],
}

/// What the peaks of one bin add up to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Current {
    pub(super) total: f64,
    /// Sum of intensity times distance from the lower edge.
    pub(super) moment: f64,
    pub(super) max: f64,
}

impl Current {
    const NONE: Self = Self {
        total: 0.0,
        moment: 0.0,
        max: f64::NEG_INFINITY,
    };
}

impl BinSums {
    #[expect(clippy::cast_precision_loss, reason = "below 2^53 spectra")]
    pub(super) fn new(bins: &Bins, spectra: u64, budget: &mut Budget) -> Result<Self> {
        let len = bins.count as usize;
        let mut column = || budget.allocate(len, "the bins of the mean spectrum");
        Ok(Self {
            factor: bins.factor(),
            spectra: spectra.max(1) as f64,
            bin: 0,
            low: bins.origin,
            high: bins.origin * bins.factor(),
            current: Current::NONE,
            columns: [column()?, column()?, column()?],
        })
    }

    /// Adds a peak whose m/z is not below that of the one before.
    #[inline]
    pub(super) fn add(&mut self, mz: f64, intensity: f64) {
        if mz >= self.high {
            self.advance(mz);
        }
        self.current.total += intensity;
        self.current.moment += intensity * (mz - self.low);
        self.current.max = self.current.max.max(intensity);
    }

    /// Goes on to the bin of `mz`, or to the last one.
    fn advance(&mut self, mz: f64) {
        while mz >= self.high && self.bin + 1 < self.columns[0].len() {
            self.close();
            self.bin += 1;
            self.low = self.high;
            self.high = self.low * self.factor;
        }
    }

    /// Writes the current bin into the table.
    fn close(&mut self) {
        let Current { total, moment, max } = std::mem::replace(&mut self.current, Current::NONE);
        if max == f64::NEG_INFINITY || self.bin >= self.columns[0].len() {
            return;
        }
        let centre = moment / total / (self.high - self.low);
        // Negative intensities can balance the others; then the middle stands for the bin.
        let centre = if total > 0.0 && centre.is_finite() {
            centre
        } else {
            0.5
        };
        self.columns[0][self.bin] = rounded(total / self.spectra);
        self.columns[1][self.bin] = rounded(max);
        self.columns[2][self.bin] = rounded(centre.clamp(0.0, 1.0));
    }

    /// Appends the whole table.
    pub(super) fn finish(&mut self, out: &mut Vec<u8>) {
        self.close();
        for value in self.columns.iter().flatten() {
            out.extend_from_slice(&value.to_le_bytes());
        }
    }

    /// The bin that is being filled, its sums, and the columns before it.
    pub(super) fn state(&self) -> (usize, Current, [&[f32]; 3]) {
        let done = self
            .columns
            .each_ref()
            .map(|column| &column[..self.bin.min(column.len())]);
        (self.bin, self.current, done)
    }

    /// Takes a [state](Self::state): `columns` has the values of three columns before `bin`.
    pub(super) fn restore(
        &mut self,
        bin: usize,
        current: Current,
        columns: impl Iterator<Item = f32>,
    ) {
        while self.bin < bin && self.bin < self.columns[0].len() {
            self.bin += 1;
            self.low = self.high;
            self.high = self.low * self.factor;
        }
        self.current = current;
        let places = self
            .columns
            .iter_mut()
            .flat_map(|column| column.iter_mut().take(bin));
        for (place, value) in places.zip(columns) {
            *place = value;
        }
    }
}
