//! What a file did that cannot be read, as a problem: one place for both hosts.

use crate::api::problem::Problem;

/// Seconds after which a file that was not to be had may be.
const AGAIN: u32 = 5;

/// What went wrong on the way to a file's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// It is not the file that the dataset was opened with. The host opens the dataset anew once before it says so.
    Changed,
    /// There is no such file, or it may not be read.
    Missing,
    /// It ends before the bytes that its header promises.
    Truncated,
    /// Its server does not give parts of it, or gives another part, or encodes it.
    NoRanges,
    /// Its server refused or failed: the status.
    Status(u16),
    /// Its server redirects, which is not followed.
    Redirect,
    /// No answer came in time, or the connection broke.
    Unreachable,
}

impl Trouble {
    /// What a server's final answer to a request for a part is, if it is trouble; `None` for 206.
    #[must_use]
    pub fn of_status(status: u16) -> Option<Self> {
        match status {
            206 => None,
            200 => Some(Self::NoRanges),
            300..=399 => Some(Self::Redirect),
            404 | 410 => Some(Self::Missing),
            412 => Some(Self::Changed),
            416 => Some(Self::Truncated),
            other => Some(Self::Status(other)),
        }
    }
}

/// The problem of a file: 503 with `Retry-After` for what may pass by itself, 502 for what the server of the file must
/// mend. `detail` names the file and what happened.
#[must_use]
pub fn problem(trouble: Trouble, detail: impl Into<String>) -> Problem {
    let detail = detail.into();
    match trouble {
        Trouble::Changed => Problem::changed(detail),
        Trouble::Unreachable | Trouble::Status(408 | 429 | 503 | 504) => {
            Problem::busy(detail, AGAIN)
        }
        Trouble::Missing
        | Trouble::Truncated
        | Trouble::NoRanges
        | Trouble::Redirect
        | Trouble::Status(_) => Problem::upstream(detail),
    }
}
