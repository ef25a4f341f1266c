//! Opening such a file: how long its header is.

use super::cubes::Cubes;
use crate::error::{Error, Result};
use crate::fits::card::CARD;
use crate::fits::write::BLOCK;
use crate::job::front::Front;
use crate::job::{Machine, Step};

/// Bytes of the first read: the header of a median of 300 exposures.
pub const HEAD_READ: u64 = 16 * BLOCK;

/// The longest header that is read: one of 4,096 exposures with long names stays far below.
const LONGEST: u64 = 4096 * BLOCK;

/// Reads the header of a pyramid of tiles.
///
/// # Cost
/// One read of [`HEAD_READ`] bytes; where the header is longer, more, each twice as long as the one before.
#[derive(Debug)]
pub struct Open {
    front: Front,
    end: u64,
    cubes: Option<Cubes>,
}

impl Open {
    /// A file under the name that errors show; `memory` limits the bytes held while it is opened.
    #[must_use]
    pub fn new(file: &str, memory: u64) -> Self {
        Self {
            front: Front::new(file, "header", memory),
            end: HEAD_READ,
            cubes: None,
        }
    }

    /// Where every tile lies, once the machine is done.
    ///
    /// # Errors
    /// [`Error::Unexpected`] if it is not.
    pub fn into_cubes(self) -> Result<Cubes> {
        let unfinished = self.front.unfinished();
        self.cubes.ok_or(unfinished)
    }

    fn look(&mut self) -> Result<()> {
        let cards = self.front.bytes.as_chunks::<CARD>().0;
        if let Some(end) = cards.iter().position(|card| card.starts_with(b"END     ")) {
            let head = ((end as u64 + 1) * CARD as u64).next_multiple_of(BLOCK);
            let whole = usize::try_from(head).unwrap_or(usize::MAX);
            if let Some(bytes) = self.front.bytes.get(..whole) {
                let cubes = Cubes::read(&self.front.file, bytes)?;
                self.front.compare(cubes.total())?;
                self.cubes = Some(cubes);
                self.front.bytes = Vec::new();
                return Ok(());
            }
        }
        let come = self.front.bytes.len() as u64;
        if come >= LONGEST || self.front.missing(LONGEST).is_none() {
            return Err(Error::Format {
                file: self.front.file.clone(),
                at: come,
                what: "no pyramid of tiles: its header does not end".to_owned(),
            });
        }
        if come >= self.end {
            self.end = (self.end * 2).min(LONGEST);
        }
        Ok(())
    }
}

impl Machine for Open {
    type Item = ();

    fn step(&mut self) -> Result<Step<()>> {
        if self.cubes.is_none() {
            self.look()?;
        }
        if self.cubes.is_some() {
            return Ok(Step::Done);
        }
        Ok(Step::Need(self.front.ask(self.end)))
    }

    fn feed(&mut self, at: u64, bytes: &[u8], total: Option<u64>) -> Result<()> {
        let (end, memory) = (self.end, self.front.memory);
        self.front.feed(at, bytes, total, end, memory)
    }
}
