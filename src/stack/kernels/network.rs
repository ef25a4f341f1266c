//! Unrolled median networks for small stacks, written by `build.rs`.
//!
//! One network serves every number of missing values: see [`super::fill`].

use super::LANES;

#[rustfmt::skip]
#[expect(
    clippy::too_many_lines,
    reason = "generated straight-line code"
)]
mod generated {
    use super::LANES;

    include!(concat!(env!("OUT_DIR"), "/networks.rs"));

    /// The smallest network for at least `rows` rows.
    pub(in crate::stack) fn size_for(rows: usize) -> Option<usize> {
        SIZES.into_iter().find(|&size| size >= rows)
    }

    /// The two middle ranks of each lane; false if there is no network of this size.
    pub(in crate::stack) fn middle(rows: &[[f32; LANES]], lower: &mut [f32; LANES], upper: &mut [f32; LANES]) -> bool {
        run(rows, lower, upper)
    }
}

pub(in crate::stack) use generated::{middle, size_for};
