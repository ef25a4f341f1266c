//! A small output that is written in one go: under another name until it is whole.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::journal::Journal;
use super::place::{FRESH, JOURNAL, beside, remove_file};
use super::{name_finally, refuse_folder};
use crate::cli::failure::{Failure, Result};

/// A file in the making. One that is given up leaves nothing behind.
#[derive(Debug)]
pub struct Fresh {
    target: PathBuf,
    path: PathBuf,
    out: Option<BufWriter<File>>,
    /// Held, so that no two processes write one output, and `clean` leaves it alone.
    lock: Option<Journal>,
}

impl Fresh {
    /// Begins a file.
    pub fn create(target: &Path) -> Result<Self> {
        refuse_folder(target)?;
        let lock = Journal::open(&beside(target, JOURNAL))?;
        let mut fresh = Self {
            target: target.to_owned(),
            path: beside(target, FRESH),
            out: None,
            lock: Some(lock),
        };
        let file = File::create(&fresh.path).map_err(|error| fresh.refused(&error))?;
        fresh.out = Some(BufWriter::new(file));
        Ok(fresh)
    }

    /// Does something with the file.
    pub fn with<T>(
        &mut self,
        write: impl FnOnce(&mut BufWriter<File>) -> io::Result<T>,
    ) -> Result<T> {
        let done = match &mut self.out {
            Some(out) => write(out),
            None => Err(io::ErrorKind::NotConnected.into()),
        };
        done.map_err(|error| self.refused(&error))
    }

    /// Writes at the end of what was written last.
    pub fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.with(|out| out.write_all(bytes))
    }

    /// Writes somewhere in the file.
    pub fn put_at(&mut self, at: u64, bytes: &[u8]) -> Result<()> {
        self.with(|out| {
            out.seek(SeekFrom::Start(at))?;
            out.write_all(bytes)
        })
    }

    /// Gives the file its final name.
    pub fn finish(mut self) -> Result<()> {
        self.with(Write::flush)?;
        self.out = None;
        name_finally(&self.path, &self.target)?;
        match self.lock.take() {
            Some(lock) => lock.remove(),
            None => Ok(()),
        }
    }

    fn refused(&self, error: &io::Error) -> Failure {
        Failure::file(&self.path, "cannot write", error)
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        if let Some(lock) = self.lock.take() {
            self.out = None;
            // Why it was given up is being said already.
            let _ = remove_file(&self.path);
            let _ = lock.remove();
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn it_appears_when_it_is_whole_and_leaves_nothing_when_it_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a.csv");
        let mut fresh = Fresh::create(&target).unwrap();
        fresh.put(b"1,2\n").unwrap();
        fresh.put_at(2, b"3").unwrap();
        assert!(!target.exists());
        assert!(
            Fresh::create(&target)
                .unwrap_err()
                .message
                .contains("another process")
        );
        fresh.finish().unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"1,3\n");
        Fresh::create(&target).unwrap().put(b"x").unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"1,3\n");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(Fresh::create(folder.path()).is_err());
    }
}
