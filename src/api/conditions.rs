//! What a client has already, and which bytes it wants: RFC 9110 §13 and §14.

/// Whether a list of entity tags (`If-None-Match`) names this one, compared weakly (RFC 9110 §13.1.2).
///
/// `*` names any. A comma inside a quoted tag does not end it.
#[must_use]
pub fn lists(tags: &str, etag: &str) -> bool {
    fn opaque(tag: &str) -> &str {
        tag.strip_prefix("W/").unwrap_or(tag)
    }
    any(tags, |tag| tag == "*" || opaque(tag) == opaque(etag))
}

/// The same of `If-Match`, compared strongly (RFC 9110 §13.1.1): a weak tag is no tag's equal.
#[must_use]
pub fn lists_strongly(tags: &str, etag: &str) -> bool {
    any(tags, |tag| {
        tag == "*" || (tag == etag && !tag.starts_with("W/"))
    })
}

/// Whether a tag of a list is meant.
fn any(tags: &str, is_meant: impl Fn(&str) -> bool) -> bool {
    let mut rest = tags;
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        if rest.is_empty() {
            return false;
        }
        let tag = &rest[..end(rest)];
        if is_meant(tag) {
            return true;
        }
        rest = &rest[tag.len()..];
    }
}

/// Length of the tag that a text starts with; at least 1.
fn end(text: &str) -> usize {
    let open = text.strip_prefix("W/").unwrap_or(text);
    let before = text.len() - open.len();
    let quoted = open.strip_prefix('"').and_then(|inner| inner.find('"'));
    match quoted {
        Some(close) => before + close + 2,
        None => text.find([',', ' ', '\t']).unwrap_or(text.len()),
    }
}

/// Which bytes of a file are to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// 200 with all of them.
    Whole,
    /// 206 with the bytes `[start, end)`.
    Part(u64, u64),
    /// 416: there are none of those.
    Outside,
}

/// Which bytes a `Range` header wants of `size`.
///
/// One range of bytes is heeded. Several at once, other units and what is malformed are ignored, as RFC 9110 §14.2
/// allows: all is sent then. With an `If-Range` that is not exactly `etag`, a strong tag, the range does not count.
#[must_use]
pub fn wanted(range: Option<&str>, if_range: Option<&str>, etag: &str, size: u64) -> Wanted {
    let Some(range) = range.filter(|_| if_range.is_none_or(|tag| tag == etag)) else {
        return Wanted::Whole;
    };
    let parts = range.split_once('=').filter(|(unit, ranges)| {
        unit.trim().eq_ignore_ascii_case("bytes") && !ranges.contains(',')
    });
    let Some((first, last)) = parts.and_then(|(_, range)| range.trim().split_once('-')) else {
        return Wanted::Whole;
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(first) || !digits(last) {
        return Wanted::Whole;
    }
    // Numbers beyond 64 bits lie beyond every file.
    let number = |text: &str| text.parse::<u64>().unwrap_or(u64::MAX);
    let (start, end) = match (first, last) {
        ("", "") => return Wanted::Whole,
        ("", last) => (size.saturating_sub(number(last)), size),
        (first, "") => (number(first), size),
        (first, last) if number(first) > number(last) => return Wanted::Whole,
        (first, last) => (number(first), number(last).saturating_add(1).min(size)),
    };
    if start < end {
        Wanted::Part(start, end)
    } else {
        Wanted::Outside
    }
}
