//! What is asked of an annotation: the options of `sectile annotate`, by the same names.

use serde::Deserialize;
use serde_json::{Value, json};

use super::request::wrong;
use crate::api::problem::Problem;
use crate::api::route::is_name;
use crate::ion::annotate::polarity;
use crate::ion::formula::modifier::Modifier;
use crate::ion::isotope::Analyzer;
use crate::ion::scoring::Scoring;

/// Adducts, or losses, of one job.
const MOST_MODIFIERS: usize = 64;

/// The annotation of a dataset of ions with a list of molecules.
#[derive(Debug, Clone, PartialEq)]
pub struct AnnotationRequest {
    /// The list: one of the catalog's, or `core`, which is built in.
    pub molecules: String,
    /// What molecules become ions by; none for the usual ones of the store's polarity.
    pub adducts: Vec<Modifier>,
    /// What molecules may lose besides.
    pub neutral_losses: Vec<Modifier>,
    /// The charge of the ions, where neither adducts nor store tell it right.
    pub polarity: Option<i8>,
    /// What separates the ions, where neither the catalog nor the store tells it right.
    pub analyzer: Option<Analyzer>,
    /// Resolving power at m/z 200, where neither the catalog nor the store tells it right.
    pub resolving_power: Option<f64>,
    /// Half width of a window in millionths of its m/z.
    pub ppm: f64,
    /// The rules.
    pub scoring: Scoring,
    /// Decoys for each target.
    pub decoys: u8,
    /// Whether images are clipped at their 99th percentile before they are compared.
    pub hotspot: bool,
    /// The slice by its z; the first, unless given.
    pub slice: Option<i32>,
    /// Which images are kept.
    pub images: Kept,
    /// Bytes of memory a shard; as the host has it, unless given.
    pub memory: Option<u64>,
}

/// Which images of what is found are kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kept {
    /// Those of all four isotope peaks.
    #[default]
    All,
    /// That of the first isotope peak.
    First,
    /// None.
    None,
}

impl Kept {
    /// Its name, as users write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::First => "first",
            Self::None => "none",
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(rename = "type")]
    _kind: String,
    molecules: String,
    #[serde(default)]
    adducts: Vec<String>,
    #[serde(default)]
    neutral_losses: Vec<String>,
    polarity: Option<String>,
    analyzer: Option<String>,
    resolving_power: Option<f64>,
    ppm: Option<f64>,
    scoring: Option<String>,
    decoys: Option<u8>,
    #[serde(default)]
    hotspot: bool,
    slice: Option<i32>,
    #[serde(default)]
    images: Kept,
    memory: Option<u64>,
}

impl AnnotationRequest {
    pub(super) fn from_json(value: Value) -> Result<Self, Problem> {
        let read = Written::deserialize(value);
        let written = read.map_err(|error| wrong(&error.to_string()))?;
        if !is_name(&written.molecules) {
            return Err(wrong(&format!(
                "`molecules` {:?} is no name of a list",
                written.molecules
            )));
        }
        let request = Self {
            adducts: modifiers("adducts", &written.adducts)?,
            neutral_losses: losses(&written.neutral_losses)?,
            polarity: written.polarity.as_deref().map(charge).transpose()?,
            analyzer: written.analyzer.as_deref().map(analyzer).transpose()?,
            resolving_power: written.resolving_power,
            ppm: written.ppm.unwrap_or(3.0),
            scoring: match &written.scoring {
                Some(name) => name
                    .parse()
                    .map_err(|error: crate::error::Error| wrong(&error.to_string()))?,
                None => Scoring::default(),
            },
            decoys: written.decoys.unwrap_or(20),
            hotspot: written.hotspot,
            slice: written.slice,
            images: written.images,
            memory: written.memory,
            molecules: written.molecules,
        };
        request.check()?;
        Ok(request)
    }

    fn check(&self) -> Result<(), Problem> {
        if let Some(power) = self.resolving_power
            && !(1000.0..=1e8).contains(&power)
        {
            return Err(wrong(&format!(
                "`resolving_power` {power} is not from 1000 to 100000000"
            )));
        }
        if !(self.ppm > 0.0 && self.ppm <= 1000.0) {
            return Err(wrong(&format!(
                "`ppm` {} is not above 0 and at most 1000",
                self.ppm
            )));
        }
        if !(1..=80).contains(&self.decoys) {
            return Err(wrong(&format!(
                "`decoys` {} is not from 1 to 80",
                self.decoys
            )));
        }
        self.targets().map(|_| ())
    }

    /// What makes an ion of a molecule, no loss first: each adduct, then each loss with each adduct.
    ///
    /// # Errors
    /// `body` (400) if two of them are the same.
    pub fn targets(&self) -> Result<Vec<Modifier>, Problem> {
        let losses = self.neutral_losses.iter();
        let joined = losses.flat_map(|loss| {
            self.adducts
                .iter()
                .map(|adduct| Modifier::join(loss, adduct))
        });
        let targets: Vec<Modifier> = self.adducts.iter().cloned().chain(joined).collect();
        let names: Vec<String> = targets.iter().map(ToString::to_string).collect();
        for (at, name) in names.iter().enumerate() {
            if names[..at].contains(name) {
                return Err(wrong(&format!(
                    "{name:?} is named twice; give each adduct and each loss once"
                )));
            }
        }
        Ok(targets)
    }

    pub(super) fn to_json(&self) -> Value {
        let texts =
            |modifiers: &[Modifier]| -> Vec<String> { modifiers.iter().map(spelled).collect() };
        let mut value = json!({
            "type": "annotation",
            "molecules": self.molecules,
            "adducts": texts(&self.adducts),
            "neutral_losses": texts(&self.neutral_losses),
            "ppm": self.ppm,
            "scoring": self.scoring.name(),
            "decoys": self.decoys,
            "hotspot": self.hotspot,
            "images": self.images.name(),
        });
        let maybe = [
            (
                "polarity",
                self.polarity.map(|charge| json!(polarity::name(charge))),
            ),
            (
                "analyzer",
                self.analyzer.map(|analyzer| json!(analyzer.name())),
            ),
            (
                "resolving_power",
                self.resolving_power.map(|power| json!(power)),
            ),
            ("slice", self.slice.map(|slice| json!(slice))),
            ("memory", self.memory.map(|memory| json!(memory))),
        ];
        for (member, found) in maybe {
            if let Some(found) = found {
                value[member] = found;
            }
        }
        value
    }
}

/// A modifier with the charge that it states, which its display leaves out beside parts.
fn spelled(modifier: &Modifier) -> String {
    let text = modifier.to_string();
    match modifier.charge() {
        Some(charge) if !text.contains('[') => {
            format!("[M{text}]{}", if charge < 0 { '-' } else { '+' })
        }
        _ => text,
    }
}

fn modifiers(member: &str, texts: &[String]) -> Result<Vec<Modifier>, Problem> {
    if texts.len() > MOST_MODIFIERS {
        return Err(wrong(&format!(
            "`{member}` holds more than {MOST_MODIFIERS}"
        )));
    }
    let read = |text: &String| {
        let modifier = Modifier::parse(text)
            .map_err(|fault| wrong(&format!("`{member}` {text:?}: {fault}")))?;
        if text.trim().is_empty() {
            return Err(wrong(&format!("`{member}` holds an empty text")));
        }
        Ok(modifier)
    };
    texts.iter().map(read).collect()
}

fn losses(texts: &[String]) -> Result<Vec<Modifier>, Problem> {
    let losses = modifiers("neutral_losses", texts)?;
    for (loss, text) in losses.iter().zip(texts) {
        if loss.charge().is_some() || !text.trim_start().starts_with(['-', '−']) {
            return Err(wrong(&format!(
                "`neutral_losses` {text:?}: a loss is something taken away, as -H2O"
            )));
        }
    }
    Ok(losses)
}

fn charge(name: &str) -> Result<i8, Problem> {
    match name {
        "positive" => Ok(1),
        "negative" => Ok(-1),
        _ => Err(wrong(&format!(
            "`polarity` {name:?} is neither positive nor negative"
        ))),
    }
}

fn analyzer(name: &str) -> Result<Analyzer, Problem> {
    let mut all = Analyzer::ALL.into_iter();
    all.find(|known| known.name() == name).ok_or_else(|| {
        wrong(&format!(
            "`analyzer` {name:?} is none of tof, orbitrap, fticr"
        ))
    })
}
