//! What files the images of one call go to.

use std::path::{Path, PathBuf};

use crate::cli::arguments::Mass;
use crate::cli::failure::{Failure, Result};

/// Stands in a name for the m/z.
const MARK: &str = "{mz}";

/// Kinds of files that images are written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// 16-bit pictures, one for each m/z.
    Png,
    /// One numpy array.
    Npy,
    /// One table.
    Csv,
}

impl Kind {
    /// Reads the suffix.
    ///
    /// # Errors
    /// A usage failure that names the suffixes there are.
    pub fn of(path: &Path) -> Result<Self> {
        let suffix = path.extension().and_then(|suffix| suffix.to_str());
        match suffix.unwrap_or("").to_ascii_lowercase().as_str() {
            "png" => Ok(Self::Png),
            "npy" => Ok(Self::Npy),
            "csv" => Ok(Self::Csv),
            _ => Err(Failure::usage(format!(
                "{}: the suffix says what is written; use .png, .npy or .csv",
                path.display()
            ))),
        }
    }
}

/// The files to write: one for each m/z for pictures, else one for all.
///
/// # Errors
/// A usage failure, if two pictures would have one name.
pub fn targets(output: &Path, kind: Kind, masses: &[Mass]) -> Result<Vec<PathBuf>> {
    let named = |at: usize| -> PathBuf {
        let name = output.to_string_lossy();
        if name.contains(MARK) {
            return PathBuf::from(name.replace(MARK, &masses[at].text));
        }
        if masses.len() == 1 {
            return output.to_owned();
        }
        let suffix = output.extension().unwrap_or_default().to_string_lossy();
        let stem = output.file_stem().unwrap_or_default().to_string_lossy();
        output.with_file_name(format!("{stem}-{}.{suffix}", at + 1))
    };
    if kind != Kind::Png {
        return Ok(vec![output.to_owned()]);
    }
    let targets: Vec<PathBuf> = (0..masses.len()).map(named).collect();
    for (at, target) in targets.iter().enumerate() {
        if targets[..at].contains(target) {
            return Err(Failure::usage(format!(
                "{}: two images would have this name; give each m/z once",
                target.display()
            )));
        }
    }
    Ok(targets)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests {
    use super::*;
    use crate::cli::failure::Exit;

    fn masses(texts: &[&str]) -> Vec<Mass> {
        let mass = |text: &&str| Mass {
            text: (*text).to_owned(),
            value: text.parse().unwrap(),
        };
        texts.iter().map(mass).collect()
    }

    #[test]
    fn the_suffix_decides() {
        assert_eq!(Kind::of(Path::new("a.PNG")).unwrap(), Kind::Png);
        assert_eq!(Kind::of(Path::new("b/c.d.npy")).unwrap(), Kind::Npy);
        assert_eq!(Kind::of(Path::new("{mz}.csv")).unwrap(), Kind::Csv);
        for name in ["-", "a", "a.fits", ".png", ""] {
            assert_eq!(Kind::of(Path::new(name)).unwrap_err().exit, Exit::Usage);
        }
    }

    #[test]
    fn pictures_have_names_of_their_own() {
        let names = |output: &str, texts: &[&str]| {
            let found = targets(Path::new(output), Kind::Png, &masses(texts)).unwrap();
            found
                .iter()
                .map(|path| path.to_str().unwrap().to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(names("d/a.png", &["1"]), ["d/a.png"]);
        assert_eq!(names("d/a.png", &["1", "2"]), ["d/a-1.png", "d/a-2.png"]);
        assert_eq!(names("d/a-{mz}.png", &["1.50"]), ["d/a-1.50.png"]);
        assert_eq!(names("{mz}.png", &["1", "2.5"]), ["1.png", "2.5.png"]);
        assert!(targets(Path::new("{mz}.png"), Kind::Png, &masses(&["1", "1"])).is_err());
        assert_eq!(
            targets(Path::new("a.npy"), Kind::Npy, &masses(&["1", "2"])).unwrap(),
            [PathBuf::from("a.npy")]
        );
    }
}
