//! What went wrong, as a document that programs can read: RFC 9457.

use std::fmt;

use serde_json::{Map, Value, json};

use super::reply::Reply;
use crate::error::Error;

/// The content type of a problem (RFC 9457 §3).
pub const PROBLEM_JSON: &str = "application/problem+json";

/// A refusal: status, a stable code, and what to do about it.
///
/// As JSON it has `type` (`/problems/<code>`), `title`, `status`, `detail`, `code` and what more there is to say: a plan,
/// the limits, what is allowed.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// The status code of the answer.
    pub status: u16,
    /// The kind of problem as one stable lower-case word.
    pub code: &'static str,
    /// The kind of problem in a few words, the same for all of its code.
    pub title: &'static str,
    /// What, where, and what to do, as a sentence.
    pub detail: String,
    /// Further members.
    pub extra: Map<String, Value>,
    /// Headers that belong to the status: `Allow`, `Retry-After`, `WWW-Authenticate`, `Content-Range`.
    pub headers: Vec<(&'static str, String)>,
}

/// Every code with its status and title.
pub const CODES: [(&str, u16, &str); 23] = [
    ("path", 400, "The path is malformed"),
    ("parameter", 400, "A parameter is malformed"),
    ("body", 400, "The body is malformed"),
    ("token", 401, "A token is needed"),
    ("route", 404, "There is no such address"),
    ("dataset", 404, "There is no such dataset"),
    ("version", 404, "The dataset has another version"),
    ("layer", 404, "There is no such layer"),
    ("outside", 404, "There is no such pixel"),
    ("job", 404, "There is no such job"),
    ("method", 405, "The method is not allowed"),
    ("busy-job", 409, "The job is not finished"),
    ("budget", 413, "It takes more than an answer may take"),
    ("body-size", 413, "The body is too long"),
    ("uri-length", 414, "The address is too long"),
    ("media-type", 415, "The body is not JSON"),
    ("range", 416, "There are no such bytes"),
    ("catalog", 500, "The dataset is not declared correctly"),
    ("format", 500, "A file of the dataset cannot be read"),
    ("internal", 500, "The server failed"),
    ("upstream", 502, "A file of the dataset cannot be had"),
    ("busy", 503, "The server is busy"),
    ("changed", 503, "A file of the dataset has changed"),
];

impl Problem {
    /// A problem of a code that is listed in [`CODES`]; any other is `internal`.
    #[must_use]
    pub fn new(code: &str, detail: impl Into<String>) -> Self {
        let known = CODES.iter().find(|(known, ..)| *known == code);
        let (code, status, title) = known.copied().unwrap_or(("internal", 500, CODES[19].2));
        Self {
            status,
            code,
            title,
            detail: detail.into(),
            extra: Map::new(),
            headers: Vec::new(),
        }
    }

    /// The same with a further member.
    #[must_use]
    pub fn with(mut self, member: &str, value: impl Into<Value>) -> Self {
        self.extra.insert(member.to_owned(), value.into());
        self
    }

    /// The same with a header.
    #[must_use]
    pub fn with_header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// 503, to be tried again after so many seconds.
    #[must_use]
    pub fn busy(detail: impl Into<String>, seconds: u32) -> Self {
        Self::new("busy", detail).retry_after(seconds)
    }

    /// 502: the server that has a file refused, redirected or sent something else.
    #[must_use]
    pub fn upstream(detail: impl Into<String>) -> Self {
        Self::new("upstream", detail)
    }

    /// 503: a file changed while it was read, and again after the dataset was opened anew.
    #[must_use]
    pub fn changed(detail: impl Into<String>) -> Self {
        Self::new("changed", detail).retry_after(1)
    }

    fn retry_after(self, seconds: u32) -> Self {
        self.with_header("Retry-After", seconds.to_string())
    }

    /// The document.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut members = self.extra.clone();
        let own = [
            ("type", json!(format!("/problems/{}", self.code))),
            ("title", json!(self.title)),
            ("status", json!(self.status)),
            ("detail", json!(self.detail)),
            ("code", json!(self.code)),
        ];
        members.extend(own.map(|(name, value)| (name.to_owned(), value)));
        Value::Object(members)
    }

    /// The answer.
    #[must_use]
    pub fn reply(&self) -> Reply {
        let mut reply = Reply::json(self.status, &self.to_json());
        reply.set("Content-Type", PROBLEM_JSON);
        for (name, value) in &self.headers {
            reply.set(name, value.clone());
        }
        reply
    }
}

impl From<Problem> for Reply {
    fn from(problem: Problem) -> Self {
        problem.reply()
    }
}

impl From<Error> for Problem {
    /// A budget is 413, bytes that did not come as asked 502, what a request says 400, all else the dataset's fault.
    fn from(error: Error) -> Self {
        let detail = error.to_string();
        match error {
            Error::Format { .. } | Error::Unsupported { .. } | Error::Mismatch { .. } => {
                Self::new("format", detail)
            }
            Error::Unexpected { .. } => Self::upstream(detail),
            Error::Budget { need, have, .. } => Self::new("budget", detail)
                .with("need_bytes", need)
                .with("have_bytes", have),
            Error::Parameter { .. } => Self::new("parameter", detail),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)
    }
}

impl std::error::Error for Problem {}
