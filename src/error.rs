//! What can go wrong in the core, sorted by who is at fault.
//!
//! The core does no I/O, so there is no I/O variant: a driver has its own error, which wraps this one.

use std::fmt;

/// A result whose error is the core's.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A refusal by the core: what, where (file and byte) and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The bytes of a file are not what its format demands.
    Format {
        /// The file's path or URL, as the user gave it.
        file: String,
        /// The byte at which it was noticed.
        at: u64,
        /// What is wrong, and what to do.
        what: String,
    },
    /// The file is in order, but in a form that is not read here.
    Unsupported {
        /// The file's path or URL.
        file: String,
        /// Which form, by its own name, and what to do.
        what: String,
    },
    /// The exposures of a stack do not belong together.
    Mismatch {
        /// The exposure that differs from the first.
        file: String,
        /// Both values, and what to do.
        what: String,
    },
    /// A driver fed bytes that were not asked for, or fewer than were asked for.
    Unexpected {
        /// The file's path or URL.
        file: String,
        /// First byte of the read.
        at: u64,
        /// Bytes asked for.
        asked: u64,
        /// Bytes that came.
        got: u64,
    },
    /// The memory budget is too small.
    Budget {
        /// Bytes needed.
        need: u64,
        /// Bytes there are.
        have: u64,
        /// What needs them.
        what: String,
    },
    /// An option has a value that makes no sense.
    Parameter {
        /// The option's name.
        name: &'static str,
        /// What is wrong with it.
        what: String,
    },
}

impl Error {
    /// The kind of error as one stable lower-case word: what JavaScript sees as `error.code`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Format { .. } => "format",
            Self::Unsupported { .. } => "unsupported",
            Self::Mismatch { .. } => "mismatch",
            Self::Unexpected { .. } => "unexpected",
            Self::Budget { .. } => "budget",
            Self::Parameter { .. } => "parameter",
        }
    }

    /// The byte of the file that the error is about, where it is about one.
    #[must_use]
    pub fn at(&self) -> Option<u64> {
        match self {
            Self::Format { at, .. } | Self::Unexpected { at, .. } => Some(*at),
            _ => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Format { file, at, what } => write!(f, "{file}: byte {at}: {what}"),
            Self::Unsupported { file, what } | Self::Mismatch { file, what } => {
                write!(f, "{file}: {what}")
            }
            Self::Unexpected {
                file,
                at,
                asked,
                got,
            } => {
                write!(f, "{file}: byte {at}: asked for {asked} bytes, got {got}")
            }
            Self::Budget { need, have, what } => {
                write!(
                    f,
                    "the memory budget is {have} bytes, but {what} needs {need} bytes; "
                )?;
                write!(f, "give at least --memory {}KiB", need.div_ceil(1024))
            }
            Self::Parameter { name, what } => write!(f, "{name}: {what}"),
        }
    }
}

impl std::error::Error for Error {}
