//! Sums and extremes of lists, several side by side.

/// How many, so that one addition need not wait for the other. The order of additions is part of a result: it is the
/// same everywhere.
pub(super) const LANES: usize = 8;

/// The sum of what `term` makes of each value.
#[inline]
pub(super) fn summed(values: &[f32], term: impl Fn(f32) -> f64) -> f64 {
    let (whole, rest) = values.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for lanes in whole {
        for (sum, value) in sums.iter_mut().zip(lanes) {
            *sum += term(*value);
        }
    }
    for (sum, value) in sums.iter_mut().zip(rest) {
        *sum += term(*value);
    }
    sums.iter().sum()
}

/// The largest value, or 0 where none is positive; NaN counts for nothing.
pub(super) fn largest(values: &[f32]) -> f32 {
    outermost(values, |one, other| one > other)
}

/// The least value, or 0 where none is negative; NaN counts for nothing.
pub(super) fn least(values: &[f32]) -> f32 {
    outermost(values, |one, other| one < other)
}

#[inline]
fn outermost(values: &[f32], beyond: impl Fn(f32, f32) -> bool) -> f32 {
    let further = |one, other| if beyond(one, other) { one } else { other };
    let (whole, rest) = values.as_chunks::<LANES>();
    let mut found = [0.0; LANES];
    for lanes in whole {
        for (found, value) in found.iter_mut().zip(lanes) {
            *found = further(*value, *found);
        }
    }
    let found = found
        .into_iter()
        .fold(0.0, |found, lane| further(lane, found));
    rest.iter()
        .fold(found, |found, value| further(*value, found))
}

/// Fewer than [`LANES`] values, with zeros after them.
pub(super) fn filled<T: Copy + Default>(values: &[T]) -> [T; LANES] {
    let mut lanes = [T::default(); LANES];
    for (lane, value) in lanes.iter_mut().zip(values) {
        *lane = *value;
    }
    lanes
}

/// A number of pixels.
#[expect(clippy::cast_precision_loss, reason = "pixels are fewer than 2^32")]
pub(super) fn count(len: usize) -> f64 {
    len as f64
}
