//! From the options to what is looked for: targets, charge, instrument, rules.

use sectile::ion::annotate::{Request, polarity};
use sectile::ion::formula::modifier::Modifier;
use sectile::ion::scoring::Scoring;
use sectile::store::head::Head;
use serde_json::{Value, json};

use crate::cli::arguments::{Annotating, Polarity};
use crate::cli::failure::{Failure, Result};
use crate::cli::ions::instrument::{self, Chosen};
use crate::cli::ions::typed;
use crate::cli::report::Report;

/// What is looked for, and why so.
#[derive(Debug)]
pub struct Settings {
    pub request: Request,
    instrument: Chosen,
    charge_from: &'static str,
    adducts: Vec<String>,
    losses: Vec<String>,
}

impl Settings {
    /// Reads the options that can be wrong without a look at the store.
    pub fn check(annotating: &Annotating) -> Result<(Vec<Modifier>, Vec<Modifier>, Scoring)> {
        let scoring = annotating.scoring.parse();
        let scoring =
            scoring.map_err(|error: sectile::error::Error| Failure::usage(said(error)))?;
        if let Some(name) = &annotating.resolving.analyzer {
            instrument::analyzer(name)?;
        }
        let adducts = modifiers("--adducts", &annotating.adducts)?;
        let losses = modifiers("--neutral-losses", &annotating.neutral_losses)?;
        for (loss, text) in losses.iter().zip(&annotating.neutral_losses) {
            if loss.charge().is_some() || !text.trim_start().starts_with('-') {
                return Err(Failure::usage(format!(
                    "--neutral-losses {text}: a loss is something taken away, as -H2O"
                )));
            }
        }
        Ok((adducts, losses, scoring))
    }

    /// Settles the options for a store; says what was chosen for the user.
    pub fn new(annotating: &Annotating, head: &Head, slice: u32, report: &Report) -> Result<Self> {
        let (mut adducts, losses, scoring) = Self::check(annotating)?;
        let meta = &head.meta;
        let charge = polarity::choose(
            &head.file,
            &meta.polarity,
            annotating.polarity.map(Polarity::charge),
            &annotating.adducts,
        );
        for warning in &charge.warnings {
            report.warn(warning);
        }
        let mut named = annotating.adducts.clone();
        if named.is_empty() {
            named = (polarity::usual(charge.charge).iter())
                .map(|adduct| (*adduct).to_owned())
                .collect();
            adducts = modifiers("--adducts", &named)?;
        }
        let instrument = instrument::choose(&annotating.resolving, meta.instrument.as_deref())?;
        Ok(Self {
            request: Request {
                targets: Modifier::targets(&losses, &adducts).map_err(Failure::usage)?,
                decoys: annotating.decoys,
                scoring,
                instrument: instrument.instrument,
                charge: charge.charge,
                ppm: annotating.ppm,
                hotspot: annotating.hotspot,
                slice,
            },
            instrument,
            charge_from: charge.from,
            adducts: adducts.iter().map(Modifier::to_string).collect(),
            losses: losses.iter().map(Modifier::to_string).collect(),
        })
    }

    /// All that decides the result, for events and for going on.
    pub fn fields(&self) -> Value {
        let Request {
            decoys,
            scoring,
            instrument,
            charge,
            ppm,
            hotspot,
            slice,
            ..
        } = &self.request;
        json!({
            "adducts": self.adducts,
            "neutral_losses": self.losses,
            "charge": charge,
            "analyzer": instrument.analyzer().name(),
            "resolving_power": self.instrument.power,
            "sigma": instrument.sigma(),
            "ppm": ppm,
            "scoring": scoring.name(),
            "decoys": decoys,
            "hotspot": hotspot,
            "slice": slice,
        })
    }

    /// Where the settings come from that were not given.
    pub fn origins(&self) -> Value {
        let mut origins = self.instrument.origins();
        origins["charge_from"] = json!(self.charge_from);
        origins
    }

    /// For people: adducts, charge, instrument.
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        let losses = if self.losses.is_empty() {
            String::new()
        } else {
            format!(", losing nothing or {}", self.losses.join(", "))
        };
        vec![
            (
                "targets",
                format!(
                    "{}{losses}; {} ions",
                    self.adducts.join(", "),
                    polarity::name(self.request.charge)
                ),
            ),
            ("instrument", self.instrument.sentence()),
        ]
    }
}

/// What an error says, without the name of the parameter in front.
fn said(error: sectile::error::Error) -> String {
    match error {
        sectile::error::Error::Parameter { name, what } => format!("--{name}: {what}"),
        other => other.to_string(),
    }
}

fn modifiers(option: &str, texts: &[String]) -> Result<Vec<Modifier>> {
    let read = |text: &String| typed::modifier(option, text);
    texts.iter().map(read).collect()
}
