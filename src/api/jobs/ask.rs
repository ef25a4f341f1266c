//! A job as it is asked for: the body of `POST /v1/{dataset}/jobs`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::ion::annotate::{Request, polarity};
use crate::ion::formula::modifier::Modifier;
use crate::ion::isotope::Instrument;
use crate::ion::scoring::Scoring;

use super::MOST_SHARDS;

/// Most bytes of a body: no list of adducts is as long.
pub const MOST_BODY: usize = 16 << 10;

/// The widest tolerance, in millionths: that of [`Request`].
const MOST_PPM: f64 = 1000.0;

/// What is to be computed.
#[derive(Debug, Clone, PartialEq)]
pub enum Asked {
    /// The median of a stack, and its pyramid.
    Median(MedianAsked),
    /// The annotation of a store with a list of molecules.
    Annotation(AnnotationAsked),
}

/// The median of a stack, all of it, as `sectile median … --pyramid` writes it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MedianAsked {
    /// How many shards, if so many are wanted; as many as the limits make needful otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shards: Option<u32>,
}

/// An annotation, as `sectile annotate` makes it; what is left out has the defaults of the command line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnnotationAsked {
    /// The list of molecules, by its name in the catalog.
    pub molecules: String,
    /// What molecules become ions by, as `+H`; those usual for the polarity if there are none.
    #[serde(default)]
    pub adducts: Vec<String>,
    /// What molecules may lose besides, as `-H2O`.
    #[serde(default)]
    pub neutral_losses: Vec<String>,
    /// The sign of the ions, where neither the adducts nor the store tell it right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub polarity: Option<Sign>,
    /// How far a peak may lie from its m/z to either side, in millionths of it.
    #[serde(default = "AnnotationAsked::ppm")]
    pub ppm: f64,
    /// `metaspace-v1`, `-v2` or `-v3`.
    #[serde(default = "AnnotationAsked::scoring")]
    pub scoring: String,
    /// Decoys for each target, 1 to 80.
    #[serde(default = "AnnotationAsked::decoys")]
    pub decoys: u8,
    /// Whether images are clipped at their 99th percentile before they are compared.
    #[serde(default)]
    pub hotspot: bool,
    /// The slice, by its z; the first if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slice: Option<i32>,
    /// Which images are kept.
    #[serde(default)]
    pub images: Images,
    /// How many shards, if so many are wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shards: Option<u32>,
}

/// The sign of ions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sign {
    /// Ions that lack an electron.
    Positive,
    /// Ions that have one too many.
    Negative,
}

/// Which peaks an image is kept of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Images {
    /// All four isotope peaks.
    #[default]
    All,
    /// The first isotope peak.
    First,
    /// None; there is no images file.
    None,
}

impl Asked {
    /// Reads a body.
    ///
    /// # Errors
    /// [`Error::Parameter`] naming the member that is missing, unknown or makes no sense. Whether the list of
    /// molecules, the adducts and the slice exist is seen once the dataset is open.
    pub fn parse(body: &[u8]) -> Result<Self> {
        if body.len() > MOST_BODY {
            return Err(wrong(format!(
                "{} bytes are more than the {MOST_BODY} that a job's description may have",
                body.len()
            )));
        }
        let mut members: Map<String, Value> =
            serde_json::from_slice(body).map_err(|fault| wrong(fault.to_string()))?;
        let kind = members.remove("type");
        let members = Value::Object(members);
        let asked = match kind.as_ref().and_then(Value::as_str) {
            Some("median") => serde_json::from_value(members).map(Self::Median),
            Some("annotation") => serde_json::from_value(members).map(Self::Annotation),
            _ => {
                return Err(wrong(
                    "\"type\" has to be \"median\" or \"annotation\"".to_owned(),
                ));
            }
        };
        asked.map_err(|fault| wrong(fault.to_string()))?.checked()
    }

    fn checked(self) -> Result<Self> {
        if let Some(shards) = self.shards()
            && !(1..=MOST_SHARDS).contains(&shards)
        {
            return Err(wrong(format!(
                "{shards} shards are not between 1 and {MOST_SHARDS}"
            )));
        }
        let Self::Annotation(mut annotation) = self else {
            return Ok(self);
        };
        if !(1..=80).contains(&annotation.decoys) {
            return Err(wrong(format!(
                "{} decoys are not between 1 and 80",
                annotation.decoys
            )));
        }
        if !(annotation.ppm > 0.0 && annotation.ppm <= MOST_PPM) {
            return Err(wrong(format!(
                "ppm {}: it is greater than 0 and at most {MOST_PPM}",
                annotation.ppm
            )));
        }
        // A loss that is none is none with any list.
        annotation.losses()?;
        // The spelling of a modifier must not make another job.
        for texts in [&mut annotation.adducts, &mut annotation.neutral_losses] {
            for text in texts.iter_mut() {
                *text = spelled(&modifier(text)?);
            }
        }
        let scoring: Scoring = annotation.scoring.parse()?;
        scoring.name().clone_into(&mut annotation.scoring);
        Ok(Self::Annotation(annotation))
    }

    /// The one form in which the same is always written: members in their order, defaults filled in.
    #[must_use]
    pub fn canonical(&self) -> String {
        self.to_value().to_string()
    }

    /// The same as a value that [`parse`](Self::parse) reads.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let members = match self {
            Self::Median(median) => serde_json::to_value(median),
            Self::Annotation(annotation) => serde_json::to_value(annotation),
        };
        let mut members = members.unwrap_or_default();
        members["type"] = self.kind().into();
        members
    }

    /// `median` or `annotation`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Median(_) => "median",
            Self::Annotation(_) => "annotation",
        }
    }

    /// How many shards are wanted, if that was said.
    #[must_use]
    pub fn shards(&self) -> Option<u32> {
        match self {
            Self::Median(median) => median.shards,
            Self::Annotation(annotation) => annotation.shards,
        }
    }

    /// The files that the job leaves, in the order in which they are written.
    #[must_use]
    pub fn results(&self) -> &'static [&'static str] {
        match self {
            Self::Median(_) => &["median.fits", "pyramid.fits"],
            Self::Annotation(asked) if asked.images == Images::None => {
                &["results.csv", "annotations.json"]
            }
            Self::Annotation(_) => &["images.sectile-images", "results.csv", "annotations.json"],
        }
    }
}

impl AnnotationAsked {
    /// An annotation with this list, all else as usual.
    #[must_use]
    pub fn new(molecules: &str) -> Self {
        Self {
            molecules: molecules.to_owned(),
            adducts: Vec::new(),
            neutral_losses: Vec::new(),
            polarity: None,
            ppm: Self::ppm(),
            scoring: Self::scoring(),
            decoys: Self::decoys(),
            hotspot: false,
            slice: None,
            images: Images::All,
            shards: None,
        }
    }

    fn ppm() -> f64 {
        3.0
    }

    fn scoring() -> String {
        Scoring::V3.name().to_owned()
    }

    fn decoys() -> u8 {
        20
    }

    /// What is looked for in a store: `polarity` is the store's own, `slice` the index of the slice.
    ///
    /// # Errors
    /// [`Error::Parameter`] for adducts and losses that are none or are named twice.
    pub fn request(
        &self,
        store: &str,
        polarity: &str,
        instrument: Instrument,
        slice: u32,
    ) -> Result<Request> {
        let sign = self.polarity.map(|sign| match sign {
            Sign::Positive => 1,
            Sign::Negative => -1,
        });
        let charge = polarity::choose(store, polarity, sign, &self.adducts).charge;
        let usual: Vec<String>;
        let adducts = if self.adducts.is_empty() {
            usual = polarity::usual(charge)
                .iter()
                .map(|name| (*name).to_owned())
                .collect();
            &usual
        } else {
            &self.adducts
        };
        let losses = self.losses()?;
        let adducts = adducts
            .iter()
            .map(|text| modifier(text))
            .collect::<Result<Vec<_>>>()?;
        Ok(Request {
            targets: Modifier::targets(&losses, &adducts).map_err(wrong)?,
            decoys: self.decoys,
            scoring: self.scoring.parse()?,
            instrument,
            charge,
            ppm: self.ppm,
            hotspot: self.hotspot,
            slice,
        })
    }

    fn losses(&self) -> Result<Vec<Modifier>> {
        let read = |text: &String| {
            let loss = modifier(text)?;
            if loss.charge().is_some() || !text.trim_start().starts_with('-') {
                return Err(wrong(format!(
                    "{text:?}: a loss is something taken away, as -H2O"
                )));
            }
            Ok(loss)
        };
        self.neutral_losses.iter().map(read).collect()
    }
}

/// One way to write a modifier, which says its charge where that is stated.
fn spelled(modifier: &Modifier) -> String {
    let has_adduct = modifier.adduct().parts().next().is_some();
    match modifier.charge().filter(|_| has_adduct) {
        Some(charge) => format!("[M{modifier}]{}", if charge < 0 { '-' } else { '+' }),
        None => modifier.to_string(),
    }
}

fn modifier(text: &str) -> Result<Modifier> {
    Modifier::parse(text).map_err(|fault| wrong(format!("{text:?}: {fault}")))
}

fn wrong(what: String) -> Error {
    Error::Parameter { name: "job", what }
}
