//! One ion image: intensities of the peaks in a window, summed pixel by pixel.
//!
//! Sums are f64, in the order of the peaks, and rounded once to f32. An acquired pixel without a peak in the
//! window is 0.0; a pixel that was never acquired is NaN.
//!
//! # Source
//! The image of METASPACE's and Lithops-METASPACE's annotation engines: a sparse image of the peaks between two
//! binary searches, summed where a pixel has several.

use super::window::Window;
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::store::block::Intensities;

/// The image of one window from peaks in memory: `[pixels]` sums.
///
/// Peak i is `intensity[i]` at `mz[i]` in the pixel `pixel[i]`, counted row by row. Peaks may be in any order;
/// sums are taken in theirs. No pixel is "no data" here: whoever has a mask lays it over the result.
///
/// ```
/// use sectile::ion::image::image;
/// use sectile::ion::window::Window;
///
/// // Three peaks within 3 ppm of m/z 500, two of them in pixel 1; and one that is 5 ppm away.
/// let mz = [499.9990, 500.0, 500.0010, 500.0025];
/// let values = image(&mz, &[1.0, 2.0, 4.0, 8.0], &[1, 0, 1, 2], Window::ppm(500.0, 3.0)?, 3)?;
/// assert_eq!(values, [2.0, 5.0, 0.0]);
/// # Ok::<(), sectile::error::Error>(())
/// ```
///
/// # Cost
/// One pass over `mz`. For many images of the same peaks sort them once and use [`Peaks`].
///
/// # Errors
/// [`Error::Parameter`] for slices of unequal length, a peak in a pixel that does not exist, or a window that
/// is none; [`Error::Budget`] if there is no memory for the image.
pub fn image(
    mz: &[f64],
    intensity: &[f32],
    pixel: &[u32],
    window: Window,
    pixels: usize,
) -> Result<Vec<f32>> {
    window.check()?;
    equal(mz, intensity, pixel)?;
    let mut canvas = Canvas::new(pixels, &mut Budget::new(u64::MAX))?;
    let peaks = mz.iter().zip(intensity).zip(pixel);
    for ((_, intensity), pixel) in peaks.filter(|((mz, _), _)| window.contains(**mz)) {
        canvas.place(*pixel, *intensity)?;
    }
    canvas.finish()?;
    Ok(canvas.values)
}

/// Peaks in memory, ascending in m/z, of which images are taken.
#[derive(Debug, Clone, Copy)]
pub struct Peaks<'a> {
    mz: &'a [f64],
    intensity: &'a [f32],
    pixel: &'a [u32],
}

impl<'a> Peaks<'a> {
    /// Takes peaks, and looks once whether they are in order.
    ///
    /// # Errors
    /// [`Error::Parameter`] for slices of unequal length, and for an m/z that is NaN or smaller than the one
    /// before.
    pub fn new(mz: &'a [f64], intensity: &'a [f32], pixel: &'a [u32]) -> Result<Self> {
        equal(mz, intensity, pixel)?;
        if mz.first().is_some_and(|mz| mz.is_nan()) || !mz.is_sorted() {
            return Err(Error::Parameter {
                name: "mz",
                what: "the peaks are not sorted by m/z".to_owned(),
            });
        }
        Ok(Self {
            mz,
            intensity,
            pixel,
        })
    }

    /// Draws the image of one window onto a canvas, which is cleared first.
    ///
    /// # Cost
    /// Two binary searches, then the peaks in the window alone.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a window that is none, or a peak in a pixel that the canvas does not have or
    /// that was not acquired.
    pub fn draw(&self, window: Window, canvas: &mut Canvas) -> Result<Drawn> {
        window.check()?;
        canvas.clear();
        let range = window.find(self.mz);
        for (intensity, pixel) in self.intensity[range.clone()].iter().zip(&self.pixel[range]) {
            canvas.place(*pixel, *intensity)?;
        }
        canvas.finish()
    }
}

fn equal(mz: &[f64], intensity: &[f32], pixel: &[u32]) -> Result<()> {
    if mz.len() == intensity.len() && mz.len() == pixel.len() {
        return Ok(());
    }
    Err(Error::Parameter {
        name: "peaks",
        what: format!(
            "{} m/z, {} intensities and {} pixels: as many of each are needed",
            mz.len(),
            intensity.len(),
            pixel.len()
        ),
    })
}

/// What a finished image is besides its values.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Drawn {
    /// Peaks in the window.
    pub hits: u64,
    /// The largest value; 0 where none is positive.
    pub max: f32,
}

/// A sheet that one image after another is drawn on.
///
/// Only pixels that have a peak are written and cleared again, so that an image costs what its peaks cost, not
/// what its pixels do. Most pixels have one peak, whose intensity is the value as it is; a sum is kept for the
/// others alone.
///
/// # Memory
/// [`Canvas::bytes`]: values, sums, and two lists of pixels.
#[derive(Debug)]
pub struct Canvas {
    /// The image; [`SUMMED`] where the value is a sum that was not rounded yet.
    values: Vec<f32>,
    /// Of use where the value is [`SUMMED`], and left over elsewhere.
    sums: Vec<f64>,
    /// The pixels that have a peak, in the first `listed` places.
    touched: Vec<u32>,
    listed: usize,
    /// Those of them that have a sum, in the first `added` places.
    summed: Vec<u32>,
    added: usize,
    hits: u64,
    /// The largest value that a first peak had.
    max: f32,
    /// Whether a later peak was negative, so that `max` may be too large.
    fell: bool,
    /// A pixel that was not acquired and has a peak nevertheless.
    stray: Option<u32>,
    /// The number of the first pixel: canvases of later slices do not begin with 0.
    first: u32,
}

/// In place of a value: look at the sum. No intensity that is kept as a value is infinite.
const SUMMED: f32 = f32::INFINITY;

impl Canvas {
    /// A canvas of `pixels` pixels, all of them acquired.
    ///
    /// # Errors
    /// [`Error::Budget`].
    pub fn new(pixels: usize, budget: &mut Budget) -> Result<Self> {
        let sums = budget.allocate(pixels, "the sums of an image")?;
        let values = budget.allocate(pixels, "the values of an image")?;
        let touched = budget.allocate(pixels, "the touched pixels of an image")?;
        let summed = budget.allocate(pixels, "the pixels of an image with several peaks")?;
        Ok(Self {
            values,
            sums,
            touched,
            listed: 0,
            summed,
            added: 0,
            hits: 0,
            max: 0.0,
            fell: false,
            stray: None,
            first: 0,
        })
    }

    /// Bytes that a canvas of so many pixels takes.
    #[must_use]
    pub fn bytes(pixels: u64) -> u64 {
        pixels.saturating_mul((size_of::<f64>() + size_of::<f32>() + 2 * size_of::<u32>()) as u64)
    }

    /// Makes it the sheet of the slice whose first pixel has the number `first`, and asks of each of its pixels,
    /// counted from 0, whether it was acquired.
    pub fn lay(&mut self, first: u32, acquired: impl Fn(u32) -> bool) {
        self.clear();
        self.first = first;
        for (pixel, value) in (0_u32..).zip(&mut self.values) {
            *value = if acquired(pixel) { 0.0 } else { f32::NAN };
        }
    }

    /// The number of its first pixel.
    pub(super) fn first(&self) -> u32 {
        self.first
    }

    /// Leaves an empty canvas behind.
    pub(super) fn take(&mut self) -> Self {
        Self {
            values: std::mem::take(&mut self.values),
            sums: std::mem::take(&mut self.sums),
            touched: std::mem::take(&mut self.touched),
            summed: std::mem::take(&mut self.summed),
            ..*self
        }
    }

    /// Adds one peak; one in another slice is passed over.
    pub fn add(&mut self, pixel: u32, intensity: f64) {
        let at = pixel.wrapping_sub(self.first);
        let Some(value) = self.values.get_mut(at as usize) else {
            return;
        };
        self.hits += 1;
        let single = narrowed(intensity);
        let whole = f64::from(single).to_bits() == intensity.to_bits() && single.is_finite();
        if *value == 0.0 && whole && single != 0.0 {
            *value = single;
            self.max = self.max.max(single);
        } else if !self.sum(at, intensity) {
            return;
        }
        self.list(at);
    }

    /// Adds peaks of a store in their order: peak i lies in `pixels[i]`. Those in another slice are passed over.
    pub fn add_group(&mut self, pixels: &[u32], intensities: Intensities<'_>) {
        match intensities {
            Intensities::F32(values) => self.add_singles(pixels, values),
            Intensities::F64(values) => {
                for (pixel, value) in pixels.iter().zip(values) {
                    self.add(*pixel, *value);
                }
            }
        }
    }

    /// As [`Canvas::add`], of finite f32, which is most of the time of an image.
    fn add_singles(&mut self, pixels: &[u32], intensities: &[f32]) {
        let first = self.first;
        let (mut hits, mut max) = (self.hits, self.max);
        for (pixel, intensity) in pixels.iter().zip(intensities) {
            let at = pixel.wrapping_sub(first);
            let Some(value) = self.values.get_mut(at as usize) else {
                continue;
            };
            hits += 1;
            if *value == 0.0 && *intensity != 0.0 {
                *value = *intensity;
                max = if *intensity > max { *intensity } else { max };
            } else if !self.sum(at, f64::from(*intensity)) {
                continue;
            }
            self.list(at);
        }
        (self.hits, self.max) = (hits, max);
    }

    /// Remembers a pixel that has its first peak. Each has one, so there is a place for it.
    #[inline]
    fn list(&mut self, at: u32) {
        if let Some(place) = self.touched.get_mut(self.listed) {
            *place = at;
            self.listed += 1;
        }
    }

    /// Adds what cannot be a value by itself: a second peak of a pixel, or one that f32 does not hold. Whether
    /// it is the pixel's first.
    #[inline(never)]
    fn sum(&mut self, at: u32, intensity: f64) -> bool {
        let place = at as usize;
        let (Some(value), Some(sum)) = (self.values.get_mut(place), self.sums.get_mut(place))
        else {
            return false;
        };
        self.fell |= intensity < 0.0;
        if value.is_nan() {
            self.stray = Some(at);
            return false;
        }
        if *value == SUMMED {
            *sum += intensity;
            return false;
        }
        let new = *value == 0.0;
        *sum = f64::from(*value) + intensity;
        *value = SUMMED;
        if let Some(place) = self.summed.get_mut(self.added) {
            *place = at;
            self.added += 1;
        }
        new
    }

    /// Adds a peak of a caller's own arrays, where every pixel must exist.
    fn place(&mut self, pixel: u32, intensity: f32) -> Result<()> {
        if pixel as usize >= self.values.len() {
            return Err(Error::Parameter {
                name: "pixel",
                what: format!("a peak lies in pixel {pixel} of {}", self.values.len()),
            });
        }
        self.add(self.first + pixel, f64::from(intensity));
        Ok(())
    }

    /// Rounds the sums: the values are the image then, until [`Canvas::clear`].
    ///
    /// # Errors
    /// [`Error::Parameter`] if a peak lay in a pixel that was not acquired, or a sum is not a number.
    pub fn finish(&mut self) -> Result<Drawn> {
        let summed = &self.summed[..self.added];
        for at in summed {
            let sum = self.sums[*at as usize];
            if sum.is_nan() {
                self.stray = Some(*at);
            }
            self.values[*at as usize] = narrowed(sum);
        }
        if let Some(at) = self.stray {
            return Err(Error::Parameter {
                name: "pixel",
                what: format!(
                    "pixel {} has a peak but was not acquired, or its intensities have no sum",
                    self.first + at
                ),
            });
        }
        // Only a pixel with a later negative peak can be below what its first one was.
        let (all, from) = if self.fell {
            (&self.touched[..self.listed], 0.0)
        } else {
            (summed, self.max)
        };
        let values = all.iter().map(|at| self.values[*at as usize]);
        Ok(Drawn {
            hits: self.hits,
            max: values.fold(from, f32::max),
        })
    }

    /// The image as it was finished; NaN where nothing was acquired.
    #[must_use]
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// The pixels that have a peak, counted from 0, each once, in the order of their first peaks.
    #[must_use]
    pub fn touched(&self) -> &[u32] {
        &self.touched[..self.listed]
    }

    /// Makes it blank again: every acquired pixel 0.
    pub fn clear(&mut self) {
        for at in &self.touched[..self.listed] {
            self.values[*at as usize] = 0.0;
        }
        self.listed = 0;
        self.added = 0;
        self.hits = 0;
        self.max = 0.0;
        self.fell = false;
        self.stray = None;
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "rounded to the nearest f32, infinite beyond the largest"
)]
fn narrowed(sum: f64) -> f32 {
    sum as f32
}
