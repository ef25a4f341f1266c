//! What the values of a pixel are reduced to.

use super::mask::Flags;
use super::median::{Kernel, Samples};
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

    /// Bytes that it allocates; never more than [`Kernel::scratch_bytes`], which plans count.
    fn scratch_bytes(exposures: usize) -> u64;

    /// Reduces a run of `out.len()` pixels in f32, as [`Kernel::masked_f32`] takes them.
    ///
    /// # Errors
    /// As [`Kernel::masked_f32`].
    fn reduce_f32(
        &mut self,
        rows: &[Samples<'_>],
        flags: &[Option<Flags<'_>>],
        out: &mut [f32],
        count: &mut [u16],
    ) -> Result<()>;

    /// [`Statistic::reduce_f32`] in f64.
    ///
    /// # Errors
    /// As [`Kernel::masked_f64`].
    fn reduce_f64(
        &mut self,
        rows: &[Samples<'_>],
        flags: &[Option<Flags<'_>>],
        out: &mut [f64],
        count: &mut [u16],
    ) -> Result<()>;
}

impl Statistic for Kernel {
    fn new(exposures: usize) -> Result<Self> {
        Self::new(exposures)
    }

    fn scratch_bytes(exposures: usize) -> u64 {
        Self::scratch_bytes(exposures)
    }

    fn reduce_f32(
        &mut self,
        rows: &[Samples<'_>],
        flags: &[Option<Flags<'_>>],
        out: &mut [f32],
        count: &mut [u16],
    ) -> Result<()> {
        self.masked_f32(rows, flags, out, count)
    }

    fn reduce_f64(
        &mut self,
        rows: &[Samples<'_>],
        flags: &[Option<Flags<'_>>],
        out: &mut [f64],
        count: &mut [u16],
    ) -> Result<()> {
        self.masked_f64(rows, flags, out, count)
    }
}
