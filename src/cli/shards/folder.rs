//! The folder beside an output in which the shards of a median meet.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use sectile::results::stack::Description;
use sectile::results::stack::job::LONGEST;
use sectile::results::stack::part::{HEADER, Identity, Sums};

use crate::cli::failure::{Failure, Result};
use crate::cli::output::journal::Journal;
use crate::cli::output::place::{JOURNAL, SHARDS, beside, remove_file, remove_shards};

/// What all shards are about. Names of unfinished ones begin with it.
const JOB: &str = "job.json";
/// The same once the result has its name, so that a removal that was interrupted is gone on with.
const ASSEMBLED: &str = "assembled.json";

/// The folder of the shards of one output.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// The folder that belongs to an output.
    pub fn of(target: &Path) -> Self {
        Self {
            path: beside(target, SHARDS),
        }
    }

    /// Where the part of a shard lies, shards counted from 0.
    pub fn part(&self, shard: u32) -> PathBuf {
        self.path.join(format!("{shard:05}.part"))
    }

    /// What the shards here are about; `None` if there are none.
    pub fn job(&self) -> Result<Option<Description>> {
        let path = self.path.join(JOB);
        let refused = |error: &io::Error| Failure::file(&path, "cannot read", error);
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(refused(&error)),
        };
        let mut text = Vec::new();
        let read = file.take(LONGEST).read_to_end(&mut text);
        read.map_err(|error| refused(&error))?;
        Ok(Some(Description::parse(&path.to_string_lossy(), &text)?))
    }

    /// Makes the folder a meeting place of this job. Several processes may do so at once.
    ///
    /// # Errors
    /// A failure that says what differs, if shards of another job are here, unless they are to give way.
    pub fn begin(&self, job: &Description, restart: bool) -> Result<()> {
        fs::create_dir_all(&self.path)
            .map_err(|error| Failure::file(&self.path, "cannot make the folder", &error))?;
        let advice = "assemble or remove them (`sectile clean`), choose another output, or begin anew with --restart";
        match self.job() {
            Ok(None) => {}
            Ok(Some(found)) => match found.difference(job) {
                None => return Ok(()),
                Some(_) if restart => {}
                Some(what) => {
                    return Err(Failure::input(
                        "mismatch",
                        format!(
                            "{}: holds shards of another job: not the same {what}; {advice}",
                            self.path.display()
                        ),
                    ));
                }
            },
            Err(_) if restart => {}
            Err(mut failure) => {
                failure.message = format!("{}; {advice}", failure.message);
                return Err(failure);
            }
        }
        self.write(&job.to_text()?)
    }

    /// Writes the description under a name of its own first, so that nobody sees half of it.
    fn write(&self, text: &str) -> Result<()> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let unique = (std::process::id(), now.unwrap_or_default().as_nanos());
        let fresh = self.path.join(format!("{JOB}.{}-{}", unique.0, unique.1));
        let written = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&fresh)
            .and_then(|mut file| {
                file.write_all(text.as_bytes())?;
                file.sync_all()
            })
            .and_then(|()| fs::rename(&fresh, self.path.join(JOB)));
        written.map_err(|error| {
            // Why it failed is being said already.
            let _ = remove_file(&fresh);
            Failure::file(&fresh, "cannot write", &error)
        })
    }

    /// The checksums of a part that is there; `None` if it is not.
    ///
    /// # Errors
    /// The core's for what is no part, or another one.
    pub fn open(&self, identity: &Identity) -> Result<Option<Sums>> {
        let path = self.part(identity.shard);
        let refused = |error: &io::Error| Failure::file(&path, "cannot read", error);
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(refused(&error)),
        };
        let size = file.metadata().map_err(|error| refused(&error))?.len();
        let mut header = Vec::with_capacity(HEADER);
        let read = file.take(HEADER as u64).read_to_end(&mut header);
        read.map_err(|error| refused(&error))?;
        let sums = identity.open(&path.to_string_lossy(), &header, size)?;
        Ok(Some(sums))
    }

    /// The journal of a shard, locked; `None` while another process is computing that shard.
    pub fn lock(&self, shard: u32) -> Result<Option<Journal>> {
        Journal::try_open(&beside(&self.part(shard), JOURNAL))
    }

    /// Notes that the result has its name, and removes all that is here.
    pub fn remove(&self) -> Result<()> {
        let refused = |error: &io::Error| Failure::file(&self.path, "cannot remove", error);
        match fs::rename(self.path.join(JOB), self.path.join(ASSEMBLED)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(refused(&error)),
            _ => {}
        }
        remove_shards(&self.path).map_err(|error| refused(&error))
    }

    /// Whether the result was made already, and only the removal was not finished.
    pub fn is_assembled(&self) -> bool {
        self.path.join(ASSEMBLED).is_file()
    }
}
