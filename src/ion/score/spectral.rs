//! Spectral.
use crate::error::Result;
/// How alike the intensities are to theory.
///
/// # Errors
/// Parameters.
pub fn spectral(images: &[&[f32]], theory: &[f64]) -> Result<f64> {
    let _ = (images, theory);
    Ok(0.0)
}
