//! The head of a store: what its first bytes say, each number checked before it is believed.

use std::ops::Range;

use sha2::{Digest as _, Sha256};

use super::foreign::looks;
use super::format::{CODEC, DIGEST, ENTRY, GROUP, GROUP_LOG2, HEADER, MAGIC, TAIL, VERSION};
use super::layout::group_entry;
use crate::error::{Error, Result};
use crate::little::{f64_at, u32_at, u64_at};

pub use super::layout::{Bins, Contents, Layout};
pub use super::mask::Mask;
pub use super::meta::{Counts, Meta};
pub use super::real::Real;

/// The first 160 bytes of a store, checked against themselves.
#[derive(Debug, Clone, PartialEq)]
pub struct Header {
    /// Where everything lies.
    pub layout: Layout,
    /// Bytes of the whole file.
    pub file_bytes: u64,
    /// SHA-256 of the head with this field zero.
    pub digest: [u8; 32],
}

/// One block in the directory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entry {
    /// m/z of its first peak.
    pub first: f64,
    /// m/z of its last peak.
    pub last: f64,
    /// Offset in the file.
    pub at: u64,
    /// Bytes.
    pub bytes: u32,
    /// CRC-32 of them.
    pub crc: u32,
}

/// All that is known about a store before a block is read.
#[derive(Debug, Clone, PartialEq)]
pub struct Head {
    /// The file's path or URL, as the user gave it.
    pub file: String,
    /// Where everything lies, and what the store holds.
    pub layout: Layout,
    /// Bytes of the whole file.
    pub file_bytes: u64,
    /// SHA-256 of the head with this field zero. The head holds a checksum of every block, so that two stores
    /// of one digest hold the same peaks.
    pub digest: [u8; 32],
    /// The directory, ascending in m/z.
    pub blocks: Vec<Entry>,
    /// Which pixels were acquired.
    pub mask: Mask,
    /// Where the data come from.
    pub meta: Meta,
}

impl Header {
    /// Reads the header.
    ///
    /// # Errors
    /// [`Error::Format`] naming `file` and the byte if it is no store, is cut short or its numbers
    /// contradict each other; [`Error::Unsupported`] if it was written by a later version.
    pub fn parse(file: &str, bytes: &[u8]) -> Result<Self> {
        let format = |at: usize, what: String| Error::Format {
            file: file.to_owned(),
            at: at as u64,
            what,
        };
        let Some(bytes) = bytes.first_chunk::<HEADER>() else {
            let what = if bytes.starts_with(&MAGIC) {
                format!(
                    "the file ends here, within the {HEADER} bytes of the header; fetch it again"
                )
            } else {
                let what = format!("no segment store: {}", looks(bytes));
                return Err(format(0, what));
            };
            return Err(format(bytes.len(), what));
        };
        if bytes[..8] != MAGIC {
            return Err(format(0, format!("no segment store: {}", looks(bytes))));
        }
        let version = u32_at(bytes, 8);
        if version != VERSION {
            return Err(Error::Unsupported {
                file: file.to_owned(),
                what: format!(
                    "a segment store of version {version}, and version {VERSION} is read here; use a \
                     newer sectile, or pack the dataset again"
                ),
            });
        }
        let real = |at: usize| {
            Real::of_bytes(bytes[at]).ok_or_else(|| {
                format(
                    at,
                    format!("values of {} bytes; only 4 and 8 are defined", bytes[at]),
                )
            })
        };
        let contents = Contents {
            mz: real(12)?,
            intensity: real(13)?,
            width: u32_at(bytes, 20),
            height: u32_at(bytes, 24),
            slices: u32_at(bytes, 28),
            peaks: u64_at(bytes, 32),
            spectra: u64_at(bytes, 40),
            first_mz: f64_at(bytes, 48),
            last_mz: f64_at(bytes, 56),
            meta_bytes: u32_at(bytes, 80),
        };
        let layout = Layout::new(file, contents).map_err(|error| match error {
            Error::Parameter { what, .. } | Error::Unsupported { what, .. } => format(20, what),
            other => other,
        })?;
        let header = Self {
            layout,
            file_bytes: u64_at(bytes, 64),
            digest: bytes[DIGEST].try_into().unwrap_or_default(),
        };
        header.compare(file, bytes)?;
        Ok(header)
    }

    /// Compares what was read with the header of the same contents.
    fn compare(&self, file: &str, bytes: &[u8; HEADER]) -> Result<()> {
        let expected = self.to_bytes();
        let differs = (0..HEADER).find(|at| expected[*at] != bytes[*at]);
        let what = match differs {
            Some(at) => format!(
                "the header has {} here, where its other fields demand {}; the file is damaged",
                bytes[at], expected[at]
            ),
            None if self.file_bytes < self.layout.blocks_at => format!(
                "the header states {} bytes, fewer than its tables need; the file is damaged",
                self.file_bytes
            ),
            None => return Ok(()),
        };
        Err(Error::Format {
            file: file.to_owned(),
            at: differs.unwrap_or(64) as u64,
            what,
        })
    }

    /// The header's bytes.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; HEADER] {
        let Layout { contents, bins, .. } = &self.layout;
        let mut bytes = [0; HEADER];
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        put(0, &MAGIC);
        put(8, &VERSION.to_le_bytes());
        put(
            12,
            &[
                contents.mz.bytes(),
                contents.intensity.bytes(),
                GROUP_LOG2,
                CODEC,
            ],
        );
        put(16, &self.layout.block_peaks.to_le_bytes());
        put(20, &contents.width.to_le_bytes());
        put(24, &contents.height.to_le_bytes());
        put(28, &contents.slices.to_le_bytes());
        put(32, &contents.peaks.to_le_bytes());
        put(40, &contents.spectra.to_le_bytes());
        put(48, &contents.first_mz.to_le_bytes());
        put(56, &contents.last_mz.to_le_bytes());
        put(64, &self.file_bytes.to_le_bytes());
        put(72, &self.layout.blocks.to_le_bytes());
        put(76, &self.layout.head_bytes.to_le_bytes());
        put(80, &contents.meta_bytes.to_le_bytes());
        put(84, &self.layout.mask_at.to_le_bytes());
        put(88, &self.layout.directory_at.to_le_bytes());
        put(92, &bins.count.to_le_bytes());
        put(96, &self.layout.pixel_table_at.to_le_bytes());
        put(104, &bins.at.to_le_bytes());
        put(112, &bins.origin.to_le_bytes());
        put(120, &bins.ppm.to_le_bytes());
        put(DIGEST.start, &self.digest);
        bytes
    }
}

impl Head {
    /// Reads a whole head; bytes behind it are ignored.
    ///
    /// # Errors
    /// [`Error::Format`] naming `file` and the byte: a head cut short, a checksum that does not
    /// fit, a directory that contradicts itself or the header; those of [`Header::parse`];
    /// [`Error::Budget`] if the memory for it cannot be had.
    pub fn parse(file: &str, bytes: &[u8]) -> Result<Self> {
        let header = Header::parse(file, bytes)?;
        let layout = header.layout;
        let format = |at: u64, what: &str| Error::Format {
            file: file.to_owned(),
            at,
            what: what.to_owned(),
        };
        let head = bytes.get(..layout.head_bytes as usize).ok_or_else(|| {
            format(
                bytes.len() as u64,
                "the file ends within its head; fetch it again",
            )
        })?;
        if digest(head, DIGEST) != header.digest {
            let what =
                "the head's SHA-256 does not fit its bytes; the file is damaged, fetch it again";
            return Err(format(DIGEST.start as u64, what));
        }
        let (text, rest) = head[HEADER..].split_at(layout.contents.meta_bytes as usize);
        let (mask, directory) = rest.split_at((layout.directory_at - layout.mask_at) as usize);
        let text = std::str::from_utf8(text)
            .map_err(|_| format(HEADER as u64, "the head's text is not UTF-8"))?;
        let mask = Mask::parse(file, u64::from(layout.mask_at), layout.pixels, mask)?;
        let mut head = Self {
            file: file.to_owned(),
            layout,
            file_bytes: header.file_bytes,
            digest: header.digest,
            blocks: Vec::new(),
            mask,
            meta: Meta::parse(text),
        };
        head.take_directory(directory)?;
        Ok(head)
    }

    fn take_directory(&mut self, bytes: &[u8]) -> Result<()> {
        let len = self.layout.blocks as usize;
        self.blocks
            .try_reserve_exact(len)
            .map_err(|_| Error::Budget {
                need: (len * ENTRY) as u64,
                have: 0,
                what: "the directory of blocks".to_owned(),
            })?;
        let Contents {
            first_mz, last_mz, ..
        } = self.layout.contents;
        let mut mz = first_mz;
        let mut at = self.layout.blocks_at;
        for (n, bytes) in bytes.as_chunks::<ENTRY>().0.iter().enumerate() {
            let entry = Entry::parse(bytes);
            let first_fits = if n == 0 {
                entry.first.to_bits() == mz.to_bits()
            } else {
                mz <= entry.first
            };
            let range_fits = first_fits && entry.first <= entry.last && entry.last <= last_mz;
            let held = [entry.first, entry.last]
                .iter()
                .all(|mz| self.layout.contents.mz.holds(*mz));
            if !range_fits || !held || entry.at != at || !self.fits(n, entry.bytes) {
                return Err(self.wrong_entry(n, &entry));
            }
            mz = entry.last;
            at += u64::from(entry.bytes);
            self.blocks.push(entry);
        }
        if mz.to_bits() != last_mz.to_bits() || at != self.file_bytes {
            return Err(Error::Format {
                file: self.file.clone(),
                at: 64,
                what: format!(
                    "the directory ends at m/z {mz} and byte {at}, where the header states {last_mz} \
                     and {}; the file is damaged",
                    self.file_bytes
                ),
            });
        }
        Ok(())
    }

    /// Whether block `n` may have so many bytes.
    fn fits(&self, n: usize, bytes: u32) -> bool {
        let Contents { mz, intensity, .. } = self.layout.contents;
        let groups = self.layout.peaks_of(n).div_ceil(GROUP);
        let least = groups * group_entry(mz, intensity) + TAIL;
        (least..=self.layout.most_bytes_of(n)).contains(&(bytes as usize))
    }

    fn wrong_entry(&self, n: usize, entry: &Entry) -> Error {
        Error::Format {
            file: self.file.clone(),
            at: u64::from(self.layout.directory_at) + (n * ENTRY) as u64,
            what: format!(
                "block {n} of the directory (m/z {} to {}, {} bytes at {}) contradicts the header or \
                 the block before; the file is damaged",
                entry.first, entry.last, entry.bytes, entry.at
            ),
        }
    }

    /// Pixels of all slices.
    #[must_use]
    pub fn pixels(&self) -> u32 {
        self.layout.pixels
    }

    /// Peaks of block `n`.
    #[must_use]
    pub fn peaks_of(&self, n: usize) -> usize {
        self.layout.peaks_of(n)
    }

    /// The bytes of block `n` in the file; empty if there is no such block.
    #[must_use]
    pub fn block_range(&self, n: usize) -> Range<u64> {
        self.blocks
            .get(n)
            .map_or(0..0, |entry| entry.at..entry.at + u64::from(entry.bytes))
    }

    /// The blocks that may hold peaks with m/z in the closed window, and no other.
    ///
    /// A repeated m/z at the border of two blocks counts both.
    ///
    /// # Cost
    /// Two binary searches.
    #[must_use]
    pub fn blocks_of(&self, lo: f64, hi: f64) -> Range<usize> {
        let start = self.blocks.partition_point(|entry| entry.last < lo);
        let end = self.blocks.partition_point(|entry| entry.first <= hi);
        start..end.max(start)
    }

    /// Bytes of memory that this head holds.
    #[must_use]
    pub fn held_bytes(&self) -> u64 {
        let entries = self.blocks.len() * size_of::<Entry>();
        entries as u64 + self.mask.bytes().len() as u64 + u64::from(self.layout.contents.meta_bytes)
    }
}

impl Entry {
    pub(super) fn parse(bytes: &[u8; ENTRY]) -> Self {
        Self {
            first: f64_at(bytes, 0),
            last: f64_at(bytes, 8),
            at: u64_at(bytes, 16),
            bytes: u32_at(bytes, 24),
            crc: u32_at(bytes, 28),
        }
    }

    pub(super) fn to_bytes(self) -> [u8; ENTRY] {
        let mut bytes = [0; ENTRY];
        bytes[..8].copy_from_slice(&self.first.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.last.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.at.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.bytes.to_le_bytes());
        bytes[28..].copy_from_slice(&self.crc.to_le_bytes());
        bytes
    }
}

/// SHA-256 of a head with its digest, which is at `field`, taken for zero.
pub(crate) fn digest(head: &[u8], field: Range<usize>) -> [u8; 32] {
    let mut sha = Sha256::new();
    let (before, rest) = head.split_at(field.start.min(head.len()));
    sha.update(before);
    sha.update([0; 32]);
    sha.update(rest.get(field.len()..).unwrap_or_default());
    sha.finalize().into()
}
