//! One peak while it is sorted: the key of its m/z, its intensity and its pixel, little-endian.
//!
//! Rows lie in memory as they lie in the spill, so that nothing is converted on the way.

use crate::store::head::Real;

/// The widths of a row's columns.
///
/// `K` bytes of m/z as an ordered integer (the bits of the float), 4 or 8 bytes of intensity (its
/// bits), 4 bytes of pixel: `W` bytes, 12, 16 or 20.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) mz: Real,
    pub(super) intensity: Real,
}

impl Shape {
    /// Bytes a row.
    pub(super) fn bytes(self) -> usize {
        usize::from(self.mz.bytes()) + usize::from(self.intensity.bytes()) + 4
    }
}

/// Runs a generic function for a shape: `with_shape!(shape, function(arguments))` calls
/// `function::<K, W>(arguments)`.
macro_rules! with_shape {
    ($shape:expr, $function:ident ( $($argument:expr),* $(,)? )) => {
        match ($shape.mz, $shape.intensity) {
            (Real::F32, Real::F32) => $function::<4, 12>($($argument),*),
            (Real::F32, Real::F64) => $function::<4, 16>($($argument),*),
            (Real::F64, Real::F32) => $function::<8, 16>($($argument),*),
            (Real::F64, Real::F64) => $function::<8, 20>($($argument),*),
        }
    };
}
pub(super) use with_shape;

/// The m/z of a row as an ordered integer.
#[inline]
pub(super) fn key<const K: usize, const W: usize>(row: &[u8; W]) -> u64 {
    if K == 4 {
        u64::from(u32::from_le_bytes([row[0], row[1], row[2], row[3]]))
    } else {
        u64::from_le_bytes([
            row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7],
        ])
    }
}

/// The intensity of a row.
#[inline]
pub(super) fn intensity<const K: usize, const W: usize>(row: &[u8; W]) -> f64 {
    let [a, b, c, d] = [row[K], row[K + 1], row[K + 2], row[K + 3]];
    if W - K == 8 {
        f64::from(f32::from_le_bytes([a, b, c, d]))
    } else {
        f64::from_le_bytes([a, b, c, d, row[K + 4], row[K + 5], row[K + 6], row[K + 7]])
    }
}

/// The pixel of a row.
#[inline]
pub(super) fn pixel<const W: usize>(row: &[u8; W]) -> u32 {
    u32::from_le_bytes([row[W - 4], row[W - 3], row[W - 2], row[W - 1]])
}

/// A row of its columns.
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    reason = "a shape is chosen so that it holds every value of its dataset"
)]
pub(super) fn row<const K: usize, const W: usize>(key: u64, intensity: f64, pixel: u32) -> [u8; W] {
    let mut row = [0; W];
    row[..K].copy_from_slice(&key.to_le_bytes()[..K]);
    if W - K == 8 {
        row[K..K + 4].copy_from_slice(&(intensity as f32).to_le_bytes());
    } else {
        row[K..K + 8].copy_from_slice(&intensity.to_le_bytes());
    }
    row[W - 4..].copy_from_slice(&pixel.to_le_bytes());
    row
}
