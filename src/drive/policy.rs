//! What a server's answer means: pure rules that the native and the web driver share.
//!
//! A *part* is one byte range that somebody wants. A driver sends a request for it, shows the
//! answer's head to [`judge`], or a transport's failure to [`judge_lost`], and does what the
//! [`Verdict`] says; when a body ends it shows what came to [`judge_body`].
//!
//! The rules come from faults met in the field:
//! - The status and `Content-Range` say where a body starts, never the request.
//! - Only `GET` with `bytes=first-last` is ever sent. Links signed for `GET` refuse `HEAD`; suffix
//!   ranges are not served everywhere; `If-Match` and `If-Range` never match a weak tag, force a
//!   CORS preflight and spoil caches. So the tags are compared here, by the client.
//! - A page may not see `Content-Range` or `ETag` (CORS): every rule also holds without them.
//! - The bytes of a content-encoded part cannot be placed, whatever its head says.

use serde::{Deserialize, Serialize};

use super::fault::{Fault, Kind, spell};
use super::field::{self, ContentRange};
pub use super::identity::Identity;

/// Largest file, in bytes, that is taken from a server without ranges: 16 MiB.
///
/// Such a file is streamed again for every part, and what is not wanted of it is thrown away.
pub const WHOLE_FILE_LIMIT: u64 = 16 << 20;

/// How long a driver puts up with a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Patience {
    /// Most requests for one part. Progress does not reset the count; only the requests that go on
    /// after an honest, shorter answer are not counted.
    pub tries: u32,
    /// The first wait in milliseconds; each further one is twice as long, less up to a half at random.
    pub first_wait_ms: u64,
    /// The longest wait in milliseconds, also where `Retry-After` asks for more.
    pub longest_wait_ms: u64,
}

impl Default for Patience {
    /// Six tries; waits from 250 ms to 30 s.
    fn default() -> Self {
        Self {
            tries: 6,
            first_wait_ms: 250,
            longest_wait_ms: 30_000,
        }
    }
}

/// What a request asked for, and what is known about the file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Asked {
    /// First byte asked for.
    pub start: u64,
    /// The byte after the last one asked for; more than `start`.
    pub end: u64,
    /// What earlier answers told about the file.
    pub known: Identity,
    /// Requests sent for this part, this one included, those after an honest short answer excluded.
    pub tries: u32,
    /// Whether the answer before this one ended honestly where this one starts.
    pub after_short: bool,
    /// Whether the client decodes content encodings itself, as browsers do.
    pub decodes: bool,
    /// How long to put up with the server.
    pub patience: Patience,
}

/// The head of an answer; a field that the server did not send or that CORS hides is `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs, reason = "the fields are named as in RFC 9110")]
pub struct Head {
    pub status: u16,
    pub content_range: Option<String>,
    pub content_encoding: Option<String>,
    pub content_length: Option<String>,
    pub content_type: Option<String>,
    pub etag: Option<String>,
    pub last_modified: Option<String>,
    pub retry_after: Option<String>,
}

/// What to do with an answer whose head has come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Verdict {
    /// Use the body.
    Take(Take),
    /// Drop the body, wait and send the same request again.
    Retry {
        /// Milliseconds to wait.
        wait_ms: u64,
        /// Whether the server is overloaded, so that fewer requests should be in flight.
        slow_down: bool,
    },
    /// Drop the body and ask again, only up to `end`.
    Clip {
        /// The byte after the last one to ask for now.
        end: u64,
        /// The file's size, if the answer told it.
        total: Option<u64>,
    },
    /// The file holds nothing at or after the asked start.
    End {
        /// The file's size, if it is known by now.
        total: Option<u64>,
    },
    /// Give up.
    Fail(Fault),
}

/// How to use a body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Take {
    /// Bytes of the body before the asked start, to be thrown away.
    pub skip: u64,
    /// Bytes to use after those. The rest of the body is not wanted: stop reading.
    pub take: u64,
    /// The length that the whole body must have, where the answer told it.
    pub body: Option<u64>,
    /// Whether the body is the whole file: the server did not heed the range.
    pub whole: bool,
    /// What is known about the file now.
    pub known: Identity,
}

/// What to do when a body has ended, or enough of it has come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum After {
    /// The part is complete, or the file ends in it.
    Done {
        /// Bytes of the range just asked for that are there.
        got: u64,
        /// The file's size, if it is known by now.
        total: Option<u64>,
    },
    /// An honest answer was shorter than the request: ask for the rest, `from` to the same end.
    Continue {
        /// First byte still missing.
        from: u64,
    },
    /// The body broke: wait, then ask for the rest.
    Retry {
        /// First byte still missing.
        from: u64,
        /// Milliseconds to wait.
        wait_ms: u64,
    },
    /// Give up.
    Fail(Fault),
}

/// Decides what to do with an answer from its head.
///
/// `dice` is a random number in 0..1 that spreads the waits of many clients; `now` is the time in
/// seconds since 1970, for a `Retry-After` that is a date.
#[must_use]
pub fn judge(asked: &Asked, head: &Head, dice: f64, now: u64) -> Verdict {
    match head.status {
        200 => whole(asked, head),
        206 => part(asked, head),
        416 => beyond(asked, head),
        // Temporary by their definition (RFC 9110 §15, RFC 6585 §4); the other 5xx are not.
        408 | 429 | 502 | 503 | 504 => {
            if asked.tries >= asked.patience.tries {
                return Verdict::Fail(Fault::status(asked, head.status));
            }
            let floor = head.retry_after.as_deref();
            let floor = floor.and_then(|text| field::retry_after(text, now));
            Verdict::Retry {
                wait_ms: wait(asked, floor, dice),
                slow_down: matches!(head.status, 429 | 503),
            }
        }
        status => Verdict::Fail(Fault::status(asked, status)),
    }
}

/// Decides what to do when no answer came: the connection was refused or reset, or time ran out.
///
/// `why` is the transport's own account of it.
#[must_use]
pub fn judge_lost(asked: &Asked, why: &str, dice: f64) -> Verdict {
    if asked.tries >= asked.patience.tries {
        return Verdict::Fail(Fault::lost(asked, why));
    }
    Verdict::Retry {
        wait_ms: wait(asked, None, dice),
        slow_down: false,
    }
}

/// Decides what to do when `received` bytes of a body have come, those to skip included.
///
/// `ended` says that the body ended in order, not by a lost connection; it does not matter once all
/// that was to be taken has come. A driver reads one byte more where the body should end with the
/// part, so that a body that is too long shows.
#[must_use]
pub fn judge_body(asked: &Asked, take: &Take, received: u64, ended: bool, dice: f64) -> After {
    if let Some(body) = take.body
        && received > body
    {
        return After::Fail(Fault::new(
            Kind::Long,
            206,
            format!(
                "bytes {}: the answer's body is longer than the {body} bytes that its head states; \
                 the server is not to be trusted with ranges",
                spell(asked.start, asked.end)
            ),
        ));
    }
    let used = received.saturating_sub(take.skip).min(take.take);
    let from = asked.start + used;
    if used == take.take && used > 0 {
        if from == asked.end || take.known.total == Some(from) {
            return After::Done {
                got: used,
                total: take.known.total,
            };
        }
        return After::Continue { from };
    }
    // Without a stated length, an orderly end is all there is to go by.
    if ended && take.body.is_none() {
        if take.whole && take.known.total.is_none() {
            return After::Done {
                got: used,
                total: Some(received),
            };
        }
        if !take.whole && used > 0 {
            return After::Continue { from };
        }
    }
    if asked.tries >= asked.patience.tries {
        return After::Fail(Fault::short(asked, take, used));
    }
    After::Retry {
        from,
        wait_ms: wait(asked, None, dice),
    }
}

/// A 200: the body is the whole file and starts at byte 0, whatever was asked for.
fn whole(asked: &Asked, head: &Head) -> Verdict {
    let encoded = encoding(head);
    if let Some(encoding) = encoded
        && !asked.decodes
    {
        return Verdict::Fail(Fault::encoded(asked, 200, encoding));
    }
    // The length of an encoded body is not the file's.
    let length = head.content_length.as_deref().and_then(field::number);
    let length = length.filter(|_| encoded.is_none());
    let known = match identity(asked, head, length) {
        Ok(known) => known,
        Err(fault) => return Verdict::Fail(fault),
    };
    let total = known.total;
    if total.unwrap_or(asked.end) > WHOLE_FILE_LIMIT {
        return Verdict::Fail(Fault::no_ranges(asked, total));
    }
    let end = total.map_or(asked.end, |total| asked.end.min(total));
    if end <= asked.start {
        return Verdict::End { total };
    }
    Verdict::Take(Take {
        skip: asked.start,
        take: end - asked.start,
        body: length,
        whole: true,
        known,
    })
}

/// A 206: the body is where `Content-Range` says; where that is hidden, it is what was asked for.
fn part(asked: &Asked, head: &Head) -> Verdict {
    if let Some(encoding) = encoding(head) {
        return Verdict::Fail(Fault::encoded(asked, 206, encoding));
    }
    let media = head.content_type.as_deref().map(field::media_type);
    if media.as_deref() == Some("multipart/byteranges") {
        return Verdict::Fail(Fault::place(asked, "several ranges in one body"));
    }
    let Some(text) = head.content_range.as_deref() else {
        return hidden_part(asked, head);
    };
    let Some(ContentRange::Part(range, total)) = field::content_range(text) else {
        return Verdict::Fail(Fault::place(asked, &format!("Content-Range {text:?}")));
    };
    let known = match identity(asked, head, total) {
        Ok(known) => known,
        Err(fault) => return Verdict::Fail(fault),
    };
    if let Some(total) = known.total
        && range.end > total
    {
        let how = format!(
            "it had {total} bytes when it was opened, now at least {}",
            range.end
        );
        return Verdict::Fail(Fault::changed(asked, 206, &how));
    }
    // An answer that starts too early is honest, but not worth reading through a big file.
    let covers = range.start <= asked.start && asked.start < range.end;
    if !covers || asked.start - range.start > WHOLE_FILE_LIMIT {
        let sent = format!("bytes {}", spell(range.start, range.end));
        return Verdict::Fail(Fault::place(asked, &sent));
    }
    Verdict::Take(Take {
        skip: asked.start - range.start,
        take: range.end.min(asked.end) - asked.start,
        body: Some(range.end - range.start),
        whole: false,
        known,
    })
}

/// A 206 whose `Content-Range` cannot be seen: it must not hold more than was asked for.
fn hidden_part(asked: &Asked, head: &Head) -> Verdict {
    let known = match identity(asked, head, None) {
        Ok(known) => known,
        Err(fault) => return Verdict::Fail(fault),
    };
    let end = known.total.map_or(asked.end, |total| asked.end.min(total));
    let take = end.saturating_sub(asked.start);
    let length = head.content_length.as_deref().and_then(field::number);
    if let Some(length) = length
        && length > take
    {
        let sent = format!("{length} bytes without a Content-Range");
        return Verdict::Fail(Fault::place(asked, &sent));
    }
    Verdict::Take(Take {
        skip: 0,
        take: length.unwrap_or(take),
        body: length,
        whole: false,
        known,
    })
}

/// A 416: the end, or even the start, lies behind the last byte.
fn beyond(asked: &Asked, head: &Head) -> Verdict {
    let stated = head.content_range.as_deref().and_then(field::content_range);
    let stated = match stated {
        Some(ContentRange::Unsatisfied(total)) => Some(total),
        _ => None,
    };
    let known = match identity(asked, head, stated) {
        Ok(known) => known,
        Err(fault) => return Verdict::Fail(fault),
    };
    let length = asked.end - asked.start;
    match known.total {
        Some(total) if asked.start >= total => Verdict::End { total: Some(total) },
        Some(total) if asked.end > total => Verdict::Clip {
            end: total,
            total: Some(total),
        },
        Some(_) => Verdict::Fail(Fault::status(asked, 416)),
        None if asked.after_short => Verdict::End {
            total: Some(asked.start),
        },
        // The size is hidden and the server does not clip: feel for the end.
        None if length > 1 => Verdict::Clip {
            end: asked.start + (length / 4).max(1),
            total: None,
        },
        None => Verdict::End { total: None },
    }
}

/// What is known about the file after this answer, or the fault that it is another version.
fn identity(asked: &Asked, head: &Head, total: Option<u64>) -> Result<Identity, Fault> {
    let later = Identity {
        etag: head.etag.clone(),
        modified: head.last_modified.clone(),
        total,
    };
    if let Some(how) = asked.known.difference(&later) {
        let media = head.content_type.as_deref().map(field::media_type);
        let how = match media.as_deref() {
            Some("text/html") => format!("{how}, and the answer is a web page (text/html)"),
            _ => how,
        };
        return Err(Fault::changed(asked, head.status, &how));
    }
    Ok(asked.known.completed(&later))
}

/// The content encoding, if there is one that changes the bytes.
fn encoding(head: &Head) -> Option<&str> {
    let encoding = head.content_encoding.as_deref()?.trim();
    let plain = encoding.is_empty() || encoding.eq_ignore_ascii_case("identity");
    (!plain).then_some(encoding)
}

/// Milliseconds until the next try: exponential, spread by `dice`, at least `floor`, at most the
/// longest wait.
fn wait(asked: &Asked, floor: Option<u64>, dice: f64) -> u64 {
    let patience = &asked.patience;
    let doublings = asked.tries.saturating_sub(1).min(32);
    let full = patience.first_wait_ms.saturating_mul(1 << doublings);
    let full = full.min(patience.longest_wait_ms);
    let spread = |ms: u64| share(ms, dice);
    let backoff = full / 2 + spread(full - full / 2);
    // Clients that were all told the same second should not all come back in it.
    let told = floor.map_or(0, |ms| ms.saturating_add(spread(patience.first_wait_ms)));
    backoff.max(told).min(patience.longest_wait_ms)
}

/// The part `dice` (0..1) of a number of milliseconds.
fn share(ms: u64, dice: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to 0..=1, and the cast saturates"
    )]
    let thousandths = (dice.clamp(0.0, 1.0) * 1000.0) as u64;
    ms.saturating_mul(thousandths) / 1000
}
