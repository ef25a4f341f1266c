//! The files of a packing: what the job puts, and how a later run goes on.
//!
//! Peaks are spilled into one file and the store grows in another; a checkpoint says how far both
//! are. It replaces the one before only once both are on the disk, so that whatever it says is true
//! after a kill. The store gets its final name when it is whole.

#[cfg(unix)]
use std::fs::TryLockError;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use sectile::error::Error;
use sectile::ion::pack::job;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::names::{Names, hex, spill_of};
use crate::cli::failure::{Failure, Result};
use crate::cli::interrupt;
use crate::cli::output::journal::{Journal, Past};
use crate::cli::output::{begins_anew, name_finally, place};
use crate::cli::report::Report;

/// Bytes read at once while the finished store is read back.
const PIECE: usize = 64 << 10;

/// Before the job's own checkpoint: the bytes that the spill and the store then had, as two u64.
const SIZES: usize = 16;

/// A packing's files, locked for this process.
#[derive(Debug)]
pub struct Files {
    names: Names,
    journal: Journal,
    store: File,
    spill: File,
}

impl Files {
    /// Begins a packing, or goes on with one of the same fingerprint: then its checkpoint is given too,
    /// if `usable` says nothing against it.
    pub fn begin(
        names: Names,
        fingerprint: &Value,
        restart: bool,
        usable: impl Fn(&[u8]) -> sectile::error::Result<()>,
        report: &Report,
    ) -> Result<(Self, Option<Vec<u8>>)> {
        let mut journal = Journal::open(&names.journal)?;
        // Before the journal forgets where that of another run lies.
        let earlier = spill_of(&names.journal).filter(|spill| *spill != names.spill);
        let state = if restart {
            None
        } else {
            earlier_state(&mut journal, &names, fingerprint, usable, report)?
        };
        let anew = state.is_none();
        let spill = open(&names.spill, anew)?;
        lock(&spill, &names.spill)?;
        if anew {
            // The checkpoint first: it must not outlive what it speaks of.
            for old in [&names.state, &names.fresh].into_iter().chain(&earlier) {
                place::remove_file(old)
                    .map_err(|error| Failure::file(old, "cannot remove", &error))?;
            }
            journal.begin(fingerprint)?;
            empty(&spill, &names.spill)?;
        }
        let store = open(&names.part, anew)?;
        if anew {
            empty(&store, &names.part)?;
        }
        let files = Self {
            names,
            journal,
            store,
            spill,
        };
        Ok((files, state))
    }

    /// Where the spill lies.
    pub fn spill(&self) -> &Path {
        &self.names.spill
    }

    /// Does what the job asks for.
    pub fn put(&mut self, put: &job::Put<'_>) -> Result<()> {
        match put.file {
            job::File::Spill => write_at(&mut self.spill, &self.names.spill, put.at, put.bytes),
            job::File::Store => write_at(&mut self.store, &self.names.part, put.at, put.bytes),
            job::File::State => self.checkpoint(put.bytes),
        }
    }

    /// Replaces the checkpoint, once everything it speaks of is on the disk.
    fn checkpoint(&mut self, bytes: &[u8]) -> Result<()> {
        let Names {
            part,
            spill,
            state,
            fresh,
            ..
        } = &self.names;
        let mut sizes = Vec::with_capacity(SIZES);
        for (file, path) in [(&self.spill, spill), (&self.store, part)] {
            let size = file.sync_data().and_then(|()| file.metadata());
            let size = size.map_err(|error| Failure::file(path, "cannot write", &error))?;
            sizes.extend(size.len().to_le_bytes());
        }
        let whole = File::create(fresh).and_then(|mut file| {
            file.write_all(&sizes)?;
            file.write_all(bytes)
        });
        whole.map_err(|error| Failure::file(fresh, "cannot write", &error))?;
        name_finally(fresh, state)
    }

    /// Gives the store its final name and removes what lay beside it; the answer is the SHA-256 of
    /// its `bytes` bytes, read back from the disk. `on` is told how many have been read.
    pub fn finish(mut self, bytes: u64, on: impl FnMut(u64)) -> Result<String> {
        let part = &self.names.part;
        // An earlier run may have left something longer.
        self.store
            .set_len(bytes)
            .and_then(|()| self.store.sync_data())
            .map_err(|error| Failure::file(part, "cannot write", &error))?;
        let digest = digest(&mut self.store, part, bytes, on)?;
        name_finally(part, &self.names.target)?;
        self.remove()?;
        Ok(digest)
    }

    /// Removes all that lies beside the store: nobody can go on from it, or needs to.
    pub fn remove(self) -> Result<()> {
        let Self {
            names,
            journal,
            store,
            spill,
        } = self;
        drop((store, spill));
        // The journal last: while it is there, it guards the others and says where the spill is.
        for left in [&names.state, &names.fresh, &names.spill, &names.part] {
            place::remove_file(left)
                .map_err(|error| Failure::file(left, "cannot remove", &error))?;
        }
        journal.remove()
    }
}

/// The checkpoint of an earlier run, if it can be gone on with; else says why not.
fn earlier_state(
    journal: &mut Journal,
    names: &Names,
    fingerprint: &Value,
    usable: impl Fn(&[u8]) -> sectile::error::Result<()>,
    report: &Report,
) -> Result<Option<Vec<u8>>> {
    let why = match journal.past(fingerprint, 0)? {
        Past::Nothing => return Ok(None),
        Past::Other(why) => why,
        Past::Finished(_) => match fs::read(&names.state) {
            // It was stopped before it had anything to go on from.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => format!("its checkpoint cannot be read ({error})"),
            Ok(state) => match whole(names, state, usable) {
                Ok(state) => {
                    report.detail(1, "going on where the last run was stopped");
                    return Ok(Some(state));
                }
                Err(why) => why,
            },
        },
    };
    begins_anew(&names.target, &why, report);
    Ok(None)
}

/// The job's checkpoint, if it is one and the files that it speaks of are there; else why not.
fn whole(
    names: &Names,
    mut state: Vec<u8>,
    usable: impl Fn(&[u8]) -> sectile::error::Result<()>,
) -> std::result::Result<Vec<u8>, String> {
    let Some((sizes, rest)) = state.split_at_checked(SIZES) else {
        return Err("its checkpoint is too short".to_owned());
    };
    usable(rest).map_err(|error| match error {
        Error::Parameter { what, .. } => what,
        other => other.to_string(),
    })?;
    for (path, size) in [&names.spill, &names.part]
        .into_iter()
        .zip(sizes.chunks_exact(8))
    {
        let wanted = size
            .iter()
            .rev()
            .fold(0, |n, byte| n << 8 | u64::from(*byte));
        match fs::metadata(path) {
            Ok(there) if there.is_file() && there.len() >= wanted => {}
            Ok(_) => return Err(format!("{} has become shorter", path.display())),
            Err(error) => return Err(format!("{}: {error}", path.display())),
        }
    }
    state.drain(..SIZES);
    Ok(state)
}

fn open(path: &Path, anew: bool) -> Result<File> {
    // Not truncated here: another process may hold it.
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(anew)
        .truncate(false)
        .open(path)
        .map_err(|error| Failure::file(path, "cannot write", &error))
}

fn empty(file: &File, path: &Path) -> Result<()> {
    file.set_len(0)
        .map_err(|error| Failure::file(path, "cannot write", &error))
}

/// Tells `clean` in the spill's folder, which may not be the store's, that it is in use.
#[cfg(unix)]
fn lock(file: &File, path: &Path) -> Result<()> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(Failure::failed(format!(
            "{}: another process is writing this output; wait for it or choose another name",
            path.display()
        ))),
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => Ok(()),
        Err(TryLockError::Error(error)) => Err(Failure::file(path, "cannot lock it", &error)),
    }
}

/// Elsewhere a lock keeps this process itself from reading the spill back; the journal's must do.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "as where there are such locks")]
fn lock(_: &File, _: &Path) -> Result<()> {
    Ok(())
}

fn write_at(file: &mut File, path: &Path, at: u64, bytes: &[u8]) -> Result<()> {
    file.seek(SeekFrom::Start(at))
        .and_then(|_| file.write_all(bytes))
        .map_err(|error| Failure::file(path, "cannot write", &error))
}

fn digest(file: &mut File, path: &Path, bytes: u64, mut on: impl FnMut(u64)) -> Result<String> {
    let refused = |error: &io::Error| Failure::file(path, "cannot read back", error);
    let mut sha = Sha256::new();
    let mut piece = vec![0; PIECE];
    let mut done = 0;
    file.seek(SeekFrom::Start(0))
        .map_err(|error| refused(&error))?;
    while done < bytes {
        interrupt::check()?;
        let got = file.read(&mut piece).map_err(|error| refused(&error))?;
        if got == 0 {
            return Err(refused(&io::ErrorKind::UnexpectedEof.into()));
        }
        sha.update(&piece[..got]);
        done += got as u64;
        on(done);
    }
    Ok(hex(&sha.finalize()))
}
