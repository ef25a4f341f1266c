//! What is served: one JSON document, checked like anything that comes from outside.
//!
//! ```json
//! { "sectile": 1,
//!   "origins": ["https://archive.example.org"],
//!   "datasets": {
//!     "m13":    { "type": "stack", "exposures": ["m13/1.fits", {"url": "https://archive.example.org/2.fits"}] },
//!     "tissue": { "type": "ions", "store": "tissue.sectile", "molecules": {"lipids": "lipids.csv"}, "jobs": true } } }
//! ```
//!
//! A member that is not known is an error that names it. A dataset that is declared wrongly does not take the others
//! down: it is kept with the reason.

mod duplicates;
mod entry;
mod image;
mod source;
mod token;
mod url;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::route::is_name;
use crate::error::{Error, Result};
use crate::fits::Image;
use crate::fits::hdu::Selection;
use crate::ion::isotope::Analyzer;
use crate::results::stack::headers::without_query;
use crate::stack::mask::Meaning;

pub use entry::BUILT_IN;
pub use image::{from_json as image_from_json, to_json as image_to_json};
pub use token::Token;
pub use url::{Allow, Origin};

/// The usual name of the document.
pub const FILE: &str = "sectile.json";

/// The largest document that is read: 4 MiB.
pub const LARGEST: usize = 4 << 20;

/// The version of the document.
const VERSION: u64 = 1;

/// All that is served.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Catalog {
    /// Other servers that files may lie on.
    pub origins: Vec<Origin>,
    /// Datasets in the order of their names.
    pub datasets: Vec<Dataset>,
    /// Datasets that are declared wrongly, in the order of their names.
    pub faulty: Vec<Faulty>,
}

/// A dataset as it is declared.
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    /// Its name: see [`is_name`].
    pub name: String,
    /// What it is for people.
    pub title: Option<String>,
    /// What it is made of.
    pub kind: Kind,
    /// Whoever asks must have this, where it is there.
    pub token: Option<Token>,
    /// Whether jobs may be started.
    pub jobs: bool,
}

/// What a dataset is made of.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// Exposures of one field.
    Stack(StackEntry),
    /// A store of an imaging mass-spectrometry dataset.
    Ions(IonsEntry),
}

/// A declared stack.
#[derive(Debug, Clone, PartialEq)]
pub struct StackEntry {
    /// The exposures, at least one.
    pub exposures: Vec<SourceEntry>,
    /// Which HDU of each.
    pub hdu: Selection,
    /// Which plane of a cube, from 0.
    pub plane: u64,
    /// Which pixels are left out.
    pub mask: Option<MaskEntry>,
    /// Whether a different pointing or scale is let pass.
    pub ignore_wcs: bool,
    /// Whether different units are let pass.
    pub ignore_units: bool,
    /// A pyramid of the median that was computed before.
    pub pyramid: Option<SourceEntry>,
}

/// Pixels that are left out: those that another HDU flags, or gives no weight.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MaskEntry {
    /// The HDU of the same file.
    pub hdu: Selection,
    /// What it says of a pixel that is left out; bit 0 where the catalog does not say.
    pub bits: Meaning,
}

/// A declared dataset of ions.
#[derive(Debug, Clone, PartialEq)]
pub struct IonsEntry {
    /// The store.
    pub store: SourceEntry,
    /// What separates the ions, where it is not what the store says.
    pub analyzer: Option<Analyzer>,
    /// Resolving power at m/z 200, where it is not what the store says.
    pub resolving_power: Option<f64>,
    /// Lists of molecules by their names, in the order of those.
    pub molecules: Vec<(String, SourceEntry)>,
}

/// A file of a dataset.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceEntry {
    /// A key of the bucket (a path below the served folder), or a URL of an allowed origin.
    pub url: String,
    /// Whether it is a URL.
    pub remote: bool,
    /// Its size in bytes, where that is declared.
    pub size: Option<u64>,
    /// Its entity tag, where that is declared.
    pub etag: Option<String>,
    /// What its headers say, where that is declared: no header is read then.
    pub image: Option<Image>,
}

impl SourceEntry {
    /// What whoever asks may be told of it: the key, or the address without its query, which may hold a signature.
    #[must_use]
    pub fn shown(&self) -> &str {
        if self.remote {
            without_query(&self.url)
        } else {
            &self.url
        }
    }
}

/// A dataset that is declared wrongly.
#[derive(Debug, Clone, PartialEq)]
pub struct Faulty {
    /// Its name.
    pub name: String,
    /// What is wrong.
    pub reason: String,
    /// Whether it has a token, right or wrong: then nobody is told of it.
    pub private: bool,
}

/// The document's members; datasets are read one by one.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    sectile: u64,
    #[serde(default)]
    origins: Vec<String>,
    datasets: Map<String, Value>,
}

impl Catalog {
    /// Reads a document.
    ///
    /// # Errors
    /// [`Error::Format`], with the byte, for what is no such document, for origins that are none or that are not
    /// allowed, and for names that cannot be. What is wrong with one dataset is in [`Catalog::faulty`].
    pub fn parse(bytes: &[u8], allow: Allow) -> Result<Self> {
        if bytes.len() > LARGEST {
            return Err(wrong(
                LARGEST as u64,
                format!(
                    "{} bytes; at most {LARGEST} are read: leave out `image` members",
                    bytes.len()
                ),
            ));
        }
        if bytes.trim_ascii_start().first() != Some(&b'{') {
            return Err(wrong(0, "this is no JSON object".to_owned()));
        }
        let twice = duplicates::find(bytes).map_err(|error| syntax(bytes, &error))?;
        let document: Document =
            serde_json::from_slice(bytes).map_err(|error| syntax(bytes, &error))?;
        if document.sectile != VERSION {
            let what = format!(
                "version {} of the document; {VERSION} is read",
                document.sectile
            );
            return Err(wrong(0, what));
        }
        let mut catalog = Self::default();
        for text in &document.origins {
            let origin = Origin::parse(text, allow)
                .map_err(|why| wrong(0, format!("origin {text:?}: {why}")))?;
            catalog.origins.push(origin);
        }
        for path in &twice {
            if path.len() < 3 || path[0] != "datasets" {
                let what = format!("the member {} is there twice", path.join("."));
                return Err(wrong(0, what));
            }
        }
        for (name, value) in document.datasets {
            if !is_name(&name) {
                let what = format!(
                    "{name:?} is no name of a dataset: small letters, digits, . _ -, at most 64, a letter or a digit first"
                );
                return Err(wrong(0, what));
            }
            let mut paths = twice.iter().filter(|path| path[1] == name);
            let read = match paths.next() {
                Some(path) => Err(format!("the member {} is there twice", path[2..].join("."))),
                None => entry::read(&name, &value, &catalog.origins),
            };
            match read {
                Ok(dataset) => catalog.datasets.push(dataset),
                Err(reason) => catalog.faulty.push(Faulty {
                    private: value.get("token").is_some(),
                    name,
                    reason,
                }),
            }
        }
        Ok(catalog)
    }

    /// The dataset of a name.
    #[must_use]
    pub fn dataset(&self, name: &str) -> Option<&Dataset> {
        self.datasets.iter().find(|dataset| dataset.name == name)
    }
}

fn syntax(bytes: &[u8], error: &serde_json::Error) -> Error {
    let before = bytes.split_inclusive(|byte| *byte == b'\n');
    let lines = before.take(error.line().saturating_sub(1));
    let start: usize = lines.map(<[u8]>::len).sum();
    let at = start + error.column().saturating_sub(1);
    wrong(at as u64, error.to_string())
}

fn wrong(at: u64, what: String) -> Error {
    Error::Format {
        file: FILE.to_owned(),
        at,
        what,
    }
}
