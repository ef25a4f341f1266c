//! Why a command ended early, and the exit code that says so to scripts.

use std::fmt;
use std::io;
use std::path::Path;

use sectile::drive;
use sectile::error::Error;

/// A result whose error ends the program.
pub type Result<T, E = Failure> = std::result::Result<T, E>;

/// Why a command ended early.
#[derive(Debug)]
pub struct Failure {
    /// What scripts see.
    pub exit: Exit,
    /// The kind as one stable lower-case word.
    pub code: &'static str,
    /// What, where, and what to do about it.
    pub message: String,
    /// The byte it is about, where it is about one.
    pub at: Option<u64>,
}

/// The exit codes, besides 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Something outside of the user's hand failed.
    Failed = 1,
    /// The command line itself is wrong.
    Usage = 2,
    /// What the user gave is malformed, missing, out of reach or does not fit.
    Input = 3,
    /// It came to a limit that the user had set, and can be gone on with.
    Stopped = 4,
    /// Ctrl-C, or a request to terminate.
    Interrupted = 130,
}

impl Failure {
    /// The command line is wrong in a way that its grammar cannot tell.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, "usage", message)
    }

    /// What the user gave cannot be worked with.
    pub fn input(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Exit::Input, code, message)
    }

    /// The user, or the system, wanted it to stop.
    pub fn interrupted(message: impl Into<String>) -> Self {
        Self::new(Exit::Interrupted, "interrupted", message)
    }

    /// It came to a limit that the user had set.
    pub fn stopped(message: impl Into<String>) -> Self {
        Self::new(Exit::Stopped, "stopped", message)
    }

    /// Something outside of the user's hand failed.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(Exit::Failed, "failed", message)
    }

    /// Says after an interruption that nothing was lost.
    #[must_use]
    pub fn advised(mut self) -> Self {
        if self.exit == Exit::Interrupted {
            "interrupted; the same command goes on from here, `sectile clean` removes what is left"
                .clone_into(&mut self.message);
        }
        self
    }

    fn new(exit: Exit, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            exit,
            code,
            message: message.into(),
            at: None,
        }
    }

    /// The file system refused: `doing` says what, as in "cannot write".
    pub fn file(path: &Path, doing: &str, error: &io::Error) -> Self {
        let (exit, code, advice) = match error.kind() {
            io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge => (
                Exit::Input,
                "space",
                "; make room and run it again: what is finished is kept",
            ),
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                (Exit::Input, "permission", "")
            }
            io::ErrorKind::NotFound => (Exit::Input, "missing", ""),
            io::ErrorKind::IsADirectory
            | io::ErrorKind::NotADirectory
            | io::ErrorKind::InvalidInput
            | io::ErrorKind::InvalidFilename
            | io::ErrorKind::InvalidData => (Exit::Input, "file", ""),
            _ => (Exit::Failed, "io", ""),
        };
        let message = format!("{}: {doing}: {error}{advice}", path.display());
        Self::new(exit, code, message)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self {
            exit: Exit::Input,
            code: error.code(),
            message: error.to_string(),
            at: error.at(),
        }
    }
}

impl From<drive::Error> for Failure {
    fn from(error: drive::Error) -> Self {
        let exit = match error.exit_code() {
            130 => Exit::Interrupted,
            3 => Exit::Input,
            _ => Exit::Failed,
        };
        match error {
            drive::Error::Core(error) => error.into(),
            error => Self {
                exit,
                code: match error {
                    drive::Error::Http { .. } => "http",
                    drive::Error::Changed { .. } => "changed",
                    drive::Error::Interrupted => "interrupted",
                    _ => "io",
                },
                message: error.to_string(),
                at: None,
            },
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_the_users_to_solve_and_says_what_is_kept() {
        let full = io::Error::from(io::ErrorKind::StorageFull);
        let failure = Failure::file(Path::new("out.fits"), "cannot write", &full);
        assert_eq!(failure.exit, Exit::Input);
        assert!(failure.message.contains("out.fits: cannot write"));
        assert!(failure.message.contains("what is finished is kept"));
    }

    #[test]
    fn the_cores_errors_keep_their_code_and_byte() {
        let failure = Failure::from(Error::Format {
            file: "a.fits".into(),
            at: 2880,
            what: "no END".into(),
        });
        assert_eq!((failure.exit, failure.code), (Exit::Input, "format"));
        assert_eq!(failure.at, Some(2880));
    }
}
