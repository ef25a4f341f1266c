//! A list of molecules on its way into a job.

use std::rc::Rc;

use crate::error::Result;
use crate::ion::database::{Molecules, Reader};
use crate::job::whole::Whole;
use crate::job::{Machine, Step};
use crate::results::stack::headers::last_name;

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
    whole: Whole,
    reader: Reader,
}

impl ListReading {
    /// A list of this path or URL, whose molecules may take `memory` bytes.
    #[must_use]
    pub fn new(file: &str, memory: u64) -> Self {
        Self {
            whole: Whole::new(file),
            reader: Reader::new(file, memory),
        }
    }

    /// The list, once all of it was fed.
    ///
    /// # Errors
    /// Those of [`Reader::finish`].
    pub fn into_list(self) -> Result<List> {
        Ok(List {
            name: last_name(self.whole.file()).to_owned(),
            molecules: Rc::new(self.reader.finish()?),
            sha256: self.whole.sha256(),
        })
    }
}

/// The list that comes with the program.
///
/// # Errors
/// [`Error::Budget`](crate::error::Error::Budget) if it does not fit `memory` bytes.
pub fn built_in(memory: u64) -> Result<List> {
    let mut reading = ListReading::new("molecules.csv", memory);
    reading.feed(0, BUILT_IN, Some(BUILT_IN.len() as u64))?;
    reading.into_list()
}

impl Machine for ListReading {
    type Item = ();

    fn step(&mut self) -> Result<Step<()>> {
        Ok(self.whole.step())
    }

    fn feed(&mut self, at: u64, bytes: &[u8], total: Option<u64>) -> Result<()> {
        let Self { whole, reader } = self;
        whole.feed(at, bytes, total, |bytes| reader.push(bytes))
    }
}
