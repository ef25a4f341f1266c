//! What an annotation in shards is about, as JSON.

use std::ops::Range;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::ion::annotate::{Ions, Request};
use crate::ion::database::Molecules;
use crate::ion::formula::modifier::Modifier;
use crate::ion::isotope::Instrument;
use crate::results::part::Identity;
use crate::results::part::whole::{Depicted, Whole};
use crate::results::{Provenance, hex};
use crate::store::head::Head;

/// The version that is written, and the only one that is read.
const VERSION: u32 = 1;

/// All that an annotation in shards depends on: the store, the list, the options, and how it is divided.
///
/// As JSON ([`to_json`](Self::to_json)) it is a few hundred bytes, the same for the same job wherever it is written:
/// store and list stand in it by their own names and SHA-256, not by paths, and nothing tells when it was made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    version: u32,
    program: String,
    store: Store,
    list: List,
    options: Options,
    images: Depicted,
    shards: u32,
    ions: u32,
    fingerprint: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Store {
    file: String,
    sha256: String,
    source: String,
    width: u32,
    height: u32,
    spectra: u64,
    polarity: String,
    instrument: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    file: String,
    sha256: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Options {
    targets: Vec<Target>,
    decoys: u8,
    scoring: String,
    analyzer: String,
    /// Decimals as text: not every reader of JSON gives a number back to the bit.
    resolving_power: String,
    charge: i8,
    ppm: String,
    hotspot: bool,
    slice: u32,
}

/// A modifier, so that it is read back as it was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Target {
    loss: String,
    adduct: String,
}

impl Description {
    /// The job that looks for `ions` in the store of `provenance`, whose list's SHA-256 must be known, in so many shards.
    ///
    /// There are no more shards than ions. `provenance` is kept as it is: give it the files' own names, for folders and
    /// signed links are no part of a result.
    ///
    /// # Errors
    /// [`Error::Parameter`] for no shard, for a list without its SHA-256, and for an instrument of no class.
    pub fn new(
        provenance: &Provenance,
        ions: &Ions,
        images: Depicted,
        shards: u32,
    ) -> Result<Self> {
        let Some(list) = provenance.list_sha256 else {
            return Err(wrong("list", "its SHA-256 is not known".to_owned()));
        };
        if shards == 0 {
            return Err(wrong("shards", "0 shards have no ions".to_owned()));
        }
        let described = Self {
            version: VERSION,
            program: provenance.program.clone(),
            store: Store {
                file: provenance.store.clone(),
                sha256: hex(&provenance.store_sha256),
                source: provenance.source.clone(),
                width: provenance.width,
                height: provenance.height,
                spectra: provenance.spectra,
                polarity: provenance.polarity.clone(),
                instrument: provenance.instrument.clone(),
            },
            list: List {
                file: provenance.list.clone(),
                sha256: hex(&list),
            },
            options: Options::new(ions.request()),
            images,
            shards: shards.min(ions.len().max(1)),
            ions: ions.len(),
            fingerprint: hex(&ions.fingerprint()),
        };
        if described.options.request()? != *ions.request() {
            let what = "an adduct or an instrument that cannot be written down".to_owned();
            return Err(wrong("options", what));
        }
        Ok(described)
    }

    /// The description as JSON, with a line end.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Numbers, texts and lists of them always can be written.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Reads a description under the name that errors show.
    ///
    /// # Errors
    /// [`Error::Format`] for what is none, with the byte where that shows; [`Error::Mismatch`] for one of another
    /// version of this program, whose parts may differ.
    pub fn parse(file: &str, bytes: &[u8]) -> Result<Self> {
        let damaged = |at: u64, what: String| Error::Format {
            file: file.to_owned(),
            at,
            what: format!(
                "{what}; this is no description of an annotation in shards, or it is damaged"
            ),
        };
        let read: Self = serde_json::from_slice(bytes).map_err(|error| {
            let lines = bytes.split_inclusive(|byte| *byte == b'\n');
            let before: usize = lines
                .take(error.line().saturating_sub(1))
                .map(<[u8]>::len)
                .sum();
            damaged(
                (before + error.column().saturating_sub(1)) as u64,
                error.to_string(),
            )
        })?;
        let ours = concat!("sectile ", env!("CARGO_PKG_VERSION"));
        if read.version != VERSION || read.program != ours {
            return Err(Error::Mismatch {
                file: file.to_owned(),
                what: format!(
                    "this job was begun by {} (version {} of its description), and this is {ours}; finish it with the \
                     same program, or begin anew",
                    read.program, read.version
                ),
            });
        }
        for digest in [&read.store.sha256, &read.list.sha256, &read.fingerprint] {
            digest_of(digest).ok_or_else(|| damaged(0, format!("{digest:?} is no SHA-256")))?;
        }
        if read.shards == 0 || read.shards > read.ions.max(1) {
            return Err(damaged(
                0,
                format!("{} shards of {} ions", read.shards, read.ions),
            ));
        }
        let pixels = u64::from(read.store.width) * u64::from(read.store.height);
        if pixels == 0 || pixels > u64::from(u32::MAX) {
            return Err(damaged(
                0,
                format!("{} x {} pixels", read.store.width, read.store.height),
            ));
        }
        read.request()
            .map_err(|error| damaged(0, error.to_string()))?;
        Ok(read)
    }

    /// What is looked for, and by which rules.
    ///
    /// # Errors
    /// [`Error::Parameter`] for what cannot be read; never of a description that was made here or parsed.
    pub fn request(&self) -> Result<Request> {
        self.options.request()
    }

    /// All ions of the job, of the list that it was made with, in at most `memory` bytes.
    ///
    /// # Errors
    /// Those of [`Ions::new`]; [`Error::Mismatch`] for another list, or if this program orders ions otherwise.
    pub fn ions(&self, molecules: Rc<Molecules>, memory: u64) -> Result<Rc<Ions>> {
        let ions = Ions::new(molecules, self.request()?, memory)?;
        if hex(&ions.fingerprint()) != self.fingerprint || ions.len() != self.ions {
            return Err(Error::Mismatch {
                file: self.list.file.clone(),
                what: "its ions are not those of the job; it is not the list that the job was begun with".to_owned(),
            });
        }
        Ok(Rc::new(ions))
    }

    /// Refuses a store that is not the job's.
    ///
    /// # Errors
    /// [`Error::Mismatch`] with both SHA-256.
    pub fn check_store(&self, head: &Head) -> Result<()> {
        let found = hex(&head.digest);
        if found == self.store.sha256 {
            return Ok(());
        }
        Err(Error::Mismatch {
            file: head.file.clone(),
            what: format!(
                "the SHA-256 of its head is {found}, and the job was begun with {}, which had {}",
                self.store.file, self.store.sha256
            ),
        })
    }

    /// Refuses a list of other bytes than the job's.
    ///
    /// # Errors
    /// [`Error::Mismatch`] with both SHA-256.
    pub fn check_list(&self, file: &str, sha256: &[u8; 32]) -> Result<()> {
        let found = hex(sha256);
        if found == self.list.sha256 {
            return Ok(());
        }
        Err(Error::Mismatch {
            file: file.to_owned(),
            what: format!(
                "its SHA-256 is {found}, and the job was begun with {}, which had {}",
                self.list.file, self.list.sha256
            ),
        })
    }

    /// How many shards there are.
    #[must_use]
    pub fn shards(&self) -> u32 {
        self.shards
    }

    /// Ions of all shards.
    #[must_use]
    pub fn ions_in_all(&self) -> u32 {
        self.ions
    }

    /// Which images are kept.
    #[must_use]
    pub fn images(&self) -> Depicted {
        self.images
    }

    /// The list's own name.
    #[must_use]
    pub fn list(&self) -> &str {
        &self.list.file
    }

    /// The ions of a shard, by their places in the order; `number` is from 1.
    ///
    /// It depends on the number of ions and of shards only, and is that of [`Ions::shards`].
    ///
    /// # Errors
    /// [`Error::Parameter`] for a number that no shard has.
    pub fn shard(&self, number: u32) -> Result<Range<u32>> {
        if !(1..=self.shards).contains(&number) {
            return Err(wrong(
                "shard",
                format!("{number} is not one of 1 to {}", self.shards),
            ));
        }
        let at = |n: u32| {
            let place = u64::from(self.ions) * u64::from(n) / u64::from(self.shards);
            // At most the number of ions.
            u32::try_from(place).unwrap_or(u32::MAX)
        };
        Ok(at(number - 1)..at(number))
    }

    /// What the part of a shard has to be.
    ///
    /// # Errors
    /// As [`shard`](Self::shard).
    pub fn whole(&self, number: u32) -> Result<Whole> {
        let digest = |text: &str| digest_of(text).unwrap_or_default();
        Ok(Whole {
            identity: Identity {
                width: self.store.width,
                height: self.store.height,
                shard: self.shard(number)?,
                ions: digest(&self.fingerprint),
                store: digest(&self.store.sha256),
            },
            number,
            of: self.shards,
            depicted: self.images,
        })
    }

    /// Where the results come from.
    #[must_use]
    pub fn provenance(&self) -> Provenance {
        let store = &self.store;
        Provenance {
            program: self.program.clone(),
            store: store.file.clone(),
            store_sha256: digest_of(&store.sha256).unwrap_or_default(),
            source: store.source.clone(),
            width: store.width,
            height: store.height,
            spectra: store.spectra,
            polarity: store.polarity.clone(),
            instrument: store.instrument.clone(),
            list: self.list.file.clone(),
            list_sha256: digest_of(&self.list.sha256),
        }
    }

    /// In what two jobs differ, by the names of what differs; empty if they are the same.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Vec<&'static str> {
        let options = (&self.options, &other.options);
        let all = [
            ("program", self.program != other.program),
            ("store", self.store != other.store),
            ("list", self.list != other.list),
            ("adducts", options.0.targets != options.1.targets),
            ("decoys", options.0.decoys != options.1.decoys),
            ("scoring", options.0.scoring != options.1.scoring),
            ("analyzer", options.0.analyzer != options.1.analyzer),
            (
                "resolving power",
                options.0.resolving_power != options.1.resolving_power,
            ),
            ("charge", options.0.charge != options.1.charge),
            ("ppm", options.0.ppm != options.1.ppm),
            ("hotspot", options.0.hotspot != options.1.hotspot),
            ("slice", options.0.slice != options.1.slice),
            ("images", self.images != other.images),
            ("number of shards", self.shards != other.shards),
        ];
        let differs = all.into_iter().filter(|(_, differs)| *differs);
        let mut names: Vec<&str> = differs.map(|(name, _)| name).collect();
        if names.is_empty() && self != other {
            names.push("ions");
        }
        names
    }
}

impl Options {
    fn new(request: &Request) -> Self {
        Self {
            targets: request.targets.iter().map(Target::new).collect(),
            decoys: request.decoys,
            scoring: request.scoring.name().to_owned(),
            analyzer: request.instrument.analyzer().name().to_owned(),
            resolving_power: request.instrument.stated_power().to_string(),
            charge: request.charge,
            ppm: request.ppm.to_string(),
            hotspot: request.hotspot,
            slice: request.slice,
        }
    }

    fn request(&self) -> Result<Request> {
        let power = number("resolving-power", &self.resolving_power)?;
        let targets = self.targets.iter().map(Target::modifier);
        Ok(Request {
            targets: targets.collect::<Result<_>>()?,
            decoys: self.decoys,
            scoring: self.scoring.parse()?,
            instrument: Instrument::new(self.analyzer.parse()?, power)?,
            charge: self.charge,
            ppm: number("ppm", &self.ppm)?,
            hotspot: self.hotspot,
            slice: self.slice,
        })
    }
}

impl Target {
    fn new(modifier: &Modifier) -> Self {
        let adduct = modifier.adduct();
        let text = adduct.to_string();
        let sign = match modifier.charge() {
            Some(charge) if !text.starts_with('[') => Some(if charge > 0 { '+' } else { '-' }),
            _ => None,
        };
        Self {
            loss: modifier.loss().to_string(),
            adduct: sign.map_or(text.clone(), |sign| format!("[M{text}]{sign}")),
        }
    }

    fn modifier(&self) -> Result<Modifier> {
        let read = |text: &String| {
            let read = Modifier::parse(text);
            read.map_err(|fault| wrong("adducts", format!("{text:?}: {fault}")))
        };
        let adduct = read(&self.adduct)?;
        if self.loss.is_empty() {
            return Ok(adduct);
        }
        Ok(Modifier::join(&read(&self.loss)?, &adduct))
    }
}

fn number(name: &'static str, text: &str) -> Result<f64> {
    let read = text.parse().ok().filter(|number: &f64| number.is_finite());
    read.ok_or_else(|| wrong(name, format!("{text:?} is no number")))
}

fn digest_of(text: &str) -> Option<[u8; 32]> {
    let mut digest = [0; 32];
    if text.len() != 64 {
        return None;
    }
    for (byte, pair) in digest.iter_mut().zip(text.as_bytes().as_chunks::<2>().0) {
        let digit = |of: u8| {
            char::from(of)
                .to_digit(16)
                .filter(|_| !of.is_ascii_uppercase())
        };
        // Two digits below 16.
        *byte = u8::try_from(digit(pair[0])? * 16 + digit(pair[1])?).ok()?;
    }
    Some(digest)
}

fn wrong(name: &'static str, what: String) -> Error {
    Error::Parameter { name, what }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests {
    use super::*;

    #[test]
    fn targets_are_read_back_as_they_were() {
        let parse = |text: &str| Modifier::parse(text).unwrap();
        let mut all: Vec<Modifier> = [
            "+H",
            "-H",
            "[M]+",
            "[M]-",
            "[M+Na]+",
            "[M-H]-",
            "+K-H",
            "+2Na-H",
            "-H2O+H",
            "-H2O-H",
            "[M-H2O+H]+",
            "",
        ]
        .map(parse)
        .to_vec();
        for loss in ["-H2O", "-H2O-NH3", "-CO2"] {
            for adduct in ["+H", "[M]+", "[M+Na]+", "-H", "[M-H]-", "+K-H"] {
                all.push(Modifier::join(&parse(loss), &parse(adduct)));
            }
        }
        for modifier in all {
            let target = Target::new(&modifier);
            assert_eq!(target.modifier().unwrap(), modifier, "{target:?}");
        }
    }

    #[test]
    fn digests_are_64_small_digits() {
        let digest: [u8; 32] = std::array::from_fn(|n| u8::try_from(n * 7).unwrap());
        assert_eq!(digest_of(&hex(&digest)), Some(digest));
        for wrong in [
            "",
            &"0".repeat(63),
            &"0".repeat(65),
            &"G".repeat(64),
            &"A".repeat(64),
        ] {
            assert_eq!(digest_of(wrong), None, "{wrong}");
        }
    }
}
