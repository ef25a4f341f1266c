//! The front of a file, as long as its own header says: read in one go, and in a second one where it is longer.

use std::ops::Range;

use crate::error::{Error, Result};

/// The bytes of a file from its first one on, as far as they have come.
#[derive(Debug)]
pub(crate) struct Front {
    pub(crate) file: String,
    /// What it holds, for errors.
    what: &'static str,
    /// Most bytes that it and what is made of it may take.
    pub(crate) memory: u64,
    pub(crate) bytes: Vec<u8>,
    total: Option<u64>,
    asked: Option<Range<u64>>,
}

impl Front {
    pub(crate) fn new(file: &str, what: &'static str, memory: u64) -> Self {
        Self {
            file: file.to_owned(),
            what,
            memory,
            bytes: Vec::new(),
            total: None,
            asked: None,
        }
    }

    /// The bytes before `end` that are missing; none if the file has no more.
    pub(crate) fn missing(&self, end: u64) -> Option<Range<u64>> {
        let have = self.bytes.len() as u64;
        let end = self.total.map_or(end, |total| end.min(total));
        (have < end).then_some(have..end)
    }

    /// Asks for the bytes before `end` that are missing.
    pub(crate) fn ask(&mut self, end: u64) -> Range<u64> {
        let have = self.bytes.len() as u64;
        let range = self.missing(end).unwrap_or(have..have);
        self.asked = Some(range.clone());
        range
    }

    /// Takes bytes that were asked for, of a front that ends at `end` as far as is known and may hold `most` bytes.
    pub(crate) fn feed(
        &mut self,
        at: u64,
        bytes: &[u8],
        total: Option<u64>,
        end: u64,
        most: u64,
    ) -> Result<()> {
        let got = bytes.len() as u64;
        let asked = self.asked.take_if(|asked| asked.start == at);
        let length = asked.as_ref().map_or(0, |asked| asked.end - asked.start);
        let Some(asked) = asked.filter(|_| got <= length) else {
            return Err(self.unexpected(at, length, got));
        };
        let known = self.total;
        // Where the size is hidden, an answer that is short ends the file.
        self.total = total
            .or((got < length).then_some(asked.start + got))
            .or(known);
        if got == 0 && self.missing(end).is_some() {
            return Err(self.unexpected(at, length, got));
        }
        if let (Some(known), Some(now)) = (known, self.total)
            && known != now
        {
            return Err(Error::Format {
                file: self.file.clone(),
                at: known.min(now),
                what: format!(
                    "the file had {known} bytes and now has {now}: it changed while it was read; start again"
                ),
            });
        }
        let need = self.bytes.len() as u64 + got;
        if need > most || self.bytes.try_reserve_exact(bytes.len()).is_err() {
            return Err(self.budget(need));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    /// Refuses a file of another size than its header says.
    pub(crate) fn compare(&self, file_bytes: u64) -> Result<()> {
        match self.total {
            Some(total) if total != file_bytes => Err(Error::Format {
                file: self.file.clone(),
                at: total.min(file_bytes),
                what: format!(
                    "the file has {total} bytes, and its header says {file_bytes}: it was cut short or changed; \
                     fetch it again"
                ),
            }),
            _ => Ok(()),
        }
    }

    pub(crate) fn budget(&self, need: u64) -> Error {
        Error::Budget {
            need,
            have: self.memory,
            what: format!("the {} of {}", self.what, self.file),
        }
    }

    /// Why there is nothing of what the front holds: it was not read to its end.
    pub(crate) fn unfinished(&self) -> Error {
        let got = self.bytes.len() as u64;
        self.unexpected(0, got + 1, got)
    }

    fn unexpected(&self, at: u64, asked: u64, got: u64) -> Error {
        Error::Unexpected {
            file: self.file.clone(),
            at,
            asked,
            got,
        }
    }
}
