//! Why a server's answer cannot be used, in words for the user.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::policy::{Asked, Take, WHOLE_FILE_LIMIT};

/// What kind of fault it is: the stable word that programs test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The status says that there are no bytes: 401, 404, 503 for too long, and so on.
    Status,
    /// The bytes are content-encoded.
    Encoding,
    /// The server does not heed ranges, and the file is too large to take whole.
    Ranges,
    /// The bytes are of another place in the file than was asked for.
    Place,
    /// Bodies kept ending before all bytes had come.
    Short,
    /// A body holds more than its head states.
    Long,
    /// The file is no longer the one that was opened.
    Changed,
    /// No answer came.
    Lost,
}

/// A reason to give up on a part: what the server did, for which bytes, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// The kind of fault.
    pub kind: Kind,
    /// The answer's status, where there was an answer.
    pub status: Option<u16>,
    /// The account of it; the file's name is for the driver to put before it.
    pub what: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl Fault {
    pub(super) fn new(kind: Kind, status: u16, what: String) -> Self {
        Self {
            kind,
            status: Some(status),
            what,
        }
    }

    /// A status that carries no bytes.
    pub(super) fn status(asked: &Asked, status: u16) -> Self {
        let advice = match status {
            401 | 403 => {
                "credentials are needed or do not suffice: give an Authorization header, or a \
                 fresh link if it was a signed one"
            }
            404 | 410 => "there is no such file: check the address",
            408 | 429 | 502..=504 => {
                "the server stayed busy: try again later or with fewer requests in flight"
            }
            416 => "the server refuses a range that lies inside the file",
            300..=399 => "the redirect leads nowhere: check the address",
            500..=599 => "the server failed: try again later or ask its operator",
            _ => "check the address, or ask the server's operator",
        };
        let times = match asked.tries {
            0 | 1 => String::new(),
            tries => format!(" at request {tries} of at most {}", asked.patience.tries),
        };
        let bytes = spell(asked.start, asked.end);
        let what = format!("bytes {bytes}: the server answered {status}{times}; {advice}");
        Self::new(Kind::Status, status, what)
    }

    /// A body that is content-encoded.
    pub(super) fn encoded(asked: &Asked, status: u16, encoding: &str) -> Self {
        let what = format!(
            "bytes {}: the server sends them with Content-Encoding {encoding:?}, so their place in \
             the file is unknown; have the server send this file without an encoding",
            spell(asked.start, asked.end)
        );
        Self::new(Kind::Encoding, status, what)
    }

    /// A 200 for a file that is too large to take whole.
    pub(super) fn no_ranges(asked: &Asked, total: Option<u64>) -> Self {
        let size = match total {
            Some(total) => format!("the file has {total} bytes"),
            None => "the file's size is unknown".to_owned(),
        };
        let what = format!(
            "bytes {}: the server ignores range requests (it answered 200 in place of 206), and \
             {size}; without ranges at most {WHOLE_FILE_LIMIT} bytes are taken; put the file on a \
             server that serves ranges, or download it first",
            spell(asked.start, asked.end)
        );
        Self::new(Kind::Ranges, 200, what)
    }

    /// A 206 that does not cover the start of what was asked for.
    pub(super) fn place(asked: &Asked, sent: &str) -> Self {
        let what = format!(
            "asked for the range of bytes {}, but the server sent {sent}; the server, or a proxy \
             before it, is not to be trusted with ranges",
            spell(asked.start, asked.end)
        );
        Self::new(Kind::Place, 206, what)
    }

    /// An answer about another version of the file.
    pub(super) fn changed(asked: &Asked, status: u16, how: &str) -> Self {
        let what = format!(
            "bytes {}: the file changed while it was read: {how}; start again",
            spell(asked.start, asked.end)
        );
        Self::new(Kind::Changed, status, what)
    }

    /// Bodies that broke off too often.
    pub(super) fn short(asked: &Asked, take: &Take, used: u64) -> Self {
        let what = format!(
            "bytes {}: short body at request {} of at most {}: {} bytes were to come, {used} came; \
             the connection or the server is faulty: try again later",
            spell(asked.start, asked.end),
            asked.tries,
            asked.patience.tries,
            take.take.max(1),
        );
        Self::new(Kind::Short, if take.whole { 200 } else { 206 }, what)
    }

    /// No answer, too often.
    pub(super) fn lost(asked: &Asked, why: &str) -> Self {
        Self {
            kind: Kind::Lost,
            status: None,
            what: format!(
                "bytes {}: no answer to {} requests ({why}); check the address and the network",
                spell(asked.start, asked.end),
                asked.tries
            ),
        }
    }
}

/// A half-open range in the inclusive form that HTTP and its users write.
pub(super) fn spell(start: u64, end: u64) -> String {
    format!("{start}-{}", end.saturating_sub(1))
}
