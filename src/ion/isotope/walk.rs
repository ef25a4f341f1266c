//! The walk over the grid on which an envelope is drawn.

use crate::ion::isotope::Isotopologue;
use crate::ion::isotope::gauss::{Gauss, POINTS_PER_FWHM};
use crate::ion::isotope::instrument::{FWHM_IN_SIGMA, Law};
use crate::ion::isotope::peaks::Points;

/// Points that are drawn one by one: with so few it is cheaper than to prepare for a stretch.
const FEW: usize = 3;

/// A place on the grid, and what the envelope there depends on.
///
/// The grid has 25 points in the width of a peak, and that width is the one at the isotopologue that is being
/// passed: the next one's is taken only where the current one has been left behind, so many standard
/// deviations (`width`), and the next one has come as near. As m/z depend on where the points lie, by up to 0.2 ppm, points are
/// where adding step after step would put them, rounding included; but a stretch of them is computed at once.
pub(super) struct Walk<'a> {
    list: &'a [Isotopologue],
    law: Law,
    width: f64,
    gauss: &'a Gauss,
    mz: f64,
    passed: usize,
    sigma: f64,
    empty: bool,
}

impl<'a> Walk<'a> {
    /// The walk past isotopologues, at least one, by ascending mass.
    pub(super) fn new(
        list: &'a [Isotopologue],
        law: Law,
        width: f64,
        gauss: &'a Gauss,
    ) -> Option<Self> {
        let first = list.first()?;
        let sigma = law.sigma(first.mz);
        Some(Self {
            list,
            law,
            width,
            gauss,
            mz: first.mz - width * sigma,
            passed: 0,
            sigma,
            empty: false,
        })
    }

    /// Walks to the end, handing over all points.
    pub(super) fn all(&mut self, points: &mut Points) {
        let last = self.list.last().map_or(0.0, |last| last.mz);
        while self.mz <= last + self.width * self.sigma {
            self.look();
            let step = self.sigma * FWHM_IN_SIGMA / POINTS_PER_FWHM;
            // What is added in fact, as long as the exponent of the sum is the same.
            let step = (self.mz + step) - self.mz;
            if self.empty {
                let Some(next) = self.list.get(self.passed + 1) else {
                    break;
                };
                let to = next.mz - self.width * self.sigma;
                let count = self.points(to, step, false);
                points.skip(self.mz, step, count);
                self.go(count, step);
            } else {
                let to = self.list[self.passed].mz + self.width * self.sigma;
                let count = self.points(to, step, true);
                let wanted = usize::try_from(count).unwrap_or(usize::MAX);
                let heights = points.append(self.mz, step, wanted);
                self.draw(step, heights);
                self.go(heights.len() as u64, step);
            }
        }
        points.finish();
    }

    /// Sees which isotopologue is being passed.
    fn look(&mut self) {
        if self.mz > self.list[self.passed].mz + self.width * self.sigma {
            self.empty = true;
        }
        let next = self.list.get(self.passed + 1);
        let next = next.filter(|next| self.mz >= next.mz - self.width * self.sigma);
        if let Some(next) = next.filter(|_| self.empty) {
            self.empty = false;
            self.passed += 1;
            self.sigma = self.law.sigma(next.mz);
        }
    }

    /// How many points from here on lie before `to`, or on it too; at least one, and fewer where rounding changes
    /// on the way.
    #[expect(clippy::cast_precision_loss, reason = "far below 2^53 points")]
    fn points(&self, to: f64, step: f64, included: bool) -> u64 {
        let before = |count: u64| {
            let mz = self.mz + count as f64 * step;
            if included { mz <= to } else { mz < to }
        };
        let mut count = whole((to - self.mz) / step);
        // The quotient is rounded.
        while count > 0 && !before(count - 1) {
            count -= 1;
        }
        while before(count) {
            count += 1;
        }
        let border = next_binade(self.mz);
        count.min(whole((border - self.mz) / step)).max(1)
    }

    #[expect(clippy::cast_precision_loss, reason = "far below 2^53 points")]
    fn go(&mut self, count: u64, step: f64) {
        self.mz += count as f64 * step;
    }

    /// Adds to the heights of the points from here on what the isotopologues near them have.
    #[expect(clippy::cast_precision_loss, reason = "as many as fit in memory")]
    fn draw(&self, step: f64, heights: &mut [f64]) {
        if heights.len() <= FEW {
            for (place, height) in heights.iter_mut().enumerate() {
                *height = self.height(self.mz + place as f64 * step);
            }
            return;
        }
        let last = self.mz + (heights.len() - 1) as f64 * step;
        let reach = self.width * self.sigma;
        let behind = self.list[..self.passed].iter().rev();
        for isotopologue in behind.take_while(|one| self.mz - one.mz < reach) {
            self.add(isotopologue, step, true, heights);
        }
        let ahead = self.list[self.passed..].iter();
        for isotopologue in ahead.take_while(|one| one.mz - last <= reach) {
            self.add(isotopologue, step, false, heights);
        }
    }

    /// The envelope at one m/z.
    fn height(&self, mz: f64) -> f64 {
        let reach = self.width * self.sigma;
        let per_sigma = 1.0 / self.sigma;
        let one = |one: &Isotopologue| one.share * self.gauss.at((one.mz - mz) * per_sigma);
        let behind = self.list[..self.passed].iter().rev();
        let behind: f64 = behind.take_while(|one| mz - one.mz < reach).map(one).sum();
        let ahead = self.list[self.passed..].iter();
        let ahead = ahead.take_while(|one| one.mz - mz <= reach).map(one);
        behind + ahead.sum::<f64>()
    }

    /// Adds one isotopologue's Gaussian, from where it is near; to where it is, if it is `behind`.
    fn add(&self, one: &Isotopologue, step: f64, behind: bool, heights: &mut [f64]) {
        let reach = self.width * self.sigma;
        let away = (one.mz - self.mz) / step;
        let points = reach / step;
        let end = heights.len();
        let start = ceiling(away - points, end);
        let end = if behind {
            ceiling(away + points, end)
        } else {
            end
        };
        let middle = nearest(away);
        // From the maximum to the point of the grid that is nearest, in standard deviations.
        #[expect(clippy::cast_precision_loss, reason = "a number of points")]
        let beside = (self.mz - one.mz + middle as f64 * step) / self.sigma;
        #[expect(clippy::cast_possible_wrap, reason = "a length in memory")]
        let from = (start as isize).saturating_sub(middle);
        if let Some(heights) = heights.get_mut(start..end) {
            self.gauss.add(one.share, beside, from, heights);
        }
    }
}

/// The smallest whole number that is not below, from 0 to `most`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "saturates at both ends, and is cut at `most`"
)]
fn ceiling(number: f64, most: usize) -> usize {
    let whole = number as usize;
    let above = usize::from((whole as f64) < number);
    whole.saturating_add(above).min(most)
}

/// The nearest whole number; of two the larger.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "saturates, far from all points"
)]
fn nearest(number: f64) -> isize {
    let up = number + 0.5;
    let whole = up as isize;
    whole.saturating_sub(isize::from(whole as f64 > up))
}

/// The whole part of a number, 0 if it is negative.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturates at 0; the ratio of an m/z to a step is far below 2^53"
)]
fn whole(number: f64) -> u64 {
    number as u64
}

/// The smallest power of two above a positive number.
fn next_binade(number: f64) -> f64 {
    f64::from_bits(((number.to_bits() >> 52) + 1) << 52)
}
