//! A request, reduced to what decides the answer.

/// The line and the few headers of a request that the answer depends on.
///
/// A host fills it in from what came over the wire, undecoded and unchecked. A header that came twice is joined by `, `
/// (RFC 9110 §5.3).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Request<'a> {
    /// The method as sent; methods are case-sensitive (RFC 9110 §9.1).
    pub method: &'a str,
    /// Path and query as sent (origin-form, RFC 9112 §3.2.1), percent-encoded as they came.
    pub target: &'a str,
    /// `Authorization`.
    pub authorization: Option<&'a str>,
    /// `Content-Type`, of a POST.
    pub content_type: Option<&'a str>,
    /// `If-None-Match`.
    pub if_none_match: Option<&'a str>,
    /// `If-Range`.
    pub if_range: Option<&'a str>,
    /// `Origin`.
    pub origin: Option<&'a str>,
    /// `Range`.
    pub range: Option<&'a str>,
}

impl<'a> Request<'a> {
    /// A GET without headers.
    #[must_use]
    pub fn get(target: &'a str) -> Self {
        Self {
            method: "GET",
            target,
            ..Self::default()
        }
    }
}
