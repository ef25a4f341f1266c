//! Missing values are filled so that the middle ranks stay where they are.
//!
//! A lane of M values of which m are NaN gets its NaNs replaced by +∞, −∞, +∞, … in turn. The
//! median of the valid ones is then at fixed ranks, whatever m is: M/2−1 and M/2 for even M,
//! (M−3)/2 and (M−1)/2 for odd M, counted from 0. The parity of m tells whether it is their mean or
//! one of them (M even: the lower, M odd: the upper). Where all are NaN it is −∞ + ∞, a NaN by itself.
//! Rows that pad a block to the size of a network are missing values like any other.

use super::real::Real;

/// Fills whole rows.
pub(super) fn pad<T: Real, const L: usize>(rows: &mut [[T; L]]) {
    for (row, before) in rows.iter_mut().zip(0..) {
        *row = [T::filler(before); L];
    }
}

/// Replaces NaNs in turn; `missing` becomes their number and the `padding` that is there already.
#[inline(never)]
pub(super) fn balance<T: Real, const L: usize>(
    rows: &mut [[T; L]],
    padding: u32,
    missing: &mut [u32; L],
) {
    // A local array lives in registers; `padding` cannot be its start, for that would be written
    // lane by lane and read back as vectors at once.
    let mut filled = [0; L];
    for row in rows {
        for (value, filled) in row.iter_mut().zip(&mut filled) {
            let nan = value.is_missing();
            *value = if nan {
                T::filler(*filled + padding)
            } else {
                *value
            };
            *filled += u32::from(nan);
        }
    }
    for (missing, filled) in missing.iter_mut().zip(filled) {
        *missing = filled + padding;
    }
}
