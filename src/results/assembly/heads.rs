//! The heads of all parts, one after the other: scores into the table, images into a list.

use super::job::{Parts, Turn};
use crate::error::{Error, Result};
use crate::results::Table;
use crate::results::part::images::{Pictures, Record};
use crate::results::part::whole::{Contents, FIXED, Whole};

/// Bytes of a part that are read at first: most heads are shorter.
const FIRST: u64 = 64 << 10;

/// Reads heads.
#[derive(Debug)]
pub(super) struct Heads {
    table: Table,
    pictures: Vec<Pictures>,
    /// Where each part ends.
    ends: Vec<u64>,
    /// The part at hand, from 1.
    part: u32,
    bytes: Vec<u8>,
    /// How far its head is to be read.
    want: u64,
    /// Whether the part ends where its bytes do.
    ended: bool,
    total: Option<u64>,
    memory: u64,
    /// Bytes of all lists of images.
    held: u64,
}

impl Heads {
    pub(super) fn new(table: Table, memory: u64) -> Self {
        Self {
            table,
            pictures: Vec::new(),
            ends: Vec::new(),
            part: 1,
            bytes: Vec::new(),
            want: FIRST,
            ended: false,
            total: None,
            memory,
            held: 0,
        }
    }

    pub(super) fn need(&self) -> Turn<'_> {
        Turn::Need {
            part: self.part,
            range: self.bytes.len() as u64..self.want,
        }
    }

    /// Whether all heads are read.
    pub(super) fn look(&mut self, parts: &Parts) -> Result<bool> {
        let fed = self.bytes.len() as u64;
        if fed < self.want && !self.ended {
            return Ok(self.part > parts.description.shards());
        }
        let (name, whole) = (parts.name(self.part), parts.description.whole(self.part)?);
        let sizes = whole.sizes(&name, &self.bytes)?;
        if sizes.head_bytes() > fed && !self.ended {
            self.want = sizes.head_bytes();
            return Ok(false);
        }
        if let Some(total) = self.total.filter(|total| *total != sizes.file_bytes) {
            return Err(Error::Format {
                file: name,
                at: total.min(sizes.file_bytes),
                what: format!(
                    "it has {total} bytes and states {}; this part is cut short or damaged, remove it and compute its shard \
                     again",
                    sizes.file_bytes
                ),
            });
        }
        self.take(&name, &whole)?;
        self.ends.push(sizes.file_bytes);
        self.part += 1;
        self.bytes.clear();
        self.want = FIRST;
        (self.ended, self.total) = (false, None);
        Ok(self.part > parts.description.shards())
    }

    fn take(&mut self, name: &str, whole: &Whole) -> Result<()> {
        let Contents {
            targets,
            decoys,
            pictures,
        } = whole.contents(name, &self.bytes)?;
        let wrong = |error| foreign(name, error);
        self.table.take_targets(&targets).map_err(wrong)?;
        self.table.take_decoys(&decoys).map_err(wrong)?;
        self.held += (pictures.capacity() * size_of::<Record>() + size_of::<Pictures>()) as u64;
        if self.held > self.memory {
            return Err(Error::Budget {
                need: self.held,
                have: self.memory,
                what: "the tables of images of all parts".to_owned(),
            });
        }
        self.pictures.push(Pictures {
            records: pictures,
            sound: self.bytes.len() as u64,
        });
        Ok(())
    }

    pub(super) fn feed(
        &mut self,
        parts: &Parts,
        part: u32,
        at: u64,
        bytes: &[u8],
        total: Option<u64>,
    ) -> Result<()> {
        let asked = self.want - self.bytes.len() as u64;
        let got = bytes.len() as u64;
        if part != self.part || at != self.bytes.len() as u64 || got > asked || asked == 0 {
            return Err(Error::Unexpected {
                file: parts.name(part),
                at,
                asked,
                got,
            });
        }
        let whole = self.want.saturating_mul(3);
        if whole > self.memory || self.bytes.try_reserve_exact(bytes.len()).is_err() {
            return Err(Error::Budget {
                need: whole,
                have: self.memory,
                what: format!("the records of {}", parts.name(part)),
            });
        }
        self.bytes.extend_from_slice(bytes);
        self.ended = got < asked;
        self.total = total.or(self.total);
        if self.ended && (self.bytes.len()) < FIXED {
            self.total = None;
        }
        Ok(())
    }

    /// Scores, images by part, and where each part ends.
    pub(super) fn into_all(self) -> (Table, Vec<Pictures>, Vec<u64>) {
        (self.table, self.pictures, self.ends)
    }
}

/// The same refusal, with the part's name.
fn foreign(name: &str, error: Error) -> Error {
    match error {
        Error::Parameter { what, .. } => Error::Format {
            file: name.to_owned(),
            at: FIXED as u64,
            what,
        },
        other => other,
    }
}
