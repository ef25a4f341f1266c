//! Pixels that masks leave out become NaN, after they have been loaded.

use super::PIXELS;
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

/// One run; gives whether a pixel was left out.
fn one<T: Real>(flags: &Flags<'_>, start: usize, row: &mut [T]) -> bool {
    let mut kept = [0; PIXELS];
    let kept = &mut kept[..row.len().min(PIXELS)];
    look(flags, start, kept);
    let mut all = u32::MAX;
    for (value, kept) in row.iter_mut().zip(&*kept) {
        *value = if *kept == 0 { T::NAN } else { *value };
        all &= *kept;
    }
    all == 0
}

/// Says for each pixel from `start` on whether it is kept: 0 for those that are not. There is but one copy of
/// this code, whatever the values are.
#[inline(never)]
fn look(flags: &Flags<'_>, start: usize, kept: &mut [u32]) {
    let bitpix = flags.mask.bitpix;
    let bytes = flags.bytes.get(start * bitpix.size()..);
    let bytes = bytes.unwrap_or_default();
    let Test::Flags { flip, bits, clear } = flags.mask.test else {
        return match bitpix {
            Bitpix::F64 => each(bytes, kept, |b| f64::from_be_bytes(b) > 0.0),
            _ => each(bytes, kept, |b| f32::from_be_bytes(b) > 0.0),
        };
    };
    // Flags are compared as they are stored: bits and flip are turned around once, not each pixel.
    let ends = |word: u64| word << (64 - 8 * bitpix.size());
    let (flip, bits) = (ends(flip).to_be_bytes(), ends(bits).to_be_bytes());
    let word = |at: [u8; 8]| u64::from_ne_bytes(at);
    let half = |[a, b, c, d, ..]: [u8; 8]| u32::from_ne_bytes([a, b, c, d]);
    let short = |[a, b, ..]: [u8; 8]| u16::from_ne_bytes([a, b]);
    match bitpix.size() {
        1 => {
            let (flip, bits) = (flip[0], bits[0]);
            each(bytes, kept, |[b]: [u8; 1]| {
                ((b ^ flip) & bits == 0) != clear
            });
        }
        2 => {
            let (flip, bits) = (short(flip), short(bits));
            each(bytes, kept, |b| {
                ((u16::from_ne_bytes(b) ^ flip) & bits == 0) != clear
            });
        }
        4 => {
            let (flip, bits) = (half(flip), half(bits));
            each(bytes, kept, |b| {
                ((u32::from_ne_bytes(b) ^ flip) & bits == 0) != clear
            });
        }
        _ => {
            let (flip, bits) = (word(flip), word(bits));
            each(bytes, kept, |b| {
                ((u64::from_ne_bytes(b) ^ flip) & bits == 0) != clear
            });
        }
    }
}

fn each<const B: usize>(bytes: &[u8], kept: &mut [u32], keeps: impl Fn([u8; B]) -> bool) {
    for (kept, flag) in kept.iter_mut().zip(bytes.as_chunks().0) {
        *kept = u32::from(keeps(*flag));
    }
}
