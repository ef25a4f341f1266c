//! `sectile clean`: what killed runs have left beside their outputs.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::cli::arguments::Clean;
use crate::cli::failure::{Failure, Result};
use crate::cli::output::place::{self, FRESH, JOURNAL, PART, TILES, beside};
use crate::cli::report::{Report, size};

/// Something left over.
#[derive(Debug)]
struct Left {
    path: PathBuf,
    /// The output it belongs to.
    target: PathBuf,
    bytes: u64,
    is_folder: bool,
}

/// Runs `sectile clean`.
pub fn run(arguments: &Clean, report: &mut Report) -> Result<()> {
    let mut left = find(&arguments.folder)?;
    // Journals go last: while one is there, its lock guards the part beside it.
    left.sort_by_key(|left| {
        (
            left.path.to_string_lossy().ends_with(JOURNAL),
            left.path.clone(),
        )
    });
    let mut freed = 0;
    for left in &left {
        let path = left.path.display();
        let lock = match held(&left.target) {
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
        let suffix = [PART, JOURNAL, FRESH, TILES].into_iter().find(|suffix| {
            let wanted = if *suffix == TILES {
                kind.is_dir()
            } else {
                kind.is_file()
            };
            // A name that is nothing but the suffix was never given by us.
            wanted && name.len() > suffix.len() && name.ends_with(suffix)
        });
        if let Some(suffix) = suffix {
            let path = entry.path();
            found.push(Left {
                target: folder.join(&name[..name.len() - suffix.len()]),
                bytes: if suffix == TILES {
                    tiles_bytes(&path)
                } else {
                    entry.metadata().map_err(refused)?.len()
                },
                is_folder: suffix == TILES,
                path,
            });
        }
    }
    Ok(found)
}

/// The lock of the journal beside an output, if there is one; why not, if another process has it.
fn held(target: &Path) -> Result<Option<File>, String> {
    let Ok(journal) = File::open(beside(target, JOURNAL)) else {
        return Ok(None);
    };
    match journal.try_lock() {
        Err(TryLockError::WouldBlock) => Err("another process is writing this output".into()),
        // Where there are no locks, nothing can be told; the user asked for removal.
        _ => Ok(Some(journal)),
    }
}

fn remove(left: &Left) -> Result<()> {
    let removed = if left.is_folder {
        place::remove_tiles(&left.path)
    } else {
        place::remove_file(&left.path)
    };
    removed.map_err(|error| Failure::file(&left.path, "cannot remove", &error))
}

fn tiles_bytes(folder: &Path) -> u64 {
    let inside = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten();
    inside(folder)
        .flat_map(|level| inside(&level.path()).collect::<Vec<_>>())
        .flat_map(|column| inside(&column.path()).collect::<Vec<_>>())
        .filter_map(|tile| tile.metadata().ok())
        .map(|tile| tile.len())
        .sum()
}
