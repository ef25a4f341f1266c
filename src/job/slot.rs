//! One slot: the bytes of one fetch, and how far its reads have come.

use crate::error::{Error, Result};
use crate::job::{Fetch, Read};

/// A buffer that one fetch after the other fills.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    pub(crate) buffer: Vec<u8>,
    /// Which share of the job its bytes are for; the job says what it counts.
    pub(crate) turn: u64,
    /// The source they come from.
    pub(crate) source: u32,
    pub(crate) full: bool,
    /// The reads that fill it, from when they are asked for until they are complete.
    reads: Vec<Read>,
    /// Bytes fed without a gap from the start of each read.
    fed: Vec<u64>,
    /// Whether the buffer was moved out to be filled.
    lent: bool,
}

impl Slot {
    /// An empty slot.
    pub(crate) fn new(buffer: Vec<u8>) -> Self {
        Self {
            buffer,
            ..Self::default()
        }
    }

    /// Makes it ready for a fetch.
    pub(crate) fn take(&mut self, turn: u64, fetch: &Fetch) {
        let bytes: u64 = fetch.reads.iter().map(Read::len).sum();
        self.turn = turn;
        self.source = fetch.source;
        self.full = false;
        self.lent = false;
        self.reads.clone_from(&fetch.reads);
        self.fed.clear();
        self.fed.resize(fetch.reads.len(), 0);
        // Within the capacity that was allocated when the job began.
        self.buffer.resize(usize::try_from(bytes).unwrap_or(0), 0);
    }

    /// Moves the buffer out, to be filled as a whole and [put](Self::put) back.
    pub(crate) fn lend(&mut self) -> Vec<u8> {
        self.lent = !self.reads.is_empty();
        std::mem::take(&mut self.buffer)
    }

    /// Takes a piece of a read; `write` fills its place in the buffer. A piece may begin anywhere up to the
    /// first byte that is missing.
    pub(crate) fn feed(
        &mut self,
        name: &str,
        read: usize,
        offset: u64,
        len: usize,
        write: impl FnOnce(&mut [u8]),
    ) -> Result<()> {
        let asked = self.reads.get(read).filter(|_| !self.lent);
        let (Some(asked), Some(fed)) = (asked, self.fed.get_mut(read)) else {
            return Err(Error::Parameter {
                name: "read",
                what: format!("{name}: read {read} of this slot was not asked for"),
            });
        };
        let end = offset.saturating_add(len as u64);
        if offset > *fed || end > asked.len() {
            return Err(Error::Unexpected {
                file: name.to_owned(),
                at: asked.range.start + *fed,
                asked: asked.len() - *fed,
                got: end,
            });
        }
        #[expect(
            clippy::cast_possible_truncation,
            reason = "within a read, which lies in a slot"
        )]
        let start = asked.at + offset as usize;
        write(&mut self.buffer[start..start + len]);
        *fed = (*fed).max(end);
        Ok(())
    }

    /// Takes back the whole buffer, filled.
    pub(crate) fn put(&mut self, name: &str, buffer: Vec<u8>) -> Result<()> {
        if !self.lent {
            return Err(not_asked(name));
        }
        let asked: u64 = self.reads.iter().map(Read::len).sum();
        if buffer.len() as u64 != asked {
            return Err(Error::Unexpected {
                file: name.to_owned(),
                at: self.reads.first().map_or(0, |read| read.range.start),
                asked,
                got: buffer.len() as u64,
            });
        }
        self.buffer = buffer;
        self.lent = false;
        for (fed, read) in self.fed.iter_mut().zip(&self.reads) {
            *fed = read.len();
        }
        Ok(())
    }

    /// Says that all reads have been fed.
    pub(crate) fn complete(&mut self, name: &str) -> Result<()> {
        if self.reads.is_empty() || self.lent {
            return Err(not_asked(name));
        }
        for (read, fed) in self.reads.iter().zip(&self.fed) {
            if *fed != read.len() {
                return Err(Error::Unexpected {
                    file: name.to_owned(),
                    at: read.range.start,
                    asked: read.len(),
                    got: *fed,
                });
            }
        }
        self.reads.clear();
        self.full = true;
        Ok(())
    }
}

fn not_asked(name: &str) -> Error {
    Error::Parameter {
        name: "slot",
        what: format!("{name}: nothing was asked for in this slot"),
    }
}
