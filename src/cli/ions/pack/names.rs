//! Where a packing lies until it is finished.

use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::cli::failure::{Failure, Result};
use crate::cli::output::place::{FRESH, JOURNAL, PART, SPILL, STATE, beside};

/// More than this is no fingerprint.
const LONGEST: u64 = 64 << 10;

/// A store and what lies beside it.
#[derive(Debug, Clone)]
pub struct Names {
    /// The final name.
    pub target: PathBuf,
    /// The store in the making.
    pub part: PathBuf,
    /// Who packs what: its lock guards the others.
    pub journal: PathBuf,
    /// The checkpoint.
    pub state: PathBuf,
    /// The checkpoint that will replace it.
    pub fresh: PathBuf,
    /// The peaks, partitioned; beside the store or in another folder.
    pub spill: PathBuf,
}

impl Names {
    /// The names that belong to a store, with its spill in `temp`.
    pub fn new(target: &Path, temp: Option<&Path>) -> Result<Self> {
        let spill = match temp {
            None => beside(target, SPILL),
            Some(folder) => elsewhere(target, folder)?,
        };
        Ok(Self {
            target: target.to_owned(),
            part: beside(target, PART),
            journal: beside(target, JOURNAL),
            state: beside(target, STATE),
            fresh: beside(target, FRESH),
            spill,
        })
    }
}

/// A name in another folder that no other store's spill has, and that a later run finds again.
fn elsewhere(target: &Path, folder: &Path) -> Result<PathBuf> {
    if !folder.is_dir() {
        return Err(Failure::input(
            "missing",
            format!("--temp: there is no folder {}", folder.display()),
        ));
    }
    let refused =
        |error: std::io::Error| Failure::file(target, "cannot tell where it lies", &error);
    let whole = std::path::absolute(target).map_err(refused)?;
    let mark = hex(&Sha256::digest(whole.as_os_str().as_encoded_bytes())[..8]);
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let folder = std::path::absolute(folder).map_err(refused)?;
    Ok(folder.join(format!("{name}-{mark}{SPILL}")))
}

/// The spill that the journal of a packing names; `None` if it is another job's journal, or none.
pub fn spill_of(journal: &Path) -> Option<PathBuf> {
    let mut text = Vec::new();
    let file = std::fs::File::open(journal).ok()?;
    file.take(LONGEST).read_to_end(&mut text).ok()?;
    let first = text.split(|byte| *byte == b'\n').next()?;
    let fingerprint: Value = serde_json::from_slice(first).ok()?;
    let spill = fingerprint.get("spill")?.as_str()?;
    // Whatever a journal says, no file but a spill is meant.
    let name = Path::new(spill).file_name()?.to_str()?;
    (name.len() > SPILL.len() && name.ends_with(SPILL)).then(|| PathBuf::from(spill))
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or('0');
    let digits = bytes.iter();
    digits
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests {
    use super::*;

    #[test]
    fn spills_of_equal_names_do_not_collide_elsewhere() {
        let temp = tempfile::tempdir().unwrap();
        let spill = |target: &str| {
            Names::new(Path::new(target), Some(temp.path()))
                .unwrap()
                .spill
        };
        assert_eq!(spill("a/x.sectile"), spill("a/x.sectile"));
        assert_ne!(spill("a/x.sectile"), spill("b/x.sectile"));
        assert!(spill("a/x.sectile").starts_with(temp.path()));
        assert!(Names::new(Path::new("x.sectile"), Some(&temp.path().join("absent"))).is_err());
    }

    #[test]
    fn a_journal_names_a_spill_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let journal = folder.path().join("j");
        let says = |text: &str| {
            std::fs::write(&journal, text).unwrap();
            spill_of(&journal)
        };
        assert_eq!(
            says("{\"spill\":\"/t/x.sectile-spill\"}\nrest"),
            Some(PathBuf::from("/t/x.sectile-spill"))
        );
        for text in [
            "",
            "{}\n",
            "{\"spill\":\"/etc/passwd\"}\n",
            "{\"spill\":7}\n",
            "{\"spill\":\"/t/.sectile-spill\"}\n",
        ] {
            assert_eq!(says(text), None, "{text:?}");
        }
    }
}
