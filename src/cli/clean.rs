//! `sectile clean`: what killed runs have left beside their outputs.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::cli::arguments::Clean;
use crate::cli::failure::{Failure, Result};
use crate::cli::ions::pack::names::spill_of;
use crate::cli::output::place::{self, FRESH, JOURNAL, PART, SHARDS, SPILL, STATE, TILES, beside};
use crate::cli::report::{Report, size};

/// What our names end with.
const SUFFIXES: [&str; 7] = [PART, JOURNAL, STATE, FRESH, SPILL, TILES, SHARDS];

/// Those of folders.
const FOLDERS: [&str; 2] = [TILES, SHARDS];

/// Something left over.
#[derive(Debug)]
struct Left {
    path: PathBuf,
    /// The output it belongs to.
    target: PathBuf,
    bytes: u64,
    /// What its name ends with, of [`SUFFIXES`].
    suffix: &'static str,
}

/// Runs `sectile clean`.
pub fn run(arguments: &Clean, report: &mut Report) -> Result<()> {
    let mut left = find(&arguments.folder)?;
    // Journals go last: while one is there, its lock guards the part beside it.
    left.sort_by_key(|left| (left.suffix == JOURNAL, left.path.clone()));
    let mut freed = 0;
    for left in &left {
        let path = left.path.display();
        let lock = match held(left) {
            Ok(lock) => lock,
            Err(why) => {
                report.warn(&format!("{path}: left alone: {why}"));
                tell(report, left, false);
                continue;
            }
        };
        if arguments.dry_run {
            report.line(&format!("{path}\t{}", size(left.bytes)));
            tell(report, left, false);
            continue;
        }
        remove(left)?;
        drop(lock);
        freed += left.bytes;
        report.line(&format!("removed {path}\t{}", size(left.bytes)));
        tell(report, left, true);
    }
    if left.is_empty() {
        report.detail(1, "nothing is left over here");
    } else if !arguments.dry_run {
        report.detail(1, &format!("freed {}", size(freed)));
    }
    report.done(&sectile::job::Tally::default());
    Ok(())
}

fn tell(report: &Report, left: &Left, removed: bool) {
    let path = left.path.to_string_lossy();
    report.event(
        "leftover",
        json!({ "path": path, "bytes": left.bytes, "removed": removed }),
    );
}

/// The files of ours in a folder, and no others; links and folders inside are not followed.
///
/// A packing's spill may lie in another folder; its journal says where.
fn find(folder: &Path) -> Result<Vec<Left>> {
    let refused = |error: std::io::Error| Failure::file(folder, "cannot look into it", &error);
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(refused)? {
        let entry = entry.map_err(refused)?;
        let kind = entry.file_type().map_err(refused)?;
        let name = entry.file_name();
        let Some(name) = name.to_str() else {
            continue;
        };
        let suffix = SUFFIXES.into_iter().find(|suffix| {
            let wanted = if FOLDERS.contains(suffix) {
                kind.is_dir()
            } else {
                kind.is_file()
            };
            // A name that is nothing but the suffix was never given by us.
            wanted && name.len() > suffix.len() && name.ends_with(suffix)
        });
        if let Some(suffix) = suffix {
            let path = entry.path();
            let bytes = match entry.metadata() {
                _ if FOLDERS.contains(&suffix) => bytes_inside(&path),
                Ok(metadata) => metadata.len(),
                // A process that is writing has just given it another name.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(error) => return Err(refused(error)),
            };
            found.push(Left {
                target: folder.join(&name[..name.len() - suffix.len()]),
                bytes,
                suffix,
                path,
            });
        }
    }
    let elsewhere: Vec<Left> = found.iter().filter_map(spilled_elsewhere).collect();
    found.extend(elsewhere);
    Ok(found)
}

/// The spill that a journal names, where it lies in another folder.
fn spilled_elsewhere(left: &Left) -> Option<Left> {
    let is_journal = left.suffix == JOURNAL;
    let path = spill_of(&left.path).filter(|_| is_journal)?;
    let metadata = path.symlink_metadata().ok()?;
    let folder = |path: &Path| path.parent().and_then(|folder| folder.canonicalize().ok());
    (metadata.is_file() && folder(&path) != folder(&left.path)).then(|| Left {
        path,
        target: left.target.clone(),
        bytes: metadata.len(),
        suffix: SPILL,
    })
}

/// The locks of what is left over, where there are any; why not, if another process has one.
fn held(left: &Left) -> Result<Vec<File>, String> {
    let mut locks = Vec::new();
    // A spill is locked itself, since its journal may lie in a folder that is not looked into.
    let spill = (left.suffix == SPILL).then(|| left.path.clone());
    // Each shard has a journal of its own, for many processes write into one folder.
    let shards = if left.suffix == SHARDS {
        journals(&left.path)
    } else {
        Vec::new()
    };
    let beside = std::iter::once(beside(&left.target, JOURNAL));
    for path in beside.chain(spill).chain(shards) {
        let Ok(file) = File::open(path) else {
            continue;
        };
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            return Err("another process is writing this output".into());
        }
        // Where there are no locks, nothing can be told; the user asked for removal.
        locks.push(file);
    }
    Ok(locks)
}

/// The journals in a folder of shards.
fn journals(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let is_journal = |path: &PathBuf| path.to_str().is_some_and(|name| name.ends_with(JOURNAL));
    paths.filter(is_journal).collect()
}

fn remove(left: &Left) -> Result<()> {
    let removed = match left.suffix {
        SHARDS => place::remove_shards(&left.path),
        TILES => place::remove_tiles(&left.path),
        _ => place::remove_file(&left.path),
    };
    removed.map_err(|error| Failure::file(&left.path, "cannot remove", &error))
}

/// Bytes of the files in a folder, three levels deep at most: tiles are, shards are one.
fn bytes_inside(folder: &Path) -> u64 {
    bytes_below(folder, 3)
}

fn bytes_below(folder: &Path, levels: u8) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| Some((entry.path(), entry.metadata().ok()?)))
        .map(|(path, metadata)| match levels {
            1.. if metadata.is_dir() => bytes_below(&path, levels - 1),
            _ if metadata.is_file() => metadata.len(),
            _ => 0,
        })
        .sum()
}
