//! The instrument that isotope patterns are made for: as asked, as the store says, or the usual one.

use sectile::ion::isotope::{Analyzer, Instrument, USUAL_POWER, stated_power};
use serde_json::{Value, json};

use crate::cli::arguments::Resolving;
use crate::cli::failure::{Failure, Result};

/// Where a setting comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The command line.
    Asked,
    /// The store.
    Stated,
    /// Neither.
    Usual,
}

impl Origin {
    /// As events say it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Asked => "asked",
            Self::Stated => "store",
            Self::Usual => "default",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Asked => "as asked",
            Self::Stated => "as the store says",
            Self::Usual => "by default",
        }
    }
}

/// An instrument, and why this one.
#[derive(Debug, Clone, Copy)]
pub struct Chosen {
    pub instrument: Instrument,
    /// The resolving power at m/z 200 as it was given; the instrument has that of its class.
    pub power: f64,
    analyzer_from: Origin,
    power_from: Origin,
}

/// Chooses an instrument; `stated` is what the store says about its own.
pub fn choose(asked: &Resolving, stated: Option<&str>) -> Result<Chosen> {
    let told = stated.and_then(Analyzer::of_instrument);
    let (analyzer, analyzer_from) = match (&asked.analyzer, told) {
        (Some(name), _) => (analyzer(name)?, Origin::Asked),
        (None, Some(analyzer)) => (analyzer, Origin::Stated),
        (None, None) => (Analyzer::Orbitrap, Origin::Usual),
    };
    let (power, power_from) = match (asked.resolving_power, stated.and_then(stated_power)) {
        (Some(power), _) => (power, Origin::Asked),
        (None, Some(power)) => (power, Origin::Stated),
        (None, None) => (USUAL_POWER, Origin::Usual),
    };
    Ok(Chosen {
        instrument: Instrument::new(analyzer, power)?,
        power,
        analyzer_from,
        power_from,
    })
}

/// The analyzer that an option names.
pub fn analyzer(name: &str) -> Result<Analyzer> {
    Analyzer::of_instrument(name).ok_or_else(|| {
        Failure::usage(format!(
            "--analyzer {name:?} is none that is known; write tof, orbitrap or fticr"
        ))
    })
}

impl Chosen {
    /// Where analyzer and resolving power come from, for events.
    pub fn origins(&self) -> Value {
        json!({
            "analyzer_from": self.analyzer_from.name(),
            "resolving_power_from": self.power_from.name(),
        })
    }

    /// For people.
    pub fn sentence(&self) -> String {
        let (analyzer, from) = (self.instrument.analyzer(), self.analyzer_from.words());
        let power = format!("resolving power {} at m/z 200", self.power);
        if self.analyzer_from == self.power_from {
            format!("{analyzer}, {power}, {from}")
        } else {
            format!("{analyzer} {from}, {power} {}", self.power_from.words())
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests {
    use super::*;

    fn chosen(analyzer: Option<&str>, power: Option<f64>, stated: Option<&str>) -> (String, f64) {
        let asked = Resolving {
            analyzer: analyzer.map(str::to_owned),
            resolving_power: power,
        };
        let chosen = choose(&asked, stated).unwrap();
        (chosen.sentence(), chosen.power)
    }

    #[test]
    fn the_store_is_asked_before_the_default_is_taken() {
        let demo = Some("simulated Orbitrap, resolving power 70,000 at m/z 200");
        for (asked, power, stated, words, wanted) in [
            (
                None,
                None,
                None,
                "orbitrap, resolving power 140000 at m/z 200, by default",
                140_000.0,
            ),
            (
                None,
                None,
                demo,
                "orbitrap, resolving power 70000 at m/z 200, as the store says",
                70_000.0,
            ),
            (
                Some("TOF"),
                None,
                demo,
                "tof as asked, resolving power 70000 at m/z 200 as the store says",
                70_000.0,
            ),
            (
                None,
                Some(3e5),
                Some("Synapt G2"),
                "tof as the store says, resolving power 300000 at m/z 200 as asked",
                3e5,
            ),
            (
                None,
                None,
                Some("an instrument"),
                "orbitrap, resolving power 140000 at m/z 200, by default",
                140_000.0,
            ),
        ] {
            assert_eq!(chosen(asked, power, stated), (words.to_owned(), wanted));
        }
        let asked = Resolving {
            analyzer: Some("quadrupole".to_owned()),
            resolving_power: None,
        };
        assert!(choose(&asked, None).unwrap_err().message.contains("fticr"));
    }
}
