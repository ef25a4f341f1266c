//! One HTTP request, with its redirects.

use ureq::Body;
use ureq::http::{HeaderName, Response, header};

use super::error::Error;
use super::fault::spell;
use super::native::Source;
use super::policy::{Asked, Head, Identity};
use super::session::Session;
use super::url;

/// Bytes read from a body at once, and so between two looks at the cancel flag.
pub(super) const CHUNK: usize = 64 << 10;

/// Sends a request and follows its redirects, the range with it; the inner error says why no
/// answer came.
pub(super) fn request(
    session: &Session,
    source: &Source,
    asked: &Asked,
) -> Result<Result<Response<Body>, String>, Error> {
    let fail = |status, what| {
        Err(Error::Http {
            file: source.name().to_owned(),
            status,
            what,
        })
    };
    let bytes = spell(asked.start, asked.end);
    let first = source.url();
    let home = url::origin(first);
    let mut target = first.to_owned();
    let redirects = source.options().redirects();
    for _ in 0..=redirects {
        session.meter.request();
        let mut request = session
            .agent
            .get(&target)
            .header(header::RANGE, format!("bytes={bytes}"))
            .header(header::ACCEPT_ENCODING, "identity");
        if url::origin(&target) == home {
            for (name, value) in source.options().headers() {
                request = request.header(name, value);
            }
        }
        let answer = match request.call() {
            Ok(answer) => answer,
            Err(error) if may_pass(&error, &asked.known) => return Ok(Err(error.to_string())),
            Err(error) => {
                return fail(
                    None,
                    format!(
                        "bytes {bytes}: no answer ({error}); check the address and the network"
                    ),
                );
            }
        };
        let status = answer.status().as_u16();
        if !matches!(status, 301 | 302 | 303 | 307 | 308) {
            return Ok(Ok(answer));
        }
        let Some(location) = field(&answer, header::LOCATION.as_str()) else {
            return Ok(Ok(answer));
        };
        if redirects == 0 {
            return fail(
                Some(status),
                format!("bytes {bytes}: the server redirects, which is not followed here"),
            );
        }
        match url::resolve(&target, &location) {
            Some(next) => target = next,
            None => {
                return fail(
                    Some(status),
                    format!(
                        "bytes {bytes}: a redirect leads to {location:?}, which is no http address"
                    ),
                );
            }
        }
    }
    fail(
        Some(302),
        format!(
            "bytes {bytes}: more than {redirects} redirects, the last to {}; check the address",
            url::redacted(&target)
        ),
    )
}

/// Whether trying again makes sense: not for a wrong name or certificate, nor for an address at
/// which no server ever answered.
fn may_pass(error: &ureq::Error, known: &Identity) -> bool {
    use std::io::ErrorKind::{
        BrokenPipe, ConnectionAborted, ConnectionReset, InvalidData, TimedOut, UnexpectedEof,
    };
    let answered = *known != Identity::default();
    match error {
        ureq::Error::Io(error) => match error.kind() {
            InvalidData => false,
            BrokenPipe | ConnectionAborted | ConnectionReset | TimedOut | UnexpectedEof => true,
            // Refused, unreachable, or a name that is not found, which has no kind of its own.
            _ => answered,
        },
        ureq::Error::HostNotFound | ureq::Error::ConnectionFailed => answered,
        ureq::Error::Timeout(_) | ureq::Error::Protocol(_) | ureq::Error::BodyStalled => true,
        _ => false,
    }
}

pub(super) fn head(answer: &Response<Body>) -> Head {
    let field = |name: HeaderName| field(answer, name.as_str());
    Head {
        status: answer.status().as_u16(),
        content_range: field(header::CONTENT_RANGE),
        content_encoding: field(header::CONTENT_ENCODING),
        content_length: field(header::CONTENT_LENGTH),
        content_type: field(header::CONTENT_TYPE),
        etag: field(header::ETAG),
        last_modified: field(header::LAST_MODIFIED),
        retry_after: field(header::RETRY_AFTER),
    }
}

/// A header's value; bytes that are not UTF-8 are replaced, so that nothing is taken as absent.
fn field(answer: &Response<Body>, name: &str) -> Option<String> {
    let value = answer.headers().get(name)?;
    Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
}
