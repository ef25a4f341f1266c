//! Gaussians on a grid, without a call of `exp`: the same bits on every machine.

use crate::ion::isotope::instrument::FWHM_IN_SIGMA;

/// Points of the grid in the width of a peak at half its height.
pub(super) const POINTS_PER_FWHM: f64 = 25.0;

/// Standard deviations from one point of the grid to the next.
const STEP: f64 = FWHM_IN_SIGMA / POINTS_PER_FWHM;

/// How many points to either side of its maximum a Gaussian is drawn: 9 standard deviations, where it is below 1e-17.
pub(super) const REACH: isize = 96;

const LENGTH: usize = 2 * REACH as usize + 1;

/// Parts of 1 by which exponents of single values are looked up.
const PARTS: usize = 64;
const PARTS_OF_1: f64 = 64.0;

/// Whole exponents that are looked up: from 41 on, 9 standard deviations away, nothing is left.
const WHOLES: usize = 41;

/// A Gaussian of height 1: on the points of the grid, the maximum in the middle, and what single values are made of.
#[derive(Debug, Clone)]
pub(super) struct Gauss {
    grid: [f64; LENGTH],
    /// exp(-i).
    wholes: [f64; WHOLES],
    /// exp(-i/64).
    parts: [f64; PARTS],
}

impl Gauss {
    pub(super) fn new() -> Self {
        let mut grid = [1.0; LENGTH];
        let middle = REACH.unsigned_abs();
        // exp(-(i+1)²h²/2) = exp(-i²h²/2) · exp(-(2i+1)h²/2), and the last factor shrinks by exp(-h²) each time.
        let shrink = exp_of_small(-STEP * STEP);
        let mut factor = exp_of_small(-STEP * STEP / 2.0);
        let mut height = 1.0;
        for away in 1..=middle {
            height *= factor;
            factor *= shrink;
            grid[middle - away] = height;
            grid[middle + away] = height;
        }
        let part = exp_of_small(-1.0 / PARTS_OF_1);
        let quarter = exp_of_small(-0.25);
        Self {
            grid,
            wholes: powers(quarter * quarter * (quarter * quarter)),
            parts: powers(part),
        }
    }

    /// The height so many standard deviations from the maximum.
    pub(super) fn at(&self, away: f64) -> f64 {
        let parts = away * away * (PARTS_OF_1 / 2.0);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "saturates, far from all that is drawn; never negative"
        )]
        let part = parts as usize;
        let Some(whole) = self.wholes.get(part / PARTS) else {
            return 0.0;
        };
        #[expect(clippy::cast_precision_loss, reason = "at most 41 · 64")]
        let rest = (parts - part as f64) / PARTS_OF_1;
        let square = rest * rest;
        // exp(-rest) within 3e-14, as it is below 1/64.
        let rest = (1.0 - rest)
            + square * ((0.5 - rest * (1.0 / 6.0)) + square * (1.0 / 24.0 - rest * (1.0 / 120.0)));
        whole * self.parts[part % PARTS] * rest
    }

    /// Adds a Gaussian of `height` to the points of the grid that `sum` are.
    ///
    /// Its maximum lies `beside` standard deviations, at most half a step, before the point that is `from` points
    /// before the first of `sum`; so the points are those from `from` on.
    ///
    /// With u = `beside`, exp(-(u + ih)²/2) = exp(-u²/2) · exp(-uh)^i · exp(-i²h²/2), of which the last is in the table.
    pub(super) fn add(&self, height: f64, beside: f64, from: isize, sum: &mut [f64]) {
        let from_end = from.max(-REACH);
        let skipped = (from_end - from).unsigned_abs();
        let Some(sum) = sum.get_mut(skipped..) else {
            return;
        };
        let start = (from_end + REACH).unsigned_abs();
        let Some(table) = self.grid.get(start..) else {
            return;
        };
        #[expect(clippy::cast_precision_loss, reason = "at most REACH")]
        let first = from_end as f64;
        let ratio = exp_of_small(-beside * STEP);
        let square = ratio * ratio;
        let forth = square * square;
        let mut power = height * exp_of_small(-beside * (beside / 2.0 + STEP * first));
        let length = sum.len().min(table.len());
        let (fours, rest) = sum[..length].as_chunks_mut::<4>();
        let (table, table_rest) = table[..length].as_chunks::<4>();
        let mut powers = [power, power * ratio, power * square, power * ratio * square];
        for (sum, table) in fours.iter_mut().zip(table) {
            for lane in 0..4 {
                sum[lane] += table[lane] * powers[lane];
                powers[lane] *= forth;
            }
        }
        power = powers[0];
        for (sum, table) in rest.iter_mut().zip(table_rest) {
            *sum += table * power;
            power *= ratio;
        }
    }
}

/// 1, x, x², and so on.
fn powers<const N: usize>(x: f64) -> [f64; N] {
    let mut all = [1.0; N];
    for place in 1..N {
        all[place] = all[place - 1] * x;
    }
    all
}

/// exp(x) for |x| < 1/2, within 2e-15: the series to the thirteenth power, in halves.
fn exp_of_small(x: f64) -> f64 {
    let two = x * x;
    let four = two * two;
    let eight = four * four;
    let a = (1.0 + x) + two * (1.0 / 2.0 + x * (1.0 / 6.0));
    let b = (1.0 / 24.0 + x * (1.0 / 120.0)) + two * (1.0 / 720.0 + x * (1.0 / 5_040.0));
    let c = (1.0 / 40_320.0 + x * (1.0 / 362_880.0))
        + two * (1.0 / 3_628_800.0 + x * (1.0 / 39_916_800.0));
    let d = 1.0 / 479_001_600.0 + x * (1.0 / 6_227_020_800.0);
    (a + four * b) + eight * (c + four * d)
}
