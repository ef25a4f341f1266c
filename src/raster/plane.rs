//! Values as 16-bit codes: `value = BZERO + BSCALE · code`, and code 0 means "no value".
//!
//! The names and the formula are those of FITS 4.0 §4.4.2.5, so that a reader of FITS integers can
//! read a tile with what it has.

use std::fmt::Debug;

use serde::Serialize;

/// The lowest code that stands for a value; 0 stands for none.
pub const FIRST: u16 = 1;
/// The highest code.
pub const LAST: u16 = u16::MAX;

/// Steps between the lowest and the highest code.
const STEPS: f64 = 65_534.0;
/// Adding 2⁵² to a number in `[0, 2⁵²)` leaves its rounded value in the last bits: to nearest, ties
/// to even, and in plain additions, which every compiler vectorises.
const TO_INTEGER: f64 = 4_503_599_627_370_496.0;
/// The same for numbers of either sign.
const TO_SIGNED: f64 = 6_755_399_441_055_744.0;
/// Beyond this `BSCALE · code` would overflow in a reader's f64.
const WIDEST: f64 = f64::MAX / 4.0;
/// Integers up to here keep their halves exact in f64 through all sums made of them.
const EXACT: f64 = 1_125_899_906_842_624.0;

/// A number that planes are made of: f32 or f64.
pub trait Sample: Copy + Default + PartialOrd + Debug + 'static {
    /// The same number as f64.
    fn wide(self) -> f64;
    /// The nearest number of this type, ties to even.
    fn narrow(value: f64) -> Self;
}

impl Sample for f32 {
    #[inline]
    fn wide(self) -> f64 {
        f64::from(self)
    }

    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the rounding that is documented"
    )]
    fn narrow(value: f64) -> Self {
        value as Self
    }
}

impl Sample for f64 {
    #[inline]
    fn wide(self) -> f64 {
        self
    }

    #[inline]
    fn narrow(value: f64) -> Self {
        value
    }
}

/// A linear scale between values and codes 1 to 65,535.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Scale {
    /// BZERO: the value that code 0 would have.
    pub bzero: f64,
    /// BSCALE: the difference of two neighbouring codes. Positive and finite.
    pub bscale: f64,
}

impl Scale {
    /// The scale that gives `min` code 1 and `max` code 65,535.
    ///
    /// A value within the limits comes back with an error of at most `bscale / 2`, plus the
    /// rounding of one f64 sum. Equal limits get a scale whose code 1 is exactly that value. The
    /// limits may stand in either order; NaN counts as the other limit, or as 0 if both are NaN;
    /// limits beyond ±[`f64::MAX`]`/4` (infinities too) are drawn in to that, since `BSCALE · code`
    /// would overflow. Every finite f32 range is within.
    #[must_use]
    pub fn fit(min: f64, max: f64) -> Self {
        let (low, high) = (min.min(max), min.max(max));
        if low.is_nan() {
            return Self::constant(0.0);
        }
        let low = low.clamp(-WIDEST, WIDEST);
        let high = high.clamp(-WIDEST, WIDEST);
        if low >= high {
            return Self::constant(low);
        }
        let bscale = ((high - low) / STEPS).max(f64::MIN_POSITIVE);
        Self {
            bzero: low - bscale,
            bscale,
        }
    }

    /// The lossless scale of what was seen, if there is one, otherwise the one that fits it.
    ///
    /// Integers that span at most 65,535 codes get BSCALE 1 (and BZERO 0 where that holds them, so
    /// that codes read as counts), integers and halves get BSCALE 0.5: medians of an even number
    /// of camera frames. `None` if no finite value was seen.
    #[must_use]
    pub fn exact(seen: &Range) -> Option<Self> {
        let (min, max) = seen.limits()?;
        let lossless = |bscale: f64| (max - min) / bscale <= STEPS;
        Some(if seen.is_whole() && lossless(1.0) {
            let bzero = if min >= 1.0 && max <= f64::from(LAST) {
                0.0
            } else {
                min - 1.0
            };
            Self { bzero, bscale: 1.0 }
        } else if seen.is_halves() && lossless(0.5) {
            Self {
                bzero: min - 0.5,
                bscale: 0.5,
            }
        } else {
            Self::fit(min, max)
        })
    }

    /// A power of two far below the value keeps `value − bscale + bscale` exact.
    fn constant(value: f64) -> Self {
        let bscale = if value.fract() == 0.0 && value.abs() <= EXACT {
            1.0
        } else {
            (value.abs().log2().floor() - 16.0).max(-1022.0).exp2()
        };
        Self {
            bzero: value - bscale,
            bscale,
        }
    }

    /// The code of a value: rounded to nearest, ties to even.
    ///
    /// NaN is 0; values below the scale, −∞ among them, are 1, and those above, +∞ among them,
    /// are 65,535.
    #[must_use]
    #[inline]
    pub fn code(&self, value: f64) -> u16 {
        code(value, self.bzero, 1.0 / self.bscale)
    }

    /// The value of a code, `None` for code 0.
    #[must_use]
    #[inline]
    pub fn value(&self, code: u16) -> Option<f64> {
        (code != 0).then(|| self.bzero + self.bscale * f64::from(code))
    }

    /// Whether both numbers are finite and BSCALE is positive: what a scale from outside must be.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.bzero.is_finite() && self.bscale.is_finite() && self.bscale > 0.0
    }
}

#[inline]
#[expect(
    clippy::cast_possible_truncation,
    reason = "the last 16 bits hold the whole code"
)]
fn code(value: f64, bzero: f64, per_step: f64) -> u16 {
    let steps = (value - bzero) * per_step;
    // Comparisons, not `clamp`: they lose NaN here, which the last line tells from a value.
    let steps = if steps > 1.0 { steps } else { 1.0 };
    let steps = if steps < 65_535.0 { steps } else { 65_535.0 };
    let code = (steps + TO_INTEGER).to_bits() as u16;
    if value.is_nan() { 0 } else { code }
}

/// The codes of values, as [`Scale::code`] gives them.
///
/// Takes as many as the shorter slice holds. Cost: about 0.6 ns a value, without a branch.
pub fn quantise<T: Sample>(values: &[T], scale: &Scale, codes: &mut [u16]) {
    let (bzero, per_step) = (scale.bzero, 1.0 / scale.bscale);
    for (out, &value) in codes.iter_mut().zip(values) {
        *out = code(value.wide(), bzero, per_step);
    }
}

/// Turns rows over, in place: FITS has its lowest row first, pictures have their highest.
///
/// Rows are `width` long; a part of a row at the end, and any width of 0, is left alone.
pub fn flip<T>(values: &mut [T], width: usize) {
    let rows = values.len().checked_div(width).unwrap_or(0);
    for row in 0..rows / 2 {
        let (low, high) = values.split_at_mut((rows - 1 - row) * width);
        low[row * width..][..width].swap_with_slice(&mut high[..width]);
    }
}

/// The smallest and the largest finite value, `None` if there is none.
#[must_use]
pub fn range(values: &[f32]) -> Option<(f32, f32)> {
    let (mut min, mut max) = (f32::INFINITY, f32::NEG_INFINITY);
    for &value in values {
        let finite = value.is_finite();
        min = min.min(if finite { value } else { f32::INFINITY });
        max = max.max(if finite { value } else { f32::NEG_INFINITY });
    }
    (min <= max).then_some((min, max))
}

/// What has been seen of a plane that passes by in pieces: enough to choose its [`Scale`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Range {
    min: f64,
    max: f64,
    whole: bool,
    halves: bool,
    finite: u64,
    nan: u64,
    infinite: u64,
}

impl Default for Range {
    fn default() -> Self {
        Self {
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
            whole: true,
            halves: true,
            finite: 0,
            nan: 0,
            infinite: 0,
        }
    }
}

impl Range {
    /// Nothing seen yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes note of all that another one has seen.
    pub fn merge(&mut self, other: &Self) {
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.whole &= other.whole;
        self.halves &= other.halves;
        self.finite += other.finite;
        self.nan += other.nan;
        self.infinite += other.infinite;
    }

    /// Takes note of values. Cost: 1 to 2 ns a value, without a branch.
    pub fn see<T: Sample>(&mut self, values: &[T]) {
        let (mut min, mut max) = (self.min, self.max);
        let (mut finite, mut nan, mut halves, mut whole) = (0_u64, 0_u64, 0_u64, 0_u64);
        for value in values {
            let value = value.wide();
            let is_finite = value.is_finite();
            let low = if is_finite { value } else { f64::INFINITY };
            let high = if is_finite { value } else { f64::NEG_INFINITY };
            min = if low < min { low } else { min };
            max = if high > max { high } else { max };
            finite += u64::from(is_finite);
            nan += u64::from(value.is_nan());
            // Not finite: the comparison is false, as the count of finite values expects. Beyond
            // ±2⁵¹ the trick says nonsense, and the scale refuses such limits.
            whole += u64::from(is_finite & rounds_to_itself(value));
            halves += u64::from(is_finite & rounds_to_itself(value + value));
        }
        (self.min, self.max) = (min, max);
        self.whole &= whole == finite;
        self.halves &= halves == finite;
        self.finite += finite;
        self.nan += nan;
        self.infinite += values.len() as u64 - finite - nan;
    }

    /// The smallest and the largest finite value seen, `None` if there was none.
    #[must_use]
    pub fn limits(&self) -> Option<(f64, f64)> {
        (self.finite > 0).then_some((self.min, self.max))
    }

    /// Whether every finite value seen is an integer of at most 50 bits.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.whole && self.is_exact()
    }

    /// Whether every finite value seen is a multiple of ½ of at most 50 bits.
    #[must_use]
    pub fn is_halves(&self) -> bool {
        self.halves && self.is_exact()
    }

    fn is_exact(&self) -> bool {
        self.finite == 0 || (self.min >= -EXACT && self.max <= EXACT)
    }

    /// Finite values seen.
    #[must_use]
    pub fn finite(&self) -> u64 {
        self.finite
    }

    /// NaNs seen.
    #[must_use]
    pub fn nan(&self) -> u64 {
        self.nan
    }

    /// Infinities of either sign seen.
    #[must_use]
    pub fn infinite(&self) -> u64 {
        self.infinite
    }

    /// The scale for what was seen, [`Scale::exact`]; if no finite value was, any will do.
    #[must_use]
    pub fn scale(&self) -> Scale {
        Scale::exact(self).unwrap_or(Scale {
            bzero: 0.0,
            bscale: 1.0,
        })
    }
}

#[inline]
#[expect(clippy::float_cmp, reason = "an exact test is meant")]
fn rounds_to_itself(value: f64) -> bool {
    (value + TO_SIGNED) - TO_SIGNED == value
}
