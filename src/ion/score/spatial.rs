//! How alike the images of an ion's isotopes are.
//!
//! The correlation (Pearson's) of each later image with the first, over all acquired pixels whether they have a peak
//! or not, averaged with the theoretical intensities as weights and clipped to 0 to 1. A correlation that is undefined,
//! as of an image without variance, is 0 and keeps its weight. The score is 0 if the first image has fewer than two
//! pixels that are not 0, or the weights sum to 0.
//!
//! # Source
//! `isotope_image_correlation` of pyImagingMSpec, as METASPACE calls it; its later scoring takes the same formula in
//! f32, which differs by up to 1.5e-6.

use super::first::Likeness;
use super::lists::Lists;
use crate::error::Result;

/// The spatial score of images in memory, the first isotope's first: 0 to 1.
///
/// All images are of the same pixels; NaN in all of them is a pixel that was not acquired, which is left out. `theory`
/// is the intensity that each should have, in any unit.
///
/// ```
/// use sectile::ion::score::spatial;
///
/// let first = [4.0, 2.0, 0.0, 2.0];
/// let second = [2.0, 1.0, 0.0, 1.0];
/// let third = [0.0; 4];
/// let score = spatial(&[&first, &second, &third], &[100.0, 30.0, 10.0])?;
/// assert!((score - 0.75).abs() < 1e-12);
/// # Ok::<(), sectile::error::Error>(())
/// ```
///
/// # Cost
/// Two passes over the pixels that are not 0; sums are f64.
///
/// # Errors
/// [`crate::error::Error::Parameter`] for images of unequal size or not as many intensities;
/// [`crate::error::Error::Budget`] if there is no memory.
pub fn spatial(images: &[&[f32]], theory: &[f64]) -> Result<f64> {
    let likenesses = Lists::of(images, theory)?.likenesses();
    Ok(averaged(theory, &likenesses))
}

/// The mean of the later images' correlations by their intensities in theory.
pub(super) fn averaged(theory: &[f64], likenesses: &[Likeness]) -> f64 {
    let (mut sum, mut weights) = (0.0, 0.0);
    for (weight, likeness) in theory.iter().zip(likenesses).skip(1) {
        sum += weight * likeness.correlation;
        weights += weight;
    }
    let mean = sum / weights;
    if mean.is_finite() {
        mean.clamp(0.0, 1.0)
    } else {
        0.0
    }
}
