//! A block: all exposures of a few pixels, one lane for each pixel, for the search.

use super::fill;
use super::real::Real;
use crate::error::{Error, Result};

/// Rows of values, one an exposure, then rows of padding; and what their reduction needs.
#[derive(Debug)]
pub(in crate::stack) struct Block<T, const L: usize> {
    rows: Vec<[T; L]>,
    exposures: usize,
    lower: [T; L],
    upper: [T; L],
    /// The padding of each lane: the missing values where none is missing.
    padding: [u32; L],
    /// Missing values of each lane, padding included.
    missing: [u32; L],
    /// The count of a lane that misses nothing, ready to be copied.
    whole: [u16; L],
}

impl<T: Real, const L: usize> Block<T, L> {
    pub(in crate::stack) fn new(exposures: usize) -> Result<Self> {
        let size = padded(exposures);
        let mut rows = Vec::new();
        rows.try_reserve_exact(size).map_err(|_| Error::Budget {
            need: Self::bytes(exposures),
            have: 0,
            what: "the scratch of the median".into(),
        })?;
        rows.resize(size, [T::ZERO; L]);
        fill::pad(&mut rows[exposures..]);
        Ok(Self {
            rows,
            exposures,
            lower: [T::ZERO; L],
            upper: [T::ZERO; L],
            padding: [u32::from(short(size - exposures)); L],
            missing: [0; L],
            whole: [short(exposures); L],
        })
    }

    /// Bytes of the rows.
    pub(in crate::stack) fn bytes(exposures: usize) -> u64 {
        padded(exposures) as u64 * size_of::<[T; L]>() as u64
    }

    /// The rows that values go into.
    fn rows(&mut self) -> &mut [[T; L]] {
        &mut self.rows[..self.exposures]
    }

    /// Median and count of `out.len()` pixels, block by block.
    ///
    /// `load` fills the rows' first lanes with so many pixels from one on, and tells whether a NaN
    /// is among them.
    pub(in crate::stack) fn reduce(
        &mut self,
        out: &mut [T],
        count: &mut [u16],
        mut load: impl FnMut(usize, usize, &mut [[T; L]]) -> bool,
    ) {
        let (blocks, tail) = out.as_chunks_mut::<L>();
        let (counts, count_tail) = count.as_chunks_mut::<L>();
        let mut start = 0;
        for (out, count) in blocks.iter_mut().zip(counts) {
            let nan = load(start, L, self.rows());
            self.median(nan, out, count);
            start += L;
        }
        if !tail.is_empty() {
            let nan = load(start, tail.len(), self.rows());
            let (mut out, mut count) = ([T::ZERO; L], [0; L]);
            self.median(nan, &mut out, &mut count);
            tail.copy_from_slice(&out[..tail.len()]);
            count_tail.copy_from_slice(&count[..count_tail.len()]);
        }
    }

    /// Median and count of each lane. `nan` tells whether any of the values is NaN; the rows are
    /// not as they were afterwards, but free of NaN.
    #[inline(never)]
    fn median(&mut self, nan: bool, out: &mut [T; L], count: &mut [u16; L]) {
        let size = short(self.rows.len());
        let padding = size - short(self.exposures);
        if nan {
            let values = &mut self.rows[..self.exposures];
            fill::balance(values, &self.padding, &mut self.missing);
        }
        T::middle(&self.rows, &mut self.lower, &mut self.upper);
        if nan {
            settle(size, &self.missing, &self.lower, &self.upper, out);
            for (number, missing) in count.iter_mut().zip(&self.missing) {
                *number = size - short(*missing as usize);
            }
        } else {
            let (one, other) = match (size % 2 == padding % 2, size % 2) {
                (true, _) => (&self.lower, &self.upper),
                (false, 0) => (&self.lower, &self.lower),
                (false, _) => (&self.upper, &self.upper),
            };
            settle_whole(size % 2 == padding % 2, one, other, out);
            for (number, whole) in count.iter_mut().zip(&self.whole) {
                *number = *whole;
            }
        }
    }
}

/// The medians of lanes of which `missing` values are fillers.
fn settle<T: Real, const L: usize>(
    size: u16,
    missing: &[u32; L],
    lower: &[T; L],
    upper: &[T; L],
    out: &mut [T; L],
) {
    let odd = u32::from(size % 2);
    for i in 0..L {
        // Both are read, whichever it will be: a load of its own would become a branch.
        let (low, high) = (lower[i], upper[i]);
        let mean = (low + high) * T::HALF;
        let one = if odd == 1 { high } else { low };
        out[i] = tidy(if missing[i] & 1 == odd { mean } else { one });
    }
}

/// The medians of lanes that miss nothing: the mean of `one` and the `other`, or just `one`.
fn settle_whole<T: Real, const L: usize>(
    mean: bool,
    one: &[T; L],
    other: &[T; L],
    out: &mut [T; L],
) {
    if mean {
        for i in 0..L {
            out[i] = tidy((one[i] + other[i]) * T::HALF);
        }
    } else {
        for i in 0..L {
            out[i] = tidy(one[i]);
        }
    }
}

/// Zero made positive and NaN canonical, so that the bits do not depend on the way to a value.
fn tidy<T: Real>(value: T) -> T {
    let value = value + T::ZERO;
    if value.is_missing() { T::NAN } else { value }
}

/// Rows of a block for so many exposures: the search takes two or more.
fn padded(exposures: usize) -> usize {
    exposures.max(2)
}

/// Rows of a block, at most 4096.
#[expect(clippy::cast_possible_truncation, reason = "at most 4096")]
fn short(rows: usize) -> u16 {
    rows as u16
}
