//! Pixels of many exposures into one block, byte-swapped on the way.

use std::ops::Range;

use super::WIDE_LANES;
use crate::fits::pixel::{Bitpix, Encoding};
use crate::stack::median::Samples;

/// Pixels in a part of a row, short enough for loops to be unrolled.
const PART: usize = 32;

/// Whether the pixels are plain big-endian f32, the case worth a loop of its own.
pub(in crate::stack) fn is_plain_f32(encoding: &Encoding) -> bool {
    encoding.bitpix == Bitpix::F32 && encoding.is_plain()
}

/// A block of plain f32 pixels from pixel `start` of each run; gives whether a NaN is among them.
#[inline(never)]
pub(in crate::stack) fn plain_f32<const L: usize>(
    runs: &[Samples<'_>],
    start: usize,
    rows: &mut [[f32; L]],
) -> bool {
    let mut nan = 0;
    for (run, row) in runs.iter().zip(rows) {
        let parts = run.bytes.as_chunks().0.get(start..).unwrap_or_default();
        let parts: &[[[u8; 4]; PART]] = parts.as_chunks().0;
        let rows: &mut [[f32; PART]] = row.as_chunks_mut().0;
        // Not a loop, which costs an engine as much as the swap.
        match (rows, parts) {
            ([row], [part, ..]) => nan |= swapped(part, row),
            ([row, other_row], [part, other, ..]) => {
                nan |= swapped(part, row) | swapped(other, other_row);
            }
            _ => {}
        }
    }
    nan != 0
}

/// Runs that a processor fetches ahead of their use by itself.
const FORESEEN: usize = 24;

/// Pixels that [`ahead`] fetches at a time.
const AHEAD: usize = 256;

/// Pixels of one exposure, stored or native.
pub(in crate::stack) trait Run {
    /// Reads something of every cache line of the pixels, as far as they are there.
    fn touch(&self, pixels: Range<usize>) -> u32;
}

impl Run for Samples<'_> {
    fn touch(&self, pixels: Range<usize>) -> u32 {
        let size = self.encoding.bitpix.size();
        let end = self.bytes.len().min(pixels.end * size);
        let bytes = self.bytes.get(pixels.start * size..end);
        let lines = bytes.unwrap_or_default().chunks(64);
        lines.fold(0, |sum, line| sum ^ u32::from(line[0]))
    }
}

impl Run for &[f32] {
    fn touch(&self, pixels: Range<usize>) -> u32 {
        let values = self.get(pixels.start..self.len().min(pixels.end));
        let lines = values.unwrap_or_default().chunks(16);
        lines.fold(0, |sum, line| sum ^ line[0].to_bits())
    }
}

/// Reads pixels from `start` of each run ahead of their use, at every so many pixels.
///
/// A block takes two lines from each of many runs, too many streams for a processor to foresee.
/// Short independent reads let it wait for many lines at once; decoding would wait for a few.
pub(in crate::stack) fn ahead(runs: &[impl Run], start: usize) {
    if runs.len() > FORESEEN && start.is_multiple_of(AHEAD) {
        std::hint::black_box(touch(runs, start..start + AHEAD));
    }
}

#[inline(never)]
fn touch(runs: &[impl Run], pixels: Range<usize>) -> u32 {
    let lines = runs.iter().map(|run| run.touch(pixels.clone()));
    lines.fold(0, |sum, line| sum ^ line)
}

/// Part of a row; not 0 if there is a NaN.
fn swapped(pixels: &[[u8; 4]; PART], row: &mut [f32; PART]) -> u32 {
    let mut nan = 0;
    for (value, pixel) in row.iter_mut().zip(pixels) {
        *value = f32::from_be_bytes(*pixel);
        nan |= u32::from(value.is_nan());
    }
    nan
}

/// [`plain_f32`] for any encoding and for `pixels` pixels; lanes beyond them stay as they are.
pub(in crate::stack) fn decoded_f32<const L: usize>(
    runs: &[Samples<'_>],
    start: usize,
    pixels: usize,
    rows: &mut [[f32; L]],
) -> bool {
    let rows = runs.iter().zip(rows);
    rows.fold(false, |nan, (run, row)| {
        nan | decoded(&run.encoding, stored(run, start, pixels), row)
    })
}

/// One row, whatever its length, so that there is but one copy of this code.
#[inline(never)]
fn decoded(encoding: &Encoding, bytes: &[u8], row: &mut [f32]) -> bool {
    let pixels = bytes.len() / encoding.bitpix.size();
    match encoding.bitpix {
        Bitpix::I16 if pixels.is_multiple_of(PART) => {
            let short = |pixel: &[u8; 2]| i16::from_be_bytes(*pixel).into();
            integers(encoding, bytes, row, short)
        }
        Bitpix::U8 if pixels.is_multiple_of(PART) => {
            let byte = |pixel: &[u8; 1]| pixel[0].into();
            integers(encoding, bytes, row, byte)
        }
        _ => {
            let decoded = encoding.decode_f32(bytes, row);
            row[..decoded].iter().any(|value| value.is_nan())
        }
    }
}

/// [`part`] after part of a row of short integers.
fn integers<const B: usize>(
    encoding: &Encoding,
    bytes: &[u8],
    row: &mut [f32],
    value_of: impl Fn(&[u8; B]) -> i32,
) -> bool {
    let parts = bytes.as_chunks().0.as_chunks().0;
    let rows = row.as_chunks_mut().0;
    let blanks = rows.iter_mut().zip(parts);
    blanks.fold(false, |blank, (row, pixels)| {
        blank | part(encoding, pixels, row, &value_of)
    })
}

/// Short integers, to the same bits as [`Encoding::decode_f32`], but with a loop for each
/// kind of scaling; gives whether there is a BLANK.
fn part<const B: usize>(
    encoding: &Encoding,
    pixels: &[[u8; B]; PART],
    row: &mut [f32; PART],
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

/// `pixels` native pixels from pixel `start` of each run; gives whether a NaN is among them.
#[inline(never)]
pub(in crate::stack) fn native<const L: usize>(
    runs: &[&[f32]],
    start: usize,
    pixels: usize,
    rows: &mut [[f32; L]],
) -> bool {
    let mut nan = 0;
    for (run, row) in runs.iter().zip(rows) {
        let values = run.get(start..start + pixels).unwrap_or_default();
        let (parts, tail) = row.as_chunks_mut().0.split_at_mut(pixels / PART);
        let (whole, rest) = values.as_chunks();
        for (row, values) in parts.iter_mut().zip(whole) {
            nan |= copied(values, row);
        }
        if let (Some(row), false) = (tail.first_mut(), rest.is_empty()) {
            let mut values = [0.0; PART];
            values[..rest.len()].copy_from_slice(rest);
            nan |= copied(&values, row);
        }
    }
    nan != 0
}

/// [`swapped`] for native values.
fn copied(values: &[f32; PART], row: &mut [f32; PART]) -> u32 {
    let mut nan = 0;
    for (row, value) in row.iter_mut().zip(values) {
        *row = *value;
        nan |= u32::from(row.is_nan());
    }
    nan
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
