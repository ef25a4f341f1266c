//! What can go wrong when bytes are fetched or written: the core's errors, and those of the world.

use std::{fmt, io};

use super::fault::{Fault, Kind};
use crate::error;

/// A failure of a driver: what, which file, which bytes, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The core refused: see there.
    Core(error::Error),
    /// A local file could not be read or written.
    Io {
        /// The file's path, as the user gave it.
        file: String,
        /// What happened, and what to do.
        what: String,
    },
    /// A server's answer cannot be used, or none came.
    Http {
        /// The URL as the user gave it, without a user name or password.
        file: String,
        /// The status, where there was an answer.
        status: Option<u16>,
        /// What happened, for which bytes, and what to do.
        what: String,
    },
    /// The file is no longer the one that was opened.
    Changed {
        /// The file's path or URL.
        file: String,
        /// How it differs.
        what: String,
    },
    /// The user cancelled.
    Interrupted,
}

impl Error {
    /// The error for a failed operation on a local file; `doing` is a verb such as `read` or `write`.
    #[must_use]
    pub fn io(file: impl Into<String>, doing: &str, error: &io::Error) -> Self {
        let what = match error.kind() {
            io::ErrorKind::NotFound => "no such file: check the path".to_owned(),
            io::ErrorKind::PermissionDenied => {
                format!("no permission to {doing} it: check its mode and owner")
            }
            io::ErrorKind::IsADirectory => {
                "it is a folder, not a file: name the files in it".to_owned()
            }
            io::ErrorKind::NotADirectory => "a part of its path is not a folder".to_owned(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                format!("no space left to {doing} it: free some, or name another place")
            }
            io::ErrorKind::ReadOnlyFilesystem => {
                format!("cannot {doing} it on a read-only file system: name another place")
            }
            _ => format!("cannot {doing} it: {error}"),
        };
        Self::Io {
            file: file.into(),
            what,
        }
    }

    /// The error for a fault of the server that `file` lies on.
    pub(super) fn fault(file: &str, fault: Fault) -> Self {
        let file = file.to_owned();
        match fault.kind {
            Kind::Changed => Self::Changed {
                file,
                what: fault.what,
            },
            _ => Self::Http {
                file,
                status: fault.status,
                what: fault.what,
            },
        }
    }

    /// The exit code of the program: 3 for input that is malformed or cannot be read, 130 if
    /// interrupted, else 1.
    ///
    /// Failures that may pass by themselves (no answer, a server that is busy or broken, a file that
    /// changed) are 1: the same command may work later.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Interrupted => 130,
            Self::Changed { .. } => 1,
            Self::Http { status, .. } => match status {
                None | Some(408 | 429 | 500..) => 1,
                Some(_) => 3,
            },
            Self::Core(_) | Self::Io { .. } => 3,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Core(error) => error.fmt(f),
            Self::Io { file, what }
            | Self::Http { file, what, .. }
            | Self::Changed { file, what } => {
                write!(f, "{file}: {what}")
            }
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Core(error) => Some(error),
            _ => None,
        }
    }
}

impl From<error::Error> for Error {
    fn from(error: error::Error) -> Self {
        Self::Core(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes() {
        let http = |status| Error::Http {
            file: String::new(),
            status,
            what: String::new(),
        };
        let core = error::Error::Parameter {
            name: "--memory",
            what: String::new(),
        };
        for (error, code) in [
            (Error::Core(core), 3),
            (Error::io("a", "read", &io::ErrorKind::NotFound.into()), 3),
            (http(Some(404)), 3),
            (http(Some(403)), 3),
            (http(Some(206)), 3),
            (http(Some(503)), 1),
            (http(Some(429)), 1),
            (http(None), 1),
            (Error::Interrupted, 130),
        ] {
            assert_eq!(error.exit_code(), code, "{error}");
        }
    }

    #[test]
    fn io_errors_say_what_to_do() {
        for (kind, word) in [
            (io::ErrorKind::NotFound, "no such file"),
            (io::ErrorKind::PermissionDenied, "permission"),
            (io::ErrorKind::IsADirectory, "folder"),
            (io::ErrorKind::StorageFull, "no space left"),
        ] {
            let text = Error::io("a.fits", "write", &kind.into()).to_string();
            assert!(
                text.starts_with("a.fits: ") && text.contains(word),
                "{text}"
            );
        }
    }
}
