//! What the values of a pixel are reduced to.

use super::mask::Flags;
use super::median::Samples;
use crate::error::Result;

/// One number of all exposures' values at each pixel, and how many there are.
///
/// The bits of a result depend on nothing but the values of its pixel, in the order of the exposures: not on its place or
/// the section.
pub trait Statistic: Sized {
    /// Prepares for stacks of `exposures` exposures.
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::error::Error::Parameter) for a number of exposures that is not possible;
    /// [`Error::Budget`](crate::error::Error::Budget) if the memory is not to be had.
    fn new(exposures: usize) -> Result<Self>;

    /// Bytes that it allocates; never more than those of the median's [`Kernel`](super::median::Kernel), which plans count.
    fn scratch_bytes(exposures: usize) -> u64;

    /// The statistic and the number of contributing exposures of `out.len()` pixels, in f32.
    ///
    /// `rows` has one run for each exposure, all beginning at the same pixel; `flags` has one for each, beginning at the
    /// same pixel, or none at all. Values are converted as by [`Encoding::decode_f32`](crate::fits::pixel::Encoding::decode_f32); BLANK and what masks leave out
    /// count as NaN. `count` gets the number of values that are not NaN.
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::error::Error::Parameter) if the number of runs is not that of the exposures, or a run
    /// or `count` is too short or too long for `out`.
    fn reduce_f32(
        &mut self,
        rows: &[Samples<'_>],
        flags: &[Option<Flags<'_>>],
        out: &mut [f32],
        count: &mut [u16],
    ) -> Result<()>;

    /// [`Statistic::reduce_f32`] in f64, for pixels that f32 cannot hold.
    ///
    /// # Errors
    /// As [`Statistic::reduce_f32`].
    fn reduce_f64(
        &mut self,
        rows: &[Samples<'_>],
        flags: &[Option<Flags<'_>>],
        out: &mut [f64],
        count: &mut [u16],
    ) -> Result<()>;
}
