//! Pixels of many exposures into one block, byte-swapped on the way.

use super::{LANES, WIDE_LANES};
use crate::fits::pixel::{Bitpix, Encoding};

/// Whether the pixels are plain big-endian f32, the case worth a loop of its own.
pub(in crate::stack) fn is_plain_f32(encoding: &Encoding) -> bool {
    encoding.bitpix == Bitpix::F32 && encoding.is_plain()
}

/// Fills one row of a block from the front of `bytes`; gives whether a NaN is among the values.
pub(in crate::stack) fn plain_f32(bytes: &[u8; 4 * LANES], row: &mut [f32; LANES]) -> bool {
    let (pixels, _) = bytes.as_chunks::<4>();
    let mut nan = 0;
    for (value, pixel) in row.iter_mut().zip(pixels) {
        *value = f32::from_be_bytes(*pixel);
        nan |= u32::from(value.is_nan());
    }
    nan != 0
}

/// [`plain_f32`] for any encoding and for fewer pixels than a block has lanes; the rest stay as they are.
pub(in crate::stack) fn decoded_f32(
    encoding: &Encoding,
    bytes: &[u8],
    row: &mut [f32; LANES],
) -> bool {
    let decoded = encoding.decode_f32(bytes, row);
    row[..decoded].iter().any(|value| value.is_nan())
}

/// [`decoded_f32`] in f64.
pub(in crate::stack) fn decoded_f64(
    encoding: &Encoding,
    bytes: &[u8],
    row: &mut [f64; WIDE_LANES],
) -> bool {
    let decoded = encoding.decode_f64(bytes, row);
    row[..decoded].iter().any(|value| value.is_nan())
}
