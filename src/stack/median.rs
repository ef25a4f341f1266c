//! The NaN-median of a stack, pixel by pixel.
//!
//! # Rules
//!
//! NaN is "no value" and is dropped; infinities are values. An odd number of values gives the middle
//! one, an even number the half of the sum of the two middle ones, summed and rounded in the type of
//! the result: for f32 that is what `numpy.nanmedian` and stcal give, down to an infinite result
//! where the sum of two finite values overflows (3.0e38 and 3.2e38). No values give NaN. One value,
//! or the middle one of an odd number, is given as it is, however large (`numpy` 2.4 makes an
//! infinity of 3e38 in small stacks; that is not repeated here). A zero is always +0, and a NaN is
//! always the canonical quiet one, so that the bits of a result depend on nothing but the values of
//! its pixel: not on its place, the section, or the processor.

use crate::error::{Error, Result};
use crate::fits::pixel::{Bitpix, Encoding};

use super::kernels::{LANES, WIDE_LANES, bisect, fill, load, network, real::Real};

/// The most exposures that a stack may have.
pub const MOST_EXPOSURES: usize = 4096;

/// A run of one exposure's pixels as they are stored.
#[derive(Debug, Clone, Copy)]
pub struct Samples<'a> {
    /// Big-endian pixels; may be longer than the run that is asked for, never shorter.
    pub bytes: &'a [u8],
    /// How they are stored and what they mean.
    pub encoding: Encoding,
}

/// Medians of stacks of a fixed number of exposures, with the scratch memory for it.
#[derive(Debug)]
pub struct Kernel {
    exposures: usize,
    /// Rows of the network, or `exposures` where there is none of that size.
    size: usize,
    block: Vec<[f32; LANES]>,
    wide: Vec<[f64; WIDE_LANES]>,
}

impl Kernel {
    /// Prepares for stacks of `exposures` exposures.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if there are none or more than [`MOST_EXPOSURES`]; [`Error::Budget`] if
    /// the memory of [`Kernel::scratch_bytes`] is not to be had.
    pub fn new(exposures: usize) -> Result<Self> {
        if !(1..=MOST_EXPOSURES).contains(&exposures) {
            return Err(Error::Parameter {
                name: "exposures",
                what: format!(
                    "{exposures} exposures; a median takes 1 to {MOST_EXPOSURES}, so split the list"
                ),
            });
        }
        let size = padded(exposures);
        Ok(Self {
            exposures,
            size,
            block: scratch(size, [0.0; LANES])?,
            wide: scratch(exposures.max(2), [0.0; WIDE_LANES])?,
        })
    }

    /// Bytes that a kernel for so many exposures allocates.
    #[must_use]
    pub fn scratch_bytes(exposures: usize) -> u64 {
        let narrow = padded(exposures) as u64 * size_of::<[f32; LANES]>() as u64;
        narrow + exposures.max(2) as u64 * size_of::<[f64; WIDE_LANES]>() as u64
    }

    /// The median and the number of contributing exposures of `out.len()` pixels, in f32.
    ///
    /// `rows` has one run for each exposure, all beginning at the same pixel. Values are converted
    /// as by [`Encoding::decode_f32`], and the rules of the [module](self) hold; BLANK counts as
    /// NaN. `count` gets the number of values that are not NaN. Takes time in proportion to the
    /// number of values, and no memory but the kernel's.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if the number of runs is not that of the kernel, or a run or `count` is
    /// too short or too long for `out`.
    pub fn median_f32(
        &mut self,
        rows: &[Samples<'_>],
        out: &mut [f32],
        count: &mut [u16],
    ) -> Result<()> {
        self.check(rows, out.len(), count.len())?;
        let plain = rows.iter().all(|row| load::is_plain_f32(&row.encoding));
        let blocks = out.chunks_mut(LANES).zip(count.chunks_mut(LANES));
        for (index, (out, count)) in blocks.enumerate() {
            let start = index * LANES;
            let nan = if plain && out.len() == LANES {
                load_plain(rows, start, &mut self.block)
            } else {
                load_block(rows, start, out.len(), &mut self.block)
            };
            self.reduce(nan, out, count);
        }
        Ok(())
    }

    /// [`Kernel::median_f32`] in f64, for pixels that f32 cannot hold.
    ///
    /// The mean of the two middle values is computed in f64.
    ///
    /// # Errors
    ///
    /// As [`Kernel::median_f32`].
    pub fn median_f64(
        &mut self,
        rows: &[Samples<'_>],
        out: &mut [f64],
        count: &mut [u16],
    ) -> Result<()> {
        self.check(rows, out.len(), count.len())?;
        let blocks = out.chunks_mut(WIDE_LANES).zip(count.chunks_mut(WIDE_LANES));
        for (index, (out, count)) in blocks.enumerate() {
            let start = index * WIDE_LANES;
            let mut nan = false;
            for (row, block) in rows.iter().zip(&mut self.wide) {
                let bytes = run(row, start, out.len());
                nan |= load::decoded_f64(&row.encoding, bytes, block);
            }
            let size = self.wide.len();
            let (values, padding) = self.wide.split_at_mut(self.exposures);
            pad(padding);
            let mut missing = [small(size - self.exposures); WIDE_LANES];
            if nan {
                fill::balance_wide(values, &mut missing);
            }
            let (mut lower, mut upper) = ([0.0; WIDE_LANES], [0.0; WIDE_LANES]);
            bisect::middle(&self.wide, &mut lower, &mut upper);
            let settled = fill::settle(size, &missing, &lower, &upper);
            hand_out(&settled, &missing, size, out, count);
        }
        Ok(())
    }

    /// The medians of the block, whose last rows are padding.
    fn reduce(&mut self, nan: bool, out: &mut [f32], count: &mut [u16]) {
        let (values, padding) = self.block.split_at_mut(self.exposures);
        pad(padding);
        let mut missing = [small(self.size - self.exposures); LANES];
        if nan {
            fill::balance(values, &mut missing);
        }
        let (mut lower, mut upper) = ([0.0; LANES], [0.0; LANES]);
        if !network::middle(&self.block, &mut lower, &mut upper) {
            bisect::middle(&self.block, &mut lower, &mut upper);
        }
        let settled = fill::settle(self.size, &missing, &lower, &upper);
        hand_out(&settled, &missing, self.size, out, count);
    }

    fn check(&self, rows: &[Samples<'_>], pixels: usize, counts: usize) -> Result<()> {
        let refuse = |what| Err(Error::Parameter { name: "rows", what });
        if rows.len() != self.exposures {
            return refuse(format!(
                "{} runs of pixels for a median of {} exposures; give one for each",
                rows.len(),
                self.exposures
            ));
        }
        if counts != pixels {
            return refuse(format!(
                "{counts} counts for {pixels} pixels; give one for each"
            ));
        }
        for (index, row) in rows.iter().enumerate() {
            let size = row.encoding.bitpix.size();
            if row.bytes.len() / size < pixels {
                return refuse(format!(
                    "run {index} has {} bytes, too few for {pixels} pixels of {size} bytes",
                    row.bytes.len()
                ));
            }
        }
        Ok(())
    }
}

/// The NaN-median of exposures that are in memory already, by the rules of the [module](self).
///
/// All exposures, `out` and `count` have the same number of pixels; `count` gets the number of
/// values that are not NaN.
///
/// ```
/// use sectile::stack::median::nanmedian;
///
/// let exposures: [&[f32]; 3] = [&[1.0, f32::NAN], &[5.0, 2.0], &[3.0, 4.0]];
/// let (mut median, mut count) = ([0.0; 2], [0; 2]);
/// nanmedian(&exposures, &mut median, &mut count)?;
/// assert_eq!((median, count), ([3.0, 3.0], [3, 2]));
/// # Ok::<(), sectile::error::Error>(())
/// ```
///
/// # Errors
///
/// As [`Kernel::new`] and [`Kernel::median_f32`].
pub fn nanmedian(exposures: &[&[f32]], out: &mut [f32], count: &mut [u16]) -> Result<()> {
    let mut kernel = Kernel::new(exposures.len())?;
    if let Some(index) = exposures.iter().position(|row| row.len() != out.len()) {
        return Err(Error::Parameter {
            name: "exposures",
            what: format!(
                "exposure {index} has {} pixels, the result {}; give them one shape",
                exposures[index].len(),
                out.len()
            ),
        });
    }
    if count.len() != out.len() {
        return Err(Error::Parameter {
            name: "count",
            what: format!(
                "{} counts for {} pixels; give one for each",
                count.len(),
                out.len()
            ),
        });
    }
    for (index, (out, count)) in out
        .chunks_mut(LANES)
        .zip(count.chunks_mut(LANES))
        .enumerate()
    {
        let mut nan = false;
        for (row, block) in exposures.iter().zip(&mut kernel.block) {
            let run = &row[index * LANES..][..out.len()];
            block[..run.len()].copy_from_slice(run);
            nan |= run.iter().any(|value| value.is_nan());
        }
        kernel.reduce(nan, out, count);
    }
    Ok(())
}

/// Padding counts as values that are missing.
fn pad<T: Real, const L: usize>(rows: &mut [[T; L]]) {
    for (index, row) in rows.iter_mut().enumerate() {
        *row = [fill::filler(index); L];
    }
}

/// Rows of a block for so many exposures.
fn padded(exposures: usize) -> usize {
    network::size_for(exposures).unwrap_or(exposures)
}

fn scratch<T: Clone>(rows: usize, row: T) -> Result<Vec<T>> {
    let mut block = Vec::new();
    let bytes = rows as u64 * size_of::<T>() as u64;
    block.try_reserve_exact(rows).map_err(|_| Error::Budget {
        need: bytes,
        have: 0,
        what: "the scratch of the median".into(),
    })?;
    block.resize(rows, row);
    Ok(block)
}

/// The bytes of `pixels` pixels from `start`.
fn run<'a>(row: &Samples<'a>, start: usize, pixels: usize) -> &'a [u8] {
    let size = row.encoding.bitpix.size();
    row.bytes
        .get(start * size..(start + pixels) * size)
        .unwrap_or_default()
}

#[inline(never)]
fn load_plain(rows: &[Samples<'_>], start: usize, block: &mut [[f32; LANES]]) -> bool {
    let mut nan = false;
    let at = start * Bitpix::F32.size();
    for (row, block) in rows.iter().zip(block) {
        if let Some(bytes) = row.bytes.get(at..).and_then(<[u8]>::first_chunk) {
            nan |= load::plain_f32(bytes, block);
        }
    }
    nan
}

#[inline(never)]
fn load_block(
    rows: &[Samples<'_>],
    start: usize,
    pixels: usize,
    block: &mut [[f32; LANES]],
) -> bool {
    let mut nan = false;
    for (row, block) in rows.iter().zip(block) {
        nan |= load::decoded_f32(&row.encoding, run(row, start, pixels), block);
    }
    nan
}

/// Copies as many lanes as there are pixels.
fn hand_out<T: Copy, const L: usize>(
    settled: &[T; L],
    missing: &[u32; L],
    size: usize,
    out: &mut [T],
    count: &mut [u16],
) {
    #[expect(clippy::cast_possible_truncation, reason = "at most 4096")]
    let counts = missing.map(|missing| size as u16 - missing as u16);
    out.copy_from_slice(&settled[..out.len()]);
    count.copy_from_slice(&counts[..count.len()]);
}

#[expect(clippy::cast_possible_truncation, reason = "at most 4096")]
fn small(number: usize) -> u32 {
    number as u32
}
