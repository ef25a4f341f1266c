//! Entity tags and ranges.

use sectile::api::Request;
use sectile::api::conditions::{Wanted, lists, wanted};
use sectile::api::file::{Sending, send};

pub(crate) fn lists_of_tags_are_read() {
    let tag = "\"0123456789abcdef\"";
    for yes in [
        tag,
        "*",
        "W/\"0123456789abcdef\"",
        "\"x\", \"0123456789abcdef\"",
        "\"x\",W/\"0123456789abcdef\"",
        "\"a,b\" , \"0123456789abcdef\"",
        ",, \"0123456789abcdef\" ,",
        "\t\"0123456789abcdef\"",
        "\"0123456789abcdef\", \"unclosed",
        "nonsense, \"0123456789abcdef\"",
    ] {
        assert!(lists(yes, tag), "{yes}");
    }
    for no in [
        "",
        ",",
        "\"\"",
        "0123456789abcdef",
        "\"0123456789ABCDEF\"",
        "\"0123456789abcdef",
        "W/",
        "w/\"0123456789abcdef\"",
        "\"x, \"0123456789abcdef\"\"",
        "\"x0123456789abcdef\"",
        "\"*\"",
    ] {
        assert!(!lists(no, tag), "{no}");
    }
    assert!(
        lists("\"a\"", "W/\"a\""),
        "a weak tag of ours is compared weakly, too"
    );
}

pub(crate) fn ranges_are_read() {
    let asked = |range| wanted(Some(range), None, "\"t\"", 1000);
    for (range, found) in [
        ("bytes=0-0", Wanted::Part(0, 1)),
        ("bytes=10-19", Wanted::Part(10, 20)),
        ("bytes=990-5000", Wanted::Part(990, 1000)),
        ("bytes=990-", Wanted::Part(990, 1000)),
        ("bytes=-10", Wanted::Part(990, 1000)),
        ("bytes=-5000", Wanted::Part(0, 1000)),
        ("BYTES=0-1", Wanted::Part(0, 2)),
        ("bytes= 0-1", Wanted::Part(0, 2)),
        ("bytes=0-99999999999999999999999", Wanted::Part(0, 1000)),
        ("bytes=1000-", Wanted::Outside),
        ("bytes=1000-1001", Wanted::Outside),
        ("bytes=-0", Wanted::Outside),
        ("bytes=99999999999999999999999-", Wanted::Outside),
        ("bytes=0-1,4-5", Wanted::Whole),
        ("lines=1-2", Wanted::Whole),
        ("bytes=5-2", Wanted::Whole),
        ("bytes=-", Wanted::Whole),
        ("bytes=a-b", Wanted::Whole),
        ("bytes", Wanted::Whole),
        ("bytes=+1-2", Wanted::Whole),
        ("", Wanted::Whole),
    ] {
        assert_eq!(asked(range), found, "{range}");
    }
    let only_if = |tag| wanted(Some("bytes=0-9"), Some(tag), "\"t\"", 1000);
    assert_eq!(only_if("\"t\""), Wanted::Part(0, 10));
    for other in ["W/\"t\"", "\"u\"", "Mon, 30 Nov 2026 11:00:00 GMT"] {
        assert_eq!(only_if(other), Wanted::Whole, "{other}");
    }
    assert_eq!(wanted(None, None, "\"t\"", 0), Wanted::Whole);
    assert_eq!(wanted(Some("bytes=0-"), None, "\"t\"", 0), Wanted::Outside);
}

pub(crate) fn results_are_sent_by_ranges() {
    let tag = "\"t\"";
    let get = Request::get("/v1/m13/jobs/0123456789abcdef/median.fits");
    let Sending::Bytes { head, start, end } = send(&get, "median.fits", 1000, tag) else {
        panic!("all of it");
    };
    assert_eq!((head.status, start, end), (200, 0, 1000));
    assert_eq!(head.header("accept-ranges"), Some("bytes"));
    let ranged = Request {
        range: Some("bytes=10-19"),
        ..get
    };
    let Sending::Bytes { head, start, end } = send(&ranged, "median.fits", 1000, tag) else {
        panic!("a part");
    };
    assert_eq!((head.status, start, end), (206, 10, 20));
    assert_eq!(head.header("content-range"), Some("bytes 10-19/1000"));
    assert_eq!(head.header("content-length"), Some("10"));
    let beyond = Request {
        range: Some("bytes=1000-"),
        ..get
    };
    let Sending::Reply(reply) = send(&beyond, "median.fits", 1000, tag) else {
        panic!("a refusal");
    };
    assert_eq!(
        (reply.status, reply.header("content-range")),
        (416, Some("bytes */1000"))
    );
    let known = Request {
        if_none_match: Some(tag),
        range: Some("bytes=0-1"),
        ..get
    };
    let Sending::Reply(reply) = send(&known, "median.fits", 1000, tag) else {
        panic!("a 304");
    };
    assert_eq!((reply.status, reply.header("etag")), (304, Some(tag)));
    let head = Request {
        method: "HEAD",
        range: Some("bytes=0-1"),
        ..get
    };
    let Sending::Reply(reply) = send(&head, "results.csv", 1000, tag) else {
        panic!("a head");
    };
    assert_eq!(
        (reply.status, reply.header("content-length")),
        (200, Some("1000"))
    );
    let Sending::Reply(reply) = send(&get, "../job.json", 1000, tag) else {
        panic!("a refusal");
    };
    assert_eq!(reply.status, 404);
}
