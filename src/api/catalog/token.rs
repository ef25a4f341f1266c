//! A bearer token, held as a digest and compared without telling how far it is right.

use std::fmt;

use sha2::{Digest as _, Sha256};

/// What whoever asks for a private dataset must have: `Authorization: Bearer …` (RFC 6750 §2.1).
///
/// Only its SHA-256 is kept, so that neither a log nor a dump of memory shows it, and two digests are compared in a time
/// that depends on neither.
#[derive(Clone, PartialEq, Eq)]
pub struct Token([u8; 32]);

impl Token {
    /// Reads a declared token; `None` unless it is 1 to 512 of the characters that RFC 6750 allows.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let plain = text.trim_end_matches('=');
        let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/".contains(&byte);
        let well = !plain.is_empty() && text.len() <= 512 && plain.bytes().all(legal);
        well.then(|| Self(Sha256::digest(text).into()))
    }

    /// Whether the value of an `Authorization` header holds it; the scheme is read in any case (RFC 9110 §11.1).
    #[must_use]
    pub fn admits(&self, authorization: &str) -> bool {
        let Some((scheme, given)) = authorization.trim().split_once(' ') else {
            return false;
        };
        let given: [u8; 32] = Sha256::digest(given.trim()).into();
        let pairs = self.0.iter().zip(&given);
        let differing = pairs.fold(0, |differing, (a, b)| differing | (a ^ b));
        scheme.eq_ignore_ascii_case("bearer") && std::hint::black_box(differing) == 0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}
