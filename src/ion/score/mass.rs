//! How far the measured m/z of an ion's peaks are from theory.

/// The intensity-weighted mean of the m/z of one image's peaks.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct MeanMass {
    centre: f64,
    weight: f64,
    moment: f64,
}

impl MeanMass {
    /// No peaks yet, about the m/z that they should have.
    #[must_use]
    pub fn about(centre: f64) -> Self {
        Self {
            centre,
            ..Self::default()
        }
    }

    /// Takes one peak.
    pub fn add(&mut self, mz: f64, intensity: f64) {
        self.weight += intensity;
        self.moment += intensity * (mz - self.centre);
    }

    /// How far the mean is above the m/z that the peaks should have; none without intensity.
    #[must_use]
    pub fn error(&self) -> Option<f64> {
        let error = self.moment / self.weight;
        error.is_finite().then_some(error)
    }
}
