//! The scatter of a stack, worked out from the numbers that it holds.

use crate::stack_cases::Files;

/// The root mean square deviation from the mean by its definition, summed in f64 in the order of the exposures.
pub(crate) fn naive_rms(files: &Files, x: usize, y: usize) -> (f64, u16) {
    let at = y * files.stack.width as usize + x;
    let stored = |value: f64| {
        if files.stack.wide {
            value
        } else {
            f64::from(value as f32)
        }
    };
    let values = files.pixels.iter().map(|plane| stored(plane[at]));
    let values: Vec<f64> = values.filter(|value| !value.is_nan()).collect();
    let number = values.len() as f64;
    let mean = values.iter().fold(0.0, |sum, value| sum + value) / number;
    let squares = values.iter().map(|value| (value - mean) * (value - mean));
    let rms = stored((squares.fold(0.0, |sum, square| sum + square) / number).sqrt());
    (
        if rms.is_nan() { f64::NAN } else { rms },
        values.len() as u16,
    )
}
