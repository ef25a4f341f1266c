//! What a median in shards is about: one JSON text beside the parts.
//!
//! It holds everything that the bytes of the result depend on besides the pixels, the headers of the result
//! included, so that whoever assembles the parts needs nothing else. Each part has its SHA-256. There is no clock, no
//! budget and no machine in it: who computes a shard of the same exposures writes the same text.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::headers::Made;
use super::layout::Layout;
use super::part::Identity;
use crate::error::{Error, Result};
use crate::fits::header::Header;
use crate::fits::write::BLOCK;
use crate::stack::exposure::Exposure;
use crate::stack::shards::Shards;

/// Most bytes that a description may have: that of 4,096 exposures with long names stays far below.
pub const LONGEST: u64 = 16 << 20;

/// What kind of job it is, in the text.
const KIND: &str = "median";

/// One exposure, and which version of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Its name as it stands in the result's headers.
    pub name: String,
    /// The file's size, if it is known.
    pub bytes: Option<u64>,
    /// What tells this version of it from others: the entity tag, or else when it was last modified.
    pub version: Option<String>,
    /// Byte at which the pixels begin: which HDU and plane were chosen.
    pub data_at: u64,
    /// Byte at which its mask begins, if it has one; what that leaves out stands in the headers.
    pub mask_at: Option<u64>,
}

impl Input {
    /// An exposure of a stack, under the name that stands in the headers.
    #[must_use]
    pub fn new(exposure: &Exposure, name: &str, bytes: Option<u64>, version: Option<&str>) -> Self {
        Self {
            name: name.to_owned(),
            bytes,
            version: version.map(str::to_owned),
            data_at: exposure.data_at,
            mask_at: exposure.mask.as_ref().map(|mask| mask.data_at),
        }
    }
}

/// A median in shards.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// The program's version.
    pub sectile: String,
    /// `median`.
    pub job: String,
    /// Into how many shards it is cut.
    pub shards: u32,
    /// Pixels a row of the result.
    pub width: u32,
    /// Rows of the result.
    pub height: u32,
    /// Whether values are f64.
    pub wide: bool,
    /// The unit of the values.
    pub unit: Option<String>,
    /// The part of the image that is computed: x0, y0, x1, y1.
    pub rect: [u32; 4],
    /// Every so-manieth row and column of it.
    pub step: u32,
    /// The exposures in their order.
    pub inputs: Vec<Input>,
    /// The header of the values in the FITS file: whole blocks.
    pub head: String,
    /// The header of the counts.
    pub count_head: String,
}

impl Description {
    /// The job that gives what is made, in so many shards, of these exposures.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a number of shards that the result cannot be cut into; those of [`Made::layout`].
    pub fn new(made: &Made<'_>, inputs: Vec<Input>, shards: u32) -> Result<Self> {
        let layout = made.layout()?;
        Shards::new(layout.height, shards)?;
        let [(_, head), (_, count_head)] = layout.headers();
        // Headers are ASCII (FITS 4.0 §4.1.2.2), so that nothing is lost.
        let text = |head: &[u8]| String::from_utf8_lossy(head).into_owned();
        let rect = made.plan.rect;
        Ok(Self {
            sectile: env!("CARGO_PKG_VERSION").to_owned(),
            job: KIND.to_owned(),
            shards,
            width: layout.width,
            height: layout.height,
            wide: layout.wide,
            unit: made.stack.unit.clone(),
            rect: [rect.x0, rect.y0, rect.x1, rect.y1],
            step: made.plan.step,
            inputs,
            head: text(head),
            count_head: text(count_head),
        })
    }

    /// The text, with a line end.
    ///
    /// # Errors
    /// [`Error::Parameter`], which no description gives cause for.
    pub fn to_text(&self) -> Result<String> {
        let text = serde_json::to_string(self).map_err(|error| Error::Parameter {
            name: "job",
            what: error.to_string(),
        })?;
        Ok(text + "\n")
    }

    /// Reads the text of a file, every number of which is checked.
    ///
    /// # Errors
    /// [`Error::Format`] for what is no description; [`Error::Unsupported`] for that of another kind of job or of
    /// another version of this program.
    pub fn parse(file: &str, text: &[u8]) -> Result<Self> {
        let fault = |at: u64, what: String| Error::Format {
            file: file.to_owned(),
            at,
            what: format!("no description of a median in shards: {what}"),
        };
        let value: serde_json::Value =
            serde_json::from_slice(text).map_err(|error| fault(0, error.to_string()))?;
        let unsupported = |what: String| Error::Unsupported {
            file: file.to_owned(),
            what,
        };
        if let Some(job) = value["job"].as_str().filter(|job| *job != KIND) {
            return Err(unsupported(format!("these are shards of the job {job:?}")));
        }
        let ours = env!("CARGO_PKG_VERSION");
        if let Some(theirs) = value["sectile"].as_str().filter(|theirs| *theirs != ours) {
            return Err(unsupported(format!(
                "these shards are of version {theirs} of this program, and this is {ours}; use that one, or run the \
                 shards again"
            )));
        }
        let read: Self =
            serde_json::from_value(value).map_err(|error| fault(0, error.to_string()))?;
        read.check().map_err(|what| fault(0, what))?;
        Ok(read)
    }

    /// What is wrong, if anything.
    fn check(&self) -> Result<(), String> {
        Shards::new(self.height, self.shards).map_err(|error| error.to_string())?;
        if self.step == 0 {
            return Err("a step of 0".to_owned());
        }
        // A value and its count take 10 bytes; headers stay far below.
        let pixels = u64::from(self.width) * u64::from(self.height);
        if pixels > u64::MAX >> 5 {
            return Err(format!(
                "{} x {} pixels are beyond what offsets count",
                self.width, self.height
            ));
        }
        let [x0, y0, x1, y1] = self.rect;
        let side = |from: u32, to: u32| to.checked_sub(from).map(|side| side.div_ceil(self.step));
        if side(x0, x1) != Some(self.width) || side(y0, y1) != Some(self.height) {
            return Err("the rectangle and the shape disagree".to_owned());
        }
        let bitpix = if self.wide { -64 } else { -32 };
        for (head, bitpix) in [(&self.head, bitpix), (&self.count_head, 16)] {
            if !head.is_ascii() || head.is_empty() || !(head.len() as u64).is_multiple_of(BLOCK) {
                return Err("a header that is not whole blocks of ASCII".to_owned());
            }
            let header = Header::parse(head.as_bytes());
            let shape = [("BITPIX", bitpix), ("NAXIS", 2)].into_iter();
            let sides = [
                ("NAXIS1", i64::from(self.width)),
                ("NAXIS2", i64::from(self.height)),
            ];
            if let Some((key, _)) = shape
                .chain(sides)
                .find(|(key, is)| header.int(key) != Some(*is))
            {
                return Err(format!("{key} of a header is not that of the result"));
            }
        }
        Ok(())
    }

    /// SHA-256 of the text, which each part has.
    ///
    /// # Errors
    /// Those of [`Description::to_text`].
    pub fn digest(&self) -> Result<[u8; 32]> {
        Ok(Sha256::digest(self.to_text()?).into())
    }

    /// How the result is divided.
    ///
    /// # Errors
    /// [`Error::Parameter`] for shards that cannot be.
    pub fn division(&self) -> Result<Shards> {
        Shards::new(self.height, self.shards)
    }

    /// Where every pixel of the FITS file lies.
    #[must_use]
    pub fn layout(&self) -> Layout {
        Layout::of_headers(
            (self.width, self.height),
            self.wide,
            self.head.clone().into_bytes(),
            self.count_head.clone().into_bytes(),
        )
    }

    /// Whose every part is, shard by shard from the first row on.
    ///
    /// # Errors
    /// [`Error::Parameter`] for shards that cannot be; those of [`Description::digest`].
    pub fn parts(&self) -> Result<Vec<Identity>> {
        let (job, division) = (self.digest()?, self.division()?);
        let part = |shard: u32| {
            Some(Identity {
                job,
                shard,
                of: self.shards,
                rows: division.rows(shard)?,
                width: self.width,
                wide: self.wide,
            })
        };
        Ok((0..self.shards).filter_map(part).collect())
    }

    /// Which fields of another description differ from this one's, in words; `None` if none does.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Option<String> {
        let mut fields = Vec::new();
        let mut differ = |name: &str, differs: bool| {
            if differs {
                fields.push(name.to_owned());
            }
        };
        differ("version", self.sectile != other.sectile);
        differ("number of shards", self.shards != other.shards);
        differ("rectangle", self.rect != other.rect);
        differ("step", self.step != other.step);
        differ(
            "number of exposures",
            self.inputs.len() != other.inputs.len(),
        );
        let mut pairs = (1..).zip(self.inputs.iter().zip(&other.inputs));
        let input = pairs.find(|(_, (ours, theirs))| ours != theirs);
        if let Some((number, (ours, theirs))) = input {
            let what = if ours.name == theirs.name {
                format!("version of {}", ours.name)
            } else {
                format!("exposure number {number}")
            };
            differ(&what, true);
        }
        if self != other && fields.is_empty() {
            // Whatever else it may be stands in them.
            fields.push("headers".to_owned());
        }
        (!fields.is_empty()).then(|| fields.join(", "))
    }
}
