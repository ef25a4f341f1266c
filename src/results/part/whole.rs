//! A finished shard as one file, whose bytes depend on the shard only.
//!
//! | at | type | what |
//! |---|---|---|
//! | 0 | 96 bytes | as [all parts](super) begin, with `W` |
//! | 96 | u32 | number of the shard, from 1 |
//! | 100 | u32 | of how many |
//! | 104 | u32 | isotope peaks whose images are kept: 0, 1 or 4 |
//! | 108 | u32 | targets |
//! | 112 | u32 | decoys |
//! | 116 | u32 | images |
//! | 120 | u64 | file length |
//! | 128 | u32 | CRC-32 of the records: all from byte 136 to the first image |
//! | 132 | u32 | CRC-32 of the bytes 96 to 131 |
//! | 136 | 216 each | the targets ([`Scored`]), by formula and modifier |
//! | | 12 each | the decoys ([`Decoy`]), by their place in the order of ions |
//! | | 24 each | the images in the order of the targets, by isotope peak: u32 ion, u32 peak, u32 bytes, u32 CRC-32, f32 value of code 0, f32 value of code 65,535 |
//! | | | the images: PNG, without gaps |
//!
//! Formulas and modifiers are compared as bytes of UTF-8, as in the [images file](crate::results::images::format), so
//! that all parts are read from their first to their last byte when they are merged.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::images::Record;
use super::{HEADER, Identity, Kind};
use crate::crc::checksum;
use crate::error::{Error, Result};
use crate::ion::annotate::{Decoy, Scored};
use crate::little::{array, u32_at, u64_at};
use crate::results::images::format::PEAKS;

/// Bytes before the first record.
pub const FIXED: usize = HEADER + 40;
/// Bytes of an image's record.
pub const RECORD: usize = 24;
/// Where the checksum of the second header is.
const SUM: usize = FIXED - 4;

/// Which isotope images of what is found are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Depicted {
    /// None.
    None,
    /// That of the first isotope peak.
    First,
    /// Those of all four.
    #[default]
    All,
}

impl Depicted {
    /// How many peaks of an ion have images.
    #[must_use]
    pub const fn peaks(self) -> usize {
        match self {
            Self::None => 0,
            Self::First => 1,
            Self::All => PEAKS,
        }
    }

    /// Its name: `none`, `first`, `all`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::First => "first",
            Self::All => "all",
        }
    }
}

/// What a part has to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Whole {
    /// The shard's ions and what they are looked for in.
    pub identity: Identity,
    /// Number of the shard, from 1.
    pub number: u32,
    /// Of how many.
    pub of: u32,
    /// Which images it has.
    pub depicted: Depicted,
}

/// What the first bytes of a part say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Targets.
    pub targets: u32,
    /// Decoys.
    pub decoys: u32,
    /// Images.
    pub images: u32,
    /// Bytes of the whole part.
    pub file_bytes: u64,
    /// CRC-32 of the records.
    sum: u32,
}

/// The records of a part.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Contents {
    /// Targets that score, by formula and modifier.
    pub targets: Vec<Scored>,
    /// Decoys that score.
    pub decoys: Vec<Decoy>,
    /// Images, in the order of the targets.
    pub pictures: Vec<Record>,
}

impl Whole {
    /// The first [`FIXED`] bytes of a part with these records.
    pub(super) fn header(&self, sizes: &Sizes) -> [u8; FIXED] {
        let mut bytes = [0; FIXED];
        bytes[..HEADER].copy_from_slice(&self.identity.header(Kind::Whole));
        // Four at most.
        let peaks = u32::try_from(self.depicted.peaks()).unwrap_or(u32::MAX);
        let numbers = [
            self.number,
            self.of,
            peaks,
            sizes.targets,
            sizes.decoys,
            sizes.images,
        ];
        let places = bytes[HEADER..].as_chunks_mut::<4>().0;
        for (place, number) in places.iter_mut().zip(numbers) {
            *place = number.to_le_bytes();
        }
        bytes[120..128].copy_from_slice(&sizes.file_bytes.to_le_bytes());
        bytes[128..SUM].copy_from_slice(&sizes.sum.to_le_bytes());
        let sum = checksum(&bytes[HEADER..SUM]);
        bytes[SUM..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// Reads the first bytes of a part under the name that errors show, and compares them with what it has to be.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for a part of another shard, job, list or store; [`Error::Format`] naming the byte for what is
    /// none or is damaged.
    pub fn sizes(&self, file: &str, bytes: &[u8]) -> Result<Sizes> {
        let Some(bytes) = bytes.first_chunk::<FIXED>() else {
            return Err(damaged(
                file,
                bytes.len() as u64,
                "it ends within its first bytes",
            ));
        };
        self.identity.compare(Kind::Whole, file, &array(bytes, 0))?;
        if checksum(&bytes[HEADER..SUM]) != u32_at(bytes, SUM) {
            return Err(damaged(
                file,
                HEADER as u64,
                "the CRC-32 of its sizes does not fit them",
            ));
        }
        let [number, of, peaks] = [96, 100, 104].map(|at| u32_at(bytes, at));
        if (number, of) != (self.number, self.of) {
            return Err(other(
                file,
                &format!(
                    "is shard {number} of {of}, not {} of {}",
                    self.number, self.of
                ),
            ));
        }
        if peaks as usize != self.depicted.peaks() {
            return Err(other(
                file,
                &format!(
                    "has images of {peaks} isotope peaks, not {}",
                    self.depicted.peaks()
                ),
            ));
        }
        let [targets, decoys, images] = [108, 112, 116].map(|at| u32_at(bytes, at));
        let sizes = Sizes {
            targets,
            decoys,
            images,
            file_bytes: u64_at(bytes, 120),
            sum: u32_at(bytes, 128),
        };
        let ions = u64::from(self.identity.shard.end - self.identity.shard.start);
        let most = u64::from(targets) * self.depicted.peaks() as u64;
        if u64::from(targets) + u64::from(decoys) > ions || u64::from(images) > most {
            return Err(damaged(file, 108, "it states more than the shard has ions"));
        }
        if sizes.file_bytes < sizes.head_bytes() {
            return Err(damaged(
                file,
                120,
                "it states to be shorter than its records",
            ));
        }
        Ok(sizes)
    }

    /// Reads all records: `head` is the part up to its first image, which [`Sizes::head_bytes`] tells.
    ///
    /// # Errors
    /// As [`sizes`](Self::sizes), and [`Error::Budget`] if the allocator has not enough left.
    pub fn contents(&self, file: &str, head: &[u8]) -> Result<Contents> {
        let sizes = self.sizes(file, head)?;
        let length = usize::try_from(sizes.head_bytes()).unwrap_or(usize::MAX);
        let Some(records) = head.get(FIXED..length) else {
            return Err(damaged(
                file,
                head.len() as u64,
                "it ends within its records",
            ));
        };
        if checksum(records) != sizes.sum {
            return Err(damaged(
                file,
                FIXED as u64,
                "the CRC-32 of its records does not fit them",
            ));
        }
        let (targets, rest) = records.split_at(sizes.targets as usize * Scored::BYTES);
        let (decoys, images) = rest.split_at(sizes.decoys as usize * Decoy::BYTES);
        let mut contents = Contents {
            targets: room(sizes.targets)?,
            decoys: room(sizes.decoys)?,
            pictures: room(sizes.images)?,
        };
        for (n, bytes) in targets.as_chunks().0.iter().enumerate() {
            let at = FIXED + n * Scored::BYTES;
            let target = Scored::from_bytes(bytes);
            let target = target.filter(|target| self.identity.shard.contains(&target.ion));
            contents
                .targets
                .push(target.ok_or_else(|| damaged(file, at as u64, "no score of this shard"))?);
        }
        for (n, bytes) in decoys.as_chunks().0.iter().enumerate() {
            let at = FIXED + targets.len() + n * Decoy::BYTES;
            let decoy = Decoy::from_bytes(bytes);
            let last = contents.decoys.last().map(|last: &Decoy| last.ion);
            if !self.identity.shard.contains(&decoy.ion)
                || last.is_some_and(|last| last >= decoy.ion)
            {
                return Err(damaged(
                    file,
                    at as u64,
                    "no decoy of this shard, or not in order",
                ));
            }
            contents.decoys.push(decoy);
        }
        self.pictures(file, &sizes, images, &mut contents)?;
        Ok(contents)
    }

    /// Reads the records of images: those of one target after those of the one before.
    fn pictures(
        &self,
        file: &str,
        sizes: &Sizes,
        images: &[u8],
        contents: &mut Contents,
    ) -> Result<()> {
        let mut at = sizes.head_bytes();
        let begin = at - images.len() as u64;
        let mut targets = contents.targets.iter();
        let mut before: Option<(u32, u32)> = None;
        for (n, bytes) in images.as_chunks::<RECORD>().0.iter().enumerate() {
            let place = begin + (n * RECORD) as u64;
            let [ion, peak, length, crc] = [0, 4, 8, 12].map(|at| u32_at(bytes, at));
            let [min, max] = [16, 20].map(|at| f32::from_bits(u32_at(bytes, at)));
            let follows = match before {
                Some((last, of)) if last == ion => of < peak,
                _ => targets.any(|target| target.ion == ion),
            };
            let sane = (peak as usize) < self.depicted.peaks()
                && length > 0
                && min.is_finite()
                && max.is_finite()
                && min <= max;
            if !follows || !sane {
                return Err(damaged(file, place, "no image of the target that is next"));
            }
            before = Some((ion, peak));
            contents.pictures.push(Record {
                ion,
                peak,
                bytes: length,
                crc,
                min,
                max,
                at,
            });
            at += u64::from(length);
        }
        if at != sizes.file_bytes {
            return Err(damaged(
                file,
                120,
                &format!(
                    "its images end at byte {at}, and it states {}",
                    sizes.file_bytes
                ),
            ));
        }
        Ok(())
    }
}

impl Sizes {
    pub(super) fn new(contents: &Contents, records: &[u8]) -> Result<Self> {
        let counts = [
            contents.targets.len(),
            contents.decoys.len(),
            contents.pictures.len(),
        ];
        let [Ok(targets), Ok(decoys), Ok(images)] = counts.map(u32::try_from) else {
            return Err(Error::Parameter {
                name: "shard",
                what: "more than 4,294,967,295 records".to_owned(),
            });
        };
        let pictures = contents.pictures.iter();
        let bytes: u64 = pictures.map(|picture| u64::from(picture.bytes)).sum();
        Ok(Self {
            targets,
            decoys,
            images,
            file_bytes: (FIXED + records.len()) as u64 + bytes,
            sum: checksum(records),
        })
    }

    /// Bytes up to the first image.
    #[must_use]
    pub fn head_bytes(&self) -> u64 {
        FIXED as u64
            + u64::from(self.targets) * Scored::BYTES as u64
            + u64::from(self.decoys) * Decoy::BYTES as u64
            + u64::from(self.images) * RECORD as u64
    }

    /// Where the images lie.
    #[must_use]
    pub fn images_range(&self) -> Range<u64> {
        self.head_bytes()..self.file_bytes
    }
}

fn room<T>(count: u32) -> Result<Vec<T>> {
    let mut list = Vec::new();
    list.try_reserve_exact(count as usize)
        .map_err(|_| Error::Budget {
            need: u64::from(count) * size_of::<T>() as u64,
            have: 0,
            what: "the records of a part".to_owned(),
        })?;
    Ok(list)
}

fn damaged(file: &str, at: u64, what: &str) -> Error {
    Error::Format {
        file: file.to_owned(),
        at,
        what: format!("{what}; this part is damaged, remove it and compute its shard again"),
    }
}

fn other(file: &str, what: &str) -> Error {
    Error::Mismatch {
        file: file.to_owned(),
        what: format!("this part {what}; it belongs to another job"),
    }
}
