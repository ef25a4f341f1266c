//! The first look at an `.ibd`: its UUID and its size.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::imzml::dataset::Dataset;
use crate::imzml::extent::UUID;
use crate::job::{Machine, Step};

/// Reads the 16 bytes that an `.ibd` begins with, and learns its size on the way.
///
/// # Cost
/// One read of 16 bytes; where the answer does not tell the size, none further: it is then an error.
#[derive(Debug)]
pub struct Ibd {
    file: String,
    first: Vec<u8>,
    total: Option<u64>,
    ended: bool,
    asked: Option<Range<u64>>,
}

impl Ibd {
    /// A look at the file `file`: its path or URL, for messages.
    #[must_use]
    pub fn new(file: &str) -> Self {
        Self {
            file: file.to_owned(),
            first: Vec::new(),
            total: None,
            ended: false,
            asked: None,
        }
    }

    /// The file's size in bytes, once it is known.
    #[must_use]
    pub fn size(&self) -> Option<u64> {
        self.total
    }

    /// The first bytes: 16, or fewer if the file has no more.
    #[must_use]
    pub fn first16(&self) -> &[u8] {
        &self.first
    }

    /// Compares an index with the file; see [`Dataset::settle`].
    ///
    /// # Errors
    /// Those of [`Dataset::settle`]; [`Error::Unsupported`] if the size is not known.
    pub fn settle(&self, dataset: &mut Dataset) -> Result<()> {
        let Some(size) = self.total else {
            return Err(Error::Unsupported {
                file: self.file.clone(),
                what: "the server does not tell the size of the ibd, so it cannot be seen whether \
                       it is whole; download it, or use another server"
                    .to_owned(),
            });
        };
        dataset.settle(&self.file, size, &self.first)
    }
}

impl Machine for Ibd {
    type Item = ();

    fn step(&mut self) -> Result<Step<()>> {
        let at = self.first.len() as u64;
        let end = self.total.map_or(UUID, |total| total.min(UUID));
        if self.ended || at >= end {
            return Ok(Step::Done);
        }
        self.asked = Some(at..end);
        Ok(Step::Need(at..end))
    }

    fn feed(&mut self, at: u64, bytes: &[u8], total: Option<u64>) -> Result<()> {
        let got = bytes.len() as u64;
        let asked = self.asked.take_if(|asked| asked.start == at);
        let asked = asked.map_or(0, |asked| asked.end - asked.start);
        let there = total.map_or(asked, |total| total.saturating_sub(at).min(asked));
        if got > there || (got == 0 && there > 0 && total.is_some()) {
            return Err(Error::Unexpected {
                file: self.file.clone(),
                at,
                asked: there,
                got,
            });
        }
        self.first.extend_from_slice(bytes);
        // An answer that is short shows where the file ends.
        let ends = (total.is_none() && got < asked).then_some(at + got);
        self.total = total.or(ends).or(self.total);
        self.ended = ends.is_some();
        Ok(())
    }
}
