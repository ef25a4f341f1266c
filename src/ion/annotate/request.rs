//! What decides a result: which ions, and by which rules they are scored.

use sha2::{Digest as _, Sha256};

use crate::error::{Error, Result};
use crate::ion::formula::modifier::Modifier;
use crate::ion::isotope::{Instrument, Patterns};
use crate::ion::scoring::Scoring;

/// All that a result depends on besides the store and the molecules.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// What makes an ion of a molecule: neutral losses with adducts, each once.
    pub targets: Vec<Modifier>,
    /// Decoys of each target.
    pub decoys: u8,
    /// The rules.
    pub scoring: Scoring,
    /// The mass spectrometer.
    pub instrument: Instrument,
    /// The charge of all ions, 1 or -1.
    pub charge: i8,
    /// Half width of a window in millionths of its m/z: see [`Scoring::half_width`].
    pub ppm: f64,
    /// Whether the brightest pixels are clipped before images are compared (METASPACE's hotspot removal).
    pub hotspot: bool,
    /// Index of the slice, from 0.
    pub slice: u32,
}

impl Request {
    /// METASPACE's usual request: 20 decoys, 3 ppm, [`Scoring::V3`], the first slice.
    #[must_use]
    pub fn new(targets: Vec<Modifier>, instrument: Instrument, charge: i8) -> Self {
        Self {
            targets,
            decoys: 20,
            scoring: Scoring::V3,
            instrument,
            charge,
            ppm: 3.0,
            hotspot: false,
            slice: 0,
        }
    }

    /// Half width of the window around an m/z.
    #[must_use]
    pub fn half_width(&self, mz: f64) -> f64 {
        let analyzer = self.instrument.analyzer();
        self.scoring.half_width(analyzer, mz, self.ppm)
    }

    /// The closed window around an m/z.
    pub(super) fn window(&self, mz: f64) -> (f64, f64) {
        let half = self.half_width(mz);
        (mz - half, mz + half)
    }

    /// What computes the patterns of its ions.
    pub(super) fn patterns(&self) -> Result<Patterns> {
        Patterns::new(self.instrument, self.scoring.generation(), self.charge)
    }

    /// Refuses what makes no sense.
    pub(super) fn check(&self) -> Result<()> {
        let wrong = |name: &'static str, what: String| Err(Error::Parameter { name, what });
        for target in &self.targets {
            if let Some(charge) = target.charge().filter(|charge| *charge != self.charge) {
                return wrong(
                    "adducts",
                    format!(
                        "\"{target}\" has the charge {charge:+}, and the ions have {:+}; annotate one polarity at a time",
                        self.charge
                    ),
                );
            }
        }
        if ![1, -1].contains(&self.charge) {
            return wrong("charge", format!("{} is neither 1 nor -1", self.charge));
        }
        // Windows of more than a thousandth overlap from one isotope peak to the next.
        if !(self.ppm > 0.0 && self.ppm <= 1000.0) {
            return wrong(
                "ppm",
                format!(
                    "{} is not above 0 and at most 1000; give a tolerance such as 3",
                    self.ppm
                ),
            );
        }
        Ok(())
    }

    /// Takes all of it into a digest.
    pub(super) fn digest(&self, sha: &mut Sha256) {
        for target in &self.targets {
            sha.update(format!("target {target} {:?}\n", target.charge()));
        }
        sha.update(format!(
            "decoys {} scoring {} analyzer {} sigma {} charge {} ppm {} hotspot {} slice {}\n",
            self.decoys,
            self.scoring,
            self.instrument.analyzer(),
            self.instrument.sigma(),
            self.charge,
            self.ppm,
            self.hotspot,
            self.slice
        ));
    }
}
