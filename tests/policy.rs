//! The rules of what an answer means, one row a case.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    missing_docs,
    reason = "a test that panics has failed, as it should"
)]

use sectile::drive::fault::{Fault, Kind};
use sectile::drive::policy::{
    After, Asked, Head, Identity, Patience, Take, Verdict, WHOLE_FILE_LIMIT, judge, judge_body,
    judge_lost,
};

const BIG: u64 = 6_442_456_320;

/// A first request for bytes 100..200 of a file of which nothing is known.
fn asked() -> Asked {
    Asked {
        start: 100,
        end: 200,
        tries: 1,
        ..Asked::default()
    }
}

fn known(etag: &str, modified: &str, total: u64) -> Identity {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    Identity {
        etag: some(etag),
        modified: some(modified),
        total: (total > 0).then_some(total),
    }
}

/// A head written as `status; Field: value; Field: value`.
fn head(text: &str) -> Head {
    let mut parts = text.split("; ");
    let mut head = Head {
        status: parts.next().unwrap().parse().unwrap(),
        ..Head::default()
    };
    for part in parts {
        let (name, value) = part.split_once(": ").unwrap();
        let field = match name {
            "Range" => &mut head.content_range,
            "Encoding" => &mut head.content_encoding,
            "Length" => &mut head.content_length,
            "Type" => &mut head.content_type,
            "ETag" => &mut head.etag,
            "Modified" => &mut head.last_modified,
            "Retry-After" => &mut head.retry_after,
            _ => panic!("no field {name}"),
        };
        *field = Some(value.to_owned());
    }
    head
}

/// A verdict in one line: `take SKIP+TAKE of BODY, total T`, `clip END`, `fail Kind`, and so on.
fn spelled(verdict: &Verdict) -> String {
    let number = |n: Option<u64>| n.map_or_else(|| "?".to_owned(), |n| n.to_string());
    match verdict {
        Verdict::Take(take) => format!(
            "take {}+{} of {}{}, total {}",
            take.skip,
            take.take,
            number(take.body),
            if take.whole { " whole" } else { "" },
            number(take.known.total)
        ),
        Verdict::Retry { wait_ms, slow_down } => {
            format!("retry {wait_ms}{}", if *slow_down { " slower" } else { "" })
        }
        Verdict::Clip { end, total } => format!("clip {end}, total {}", number(*total)),
        Verdict::End { total } => format!("end, total {}", number(*total)),
        Verdict::Fail(fault) => format!("fail {:?}", fault.kind),
    }
}

#[test]
fn first_answers() {
    let limit = format!("200; Length: {WHOLE_FILE_LIMIT}");
    let over = format!("200; Length: {}", WHOLE_FILE_LIMIT + 1);
    let at_limit = format!("take 100+100 of {WHOLE_FILE_LIMIT} whole, total {WHOLE_FILE_LIMIT}");
    for (answer, verdict) in [
        // Parts.
        (
            "206; Range: bytes 100-199/1000",
            "take 0+100 of 100, total 1000",
        ),
        ("206; Range: bytes 100-199/*", "take 0+100 of 100, total ?"),
        (
            "206; Range: bytes 100-199/200; Encoding: identity",
            "take 0+100 of 100, total 200",
        ),
        (
            "206; Range: bytes 100-149/150",
            "take 0+50 of 50, total 150",
        ),
        (
            "206; Range: bytes 100-119/1000",
            "take 0+20 of 20, total 1000",
        ),
        (
            "206; Range: bytes 90-209/1000",
            "take 10+100 of 120, total 1000",
        ),
        (
            "206; Range: bytes 0-999/1000",
            "take 100+100 of 1000, total 1000",
        ),
        ("206; Range: bytes 110-209/1000", "fail Place"),
        ("206; Range: bytes 0-99/1000", "fail Place"),
        ("206; Range: bytes 199-100/1000", "fail Place"),
        ("206; Range: bytes 100-199/150", "fail Place"),
        ("206; Range: bytes */1000", "fail Place"),
        ("206; Range: lines 100-199/1000", "fail Place"),
        ("206; Type: multipart/byteranges;boundary=x", "fail Place"),
        (
            "206; Range: bytes 100-199/1000; Encoding: gzip",
            "fail Encoding",
        ),
        ("206; Encoding: br", "fail Encoding"),
        // Content-Length never decides where Content-Range does.
        (
            "206; Range: bytes 100-199/1000; Length: 37",
            "take 0+100 of 100, total 1000",
        ),
        // Parts whose Content-Range a page cannot see.
        ("206", "take 0+100 of ?, total ?"),
        ("206; Length: 100", "take 0+100 of 100, total ?"),
        ("206; Length: 60", "take 0+60 of 60, total ?"),
        ("206; Length: 101", "fail Place"),
        // Whole files.
        (
            "200; Length: 1000",
            "take 100+100 of 1000 whole, total 1000",
        ),
        ("200; Length: 150", "take 100+50 of 150 whole, total 150"),
        ("200; Length: 100", "end, total 100"),
        ("200; Length: 0", "end, total 0"),
        (
            "200; Length: 1000; Type: text/html",
            "take 100+100 of 1000 whole, total 1000",
        ),
        ("200", "take 100+100 of ? whole, total ?"),
        ("200; Length: +1000", "take 100+100 of ? whole, total ?"),
        ("200; Length: 1000; Encoding: gzip", "fail Encoding"),
        (&limit, &at_limit),
        (&over, "fail Ranges"),
        // Behind the end.
        ("416; Range: bytes */150", "clip 150, total 150"),
        ("416; Range: bytes */100", "end, total 100"),
        ("416; Range: bytes */0", "end, total 0"),
        ("416; Range: bytes */1000", "fail Status"),
        ("416", "clip 125, total ?"),
        // Complaints.
        ("429", "retry 125 slower"),
        ("503", "retry 125 slower"),
        ("503; Retry-After: 7", "retry 7000 slower"),
        ("503; Retry-After: 0", "retry 125 slower"),
        ("503; Retry-After: soon", "retry 125 slower"),
        ("503; Retry-After: 3600", "retry 30000 slower"),
        (
            "503; Retry-After: Thu, 01 Jan 1970 00:16:45 GMT",
            "retry 5000 slower",
        ),
        (
            "503; Retry-After: Thu, 01 Jan 1970 00:00:45 GMT",
            "retry 125 slower",
        ),
        ("408", "retry 125"),
        ("502", "retry 125"),
        ("504", "retry 125"),
        // Refusals.
        ("500", "fail Status"),
        ("401", "fail Status"),
        ("403", "fail Status"),
        ("404", "fail Status"),
        ("412", "fail Status"),
        ("302", "fail Status"),
        ("204", "fail Status"),
        ("0", "fail Status"),
    ] {
        let is = spelled(&judge(&asked(), &head(answer), 0.0, 1000));
        assert_eq!(is, verdict, "{answer}");
    }
}

#[test]
fn later_answers_are_about_the_same_file() {
    let monday = "Mon, 01 Jan 2024 00:00:00 GMT";
    let tuesday = "Tue, 02 Jan 2024 00:00:00 GMT";
    let strong = known("\"v1\"", monday, 1000);
    let weak = known("W/\"v1\"", monday, 1000);
    let dated = known("", monday, 0);
    let sized = known("", "", 1000);
    let fine = "take 0+100 of 100, total 1000";
    for (was, answer, verdict) in [
        (
            &strong,
            "206; Range: bytes 100-199/1000; ETag: \"v1\"",
            fine,
        ),
        (
            &strong,
            "206; Range: bytes 100-199/1000; ETag: \"v2\"",
            "fail Changed",
        ),
        (
            &strong,
            "206; Range: bytes 100-199/1001; ETag: \"v1\"",
            "fail Changed",
        ),
        (&strong, "206; Range: bytes 100-199/1000", fine),
        (&strong, "206; Length: 100", fine),
        // A strong tag settles it: mirrors differ in their dates.
        (
            &strong,
            &format!("206; Range: bytes 100-199/1000; ETag: \"v1\"; Modified: {tuesday}"),
            fine,
        ),
        (
            &weak,
            &format!("206; Range: bytes 100-199/1000; ETag: W/\"v1\"; Modified: {monday}"),
            fine,
        ),
        (
            &weak,
            &format!("206; Range: bytes 100-199/1000; ETag: \"v1\"; Modified: {tuesday}"),
            "fail Changed",
        ),
        (
            &weak,
            "206; Range: bytes 100-199/1000; ETag: W/\"v2\"",
            "fail Changed",
        ),
        (
            &dated,
            &format!("206; Range: bytes 100-199/1000; Modified: {tuesday}"),
            "fail Changed",
        ),
        (&sized, "206; Range: bytes 100-199/1001", "fail Changed"),
        (&sized, "206; Range: bytes 100-1000/*", "fail Changed"),
        (&sized, "200; Length: 78; Type: text/html", "fail Changed"),
        (&sized, "416; Range: bytes */900", "fail Changed"),
        (
            &sized,
            "200; Length: 1000",
            "take 100+100 of 1000 whole, total 1000",
        ),
        (&sized, "200", "take 100+100 of ? whole, total 1000"),
        (&sized, "416", "fail Status"),
    ] {
        let asked = Asked {
            known: was.clone(),
            ..asked()
        };
        let is = spelled(&judge(&asked, &head(answer), 0.0, 0));
        assert_eq!(is, verdict, "{answer} after {was:?}");
    }
    let asked = Asked {
        known: sized,
        ..asked()
    };
    let Verdict::Fail(fault) = judge(&asked, &head("200; Length: 78; Type: text/html"), 0.0, 0)
    else {
        panic!("a web page in place of the file is no change?");
    };
    for word in ["changed", "1000", "78", "web page", "100-199"] {
        assert!(fault.what.contains(word), "{fault}");
    }
}

#[test]
fn browsers_decode_whole_files_by_themselves() {
    let asked = Asked {
        decodes: true,
        ..asked()
    };
    let verdict = |answer| spelled(&judge(&asked, &head(answer), 0.0, 0));
    // The length is the encoded one, and says nothing.
    assert_eq!(
        verdict("200; Length: 37; Encoding: gzip"),
        "take 100+100 of ? whole, total ?"
    );
    assert_eq!(
        verdict("206; Range: bytes 100-199/500; Encoding: gzip"),
        "fail Encoding"
    );
}

#[test]
fn offsets_beyond_four_gibibytes() {
    let asked = Asked {
        start: BIG - 2500,
        end: BIG - 2496,
        tries: 1,
        ..Asked::default()
    };
    let verdict = |answer: String| spelled(&judge(&asked, &head(&answer), 0.0, 0));
    let (first, last) = (BIG - 2500, BIG - 2497);
    assert_eq!(
        verdict(format!("206; Range: bytes {first}-{last}/{BIG}")),
        format!("take 0+4 of 4, total {BIG}")
    );
    assert_eq!(verdict(format!("200; Length: {BIG}")), "fail Ranges");
    assert_eq!(verdict("200".to_owned()), "fail Ranges");
    // Honest, but 6 GB would have to be read to get there.
    assert_eq!(
        verdict(format!("206; Range: bytes 0-{last}/{BIG}")),
        "fail Place"
    );
}

#[test]
fn the_end_is_felt_for_where_it_is_hidden() {
    let verdict = |start, end, after_short| {
        let asked = Asked {
            start,
            end,
            after_short,
            tries: 1,
            ..Asked::default()
        };
        spelled(&judge(&asked, &head("416"), 0.0, 0))
    };
    assert_eq!(verdict(0, 65_536, false), "clip 16384, total ?");
    assert_eq!(verdict(10, 12, false), "clip 11, total ?");
    assert_eq!(verdict(10, 11, false), "end, total ?");
    assert_eq!(verdict(5760, 65_536, true), "end, total 5760");
}

#[test]
fn waits_grow_and_tries_end() {
    let at = |tries| Asked { tries, ..asked() };
    let wait = |tries, dice| match judge_lost(&at(tries), "reset", dice) {
        Verdict::Retry { wait_ms, slow_down } => {
            assert!(!slow_down, "a lost connection is no complaint");
            wait_ms
        }
        other => panic!("{other:?}"),
    };
    let (least, most): (Vec<_>, Vec<_>) = (1..6).map(|t| (wait(t, 0.0), wait(t, 1.0))).unzip();
    assert_eq!(least, [125, 250, 500, 1000, 2000]);
    assert_eq!(most, [250, 500, 1000, 2000, 4000]);
    for verdict in [
        judge_lost(&at(6), "connection reset", 0.5),
        judge(&at(6), &head("503; Retry-After: 1"), 0.5, 0),
    ] {
        assert!(matches!(verdict, Verdict::Fail(_)), "{verdict:?}");
    }
    let patient = Asked {
        tries: 60,
        patience: Patience {
            tries: 100,
            ..Patience::default()
        },
        ..asked()
    };
    let Verdict::Retry { wait_ms, .. } = judge_lost(&patient, "", f64::NAN) else {
        panic!("there were tries left");
    };
    assert_eq!(wait_ms, 15_000);
}

/// What a body's end means, in one line.
fn ended(asked: &Asked, answer: &str, received: u64, ended: bool) -> String {
    let Verdict::Take(take) = judge(asked, &head(answer), 0.0, 0) else {
        panic!("{answer} is not taken");
    };
    match judge_body(asked, &take, received, ended, 0.0) {
        After::Done { got, total } => {
            format!("done {got}, total {}", total.map_or(-1, u64::cast_signed))
        }
        After::Continue { from } => format!("continue {from}"),
        After::Retry { from, wait_ms } => format!("retry {from} in {wait_ms}"),
        After::Fail(fault) => format!("fail {:?}", fault.kind),
    }
}

#[test]
fn bodies() {
    let part = "206; Range: bytes 100-199/1000";
    let early = "206; Range: bytes 90-199/1000";
    let short = "206; Range: bytes 100-119/1000";
    let last = "206; Range: bytes 100-149/150";
    let whole = "200; Length: 1000";
    for (answer, received, orderly, is) in [
        (part, 100, true, "done 100, total 1000"),
        (part, 101, true, "fail Long"),
        (part, 99, true, "retry 199 in 125"),
        (part, 99, false, "retry 199 in 125"),
        (part, 0, true, "retry 100 in 125"),
        (early, 110, true, "done 100, total 1000"),
        (early, 60, false, "retry 150 in 125"),
        (early, 5, false, "retry 100 in 125"),
        (short, 20, true, "continue 120"),
        (short, 19, true, "retry 119 in 125"),
        (last, 50, true, "done 50, total 150"),
        (whole, 200, false, "done 100, total 1000"),
        (whole, 150, true, "retry 150 in 125"),
        (whole, 50, true, "retry 100 in 125"),
        // Nothing but an orderly end tells how long these are.
        ("206", 100, true, "done 100, total -1"),
        ("206", 60, true, "continue 160"),
        ("206", 60, false, "retry 160 in 125"),
        ("206", 0, true, "retry 100 in 125"),
        ("206; Length: 60", 60, true, "continue 160"),
        ("206; Length: 60", 59, true, "retry 159 in 125"),
        ("206; Length: 0", 0, true, "retry 100 in 125"),
        ("200", 150, true, "done 50, total 150"),
        ("200", 50, true, "done 0, total 50"),
        ("200", 150, false, "retry 150 in 125"),
    ] {
        let what = format!("{answer}, {received} bytes, orderly {orderly}");
        assert_eq!(ended(&asked(), answer, received, orderly), is, "{what}");
        // At the last try every wait is a failure, and nothing else is.
        let at_last = Asked {
            tries: 6,
            ..asked()
        };
        let is = if is.starts_with("retry") {
            "fail Short"
        } else {
            is
        };
        assert_eq!(
            ended(&at_last, answer, received, orderly),
            is,
            "{what}, last try"
        );
    }
}

#[test]
fn faults_name_what_when_and_what_to_do() {
    let at = |tries| Asked { tries, ..asked() };
    let fault = |tries, answer: &str| match judge(&at(tries), &head(answer), 0.0, 0) {
        Verdict::Fail(fault) => fault,
        other => panic!("{other:?}"),
    };
    for (tries, answer, status, words) in [
        (1, "401", 401, "100-199 401 credentials"),
        (1, "404", 404, "100-199 404 address"),
        (6, "503", 503, "100-199 503 6 later"),
        (1, "206; Range: bytes 0-9/1000", 206, "100-199 0-9 proxy"),
        (1, "206; Encoding: gzip", 206, "100-199 gzip"),
        (
            1,
            "200; Length: 99999999",
            200,
            "100-199 range 99999999 16777216 download",
        ),
    ] {
        let fault = fault(tries, answer);
        assert_eq!(fault.status, Some(status));
        for word in words.split(' ') {
            assert!(fault.what.contains(word), "{word:?} in {fault}");
        }
    }
    let take = Take {
        skip: 0,
        take: 100,
        body: Some(100),
        whole: false,
        known: Identity::default(),
    };
    let After::Fail(fault) = judge_body(&at(6), &take, 40, false, 0.0) else {
        panic!("no try was left");
    };
    assert_eq!(fault.kind, Kind::Short);
    for word in ["short", "100 bytes", "40 came"] {
        assert!(fault.what.contains(word), "{fault}");
    }
    let Verdict::Fail(fault) = judge_lost(&at(6), "connection reset", 0.0) else {
        panic!("no try was left");
    };
    assert!(fault.status.is_none() && fault.what.contains("connection reset"));
}

#[test]
fn javascript_reads_and_writes_the_same_words() {
    let asked: Asked = serde_json::from_str(r#"{"start":0,"end":10,"tries":1}"#).unwrap();
    assert_eq!((asked.end, asked.patience), (10, Patience::default()));
    let head: Head =
        serde_json::from_str(r#"{"status":206,"content_range":"bytes 0-9/10","etag":null}"#)
            .unwrap();
    let verdict = judge(&asked, &head, 0.0, 0);
    let text = serde_json::to_value(&verdict).unwrap();
    assert_eq!((&text["do"], &text["take"]), (&"take".into(), &10.into()));
    assert_eq!(serde_json::from_value::<Verdict>(text).unwrap(), verdict);
    let fail = serde_json::to_value(judge(
        &asked,
        &Head {
            status: 404,
            ..Head::default()
        },
        0.0,
        0,
    ));
    let fail = fail.unwrap();
    assert_eq!(
        (&fail["do"], &fail["kind"]),
        (&"fail".into(), &"status".into())
    );
    assert!(serde_json::from_value::<Fault>(fail).is_ok());
}
