//! The two floating-point types that medians are computed in.

use std::ops::{Add, Mul};

/// A float whose bits, read as a signed integer, can be put into the order of the values.
pub(in crate::stack) trait Real:
    Copy + PartialOrd + Add<Output = Self> + Mul<Output = Self>
{
    const ZERO: Self;
    const HALF: Self;
    const INFINITY: Self;
    const NEG_INFINITY: Self;
    /// The one NaN that is handed out: quiet, positive, no payload. The sign of a NaN that
    /// arithmetic makes differs between processors.
    const NAN: Self;

    /// An integer that is in the same order as the value (−0 just below +0).
    fn key(self) -> i64;

    /// The value of a key.
    fn from_key(key: i64) -> Self;
}

impl Real for f32 {
    const ZERO: Self = 0.0;
    const HALF: Self = 0.5;
    const INFINITY: Self = Self::INFINITY;
    const NEG_INFINITY: Self = Self::NEG_INFINITY;
    const NAN: Self = Self::from_bits(0x7fc0_0000);

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
    const HALF: Self = 0.5;
    const INFINITY: Self = Self::INFINITY;
    const NEG_INFINITY: Self = Self::NEG_INFINITY;
    const NAN: Self = Self::from_bits(0x7ff8_0000_0000_0000);

    fn key(self) -> i64 {
        let bits = self.to_bits().cast_signed();
        bits ^ ((bits >> 63) & i64::MAX)
    }

    fn from_key(key: i64) -> Self {
        Self::from_bits((key ^ ((key >> 63) & i64::MAX)).cast_unsigned())
    }
}
