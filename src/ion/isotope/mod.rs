//! Isotope patterns: where an ion's peaks are and how high, as an instrument sees them.
//!
//! A composition has many isotopologues, molecules that differ in the isotopes of their atoms. Those whose probability
//! is at least 1e-4 of the most probable one's are listed, drawn as Gaussians as wide as the [`Instrument`]'s peaks, and
//! the maxima of their sum are the pattern's peaks.
//!
//! The rules, and so the numbers, are those of METASPACE's `cpyMSpec` (0.4.2, and 0.3.5 where [`Generation::Older`]):
//! the same grid is walked, so m/z agree within 1e-8, though the centroid of a finite window on that grid is up to
//! 0.2 ppm beside the true one.

mod fine;
mod gauss;
mod instrument;
mod peaks;
mod spread;
mod stated;
mod walk;

pub use instrument::{Analyzer, BASE_MZ, FWHM_IN_SIGMA, Instrument};
pub use stated::{USUAL_POWER, stated_power};

use crate::error::{Error, Result};
use crate::ion::formula::Composition;
use crate::ion::formula::element::ELECTRON;
use fine::{Fine, Short};
use gauss::Gauss;
use peaks::Points;
use walk::Walk;

/// Most peaks of a pattern.
pub const PEAKS: usize = 4;

/// Most isotopologues of a composition, as in cpyMSpec: there are 10 to 100 in most ions.
pub const MOST_ISOTOPOLOGUES: usize = 100_000;

/// How patterns are computed: the two generations of METASPACE's library that are in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Generation {
    /// `cpyMSpec` 0.4.2 (METASPACE's analysis versions 2 and 3): all isotopologues from 1e-4 of the most probable one on.
    #[default]
    Current,
    /// `cpyMSpec` 0.3.5 (version 1 and Lithops-METASPACE): convolutions that drop what is small on the way, and peaks of
    /// a constant ratio of width to mass whatever the analyzer.
    Older,
}

/// The peaks of one ion.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pattern {
    /// m/z, ascending; 0 beyond the last peak.
    pub mz: [f64; PEAKS],
    /// Heights, 100 for the highest; 0 beyond the last peak.
    pub intensity: [f64; PEAKS],
    /// How many peaks there are, 1 to 4.
    pub peaks: u8,
}

/// Molecules of one composition that have the same numbers of each isotope.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Isotopologue {
    /// m/z.
    pub mz: f64,
    /// Probability, relative to the most probable isotopologue's.
    pub share: f64,
}

/// Computes patterns for one instrument: holds what ions have in common, and scratch.
#[derive(Debug, Clone)]
pub struct Patterns {
    instrument: Instrument,
    generation: Generation,
    charge: i8,
    fine: Fine,
    gauss: Gauss,
    points: Points,
}

impl Patterns {
    /// Bytes that it holds at most, about 4 MiB: for an ion of [`MOST_ISOTOPOLOGUES`]. After usual ions it
    /// holds a tenth of that.
    pub const BYTES: u64 = (Fine::BYTES + Points::BYTES) as u64;

    /// For ions of this charge, 1 or -1.
    ///
    /// # Errors
    /// [`Error::Parameter`] for other charges: METASPACE, whose rules these are, does not divide by them.
    pub fn new(instrument: Instrument, generation: Generation, charge: i8) -> Result<Self> {
        if !matches!(charge, 1 | -1) {
            return Err(Error::Parameter {
                name: "charge",
                what: format!(
                    "{charge} is neither 1 nor -1; patterns are those of singly charged ions"
                ),
            });
        }
        Ok(Self {
            instrument,
            generation,
            charge,
            // The probabilities below which an element's isotopologues are dropped: 1e-8, and exp(-20).
            fine: Fine::new(match generation {
                Generation::Older => 1e-8,
                Generation::Current => 2.061_153_622_438_558e-9,
            }),
            gauss: Gauss::new(),
            points: Points::new(),
        })
    }

    /// The instrument.
    #[must_use]
    pub fn instrument(&self) -> Instrument {
        self.instrument
    }

    /// The four highest peaks of an ion; the composition is the ion's, its adduct included.
    ///
    /// # Errors
    /// [`Error::Parameter`] if it has no atoms or more than [`MOST_ISOTOPOLOGUES`]; [`Error::Budget`] if the allocator
    /// has no room for them.
    ///
    /// # Cost
    /// About 10 µs for a lipid; nothing is allocated once lists have grown.
    pub fn pattern(&mut self, ion: &Composition) -> Result<Pattern> {
        check(ion)?;
        let shift = -f64::from(self.charge) * ELECTRON;
        let (list, most) = self
            .fine
            .of(ion, shift)
            .map_err(|short| explain(ion, &short))?;
        if let [only] = list {
            return Ok(Pattern {
                mz: [only.mz, 0.0, 0.0, 0.0],
                intensity: [100.0, 0.0, 0.0, 0.0],
                peaks: 1,
            });
        }
        // Envelopes are drawn this far from an isotopologue, in standard deviations.
        let (law, width) = match self.generation {
            Generation::Current => (self.instrument.law(), 6.0),
            Generation::Older => (self.instrument.older_law(most), 12.0),
        };
        self.points.clear();
        if let Some(mut walk) = Walk::new(list, law, width, &self.gauss) {
            walk.all(&mut self.points);
        }
        self.points.pattern().ok_or_else(|| Error::Parameter {
            name: "formula",
            what: format!("{ion} has no peaks at this resolving power"),
        })
    }

    /// The isotopologues of an ion by m/z, the most probable one's share 1, down to 1e-4.
    ///
    /// # Errors
    /// As [`Patterns::pattern`].
    pub fn isotopologues(&mut self, ion: &Composition) -> Result<&[Isotopologue]> {
        check(ion)?;
        let shift = -f64::from(self.charge) * ELECTRON;
        match self.fine.of(ion, shift) {
            Ok((list, _)) => Ok(list),
            Err(short) => Err(explain(ion, &short)),
        }
    }

    /// An m/z that no peak of an ion's pattern is below, for a fraction of a pattern's cost.
    ///
    /// The sum of what the elements weigh at least, less a standard deviation of a peak there: a centroid lies within
    /// seven points of a maximum, 0.66 standard deviations, and a maximum not before the lightest isotopologue. It is
    /// the lightest isotopologue of all where an ion has too many of them.
    #[must_use]
    pub fn lowest(&mut self, ion: &Composition) -> f64 {
        let mz = self.fine.lightest(ion) - f64::from(self.charge) * ELECTRON;
        let sigma = match self.generation {
            Generation::Current => self.instrument.law().sigma(mz),
            // That of the most probable isotopologue, which is not lighter.
            Generation::Older => self.instrument.sigma(),
        };
        mz - sigma
    }
}

fn check(ion: &Composition) -> Result<()> {
    if ion.atoms().is_empty() {
        return Err(Error::Parameter {
            name: "formula",
            what: "an ion of no atoms has no peaks".to_owned(),
        });
    }
    Ok(())
}

fn explain(ion: &Composition, short: &Short) -> Error {
    match short {
        Short::Many => Error::Parameter {
            name: "formula",
            what: format!(
                "{ion} has more than {MOST_ISOTOPOLOGUES} isotopologues of at least 1e-4 of the most probable one; \
                 leave it out"
            ),
        },
        Short::Memory(bytes) => Error::Budget {
            need: *bytes as u64,
            have: 0,
            what: format!("the isotopologues of {ion}"),
        },
    }
}
