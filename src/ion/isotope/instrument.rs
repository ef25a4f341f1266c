//! How well a mass spectrometer resolves: the width of a peak at every m/z.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};

/// What separates the ions: it says how the width of a peak grows with m/z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Analyzer {
    /// Time of flight: the resolving power is the same everywhere.
    Tof,
    /// Orbitrap: the resolving power falls with the square root of m/z.
    #[default]
    Orbitrap,
    /// Fourier-transform ion cyclotron resonance: the resolving power falls with m/z.
    Fticr,
}

impl Analyzer {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Tof, Self::Orbitrap, Self::Fticr];

    /// What in the name of an instrument tells its analyzer, in METASPACE's order.
    const WORDS: [(Self, &'static [&'static str]); 3] = [
        (
            Self::Orbitrap,
            &["orbitrap", "exactive", "exploris", "hf-x", "uhmr"],
        ),
        (Self::Fticr, &["fticr", "ft-icr", "ftms", "ft-ms"]),
        (Self::Tof, &["tof", "mrt", "synapt", "xevo"]),
    ];

    /// Its name, as users write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Tof => "tof",
            Self::Orbitrap => "orbitrap",
            Self::Fticr => "fticr",
        }
    }

    /// The analyzer of the instrument that is called `text`, `None` where the name does not tell.
    ///
    /// As METASPACE normalises names: whatever contains `exactive` is an Orbitrap, `FT-ICR` is FTICR, `Synapt` is
    /// time of flight, in any case of letters. METASPACE takes all others for Orbitraps.
    #[must_use]
    pub fn of_instrument(text: &str) -> Option<Self> {
        let text = text.to_ascii_lowercase();
        let told = |words: &[&str]| words.iter().any(|word| text.contains(word));
        let mut all = Self::WORDS.into_iter();
        all.find(|(_, words)| told(words)).map(|(kind, _)| kind)
    }
}

impl fmt::Display for Analyzer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Analyzer {
    type Err = Error;

    /// As [`Analyzer::of_instrument`], but a name that does not tell is refused.
    fn from_str(text: &str) -> Result<Self> {
        Self::of_instrument(text).ok_or_else(|| Error::Parameter {
            name: "analyzer",
            what: format!("{text:?} names none of tof, orbitrap, fticr"),
        })
    }
}

/// The m/z at which resolving powers are stated.
pub const BASE_MZ: f64 = 200.0;

/// Widths of a Gaussian at half its height, in standard deviations: 2·√(2·ln 2).
pub const FWHM_IN_SIGMA: f64 = 2.354_820_045_030_949_3;

/// METASPACE's classes: below which resolving power at m/z 200, and the standard deviation of a peak there.
///
/// METASPACE's table also has a class of 200K (0.000867), which its choice never takes.
const CLASSES: [(f64, f64); 8] = [
    (85_000.0, 0.002_476),
    (120_000.0, 0.001_733),
    (195_000.0, 0.001_238),
    (265_000.0, 0.000_693),
    (390_000.0, 0.000_619),
    (625_000.0, 0.000_347),
    (875_000.0, 0.000_231),
    (f64::INFINITY, 0.000_173),
];

/// A mass spectrometer, as far as isotope patterns depend on it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Instrument {
    analyzer: Analyzer,
    sigma: f64,
    /// At m/z 200, as it was asked for: a class holds many.
    stated: f64,
}

impl Instrument {
    /// The instrument of METASPACE's class that has this resolving power (m/z by full width at half maximum) at
    /// m/z 200.
    ///
    /// METASPACE computes patterns for eight classes only: 70,000, 100,000, 140,000, 250,000, 280,000, 500,000,
    /// 750,000 and 1,000,000; whatever is below 85,000 counts as 70,000. [`Instrument::of_sigma`] takes any.
    ///
    /// # Errors
    /// [`Error::Parameter`] unless it is finite and greater than 0.
    pub fn new(analyzer: Analyzer, resolving_power_at_200: f64) -> Result<Self> {
        Self::at(analyzer, resolving_power_at_200, BASE_MZ)
    }

    /// The instrument of METASPACE's class that has this resolving power at `mz`; as [`Instrument::new`].
    ///
    /// # Errors
    /// [`Error::Parameter`] unless both are finite and greater than 0.
    pub fn at(analyzer: Analyzer, resolving_power: f64, mz: f64) -> Result<Self> {
        positive("resolving-power", resolving_power, "such as 140000")?;
        positive("m/z", mz, "such as 200")?;
        let ratio = mz / BASE_MZ;
        let base = match analyzer {
            Analyzer::Tof => resolving_power,
            Analyzer::Orbitrap => resolving_power * ratio.sqrt(),
            Analyzer::Fticr => resolving_power * ratio,
        };
        let mut classes = CLASSES.iter();
        let sigma = classes.find(|(below, _)| base < *below);
        let sigma = sigma.map_or(CLASSES[CLASSES.len() - 1].1, |(_, sigma)| *sigma);
        Ok(Self {
            analyzer,
            sigma,
            stated: base,
        })
    }

    /// The instrument whose peak at m/z 200 has the standard deviation `sigma`, in units of m/z.
    ///
    /// # Errors
    /// [`Error::Parameter`] unless it is from 1e-5 (a resolving power of 8.5 million) to 1 (85): an envelope is
    /// walked in steps of a tenth of it.
    pub fn of_sigma(analyzer: Analyzer, sigma: f64) -> Result<Self> {
        if (1e-5..=1.0).contains(&sigma) {
            return Ok(Self {
                analyzer,
                sigma,
                stated: BASE_MZ / (sigma * FWHM_IN_SIGMA),
            });
        }
        Err(Error::Parameter {
            name: "sigma",
            what: format!(
                "{sigma} is not from 1e-5 to 1; give the standard deviation of a peak at m/z 200"
            ),
        })
    }

    /// What separates the ions.
    #[must_use]
    pub fn analyzer(&self) -> Analyzer {
        self.analyzer
    }

    /// Standard deviation of a peak at m/z 200, in units of m/z.
    #[must_use]
    pub fn sigma(&self) -> f64 {
        self.sigma
    }

    /// Full width of a peak at half maximum at m/z 200, in units of m/z.
    #[must_use]
    pub fn fwhm(&self) -> f64 {
        self.sigma * FWHM_IN_SIGMA
    }

    /// The resolving power at m/z 200 that was asked for; [`resolving_power`](Self::resolving_power) is that of its class,
    /// half as much for most.
    #[must_use]
    pub fn stated_power(&self) -> f64 {
        self.stated
    }

    /// The resolving power at m/z 200.
    #[must_use]
    pub fn resolving_power(&self) -> f64 {
        BASE_MZ / self.fwhm()
    }

    /// The resolving power at `mz`: the same everywhere (time of flight), ∝ 1/√m/z (Orbitrap), ∝ 1/m/z (FTICR).
    #[must_use]
    pub fn resolving_power_at(&self, mz: f64) -> f64 {
        self.law().resolving_power(mz)
    }

    /// How the width of its peaks grows.
    pub(super) fn law(&self) -> Law {
        Law {
            analyzer: self.analyzer,
            base: self.resolving_power(),
        }
    }

    /// The law of cpyMSpec 0.3.5: peaks of the same resolving power everywhere, as wide at `mz` as this instrument's at
    /// m/z 200, whatever the analyzer.
    pub(super) fn older_law(&self, mz: f64) -> Law {
        Law {
            analyzer: Analyzer::Tof,
            base: mz / self.fwhm(),
        }
    }
}

/// How the width of a peak grows with m/z.
#[derive(Debug, Clone, Copy)]
pub(super) struct Law {
    analyzer: Analyzer,
    /// The resolving power at m/z 200.
    base: f64,
}

impl Law {
    fn resolving_power(self, mz: f64) -> f64 {
        match self.analyzer {
            Analyzer::Tof => self.base,
            Analyzer::Orbitrap => self.base * (BASE_MZ / mz).sqrt(),
            Analyzer::Fticr => self.base * BASE_MZ / mz,
        }
    }

    /// The standard deviation of a peak at `mz`.
    pub(super) fn sigma(self, mz: f64) -> f64 {
        mz / self.resolving_power(mz) / FWHM_IN_SIGMA
    }
}

fn positive(name: &'static str, value: f64, example: &str) -> Result<()> {
    if value.is_finite() && value > 0.0 {
        return Ok(());
    }
    Err(Error::Parameter {
        name,
        what: format!("{value} is not a finite number greater than 0; give one {example}"),
    })
}
