//! A shard's pictures: one record each, in the order in which they were drawn.
//!
//! | at | type | what |
//! |---|---|---|
//! | 0 | u32 | the ion: its place in the order |
//! | 4 | u32 | isotope peak, 0 to 3 |
//! | 8 | u32 | bytes of the PNG |
//! | 12 | u32 | CRC-32 of the PNG |
//! | 16 | f32 | value of code 0 |
//! | 20 | f32 | value of code 65,535 |
//! | 24 | u32 | CRC-32 of these 24 bytes |
//! | 28 | | the PNG |

use std::ops::Range;

use super::{Front, HEADER, Identity, Kind, whole};
use crate::crc::{Running, checksum};
use crate::error::{Error, Result};
use crate::little::u32_at;
use crate::results::images::format::PEAKS;
use crate::results::images::picture::Picture;

/// Bytes of a record before its PNG.
pub const RECORD: usize = 28;
/// Where the checksum of a record is.
const SUM: usize = RECORD - 4;

/// What the file begins with.
#[must_use]
pub fn begin(identity: &Identity) -> [u8; HEADER] {
    identity.header(Kind::Images)
}

/// Appends one picture.
///
/// # Errors
/// [`Error::Parameter`] for a peak beyond the fourth and a picture of 4 GiB.
pub fn put(ion: u32, peak: usize, picture: &Picture, out: &mut Vec<u8>) -> Result<()> {
    let bytes = u32::try_from(picture.png.len()).ok();
    let peak = Some(peak)
        .filter(|peak| *peak < PEAKS)
        .and_then(|peak| u32::try_from(peak).ok());
    let (Some(bytes), Some(peak)) = (bytes, peak) else {
        return Err(Error::Parameter {
            name: "image",
            what: format!(
                "{} bytes of ion {ion}; an image has less than 4 GiB, an ion four",
                picture.png.len()
            ),
        });
    };
    let from = out.len();
    for number in [ion, peak, bytes, checksum(&picture.png)] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    for value in [picture.min, picture.max] {
        out.extend_from_slice(&value.to_le_bytes());
    }
    let sum = checksum(&out[from..]);
    out.extend_from_slice(&sum.to_le_bytes());
    out.extend_from_slice(&picture.png);
    Ok(())
}

/// Where one picture is in a part.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Record {
    /// The ion: its place in the order.
    pub ion: u32,
    /// Isotope peak, 0 to 3.
    pub peak: u32,
    /// Bytes of the PNG.
    pub bytes: u32,
    /// CRC-32 of them.
    pub crc: u32,
    /// Value of code 0.
    pub min: f32,
    /// Value of code 65,535.
    pub max: f32,
    /// Offset of the PNG in the part.
    pub at: u64,
}

impl Record {
    /// The bytes of the PNG in the part.
    #[must_use]
    pub fn range(&self) -> Range<u64> {
        self.at..self.at + u64::from(self.bytes)
    }

    fn parse(bytes: &[u8; RECORD], at: u64) -> Option<Self> {
        let [ion, peak, length, crc] = [0, 4, 8, 12].map(|at| u32_at(bytes, at));
        let [min, max] = [16, 20].map(|at| f32::from_bits(u32_at(bytes, at)));
        let sound = checksum(&bytes[..SUM]) == u32_at(bytes, SUM);
        let sane = (peak as usize) < PEAKS
            && length > 0
            && min.is_finite()
            && max.is_finite()
            && min <= max;
        (sound && sane).then_some(Self {
            ion,
            peak,
            bytes: length,
            crc,
            min,
            max,
            at,
        })
    }
}

/// The pictures of a part.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pictures {
    /// In the order of the file; an ion may come again after a resume.
    pub records: Vec<Record>,
    /// How far the file is sound: what is behind is the unfinished end of a killed run, or damaged.
    pub sound: u64,
}

impl Pictures {
    /// Bytes of memory that the records hold.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        (self.records.capacity() * size_of::<Record>()) as u64
    }
}

/// Reads a part from its first byte to its last, in pieces of any size.
///
/// # Cost
/// Checksums, about 2 GB/s; 40 bytes a picture are held.
#[derive(Debug)]
pub struct Scan {
    front: Front,
    /// Most bytes that the records may take.
    memory: u64,
    /// The record's head that is being collected.
    head: Vec<u8>,
    /// The record whose PNG passes by: bytes that are missing, and the checksum so far.
    open: Option<(Record, u32, Running)>,
    /// Bytes seen.
    at: u64,
    found: Pictures,
    broken: bool,
}

impl Scan {
    /// A part under the name that errors show; it must be about `identity`. Its records may take `memory` bytes.
    #[must_use]
    pub fn new(file: &str, identity: &Identity, memory: u64) -> Self {
        Self {
            front: Front::new(file, Kind::Images, identity),
            memory,
            head: Vec::with_capacity(RECORD),
            open: None,
            at: 0,
            found: Pictures::default(),
            broken: false,
        }
    }

    /// Takes the next bytes.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for a part of another run, [`Error::Format`] for what is none, [`Error::Budget`] for more
    /// pictures than the memory holds.
    pub fn push(&mut self, bytes: &[u8]) -> Result<()> {
        let before = self.front.passed();
        let mut rest = self.front.take(bytes)?;
        self.at += (bytes.len() - rest.len()) as u64;
        if !before && self.front.passed() {
            self.found.sound = self.at;
        }
        while !rest.is_empty() && !self.broken {
            let taken = match self.open.take() {
                Some(open) => self.body(open, rest)?,
                None => self.head(rest),
            };
            self.at += taken as u64;
            rest = &rest[taken..];
        }
        Ok(())
    }

    fn head(&mut self, bytes: &[u8]) -> usize {
        let taken = bytes.len().min(RECORD - self.head.len());
        self.head.extend_from_slice(&bytes[..taken]);
        if let Some(head) = self.head.first_chunk::<RECORD>() {
            match Record::parse(head, self.at + taken as u64) {
                Some(record) => self.open = Some((record, record.bytes, Running::default())),
                None => self.broken = true,
            }
            self.head.clear();
        }
        taken
    }

    fn body(&mut self, open: (Record, u32, Running), bytes: &[u8]) -> Result<usize> {
        let (record, missing, mut sum) = open;
        let taken = bytes.len().min(missing as usize);
        sum.update(&bytes[..taken]);
        // At most `missing`, which is an u32.
        let missing = missing - u32::try_from(taken).unwrap_or(missing);
        if missing > 0 {
            self.open = Some((record, missing, sum));
        } else if sum.value() == record.crc {
            self.keep(record)?;
        } else {
            self.broken = true;
        }
        Ok(taken)
    }

    fn keep(&mut self, record: Record) -> Result<()> {
        let records = &mut self.found.records;
        let full = records.len() == records.capacity();
        let more = if full { records.len().max(64) } else { 0 };
        // While it grows, the old ones are there too.
        let need = ((2 * records.len() + more) * size_of::<Record>()) as u64;
        if full && (need > self.memory || records.try_reserve_exact(more).is_err()) {
            return Err(Error::Budget {
                need,
                have: self.memory,
                what: format!("the table of images in {}", self.front.file),
            });
        }
        records.push(record);
        self.found.sound = record.range().end;
        Ok(())
    }

    /// The pictures that are there as a whole, of which `saved` bytes of the file must be.
    ///
    /// # Errors
    /// [`Error::Format`] naming the byte from which on the file is damaged, if that is before `saved`.
    pub fn finish(self, saved: u64) -> Result<Pictures> {
        whole(&self.front.file, self.found.sound, saved)?;
        Ok(self.found)
    }
}
