//! The values of a few HTTP header fields, parsed and nothing more.

use std::ops::Range;

/// What a `Content-Range` field says.
///
/// RFC 9110 §14.4.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ContentRange {
    /// `bytes first-last/total`; the range is half-open here, the total `None` where it is `*`.
    Part(Range<u64>, Option<u64>),
    /// `bytes */total`: what a 416 carries.
    Unsatisfied(u64),
}

/// Reads a `Content-Range` field, or nothing if it is not one of bytes or contradicts itself.
pub(super) fn content_range(text: &str) -> Option<ContentRange> {
    let text = text.trim();
    let unit = text.get(..5)?;
    if !unit.eq_ignore_ascii_case("bytes") {
        return None;
    }
    let (range, total) = text[5..].trim_start().split_once('/')?;
    if range.trim() == "*" {
        return Some(ContentRange::Unsatisfied(number(total)?));
    }
    let (first, last) = range.split_once('-')?;
    let (first, last) = (number(first)?, number(last)?);
    let total = match total.trim() {
        "*" => None,
        total => Some(number(total)?),
    };
    let end = last.checked_add(1)?;
    if first > last || total.is_some_and(|total| end > total) {
        return None;
    }
    Some(ContentRange::Part(first..end, total))
}

/// A decimal number without a sign: `u64::from_str` alone would take a `+`.
pub(super) fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

/// Milliseconds that a `Retry-After` field asks for, as seconds or as a date after `now` (seconds
/// since 1970). A date that has passed is 0.
///
/// RFC 9110 §10.2.3.
pub(super) fn retry_after(text: &str, now: u64) -> Option<u64> {
    let seconds = match number(text) {
        Some(seconds) => seconds,
        None => http_date(text)?.saturating_sub(now),
    };
    Some(seconds.saturating_mul(1000))
}

/// Seconds since 1970 of a date such as `Sun, 06 Nov 1994 08:49:37 GMT`.
///
/// RFC 9110 §5.6.7; its two obsolete forms are not read.
fn http_date(text: &str) -> Option<u64> {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let mut parts = text.split_once(',')?.1.split_ascii_whitespace();
    let day = number(parts.next()?)?;
    let month = parts.next()?;
    let month = MONTHS.iter().position(|name| *name == month)? as u64 + 1;
    let year = number(parts.next()?)?;
    let mut clock = parts.next()?.split(':').map(number);
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    let sane = (1970..=9999).contains(&year)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second < 61;
    if parts.next() != Some("GMT") || !sane {
        return None;
    }
    // Counted from March, so that the leap day is the last of its year.
    let (year, month) = if month < 3 {
        (year - 1, month + 9)
    } else {
        (year, month - 3)
    };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1;
    let days = days.checked_sub(719_468)?;
    Some(((days * 24 + hour) * 60 + minute) * 60 + second)
}

/// Whether two entity tags name the same content, by the weak comparison of RFC 9110 §8.8.3.2.
pub(super) fn same_tag(one: &str, other: &str) -> bool {
    opaque(one) == opaque(other)
}

/// Whether an entity tag is a weak one.
pub(super) fn is_weak(tag: &str) -> bool {
    tag.trim().starts_with("W/")
}

fn opaque(tag: &str) -> &str {
    let tag = tag.trim();
    tag.strip_prefix("W/").unwrap_or(tag)
}

/// The media type alone, in lower case.
pub(super) fn media_type(text: &str) -> String {
    let end = text.find(';').unwrap_or(text.len());
    text[..end].trim().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_range_forms() {
        let part = |a, b, total| Some(ContentRange::Part(a..b, total));
        for (text, is) in [
            ("bytes 0-99/1000", part(0, 100, Some(1000))),
            ("Bytes 0-99/*", part(0, 100, None)),
            ("bytes  5 - 5 / 6 ", part(5, 6, Some(6))),
            (
                "bytes 6442453820-6442453823/6442456320",
                part(6_442_453_820, 6_442_453_824, Some(6_442_456_320)),
            ),
            ("bytes */5760", Some(ContentRange::Unsatisfied(5760))),
            ("bytes */*", None),
            ("bytes 9-5/10", None),
            ("bytes 0-10/10", None),
            ("bytes -5/10", None),
            ("bytes +1-5/10", None),
            ("bytes 0-18446744073709551615/*", None),
            ("items 0-9/10", None),
            ("byt\u{e9}s 0-9/10", None),
            ("", None),
        ] {
            assert_eq!(content_range(text), is, "{text:?}");
        }
    }

    #[test]
    fn retry_after_forms() {
        let now = 784_111_777 - 7;
        for (text, is) in [
            ("0", Some(0)),
            (" 120 ", Some(120_000)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(7_000)),
            ("Sat, 05 Nov 1994 08:49:37 GMT", Some(0)),
            (
                "Thu, 29 Feb 1996 00:00:00 GMT",
                Some((825_552_000 - now) * 1000),
            ),
            ("-1", None),
            ("1.5", None),
            ("soon", None),
            ("Sun, 06 Nov 1994 08:49:37 CET", None),
            ("Sun, 06 Foo 1994 08:49:37 GMT", None),
            ("99999999999999999999999", None),
        ] {
            assert_eq!(retry_after(text, now), is, "{text:?}");
        }
    }

    #[test]
    fn tags_compare_weakly() {
        assert!(same_tag("\"v1\"", " W/\"v1\""));
        assert!(!same_tag("\"v1\"", "\"v2\""));
        assert!(is_weak("W/\"v1\"") && !is_weak("\"W/v1\""));
    }
}
