//! Which files below a folder a pattern names.
//!
//! The shell cannot do it: it does not know that what follows `m13=` is a path, nor below which folder.

use std::io;
use std::path::Path;

/// Most files that one pattern may name.
pub const MOST: usize = 100_000;

/// Whether a text is a pattern and not one file's name.
pub fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?'])
}

/// The files below `folder` that a pattern names, as paths with `/`, in the order of their names.
///
/// `*` stands for any characters of a name and `?` for one; neither for `/`, nor for a dot in front. Numbers in names are
/// not looked at: `10.fits` comes before `9.fits`.
///
/// # Errors
/// Where a folder cannot be read. Folders that are not there have no files.
pub fn expand(folder: &Path, pattern: &str) -> io::Result<Vec<String>> {
    let mut found = vec![String::new()];
    let mut names = pattern.split('/').peekable();
    while let Some(name) = names.next() {
        let is_last = names.peek().is_none();
        let mut next = Vec::new();
        for parent in &found {
            if is_pattern(name) {
                matching(folder, parent, name, is_last, &mut next)?;
            } else {
                next.push(joined(parent, name));
            }
        }
        next.truncate(MOST + 1);
        found = next;
    }
    found.retain(|path| folder.join(path).is_file());
    found.sort();
    Ok(found)
}

/// Adds the entries of one folder that fit one name of the pattern.
fn matching(
    folder: &Path,
    parent: &str,
    name: &str,
    is_last: bool,
    into: &mut Vec<String>,
) -> io::Result<()> {
    let entries = match std::fs::read_dir(folder.join(parent)) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Ok(()),
        Err(error) => return Err(error),
    };
    for entry in entries {
        // A name that is no text cannot stand in a catalog.
        let Ok(entry) = entry?.file_name().into_string() else {
            continue;
        };
        let fits = !entry.starts_with('.') && fits(name, &entry);
        let path = joined(parent, &entry);
        if fits && (is_last || folder.join(&path).is_dir()) {
            into.push(path);
        }
    }
    Ok(())
}

fn joined(parent: &str, name: &str) -> String {
    if parent.is_empty() {
        name.to_owned()
    } else {
        format!("{parent}/{name}")
    }
}

/// Whether a name fits a pattern: one pass, going back to the last `*` only.
fn fits(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(c) if *c == '?' || *c == name[n] => {
                p += 1;
                n += 1;
            }
            _ => match star {
                Some((at, from)) => {
                    star = Some((at, from + 1));
                    p = at + 1;
                    n = from + 1;
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks() {
        for (pattern, name, is) in [
            ("*", "a.fits", true),
            ("*.fits", "a.fits", true),
            ("*.fits", "a.fit", false),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("*a*b*", "xxaxxbaxb", true),
            ("*ab", "aab", true),
            ("a**", "a", true),
            ("", "", true),
            ("?", "\u{e9}", true),
        ] {
            assert_eq!(fits(pattern, name), is, "{pattern} {name}");
        }
    }

    #[test]
    fn only_files_below_are_named() {
        let folder = tempfile::tempdir().expect("a folder");
        for path in [
            "b/2.fits",
            "b/1.fits",
            "b/.h.fits",
            "a/1.fits",
            "c.fits",
            "a/x/1.fits",
        ] {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            std::fs::write(path, "").expect("written");
        }
        let expand = |pattern| expand(folder.path(), pattern).expect("readable");
        assert_eq!(expand("*/*.fits"), ["a/1.fits", "b/1.fits", "b/2.fits"]);
        assert_eq!(expand("b/?.fits"), ["b/1.fits", "b/2.fits"]);
        assert_eq!(expand("*"), ["c.fits"]);
        assert!(expand("absent/*.fits").is_empty());
        assert!(expand("c.fits/*").is_empty());
    }
}
