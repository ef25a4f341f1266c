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

/// Pixels whose counts of missing values fit the registers.
const AT_ONCE: usize = 16;

/// Replaces NaNs among the first values of rows in turn; `missing` becomes their number and the `padding` that is there already.
/// Gives whether there is any.
#[inline(never)]
pub(super) fn balance<T: Real, const L: usize, const W: usize>(
    rows: &mut [[T; W]],
    padding: &[u32; L],
    missing: &mut [u32; L],
) -> bool {
    for (at, padding, missing) in parts(padding, missing) {
        // A local array lives in registers.
        let mut filled = *padding;
        for row in &mut *rows {
            if let Some(values) = row.get_mut(at..).and_then(<[T]>::first_chunk_mut) {
                let from = *values;
                fill(&from, values, &mut filled);
            }
        }
        *missing = filled;
    }
    differ(missing, padding)
}

/// [`balance`] of rows that lie elsewhere, into some that are free.
#[inline(never)]
pub(super) fn balance_into<T: Real, const L: usize, const W: usize>(
    from: &[&[T; L]],
    rows: &mut [[T; W]],
    padding: &[u32; L],
    missing: &mut [u32; L],
) -> bool {
    for (at, padding, missing) in parts(padding, missing) {
        let mut filled = *padding;
        for (from, row) in from.iter().zip(&mut *rows) {
            let from = from.get(at..).and_then(<[T]>::first_chunk);
            let values = row.get_mut(at..).and_then(<[T]>::first_chunk_mut);
            if let (Some(from), Some(values)) = (from, values) {
                fill(from, values, &mut filled);
            }
        }
        *missing = filled;
    }
    differ(missing, padding)
}

fn differ<const L: usize>(one: &[u32; L], other: &[u32; L]) -> bool {
    let mut difference = 0;
    for (one, other) in one.iter().zip(other) {
        difference |= one ^ other;
    }
    difference != 0
}

type Part<'a> = (usize, &'a [u32; AT_ONCE], &'a mut [u32; AT_ONCE]);

fn parts<'a, const L: usize>(
    padding: &'a [u32; L],
    missing: &'a mut [u32; L],
) -> impl Iterator<Item = Part<'a>> {
    const { assert!(L.is_multiple_of(AT_ONCE)) };
    let missing = missing.as_chunks_mut().0.iter_mut();
    let parts = padding.as_chunks().0.iter().zip(missing);
    parts
        .enumerate()
        .map(|(part, (padding, missing))| (part * AT_ONCE, padding, missing))
}

fn fill<T: Real, const L: usize>(from: &[T; L], values: &mut [T; L], missing: &mut [u32; L]) {
    for ((value, from), missing) in values.iter_mut().zip(from).zip(missing) {
        *value = filler_or(*from, *missing);
        *missing += u32::from(from.is_missing());
    }
}

/// A value, or what stands in for it.
pub(super) fn filler_or<T: Real>(value: T, before: u32) -> T {
    if value.is_missing() {
        T::filler(before)
    } else {
        value
    }
}
