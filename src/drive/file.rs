//! Local files, read by position.

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;
use std::time::UNIX_EPOCH;

use super::error::Error;
use super::policy::Identity;
use super::session::{Got, Session};

/// Largest piece read at once, in bytes, so that a cancel is noticed in time on a slow disk.
const PIECE: usize = 1 << 20;

/// Looks at a file: its size, its time and its number tell one version from another.
///
/// # Errors
/// [`Error::Io`] if there is none, if it may not be read, or if it is not a regular file.
pub(super) fn inspect(name: &str, path: &Path) -> Result<Identity, Error> {
    open(name, path).map(|(_, identity)| identity)
}

/// Fills `buffer` from byte `start` on; less only where the file ends.
///
/// The file is opened for each read: thousands of exposures would use up the open files that a
/// process may have, and opening costs microseconds.
///
/// # Errors
/// Those of [`inspect`]; [`Error::Changed`] if the file is not the `known` one.
pub(super) fn read(
    session: &Session,
    name: &str,
    path: &Path,
    known: &Identity,
    start: u64,
    buffer: &mut [u8],
) -> Result<Got, Error> {
    let (file, identity) = open(name, path)?;
    if let Some(what) = known.difference(&identity) {
        return Err(changed(name, &what));
    }
    let total = identity.total.unwrap_or(0);
    let wanted = total.saturating_sub(start).min(buffer.len() as u64);
    let wanted = usize::try_from(wanted).unwrap_or(buffer.len());
    session.meter.request();
    let counted = |bytes| session.meter.fetched(bytes);
    let got = fill(session, &file, name, start, &mut buffer[..wanted], counted)?;
    if got < wanted {
        return Err(changed(name, "it became shorter"));
    }
    Ok(Got {
        bytes: got,
        total: Some(total),
    })
}

/// Fills `buffer` from byte `start` of a file that this program writes; less only where it ends.
///
/// # Errors
/// [`Error::Io`], and [`Error::Interrupted`].
pub(super) fn read_scratch(
    session: &Session,
    name: &str,
    path: &Path,
    start: u64,
    buffer: &mut [u8],
) -> Result<Got, Error> {
    let file = File::open(path).map_err(|error| Error::io(name, "read back", &error))?;
    let bytes = fill(session, &file, name, start, buffer, |_| {})?;
    // It grows: what its size is says nothing.
    Ok(Got { bytes, total: None })
}

/// Reads until the buffer is full or the file ends.
fn fill(
    session: &Session,
    file: &File,
    name: &str,
    start: u64,
    buffer: &mut [u8],
    counted: impl Fn(usize),
) -> Result<usize, Error> {
    let mut got = 0;
    while got < buffer.len() {
        session.halt.check()?;
        let piece = buffer.len().min(got + PIECE);
        match read_at(file, &mut buffer[got..piece], start + got as u64) {
            Ok(0) => break,
            Ok(n) => {
                got += n;
                counted(n);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Error::io(name, "read", &error)),
        }
    }
    Ok(got)
}

fn open(name: &str, path: &Path) -> Result<(File, Identity), Error> {
    // Before opening: that would wait for ever on a pipe without a writer.
    let metadata = std::fs::metadata(path).map_err(|error| Error::io(name, "read", &error))?;
    if metadata.is_dir() {
        return Err(Error::io(name, "read", &io::ErrorKind::IsADirectory.into()));
    }
    if !metadata.is_file() {
        return Err(Error::Io {
            file: name.to_owned(),
            what: "it is not a regular file, and only those can be read by ranges".to_owned(),
        });
    }
    let file = File::open(path).map_err(|error| Error::io(name, "read", &error))?;
    let metadata = file
        .metadata()
        .map_err(|error| Error::io(name, "read", &error))?;
    Ok((file, identity(&metadata)))
}

fn identity(metadata: &Metadata) -> Identity {
    let modified = metadata.modified().ok();
    let modified = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let modified = modified.map_or(0, |time| time.as_nanos());
    #[cfg(unix)]
    let number = std::os::unix::fs::MetadataExt::ino(metadata);
    #[cfg(not(unix))]
    let number = 0;
    Identity {
        etag: Some(format!("\"{:x}-{modified:x}-{number:x}\"", metadata.len())),
        modified: None,
        total: Some(metadata.len()),
    }
}

fn changed(name: &str, what: &str) -> Error {
    Error::Changed {
        file: name.to_owned(),
        what: format!("the file changed while it was read: {what}; start again"),
    }
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, at)
}

#[cfg(windows)]
fn read_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, at)
}
