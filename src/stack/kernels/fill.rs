//! Missing values are filled so that the middle ranks stay where they are.
//!
//! A lane of M values of which m are NaN gets its NaNs replaced by +∞, −∞, +∞, … in turn. The
//! median of the valid ones is then at fixed ranks, whatever m is: M/2−1 and M/2 for even M,
//! (M−3)/2 and (M−1)/2 for odd M, counted from 0. The parity of m tells whether it is their mean or
//! one of them (M even: the lower, M odd: the upper). Where all are NaN it is −∞ + ∞, a NaN by itself.

use super::real::Real;

/// What the next missing value of a lane becomes after `filled` ones.
pub(in crate::stack) fn filler<T: Real>(filled: usize) -> T {
    if filled.is_multiple_of(2) {
        T::INFINITY
    } else {
        T::NEG_INFINITY
    }
}

/// Replaces NaNs in turn and adds their number to `missing`, which counts the padding already there.
#[inline(never)]
pub(in crate::stack) fn balance<const L: usize>(rows: &mut [[f32; L]], missing: &mut [u32; L]) {
    let mut next = missing.map(|filled| 0x7f80_0000 | (filled << 31));
    for row in rows {
        for ((value, next), missing) in row.iter_mut().zip(&mut next).zip(&mut *missing) {
            let nan = value.is_nan();
            *value = if nan { f32::from_bits(*next) } else { *value };
            *next ^= u32::from(nan) << 31;
            *missing += u32::from(nan);
        }
    }
}

/// [`balance`] for f64.
#[inline(never)]
pub(in crate::stack) fn balance_wide<const L: usize>(
    rows: &mut [[f64; L]],
    missing: &mut [u32; L],
) {
    for row in rows {
        for (value, missing) in row.iter_mut().zip(&mut *missing) {
            if value.is_nan() {
                *value = filler(*missing as usize);
                *missing += 1;
            }
        }
    }
}

/// The median of each lane from its two middle ranks among `size` values with `missing` fillers.
///
/// Zero comes out positive and NaN canonical, so that the bits do not depend on the way to them.
pub(in crate::stack) fn settle<T: Real, const L: usize>(
    size: usize,
    missing: &[u32; L],
    lower: &[T; L],
    upper: &[T; L],
) -> [T; L] {
    let odd = u32::from(!size.is_multiple_of(2));
    std::array::from_fn(|i| {
        let mean = (lower[i] + upper[i]) * T::HALF;
        let one = if odd == 1 { upper[i] } else { lower[i] };
        let value = if missing[i] & 1 == odd { mean } else { one };
        let value = value + T::ZERO;
        #[expect(clippy::eq_op, reason = "the test for NaN that every Real has")]
        if value == value { value } else { T::NAN }
    })
}
