//! Reading a file from its beginning to its end, a chunk at a time.

use std::ops::Range;

use crate::error::{Error, Result};

/// Bytes of the first read.
pub const CHUNK: u64 = 1 << 20;

/// Most bytes of a read. Reads double up to this where there is memory, so that a far server's latency
/// is waited for a few times only.
pub const LONGEST: u64 = 4 << 20;

/// How far a file is read.
#[derive(Debug)]
pub(super) struct Sequence {
    at: u64,
    /// Bytes of the next read.
    chunk: u64,
    asked: Option<Range<u64>>,
    total: Option<u64>,
    ended: bool,
}

impl Default for Sequence {
    fn default() -> Self {
        Self {
            at: 0,
            chunk: CHUNK,
            asked: None,
            total: None,
            ended: false,
        }
    }
}

impl Sequence {
    /// By how many bytes further reads could be longer, if that makes fewer of them.
    pub(super) fn growth(&self) -> Option<u64> {
        let left = self
            .total
            .map_or(u64::MAX, |total| total - self.at.min(total));
        let may = self.at > 0 && self.chunk < LONGEST && left > self.chunk;
        may.then_some(self.chunk)
    }

    /// Makes all further reads longer.
    pub(super) fn grow(&mut self, more: u64) {
        self.chunk += more;
    }

    /// The file's size, where it is known.
    pub(super) fn total(&self) -> Option<u64> {
        self.total
    }

    /// The next range, or `None` at the end.
    pub(super) fn next(&mut self) -> Option<Range<u64>> {
        let end = self.at.saturating_add(self.chunk);
        let end = self.total.map_or(end, |total| end.min(total));
        if self.ended || end <= self.at {
            self.ended = true;
            return None;
        }
        self.asked = Some(self.at..end);
        self.asked.clone()
    }

    /// Takes note of an answer. Where the size is known, fewer bytes than asked for are a first
    /// part; where it is not, they end the file.
    pub(super) fn feed(
        &mut self,
        file: &str,
        at: u64,
        bytes: &[u8],
        total: Option<u64>,
    ) -> Result<()> {
        let got = bytes.len() as u64;
        let asked = self.asked.take_if(|asked| asked.start == at);
        let end = asked.map_or(at, |asked| asked.end);
        let end = total.map_or(end, |total| end.min(total));
        let unexpected = Error::Unexpected {
            file: file.to_owned(),
            at,
            asked: end.saturating_sub(at),
            got,
        };
        if at != self.at || got > end.saturating_sub(at) {
            return Err(unexpected);
        }
        if let (Some(new), Some(known)) = (total, self.total)
            && new != known
        {
            return Err(Error::Format {
                file: file.to_owned(),
                at: new.min(known),
                what: format!(
                    "the file had {known} bytes and now has {new}: it changed while it was read; \
                     start again"
                ),
            });
        }
        self.total = total.or(self.total);
        if got == 0 && self.total.is_some_and(|total| at < total) {
            return Err(unexpected);
        }
        self.at += got;
        self.ended = self.total.is_none() && self.at < end;
        Ok(())
    }
}
