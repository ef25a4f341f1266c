//! Opening a store: which bytes its head is.

use std::ops::Range;

use super::format::HEADER;
use super::head::{Head, Header};
use crate::error::{Error, Result};
use crate::job::{Machine, Step};

/// Bytes of the first read: the whole head of a store of 60 million peaks on 100×100 pixels.
pub const HEAD_READ: u64 = 256 << 10;

/// Reads the head of a store.
///
/// # Cost
/// One read of [`HEAD_READ`] bytes, and a second one for the rest of a longer head. The bytes are
/// held until [`Open::into_head`], then their content.
#[derive(Debug)]
pub struct Open {
    file: String,
    /// Most bytes that the head may take while it is read.
    memory: u64,
    bytes: Vec<u8>,
    total: Option<u64>,
    asked: Option<Range<u64>>,
    header: Option<Header>,
    head: Option<Head>,
}

impl Open {
    /// A store under the name that errors show; `memory` limits the bytes held while it is opened.
    #[must_use]
    pub fn new(file: &str, memory: u64) -> Self {
        Self {
            file: file.to_owned(),
            memory,
            bytes: Vec::new(),
            total: None,
            asked: None,
            header: None,
            head: None,
        }
    }

    /// The head, once the machine is done.
    ///
    /// # Errors
    /// [`Error::Unexpected`] if it is not.
    pub fn into_head(self) -> Result<Head> {
        let got = self.bytes.len() as u64;
        self.head.ok_or(Error::Unexpected {
            file: self.file,
            at: 0,
            asked: got + 1,
            got,
        })
    }

    /// The bytes that are missing; none if the file has no more.
    fn missing(&self) -> Option<Range<u64>> {
        let have = self.bytes.len() as u64;
        let end = self
            .header
            .as_ref()
            .map_or(HEAD_READ, |header| header.layout.head_bytes.into());
        let end = self.total.map_or(end, |total| end.min(total));
        (have < end).then_some(have..end)
    }

    /// Reads the header as soon as it is there, and compares it with the file's size.
    fn look(&mut self) -> Result<()> {
        if self.header.is_none() && (self.bytes.len() >= HEADER || self.missing().is_none()) {
            let header = Header::parse(&self.file, &self.bytes)?;
            self.compare(&header)?;
            let head = u64::from(header.layout.head_bytes);
            // The bytes and what is made of them.
            let need = head.saturating_mul(2);
            if need > self.memory {
                return Err(Error::Budget {
                    need,
                    have: self.memory,
                    what: format!("the head of {}", self.file),
                });
            }
            self.header = Some(header);
        }
        if let Some(header) = &self.header
            && (self.bytes.len() as u64 >= header.layout.head_bytes.into()
                || self.missing().is_none())
        {
            self.head = Some(Head::parse(&self.file, &self.bytes)?);
            self.bytes = Vec::new();
        }
        Ok(())
    }

    fn compare(&self, header: &Header) -> Result<()> {
        match self.total {
            Some(total) if total != header.file_bytes => Err(Error::Format {
                file: self.file.clone(),
                at: total.min(header.file_bytes),
                what: format!(
                    "the file has {total} bytes, and its header says {}: it was cut short or changed; \
                     fetch it again",
                    header.file_bytes
                ),
            }),
            _ => Ok(()),
        }
    }
}

impl Machine for Open {
    type Item = ();

    fn step(&mut self) -> Result<Step<()>> {
        if self.head.is_none() {
            self.look()?;
        }
        if self.head.is_some() {
            return Ok(Step::Done);
        }
        // `look` has seen to it that a file without more bytes is opened or in error.
        let have = self.bytes.len() as u64;
        let range = self.missing().unwrap_or(have..have);
        self.asked = Some(range.clone());
        Ok(Step::Need(range))
    }

    fn feed(&mut self, at: u64, bytes: &[u8], total: Option<u64>) -> Result<()> {
        let got = bytes.len() as u64;
        let asked = self.asked.take_if(|asked| asked.start == at);
        let most = asked.as_ref().map_or(0, |asked| asked.end - asked.start);
        let unexpected = Error::Unexpected {
            file: self.file.clone(),
            at,
            asked: most,
            got,
        };
        let Some(asked) = asked.filter(|_| got <= most) else {
            return Err(unexpected);
        };
        let known = self.total;
        // Where the size is hidden, an answer that is short ends the file.
        self.total = total
            .or((got < most).then_some(asked.start + got))
            .or(known);
        if got == 0 && self.missing().is_some() {
            return Err(unexpected);
        }
        if let (Some(known), Some(now)) = (known, self.total)
            && known != now
        {
            return Err(Error::Format {
                file: self.file.clone(),
                at: known.min(now),
                what: format!(
                    "the file had {known} bytes and now has {now}: it changed while it was read; start \
                     again"
                ),
            });
        }
        let need = self.bytes.len() as u64 + got;
        self.bytes
            .try_reserve_exact(bytes.len())
            .map_err(|_| Error::Budget {
                need,
                have: self.memory,
                what: format!("the head of {}", self.file),
            })?;
        self.bytes.extend_from_slice(bytes);
        match &self.header {
            Some(header) => self.compare(header),
            None => Ok(()),
        }
    }
}
