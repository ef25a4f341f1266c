//! What is wrong with a formula or an adduct.

use std::fmt;

/// A formula or adduct that cannot be read: where, and why.
///
/// Displayed as `character 3: "Xx" is not an element`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Characters before the one that is wrong.
    pub at: usize,
    /// What is wrong there, by its symbol, and what to write instead.
    pub what: String,
}

impl Fault {
    pub(super) fn new(at: usize, what: impl Into<String>) -> Self {
        Self {
            at,
            what: what.into(),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "character {}: {}", self.at + 1, self.what)
    }
}

impl std::error::Error for Fault {}
