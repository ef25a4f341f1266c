//! The little that a client must know of URLs: where one leads, and whose it is.
//!
//! RFC 3986 §5 (references), RFC 6454 §4 (origins).

/// Whether a name is a URL at all; `C:\a.fits` is not one.
pub(super) fn scheme(name: &str) -> Option<&str> {
    let (scheme, _) = name.split_once("://")?;
    let mut bytes = scheme.bytes();
    let is_scheme = bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic())
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'));
    is_scheme.then_some(scheme)
}

/// Whether a URL is one that the client speaks.
pub(super) fn is_http(url: &str) -> bool {
    scheme(url).is_some_and(|scheme| {
        scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
    })
}

/// The path that a `file://` URL names, or `None` if it names another machine.
///
/// RFC 8089 §2; percent-encoded bytes are decoded.
pub(super) fn local_path(url: &str) -> Option<String> {
    let host = authority(url)?;
    if !host.is_empty() && !host.eq_ignore_ascii_case("localhost") {
        return None;
    }
    let rest = url.split_once("://")?.1;
    let mut path = Vec::with_capacity(rest.len());
    let mut bytes = rest[host.len()..].bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            path.push(byte);
            continue;
        }
        let digits = [bytes.next()?, bytes.next()?];
        let digits = std::str::from_utf8(&digits).ok()?;
        path.push(u8::from_str_radix(digits, 16).ok()?);
    }
    String::from_utf8(path).ok()
}

/// Scheme, host and port of a URL: who gets to see credentials.
pub(super) fn origin(url: &str) -> Option<(String, String, u16)> {
    let scheme = scheme(url)?.to_ascii_lowercase();
    let host = authority(url)?.rsplit('@').next()?;
    let default = if scheme == "https" { 443 } else { 80 };
    // The colons of an IPv6 address lie within its brackets.
    let colon = host.rfind(':').filter(|at| !host[*at..].contains(']'));
    let (host, port) = match colon {
        Some(at) if at + 1 < host.len() => (&host[..at], host[at + 1..].parse().ok()?),
        Some(at) => (&host[..at], default),
        None => (host, default),
    };
    Some((scheme, host.to_ascii_lowercase(), port))
}

/// The URL without its fragment, which is never sent.
pub(super) fn without_fragment(url: &str) -> &str {
    url.split_once('#').map_or(url, |(url, _)| url)
}

/// The URL with what HTTP cannot carry (blanks, letters beyond ASCII) percent-encoded.
///
/// RFC 3986 §2.1. What is encoded already stays as it is, so that nothing is encoded twice.
pub(super) fn encoded(url: &str) -> String {
    let mut out = String::with_capacity(url.len());
    for byte in url.bytes() {
        if byte.is_ascii_graphic()
            && !matches!(
                byte,
                b'"' | b'<' | b'>' | b'`' | b'\\' | b'^' | b'{' | b'|' | b'}'
            )
        {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.push(char::from(HEX[usize::from(byte >> 4)]));
            out.push(char::from(HEX[usize::from(byte & 15)]));
        }
    }
    out
}

const HEX: &[u8; 16] = b"0123456789ABCDEF";

/// The URL with user name and password struck out, for messages.
pub(super) fn redacted(url: &str) -> String {
    match authority(url).and_then(|authority| authority.rsplit_once('@')) {
        Some((secret, _)) => url.replacen(&format!("{secret}@"), "***@", 1),
        None => url.to_owned(),
    }
}

/// Where a `Location` leads from a URL, or `None` if not to `http` or `https`.
pub(super) fn resolve(base: &str, location: &str) -> Option<String> {
    let location = without_fragment(location.trim());
    let base = without_fragment(base);
    if scheme(location).is_some() {
        return is_http(location).then(|| location.to_owned());
    }
    let scheme = scheme(base)?;
    if location.starts_with("//") {
        return Some(format!("{scheme}:{location}"));
    }
    let root = format!("{scheme}://{}", authority(base)?);
    let path_and_query = &base[root.len()..];
    let path = path_and_query
        .split_once('?')
        .map_or(path_and_query, |(path, _)| path);
    if location.is_empty() {
        return Some(base.to_owned());
    }
    if location.starts_with('?') {
        return Some(format!(
            "{root}{}{location}",
            if path.is_empty() { "/" } else { path }
        ));
    }
    let target = if location.starts_with('/') {
        location.to_owned()
    } else {
        let folder = path.rfind('/').map_or("/", |at| &path[..=at]);
        format!("{folder}{location}")
    };
    let (target, query) = match target.split_once('?') {
        Some((target, query)) => (target.to_owned(), format!("?{query}")),
        None => (target, String::new()),
    };
    Some(format!("{root}{}{query}", without_dots(&target)))
}

/// A path with its `.` and `..` segments walked.
fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let last = path.rsplit('/').next().unwrap_or_default();
    for segment in path.split('/').skip(1) {
        match segment {
            "." => {}
            ".." => {
                kept.pop();
            }
            segment => kept.push(segment),
        }
    }
    let tail = if matches!(last, "." | "..") && !kept.is_empty() {
        "/"
    } else {
        ""
    };
    format!("/{}{tail}", kept.join("/"))
}

fn authority(url: &str) -> Option<&str> {
    let rest = url.split_once("://")?.1;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    Some(&rest[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_are_resolved() {
        let base = "http://h:8/a/b/c.fits?x=/1#f";
        for (location, is) in [
            ("https://o/d", Some("https://o/d")),
            ("//o/d", Some("http://o/d")),
            ("/d/e.fits?y=../2", Some("http://h:8/d/e.fits?y=../2")),
            ("d.fits", Some("http://h:8/a/b/d.fits")),
            ("../d.fits#g", Some("http://h:8/a/d.fits")),
            ("./../../../d", Some("http://h:8/d")),
            ("..", Some("http://h:8/a/")),
            ("?z", Some("http://h:8/a/b/c.fits?z")),
            ("", Some("http://h:8/a/b/c.fits?x=/1")),
            ("ftp://o/d", None),
            ("file:///etc/passwd", None),
        ] {
            assert_eq!(resolve(base, location).as_deref(), is, "{location:?}");
        }
        assert_eq!(resolve("http://h", "a").as_deref(), Some("http://h/a"));
    }

    #[test]
    fn origins_tell_whom_to_trust() {
        let same = |one: &str, other: &str| origin(one) == origin(other);
        assert!(same("http://H/a", "http://h:80/b"));
        assert!(same("https://h:443/a", "https://u:p@h"));
        assert!(same("http://[::1]/a", "http://[::1]:80/"));
        assert!(!same("http://h/", "https://h/"));
        assert!(!same("http://h/", "http://h:8080/"));
        assert!(!same("http://h/", "http://h.evil/"));
        assert!(!same("http://h/", "http://h@evil/"));
    }

    #[test]
    fn secrets_are_struck_out() {
        assert_eq!(redacted("http://u:p@h/a@b"), "http://***@h/a@b");
        assert_eq!(redacted("http://h/a@b"), "http://h/a@b");
    }

    #[test]
    fn what_http_cannot_carry_is_encoded_once() {
        for (url, is) in [
            (
                "http://h/a b/\u{b5}m.ibd?q=x y",
                "http://h/a%20b/%C2%B5m.ibd?q=x%20y",
            ),
            ("http://h/a%20b.ibd", "http://h/a%20b.ibd"),
            (
                "http://u:p@[::1]:8/a(1)~b,c;d.ibd",
                "http://u:p@[::1]:8/a(1)~b,c;d.ibd",
            ),
        ] {
            assert_eq!(encoded(url), is);
            assert_eq!(encoded(is), is);
        }
    }

    #[test]
    fn file_urls_name_paths() {
        for (url, is) in [
            ("file:///a/b%20c.fits", Some("/a/b c.fits")),
            ("file://localhost/a", Some("/a")),
            ("FILE:///%C3%A9", Some("/\u{e9}")),
            ("file://other/a", None),
            ("file:///a%2", None),
            ("file:///a%zz", None),
        ] {
            assert_eq!(local_path(url).as_deref(), is, "{url}");
        }
    }

    #[test]
    fn paths_are_no_urls() {
        assert_eq!(scheme(r"C:\data\a.fits"), None);
        assert_eq!(scheme("a/b://c"), None);
        assert_eq!(scheme("s3://b/k"), Some("s3"));
    }
}
