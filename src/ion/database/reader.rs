//! The reader of a molecule list.

use crate::error::{Error, Result};
use crate::ion::database::Molecules;

/// Reads a molecule list.
#[derive(Debug)]
pub struct Reader {
    file: String,
    memory: u64,
}

impl Reader {
    /// A reader of the list `file` (its path or URL, for messages) whose result may take `memory` bytes.
    #[must_use]
    pub fn new(file: &str, memory: u64) -> Self {
        Self {
            file: file.to_owned(),
            memory,
        }
    }

    /// Takes the next bytes of the list, any number of them.
    ///
    /// # Errors
    /// None yet.
    pub fn push(&mut self, _bytes: &[u8]) -> Result<()> {
        Ok(())
    }

    /// The molecules.
    ///
    /// # Errors
    /// Always.
    pub fn finish(self) -> Result<Molecules> {
        Err(Error::Budget {
            need: self.memory,
            have: 0,
            what: self.file,
        })
    }
}
