//! Whether an `.ibd` is, byte for byte, the one that its imzML was written for.

use md5::{Digest, Md5};
use sha1::Sha1;

use crate::error::{Error, Result};
use crate::imzml::dataset::Checksum;
use crate::imzml::sequence::Sequence;
use crate::imzml::value;
use crate::job::{Machine, Step};

/// Reads a whole `.ibd` and compares its checksum with the one that the imzML states.
///
/// MD5 and SHA-1 find accidents, not forgeries.
///
/// # Cost
/// One pass over the file, in reads of 1 MiB; constant memory.
#[derive(Debug)]
pub struct Check {
    file: String,
    stated: Checksum,
    sum: Sum,
    sequence: Sequence,
    at: u64,
    done: bool,
}

#[derive(Debug)]
enum Sum {
    Md5(Md5),
    Sha1(Sha1),
}

impl Check {
    /// A check of the file `file` (its path or URL, for messages) against what is stated.
    #[must_use]
    pub fn new(file: &str, stated: Checksum) -> Self {
        Self {
            file: file.to_owned(),
            sum: match stated {
                Checksum::Md5(_) => Sum::Md5(Md5::new()),
                Checksum::Sha1(_) => Sum::Sha1(Sha1::new()),
            },
            stated,
            sequence: Sequence::default(),
            at: 0,
            done: false,
        }
    }

    /// Takes the next bytes of the file.
    pub fn push(&mut self, bytes: &[u8]) {
        match &mut self.sum {
            Sum::Md5(sum) => sum.update(bytes),
            Sum::Sha1(sum) => sum.update(bytes),
        }
        self.at += bytes.len() as u64;
    }

    /// Bytes summed so far.
    #[must_use]
    pub fn at(&self) -> u64 {
        self.at
    }

    /// The file's size, where it is known.
    #[must_use]
    pub fn total(&self) -> Option<u64> {
        self.sequence.total()
    }

    /// The checksum of the bytes that were fed, which is that of the file once the check is done.
    #[must_use]
    pub fn sum(&self) -> Checksum {
        match &self.sum {
            Sum::Md5(sum) => Checksum::Md5(sum.clone().finalize().into()),
            Sum::Sha1(sum) => Checksum::Sha1(sum.clone().finalize().into()),
        }
    }

    /// The verdict on the bytes that were fed.
    ///
    /// # Errors
    /// [`Error::Format`] with both checksums if they differ.
    pub fn finish(self) -> Result<()> {
        let found = self.sum();
        if found == self.stated {
            return Ok(());
        }
        Err(Error::Format {
            file: self.file,
            at: self.at,
            what: format!(
                "the ibd's {}, but the imzML states {}: the file was changed, damaged or cut short; \
                 copy it again",
                shown(found),
                digits(self.stated)
            ),
        })
    }
}

fn shown(checksum: Checksum) -> String {
    match checksum {
        Checksum::Md5(_) => format!("MD5 is {}", digits(checksum)),
        Checksum::Sha1(_) => format!("SHA-1 is {}", digits(checksum)),
    }
}

/// A checksum as hexadecimal digits in lower case.
#[must_use]
pub fn digits(checksum: Checksum) -> String {
    match &checksum {
        Checksum::Md5(bytes) => value::digits(bytes),
        Checksum::Sha1(bytes) => value::digits(bytes),
    }
}

impl Machine for Check {
    type Item = ();

    fn step(&mut self) -> Result<Step<()>> {
        if self.done {
            return Ok(Step::Done);
        }
        if let Some(more) = self.sequence.growth() {
            self.sequence.grow(more);
        }
        let next = self.sequence.next();
        self.done = next.is_none();
        Ok(next.map_or(Step::Done, Step::Need))
    }

    fn feed(&mut self, at: u64, bytes: &[u8], total: Option<u64>) -> Result<()> {
        self.sequence.feed(&self.file, at, bytes, total)?;
        self.push(bytes);
        Ok(())
    }
}
