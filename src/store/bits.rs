//! Columns of integers packed to a fixed number of bits.
//!
//! Eight values of `width` bits are `width` bytes, so columns are filled to a multiple of eight values,
//! and each eight of them can be unpacked by itself.

use std::ops::Range;

use super::format::GROUP;

/// Bytes of a column of `len` values of `width` bits.
pub(super) fn packed(len: usize, width: u32) -> usize {
    len.div_ceil(8) * width as usize
}

/// Appends the low `width` bits of every value, least significant bit first.
pub(super) fn pack(values: impl ExactSizeIterator<Item = u64>, width: u32, out: &mut Vec<u8>) {
    if width == 0 {
        return;
    }
    let end = out.len() + packed(values.len(), width);
    let mut held = 0;
    let mut bits = 0;
    for value in values {
        held |= value << bits;
        bits += width;
        if bits >= 64 {
            out.extend_from_slice(&held.to_le_bytes());
            bits -= 64;
            // What of the value did not fit.
            held = value.checked_shr(width - bits).unwrap_or(0);
        }
    }
    out.extend_from_slice(&held.to_le_bytes());
    out.resize(end, 0);
}

/// Unpacks a range of values, at most 32 bits each, into the same places of `out`; places next to the
/// range are overwritten.
///
/// Eight bytes behind the column must be there: `bytes` goes on behind it. What is not there is taken
/// for zeros.
pub(super) fn unpack_narrow(bytes: &[u8], width: u32, range: Range<usize>, out: &mut [u32; GROUP]) {
    // With the width known, all shifts of eight values are constants.
    macro_rules! by_width {
        ($($width:literal)*) => {
            match width {
                0 => out.fill(0),
                $($width => eights::<$width>(bytes, range, out),)*
                _ => {}
            }
        };
    }
    by_width!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32);
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the mask leaves 32 bits at most"
)]
fn eights<const WIDTH: usize>(bytes: &[u8], range: Range<usize>, out: &mut [u32; GROUP]) {
    let first = range.start / 8;
    let eights = out.as_chunks_mut::<8>().0.iter_mut().enumerate();
    for (n, eight) in eights.take(range.end.div_ceil(8)).skip(first) {
        let at = n * WIDTH;
        let Some(window) = bytes.get(at..at + WIDTH + 8) else {
            eight.fill(0);
            continue;
        };
        for (place, value) in eight.iter_mut().enumerate() {
            let bit = place * WIDTH;
            let bits = load(window, bit / 8) >> (bit % 8);
            *value = bits as u32 & u32::MAX >> (32 - WIDTH);
        }
    }
}

/// Unpacks the values from `first` on, up to 64 bits each, as [`unpack_narrow`] does.
pub(super) fn unpack_wide(bytes: &[u8], width: u32, first: usize, out: &mut [u64]) {
    let Some(mask) = u64::MAX.checked_shr(64 - width) else {
        out.fill(0);
        return;
    };
    let mut bit = first * width as usize;
    for value in out {
        let (at, skip) = (bit / 8, bit % 8);
        let mut bits = load(bytes, at) >> skip;
        if width > 57 && skip > 0 {
            let ninth = bytes.get(at + 8).copied().unwrap_or(0);
            bits |= u64::from(ninth) << (64 - skip);
        }
        *value = bits & mask;
        bit += width as usize;
    }
}

#[inline]
fn load(bytes: &[u8], at: usize) -> u64 {
    match bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        Some(eight) => u64::from_le_bytes(*eight),
        None => 0,
    }
}
