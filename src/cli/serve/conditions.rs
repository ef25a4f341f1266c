//! What a request wants of a file: all of it, a part, or nothing since it has it already.
//!
//! RFC 9110 §13 (conditions) and §14 (ranges); pure, over the text of the headers. Tags and ranges are read as the router
//! of the library reads them; files have dates and `If-Match` besides.

use sectile::api::conditions::{Wanted, lists, lists_strongly, wanted};

/// A file's validators.
#[derive(Debug)]
pub struct Version {
    /// A strong `ETag`, quoted.
    pub etag: String,
    /// The Last-Modified date.
    pub modified: String,
}

/// The headers that decide.
#[derive(Debug, Default)]
pub struct Wish<'a> {
    pub range: Option<&'a str>,
    pub if_range: Option<&'a str>,
    pub if_match: Option<&'a str>,
    pub if_none_match: Option<&'a str>,
    pub if_modified_since: Option<&'a str>,
}

/// What to answer.
#[derive(Debug, PartialEq, Eq)]
pub enum Answer {
    /// 200 with everything.
    Whole,
    /// 206 with the bytes `[start, end)`.
    Part(u64, u64),
    /// 304.
    Unchanged,
    /// 412: not the version that was asked for.
    Changed,
    /// 416: no such bytes.
    Outside,
}

/// Decides what to answer for a file of `size` bytes.
pub fn answer(wish: &Wish<'_>, version: &Version, size: u64) -> Answer {
    if let Some(tags) = wish.if_match
        && !lists_strongly(tags, &version.etag)
    {
        return Answer::Changed;
    }
    let unchanged = match (wish.if_none_match, wish.if_modified_since) {
        (Some(tags), _) => lists(tags, &version.etag),
        // As servers do: the very date that was given out, not any later one.
        (None, Some(date)) => date == version.modified,
        (None, None) => false,
    };
    if unchanged {
        return Answer::Unchanged;
    }
    // By its date too, which the router's answers have none of.
    let heeds = |tag: &&str| **tag == *version.etag || **tag == *version.modified;
    let range = wish
        .range
        .filter(|_| wish.if_range.as_ref().is_none_or(heeds));
    match wanted(range, None, &version.etag, size) {
        Wanted::Whole => Answer::Whole,
        Wanted::Part(start, end) => Answer::Part(start, end),
        Wanted::Outside => Answer::Outside,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(wish: &Wish<'_>) -> Answer {
        let version = Version {
            etag: "\"a-1\"".into(),
            modified: "Mon, 30 Nov 2026 11:00:00 GMT".into(),
        };
        answer(wish, &version, 1000)
    }

    fn ranged(range: &str) -> Answer {
        asked(&Wish {
            range: Some(range),
            ..Wish::default()
        })
    }

    #[test]
    fn ranges_are_inclusive_open_ended_or_a_suffix() {
        assert_eq!(ranged("bytes=0-0"), Answer::Part(0, 1));
        assert_eq!(ranged("bytes=10-19"), Answer::Part(10, 20));
        assert_eq!(ranged("bytes=990-5000"), Answer::Part(990, 1000));
        assert_eq!(ranged("bytes=990-"), Answer::Part(990, 1000));
        assert_eq!(ranged("bytes=-10"), Answer::Part(990, 1000));
        assert_eq!(ranged("bytes=-5000"), Answer::Part(0, 1000));
    }

    #[test]
    fn bytes_that_are_not_there_are_refused() {
        for range in [
            "bytes=1000-",
            "bytes=1000-1001",
            "bytes=-0",
            "bytes=99999999999999999999999-",
        ] {
            assert_eq!(ranged(range), Answer::Outside, "{range}");
        }
    }

    #[test]
    fn what_is_no_single_byte_range_is_ignored() {
        for range in [
            "bytes=0-1,4-5",
            "lines=1-2",
            "bytes=5-2",
            "bytes=-",
            "bytes=a-b",
            "bytes",
            "bytes=+1-2",
        ] {
            assert_eq!(ranged(range), Answer::Whole, "{range}");
        }
    }

    #[test]
    fn if_range_gives_a_part_only_of_the_same_version() {
        let with = |tag| {
            asked(&Wish {
                range: Some("bytes=0-9"),
                if_range: Some(tag),
                ..Wish::default()
            })
        };
        assert_eq!(with("\"a-1\""), Answer::Part(0, 10));
        assert_eq!(with("Mon, 30 Nov 2026 11:00:00 GMT"), Answer::Part(0, 10));
        assert_eq!(with("\"other\""), Answer::Whole);
        assert_eq!(with("W/\"a-1\""), Answer::Whole);
    }

    #[test]
    fn what_the_client_has_is_not_sent_again() {
        let none = |tags| {
            asked(&Wish {
                if_none_match: Some(tags),
                ..Wish::default()
            })
        };
        assert_eq!(none("\"x\", W/\"a-1\""), Answer::Unchanged);
        assert_eq!(none("*"), Answer::Unchanged);
        assert_eq!(none("\"x, y\",\"a-1\""), Answer::Unchanged);
        assert_eq!(none("\"x,\"a-1\"\""), Answer::Whole);
        assert_eq!(none("\"x\""), Answer::Whole);
        let only = |tags| {
            asked(&Wish {
                if_match: Some(tags),
                ..Wish::default()
            })
        };
        assert_eq!(only("\"a-1\""), Answer::Whole);
        assert_eq!(only("W/\"a-1\""), Answer::Changed);
    }
}
