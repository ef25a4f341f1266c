//! A file that is read from its first byte to its last.

use std::ops::Range;

use sha2::{Digest as _, Sha256};

use super::Step;
use crate::error::{Error, Result};

/// Bytes that are asked for at once.
const PIECE: u64 = 1 << 20;

/// How far a file has been read, and the SHA-256 of what has come: what a [`Machine`](super::Machine) that takes a file
/// whole keeps beside what it makes of it.
#[derive(Debug)]
pub struct Whole {
    file: String,
    sha256: Sha256,
    at: u64,
    ended: bool,
}

impl Whole {
    /// Nothing read yet of a file of this name, which stands in errors.
    #[must_use]
    pub fn new(file: &str) -> Self {
        Self {
            file: file.to_owned(),
            sha256: Sha256::new(),
            at: 0,
            ended: false,
        }
    }

    /// The name of the file.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// What is wanted next: a mebibyte, until fewer bytes come or the file's end is known.
    #[must_use]
    pub fn step(&self) -> Step<()> {
        if self.ended {
            Step::Done
        } else {
            Step::Need(self.wanted())
        }
    }

    fn wanted(&self) -> Range<u64> {
        self.at..self.at.saturating_add(PIECE)
    }

    /// Hands the next bytes on to `take`, and counts them.
    ///
    /// # Errors
    /// [`Error::Unexpected`] for others than the next bytes; those of `take`.
    pub fn feed(
        &mut self,
        at: u64,
        bytes: &[u8],
        total: Option<u64>,
        take: impl FnOnce(&[u8]) -> Result<()>,
    ) -> Result<()> {
        if at != self.at {
            return Err(Error::Unexpected {
                file: self.file.clone(),
                at,
                asked: PIECE,
                got: bytes.len() as u64,
            });
        }
        take(bytes)?;
        self.sha256.update(bytes);
        self.at += bytes.len() as u64;
        self.ended = (bytes.len() as u64) < PIECE || total == Some(self.at);
        Ok(())
    }

    /// The SHA-256 of all that has come.
    #[must_use]
    pub fn sha256(self) -> [u8; 32] {
        self.sha256.finalize().into()
    }
}
