//! What is known about a file while its headers are read: some bytes, and its size.

use std::ops::Range;

use crate::error::{Error, Result};

/// One run of a file's bytes, and the file's size as far as it is known.
#[derive(Debug, Default)]
pub(super) struct Held {
    bytes: Vec<u8>,
    /// Place of the first of them in the file.
    at: u64,
    total: Option<u64>,
    /// Whether the file may end before `total`: an answer without bytes shows no more.
    at_most: bool,
}

impl Held {
    /// The bytes held from this place of the file on.
    pub(super) fn from(&self, place: u64) -> &[u8] {
        let skip = place.checked_sub(self.at);
        let skip = skip.and_then(|skip| usize::try_from(skip).ok());
        skip.and_then(|skip| self.bytes.get(skip..))
            .unwrap_or_default()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// First byte of the file behind those held.
    pub(super) fn end(&self) -> u64 {
        self.at + self.bytes.len() as u64
    }

    /// The file's size, where it is known.
    pub(super) fn total(&self) -> Option<u64> {
        self.total
    }

    /// Whether the file may be smaller than [`Held::total`].
    pub(super) fn at_most(&self) -> bool {
        self.at_most
    }

    /// Drops what lies before this place of the file.
    pub(super) fn drop_before(&mut self, place: u64) {
        let keep = self.from(place).len();
        let drop = self.bytes.len() - keep;
        self.bytes.drain(..drop);
        self.at += drop as u64;
    }

    /// Gives the memory back.
    pub(super) fn clear(&mut self) {
        self.at = self.end();
        self.bytes = Vec::new();
    }

    /// Takes the answer to a read of `asked`, which begins at the end of what is held unless
    /// nothing is.
    pub(super) fn take(
        &mut self,
        file: &str,
        asked: &Range<u64>,
        bytes: &[u8],
        total: Option<u64>,
    ) -> Result<()> {
        let got = bytes.len() as u64;
        let at = asked.start;
        let unexpected = |end: u64| Error::Unexpected {
            file: file.to_owned(),
            at,
            asked: end.saturating_sub(at),
            got,
        };
        let most = total.map_or(asked.end, |total| asked.end.min(total));
        if got > most.saturating_sub(at) {
            return Err(unexpected(most));
        }
        self.learn(file, asked, at + got, total)?;
        let least = self.total.map_or(asked.end, |total| asked.end.min(total));
        if got == 0 && least > at {
            return Err(unexpected(least));
        }
        if self.bytes.is_empty() {
            self.at = at;
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    /// Learns the size from what a driver says, or from an answer that is short.
    fn learn(
        &mut self,
        file: &str,
        asked: &Range<u64>,
        end: u64,
        total: Option<u64>,
    ) -> Result<()> {
        match (total, self.total) {
            (Some(new), Some(known)) if new != known && !(self.at_most && new < known) => {
                Err(Error::Format {
                    file: file.to_owned(),
                    at: new.min(known),
                    what: format!(
                        "the file had {known} bytes and now has {new}: it changed while it was \
                         read; start again"
                    ),
                })
            }
            (Some(new), _) => {
                self.total = Some(new);
                self.at_most = false;
                Ok(())
            }
            (None, None) if end < asked.end => {
                self.total = Some(end);
                self.at_most = end == asked.start;
                Ok(())
            }
            (None, _) => Ok(()),
        }
    }
}
