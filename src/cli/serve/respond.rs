//! One request, one response.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Method, Response, StatusCode, Uri};
use serde_json::json;
use tokio::fs::File;
use tokio::io::{AsyncReadExt, AsyncSeekExt};
use tokio_util::io::ReaderStream;

use super::api::{Api, Asking};
use super::conditions::{Answer, Wish, answer};
use super::path::{Target, content_type, parse};
use super::{Site, policy};

/// Bytes read from a file at one time.
const CHUNK: usize = 64 << 10;

/// What scripts of other origins may see.
const EXPOSED: &str = "Accept-Ranges, Content-Length, Content-Range, ETag, Last-Modified";

/// What they may send.
const ALLOWED: &str = "Cache-Control, If-Match, If-Modified-Since, If-None-Match, If-Range, Range";

/// Answers any request.
pub async fn respond(
    State(site): State<Arc<Site>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
) -> Response<Body> {
    if Api::has(uri.path()) {
        return site.api.answer(&Asking::new(&method, &uri, &headers)).await;
    }
    let mut response = match method.as_str() {
        "GET" | "HEAD" => found(&site, &uri, &headers).await,
        "OPTIONS" => preflight(),
        _ => {
            let mut response =
                problem(StatusCode::METHOD_NOT_ALLOWED, "only GET, HEAD and OPTIONS");
            set(&mut response, header::ALLOW, "GET, HEAD, OPTIONS");
            response
        }
    };
    if method == Method::HEAD {
        *response.body_mut() = Body::empty();
    }
    set(&mut response, header::ACCESS_CONTROL_ALLOW_ORIGIN, "*");
    set(
        &mut response,
        header::ACCESS_CONTROL_EXPOSE_HEADERS,
        EXPOSED,
    );
    set(&mut response, header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(&mut response, header::REFERRER_POLICY, "no-referrer");
    set(
        &mut response,
        HeaderName::from_static("cross-origin-resource-policy"),
        "cross-origin",
    );
    response
}

fn preflight() -> Response<Body> {
    let mut response = empty(StatusCode::NO_CONTENT);
    set(&mut response, header::ALLOW, "GET, HEAD, OPTIONS");
    set(
        &mut response,
        header::ACCESS_CONTROL_ALLOW_METHODS,
        "GET, HEAD, OPTIONS",
    );
    set(&mut response, header::ACCESS_CONTROL_ALLOW_HEADERS, ALLOWED);
    set(&mut response, header::ACCESS_CONTROL_MAX_AGE, "86400");
    response
}

/// The file or folder that a path names.
async fn found(site: &Site, uri: &Uri, headers: &HeaderMap) -> Response<Body> {
    let (root, below, is_data) = match parse(uri.path()) {
        None => return problem(StatusCode::BAD_REQUEST, "not a plain path"),
        Some(Target::Data(_)) if !site.shows_data => {
            return problem(
                StatusCode::NOT_FOUND,
                "no files are shown here; datasets are at /v1",
            );
        }
        Some(Target::Data(below)) => (&site.data, below, true),
        Some(Target::Page(below)) => match &site.pages {
            Some(pages) => (pages, below, false),
            None => {
                return problem(
                    StatusCode::NOT_FOUND,
                    "there are no pages here; data is at /data/, datasets are at /v1",
                );
            }
        },
    };
    let path = match real(root, &below).await {
        Ok(path) => path,
        Err(error) => return refused(&error),
    };
    // It may hold tokens.
    if is_data && site.api.is_catalog(&path) {
        return problem(StatusCode::FORBIDDEN, "the catalog is not shown; see /v1");
    }
    let is_folder = tokio::fs::metadata(&path)
        .await
        .is_ok_and(|found| found.is_dir());
    if is_folder && !uri.path().ends_with('/') {
        return moved(uri);
    }
    let mut response = match (is_folder, is_data) {
        (true, true) => listing(root, &path, uri.query() == Some("list")).await,
        (true, false) => file(&path.join("index.html"), headers).await,
        (false, _) => file(&path, headers).await,
    }
    .unwrap_or_else(|error| refused(&error));
    let policy = if is_data {
        policy::DATA.to_owned()
    } else {
        policy::of_pages(root).await
    };
    set(&mut response, header::CONTENT_SECURITY_POLICY, &policy);
    response
}

/// Follows links, as long as they stay inside.
async fn real(root: &Path, below: &Path) -> io::Result<PathBuf> {
    let path = tokio::fs::canonicalize(root.join(below)).await?;
    if !path.starts_with(root) {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "a link that leads out of the served folder",
        ));
    }
    Ok(path)
}

/// A relative redirect, so that it also holds behind a proxy under another path.
fn moved(uri: &Uri) -> Response<Body> {
    let name = uri.path().rsplit('/').next().unwrap_or_default();
    let query = uri
        .query()
        .map(|query| format!("?{query}"))
        .unwrap_or_default();
    let mut response = empty(StatusCode::PERMANENT_REDIRECT);
    set(&mut response, header::LOCATION, &format!("{name}/{query}"));
    response
}

/// What a folder holds: as JSON, or one name a line with `/` after those of folders.
async fn listing(root: &Path, folder: &Path, as_json: bool) -> io::Result<Response<Body>> {
    let mut entries = tokio::fs::read_dir(folder).await?;
    let mut found = Vec::new();
    while let Some(entry) = entries.next_entry().await? {
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        // What cannot be asked for is not listed.
        let Ok(path) = real(root, &entry.path()).await else {
            continue;
        };
        let kind = tokio::fs::metadata(path).await?;
        if !name.starts_with('.') && (kind.is_file() || kind.is_dir()) {
            found.push((name, kind.is_dir(), kind.len()));
        }
    }
    found.sort();
    let (text, kind) = if as_json {
        let list: Vec<_> = found
            .iter()
            .map(|(name, folder, bytes)| json!({ "name": name, "folder": folder, "bytes": if *folder { 0 } else { *bytes } }))
            .collect();
        (
            serde_json::Value::from(list).to_string(),
            "application/json",
        )
    } else {
        let names = found
            .iter()
            .map(|(name, folder, _)| format!("{name}{}\n", if *folder { "/" } else { "" }));
        (names.collect(), "text/plain; charset=utf-8")
    };
    let mut response = Response::new(Body::from(text));
    set(&mut response, header::CONTENT_TYPE, kind);
    set(&mut response, header::CACHE_CONTROL, "no-store");
    Ok(response)
}

/// A file, or the part of it that is asked for.
async fn file(path: &Path, headers: &HeaderMap) -> io::Result<Response<Body>> {
    let mut file = File::open(path).await?;
    let found = file.metadata().await?;
    if !found.is_file() {
        return Err(io::Error::new(io::ErrorKind::NotFound, "not a file"));
    }
    let size = found.len();
    let version = policy::version(size, found.modified()?);
    let mut response = match answer(&wish(headers), &version, size) {
        Answer::Whole => body(file, size),
        Answer::Part(start, end) => {
            file.seek(io::SeekFrom::Start(start)).await?;
            let mut response = body(file, end - start);
            *response.status_mut() = StatusCode::PARTIAL_CONTENT;
            let range = format!("bytes {start}-{}/{size}", end - 1);
            set(&mut response, header::CONTENT_RANGE, &range);
            response
        }
        Answer::Unchanged => empty(StatusCode::NOT_MODIFIED),
        Answer::Changed => problem(StatusCode::PRECONDITION_FAILED, "the file has changed"),
        Answer::Outside => {
            let mut response = problem(StatusCode::RANGE_NOT_SATISFIABLE, "no such bytes");
            set(
                &mut response,
                header::CONTENT_RANGE,
                &format!("bytes */{size}"),
            );
            response
        }
    };
    if response.status().is_success() {
        set(&mut response, header::CONTENT_TYPE, content_type(path));
    }
    set(&mut response, header::ACCEPT_RANGES, "bytes");
    set(&mut response, header::ETAG, &version.etag);
    set(&mut response, header::LAST_MODIFIED, &version.modified);
    // Ask every time: data and pages are made anew while this server runs.
    set(&mut response, header::CACHE_CONTROL, "no-cache");
    Ok(response)
}

/// The headers that decide what of a file is sent.
fn wish(headers: &HeaderMap) -> Wish<'_> {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    Wish {
        range: text(header::RANGE),
        if_range: text(header::IF_RANGE),
        if_match: text(header::IF_MATCH),
        if_none_match: text(header::IF_NONE_MATCH),
        if_modified_since: text(header::IF_MODIFIED_SINCE),
    }
}

fn body(file: File, length: u64) -> Response<Body> {
    let stream = ReaderStream::with_capacity(file.take(length), CHUNK);
    let mut response = Response::new(Body::from_stream(stream));
    set(&mut response, header::CONTENT_LENGTH, &length.to_string());
    response
}

fn empty(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

fn problem(status: StatusCode, what: &str) -> Response<Body> {
    let mut response = Response::new(Body::from(format!("{what}\n")));
    *response.status_mut() = status;
    set(
        &mut response,
        header::CONTENT_TYPE,
        "text/plain; charset=utf-8",
    );
    response
}

fn refused(error: &io::Error) -> Response<Body> {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidFilename => {
            problem(StatusCode::NOT_FOUND, "there is no such file")
        }
        io::ErrorKind::PermissionDenied => problem(StatusCode::FORBIDDEN, "no permission"),
        _ => problem(StatusCode::INTERNAL_SERVER_ERROR, "the file cannot be read"),
    }
}

/// Sets a header; a value that no header can hold is left out.
fn set(response: &mut Response<Body>, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
}
