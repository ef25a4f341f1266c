//! Checkpoints: everything a job needs to go on, as bytes.

use crate::crc::checksum;
use crate::error::{Error, Result};

/// The first bytes of a checkpoint; the last one is the version.
const MAGIC: [u8; 8] = *b"SCTPACK\x01";

/// A hash of 64 bits over numbers (FNV-1a), for telling one dataset from another by accident.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fingerprint(u64);

impl Fingerprint {
    pub(super) fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    pub(super) fn number(&mut self, number: impl Into<u64>) {
        for byte in number.into().to_le_bytes() {
            self.byte(byte);
        }
    }

    pub(super) fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        text.bytes().for_each(|byte| self.byte(byte));
    }

    fn byte(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }

    pub(super) fn value(self) -> u64 {
        self.0
    }
}

/// Writes a checkpoint into a buffer that was reserved for other things.
#[derive(Debug)]
pub(super) struct Pen {
    pub(super) page: Vec<u8>,
}

impl Pen {
    /// On an empty page, whose capacity the caller has checked.
    pub(super) fn new(mut page: Vec<u8>, fingerprint: u64) -> Self {
        page.clear();
        let mut pen = Self { page };
        pen.bytes(&MAGIC);
        pen.number(fingerprint);
        pen
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.page.extend_from_slice(bytes);
    }

    pub(super) fn number(&mut self, number: u64) {
        self.bytes(&number.to_le_bytes());
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        let sum = checksum(&self.page);
        self.bytes(&sum.to_le_bytes());
        self.page
    }
}

/// Reads a checkpoint.
#[derive(Debug)]
pub(super) struct Eye<'a> {
    rest: &'a [u8],
}

impl<'a> Eye<'a> {
    /// Checks that the bytes are whole, and of the job with this fingerprint.
    pub(super) fn new(bytes: &'a [u8], fingerprint: u64) -> Result<Self> {
        let Some((body, sum)) = bytes.split_last_chunk::<4>() else {
            return Err(refused("it is empty"));
        };
        let Some(body_rest) = body.strip_prefix(&MAGIC) else {
            return Err(refused("it is not one, or one of another version"));
        };
        if checksum(body) != u32::from_le_bytes(*sum) {
            return Err(refused("it is damaged"));
        }
        let mut eye = Self { rest: body_rest };
        if eye.number()? != fingerprint {
            return Err(refused(
                "it is of another dataset, another budget or other options",
            ));
        }
        Ok(eye)
    }

    pub(super) fn bytes(&mut self, len: u64) -> Result<&'a [u8]> {
        let split = usize::try_from(len)
            .ok()
            .and_then(|len| self.rest.split_at_checked(len));
        let (bytes, rest) = split.ok_or_else(|| refused("it is too short"))?;
        self.rest = rest;
        Ok(bytes)
    }

    pub(super) fn number(&mut self) -> Result<u64> {
        let bytes = self.bytes(8)?;
        let number = bytes.first_chunk().map(|bytes| u64::from_le_bytes(*bytes));
        Ok(number.unwrap_or(0))
    }

    /// A number that says how many things there are, of which there can be `most`.
    pub(super) fn count(&mut self, most: usize) -> Result<usize> {
        let number = self.number()?;
        let count = usize::try_from(number).ok().filter(|count| *count <= most);
        count.ok_or_else(|| refused("a count in it is out of range"))
    }

    /// What is left.
    pub(super) fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.rest)
    }
}

pub(super) fn refused(why: &str) -> Error {
    Error::Parameter {
        name: "state",
        what: format!("the checkpoint cannot be gone on from: {why}"),
    }
}
