//! Pixels of many exposures into one block, byte-swapped on the way.

use super::{LANES, WIDE_LANES};
use crate::fits::pixel::{Bitpix, Encoding};
use crate::stack::median::Samples;

/// Whether the pixels are plain big-endian f32, the case worth a loop of its own.
pub(in crate::stack) fn is_plain_f32(encoding: &Encoding) -> bool {
    encoding.bitpix == Bitpix::F32 && encoding.is_plain()
}

/// A block of plain f32 pixels from pixel `start` of each run; gives whether a NaN is among them.
#[inline(never)]
pub(in crate::stack) fn plain_f32(
    runs: &[Samples<'_>],
    start: usize,
    rows: &mut [[f32; LANES]],
) -> bool {
    let mut nan = 0;
    for (run, row) in runs.iter().zip(rows) {
        let bytes = run.bytes.get(start * 4..).and_then(<[u8]>::first_chunk);
        if let Some(bytes) = bytes {
            nan |= swapped(bytes, row);
        }
    }
    nan != 0
}

/// Runs that a processor fetches ahead of their use by itself.
pub(in crate::stack) const FORESEEN: usize = 12;

/// Pixels that [`touch`] fetches ahead at a time.
pub(in crate::stack) const AHEAD: usize = 256;

/// Reads a byte of every cache line of `AHEAD` pixels from `start` of each run.
///
/// A block takes two lines from each of many runs, too many streams for a processor to foresee.
/// Short independent reads let it wait for many lines at once; decoding would wait for a few.
#[inline(never)]
pub(in crate::stack) fn touch(runs: &[Samples<'_>], start: usize) -> u8 {
    let mut sum = 0_u8;
    for run in runs {
        let size = run.encoding.bitpix.size();
        let rest = run.bytes.get(start * size..).unwrap_or_default();
        for line in rest[..rest.len().min(AHEAD * size)].chunks(64) {
            sum ^= line[0];
        }
    }
    sum
}

/// One row of a block; not 0 if there is a NaN.
fn swapped(bytes: &[u8; 4 * LANES], row: &mut [f32; LANES]) -> u32 {
    let (pixels, _) = bytes.as_chunks::<4>();
    let mut nan = 0;
    for (value, pixel) in row.iter_mut().zip(pixels) {
        *value = f32::from_be_bytes(*pixel);
        nan |= u32::from(value.is_nan());
    }
    nan
}

/// [`plain_f32`] for any encoding and for `pixels` pixels; lanes beyond them stay as they are.
#[inline(never)]
pub(in crate::stack) fn decoded_f32(
    runs: &[Samples<'_>],
    start: usize,
    pixels: usize,
    rows: &mut [[f32; LANES]],
) -> bool {
    let mut nan = false;
    for (run, row) in runs.iter().zip(rows) {
        let (bytes, encoding) = (stored(run, start, pixels), &run.encoding);
        nan |= match encoding.bitpix {
            Bitpix::I16 if pixels == LANES => {
                let short = |pixel: &[u8; 2]| i16::from_be_bytes(*pixel).into();
                integers(encoding, bytes.as_chunks().0, row, short)
            }
            Bitpix::U8 if pixels == LANES => {
                let byte = |pixel: &[u8; 1]| pixel[0].into();
                integers(encoding, bytes.as_chunks().0, row, byte)
            }
            _ => {
                let decoded = encoding.decode_f32(bytes, row);
                row[..decoded].iter().any(|value| value.is_nan())
            }
        };
    }
    nan
}

/// A row of short integers, to the same bits as [`Encoding::decode_f32`], but with a loop for each
/// kind of scaling; gives whether there is a BLANK.
fn integers<const B: usize>(
    encoding: &Encoding,
    pixels: &[[u8; B]],
    row: &mut [f32; LANES],
    value_of: impl Fn(&[u8; B]) -> i32,
) -> bool {
    let (scale, zero) = (encoding.bscale, encoding.bzero);
    #[expect(clippy::float_cmp, reason = "the card's exact value is meant")]
    let unscaled = scale == 1.0 && zero.fract() == 0.0 && zero.abs() <= f64::from(1 << 30);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "bounded above; one rounding, as documented"
    )]
    if unscaled {
        let zero = zero as i32;
        for (value, pixel) in row.iter_mut().zip(pixels) {
            *value = (value_of(pixel) + zero) as f32;
        }
    } else {
        for (value, pixel) in row.iter_mut().zip(pixels) {
            *value = (f64::from(value_of(pixel)) * scale + zero) as f32;
        }
    }
    let Some(blank) = encoding.blank else {
        // Absurd scaling may still make NaNs.
        return !unscaled && row.iter().any(|value| value.is_nan());
    };
    let mut blanks = 0;
    for (value, pixel) in row.iter_mut().zip(pixels) {
        let is_blank = i64::from(value_of(pixel)) == blank;
        *value = if is_blank { f32::NAN } else { *value };
        blanks |= u32::from(is_blank);
    }
    blanks != 0 || (!unscaled && row.iter().any(|value| value.is_nan()))
}

/// [`decoded_f32`] in f64.
#[inline(never)]
pub(in crate::stack) fn decoded_f64(
    runs: &[Samples<'_>],
    start: usize,
    pixels: usize,
    rows: &mut [[f64; WIDE_LANES]],
) -> bool {
    let mut nan = false;
    for (run, row) in runs.iter().zip(rows) {
        let decoded = run.encoding.decode_f64(stored(run, start, pixels), row);
        nan |= row[..decoded].iter().any(|value| value.is_nan());
    }
    nan
}

/// The bytes of `pixels` pixels from `start`.
fn stored<'a>(run: &Samples<'a>, start: usize, pixels: usize) -> &'a [u8] {
    let size = run.encoding.bitpix.size();
    run.bytes
        .get(start * size..(start + pixels) * size)
        .unwrap_or_default()
}
