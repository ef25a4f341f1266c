//! Which version of a file an answer is about.

use serde::{Deserialize, Serialize};

use super::field;

/// What tells one version of a file from another; each is `None` until an answer showed it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Identity {
    /// The entity tag as sent, quotes and `W/` included.
    pub etag: Option<String>,
    /// The `Last-Modified` field as sent.
    pub modified: Option<String>,
    /// The file's size in bytes.
    pub total: Option<u64>,
}

impl Identity {
    /// How a later answer differs from this one, as half a sentence; `None` if it does not.
    ///
    /// Sizes must agree, and so must entity tags by weak comparison. Dates are compared where no
    /// strong tag settles it: mirrors of one file often differ in them. What either side lacks is
    /// not compared.
    #[must_use]
    pub fn difference(&self, later: &Self) -> Option<String> {
        if let (Some(was), Some(is)) = (self.total, later.total)
            && was != is
        {
            return Some(format!("it had {was} bytes when it was opened, now {is}"));
        }
        if let (Some(was), Some(is)) = (&self.etag, &later.etag) {
            if !field::same_tag(was, is) {
                return Some(format!("its ETag was {was} when it was opened, now {is}"));
            }
            if !field::is_weak(was) && !field::is_weak(is) {
                return None;
            }
        }
        match (&self.modified, &later.modified) {
            (Some(was), Some(is)) if was != is => Some(format!(
                "it was last modified {was} when it was opened, now {is}"
            )),
            _ => None,
        }
    }

    /// This identity, with what it lacks taken from a later answer.
    #[must_use]
    pub fn completed(&self, later: &Self) -> Self {
        Self {
            etag: self.etag.clone().or_else(|| later.etag.clone()),
            modified: self.modified.clone().or_else(|| later.modified.clone()),
            total: self.total.or(later.total),
        }
    }
}
