//! Unrolled median networks for small stacks, written by `build.rs`.
//!
//! A network reads its rows where they lie and writes medians; a row of a strip is enough work for
//! one call. Besides, it sums up the values of each pixel: the sum is NaN if one of them is (or if
//! infinities of both signs, or values as huge, are among them, which does no harm), at half the price of
//! testing each.

#[rustfmt::skip]
#[expect(
    clippy::too_many_lines,
    reason = "generated straight-line code"
)]
mod generated {
    use super::{PIXELS, Row, filler_or};

    include!(concat!(env!("OUT_DIR"), "/networks.rs"));

    /// The smallest network for at least `rows` rows.
    pub(in super::super) fn size_for(rows: usize) -> Option<usize> {
        SIZES.into_iter().find(|&size| size >= rows)
    }

    /// The medians of more than [`WHOLE`] rows, of which `missing` values are fillers.
    ///
    /// Gives true if a NaN may be among the values: the medians are nonsense then.
    pub(in super::super) fn patched(rows: &[&Row], missing: &[u32; PIXELS], out: &mut Row) -> bool {
        choose_patched(rows, missing, out)
    }

    /// The medians of up to [`WHOLE`] rows, of which `missing` values are fillers; NaNs become such.
    ///
    /// Gives whether there was a NaN.
    pub(in super::super) fn filling(rows: &[&Row], missing: &mut [u32; PIXELS], out: &mut Row) -> bool {
        choose_filling(rows, missing, out)
    }

    /// The medians of up to [`WHOLE`] rows without fillers.
    ///
    /// Gives true if a NaN may be among the values: the medians are nonsense then.
    pub(in super::super) fn whole(rows: &[&Row], out: &mut Row) -> bool {
        choose_whole(rows, out)
    }

    /// The ranks 4 and 11 of 16 values in each lane.
    pub(in super::super) fn quartiles<T: Copy + PartialOrd, const L: usize>(rows: &[[T; L]; 16], lower: &mut [T; L], upper: &mut [T; L]) {
        quartiles_16(rows, lower, upper);
    }
}

use super::fill::filler_or;
pub(super) use generated::{MOST, WHOLE, filling, patched, quartiles, size_for, whole};

/// Pixels in a row of a strip.
pub(in crate::stack) const PIXELS: usize = 64;

/// The values of one exposure in a strip.
pub(super) type Row = [f32; PIXELS];
