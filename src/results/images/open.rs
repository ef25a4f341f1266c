//! Opening an images file: which bytes its head is.

use std::ops::Range;

use super::format::HEADER;
use super::header::Header;
use super::index::Index;
use crate::error::{Error, Result};
use crate::job::{Machine, Step};

/// Bytes of the first read: the whole head for about 400 ions.
pub const HEAD_READ: u64 = 64 << 10;

/// Reads the index of an images file.
///
/// # Cost
/// One read of [`HEAD_READ`] bytes, and a second one for the rest of a longer head. The bytes are held until the
/// index is made of them, which [`Open::into_index`] gives.
#[derive(Debug)]
pub struct Open {
    file: String,
    /// Most bytes that the head and the index may take.
    memory: u64,
    bytes: Vec<u8>,
    total: Option<u64>,
    asked: Option<Range<u64>>,
    header: Option<Header>,
    index: Option<Index>,
}

impl Open {
    /// A file under the name that errors show; `memory` limits the bytes held while it is opened.
    #[must_use]
    pub fn new(file: &str, memory: u64) -> Self {
        Self {
            file: file.to_owned(),
            memory,
            bytes: Vec::new(),
            total: None,
            asked: None,
            header: None,
            index: None,
        }
    }

    /// The index, once the machine is done.
    ///
    /// # Errors
    /// [`Error::Unexpected`] if it is not.
    pub fn into_index(self) -> Result<Index> {
        let got = self.bytes.len() as u64;
        self.index.ok_or(Error::Unexpected {
            file: self.file,
            at: 0,
            asked: got + 1,
            got,
        })
    }

    /// The bytes that are missing; none if the file has no more.
    fn missing(&self) -> Option<Range<u64>> {
        let have = self.bytes.len() as u64;
        let end = self.header.map_or(HEAD_READ, |header| header.head_bytes);
        let end = self.total.map_or(end, |total| end.min(total));
        (have < end).then_some(have..end)
    }

    /// Reads the header as soon as it is there.
    fn look(&mut self) -> Result<()> {
        if self.header.is_some() || (self.bytes.len() < HEADER && self.missing().is_some()) {
            return Ok(());
        }
        let header = Header::parse(&self.file, &self.bytes)?;
        self.compare(&header)?;
        // The bytes, and the index, which has somewhat more for each ion.
        let need = header.head_bytes.saturating_mul(5) / 2;
        if need > self.memory {
            return Err(self.budget(need));
        }
        self.header = Some(header);
        Ok(())
    }

    fn compare(&self, header: &Header) -> Result<()> {
        match self.total {
            Some(total) if total != header.file_bytes => Err(Error::Format {
                file: self.file.clone(),
                at: total.min(header.file_bytes),
                what: format!(
                    "the file has {total} bytes, and its header says {}: it was cut short or changed; fetch it again",
                    header.file_bytes
                ),
            }),
            _ => Ok(()),
        }
    }

    fn budget(&self, need: u64) -> Error {
        Error::Budget {
            need,
            have: self.memory,
            what: format!("the index of {}", self.file),
        }
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

impl Machine for Open {
    type Item = ();

    fn step(&mut self) -> Result<Step<()>> {
        if self.index.is_some() {
            return Ok(Step::Done);
        }
        self.look()?;
        let have = self.bytes.len() as u64;
        let whole = self.header.is_some_and(|header| have >= header.head_bytes);
        if whole || self.missing().is_none() {
            self.index = Some(Index::parse(&self.file, &self.bytes)?);
            self.bytes = Vec::new();
            return Ok(Step::Done);
        }
        let range = self.missing().unwrap_or(have..have);
        self.asked = Some(range.clone());
        Ok(Step::Need(range))
    }

    fn feed(&mut self, at: u64, bytes: &[u8], total: Option<u64>) -> Result<()> {
        let got = bytes.len() as u64;
        let asked = self.asked.take_if(|asked| asked.start == at);
        let most = asked.as_ref().map_or(0, |asked| asked.end - asked.start);
        let Some(asked) = asked.filter(|_| got <= most) else {
            return Err(self.unexpected(at, most, got));
        };
        let known = self.total;
        // Where the size is hidden, an answer that is short ends the file.
        self.total = total
            .or((got < most).then_some(asked.start + got))
            .or(known);
        if got == 0 && self.missing().is_some() {
            return Err(self.unexpected(at, most, got));
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
        if need > self.memory || self.bytes.try_reserve_exact(bytes.len()).is_err() {
            return Err(self.budget(need));
        }
        self.bytes.extend_from_slice(bytes);
        match &self.header {
            Some(header) => self.compare(header),
            None => Ok(()),
        }
    }
}
