//! Lists of exposures as their users keep them: text lists and JWST associations.
//!
//! [`read`] takes either by its name; [`resolve`] says where a listed file lies.

use crate::error::Result;

pub mod asn;
pub mod list;
mod locate;

pub use locate::resolve;

/// What a file with a list of exposures is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A text file with a name on each line.
    List,
    /// A JWST association.
    Association,
}

impl Kind {
    /// The kind by the name's ending: `.txt`, `.lst` and `.list` are lists, `.json` an association.
    ///
    /// The query and fragment of a URL do not count. `None` for every other name, which is then
    /// an exposure itself.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        let path = if locate::is_url(name) {
            name.split(['?', '#']).next().unwrap_or(name)
        } else {
            name
        };
        let (_, ending) = path.rsplit_once('.')?;
        match ending.to_ascii_lowercase().as_str() {
            "txt" | "lst" | "list" => Some(Self::List),
            "json" => Some(Self::Association),
            _ => None,
        }
    }
}

/// The exposures that a manifest names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Members {
    /// Paths or URLs. From [`list::parse`] and [`asn::parse`] as they are written, from [`read`]
    /// resolved.
    pub names: Vec<String>,
    /// What a user should know: what was left out and why, a sentence each.
    pub notes: Vec<String>,
}

impl Members {
    /// The same with names resolved beside the manifest `file`, its own path or URL.
    #[must_use]
    pub fn beside(mut self, file: &str) -> Self {
        for name in &mut self.names {
            *name = resolve(file, name);
        }
        self
    }
}

/// Reads a manifest; names are resolved beside `file`, the manifest's own path or URL.
///
/// # Errors
/// [`Error::Format`](crate::error::Error::Format) where the contents are not what the kind demands
/// or name no exposure.
pub fn read(kind: Kind, file: &str, bytes: &[u8]) -> Result<Members> {
    let members = match kind {
        Kind::List => list::parse(file, bytes),
        Kind::Association => asn::parse(file, bytes),
    }?;
    Ok(members.beside(file))
}
