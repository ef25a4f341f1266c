//! How far the measured m/z of an ion's peaks are from theory.
//!
//! The m/z of a peak is the mean of the m/z that its image is made of, weighted by intensity; a peak that was not
//! measured counts as where theory has it.
//!
//! # Source
//! METASPACE's `mz_err_abs` and `mz_err_rel`.

use super::PEAKS;

/// The mean m/z of one image's peaks, weighted by intensity, about where theory has it.
///
/// ```
/// use sectile::ion::score::mass::MeanMass;
///
/// let mut mean = MeanMass::about(500.0);
/// mean.add(500.002, 3.0);
/// mean.add(500.001, 1.0);
/// assert!((mean.error() - 0.00175).abs() < 1e-12);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct MeanMass {
    theory: f64,
    weight: f64,
    moment: f64,
}

impl MeanMass {
    /// No peaks yet, about the m/z that they should have.
    #[must_use]
    pub fn about(theory: f64) -> Self {
        Self {
            theory,
            ..Self::default()
        }
    }

    /// Takes one peak.
    pub fn add(&mut self, mz: f64, intensity: f64) {
        self.weight += intensity;
        // Of the difference, so that no digits are lost to the m/z itself.
        self.moment += intensity * (mz - self.theory);
    }

    /// How far the mean is above theory, in the unit of m/z; 0 without intensity.
    #[must_use]
    pub fn error(&self) -> f64 {
        let error = self.moment / self.weight;
        if error.is_finite() { error } else { 0.0 }
    }
}

/// The error of an ion's first peak, and how much more the later ones are off on average, both in the unit of m/z.
///
/// The average is weighted by the intensities in theory, and 0 if the later peaks have none.
///
/// ```
/// use sectile::ion::score::mass::errors;
///
/// let (absolute, relative) = errors(&[0.002, 0.003, 0.001, 0.002], &[100.0, 30.0, 10.0, 0.0]);
/// assert!((absolute - 0.002).abs() < 1e-12 && (relative - 0.0005).abs() < 1e-12);
/// ```
#[must_use]
pub fn errors(of_peaks: &[f64; PEAKS], theory: &[f64; PEAKS]) -> (f64, f64) {
    let [absolute, later @ ..] = *of_peaks;
    let (mut sum, mut weights) = (0.0, 0.0);
    for (error, weight) in later.iter().zip(&theory[1..]) {
        sum += weight * (error - absolute);
        weights += weight;
    }
    let relative = sum / weights;
    (absolute, if relative.is_finite() { relative } else { 0.0 })
}
