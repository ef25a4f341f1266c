//! Which rows of an output are finished, so that a killed run can be gone on with.
//!
//! The first line is the fingerprint: everything that decides the result's bytes, as one JSON
//! object. Every further line is `[first,end]`: rows whose bytes are on the disk. A line counts
//! once its line end is there.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::cli::failure::{Failure, Result};

/// More than this is no journal: even one line a row of the tallest image stays far below.
const LONGEST: u64 = 64 << 20;

/// An open, locked journal.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
}

/// What a journal says about earlier runs.
#[derive(Debug, PartialEq, Eq)]
pub enum Past {
    /// There was none.
    Nothing,
    /// An earlier run of the same job finished these rows.
    Finished(Vec<Range<u32>>),
    /// An earlier run did something else: what differs.
    Other(String),
}

impl Journal {
    /// Opens or makes a journal and locks it for this process.
    ///
    /// # Errors
    /// A failure that says so if another process holds it.
    pub fn open(path: &Path) -> Result<Self> {
        Self::locked(path, File::try_lock)?.ok_or_else(|| busy(path))
    }

    /// As [`open`](Self::open), but `None` if another process holds it.
    pub fn try_open(path: &Path) -> Result<Option<Self>> {
        Self::locked(path, File::try_lock)
    }

    /// As [`open`](Self::open), for processes that write one output together: they keep out all who open it alone.
    pub fn open_shared(path: &Path) -> Result<Self> {
        Self::locked(path, File::try_lock_shared)?.ok_or_else(|| busy(path))
    }

    /// Whether nothing is noted in it.
    pub fn is_empty(&self) -> Result<bool> {
        let metadata = self.file.metadata();
        let refused = |error| Failure::file(&self.path, "cannot read the journal", &error);
        Ok(metadata.map_err(refused)?.len() == 0)
    }

    fn locked(
        path: &Path,
        lock: fn(&File) -> std::result::Result<(), TryLockError>,
    ) -> Result<Option<Self>> {
        loop {
            let file = OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .open(path)
                .map_err(|error| Failure::file(path, "cannot write the journal", &error))?;
            match lock(&file) {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                // Some network file systems know no locks; that is no reason not to write there.
                Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {}
                Err(TryLockError::Error(error)) => {
                    return Err(Failure::file(path, "cannot lock the journal", &error));
                }
            }
            // The process that held it may have finished, and removed it, in between.
            if is_still(&file, path) {
                return Ok(Some(Self {
                    path: path.to_owned(),
                    file,
                }));
            }
        }
    }

    /// What earlier runs have finished of a job with this fingerprint. A torn end is cut off, so
    /// that new lines do not run into it.
    pub fn past(&mut self, fingerprint: &Value, height: u32) -> Result<Past> {
        let mut text = Vec::new();
        let read = Read::by_ref(&mut self.file)
            .take(LONGEST)
            .read_to_end(&mut text);
        read.map_err(|error| Failure::file(&self.path, "cannot read the journal", &error))?;
        if text.is_empty() {
            return Ok(Past::Nothing);
        }
        let mut lines = text
            .split_inclusive(|byte| *byte == b'\n')
            .filter(|line| line.ends_with(b"\n"));
        let Some(first) = lines.next() else {
            return Ok(Past::Other("its journal was cut off".into()));
        };
        let Ok(earlier) = serde_json::from_slice::<Value>(first) else {
            return Ok(Past::Other("its journal is not one of ours".into()));
        };
        if earlier != *fingerprint {
            return Ok(Past::Other(difference(&earlier, fingerprint)));
        }
        let mut whole = first.len();
        let mut finished = Vec::new();
        for line in lines {
            match serde_json::from_slice::<[u32; 2]>(line) {
                Ok([start, end]) if start < end && end <= height => finished.push(start..end),
                _ => break,
            }
            whole += line.len();
        }
        self.cut(whole as u64)?;
        Ok(Past::Finished(finished))
    }

    /// Begins anew with this fingerprint.
    pub fn begin(&mut self, fingerprint: &Value) -> Result<()> {
        self.cut(0)?;
        self.append(&format!("{fingerprint}\n"))
    }

    /// Notes rows as finished. Their bytes must be on the disk already.
    pub fn finish(&mut self, rows: &Range<u32>) -> Result<()> {
        self.append(&format!("[{},{}]\n", rows.start, rows.end))
    }

    /// Removes the journal and lets go of it.
    pub fn remove(self) -> Result<()> {
        super::place::remove_file(&self.path)
            .map_err(|error| Failure::file(&self.path, "cannot remove the journal", &error))
    }

    fn cut(&mut self, length: u64) -> Result<()> {
        self.file
            .set_len(length)
            .and_then(|()| self.file.seek(SeekFrom::Start(length)))
            .map_err(|error| Failure::file(&self.path, "cannot write the journal", &error))?;
        Ok(())
    }

    fn append(&mut self, line: &str) -> Result<()> {
        self.file
            .write_all(line.as_bytes())
            .and_then(|()| self.file.sync_data())
            .map_err(|error| Failure::file(&self.path, "cannot write the journal", &error))
    }
}

fn busy(path: &Path) -> Failure {
    Failure::failed(format!(
        "{}: another process is writing this output; wait for it or choose another name",
        path.display()
    ))
}

/// Which fields of two fingerprints differ.
fn difference(earlier: &Value, now: &Value) -> String {
    let (Value::Object(earlier), Value::Object(now)) = (earlier, now) else {
        return "its journal is not one of ours".into();
    };
    let names = now
        .keys()
        .chain(earlier.keys().filter(|name| !now.contains_key(*name)));
    let changed: Vec<String> = names
        .filter(|name| earlier.get(*name) != now.get(*name))
        .map(|name| match (earlier.get(name), now.get(name)) {
            (Some(Value::Array(a)), Some(Value::Array(b))) if a.len() == b.len() => {
                let at: Vec<String> = (0..a.len())
                    .filter(|at| a[*at] != b[*at])
                    .map(|at| (at + 1).to_string())
                    .collect();
                format!("{name} (number {})", at.join(", "))
            }
            (Some(Value::Array(_)), _) | (_, Some(Value::Array(_))) => name.clone(),
            (a, b) => format!("{name} (then {}, now {})", shown(a), shown(b)),
        })
        .collect();
    format!("not the same {}", changed.join(", "))
}

fn shown(value: Option<&Value>) -> String {
    value.map_or_else(|| "none".into(), Value::to_string)
}

/// Whether an open file is the one that the path names now.
#[cfg(unix)]
fn is_still(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(open), Ok(named)) => (open.dev(), open.ino()) == (named.dev(), named.ino()),
        _ => false,
    }
}

/// Elsewhere an open file cannot be removed, so it is.
#[cfg(not(unix))]
fn is_still(_file: &File, _path: &Path) -> bool {
    true
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests {
    use super::*;
    use serde_json::json;
    use std::fs;

    fn reopened(path: &Path, fingerprint: &Value) -> Past {
        Journal::open(path).unwrap().past(fingerprint, 100).unwrap()
    }

    #[test]
    fn rows_survive_and_a_torn_line_does_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("o.sectile-journal");
        let print = json!({"inputs": ["a"], "plane": 0});
        assert_eq!(reopened(&path, &print), Past::Nothing);
        let mut journal = Journal::open(&path).unwrap();
        journal.begin(&print).unwrap();
        journal.finish(&(0..8)).unwrap();
        journal.finish(&(8..16)).unwrap();
        drop(journal);
        OpenOptions::new()
            .append(true)
            .open(&path)
            .unwrap()
            .write_all(b"[16,2")
            .unwrap();

        let mut journal = Journal::open(&path).unwrap();
        assert_eq!(
            journal.past(&print, 100).unwrap(),
            Past::Finished(vec![0..8, 8..16])
        );
        journal.finish(&(16..24)).unwrap();
        drop(journal);
        assert_eq!(
            reopened(&path, &print),
            Past::Finished(vec![0..8, 8..16, 16..24])
        );
    }

    #[test]
    fn another_job_is_told_apart_and_says_why() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("o.sectile-journal");
        Journal::open(&path)
            .unwrap()
            .begin(&json!({"inputs": ["a", "b"], "plane": 0}))
            .unwrap();
        let other = reopened(&path, &json!({"inputs": ["a", "c"], "plane": 3}));
        assert_eq!(
            other,
            Past::Other("not the same inputs (number 2), plane (then 0, now 3)".into())
        );
        fs::write(&path, "{\"inputs\":").unwrap();
        assert_eq!(
            reopened(&path, &json!({})),
            Past::Other("its journal was cut off".into())
        );
        fs::write(&path, "hello\n").unwrap();
        assert_eq!(
            reopened(&path, &json!({})),
            Past::Other("its journal is not one of ours".into())
        );
    }

    #[test]
    fn rows_outside_of_the_image_end_the_list() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("o.sectile-journal");
        fs::write(&path, "{}\n[0,10]\n[90,101]\n[20,30]\n").unwrap();
        let first = std::iter::once(0..10).collect();
        assert_eq!(reopened(&path, &json!({})), Past::Finished(first));
    }

    #[test]
    fn two_processes_cannot_hold_one_journal() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("o.sectile-journal");
        let held = Journal::open(&path).unwrap();
        let refused = Journal::open(&path).unwrap_err();
        assert!(refused.message.contains("another process"), "{refused}");
        held.remove().unwrap();
        assert!(Journal::open(&path).is_ok());
    }
}
