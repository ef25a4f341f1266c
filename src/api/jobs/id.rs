//! What names a job: a digest of all that its result depends on.

use std::fmt;

use sha2::{Digest, Sha256};

use super::ask::Asked;

/// Hex digits of an id.
const DIGITS: usize = 16;

/// The name of a job: 16 hex digits of a SHA-256.
///
/// Whoever asks for the same gets the same job; another version of dataset or program makes another job.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(String);

impl Id {
    /// The id of a job over `dataset` (`name@version`), made by `program` (its version).
    #[must_use]
    pub fn new(dataset: &str, asked: &Asked, program: &str) -> Self {
        let text = format!(
            "sectile job 1\n{dataset}\n{}\n{program}\n",
            asked.canonical()
        );
        let digest = Sha256::digest(text);
        let digits = digest.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        let digits = digits.take(DIGITS);
        Self(
            digits
                .filter_map(|digit| char::from_digit(digit.into(), 16))
                .collect(),
        )
    }

    /// Reads an id; `None` for what is none: other than 16 digits, or capitals.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        (text.len() == DIGITS && text.bytes().all(is_digit)).then(|| Self(text.to_owned()))
    }

    /// Its digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
