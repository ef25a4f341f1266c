//! How the intensities of an ion's isotopes compare with theory.
//!
//! S is the sum of each image over the pixels in which the first is positive, t the intensities in theory. The score is
//! `1 − mean |t/‖t‖ − S/‖S‖|`, the mean over all peaks, missing ones included. Where it is exactly 1 it is 0: an ion of
//! one peak only says nothing. As in the references S/‖S‖ is rounded to f32, by which several peaks in just the right
//! proportion have less than 1 by some 1e-8. Where nothing was measured, or theory has nothing, it is 0.
//!
//! # Source
//! `isotope_pattern_match` of pyImagingMSpec, as METASPACE calls it.

use super::first::Likeness;
use super::lists::Lists;
use crate::error::Result;

/// The spectral score of images in memory, the first isotope's first: 0 to 1.
///
/// All images are of the same pixels; NaN in all of them is a pixel that was not acquired, which is left out. `theory`
/// is the intensity that each should have, in any unit.
///
/// ```
/// use sectile::ion::score::spectral;
///
/// // 6 to 8, where 3 to 4 is expected; the third pixel is not in the first image.
/// let score = spectral(&[&[2.0, 4.0, 0.0], &[4.0, 4.0, 9.0]], &[3.0, 4.0])?;
/// assert!((score - 1.0).abs() < 1e-7 && score < 1.0);
/// # Ok::<(), sectile::error::Error>(())
/// ```
///
/// # Cost
/// One pass over the pixels that are not 0; sums are f64.
///
/// # Errors
/// [`crate::error::Error::Parameter`] for images of unequal size or not as many intensities;
/// [`crate::error::Error::Budget`] if there is no memory.
pub fn spectral(images: &[&[f32]], theory: &[f64]) -> Result<f64> {
    let likenesses = Lists::of(images, theory)?.likenesses();
    Ok(fit(theory, &likenesses))
}

/// The score of what was measured.
pub(super) fn fit(theory: &[f64], likenesses: &[Likeness]) -> f64 {
    let measured = || likenesses.iter().map(|likeness| likeness.within);
    let (expected, found) = (norm(theory.iter().copied()), norm(measured()));
    let (mut off, mut peaks) = (0.0, 0.0);
    for (theory, measured) in theory.iter().zip(measured()) {
        off += (theory / expected - rounded(measured / found)).abs();
        peaks += 1.0;
    }
    let score = 1.0 - off / peaks;
    // Also where it is NaN.
    if score < 1.0 { score } else { 0.0 }
}

fn norm(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|value| value * value).sum::<f64>().sqrt()
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "rounded to the nearest f32"
)]
fn rounded(value: f64) -> f64 {
    f64::from(value as f32)
}
