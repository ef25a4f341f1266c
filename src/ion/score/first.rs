//! The first isotope's image, laid out so that others can be compared with it pixel by pixel.

use super::Sparse;
use super::lanes::{LANES, count, filled, summed};
use crate::budget::Budget;
use crate::error::Result;

/// Deviations are about the mean over all acquired pixels, of which most may be zeros that no list has.
#[derive(Debug, Clone, Copy, Default)]
struct Moments {
    mean: f64,
    /// The sum of the squares of all deviations.
    spread: f64,
}

/// An image and how its values are read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reading<'a> {
    pub(super) image: Sparse<'a>,
    /// Values above count as this, at most the largest finite f32.
    pub(super) most: f32,
    /// Pixels that have a value, zeros included.
    pub(super) acquired: f64,
    /// The sum of the values as they count.
    pub(super) total: f64,
}

impl<'a> Reading<'a> {
    /// An image of which nothing is clipped.
    pub(super) fn of(image: Sparse<'a>, acquired: f64) -> Self {
        Self {
            image,
            most: f32::MAX,
            acquired,
            total: 0.0,
        }
        .below(f32::MAX)
    }

    /// The same image with all values above clipped.
    pub(super) fn below(mut self, most: f32) -> Self {
        self.most = most;
        self.total = summed(self.image.values, |value| self.value(value));
        self
    }

    /// A value as it counts.
    #[inline]
    fn value(&self, value: f32) -> f64 {
        // Written so that it is one instruction for several values, and keeps NaN.
        f64::from(if value > self.most { self.most } else { value })
    }

    fn moments(&self) -> Moments {
        let mean = self.total / self.acquired;
        let squares = summed(self.image.values, |value| {
            let off = self.value(value) - mean;
            off * off
        });
        let zeros = self.acquired - count(self.image.values.len());
        Moments {
            mean,
            spread: squares + zeros * mean * mean,
        }
    }
}

/// How an image compares with the first.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Likeness {
    /// Its sum over the pixels in which the first image is positive.
    pub(super) within: f64,
    /// Pearson's correlation over the acquired pixels; 0 where there is none.
    pub(super) correlation: f64,
}

/// The first image of an ion as a dense one, of which only touched pixels are written and cleared.
#[derive(Debug)]
pub(super) struct First {
    values: Vec<f32>,
    moments: Moments,
    /// Pixels that are not 0.
    nonzero: usize,
}

impl First {
    pub(super) fn new(pixels: usize, budget: &mut Budget) -> Result<Self> {
        Ok(Self {
            values: budget.allocate(pixels, "the first image of an ion that is scored")?,
            moments: Moments::default(),
            nonzero: 0,
        })
    }

    /// Bytes for images of so many pixels.
    pub(super) fn bytes(pixels: u64) -> u64 {
        pixels.saturating_mul(size_of::<f32>() as u64)
    }

    /// Lays an image out; the one before was [cleared](Self::clear).
    pub(super) fn lay(&mut self, first: Reading<'_>) {
        let Sparse { pixels, values } = first.image;
        self.moments = first.moments();
        self.nonzero = values.iter().filter(|value| **value != 0.0).count();
        for (pixel, value) in pixels.iter().zip(values) {
            if let Some(place) = self.values.get_mut(*pixel as usize) {
                *place = if *value > first.most {
                    first.most
                } else {
                    *value
                };
            }
        }
    }

    /// How it compares with itself.
    pub(super) fn itself(&self, first: Reading<'_>) -> Likeness {
        Likeness {
            within: summed(first.image.values, |value| {
                let value = first.value(value);
                if value > 0.0 { value } else { 0.0 }
            }),
            correlation: if self.varies() { 1.0 } else { 0.0 },
        }
    }

    /// Whether a correlation with it makes sense: two pixels that are not 0.
    fn varies(&self) -> bool {
        self.nonzero > 1
    }

    /// Compares another image of the same pixels.
    pub(super) fn compare(&self, other: Reading<'_>) -> Likeness {
        let Sparse { pixels, values } = other.image;
        let Moments { mean, spread } = self.moments;
        // The sum of the products of both deviations: the other's mean falls out, as the first's deviations sum to 0.
        let (mut within, mut product) = ([0.0; LANES], [0.0; LANES]);
        let mut add = |pixels: &[u32; LANES], values: &[f32; LANES]| {
            let first = pixels.map(|pixel| self.values.get(pixel as usize).copied().unwrap_or(0.0));
            for lane in 0..LANES {
                let value = other.value(values[lane]);
                within[lane] += if first[lane] > 0.0 { value } else { 0.0 };
                product[lane] += (f64::from(first[lane]) - mean) * value;
            }
        };
        let (whole_pixels, pixels) = pixels.as_chunks();
        let (whole_values, values) = values.as_chunks();
        for (pixels, values) in whole_pixels.iter().zip(whole_values) {
            add(pixels, values);
        }
        add(&filled(pixels), &filled(values));
        let [within, product]: [f64; 2] = [within, product].map(|lanes| lanes.iter().sum());
        let correlation = product / (spread * other.moments().spread).sqrt();
        Likeness {
            within,
            correlation: if self.varies() && correlation.is_finite() {
                correlation
            } else {
                0.0
            },
        }
    }

    /// Makes it blank again after an image of these pixels.
    pub(super) fn clear(&mut self, pixels: &[u32]) {
        for pixel in pixels {
            if let Some(place) = self.values.get_mut(*pixel as usize) {
                *place = 0.0;
            }
        }
    }
}
