//! From a request of the server's library to one of the router's, and from a reply to a response.

use axum::body::{Body, Bytes};
use axum::http::header::{HeaderMap, HeaderName, HeaderValue};
use axum::http::{Method, Response, StatusCode, Uri};
use sectile::api::path::Target;
use sectile::api::{Reply, Request};

/// What of a request decides its answer.
#[derive(Debug)]
pub struct Asking {
    method: String,
    target: String,
    authorization: Option<String>,
    content_type: Option<String>,
    if_none_match: Option<String>,
    if_range: Option<String>,
    origin: Option<String>,
    range: Option<String>,
}

impl Asking {
    /// The request as it came. Of a target with scheme and host (RFC 9112 §3.2.2) only path and query count.
    pub fn new(method: &Method, uri: &Uri, headers: &HeaderMap) -> Self {
        let text = |name| joined(headers, name);
        Self {
            method: method.as_str().to_owned(),
            target: uri
                .path_and_query()
                .map_or_else(|| uri.path().to_owned(), ToString::to_string),
            authorization: text("authorization"),
            content_type: text("content-type"),
            if_none_match: text("if-none-match"),
            if_range: text("if-range"),
            origin: text("origin"),
            range: text("range"),
        }
    }

    /// As the router wants it.
    pub fn request(&self) -> Request<'_> {
        Request {
            method: &self.method,
            target: &self.target,
            authorization: self.authorization.as_deref(),
            content_type: self.content_type.as_deref(),
            if_none_match: self.if_none_match.as_deref(),
            if_range: self.if_range.as_deref(),
            origin: self.origin.as_deref(),
            range: self.range.as_deref(),
        }
    }

    /// The name of the dataset that the address seems to be about, however it is encoded.
    pub fn dataset(&self) -> Option<String> {
        let target = Target::parse(&self.target).ok()?;
        let [first, dataset, ..] = &target.segments[..] else {
            return None;
        };
        (first == "v1").then(|| dataset.split('@').next().unwrap_or_default().to_owned())
    }

    /// Whether datasets are asked for, or what there is of them.
    pub fn is_of_datasets(&self) -> bool {
        self.target.starts_with("/v1")
    }

    fn wants_body(&self) -> bool {
        self.method != "HEAD"
    }
}

/// All values of a header (RFC 9110 §5.3); bytes that are not UTF-8 are replaced, so that nothing is taken as absent.
fn joined(headers: &HeaderMap, name: &str) -> Option<String> {
    let values = headers.get_all(name).iter();
    let values: Vec<_> = values
        .map(|value| String::from_utf8_lossy(value.as_bytes()))
        .collect();
    (!values.is_empty()).then(|| values.join(", "))
}

/// A finished answer whose body is shared by all who get it.
#[derive(Debug, Clone)]
pub struct Ready {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Bytes,
}

impl From<Reply> for Ready {
    fn from(reply: Reply) -> Self {
        Self {
            status: reply.status,
            headers: reply.headers,
            body: reply.body.into(),
        }
    }
}

impl Ready {
    /// Bytes that it holds, about.
    pub fn bytes(&self) -> u64 {
        let headers = self.headers.iter();
        let headers: usize = headers.map(|(_, value)| value.len() + 48).sum();
        (self.body.len() + headers) as u64
    }

    /// The response, after `finish` has put on what depends on who asks. `finish` does not see the body.
    pub fn respond(
        self,
        asking: &Asking,
        finish: impl FnOnce(&Request<'_>, Reply) -> Reply,
    ) -> Response<Body> {
        let mut head = Reply::empty(self.status);
        head.headers = self.headers;
        if !matches!(self.status, 204 | 304) {
            head.set("Content-Length", self.body.len().to_string());
        }
        let head = finish(&asking.request(), head);
        let body = if asking.wants_body() && !matches!(self.status, 204 | 304) {
            Body::from(self.body)
        } else {
            Body::empty()
        };
        let mut response = Response::new(body);
        *response.status_mut() =
            StatusCode::from_u16(head.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        for (name, value) in &head.headers {
            put(&mut response, name, value);
        }
        response
    }
}

/// Sets a header; a value that no header can hold is left out.
pub fn put(response: &mut Response<Body>, name: &str, value: &str) {
    let name = HeaderName::from_bytes(name.as_bytes());
    if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(value)) {
        response.headers_mut().insert(name, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asking(target: &str) -> Asking {
        let uri: Uri = target.parse().expect("a target");
        Asking::new(&Method::GET, &uri, &HeaderMap::new())
    }

    #[test]
    fn of_an_absolute_target_path_and_query_count() {
        for (target, is) in [
            ("/v1/a?b=c", "/v1/a?b=c"),
            ("http://evil.example/v1/a?b=c", "/v1/a?b=c"),
            ("http://evil.example", "/"),
        ] {
            assert_eq!(asking(target).request().target, is);
        }
    }

    #[test]
    fn the_dataset_is_what_follows() {
        for (target, is) in [
            ("/v1", None),
            ("/openapi.json", None),
            ("/v1/m13", Some("m13")),
            ("/v1/m13@01234567/info", Some("m13")),
            ("/v1/m13?x=1", Some("m13")),
            ("/v1/%6d13%4001234567/info", Some("m13")),
            ("/%76%31/m13", Some("m13")),
            ("/v1/../m13", None),
        ] {
            assert_eq!(asking(target).dataset().as_deref(), is, "{target}");
        }
    }

    #[test]
    fn headers_that_come_twice_are_one_list() {
        let mut headers = HeaderMap::new();
        headers.append("if-none-match", HeaderValue::from_static("\"a\""));
        headers.append("if-none-match", HeaderValue::from_static("\"b\""));
        let uri = Uri::from_static("/v1");
        let asking = Asking::new(&Method::GET, &uri, &headers);
        assert_eq!(asking.request().if_none_match, Some("\"a\", \"b\""));
    }
}
