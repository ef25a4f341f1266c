//! Headers that depend on who asks and how, and not on what is answered: put on behind the cache.

use super::reply::Reply;
use super::request::Request;

/// Headers of an answer that scripts of other origins may read.
pub const EXPOSED: &str = "Accept-Ranges, Allow, Content-Length, Content-Range, ETag, Location, Retry-After, \
     Server-Timing, WWW-Authenticate, X-BLANK, X-BSCALE, X-BUNIT, X-BZERO, X-Upstream-Bytes, X-Upstream-Requests";

/// Headers of a request that scripts of other origins may send.
pub const ACCEPTED: &str = "Authorization, Content-Type, If-None-Match, If-Range, Range";

/// How long, and by whom, an answer may be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Freshness {
    /// The address names the version: for a year, without asking again.
    Immutable,
    /// The address stands for the present version: for a minute.
    Minute,
    /// Only after asking again: what a running job has to say.
    Never,
}

impl Freshness {
    /// The value of `Cache-Control`.
    #[must_use]
    pub fn cache_control(self, private: bool) -> String {
        let whose = if private { "private" } else { "public" };
        match self {
            Self::Immutable => format!("{whose}, max-age=31536000, immutable"),
            Self::Minute => format!("{whose}, max-age=60"),
            Self::Never => "no-store".to_owned(),
        }
    }
}

/// Makes an answer ready to be sent.
///
/// Puts on `Cache-Control`, CORS (`*`, or for private datasets the origin that asks, with `Vary`), `nosniff`,
/// `Cross-Origin-Resource-Policy` and `Content-Length`, and takes the body off an answer to HEAD. Refusals are never
/// kept. Doing it twice changes nothing but the length that HEAD is told, so it is done once, last of all.
pub fn dress(reply: &mut Reply, request: &Request<'_>, freshness: Freshness, private: bool) {
    let kept = matches!(reply.status, 200 | 204 | 206 | 304);
    let freshness = if kept { freshness } else { Freshness::Never };
    if reply.header("Cache-Control").is_none() {
        reply.set("Cache-Control", freshness.cache_control(private));
    }
    if private {
        reply.set("Vary", "Origin, Authorization");
    }
    match request.origin.filter(|_| private) {
        Some(origin) if is_origin(origin) => reply.set("Access-Control-Allow-Origin", origin),
        Some(_) => {}
        None if private => {}
        None => reply.set("Access-Control-Allow-Origin", "*"),
    }
    reply.set("Access-Control-Expose-Headers", EXPOSED);
    reply.set("X-Content-Type-Options", "nosniff");
    reply.set("Cross-Origin-Resource-Policy", "cross-origin");
    reply.set("Timing-Allow-Origin", "*");
    let bodiless = matches!(reply.status, 204 | 304);
    if !bodiless && reply.header("Content-Length").is_none() {
        reply.set("Content-Length", reply.body.len().to_string());
    }
    if bodiless || request.method == "HEAD" {
        reply.body = Vec::new();
    }
}

/// The answer to OPTIONS of an address that has these methods, a preflight (Fetch §4.8) or not.
#[must_use]
pub fn options(allow: &'static str) -> Reply {
    Reply::empty(204)
        .with("Allow", allow)
        .with("Access-Control-Allow-Methods", allow)
        .with("Access-Control-Allow-Headers", ACCEPTED)
        .with("Access-Control-Max-Age", "86400")
        .with("Cache-Control", "public, max-age=86400")
}

/// Whether an `Origin` can be sent back as it is.
fn is_origin(text: &str) -> bool {
    text.len() <= 512
        && text
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && byte != b',')
}
