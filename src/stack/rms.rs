//! The scatter of a stack, pixel by pixel: the root mean square of the deviations from the mean.
//!
//! # Rules
//!
//! Of the n values of a pixel that are not NaN, √(Σ(v − mean)² / n): the standard deviation of the population, what
//! `numpy.nanstd` gives for the same values in f64. Values are taken in the order of the exposures, mean and squares are
//! summed in f64, in two passes, and the root is rounded once to the type of the result. One value gives 0, none gives
//! NaN, and so does an infinity, from which nothing has a finite distance. A NaN is always the canonical quiet one.
//!
//! It is no robust measure: a cosmic ray shows in it, which is what one looks at it for.

use super::kernels::{LANES, WIDE_LANES, leave, load, real::Real};
use super::mask::Flags;
use super::median::{Samples, check, check_exposures};
use super::statistic::Statistic;
use crate::error::Result;

/// Root mean squares of stacks of a fixed number of exposures.
///
/// It allocates nothing, and decodes every value twice.
#[derive(Debug)]
pub struct Rms {
    exposures: usize,
}

impl Statistic for Rms {
    fn new(exposures: usize) -> Result<Self> {
        check_exposures(exposures)?;
        Ok(Self { exposures })
    }

    fn scratch_bytes(_: usize) -> u64 {
        0
    }

    fn reduce_f32(
        &mut self,
        rows: &[Samples<'_>],
        flags: &[Option<Flags<'_>>],
        out: &mut [f32],
        count: &mut [u16],
    ) -> Result<()> {
        check(self.exposures, rows, flags, out.len(), count.len())?;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the one rounding that is documented"
        )]
        let narrow = |value: f64| value as f32;
        each::<_, LANES>(rows, flags, out, count, load::decoded_f32, narrow);
        Ok(())
    }

    fn reduce_f64(
        &mut self,
        rows: &[Samples<'_>],
        flags: &[Option<Flags<'_>>],
        out: &mut [f64],
        count: &mut [u16],
    ) -> Result<()> {
        check(self.exposures, rows, flags, out.len(), count.len())?;
        let same = |value| value;
        each::<_, WIDE_LANES>(rows, flags, out, count, load::decoded_f64, same);
        Ok(())
    }
}

/// Loads so many pixels from one on of each run into a row of its own.
type Load<T, const L: usize> = fn(&[Samples<'_>], usize, usize, &mut [[T; L]]) -> bool;

/// All pixels, a few at a time, so that sums stay in registers or the first-level cache.
fn each<T: Real + Into<f64>, const L: usize>(
    rows: &[Samples<'_>],
    flags: &[Option<Flags<'_>>],
    out: &mut [T],
    count: &mut [u16],
    load: Load<T, L>,
    narrow: impl Fn(f64) -> T,
) {
    for (at, (out, count)) in out.chunks_mut(L).zip(count.chunks_mut(L)).enumerate() {
        let (start, pixels) = (at * L, out.len());
        load::ahead(rows, start);
        let values = |index: usize, row: &mut [[T; L]; 1]| {
            load(&rows[index..=index], start, pixels, row);
            let flags = flags.get(index..=index).unwrap_or_default();
            leave::out(flags, start, pixels, row);
        };
        let found = deviations(rows.len(), values);
        for ((out, count), (rms, number)) in out.iter_mut().zip(count).zip(found) {
            *out = if rms.is_nan() { T::NAN } else { narrow(rms) };
            *count = number;
        }
    }
}

/// The root mean square deviation of each lane, and its number of values. `values` loads those of one exposure.
fn deviations<T: Real + Into<f64>, const L: usize>(
    exposures: usize,
    values: impl Fn(usize, &mut [[T; L]; 1]),
) -> [(f64, u16); L] {
    let mut row = [[T::ZERO; L]; 1];
    let (mut mean, mut number) = ([0.0; L], [0_u16; L]);
    for index in 0..exposures {
        values(index, &mut row);
        for ((mean, number), value) in mean.iter_mut().zip(&mut number).zip(row[0]) {
            let missing = value.is_missing();
            *mean += if missing { 0.0 } else { value.into() };
            *number += u16::from(!missing);
        }
    }
    for (mean, number) in mean.iter_mut().zip(number) {
        *mean /= f64::from(number);
    }
    let mut squares = [0.0; L];
    for index in 0..exposures {
        values(index, &mut row);
        for ((squares, mean), value) in squares.iter_mut().zip(mean).zip(row[0]) {
            let off = value.into() - mean;
            *squares += if value.is_missing() { 0.0 } else { off * off };
        }
    }
    let mut found = [(f64::NAN, 0); L];
    for ((found, squares), number) in found.iter_mut().zip(squares).zip(number) {
        *found = ((squares / f64::from(number)).sqrt(), number);
    }
    found
}
