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
use crate::fits::pixel::Encoding;

use super::kernels::{LANES, PIXELS, WIDE_LANES, block::Block, leave, load, strip::Strip};
use super::mask::Flags;
use super::statistic::Statistic;

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
    narrow: Narrow,
    wide: Block<f64, WIDE_LANES>,
}

/// The f32 medians: by a network where there is one, else by search.
#[derive(Debug)]
enum Narrow {
    Strip(Strip),
    Block(Block<f32, LANES>),
}

impl Narrow {
    fn new(exposures: usize) -> Result<Self> {
        Ok(match Strip::new(exposures)? {
            Some(strip) => Self::Strip(strip),
            None => Self::Block(Block::new(exposures)?),
        })
    }

    fn bytes(exposures: usize) -> u64 {
        match Strip::bytes(exposures) {
            0 => Block::<f32, LANES>::bytes(exposures),
            bytes => bytes,
        }
    }
}

impl Kernel {
    /// Prepares for stacks of `exposures` exposures.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if there are none or more than [`MOST_EXPOSURES`]; [`Error::Budget`] if
    /// the memory of [`Kernel::scratch_bytes`] is not to be had.
    pub fn new(exposures: usize) -> Result<Self> {
        check_exposures(exposures)?;
        Ok(Self {
            exposures,
            narrow: Narrow::new(exposures)?,
            wide: Block::new(exposures)?,
        })
    }

    /// Bytes that a kernel for so many exposures allocates.
    #[must_use]
    pub fn scratch_bytes(exposures: usize) -> u64 {
        Narrow::bytes(exposures) + Block::<f64, WIDE_LANES>::bytes(exposures)
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
        self.reduce_f32(rows, &[], out, count)
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
        self.reduce_f64(rows, &[], out, count)
    }
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
        check(self.exposures, rows, flags, out.len(), count.len())?;
        let plain = rows.iter().all(|row| load::is_plain_f32(&row.encoding));
        match &mut self.narrow {
            Narrow::Strip(strip) => strip.reduce(out, count, |start, pixels, strip| {
                load::ahead(rows, start);
                let nan = if plain && pixels == PIXELS {
                    load::plain_f32(rows, start, strip)
                } else {
                    load::decoded_f32(rows, start, pixels, strip)
                };
                leave::out(flags, start, pixels, strip) | nan
            }),
            Narrow::Block(block) => block.reduce(out, count, |start, pixels, block| {
                load::ahead(rows, start);
                let nan = if plain && pixels == LANES {
                    load::plain_f32(rows, start, block)
                } else {
                    load::decoded_f32(rows, start, pixels, block)
                };
                leave::out(flags, start, pixels, block) | nan
            }),
        }
        Ok(())
    }

    fn reduce_f64(
        &mut self,
        rows: &[Samples<'_>],
        flags: &[Option<Flags<'_>>],
        out: &mut [f64],
        count: &mut [u16],
    ) -> Result<()> {
        check(self.exposures, rows, flags, out.len(), count.len())?;
        self.wide.reduce(out, count, |start, pixels, block| {
            let nan = load::decoded_f64(rows, start, pixels, block);
            leave::out(flags, start, pixels, block) | nan
        });
        Ok(())
    }
}

/// Whether there is one run for each exposure, of pixels and, if at all, of flags, and a count for each pixel.
pub(super) fn check(
    exposures: usize,
    rows: &[Samples<'_>],
    flags: &[Option<Flags<'_>>],
    pixels: usize,
    counts: usize,
) -> Result<()> {
    let refuse = |what| Err(Error::Parameter { name: "rows", what });
    if rows.len() != exposures {
        return refuse(format!(
            "{} runs of pixels for {exposures} exposures; give one for each",
            rows.len()
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
    if !flags.is_empty() && flags.len() != rows.len() {
        return refuse(format!(
            "{} runs of flags for {} of pixels; give one for each, or none at all",
            flags.len(),
            rows.len()
        ));
    }
    let given = flags.iter().enumerate();
    for (index, flags) in given.filter_map(|(index, flags)| Some((index, flags.as_ref()?))) {
        let (have, size) = (flags.bytes.len(), flags.mask.bitpix.size());
        if have / size < pixels {
            return refuse(format!(
                "the flags of run {index} have {have} bytes, too few for {pixels} pixels of {size} bytes"
            ));
        }
    }
    Ok(())
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
    check_exposures(exposures.len())?;
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
    match Narrow::new(exposures.len())? {
        Narrow::Strip(mut strip) => strip.reduce_arrays(exposures, out, count),
        Narrow::Block(mut block) => block.reduce(out, count, |start, pixels, rows| {
            load::ahead(exposures, start);
            load::native(exposures, start, pixels, rows)
        }),
    }
    Ok(())
}

pub(super) fn check_exposures(exposures: usize) -> Result<()> {
    if (1..=MOST_EXPOSURES).contains(&exposures) {
        return Ok(());
    }
    Err(Error::Parameter {
        name: "exposures",
        what: format!("{exposures} exposures; a stack has 1 to {MOST_EXPOSURES} of them"),
    })
}
