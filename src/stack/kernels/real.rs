//! The two floating-point types that medians are computed in.

use std::ops::{Add, Div, Mul, Sub};

use super::{network, search};

/// A float whose bits, read as a signed integer, can be put into the order of the values.
pub(in crate::stack) trait Real:
    'static
    + Copy
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
{
    const ZERO: Self;
    const ONE: Self;
    const HALF: Self;
    const INFINITY: Self;
    const NEG_INFINITY: Self;
    /// The one NaN that is handed out: quiet, positive, no payload. The sign of a NaN that
    /// arithmetic makes differs between processors.
    const NAN: Self;

    /// The quantile of rank 4 among 16.
    const FIRST_QUANTILE: Self;

    /// A number of rows.
    fn from_count(count: usize) -> Self;

    /// As f64.
    fn widen(self) -> f64;

    /// Whether this is NaN.
    fn is_missing(self) -> bool;

    /// What stands in for a missing value where `before` values were missing before: see
    /// [`super::fill`].
    fn filler(before: u32) -> Self;

    /// Rows of a block for so many exposures: two at least, and as many as the algorithm demands.
    fn padded(exposures: usize) -> usize;

    /// The two middle ranks of each lane of a block without NaN.
    fn middle<const L: usize>(rows: &[[Self; L]], lower: &mut [Self; L], upper: &mut [Self; L]);

    /// An integer that is in the same order as the value (−0 just below +0).
    fn key(self) -> i64;

    /// The value of a key.
    fn from_key(key: i64) -> Self;
}

impl Real for f32 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    const HALF: Self = 0.5;
    const FIRST_QUANTILE: Self = 4.5 / 16.0;
    const INFINITY: Self = Self::INFINITY;
    const NEG_INFINITY: Self = Self::NEG_INFINITY;
    const NAN: Self = Self::from_bits(0x7fc0_0000);

    fn widen(self) -> f64 {
        self.into()
    }

    fn is_missing(self) -> bool {
        self.is_nan()
    }

    fn filler(before: u32) -> Self {
        Self::from_bits(Self::INFINITY.to_bits() | before << 31)
    }

    #[expect(clippy::cast_precision_loss, reason = "at most 4096")]
    fn from_count(count: usize) -> Self {
        count as Self
    }

    fn padded(exposures: usize) -> usize {
        network::size_for(exposures).unwrap_or(exposures)
    }

    fn middle<const L: usize>(rows: &[[Self; L]], lower: &mut [Self; L], upper: &mut [Self; L]) {
        if !network::middle(rows, lower, upper) {
            search::middle::<_, L, 16>(rows, lower, upper);
        }
    }

    fn key(self) -> i64 {
        let bits = self.to_bits().cast_signed();
        i64::from(bits ^ ((bits >> 31) & i32::MAX))
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "keys of f32 lie within i32"
    )]
    fn from_key(key: i64) -> Self {
        let key = key as i32;
        Self::from_bits((key ^ ((key >> 31) & i32::MAX)).cast_unsigned())
    }
}

impl Real for f64 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    const HALF: Self = 0.5;
    const FIRST_QUANTILE: Self = 4.5 / 16.0;
    const INFINITY: Self = Self::INFINITY;
    const NEG_INFINITY: Self = Self::NEG_INFINITY;
    const NAN: Self = Self::from_bits(0x7ff8_0000_0000_0000);

    fn widen(self) -> f64 {
        self
    }

    fn is_missing(self) -> bool {
        self.is_nan()
    }

    fn filler(before: u32) -> Self {
        Self::from_bits(Self::INFINITY.to_bits() | u64::from(before) << 63)
    }

    #[expect(clippy::cast_precision_loss, reason = "at most 4096")]
    fn from_count(count: usize) -> Self {
        count as Self
    }

    fn padded(exposures: usize) -> usize {
        exposures.max(2)
    }

    fn middle<const L: usize>(rows: &[[Self; L]], lower: &mut [Self; L], upper: &mut [Self; L]) {
        search::middle::<_, L, 8>(rows, lower, upper);
    }

    fn key(self) -> i64 {
        let bits = self.to_bits().cast_signed();
        bits ^ ((bits >> 63) & i64::MAX)
    }

    fn from_key(key: i64) -> Self {
        Self::from_bits((key ^ ((key >> 63) & i64::MAX)).cast_unsigned())
    }
}
