//! What a shard has written so far, and what it comes to.
//!
//! While a shard is under way it has two files that only grow, and are of use when they were cut anywhere. [`scores`] is the one that says how far the shard has come: each save appends one block, with the
//! length that the file of images had when the save was written. [`images`] has one record for each picture. A run that
//! was killed leaves at most an unfinished end behind, which is cut off by whoever goes on.
//!
//! What is finished is one file, [`whole`]: its bytes depend on nothing but the shard, so that it may be written by
//! anybody, twice, and at the same time. [`seal`] makes it.
//!
//! These files are between one version of this program and itself; what lasts is the
//! [images file](super::images::format). All numbers are little-endian. All begin with
//!
//! | at | type | what |
//! |---|---|---|
//! | 0 | 7 bytes | `SECTPRT` |
//! | 7 | u8 | `I` for images, `S` for scores, `W` for a whole shard |
//! | 8 | u32 | version, 1 |
//! | 12 | u32 | width: pixels of a row |
//! | 16 | u32 | height: rows |
//! | 20 | u32 | first place of the shard in the order of ions |
//! | 24 | u32 | the place behind its last one |
//! | 28 | 32 bytes | fingerprint of the ions: molecules and options |
//! | 60 | 32 bytes | SHA-256 that the store has in its header |
//! | 92 | u32 | CRC-32 of these 92 bytes |

pub mod images;
pub mod scores;
pub mod seal;
pub mod whole;

use std::ops::Range;

use crate::crc::checksum;
use crate::error::{Error, Result};

/// Bytes before the first record.
pub const HEADER: usize = 96;
/// The version that is written, and the only one that is read.
pub const VERSION: u32 = 1;

const MAGIC: &[u8; 7] = b"SECTPRT";
/// Where the checksum of the header is.
const SUM: usize = HEADER - 4;

/// What a file of a shard is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Pixels of a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// The places of its ions in the order.
    pub shard: Range<u32>,
    /// Fingerprint of the ions: molecules and options.
    pub ions: [u8; 32],
    /// SHA-256 that the store has in its header.
    pub store: [u8; 32],
}

/// Which of the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Images,
    Scores,
    Whole,
}

impl Kind {
    fn letter(self) -> u8 {
        match self {
            Self::Images => b'I',
            Self::Scores => b'S',
            Self::Whole => b'W',
        }
    }
}

impl Identity {
    fn header(&self, kind: Kind) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        put(0, MAGIC);
        put(7, &[kind.letter()]);
        put(8, &VERSION.to_le_bytes());
        put(12, &self.width.to_le_bytes());
        put(16, &self.height.to_le_bytes());
        put(20, &self.shard.start.to_le_bytes());
        put(24, &self.shard.end.to_le_bytes());
        put(28, &self.ions);
        put(60, &self.store);
        let sum = checksum(&bytes[..SUM]);
        bytes[SUM..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// Compares the header of a file with what it has to be.
    fn compare(&self, kind: Kind, file: &str, bytes: &[u8; HEADER]) -> Result<()> {
        let expected = self.header(kind);
        let Some(at) = (0..HEADER).find(|at| bytes[*at] != expected[*at]) else {
            return Ok(());
        };
        let sound = checksum(&bytes[..SUM]).to_le_bytes() == bytes[SUM..];
        let whose = match at {
            0..8 => None,
            _ if !sound => None,
            8..12 => Some("was written by another version of this program"),
            12..20 => Some("has images of another size"),
            20..28 => Some("is about another shard"),
            28..60 => Some("is about other molecules or was made with other options"),
            _ => Some("is about another store"),
        };
        Err(match whose {
            Some(what) => Error::Mismatch {
                file: file.to_owned(),
                what: format!("this part {what}; annotate into another folder, or start anew"),
            },
            None => Error::Format {
                file: file.to_owned(),
                at: at as u64,
                what: "no part of an annotation, or damaged; remove it and annotate again"
                    .to_owned(),
            },
        })
    }
}

/// The first bytes of a file, until its header is whole and fits.
#[derive(Debug)]
struct Front {
    file: String,
    kind: Kind,
    identity: Identity,
    bytes: Vec<u8>,
}

impl Front {
    fn new(file: &str, kind: Kind, identity: &Identity) -> Self {
        Self {
            file: file.to_owned(),
            kind,
            identity: identity.clone(),
            bytes: Vec::with_capacity(HEADER),
        }
    }

    /// Whether the header was seen.
    fn passed(&self) -> bool {
        self.bytes.len() == HEADER
    }

    /// Takes what belongs to the header, and returns the rest.
    fn take<'a>(&mut self, bytes: &'a [u8]) -> Result<&'a [u8]> {
        let (mine, rest) = bytes.split_at(bytes.len().min(HEADER - self.bytes.len()));
        if !mine.is_empty() {
            self.bytes.extend_from_slice(mine);
            if let Some(header) = self.bytes.first_chunk::<HEADER>() {
                self.identity.compare(self.kind, &self.file, header)?;
            }
        }
        Ok(rest)
    }
}

/// Refuses a file of which less is sound than was saved.
fn whole(file: &str, sound: u64, saved: u64) -> Result<()> {
    if sound >= saved {
        return Ok(());
    }
    Err(Error::Format {
        file: file.to_owned(),
        at: sound,
        what: format!(
            "this part is damaged or cut short from here on, and {saved} bytes of it were saved; remove it and annotate \
             again"
        ),
    })
}
