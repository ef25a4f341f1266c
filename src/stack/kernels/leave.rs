//! Pixels that masks leave out become NaN, after they have been loaded.

use super::real::Real;
use crate::fits::pixel::Bitpix;
use crate::stack::mask::{Flags, Test};

/// Leaves pixels out of a block that holds `pixels` pixels from pixel `start` of each run; gives whether there
/// are any.
#[inline]
pub(in crate::stack) fn out<T: Real, const L: usize>(
    flags: &[Option<Flags<'_>>],
    start: usize,
    pixels: usize,
    rows: &mut [[T; L]],
) -> bool {
    !flags.is_empty() && any(flags, start, pixels, rows)
}

#[inline(never)]
fn any<T: Real, const L: usize>(
    flags: &[Option<Flags<'_>>],
    start: usize,
    pixels: usize,
    rows: &mut [[T; L]],
) -> bool {
    let mut left = false;
    for (flags, row) in flags.iter().zip(rows) {
        if let (Some(flags), Some(row)) = (flags, row.get_mut(..pixels)) {
            left |= one(flags, start, row);
        }
    }
    left
}

/// One run, whatever its length, so that there is but one copy of this code for each type of value.
#[inline(never)]
fn one<T: Real>(flags: &Flags<'_>, start: usize, row: &mut [T]) -> bool {
    let bitpix = flags.mask.bitpix;
    let bytes = flags.bytes.get(start * bitpix.size()..);
    let bytes = bytes.unwrap_or_default();
    match (bitpix, flags.mask.test) {
        (Bitpix::F64, _) => each(bytes, row, |b| above(f64::from_be_bytes(b))),
        (Bitpix::F32, _) => each(bytes, row, |b| above(f32::from_be_bytes(b).into())),
        (_, Test::Weight) => false,
        (Bitpix::U8, Test::Flags { flip, bits, clear }) => each(bytes, row, |[b]: [u8; 1]| {
            ((u64::from(b) ^ flip) & bits == 0) != clear
        }),
        (Bitpix::I16, Test::Flags { flip, bits, clear }) => each(bytes, row, |b| {
            ((u64::from(u16::from_be_bytes(b)) ^ flip) & bits == 0) != clear
        }),
        (Bitpix::I32, Test::Flags { flip, bits, clear }) => each(bytes, row, |b| {
            ((u64::from(u32::from_be_bytes(b)) ^ flip) & bits == 0) != clear
        }),
        (Bitpix::I64, Test::Flags { flip, bits, clear }) => each(bytes, row, |b| {
            ((u64::from_be_bytes(b) ^ flip) & bits == 0) != clear
        }),
    }
}

/// Whether a weight says that there are data; NaN does not.
fn above(weight: f64) -> bool {
    weight > 0.0
}

/// Sets NaN where a stored flag says not to keep the pixel.
fn each<T: Real, const B: usize>(
    bytes: &[u8],
    row: &mut [T],
    keeps: impl Fn([u8; B]) -> bool,
) -> bool {
    let mut left = 0;
    for (value, flag) in row.iter_mut().zip(bytes.as_chunks().0) {
        let kept = keeps(*flag);
        *value = if kept { *value } else { T::NAN };
        left |= u32::from(!kept);
    }
    left != 0
}
