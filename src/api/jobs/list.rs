//! A list of molecules on its way into a job.

use std::rc::Rc;

use sha2::{Digest as _, Sha256};

use crate::error::{Error, Result};
use crate::ion::database::{Molecules, Reader};
use crate::job::{Machine, Step};

/// Bytes that are asked for at once.
const PIECE: u64 = 1 << 20;

/// The list that comes with the program, as `sectile demo-data` writes it.
const BUILT_IN: &[u8] = include_bytes!("../../../www/ions/molecules.csv");

/// A list that was read.
#[derive(Debug, Clone)]
pub struct List {
    /// The file's own name: a folder or a query is no part of a result.
    pub name: String,
    /// What is in it.
    pub molecules: Rc<Molecules>,
    /// SHA-256 of its bytes.
    pub sha256: [u8; 32],
}

/// Reads a list from its first byte to its last.
#[derive(Debug)]
pub struct ListReading {
    file: String,
    reader: Reader,
    sha256: Sha256,
    at: u64,
    ended: bool,
}

impl ListReading {
    /// A list of this path or URL, whose molecules may take `memory` bytes.
    #[must_use]
    pub fn new(file: &str, memory: u64) -> Self {
        Self {
            file: file.to_owned(),
            reader: Reader::new(file, memory),
            sha256: Sha256::new(),
            at: 0,
            ended: false,
        }
    }

    /// The list, once all of it was fed.
    ///
    /// # Errors
    /// Those of [`Reader::finish`].
    pub fn into_list(self) -> Result<List> {
        Ok(List {
            name: last_name(&self.file).to_owned(),
            molecules: Rc::new(self.reader.finish()?),
            sha256: self.sha256.finalize().into(),
        })
    }
}

/// The list that comes with the program.
///
/// # Errors
/// [`Error::Budget`] if it does not fit `memory` bytes.
pub fn built_in(memory: u64) -> Result<List> {
    let mut reading = ListReading::new("molecules.csv", memory);
    reading.feed(0, BUILT_IN, Some(BUILT_IN.len() as u64))?;
    reading.into_list()
}

/// The last part of a path or of a URL without its query, as the command line writes it into results.
pub(super) fn last_name(name: &str) -> &str {
    let name = crate::results::stack::headers::without_query(name);
    name.rsplit(['/', '\\']).next().unwrap_or(name)
}

impl Machine for ListReading {
    type Item = ();

    fn step(&mut self) -> Result<Step<()>> {
        Ok(if self.ended {
            Step::Done
        } else {
            Step::Need(self.at..self.at.saturating_add(PIECE))
        })
    }

    fn feed(&mut self, at: u64, bytes: &[u8], total: Option<u64>) -> Result<()> {
        if at != self.at {
            return Err(Error::Unexpected {
                file: self.file.clone(),
                at,
                asked: PIECE,
                got: bytes.len() as u64,
            });
        }
        self.reader.push(bytes)?;
        self.sha256.update(bytes);
        self.at += bytes.len() as u64;
        self.ended = (bytes.len() as u64) < PIECE || total == Some(self.at);
        Ok(())
    }
}
