//! The Content-Security-Policy of the pages: the one that `index.html` carries itself.
//!
//! A page's own `meta` does not reach its workers; the header that comes with their scripts does.

use std::path::Path;

use super::conditions::Version;

/// For a site whose page carries none.
const STRICT: &str = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; object-src 'none'; \
                      base-uri 'none'; form-action 'none'";

/// For data: whatever it is, it is not a page of ours.
pub const DATA: &str = "default-src 'none'; sandbox";

/// A page that is longer than this has its policy in the first part.
const HEAD: usize = 64 << 10;

/// The policy of the pages in a folder.
pub async fn of_pages(pages: &Path) -> String {
    let html = tokio::fs::read(pages.join("index.html"))
        .await
        .unwrap_or_default();
    let head = String::from_utf8_lossy(&html[..html.len().min(HEAD)]);
    of_html(&head).unwrap_or_else(|| STRICT.to_owned())
}

/// The policy in a page's `meta`, on one line.
fn of_html(html: &str) -> Option<String> {
    let lower = html.to_ascii_lowercase();
    let named = lower.find("http-equiv=\"content-security-policy\"")?;
    let open = lower[..named].rfind('<')?;
    let close = named + lower[named..].find('>')?;
    let tag = &html[open..close];
    let value = tag.find("content=\"")? + "content=\"".len();
    let policy = tag[value..].split('"').next()?;
    let policy = policy
        .split_ascii_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    (!policy.is_empty() && policy.bytes().all(|byte| (32..127).contains(&byte))).then_some(policy)
}

/// A file's validators, from its size and the time of its last change.
pub fn version(size: u64, modified: std::time::SystemTime) -> Version {
    let since = modified
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default();
    Version {
        etag: format!("\"{size:x}-{:x}\"", since.as_nanos()),
        modified: httpdate::fmt_http_date(std::time::UNIX_EPOCH + since),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_own_policy_is_read() {
        let html = "<!doctype html><meta charset=utf-8>\n<meta http-equiv=\"Content-Security-Policy\"\n  \
                    content=\"default-src 'none';\n   script-src 'self'\">";
        assert_eq!(
            of_html(html).as_deref(),
            Some("default-src 'none'; script-src 'self'")
        );
        let turned = "<meta content=\"img-src *\" http-equiv=\"content-security-policy\">";
        assert_eq!(of_html(turned).as_deref(), Some("img-src *"));
        assert_eq!(of_html("<title>x</title>"), None);
    }

    #[test]
    fn another_size_or_time_is_another_version() {
        let time = std::time::UNIX_EPOCH + std::time::Duration::new(1_700_000_000, 5);
        let tag = version(10, time).etag;
        assert_ne!(tag, version(11, time).etag);
        assert_ne!(
            tag,
            version(10, time + std::time::Duration::from_nanos(1)).etag
        );
        assert_eq!(version(10, time).modified, "Tue, 14 Nov 2023 22:13:20 GMT");
    }
}
