//! Opening a store: which bytes its head is.

use super::format::HEADER;
use super::head::{Head, Header};
use crate::error::Result;
use crate::job::front::Front;
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
    front: Front,
    header: Option<Header>,
    head: Option<Head>,
}

impl Open {
    /// A store under the name that errors show; `memory` limits the bytes held while it is opened.
    #[must_use]
    pub fn new(file: &str, memory: u64) -> Self {
        Self {
            front: Front::new(file, "head", memory),
            header: None,
            head: None,
        }
    }

    /// The head, once the machine is done.
    ///
    /// # Errors
    /// [`Error::Unexpected`](crate::error::Error::Unexpected) if it is not.
    pub fn into_head(self) -> Result<Head> {
        let unfinished = self.front.unfinished();
        self.head.ok_or(unfinished)
    }

    /// Where the head ends, as far as is known.
    fn end(&self) -> u64 {
        self.header
            .as_ref()
            .map_or(HEAD_READ, |header| header.layout.head_bytes.into())
    }

    /// Reads the header as soon as it is there, and compares it with the file's size.
    fn look(&mut self) -> Result<()> {
        let front = &self.front;
        if self.header.is_none()
            && (front.bytes.len() >= HEADER || front.missing(self.end()).is_none())
        {
            let header = Header::parse(&front.file, &front.bytes)?;
            front.compare(header.file_bytes)?;
            // The bytes and what is made of them.
            let need = u64::from(header.layout.head_bytes).saturating_mul(2);
            if need > front.memory {
                return Err(front.budget(need));
            }
            self.header = Some(header);
        }
        let front = &self.front;
        if let Some(header) = &self.header
            && (front.bytes.len() as u64 >= header.layout.head_bytes.into()
                || front.missing(self.end()).is_none())
        {
            self.head = Some(Head::parse(&front.file, &front.bytes)?);
            self.front.bytes = Vec::new();
        }
        Ok(())
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
        let end = self.end();
        Ok(Step::Need(self.front.ask(end)))
    }

    fn feed(&mut self, at: u64, bytes: &[u8], total: Option<u64>) -> Result<()> {
        let end = self.end();
        // The header, once it is there, says whether the head fits; the first read is always taken.
        self.front.feed(at, bytes, total, end, u64::MAX)?;
        match &self.header {
            Some(header) => self.front.compare(header.file_bytes),
            None => Ok(()),
        }
    }
}
