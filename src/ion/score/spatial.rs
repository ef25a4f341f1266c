//! Spatial.
use crate::error::Result;
/// How alike the images of the isotopes are to the first.
///
/// # Errors
/// Parameters.
pub fn spatial(images: &[&[f32]], theory: &[f64]) -> Result<f64> {
    let _ = (images, theory);
    Ok(0.0)
}
