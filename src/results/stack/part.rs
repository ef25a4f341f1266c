//! What a shard of a median writes: its rows of values, its rows of counts, and whose they are.
//!
//! All numbers of the header are little-endian; pixels are big-endian as in the FITS file, so that they are copied.
//!
//! | at | type | what |
//! |---|---|---|
//! | 0 | 8 bytes | `SECTPRTM` |
//! | 8 | u32 | version, 1 |
//! | 12 | u32 | pixels a row |
//! | 16 | u32 | first row of the result |
//! | 20 | u32 | the row behind the last one |
//! | 24 | u32 | which shard, from 0 on |
//! | 28 | u32 | of how many |
//! | 32 | u32 | bytes of a value, 4 or 8 |
//! | 36 | 32 bytes | SHA-256 of the [description](super::job) of the job |
//! | 68 | u32 | CRC-32 of the values |
//! | 72 | u32 | CRC-32 of the counts |
//! | 76 | 16 bytes | zeros |
//! | 92 | u32 | CRC-32 of these 92 bytes |
//! | 96 | | values, row by row from the lowest one on |
//! | | | counts likewise, 2 bytes each |
//!
//! The header is written last. Until then there are zeros from byte 68 on, which no checksum agrees with, so that an
//! unfinished part is never taken for one.

use std::ops::Range;

use super::layout::Layout;
use crate::budget::Budget;
use crate::crc::{Running, checksum};
use crate::error::{Error, Result};
use crate::fits::write::{put_f32, put_f64, put_u16};
use crate::little::u32_at;
use crate::stack::job::{Reduced, Values};

/// Bytes before the values.
pub const HEADER: usize = 96;
/// The version that is written, and the only one that is read.
pub const VERSION: u32 = 1;

const MAGIC: &[u8; 8] = b"SECTPRTM";
/// Where the checksums are.
const SUMS: usize = 68;
/// Where the checksum of the header is.
const SUM: usize = HEADER - 4;

/// Whose part it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// SHA-256 of the job's description.
    pub job: [u8; 32],
    /// Which shard, from 0 on.
    pub shard: u32,
    /// Of how many.
    pub of: u32,
    /// Its rows of the result.
    pub rows: Range<u32>,
    /// Pixels a row.
    pub width: u32,
    /// Whether values are f64.
    pub wide: bool,
}

/// Checksums of what a part holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sums {
    /// CRC-32 of the values as they are stored.
    pub values: u32,
    /// CRC-32 of the counts as they are stored.
    pub counts: u32,
}

impl Identity {
    /// The layout of the part, with the header of one that is not finished.
    #[must_use]
    pub fn layout(&self) -> Layout {
        let height = self.rows.end - self.rows.start;
        Layout::bare(self.width, height, self.wide, &self.begun())
    }

    /// Where the values lie.
    #[must_use]
    pub fn values(&self) -> Range<u64> {
        let size: u64 = if self.wide { 8 } else { 4 };
        HEADER as u64..HEADER as u64 + self.pixels().saturating_mul(size)
    }

    /// Where the counts lie.
    #[must_use]
    pub fn counts(&self) -> Range<u64> {
        let start = self.values().end;
        start..start.saturating_add(self.pixels().saturating_mul(2))
    }

    /// Bytes of the whole part.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts().end
    }

    fn pixels(&self) -> u64 {
        u64::from(self.rows.end - self.rows.start) * u64::from(self.width)
    }

    /// The header of a part that is not finished.
    fn begun(&self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        let size: u32 = if self.wide { 8 } else { 4 };
        let numbers = [
            VERSION,
            self.width,
            self.rows.start,
            self.rows.end,
            self.shard,
            self.of,
            size,
        ];
        bytes[..8].copy_from_slice(MAGIC);
        for (place, number) in bytes[8..36].as_chunks_mut::<4>().0.iter_mut().zip(numbers) {
            *place = number.to_le_bytes();
        }
        bytes[36..SUMS].copy_from_slice(&self.job);
        bytes
    }

    /// The header of a finished part.
    #[must_use]
    pub fn header(&self, sums: Sums) -> [u8; HEADER] {
        let mut bytes = self.begun();
        bytes[SUMS..SUMS + 4].copy_from_slice(&sums.values.to_le_bytes());
        bytes[SUMS + 4..SUMS + 8].copy_from_slice(&sums.counts.to_le_bytes());
        let sum = checksum(&bytes[..SUM]);
        bytes[SUM..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// Reads the header of the part that must be this one: the first [`HEADER`] bytes of a file of `size` bytes.
    ///
    /// # Errors
    /// [`Error::Format`] for what is no finished part, is damaged or cut short; [`Error::Mismatch`] for the part of
    /// another job or shard.
    pub fn open(&self, file: &str, header: &[u8], size: u64) -> Result<Sums> {
        let damaged = |at: usize, what: &str| Error::Format {
            file: file.to_owned(),
            at: at as u64,
            what: format!("{what}; remove it and run shard {} again", self.name()),
        };
        let Some(header) = header.first_chunk::<HEADER>() else {
            return Err(damaged(header.len(), "ends before its header does"));
        };
        if header[..8] != *MAGIC {
            return Err(damaged(0, "no part of a median"));
        }
        if header[SUMS..] == [0; HEADER - SUMS] {
            return Err(damaged(SUMS, "a part that was never finished"));
        }
        if checksum(&header[..SUM]) != u32_at(header, SUM) {
            return Err(damaged(SUM, "the header of this part is damaged"));
        }
        let sums = Sums {
            values: u32_at(header, SUMS),
            counts: u32_at(header, SUMS + 4),
        };
        let expected = self.header(sums);
        if let Some(at) = (0..HEADER).find(|at| header[*at] != expected[*at]) {
            let what = match at {
                8..12 => "was written by another version of this program",
                12..36 => "is of another shard",
                36..SUMS => "is of another job: other inputs, options or number of shards",
                _ => return Err(damaged(at, "the header of this part is damaged")),
            };
            return Err(Error::Mismatch {
                file: file.to_owned(),
                what: format!(
                    "this part {what}; remove it and run shard {} again",
                    self.name()
                ),
            });
        }
        if size != self.total() {
            let what = format!("{size} bytes where there should be {}", self.total());
            let at = usize::try_from(size.min(self.total())).unwrap_or(usize::MAX);
            return Err(damaged(at, &what));
        }
        Ok(sums)
    }

    /// As people count: `3/12`.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}/{}", u64::from(self.shard) + 1, self.of)
    }
}

/// The checksum of bytes that come in pieces, in order.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sum(Running);

impl Sum {
    /// Takes the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// CRC-32 of the bytes so far.
    #[must_use]
    pub fn value(self) -> u32 {
        self.0.value()
    }

    /// Compares with what it must be, of the bytes from `at` on.
    ///
    /// # Errors
    /// [`Error::Format`] naming file and byte.
    pub fn check(self, wanted: u32, file: &str, at: u64) -> Result<()> {
        if self.value() == wanted {
            return Ok(());
        }
        Err(Error::Format {
            file: file.to_owned(),
            at,
            what: "the pixels from here on are damaged: their checksum is another one; remove this part and run its \
                   shard again"
                .to_owned(),
        })
    }
}

/// A part that is made in memory, of the sections of a shard's job.
#[derive(Debug)]
pub struct Writer {
    identity: Identity,
    /// Row and column of the image of the first pixel, and the step of a preview.
    origin: (u32, u32, u32),
    layout: Layout,
    bytes: Vec<u8>,
    /// Pixels that have come.
    come: u64,
}

impl Writer {
    /// A part that takes the sections of a job whose plan has this first column, first row and step.
    ///
    /// # Errors
    /// [`Error::Budget`] if there is no room for the part's bytes.
    pub fn new(identity: Identity, origin: (u32, u32, u32), budget: &mut Budget) -> Result<Self> {
        let (need, have) = (identity.total(), budget.limit() - budget.held());
        let len = usize::try_from(need).map_err(|_| Error::Budget {
            need,
            have,
            what: "a part of a median".to_owned(),
        })?;
        Ok(Self {
            bytes: budget.allocate(len, "a part of a median")?,
            layout: identity.layout(),
            identity,
            origin,
            come: 0,
        })
    }

    /// Puts a section to its place. Sections may come in any order, each once.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a section that is not of this shard, and for a count above 32,767.
    pub fn put(&mut self, section: &Reduced<'_>) -> Result<()> {
        let (x0, y0, step) = self.origin;
        let fault = || Error::Parameter {
            name: "section",
            what: format!(
                "{} rows from row {} on are not of shard {}",
                section.rows,
                section.y0,
                self.identity.name()
            ),
        };
        let place = |at: u32, from: u32| at.checked_sub(from).map(|at| at / step.max(1));
        let x = place(section.x0, x0).ok_or_else(fault)?;
        let y = place(section.y0, y0).ok_or_else(fault)?;
        let fits =
            |at: u32, len: u32, most: u32| at.checked_add(len).is_some_and(|end| end <= most);
        let wide = matches!(section.values, Values::F64(_));
        if !fits(x, section.width, self.layout.width)
            || !fits(y, section.rows, self.layout.height)
            || wide != self.layout.wide
        {
            return Err(fault());
        }
        let mut row = Vec::new();
        let width = section.width as usize;
        for (i, y) in (0..section.rows as usize).zip(y..) {
            let of = i * width..(i + 1) * width;
            row.clear();
            match section.values {
                Values::F32(values) => put_f32(&values[of.clone()], &mut row),
                Values::F64(values) => put_f64(&values[of.clone()], &mut row),
            }
            self.write(self.layout.value_at(x, y), &row);
            row.clear();
            put_u16(&section.count[of], &mut row)?;
            self.write(self.layout.count_at(x, y), &row);
        }
        self.come += u64::from(section.rows) * u64::from(section.width);
        Ok(())
    }

    fn write(&mut self, at: u64, row: &[u8]) {
        // Within the part, all of which is in memory.
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        if let Some(place) = self.bytes.get_mut(at..at.saturating_add(row.len())) {
            place.copy_from_slice(row);
        }
    }

    /// The bytes of the part.
    ///
    /// # Errors
    /// [`Error::Parameter`] if pixels are missing.
    pub fn finish(mut self) -> Result<Vec<u8>> {
        if self.come != self.identity.pixels() {
            return Err(Error::Parameter {
                name: "section",
                what: format!(
                    "{} pixels of shard {} have come, and it has {}",
                    self.come,
                    self.identity.name(),
                    self.identity.pixels()
                ),
            });
        }
        let split = usize::try_from(self.identity.values().end).unwrap_or(usize::MAX);
        let (values, counts) = self.bytes.split_at(split.min(self.bytes.len()));
        let sums = Sums {
            values: checksum(values.get(HEADER..).unwrap_or_default()),
            counts: checksum(counts),
        };
        self.bytes[..HEADER].copy_from_slice(&self.identity.header(sums));
        Ok(self.bytes)
    }
}
