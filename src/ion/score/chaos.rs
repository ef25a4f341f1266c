//! How structured an image is: the parts that it falls into when it is cut at several levels.
//!
//! At each level pixels above it are set, dilated once by the cross of four neighbours and eroded once by the 3×3
//! square, where neighbours outside of the image are ignored; then the 4-connected parts are counted. Chaos is
//! `1 − (mean count) / (pixels above 0)`: near 1 for an image of few parts, low for scattered pixels. Single pixels
//! vanish in the erosion, and an image in which nothing is left, or so little that chaos is 1 within 1.001e-5, has 0.
//!
//! All levels are counted together: a pixel is the number of levels that it exceeds, and parts are the nodes of a
//! maximum spanning forest less its edges, so that the count is the same as by one labelling for each level.
//!
//! # Source
//! `measure_of_chaos` of pyImagingMSpec and ims-cpp: Alexandrov and Bartels, Bioinformatics 29 (2013) 2335, as
//! METASPACE calls it, with 30 levels.

use super::closing::Closing;
use super::levels::{Levels, MOST};
use super::parts::Parts;
use super::{Area, Sparse};
use crate::budget::Budget;
use crate::error::{Error, Result};

/// Chaos is taken for 1, and therefore for 0, from here: numpy's `isclose`, 1e-5 relative and 1e-8 absolute.
const WHOLE: f64 = 1.0 - (1e-5 + 1e-8);

/// Pixels whose codes are taken together, and whose touch is remembered together.
const BATCH: usize = 64;

/// Chaos of one image in memory, row by row from the top, cut at `levels` levels (METASPACE: 30): 0 to 1.
///
/// Values that are NaN were not acquired and count as below every level, negative ones and zeros too; an infinite one
/// counts as the largest finite f32. An image without a positive value has chaos 0.
///
/// ```
/// use sectile::ion::score::chaos;
///
/// // One square of nine pixels, in one part at each of the 30 levels.
/// let mut image = [0.0; 49];
/// for y in 2..5 {
///     image[7 * y + 2..7 * y + 5].fill(5.0);
/// }
/// assert_eq!(chaos(&image, 7, 7, 30)?, 1.0 - 1.0 / 9.0);
/// # Ok::<(), sectile::error::Error>(())
/// ```
///
/// # Cost
/// One pass over the image, whatever the number of levels; and about 8 bytes a pixel, for each call. A
/// [`Scorer`](super::Scorer) allocates once for many ions, and passes over rows without peaks.
///
/// # Errors
/// [`Error::Parameter`] if there are not `width × height` values, or not 1 to 32 levels; [`Error::Budget`] if there is
/// no memory.
pub fn chaos(values: &[f32], width: u32, height: u32, levels: u8) -> Result<f64> {
    Ok(settled(measure(values, width, height, levels)?))
}

/// As [`chaos()`] without its last rule: 1 for an image that nothing is left of, and NaN for an image without a
/// positive value. This is what `measure_of_chaos` itself gives.
///
/// # Errors
/// As [`chaos()`].
pub fn measure(values: &[f32], width: u32, height: u32, levels: u8) -> Result<f64> {
    if u64::from(width) * u64::from(height) != values.len() as u64 {
        return Err(Error::Parameter {
            name: "image",
            what: format!("{} values are not {width}×{height} pixels", values.len()),
        });
    }
    let area = Area {
        width,
        height,
        acquired: 0,
    };
    let mut scratch = Chaos::new(area, levels, &mut Budget::new(u64::MAX))?;
    Ok(scratch.dense(values))
}

/// The rule that turns a measure into a score.
pub(super) fn settled(measure: f64) -> f64 {
    // Also where it is NaN.
    if measure < WHOLE { measure } else { 0.0 }
}

/// Scratch for the chaos of one image after another.
#[derive(Debug)]
pub(super) struct Chaos {
    width: usize,
    height: usize,
    levels: u8,
    /// How many levels each pixel exceeds; zeros between images.
    codes: Vec<u8>,
    /// Whether any of [`BATCH`] pixels in a row has a code.
    touched: Vec<bool>,
    closing: Closing,
    parts: Parts,
}

impl Chaos {
    pub(super) fn new(area: Area, levels: u8, budget: &mut Budget) -> Result<Self> {
        if !(1..=MOST).contains(&levels) {
            return Err(Error::Parameter {
                name: "levels",
                what: format!("{levels} levels; chaos is taken at 1 to {MOST}"),
            });
        }
        let (pixels, width, height) = area.sizes()?;
        Ok(Self {
            width,
            height,
            levels,
            codes: budget.allocate(pixels, "the levels of an image that is scored")?,
            touched: budget.allocate(
                pixels.div_ceil(BATCH),
                "the touched pixels of an image that is scored",
            )?,
            closing: Closing::new(width, budget)?,
            parts: Parts::new(width, height, budget)?,
        })
    }

    /// Bytes of the scratch for images of that size.
    pub(super) fn bytes(area: Area) -> u64 {
        let (width, height) = (u64::from(area.width), u64::from(area.height));
        let pixels = width * height;
        pixels
            .saturating_add(pixels.div_ceil(BATCH as u64))
            .saturating_add(Closing::bytes(width))
            .saturating_add(Parts::bytes(width, height))
    }

    /// The measure of an image of which every pixel is given.
    fn dense(&mut self, values: &[f32]) -> f64 {
        let Some(levels) = Levels::below(values, self.levels) else {
            return f64::NAN;
        };
        levels.codes(values, &mut self.codes);
        self.touched.fill(true);
        let positive = self.codes.iter().filter(|code| **code > 0).count();
        let measure = self.count(positive);
        self.codes.fill(0);
        self.touched.fill(false);
        measure
    }

    /// The measure of an image whose pixels all lie in it.
    pub(super) fn sparse(&mut self, image: Sparse<'_>) -> f64 {
        let Some(levels) = Levels::below(image.values, self.levels) else {
            return f64::NAN;
        };
        // With so many pixels the rows that have none of them are not worth looking for.
        let many = image.pixels.len() > self.codes.len() / 16;
        let positive = self.lay(image, &levels);
        if many {
            self.touched.fill(true);
        } else {
            self.touch(image.pixels, true);
        }
        let measure = self.count(positive);
        if many {
            self.codes.fill(0);
            self.touched.fill(false);
        } else {
            for pixel in image.pixels {
                if let Some(code) = self.codes.get_mut(*pixel as usize) {
                    *code = 0;
                }
            }
            self.touch(image.pixels, false);
        }
        measure
    }

    /// Writes the codes of an image; how many of its pixels are positive.
    fn lay(&mut self, image: Sparse<'_>, levels: &Levels) -> usize {
        let mut positive = 0;
        for (pixels, values) in image.pixels.chunks(BATCH).zip(image.values.chunks(BATCH)) {
            let mut codes = [0; BATCH];
            levels.codes(values, &mut codes);
            positive += codes
                .iter()
                .map(|code| usize::from(*code > 0))
                .sum::<usize>();
            for (pixel, code) in pixels.iter().zip(codes) {
                if let Some(place) = self.codes.get_mut(*pixel as usize) {
                    *place = code;
                }
            }
        }
        positive
    }

    fn touch(&mut self, pixels: &[u32], touched: bool) {
        for pixel in pixels {
            if let Some(place) = self.touched.get_mut(*pixel as usize / BATCH) {
                *place = touched;
            }
        }
    }

    /// The measure of the codes as they are.
    fn count(&mut self, positive: usize) -> f64 {
        let Self {
            width,
            codes,
            touched,
            closing,
            parts,
            ..
        } = self;
        parts.clear();
        let row = |y: usize| {
            let (from, to) = (y * *width, (y + 1) * *width);
            let touched = &touched[from / BATCH..to.div_ceil(BATCH)];
            touched.contains(&true).then(|| &codes[from..to])
        };
        closing.rows(self.height, row, |y, least| parts.row(y, least));
        #[expect(
            clippy::cast_precision_loss,
            reason = "far below 2^53: there are fewer than 2^32 pixels"
        )]
        let (parts, positive) = (parts.count() as f64, positive as f64);
        1.0 - parts / f64::from(self.levels) / positive
    }
}
