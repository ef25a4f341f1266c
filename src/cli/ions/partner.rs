//! Which `.ibd` belongs to an `.imzML`: the one of the same stem, whatever the case of its suffix.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cli::failure::{Failure, Result};
use crate::cli::identity::last_name;

/// Whether a path or URL ends with a suffix, in any case.
pub fn has_suffix(name: &str, suffix: &str) -> bool {
    last_name(name)
        .rsplit_once('.')
        .is_some_and(|(_, found)| found.eq_ignore_ascii_case(suffix))
}

/// Whether a name is a URL, `file://` among them, and no path.
pub fn is_url(name: &str) -> bool {
    name.contains("://")
}

/// The partner of a local file.
///
/// # Errors
/// A failure that says what was looked for, if there is none, or names them, if there are several.
pub fn beside(imzml: &str) -> Result<PathBuf> {
    let path = Path::new(imzml);
    let stem = path.file_stem().unwrap_or_default();
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let refused = |error: std::io::Error| Failure::file(folder, "cannot look into it", &error);
    let mut exact = Vec::new();
    let mut alike = Vec::new();
    for entry in fs::read_dir(folder).map_err(refused)? {
        let name = PathBuf::from(entry.map_err(refused)?.file_name());
        let suffix = name.extension().and_then(|suffix| suffix.to_str());
        if !suffix.is_some_and(|suffix| suffix.eq_ignore_ascii_case("ibd")) {
            continue;
        }
        let found = name.file_stem().unwrap_or_default();
        if found == stem {
            exact.push(name);
        } else if found.to_string_lossy().to_lowercase() == stem.to_string_lossy().to_lowercase() {
            alike.push(name);
        }
    }
    let found = if exact.is_empty() { alike } else { exact };
    choose(found, imzml).map(|name| path.with_file_name(name))
}

/// The only one, or the one that is written as the `.imzML` is.
fn choose(mut found: Vec<PathBuf>, imzml: &str) -> Result<PathBuf> {
    found.sort();
    let usual = if imzml.ends_with("IMZML") {
        "IBD"
    } else {
        "ibd"
    };
    if found.len() > 1
        && let Some(at) = found
            .iter()
            .position(|name| name.extension().is_some_and(|s| s == usual))
    {
        return Ok(found.swap_remove(at));
    }
    match (found.pop(), found.pop()) {
        (Some(name), None) => Ok(name),
        (Some(one), Some(other)) => Err(Failure::input(
            "parameter",
            format!(
                "{imzml}: both {} and {} lie beside it; name one with --ibd",
                other.display(),
                one.display()
            ),
        )),
        (None, _) => {
            let wanted = Path::new(imzml).with_extension("ibd");
            Err(missing(
                imzml,
                &format!("{} (in any case)", wanted.display()),
            ))
        }
    }
}

/// The failure for a dataset without numbers.
pub fn missing(imzml: &str, looked_for: &str) -> Failure {
    Failure::input(
        "missing",
        format!(
            "{imzml}: the .ibd file that belongs to it is not there: looked for {looked_for}; fetch it \
             too, or name it with --ibd"
        ),
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests {
    use super::*;

    #[test]
    fn suffixes_are_told_in_any_case() {
        for name in [
            "a.sectile",
            "b/A.SECTILE",
            "http://h/a.sectile?x=y.z",
            r"c:\d\e.Sectile",
        ] {
            assert!(has_suffix(name, "sectile"), "{name}");
        }
        for name in [
            "sectile",
            "a.sectile/b",
            "a.sectile.txt",
            "http://h/a?f=a.sectile",
        ] {
            assert!(!has_suffix(name, "sectile"), "{name}");
        }
    }

    #[test]
    fn partners_are_found_by_stem() {
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str| fs::write(folder.path().join(name), "x").unwrap();
        let found = |name: &str| {
            let path = folder.path().join(name);
            let partner = beside(path.to_str().unwrap());
            partner.map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
        };
        for name in [
            "a b µ.IBD",
            "c.ibd",
            "c.IBD",
            "D.ibd",
            "e.iBd",
            "e.Ibd",
            "f.ibd.txt",
        ] {
            put(name);
        }
        assert_eq!(found("a b µ.imzML").unwrap(), "a b µ.IBD");
        assert_eq!(found("c.imzML").unwrap(), "c.ibd");
        assert_eq!(found("c.IMZML").unwrap(), "c.IBD");
        assert_eq!(found("d.imzML").unwrap(), "D.ibd");
        let several = found("e.imzML").unwrap_err().message;
        assert!(several.contains("e.Ibd and e.iBd"), "{several}");
        let none = found("f.imzML").unwrap_err().message;
        assert!(none.contains("f.ibd") && none.contains("--ibd"), "{none}");
    }
}
