//! Where everything in a store lies, computed before its first byte is written.

use std::ops::Range;

use super::format::{BINS, BLOCK_PEAKS, ENTRY, GROUP, HEAD_LIMIT, HEADER, META_LIMIT, TAIL};
use super::real::Real;
use crate::error::{Error, Result};

/// What a store will hold: all that its layout depends on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contents {
    /// Precision of the m/z column.
    pub mz: Real,
    /// Precision of the intensity column.
    pub intensity: Real,
    /// Pixels of a row.
    pub width: u32,
    /// Rows of a slice.
    pub height: u32,
    /// Slices (distinct z); 1 for a plane dataset.
    pub slices: u32,
    /// Peaks stored.
    pub peaks: u64,
    /// Spectra acquired, those without peaks among them.
    pub spectra: u64,
    /// The least m/z; 0 if there are no peaks.
    pub first_mz: f64,
    /// The greatest m/z; 0 if there are no peaks.
    pub last_mz: f64,
    /// Bytes kept for the head's text, a multiple of 8: see [`Meta::room`](super::head::Meta::room).
    pub meta_bytes: u32,
}

/// Offsets and sizes of a store's parts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Layout {
    /// What it was computed from.
    pub contents: Contents,
    /// Peaks of a block but the last.
    pub block_peaks: u32,
    /// Blocks.
    pub blocks: u32,
    /// Pixels of all slices.
    pub pixels: u32,
    /// Offset of the acquisition mask.
    pub mask_at: u32,
    /// Offset of the directory.
    pub directory_at: u32,
    /// Bytes of the head, from the start of the file to the end of the directory.
    pub head_bytes: u32,
    /// Offset of the pixel table.
    pub pixel_table_at: u64,
    /// The spectrum bins; their table follows the pixel table.
    pub bins: Bins,
    /// Offset of the first block.
    pub blocks_at: u64,
}

impl Layout {
    /// Computes the layout.
    ///
    /// # Errors
    /// [`Error::Unsupported`] naming `file` if there are more pixels, blocks or bytes of text than
    /// the format allows; [`Error::Parameter`] if the contents contradict each other.
    pub fn new(file: &str, contents: Contents) -> Result<Self> {
        contents.check()?;
        let large = |what: String| Error::Unsupported {
            file: file.to_owned(),
            what,
        };
        let Contents {
            width,
            height,
            slices,
            ..
        } = contents;
        let pixels = u64::from(width) * u64::from(height);
        let pixels = pixels
            .checked_mul(u64::from(slices))
            .and_then(|all| u32::try_from(all).ok());
        let pixels = pixels.ok_or_else(|| {
            large(format!(
                "{width}x{height} pixels in {slices} slices are more than 4,294,967,295, the most a \
                 store can hold"
            ))
        })?;
        let block_peaks = block_peaks(contents.mz, contents.intensity);
        let blocks = contents.peaks.div_ceil(u64::from(block_peaks));
        let mask_at = HEADER as u64 + u64::from(contents.meta_bytes);
        let directory_at = mask_at + mask_bytes(pixels);
        let head_bytes = blocks
            .checked_mul(ENTRY as u64)
            .and_then(|directory| directory.checked_add(directory_at))
            .filter(|bytes| *bytes <= HEAD_LIMIT)
            .ok_or_else(|| {
                large(format!(
                    "{} peaks on {pixels} pixels need a head of more than {HEAD_LIMIT} bytes, which \
                     is the limit",
                    contents.peaks
                ))
            })?;
        let bins = Bins::choose(&contents, head_bytes + 8 * u64::from(pixels));
        // All are below HEAD_LIMIT.
        let small = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
        Ok(Self {
            contents,
            block_peaks,
            blocks: small(blocks),
            pixels,
            mask_at: small(mask_at),
            directory_at: small(directory_at),
            head_bytes: small(head_bytes),
            pixel_table_at: head_bytes,
            bins,
            blocks_at: bins.range().end.next_multiple_of(8),
        })
    }

    /// The bytes of the pixel table in the file: `tic` and `rms` as f32 of every pixel.
    #[must_use]
    pub fn pixel_table(&self) -> Range<u64> {
        self.pixel_table_at..self.bins.at
    }

    /// Peaks of block `n`; 0 beyond the last.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "at most the peaks of a block"
    )]
    pub fn peaks_of(&self, n: usize) -> usize {
        let before = (n as u64).saturating_mul(u64::from(self.block_peaks));
        let left = self.contents.peaks.saturating_sub(before);
        left.min(u64::from(self.block_peaks)) as usize
    }

    /// Most bytes that block `n` can have.
    #[must_use]
    pub fn most_bytes_of(&self, n: usize) -> usize {
        most_bytes(self.contents.mz, self.contents.intensity, self.peaks_of(n))
    }

    /// Most bytes that the file can have: what to look for on a disk before packing.
    #[must_use]
    pub fn most_bytes(&self) -> u64 {
        let whole = most_bytes(
            self.contents.mz,
            self.contents.intensity,
            self.block_peaks as usize,
        );
        self.blocks_at
            .saturating_add(whole as u64 * u64::from(self.blocks))
    }
}

impl Contents {
    fn check(&self) -> Result<()> {
        let wrong = |what: String| {
            Err(Error::Parameter {
                name: "store",
                what,
            })
        };
        let Self {
            width,
            height,
            slices,
            first_mz,
            last_mz,
            meta_bytes,
            ..
        } = *self;
        if width == 0 || height == 0 || slices == 0 {
            return wrong(format!(
                "{width}x{height} pixels in {slices} slices are none"
            ));
        }
        if !(0.0 <= first_mz && first_mz <= last_mz && last_mz.is_finite()) {
            return wrong(format!("m/z from {first_mz} to {last_mz} is no range"));
        }
        if !self.mz.holds(first_mz) || !self.mz.holds(last_mz) {
            return wrong(format!(
                "{first_mz} or {last_mz} is no m/z of {} bytes",
                self.mz.bytes()
            ));
        }
        if self.peaks == 0 && last_mz > 0.0 {
            return wrong("a store without peaks has no m/z range".to_owned());
        }
        if meta_bytes as usize > META_LIMIT || !meta_bytes.is_multiple_of(8) {
            return wrong(format!(
                "{meta_bytes} bytes of text are not a multiple of 8 up to {META_LIMIT}"
            ));
        }
        Ok(())
    }
}

/// The bins of the mean and the maximum spectrum: a grid of constant relative width.
///
/// Bin `i` holds m/z in `[e(i), e(i + 1))`, where `e(0)` is the origin and
/// `e(i + 1) = e(i)·(1 + ppm·1e-6)`, multiplied one after another in f64, so that everybody gets the
/// same bits. The first bin holds what is below the origin too, the last one what is above its end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bins {
    /// Offset of their table in the file.
    pub at: u64,
    /// How many there are.
    pub count: u32,
    /// Lower edge of the first one (m/z).
    pub origin: f64,
    /// Relative width of a bin in millionths.
    pub ppm: f64,
}

impl Bins {
    /// The finest grid of 5, 10, 20, 50, … ppm that covers the contents with at most [`BINS`] bins.
    #[expect(clippy::cast_possible_truncation, reason = "at most BINS")]
    fn choose(contents: &Contents, at: u64) -> Self {
        // An m/z below 1 is no molecule; a grid from 0 would have no end.
        let origin = contents.first_mz.max(1.0);
        let mut ppm = 5.0;
        for step in [2.0, 2.0, 2.5].into_iter().cycle() {
            let bins = Self {
                at,
                count: BINS,
                origin,
                ppm,
            };
            let below = bins.edges().position(|edge| edge > contents.last_mz);
            if let Some(below) = below.filter(|below| *below <= BINS as usize) {
                let count = if contents.peaks == 0 {
                    0
                } else {
                    below.max(1) as u32
                };
                return Self { count, ..bins };
            }
            ppm *= step;
        }
        Self {
            at,
            count: 0,
            origin,
            ppm,
        }
    }

    /// The edges of the grid: one more than there are bins.
    pub fn edges(&self) -> impl Iterator<Item = f64> + use<> {
        let factor = self.factor();
        std::iter::successors(Some(self.origin), move |edge| Some(edge * factor))
            .take(self.count as usize + 1)
    }

    /// The quotient of an edge and the one before.
    #[must_use]
    pub fn factor(&self) -> f64 {
        1.0 + self.ppm * 1e-6
    }

    /// The bytes of their table in the file.
    #[must_use]
    pub fn range(&self) -> Range<u64> {
        self.at..self.at + 12 * u64::from(self.count)
    }
}

/// Bytes of the acquisition mask.
fn mask_bytes(pixels: u32) -> u64 {
    u64::from(pixels).div_ceil(64) * 8
}

/// Peaks of a block but the last.
pub(super) fn block_peaks(mz: Real, intensity: Real) -> u32 {
    if mz == Real::F32 && intensity == Real::F32 {
        BLOCK_PEAKS
    } else {
        BLOCK_PEAKS / 2
    }
}

/// Bytes of an entry of a block's group table.
pub(super) fn group_entry(mz: Real, intensity: Real) -> usize {
    16 + usize::from(mz.bytes()) + usize::from(intensity.bytes())
}

/// Most bytes of a block of so many peaks: packing never makes a column longer.
pub(super) fn most_bytes(mz: Real, intensity: Real, peaks: usize) -> usize {
    let row = usize::from(mz.bytes()) + usize::from(intensity.bytes()) + 4;
    peaks.div_ceil(GROUP) * group_entry(mz, intensity) + peaks.next_multiple_of(8) * row + TAIL
}
