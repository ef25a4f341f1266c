//! The two floating-point types that medians are computed in.

use std::ops::{Add, Div, Mul, Sub};

use super::search;

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

    /// The least part of the way that is gone between two bounds.
    const LEAST_SHARE: Self;

    /// The quantile of rank 4 among 16.
    const FIRST_QUANTILE: Self;

    /// A number of rows.
    fn from_count(count: usize) -> Self;

    /// Whether this is NaN.
    fn is_missing(self) -> bool;

    /// What stands in for a missing value where `before` values were missing before: see
    /// [`super::fill`].
    fn filler(before: u32) -> Self;

    /// The two middle ranks of each lane of a block of two rows or more, without NaN.
    fn middle<const L: usize>(rows: &[[Self; L]], lower: &mut [Self; L], upper: &mut [Self; L]);

    /// A value at about a `part` of the way between two in the order of the bits (−0 just below +0):
    /// below the `above` one and, if there is one in between, above the `below` one. A NaN below is
    /// below −∞.
    fn between(below: Self, above: Self, part: Self) -> Self;
}

impl Real for f32 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    const HALF: Self = 0.5;
    const LEAST_SHARE: Self = 0.02;
    const FIRST_QUANTILE: Self = 4.5 / 16.0;
    const INFINITY: Self = Self::INFINITY;
    const NEG_INFINITY: Self = Self::NEG_INFINITY;
    const NAN: Self = Self::from_bits(0x7fc0_0000);

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

    fn middle<const L: usize>(rows: &[[Self; L]], lower: &mut [Self; L], upper: &mut [Self; L]) {
        search::middle::<_, L, 16>(rows, lower, upper);
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "any value in between will do"
    )]
    fn between(below: Self, above: Self, part: Self) -> Self {
        // An integer in the order of the values, and back: an involution.
        let order = |bits: i32| bits ^ ((bits >> 31) & i32::MAX);
        let lowest = order(Self::NEG_INFINITY.to_bits().cast_signed()) - 1;
        let key = order(below.to_bits().cast_signed());
        let low = if below.is_nan() { lowest } else { key };
        let gap = order(above.to_bits().cast_signed())
            .wrapping_sub(low)
            .cast_unsigned();
        // Signed conversions are those that vector units have.
        let half = (gap >> 1).cast_signed();
        let step = ((half as Self * part) as i32).cast_unsigned() << 1 | u32::from(half > 0);
        Self::from_bits(order(low.wrapping_add_unsigned(step)).cast_unsigned())
    }
}

impl Real for f64 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    const HALF: Self = 0.5;
    const LEAST_SHARE: Self = 0.02;
    const FIRST_QUANTILE: Self = 4.5 / 16.0;
    const INFINITY: Self = Self::INFINITY;
    const NEG_INFINITY: Self = Self::NEG_INFINITY;
    const NAN: Self = Self::from_bits(0x7ff8_0000_0000_0000);

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

    fn middle<const L: usize>(rows: &[[Self; L]], lower: &mut [Self; L], upper: &mut [Self; L]) {
        search::middle::<_, L, 8>(rows, lower, upper);
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "any value in between will do"
    )]
    fn between(below: Self, above: Self, part: Self) -> Self {
        // An integer in the order of the values, and back: an involution.
        let order = |bits: i64| bits ^ ((bits >> 63) & i64::MAX);
        let lowest = order(Self::NEG_INFINITY.to_bits().cast_signed()) - 1;
        let key = order(below.to_bits().cast_signed());
        let low = if below.is_nan() { lowest } else { key };
        let gap = order(above.to_bits().cast_signed())
            .wrapping_sub(low)
            .cast_unsigned();
        // Signed conversions are those that vector units have.
        let half = (gap >> 1).cast_signed();
        let step = ((half as Self * part) as i64).cast_unsigned() << 1 | u64::from(half > 0);
        Self::from_bits(order(low.wrapping_add_unsigned(step)).cast_unsigned())
    }
}
