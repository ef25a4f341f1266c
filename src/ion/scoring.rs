//! Whose scores: METASPACE's versions, which differ in patterns, windows and estimates.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::ion::isotope::{Analyzer, BASE_MZ, Generation};

/// A version of METASPACE's analysis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Scoring {
    /// The original, which Lithops-METASPACE has too.
    V1,
    /// Patterns by analyzer, and windows that widen with m/z as the analyzer's peaks do.
    V2,
    /// What METASPACE runs today: patterns by analyzer, windows of constant ppm.
    #[default]
    V3,
}

impl Scoring {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::V1, Self::V2, Self::V3];

    /// Its name, as users write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::V1 => "metaspace-v1",
            Self::V2 => "metaspace-v2",
            Self::V3 => "metaspace-v3",
        }
    }

    /// How its isotope patterns are computed.
    #[must_use]
    pub fn generation(self) -> Generation {
        match self {
            Self::V1 => Generation::Older,
            Self::V2 | Self::V3 => Generation::Current,
        }
    }

    /// How far from `mz` a peak may lie to either side, in units of m/z; the window is closed.
    ///
    /// `mz`·`ppm`·10⁻⁶; in [`Scoring::V2`] that only at m/z 200, and ∝ m/z^1.5 (Orbitrap) and m/z² (FTICR) from there.
    #[must_use]
    pub fn half_width(self, analyzer: Analyzer, mz: f64, ppm: f64) -> f64 {
        match (self, analyzer) {
            (Self::V2, Analyzer::Orbitrap) => mz * mz.sqrt() * ppm * 1e-6 / BASE_MZ.sqrt(),
            (Self::V2, Analyzer::Fticr) => mz * mz * ppm * 1e-6 / BASE_MZ,
            _ => mz * ppm * 1e-6,
        }
    }
}

impl fmt::Display for Scoring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Scoring {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|kind| kind.name() == text)
            .ok_or_else(|| Error::Parameter {
                name: "scoring",
                what: format!("{text:?} is none of metaspace-v1, metaspace-v2, metaspace-v3"),
            })
    }
}
