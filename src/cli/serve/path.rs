//! From a request's path to a file, and never out of the served folders.

use std::path::{Path, PathBuf};

use sectile::percent::decode;

/// Which of the two folders, and where in it.
#[derive(Debug, PartialEq, Eq)]
pub enum Target {
    /// In the folder of the pages.
    Page(PathBuf),
    /// In the folder of the data.
    Data(PathBuf),
}

/// Reads a request's path, percent-encoded as it came.
///
/// `None` for anything that could name something else than a plain file below: `..`, encoded
/// slashes, backslashes, drive letters, control characters, names with a dot in front.
pub fn parse(path: &str) -> Option<Target> {
    let mut below = PathBuf::new();
    let mut segments = path.strip_prefix('/')?.split('/').peekable();
    let is_data = segments.next_if_eq(&"data").is_some();
    while let Some(segment) = segments.next() {
        if segment.is_empty() {
            // Only a closing slash may leave a name empty.
            if segments.peek().is_some() {
                return None;
            }
            break;
        }
        below.push(plain_name(segment)?);
    }
    Some(if is_data {
        Target::Data(below)
    } else {
        Target::Page(below)
    })
}

/// One decoded name, if it is a plain one.
fn plain_name(segment: &str) -> Option<String> {
    let name = decode(segment)?;
    let is_plain = !name.starts_with('.')
        && !name.contains(['/', '\\', ':'])
        && !name.chars().any(char::is_control);
    is_plain.then_some(name)
}

/// The Content-Type of a file, by its suffix.
pub fn content_type(path: &Path) -> &'static str {
    let suffix = path
        .extension()
        .and_then(|suffix| suffix.to_str())
        .unwrap_or("");
    match suffix.to_ascii_lowercase().as_str() {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "wasm" => "application/wasm",
        "json" | "map" => "application/json",
        "fits" | "fit" | "fts" => "application/fits",
        "png" => "image/png",
        "svg" => "image/svg+xml",
        "ico" => "image/x-icon",
        "txt" | "md" | "ts" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_into_one_of_two_folders() {
        assert_eq!(parse("/"), Some(Target::Page("".into())));
        assert_eq!(
            parse("/app/client.js"),
            Some(Target::Page("app/client.js".into()))
        );
        assert_eq!(
            parse("/data/a%20b.fits"),
            Some(Target::Data("a b.fits".into()))
        );
        assert_eq!(parse("/data"), Some(Target::Data("".into())));
        assert_eq!(parse("/data/sub/"), Some(Target::Data("sub".into())));
        assert_eq!(parse("/database"), Some(Target::Page("database".into())));
    }

    #[test]
    fn nothing_leads_out() {
        for path in [
            "data",
            "/..",
            "/data/..",
            "/data/../x",
            "/data/%2e%2e/x",
            "/data/%2E%2E%2Fx",
            "/data/a%2fb",
            "/data/a%5cb",
            "/data/a\\b",
            "/data//etc/passwd",
            "//etc/passwd",
            "/data/.git/config",
            "/data/c:x",
            "/data/%00",
            "/data/%",
            "/data/%4",
            "/data/%zz",
            "/data/%ff",
            "/data/.",
            "/data/a/./b",
        ] {
            assert_eq!(parse(path), None, "{path}");
        }
    }
}
