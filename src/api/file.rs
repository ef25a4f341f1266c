//! A result of a job, all of it or a range.

use super::canonical::{digest, etag};
use super::conditions::{Wanted, lists, wanted};
use super::jobs::document::Document;
use super::problem::Problem;
use super::reply::Reply;
use super::request::Request;

/// Names of results, and their content types.
pub const RESULTS: [(&str, &str); 5] = [
    ("median.fits", "application/fits"),
    ("pyramid.fits", "application/fits"),
    ("results.csv", "text/csv; charset=utf-8"),
    ("annotations.json", "application/json"),
    ("images.sectile-images", "application/octet-stream"),
];

/// The content type of a result; `None` for what is none.
#[must_use]
pub fn content_type(file: &str) -> Option<&'static str> {
    let mut all = RESULTS.iter();
    all.find(|(name, _)| *name == file).map(|(_, kind)| *kind)
}

/// The entity tag of a result.
///
/// Of the job's name and of what its parts depend on: a list of molecules may be another one under the same name by the
/// time that a job is removed and done anew.
#[must_use]
pub fn tag(document: &Document, file: &str) -> String {
    let work = digest(&[&document.work], 64);
    etag(&format!("{}/{file} {work}", document.id))
}

/// What to send of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sending {
    /// This, and nothing else.
    Reply(Reply),
    /// This head, and the bytes `[start, end)` of the file as its body.
    Bytes {
        /// Status and headers.
        head: Reply,
        /// First byte.
        start: u64,
        /// Behind the last byte.
        end: u64,
    },
}

/// Decides what to send of the result `file` of `size` bytes, whose entity tag is `etag`.
///
/// 304 where the client has it, 206 for a range, 416 for one beyond the end, else 200. HEAD is answered like GET without
/// bytes, and without looking at the range (RFC 9110 §14.2).
#[must_use]
pub fn send(request: &Request<'_>, file: &str, size: u64, etag: &str) -> Sending {
    let Some(kind) = content_type(file) else {
        let detail = format!("{file:?} is no result of a job");
        return Sending::Reply(Problem::new("job", detail).reply());
    };
    if request.if_none_match.is_some_and(|tags| lists(tags, etag)) {
        return Sending::Reply(Reply::empty(304).with("ETag", etag));
    }
    let head = |status: u16, len: u64| {
        Reply::empty(status)
            .with("Content-Type", kind)
            .with("Content-Length", len.to_string())
            .with("Accept-Ranges", "bytes")
            .with("ETag", etag)
    };
    if request.method == "HEAD" {
        return Sending::Reply(head(200, size));
    }
    match wanted(request.range, request.if_range, etag, size) {
        Wanted::Whole => Sending::Bytes {
            head: head(200, size),
            start: 0,
            end: size,
        },
        Wanted::Part(start, end) => Sending::Bytes {
            head: head(206, end - start)
                .with("Content-Range", format!("bytes {start}-{}/{size}", end - 1)),
            start,
            end,
        },
        Wanted::Outside => Sending::Reply(
            Problem::new("range", format!("the file has {size} bytes"))
                .with("size", size)
                .with_header("Content-Range", format!("bytes */{size}"))
                .reply(),
        ),
    }
}
