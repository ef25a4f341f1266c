//! An ion image as METASPACE stores it: 16-bit grey and alpha.

use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::png;
use crate::store::head::Mask;

/// A picture and what its codes mean.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// The PNG.
    pub png: Vec<u8>,
    /// Value of code 0: the least of the whole picture, where pixels without a spectrum are 0.
    pub min: f32,
    /// Value of code 65,535: the greatest.
    pub max: f32,
}

/// Draws pictures of one size, one after the other.
#[derive(Debug)]
pub struct Easel {
    width: u32,
    height: u32,
    mask: Vec<bool>,
    canvas: Vec<f32>,
}

impl Easel {
    /// An easel for one slice of a store: `mask` is that of the store, `first` the number of the slice's first pixel.
    ///
    /// # Errors
    /// [`Error::Budget`] unless [`Easel::bytes`] are left, which are reserved for as long as the caller says.
    pub fn new(
        width: u32,
        height: u32,
        mask: &Mask,
        first: u32,
        budget: &mut Budget,
    ) -> Result<Self> {
        let pixels = u64::from(width) * u64::from(height);
        let what = "drawing images";
        let beside = Self::bytes(pixels).saturating_sub(pixels * 5);
        budget.reserve(beside, what)?;
        let len = usize::try_from(pixels).unwrap_or(usize::MAX);
        let mut inside = budget.allocate(len, what)?;
        for (inside, pixel) in inside.iter_mut().zip(first..) {
            *inside = mask.acquired(pixel);
        }
        Ok(Self {
            width,
            height,
            mask: inside,
            canvas: budget.allocate(len, what)?,
        })
    }

    /// Bytes that it holds and that encoding allocates for a moment: canvas, mask, rows, and the packed picture.
    #[must_use]
    pub const fn bytes(pixels: u64) -> u64 {
        pixels
            .saturating_mul(4 + 1 + 4 + 24)
            .saturating_add(64 << 10)
    }

    /// Draws the sums of a picture's pixels, each of which is there at most once; all others are 0.
    ///
    /// # Cost
    /// Linear in the pixels of the whole picture, however few have a sum: nearly all of it is packing.
    ///
    /// # Errors
    /// [`Error::Parameter`] for pixels outside of the picture and for sums that are not finite.
    pub fn draw(&mut self, pixels: &[u32], values: &[f32]) -> Result<Picture> {
        self.canvas.fill(0.0);
        for (pixel, value) in pixels.iter().zip(values) {
            let place = self.canvas.get_mut(*pixel as usize);
            let Some(place) = place.filter(|_| value.is_finite()) else {
                return Err(Error::Parameter {
                    name: "image",
                    what: format!(
                        "{value} at pixel {pixel}, in a picture of {} x {} finite values",
                        self.width, self.height
                    ),
                });
            };
            // A zero is always +0, so that no order of minima shows.
            *place = *value + 0.0;
        }
        let (min, max) = crate::raster::plane::range(&self.canvas).unwrap_or_default();
        let png = png::encode_masked(self.width, self.height, &self.canvas, Some(&self.mask), &[])?;
        Ok(Picture { png, min, max })
    }
}
