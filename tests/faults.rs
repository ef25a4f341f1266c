//! What the native driver makes of servers and files that misbehave.
#![cfg(all(feature = "cli", unix))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::single_range_in_vec_init,
    missing_docs,
    reason = "a test that panics has failed, as it should; lists of one range are meant"
)]

mod servers;

use std::ops::Range;
use std::time::{Duration, Instant};

use sectile::drive::Error;
use sectile::drive::native::{Options, Source, walk};
use sectile::drive::policy::Patience;
use sectile::job::Tally;
use servers::{RANGES, Reading, SIZE, Server, content, folder, hasty, slice};

/// Walks over ranges of a source; what came, and what it cost.
fn fetch(url: &str, options: &Options, ranges: &[Range<u64>]) -> Result<(Reading, Tally), Error> {
    let source = Source::open(url, options)?;
    let mut tally = Tally::default();
    let mut reading = Reading::of(ranges);
    walk(&source, &mut reading, &mut tally)?;
    Ok((reading, tally))
}

/// The error's text, after a look at its kind and its exit code.
fn refused(result: Result<(Reading, Tally), Error>, exit_code: u8) -> String {
    let Err(error) = result else {
        panic!("it was not refused");
    };
    assert_eq!(error.exit_code(), exit_code, "{error}");
    error.to_string()
}

#[test]
fn faults_that_can_be_met_give_the_right_bytes() {
    let folder = folder();
    let server = Server::start(folder.path());
    let all = content(SIZE);
    // mode, requests, retries
    for (mode, requests, retries) in [
        ("ok", 3, 0),
        ("norange", 3, 0),
        ("norange-chunked", 3, 0),
        ("gzip", 3, 0),
        ("nocors", 3, 0),
        ("noexpose", 3, 0),
        // Nothing tells the size: a further request meets the end.
        ("bare", 4, 0),
        ("redirect", 6, 0),
        ("redirect-absolute", 6, 0),
        ("redirect-away", 6, 0),
        ("head-403", 3, 0),
        ("weak-etag", 3, 0),
        ("early", 3, 0),
        ("short-206", 3 + 4 + 1, 0),
        ("416-last", 3, 0),
        ("503-then-ok", 9, 6),
        ("429", 4, 1),
        ("reset", 6, 3),
        ("truncate-once", 4, 1),
    ] {
        server.reset();
        let (reading, tally) = fetch(&server.url(mode, "a.bin"), &hasty(), &RANGES)
            .unwrap_or_else(|error| panic!("{mode}: {error}"));
        for (got, range) in reading.got.iter().zip(&RANGES) {
            assert!(*got == slice(&all, range), "{mode}: bytes of {range:?}");
        }
        assert_eq!(reading.total, Some(SIZE), "{mode}");
        assert_eq!(
            (tally.requests, tally.retries),
            (requests, retries),
            "{mode}"
        );
        assert_eq!(server.requests(), requests, "{mode}: as the server saw it");
        for entry in server.log()["log"].as_array().unwrap() {
            let asked = entry["range"].as_str().unwrap();
            assert!(
                asked.starts_with("bytes=") && !asked.starts_with("bytes=-"),
                "{entry}"
            );
            assert_ne!(entry["method"], "HEAD", "{mode}");
            assert!(
                entry["if_range"].is_null() && entry["if_match"].is_null(),
                "{entry}"
            );
            if let Some(encoding) = entry["accept_encoding"].as_str() {
                assert_eq!(encoding, "identity");
            }
        }
    }
}

#[test]
fn the_end_is_found_where_nothing_tells_it() {
    let folder = folder();
    let server = Server::start(folder.path());
    let all = content(SIZE);
    let url = server.url("bare-416", "a.bin");
    let (reading, tally) = fetch(&url, &hasty(), &RANGES).unwrap();
    assert!(reading.got[2] == slice(&all, &RANGES[2]));
    assert!(tally.requests < 40 && tally.retries == 0, "{tally:?}");
    // A size that the first answer refuses to exceed.
    let first = 0..SIZE + 5000;
    let url = server.url("416-last", "a.bin");
    let (reading, tally) = fetch(&url, &hasty(), std::slice::from_ref(&first)).unwrap();
    assert!(reading.got[0] == all);
    assert_eq!((tally.requests, reading.total), (2, Some(SIZE)));
    // Wholly behind the end.
    for (mode, total) in [
        ("ok", Some(SIZE)),
        ("norange", Some(SIZE)),
        ("bare-416", None),
    ] {
        let behind = SIZE + 10..SIZE + 20;
        let (reading, _) = fetch(&server.url(mode, "a.bin"), &hasty(), &[behind]).unwrap();
        assert_eq!((reading.got[0].len(), reading.total), (0, total), "{mode}");
    }
}

#[test]
fn faults_that_cannot_be_met_are_named() {
    let folder = folder();
    let large = std::fs::File::create(folder.path().join("large.bin")).unwrap();
    large.set_len((16 << 20) + 1).unwrap();
    let server = Server::start(folder.path());
    // mode, file, words, exit code, requests
    for (mode, file, words, exit_code, requests) in [
        (
            "norange",
            "large.bin",
            "ignores range 16777217 bytes 16777216",
            3,
            1,
        ),
        ("gzip-slice", "a.bin", "encoding gzip", 3, 1),
        ("truncate", "a.bin", "short 6 90 bytes 45 came", 3, 6),
        ("etag-change", "a.bin", "changed ETag \"v1\" \"v2\"", 1, 4),
        ("date-change", "a.bin", "changed modified 01 02", 1, 4),
        ("size-change", "a.bin", "changed 20011 22891", 1, 4),
        ("503-always", "a.bin", "503 6 later", 1, 6),
        ("500", "a.bin", "500", 1, 1),
        ("403", "a.bin", "403 credentials", 3, 1),
        ("auth", "a.bin", "401 credentials", 3, 1),
        ("ok", "missing.bin", "404 no such file", 3, 1),
        ("redirect-loop", "a.bin", "redirects", 3, 11),
        (
            "redirect-file",
            "a.bin",
            "redirect file:///etc/passwd",
            3,
            1,
        ),
        ("wrong-content-range", "a.bin", "range 0-2879 10-2889", 3, 1),
        ("long", "a.bin", "longer 2880", 3, 1),
        ("multipart", "a.bin", "several ranges", 3, 1),
        ("reset-always", "a.bin", "no answer 6", 1, 6),
    ] {
        server.reset();
        let url = server.url(mode, file);
        let ranges = [0..2880, 2880..5760, 5760..8640, 8640..11520];
        let text = refused(fetch(&url, &hasty(), &ranges), exit_code);
        assert!(text.starts_with(&url), "{mode}: {text}");
        for word in words.split(' ') {
            assert!(text.contains(word), "{mode}: {word:?} in {text:?}");
        }
        assert_eq!(server.requests(), requests, "{mode}: {text}");
        assert_eq!(server.active_soon(), 0, "{mode}");
    }
    let url = server.url("wrong-body", "a.bin");
    let text = refused(fetch(&url, &hasty(), &[5000..5100]), 3);
    assert!(
        text.contains("5000-5099") && text.contains("0-99"),
        "{text}"
    );
}

#[test]
fn a_web_page_is_passed_on_for_the_format_to_refuse() {
    let folder = folder();
    let server = Server::start(folder.path());
    let (reading, tally) = fetch(&server.url("html-200", "a.bin"), &hasty(), &[0..2880]).unwrap();
    assert!(reading.got[0].starts_with(b"<!DOCTYPE html>"));
    assert_eq!(reading.total, Some(reading.got[0].len() as u64));
    assert_eq!(tally.requests, 1);
}

#[test]
fn retry_after_is_honoured_up_to_the_longest_wait() {
    let folder = folder();
    let server = Server::start(folder.path());
    let started = Instant::now();
    fetch(&server.url("503-date", "a.bin"), &hasty(), &[0..10]).unwrap();
    let waited = started.elapsed();
    // The date is two seconds ahead, cut to whole seconds.
    assert!(waited > Duration::from_millis(900), "{waited:?}");
    let brisk = Options::default().with_patience(Patience {
        tries: 3,
        first_wait_ms: 1,
        longest_wait_ms: 20,
    });
    let started = Instant::now();
    let text = refused(fetch(&server.url("503-hour", "a.bin"), &brisk, &[0..10]), 1);
    assert!(
        text.contains("503") && started.elapsed() < Duration::from_secs(2),
        "{text}"
    );
    assert_eq!(server.requests(), 2 + 3);
}

#[test]
fn credentials_go_to_the_origin_alone() {
    let folder = folder();
    let server = Server::start(folder.path());
    let options = hasty()
        .with_header("Authorization", "Bearer 5ecret")
        .unwrap();
    for mode in ["auth", "redirect-home"] {
        fetch(&server.url(mode, "a.bin"), &options, &RANGES).unwrap();
    }
    server.reset();
    fetch(&server.url("redirect-away", "a.bin"), &options, &[0..10]).unwrap();
    let log = server.log();
    let seen: Vec<_> = log["log"].as_array().unwrap().iter().collect();
    assert_eq!(seen.len(), 2);
    assert_eq!(seen[0]["authorization"], true, "{log}");
    assert_eq!(seen[1]["authorization"], false, "{log}");
    let version = concat!("sectile/", env!("CARGO_PKG_VERSION"));
    assert_eq!(seen[0]["user_agent"], version);
    assert!(!format!("{options:?}").contains("5ecret"));
    let text = Options::default()
        .with_header("Ran ge", "5ecret")
        .unwrap_err();
    assert!(!text.to_string().contains("5ecret") && text.exit_code() == 3);
    assert!(
        Options::default()
            .with_header("Range", "bytes=0-1")
            .is_err()
    );
}

#[test]
fn offsets_beyond_four_gibibytes() {
    let folder = folder();
    let server = Server::start(folder.path());
    let url = server.url("virtual", "huge.fits");
    let pixels = [
        (0, 0, 2_880, 0.0),
        (65_535, 0, 265_020, 65_535.0),
        (5, 16_384, 4_294_970_196, 197.0),
        (65_535, 16_383, 4_294_970_172, 191.0),
        (12_345, 20_000, 5_242_932_260, 2_109_731.0),
        (65_535, 24_575, 6_442_453_820, 287.0),
    ];
    let ranges: Vec<_> = pixels.iter().map(|pixel| pixel.2..pixel.2 + 4).collect();
    let (reading, _) = fetch(&url, &hasty(), &ranges).unwrap();
    assert_eq!(reading.total, Some(6_442_456_320));
    for (bytes, (x, y, at, value)) in reading.got.iter().zip(pixels) {
        assert_eq!(at, 2880 + 4 * (y * 65_536 + x));
        assert_eq!(*bytes, f32::to_be_bytes(value));
    }
    // A local file with a hole of the same kind.
    let path = folder.path().join("sparse.bin");
    let file = std::fs::File::create(&path).unwrap();
    file.set_len(5 << 30).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, b"far away", (5 << 30) - 8).unwrap();
    let end: Range<u64> = (5 << 30) - 8..(5 << 30) + 100;
    let (reading, tally) = fetch(path.to_str().unwrap(), &hasty(), &[end]).unwrap();
    assert_eq!(reading.got[0], b"far away");
    assert_eq!((reading.total, tally.bytes_fetched), (Some(5 << 30), 8));
}

#[test]
fn the_shared_cases_server_gives_the_stated_outcomes() {
    let folder = folder();
    let Some(server) = Server::start_shared(folder.path()) else {
        println!("skipped: no shared cases, or no python3");
        return;
    };
    let all = content(SIZE);
    for mode in [
        "ok",
        "norange",
        "gzip",
        "nocors",
        "noexpose",
        "503-then-ok",
        "redirect",
        "slow",
        "head-403",
        "416-last",
        "429",
        "weak-etag",
        "short-206",
        "reset",
    ] {
        let (reading, _) = fetch(&server.url(mode, "a.bin"), &hasty(), &RANGES)
            .unwrap_or_else(|error| panic!("{mode}: {error}"));
        for (got, range) in reading.got.iter().zip(&RANGES) {
            assert!(*got == slice(&all, range), "{mode}: bytes of {range:?}");
        }
    }
    for (mode, word, exit_code) in [
        ("gzip-slice", "encod", 3),
        ("truncate", "short", 3),
        ("etag-change", "changed", 1),
        ("503-always", "503", 1),
        ("redirect-loop", "redirect", 3),
        ("wrong-content-range", "range", 3),
        ("auth", "401", 3),
    ] {
        let ranges = [0..2880, 2880..5760, 5760..8640, 8640..11520];
        let text = refused(
            fetch(&server.url(mode, "a.bin"), &hasty(), &ranges),
            exit_code,
        );
        assert!(text.contains(word), "{mode}: {text}");
    }
    let text = refused(
        fetch(&server.url("wrong-body", "a.bin"), &hasty(), &[5000..5100]),
        3,
    );
    assert!(text.contains("range"), "{text}");
    let options = hasty().with_header("Authorization", "Bearer x").unwrap();
    fetch(&server.url("auth", "a.bin"), &options, &RANGES).unwrap();
    let last = 6_442_453_820..6_442_453_824;
    let (reading, _) = fetch(&server.url("virtual", "huge.fits"), &hasty(), &[last]).unwrap();
    assert_eq!(reading.got[0], 287.0_f32.to_be_bytes());
    let (reading, _) = fetch(&server.url("html-200", "a.bin"), &hasty(), &[0..2880]).unwrap();
    assert!(reading.got[0].starts_with(b"<!DOCTYPE html>"));
}
