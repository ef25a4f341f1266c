//! Opening an images file: which bytes its head is.

use super::format::HEADER;
use super::header::Header;
use super::index::Index;
use crate::error::Result;
use crate::job::front::Front;
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
    front: Front,
    header: Option<Header>,
    index: Option<Index>,
}

impl Open {
    /// A file under the name that errors show; `memory` limits the bytes held while it is opened.
    #[must_use]
    pub fn new(file: &str, memory: u64) -> Self {
        Self {
            front: Front::new(file, "index", memory),
            header: None,
            index: None,
        }
    }

    /// The index, once the machine is done.
    ///
    /// # Errors
    /// [`Error::Unexpected`](crate::error::Error::Unexpected) if it is not.
    pub fn into_index(self) -> Result<Index> {
        let unfinished = self.front.unfinished();
        self.index.ok_or(unfinished)
    }

    /// Where the head ends, as far as is known.
    fn end(&self) -> u64 {
        self.header.map_or(HEAD_READ, |header| header.head_bytes)
    }

    /// Reads the header as soon as it is there.
    fn look(&mut self) -> Result<()> {
        let front = &self.front;
        let short = front.bytes.len() < HEADER && front.missing(self.end()).is_some();
        if self.header.is_some() || short {
            return Ok(());
        }
        let header = Header::parse(&front.file, &front.bytes)?;
        front.compare(header.file_bytes)?;
        // The bytes, and the index, which has somewhat more for each ion.
        let need = header.head_bytes.saturating_mul(5) / 2;
        if need > front.memory {
            return Err(front.budget(need));
        }
        self.header = Some(header);
        Ok(())
    }
}

impl Machine for Open {
    type Item = ();

    fn step(&mut self) -> Result<Step<()>> {
        if self.index.is_some() {
            return Ok(Step::Done);
        }
        self.look()?;
        let end = self.end();
        let have = self.front.bytes.len() as u64;
        let whole = self.header.is_some_and(|header| have >= header.head_bytes);
        if whole || self.front.missing(end).is_none() {
            self.index = Some(Index::parse(&self.front.file, &self.front.bytes)?);
            self.front.bytes = Vec::new();
            return Ok(Step::Done);
        }
        Ok(Step::Need(self.front.ask(end)))
    }

    fn feed(&mut self, at: u64, bytes: &[u8], total: Option<u64>) -> Result<()> {
        let (end, most) = (self.end(), self.front.memory);
        self.front.feed(at, bytes, total, end, most)?;
        match &self.header {
            Some(header) => self.front.compare(header.file_bytes),
            None => Ok(()),
        }
    }
}
