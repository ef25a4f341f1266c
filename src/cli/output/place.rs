//! The names of what lies beside an output until it is finished.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Ends the name of the file that finished sections are written to.
pub const PART: &str = ".sectile-part";
/// Ends the name of the list of finished sections.
pub const JOURNAL: &str = ".sectile-journal";
/// Ends the name of a converted file until it gets its final name.
pub const FRESH: &str = ".sectile-fresh";
/// Ends the name of the checkpoint of a packing.
pub const STATE: &str = ".sectile-state";
/// Ends the name of the file that peaks are spilled to.
pub const SPILL: &str = ".sectile-spill";
/// Ends the name of a folder of tiles until it gets its final name.
pub const TILES: &str = ".sectile-tiles";
/// Ends the name of the folder of what is finished of an annotation.
pub const SHARDS: &str = ".sectile-shards";
/// In such a folder: what shards are about that are computed by several processes.
pub const JOB: &str = "job.json";
/// In such a folder: the list of molecules, as the job was begun with it.
pub const LIST: &str = "molecules";

/// An output and what lies beside it.
#[derive(Debug, Clone)]
pub struct Place {
    /// The final name.
    pub target: PathBuf,
    /// Where finished sections go.
    pub part: PathBuf,
    /// Which sections those are.
    pub journal: PathBuf,
    /// Where a conversion goes.
    pub fresh: PathBuf,
}

impl Place {
    /// The names that belong to an output.
    pub fn new(target: &Path) -> Self {
        Self {
            target: target.to_owned(),
            part: beside(target, PART),
            journal: beside(target, JOURNAL),
            fresh: beside(target, FRESH),
        }
    }
}

/// `path` with something added to its last name.
pub fn beside(path: &Path, suffix: &str) -> PathBuf {
    // A trailing slash would make a hidden file inside the folder out of it.
    let mut name: OsString = path.components().as_path().as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Removes a file; that there is none is fine.
pub fn remove_file(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Removes a folder of tiles: `z/x/y.png` with numbers for names, and nothing else.
///
/// A folder that holds anything else stays, with what it holds; that there is none is fine.
pub fn remove_tiles(folder: &Path) -> io::Result<()> {
    let is_tile = |name: &str| name.strip_suffix(".png").is_some_and(is_number);
    remove_levels(folder, 2, is_tile)
}

/// Removes a folder of shards: what shards have written, what lies beside that while it is made, and what says which
/// job it is of; nothing else.
///
/// A folder that holds anything else stays, with what it holds; that there is none is fine.
pub fn remove_shards(folder: &Path) -> io::Result<()> {
    let is_shard = |name: &str| {
        let made = [PART, JOURNAL, FRESH].iter();
        let name = made.fold(name, |name, suffix| {
            name.strip_suffix(suffix).unwrap_or(name)
        });
        match name.split_once('.') {
            Some(("job" | "assembled", rest)) => rest.starts_with("json"),
            // A process that must not disturb another one adds its own number.
            Some((numbers, kind)) => {
                numbers.split('-').all(is_number)
                    && ["scores", "images", "part", "lock", "fresh"].contains(&kind)
            }
            None => name == LIST,
        }
    };
    remove_levels(folder, 0, is_shard)
}

/// Makes a new file of this process in a folder of shards: what is written there until it gets its name.
pub fn private(folder: &Path) -> io::Result<(fs::File, PathBuf)> {
    let process = std::process::id();
    // Another machine's process may have the same number.
    for attempt in 0_u32.. {
        let path = folder.join(format!("{process}-{attempt}.fresh"));
        match fs::File::create_new(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|file| (file, path)),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Removes a folder with so many levels of numbered folders in it, and below them the files that are ours.
fn remove_levels(folder: &Path, levels: u8, is_ours: fn(&str) -> bool) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let kind = entry.file_type()?;
        match name.to_str() {
            Some(name) if levels > 0 && kind.is_dir() && is_number(name) => {
                remove_levels(&entry.path(), levels - 1, is_ours)?;
            }
            Some(name) if levels == 0 && kind.is_file() && is_ours(name) => {
                remove_file(&entry.path())?;
            }
            _ => {}
        }
    }
    fs::remove_dir(folder)
}

fn is_number(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests {
    use super::*;

    #[test]
    fn names_stand_beside_the_output() {
        let place = Place::new(Path::new("a/out.fits"));
        assert_eq!(place.part, Path::new("a/out.fits.sectile-part"));
        assert_eq!(place.journal, Path::new("a/out.fits.sectile-journal"));
        assert_eq!(
            beside(Path::new("tiles/"), TILES),
            Path::new("tiles.sectile-tiles")
        );
    }

    #[test]
    fn only_shards_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let shards = folder.path().join("a.sectile-shards");
        fs::create_dir_all(&shards).unwrap();
        for name in [
            "00000.scores",
            "00001.scores",
            "00001.images",
            "00002.part",
            "00003.lock",
            "417-0.fresh",
            "417-1.scores",
            "job.json",
            "molecules",
            "00003.part.sectile-part",
            "00003.part.sectile-journal",
            "job.json.17-4",
            "x.images",
        ] {
            fs::write(shards.join(name), "x").unwrap();
        }
        assert!(remove_shards(&shards).is_err());
        assert_eq!(fs::read_dir(&shards).unwrap().count(), 1);
        fs::remove_file(shards.join("x.images")).unwrap();
        remove_shards(&shards).unwrap();
        remove_shards(&shards).unwrap();
        assert!(!shards.exists());
    }

    #[test]
    fn only_tiles_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let tiles = folder.path().join("t.sectile-tiles");
        fs::create_dir_all(tiles.join("0/0")).unwrap();
        fs::write(tiles.join("0/0/0.png"), "x").unwrap();
        fs::create_dir_all(tiles.join("1/0")).unwrap();
        fs::write(tiles.join("1/0/mine.txt"), "x").unwrap();
        assert!(remove_tiles(&tiles).is_err());
        assert!(!tiles.join("0").exists());
        assert!(tiles.join("1/0/mine.txt").exists());
        fs::remove_file(tiles.join("1/0/mine.txt")).unwrap();
        remove_tiles(&tiles).unwrap();
        remove_tiles(&tiles).unwrap();
        assert!(!tiles.exists());
    }
}
