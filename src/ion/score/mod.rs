//! Scores of an ion: how its images' shape, agreement and intensities fit what its isotopes foretell.
//!
//! [`mod@chaos`] looks at the shape of the first image, [`mod@spatial`] at how alike the images of the isotopes are,
//! [`mod@spectral`] at how their intensities compare with theory. Their product is MSM. A [`Scorer`] takes all three of
//! one ion after another without allocating; functions of the same names take arrays.
//!
//! # Source
//! Palmer et al., Nature Methods 14 (2017) 57, as METASPACE and Lithops-METASPACE compute it.

pub mod chaos;
mod closing;
mod first;
mod forest;
pub mod hotspot;
mod lanes;
mod levels;
mod lists;
pub mod mass;
mod parts;
mod scorer;
pub mod spatial;
pub mod spectral;

pub use chaos::chaos;
pub use scorer::{Options, Scorer};
pub use spatial::spatial;
pub use spectral::spectral;

/// An ion is scored by all peaks of its pattern.
pub use crate::ion::isotope::PEAKS;

use crate::error::{Error, Result};

/// One image by its pixels that have a peak.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sparse<'a> {
    /// Pixels counted row by row from 0, each once, in any order.
    pub pixels: &'a [u32],
    /// The value of each.
    pub values: &'a [f32],
}

/// What every image of a dataset has in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Area {
    /// Pixels of a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Pixels that were acquired; statistics are over them alone.
    pub acquired: u64,
}

impl Area {
    /// Pixels, width and height.
    fn sizes(self) -> Result<(usize, usize, usize)> {
        let pixels = u64::from(self.width) * u64::from(self.height);
        let most = u64::from(u32::MAX);
        match (usize::try_from(pixels), self.width, self.height) {
            (Ok(len), 1.., 1..) if pixels < most && self.acquired <= pixels => {
                Ok((len, self.width as usize, self.height as usize))
            }
            _ => Err(Error::Parameter {
                name: "area",
                what: format!(
                    "{}×{} pixels, {} of them acquired: at least one pixel and fewer than {most} are scored, \
                     and no more can be acquired than there are",
                    self.width, self.height, self.acquired
                ),
            }),
        }
    }
}

/// The scores of one ion, and what its images amount to.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Metrics {
    /// How structured the first image is, 0 to 1.
    pub chaos: f64,
    /// How alike the images of the isotopes are to the first, 0 to 1.
    pub spatial: f64,
    /// How alike the intensities are to theory, 0 to 1.
    pub spectral: f64,
    /// The product of the three.
    pub msm: f64,
    /// The sum of each image.
    pub total: [f64; PEAKS],
    /// The least value of each image, or 0 if that is less: METASPACE starts at 0 even where every pixel has a peak.
    pub min: [f64; PEAKS],
    /// The largest value of each image, or 0 if that is more.
    pub max: [f64; PEAKS],
}
