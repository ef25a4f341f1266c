//! An answer: status, headers, body.

use serde_json::Value;

/// The content type of JSON.
pub const JSON: &str = "application/json";

/// A whole answer to a request.
///
/// What depends on the request alone and not on its canonical form (CORS, caching, the body that HEAD leaves out) is put
/// on by [`Service::finish`](super::Service::finish), after the host's cache.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reply {
    /// The status code (RFC 9110 §15).
    pub status: u16,
    /// Headers in the order in which they are sent, each name once.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Reply {
    /// An answer without headers or a body.
    #[must_use]
    pub fn empty(status: u16) -> Self {
        Self {
            status,
            ..Self::default()
        }
    }

    /// An answer with a body of this content type.
    #[must_use]
    pub fn new(status: u16, content_type: &str, body: Vec<u8>) -> Self {
        Self::empty(status)
            .with("Content-Type", content_type)
            .with_body(body)
    }

    /// A JSON document, members in the order of their names.
    #[must_use]
    pub fn json(status: u16, value: &Value) -> Self {
        let mut body = value.to_string().into_bytes();
        body.push(b'\n');
        Self::new(status, JSON, body)
    }

    /// The same with a header, in place of one of that name if there is one.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.set(name, value);
        self
    }

    /// Sets a header, in place of one of that name if there is one.
    pub fn set(&mut self, name: &'static str, value: impl Into<String>) {
        let known = self.headers.iter_mut();
        let mut same = known.filter(|(known, _)| known.eq_ignore_ascii_case(name));
        match same.next() {
            Some((_, held)) => *held = value.into(),
            None => self.headers.push((name, value.into())),
        }
    }

    /// The value of a header, its name in any case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut known = self.headers.iter();
        let same = known.find(|(known, _)| known.eq_ignore_ascii_case(name));
        same.map(|(_, value)| value.as_str())
    }

    fn with_body(mut self, body: Vec<u8>) -> Self {
        self.body = body;
        self
    }
}
