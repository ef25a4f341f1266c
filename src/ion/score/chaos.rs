//! Chaos.
use crate::error::Result;
/// The measure of chaos of one image in memory.
///
/// # Errors
/// Parameters.
pub fn chaos(values: &[f32], width: u32, height: u32, levels: u8) -> Result<f64> {
    let _ = (values, width, height, levels);
    Ok(0.0)
}
