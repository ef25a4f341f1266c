//! The native driver: opens files and URLs, walks headers and runs jobs with threads.
//!
//! Bodies are streamed into the slots that the job lends; besides them a request in flight holds
//! its connection's buffers, about 72 KiB. When a function returns, whether well or with an error,
//! no request of its is running any more.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};

pub use super::crew::run;
pub use super::options::Options;
use super::policy::Identity;
use super::session::{Got, Session};
pub use super::walk::{Found, follow, walk, walk_all};
use super::{Error, file, part, url};
use crate::job::{Job, Tally};

/// How to run a job.
#[derive(Debug, Clone, Copy)]
pub struct Run<'a> {
    /// Most requests in flight; at least 1.
    pub in_flight: usize,
    /// Set it to stop: honoured within about a tenth of a second, except while a connection is being
    /// opened (then when that succeeds or its time runs out).
    pub cancel: &'a AtomicBool,
}

/// What happens while a job runs.
pub enum Event<'e, J: Job + 'e> {
    /// The job finished an item.
    Item(J::Item<'e>),
    /// A twentieth of a second or more has passed: what it has cost so far, and the job itself, which may be asked
    /// to save or to end.
    Progress(&'e Tally, &'e mut J),
}

/// Something that ranges are read from: a local file or a URL.
#[derive(Debug)]
pub struct Source {
    name: String,
    place: Place,
    options: Options,
    known: Mutex<Identity>,
}

/// The same source, which knows what this one knows now.
impl Clone for Source {
    fn clone(&self) -> Self {
        Self {
            name: self.name.clone(),
            place: self.place.clone(),
            options: self.options.clone(),
            known: Mutex::new(self.identity()),
        }
    }
}

#[derive(Debug, Clone)]
enum Place {
    File(PathBuf),
    Web(String),
    /// A file that this program itself is writing.
    Scratch(PathBuf),
}

impl Source {
    /// Opens a path, a `file://` URL, or an `http://` or `https://` URL.
    ///
    /// A local file is looked at; a server is not asked before the first read.
    ///
    /// # Errors
    /// [`Error::Io`] for a file that is missing, may not be read or is no regular file;
    /// [`Error::Core`] for a URL of another kind.
    pub fn open(name: &str, options: &Options) -> Result<Self, Error> {
        let (place, known) = match url::scheme(name) {
            Some(_) if url::is_http(name) => {
                let target = url::without_fragment(name).to_owned();
                if url::origin(&target).is_none_or(|(_, host, _)| host.is_empty()) {
                    return Err(unspoken(name, "this address names no host"));
                }
                (Place::Web(url::encoded(&target)), Identity::default())
            }
            Some(scheme) if scheme.eq_ignore_ascii_case("file") => {
                let path = url::local_path(name)
                    .ok_or_else(|| unspoken(name, "this address names no file of this machine"))?;
                let path = PathBuf::from(path);
                let known = file::inspect(name, &path)?;
                (Place::File(path), known)
            }
            Some(scheme) => {
                let what = format!(
                    "{scheme}:// addresses are not read; give a path, or an http:// or https:// address"
                );
                return Err(unspoken(name, &what));
            }
            None => (
                Place::File(name.into()),
                file::inspect(name, name.as_ref())?,
            ),
        };
        Ok(Self {
            name: url::redacted(name),
            place,
            options: options.clone(),
            known: Mutex::new(known),
        })
    }

    /// The same source, which errors call by another name: an address without a query that is a secret.
    #[must_use]
    pub fn called(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name);
        self
    }

    /// Opens a local file that errors are to call by another name than its path.
    ///
    /// # Errors
    /// [`Error::Io`] for a file that is missing, may not be read or is no regular file.
    pub fn file(path: &Path, name: &str, options: &Options) -> Result<Self, Error> {
        Ok(Self {
            name: name.to_owned(),
            place: Place::File(path.to_owned()),
            options: options.clone(),
            known: Mutex::new(file::inspect(name, path)?),
        })
    }

    /// A file that a job writes and reads back: it may not be there yet, and it grows.
    ///
    /// No version of it is told from another, and its reads count as neither requests nor bytes
    /// fetched nor payload. A read beyond what was written finds the file too short.
    #[must_use]
    pub fn scratch(path: &Path) -> Self {
        Self {
            name: path.to_string_lossy().into_owned(),
            place: Place::Scratch(path.to_owned()),
            options: Options::default(),
            known: Mutex::default(),
        }
    }

    /// The path or URL as it was given, without a user name or password: what errors name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What tells this version of the source from another; for a URL, what answers told so far.
    #[must_use]
    pub fn identity(&self) -> Identity {
        self.known
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The path of a local file.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match &self.place {
            Place::File(path) => Some(path),
            Place::Web(_) | Place::Scratch(_) => None,
        }
    }

    /// Takes note of what an earlier reading told of this source; any other version of it is then an error.
    ///
    /// # Errors
    /// [`Error::Changed`] if it is known to be another version already.
    pub fn hold_to(&self, known: &Identity) -> Result<(), Error> {
        self.learn(known)
    }

    /// Reads a small file whole: a list of exposures, say.
    ///
    /// # Errors
    /// Those of reading, and [`Unsupported`](crate::error::Error::Unsupported) if it has more than
    /// `limit` bytes.
    pub fn read_whole(&self, limit: usize, tally: &mut Tally) -> Result<Vec<u8>, Error> {
        let session = Session::new(self.options.shared_agent(), 1);
        let mut bytes = Vec::new();
        // One byte more than allowed, so that a file that is too large shows without its size.
        let most = limit.saturating_add(1);
        let room = match &self.place {
            Place::File(path) => file::inspect(&self.name, path)?.total,
            Place::Web(_) | Place::Scratch(_) => None,
        };
        let room = room.and_then(|total| usize::try_from(total).ok());
        let answer = grow(
            &mut bytes,
            room.map_or(most, |total| total.min(most)),
            &self.name,
        )
        .and_then(|()| self.read(&session, 0, &mut bytes));
        session.meter.settle(tally);
        let got = answer?;
        if got.bytes > limit {
            return Err(Error::Core(crate::error::Error::Unsupported {
                file: self.name.clone(),
                what: format!("it has more than the {limit} bytes that are read of such a file"),
            }));
        }
        bytes.truncate(got.bytes);
        Ok(bytes)
    }

    /// Fills `buffer` from byte `start` on; less only where the source ends.
    pub(super) fn read(
        &self,
        session: &Session,
        start: u64,
        buffer: &mut [u8],
    ) -> Result<Got, Error> {
        match &self.place {
            Place::File(path) => {
                file::read(session, &self.name, path, &self.identity(), start, buffer)
            }
            Place::Web(_) => part::read(session, self, start, buffer),
            Place::Scratch(path) => file::read_scratch(session, &self.name, path, start, buffer),
        }
    }

    /// Whether this is a file of the program's own.
    pub(super) fn is_scratch(&self) -> bool {
        matches!(self.place, Place::Scratch(_))
    }

    pub(super) fn options(&self) -> &Options {
        &self.options
    }

    /// The address to ask; empty for a file.
    pub(super) fn url(&self) -> &str {
        match &self.place {
            Place::Web(url) => url,
            Place::File(_) | Place::Scratch(_) => "",
        }
    }

    /// Keeps what an answer told; two first answers may come at a time and differ.
    pub(super) fn learn(&self, later: &Identity) -> Result<(), Error> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(how) = known.difference(later) {
            return Err(Error::Changed {
                file: self.name.clone(),
                what: format!("the file changed while it was read: {how}; start again"),
            });
        }
        *known = known.completed(later);
        Ok(())
    }
}

/// Makes a buffer of `length` zeros, or says that there is no room for it.
pub(super) fn grow(buffer: &mut Vec<u8>, length: usize, name: &str) -> Result<(), Error> {
    buffer.clear();
    if buffer.try_reserve_exact(length).is_err() {
        return Err(Error::Core(crate::error::Error::Budget {
            need: length as u64,
            have: 0,
            what: format!("one read of {name}"),
        }));
    }
    buffer.resize(length, 0);
    Ok(())
}

fn unspoken(name: &str, what: &str) -> Error {
    Error::Core(crate::error::Error::Unsupported {
        file: url::redacted(name),
        what: what.to_owned(),
    })
}
