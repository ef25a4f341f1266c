//! Unrolled median networks for small stacks, written by `build.rs`.
//!
//! One network serves every number of missing values: see [`super::fill`].

#[rustfmt::skip]
#[expect(
    clippy::too_many_lines,
    reason = "generated straight-line code"
)]
mod generated {
    include!(concat!(env!("OUT_DIR"), "/networks.rs"));

    /// The smallest network for at least `rows` rows.
    pub(in super::super) fn size_for(rows: usize) -> Option<usize> {
        SIZES.into_iter().find(|&size| size >= rows)
    }

    /// The two middle ranks of each lane; false if there is no network of this size.
    pub(in super::super) fn middle<const L: usize>(rows: &[[f32; L]], lower: &mut [f32; L], upper: &mut [f32; L]) -> bool {
        run(rows, lower, upper)
    }

    /// The ranks 4 and 11 of 16 values in each lane.
    pub(in super::super) fn quartiles<T: Copy + PartialOrd, const L: usize>(rows: &[[T; L]; 16], lower: &mut [T; L], upper: &mut [T; L]) {
        quartiles_16(rows, lower, upper);
    }
}

pub(super) use generated::{middle, quartiles, size_for};
