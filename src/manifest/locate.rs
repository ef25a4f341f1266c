//! Where a file lies that a manifest names.

/// The path or URL of `name`, as written in the manifest at `base`.
///
/// Beside a path, a relative name is put into the manifest's folder; `..` is left to the system.
/// Beside a URL, a relative name is joined to it as RFC 3986 §5.2 says, with the characters that a
/// URL cannot hold (blanks, `#`, everything beyond ASCII, a `%` that begins no escape) escaped
/// once; a query of the name is kept, a query of the manifest is not handed on. Absolute paths
/// and URLs are not touched, but for blanks in a URL.
#[must_use]
pub fn resolve(base: &str, name: &str) -> String {
    if is_url(name) {
        return name.replace(' ', "%20");
    }
    if is_url(base) {
        return beside_url(base, name);
    }
    if is_absolute(name) {
        return name.to_owned();
    }
    // A backslash separates only in a Windows path; elsewhere it may be part of a name.
    let windows = is_absolute(base) && !base.starts_with('/');
    let separator = |c: char| c == '/' || (windows && c == '\\');
    match base.rfind(separator) {
        Some(at) => format!("{}{name}", &base[..=at]),
        None => name.to_owned(),
    }
}

/// Whether it begins with a scheme of at least two letters: `C:\` is a drive.
pub(super) fn is_url(name: &str) -> bool {
    let Some((scheme, rest)) = name.split_once(':') else {
        return false;
    };
    let legal = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    let known = matches!(scheme, "blob" | "data");
    scheme.len() > 1
        && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(legal)
        && (known || rest.starts_with("//"))
}

/// Absolute on any system: `/`, `\`, `C:\`, `C:/`.
fn is_absolute(name: &str) -> bool {
    let drive =
        |b: &[u8]| b[0].is_ascii_alphabetic() && b[1] == b':' && matches!(b[2], b'\\' | b'/');
    name.starts_with(['/', '\\']) || name.as_bytes().get(..3).is_some_and(drive)
}

fn beside_url(base: &str, name: &str) -> String {
    let base = base.split(['?', '#']).next().unwrap_or(base);
    let (scheme, rest) = base.split_once(':').unwrap_or(("", base));
    let Some(rest) = rest.strip_prefix("//") else {
        // A blob: or data: URL has no folder.
        return name.to_owned();
    };
    if let Some(host) = name.strip_prefix("//") {
        return format!("{scheme}://{}", host.replace(' ', "%20"));
    }
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let (name, query) = match name.split_once('?') {
        Some((name, query)) => (name, Some(query)),
        None => (name, None),
    };
    let folder = &path[..path.rfind('/').unwrap_or(0)];
    let folder = if name.starts_with('/') { "" } else { folder };
    let path = without_dots(&format!(
        "{folder}/{}",
        escape(name.trim_start_matches('/'))
    ));
    let query = query.map(|query| format!("?{}", query.replace(' ', "%20")));
    format!("{scheme}://{host}{path}{}", query.unwrap_or_default())
}

/// RFC 3986 §5.2.4.
fn without_dots(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').skip(1) {
        match part {
            "." => {}
            ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

fn escape(name: &str) -> String {
    let bytes = name.as_bytes();
    let mut escaped = String::with_capacity(name.len());
    for (at, byte) in bytes.iter().enumerate() {
        let begins_escape = || {
            let digits = bytes.get(at + 1..at + 3);
            digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
        };
        let legal = match byte {
            b'%' => begins_escape(),
            b'#' | b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}' => false,
            byte => byte.is_ascii_graphic(),
        };
        if legal {
            escaped.push(char::from(*byte));
        } else {
            escaped.push('%');
            for half in [byte >> 4, byte & 15] {
                escaped.push(char::from(b"0123456789ABCDEF"[usize::from(half)]));
            }
        }
    }
    escaped
}
