//! Jobs and walks over servers and files: what they cost, how they stop, and what they refuse.
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
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use sectile::drive::Error;
use sectile::drive::native::{Event, Options, Run, Source, follow, run, walk, walk_all};
use sectile::job::Tally;
use servers::{Copying, RANGES, Reading, SIZE, Server, content, folder, hasty, slice};

/// Each source's file in pieces, exposure by exposure, each slot filled by two reads.
fn pieces(sources: u32, piece: u64) -> Vec<(u32, Vec<Range<u64>>)> {
    let starts = (0..SIZE).step_by(usize::try_from(piece).unwrap());
    starts
        .flat_map(|start| (0..sources).map(move |source| (source, start)))
        .map(|(source, start)| {
            let end = SIZE.min(start + piece);
            let middle = start.midpoint(end);
            (source, vec![start..middle, middle..end])
        })
        .collect()
}

/// Runs a job over sources and compares every byte; what it cost.
fn copy(sources: &[Source], in_flight: usize, slots: u32) -> Result<Tally, Error> {
    let all = content(SIZE);
    let ranges = pieces(u32::try_from(sources.len()).unwrap(), 3000);
    let mut job = Copying::new(&ranges, slots);
    let mut tally = Tally::default();
    let cancel = AtomicBool::new(false);
    let plan = Run {
        in_flight,
        cancel: &cancel,
    };
    run(&mut job, sources, &plan, &mut tally, |event| {
        if let Event::Item((fetch, bytes)) = event {
            let start = fetch.reads[0].range.start;
            let end = fetch.reads[1].range.end;
            assert!(bytes == slice(&all, &(start..end)), "{fetch:?}");
        }
        Ok(())
    })?;
    assert_eq!(tally.sections, ranges.len() as u64);
    assert_eq!(tally.bytes_payload, SIZE * sources.len() as u64);
    Ok(tally)
}

#[test]
fn runs_fetch_every_byte_once() {
    let folder = folder();
    let server = Server::start(folder.path());
    let web = server.url("ok", "a.bin");
    let path = folder.path().join("a.bin");
    for (name, in_flight, slots) in [
        (web.as_str(), 1, 1),
        (&web, 6, 8),
        (&web, 16, 40),
        (path.to_str().unwrap(), 6, 3),
    ] {
        server.reset();
        let sources: Vec<_> = (0..3)
            .map(|_| Source::open(name, &hasty()).unwrap())
            .collect();
        let tally = copy(&sources, in_flight, slots).unwrap();
        assert_eq!((tally.requests, tally.retries), (3 * 7 * 2, 0));
        assert_eq!(tally.bytes_fetched, 3 * SIZE);
        assert!(tally.peak_bytes > 0 && tally.peak_bytes <= u64::from(slots) * 3000);
        let peak = server.log()["peak"].as_u64().unwrap();
        assert!(peak <= in_flight as u64, "{peak} at a time");
    }
}

#[test]
fn runs_meet_faults_as_walks_do() {
    let folder = folder();
    let server = Server::start(folder.path());
    for mode in ["reset", "truncate-once", "short-206", "norange"] {
        let source = Source::open(&server.url(mode, "a.bin"), &hasty()).unwrap();
        copy(&[source], 6, 8).unwrap_or_else(|error| panic!("{mode}: {error}"));
    }
    for (mode, word) in [("etag-change", "changed"), ("503-always", "503")] {
        server.reset();
        let source = Source::open(&server.url(mode, "a.bin"), &hasty()).unwrap();
        let error = copy(&[source], 6, 8).unwrap_err();
        assert!(error.to_string().contains(word), "{error}");
        let requests = server.requests();
        assert_eq!(server.active_soon(), 0);
        assert_eq!(
            server.requests(),
            requests,
            "{mode}: none starts afterwards"
        );
    }
}

#[test]
fn a_complaint_slows_the_run_down() {
    let folder = folder();
    let server = Server::start(folder.path());
    let source = Source::open(&server.url("429", "a.bin"), &hasty()).unwrap();
    let ranges = [
        (0, vec![0..10]),
        (0, vec![10..20]),
        (0, vec![20..30]),
        (0, vec![30..40]),
    ];
    let cancel = AtomicBool::new(false);
    let mut tally = Tally::default();
    let plan = Run {
        in_flight: 4,
        cancel: &cancel,
    };
    let started = Instant::now();
    let mut job = Copying::new(&ranges, 4);
    run(&mut job, &[source], &plan, &mut tally, |_| Ok(())).unwrap();
    assert!(
        started.elapsed() >= Duration::from_secs(1),
        "Retry-After: 1 is honoured"
    );
    assert_eq!((tally.requests, tally.retries), (5, 1));
}

#[test]
fn cancel_leaves_nothing_running() {
    let folder = folder();
    std::fs::write(folder.path().join("big.bin"), content(4 << 20)).unwrap();
    let server = Server::start(folder.path());
    // In the middle of bodies, while a server says nothing, and asleep after a complaint.
    for mode in ["slow", "stall", "503-hour"] {
        let options = Options::default();
        let source = Source::open(&server.url(mode, "big.bin"), &options).unwrap();
        let ranges: Vec<_> = (0..4).map(|i| (0, vec![i << 20..(i + 1) << 20])).collect();
        let mut job = Copying::new(&ranges, 4);
        let cancel = AtomicBool::new(false);
        let plan = Run {
            in_flight: 4,
            cancel: &cancel,
        };
        let (late, outcome) = std::thread::scope(|scope| {
            let running = scope.spawn(|| {
                let mut tally = Tally::default();
                let outcome = run(
                    &mut job,
                    std::slice::from_ref(&source),
                    &plan,
                    &mut tally,
                    |_| Ok(()),
                );
                (outcome, Instant::now())
            });
            std::thread::sleep(Duration::from_millis(900));
            let cancelled = Instant::now();
            cancel.store(true, Ordering::SeqCst);
            let (outcome, ended) = running.join().unwrap();
            (ended - cancelled, outcome)
        });
        assert_eq!(outcome, Err(Error::Interrupted), "{mode}");
        // Some tens of milliseconds on an idle machine; each of the modes goes on for two seconds and more.
        assert!(late < Duration::from_millis(1500), "{mode}: {late:?}");
        assert_eq!(server.active_soon(), 0, "{mode}");
    }
}

#[test]
fn an_error_of_the_receiver_stops_the_run() {
    let folder = folder();
    let server = Server::start(folder.path());
    let source = Source::open(&server.url("slow", "a.bin"), &hasty()).unwrap();
    let ranges = pieces(1, 3000);
    let cancel = AtomicBool::new(false);
    let plan = Run {
        in_flight: 2,
        cancel: &cancel,
    };
    let full = || Error::io("out.fits", "write", &std::io::ErrorKind::StorageFull.into());
    let mut job = Copying::new(&ranges, 4);
    let mut tally = Tally::default();
    let outcome = run(
        &mut job,
        &[source],
        &plan,
        &mut tally,
        |event| match event {
            Event::Item(_) => Err(full()),
            Event::Progress(..) => Ok(()),
        },
    );
    assert_eq!(outcome, Err(full()));
    assert_eq!(server.active_soon(), 0);
}

#[test]
fn walks_run_side_by_side() {
    let folder = folder();
    let server = Server::start(folder.path());
    let names = [
        "ok/a.bin",
        "ok/missing.bin",
        "slow/a.bin",
        "slow/a.bin",
        "slow/a.bin",
    ];
    let sources: Vec<_> = names
        .iter()
        .map(|name| Source::open(&format!("{}{name}", server.base), &hasty()).unwrap())
        .collect();
    let mut machines: Vec<_> = names.iter().map(|_| Reading::of(&[0..100])).collect();
    let cancel = AtomicBool::new(false);
    let plan = Run {
        in_flight: 5,
        cancel: &cancel,
    };
    let mut tally = Tally::default();
    let mut seen = 0;
    let outcomes = walk_all(&sources, &mut machines, &plan, &mut tally, |_, _| seen += 1).unwrap();
    let together = server.log()["peak"].as_u64().unwrap();
    assert!(
        together >= 3,
        "the slow ones are waited for together: {together}"
    );
    assert_eq!((seen, tally.requests), (5, 5));
    for (i, outcome) in outcomes.iter().enumerate() {
        assert_eq!(outcome.is_err(), i == 1);
    }
    assert!(machines[4].got[0] == content(100));
    cancel.store(true, Ordering::SeqCst);
    let mut machines: Vec<_> = names.iter().map(|_| Reading::of(&[0..100])).collect();
    let outcomes = walk_all(&sources, &mut machines, &plan, &mut tally, |_, _| {});
    assert_eq!(outcomes.unwrap_err(), Error::Interrupted);
    assert_eq!(server.active_soon(), 0);
}

#[test]
fn local_files_that_cannot_be_read_say_why() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let open = |name: &str| {
        let error = Source::open(name, &hasty()).unwrap_err();
        assert_eq!(error.exit_code(), 3);
        error.to_string()
    };
    let text = open(&at("missing.fits"));
    assert!(
        text.contains("missing.fits") && text.contains("no such file"),
        "{text}"
    );
    assert!(open(&at("")).contains("folder"));
    assert!(open("s3://bucket/key").contains("s3://"));
    assert!(open("http://").contains("host"));
    let pipe = at("pipe");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    assert!(open(&pipe).contains("regular"));
    let locked = at("locked.fits");
    std::fs::write(&locked, b"x").unwrap();
    let none = std::os::unix::fs::PermissionsExt::from_mode(0o000);
    std::fs::set_permissions(&locked, none).unwrap();
    if std::fs::File::open(&locked).is_ok() {
        println!("skipped: this user may read everything");
    } else {
        assert!(open(&locked).contains("permission"));
    }
}

#[test]
fn local_files_that_change_are_noticed() {
    let folder = folder();
    let path = folder.path().join("a.bin");
    let name = path.to_str().unwrap();
    let source = Source::open(name, &hasty()).unwrap();
    let mut tally = Tally::default();
    walk(&source, &mut Reading::of(&RANGES), &mut tally).unwrap();
    assert_eq!(
        source.read_whole(1 << 20, &mut tally).unwrap(),
        content(SIZE)
    );
    assert!(
        source
            .read_whole(1000, &mut tally)
            .unwrap_err()
            .to_string()
            .contains("1000")
    );
    std::fs::write(&path, content(SIZE - 1)).unwrap();
    let error = walk(&source, &mut Reading::of(&RANGES), &mut tally).unwrap_err();
    assert!(
        matches!(error, Error::Changed { .. }) && error.exit_code() == 1,
        "{error}"
    );
    // A job that wants more than there is.
    let source = Source::open(name, &hasty()).unwrap();
    let error = copy(&[source], 2, 4).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("truncated") && text.contains("byte 20010"),
        "{text}"
    );
    assert_eq!(error.exit_code(), 3);
}

#[test]
fn a_scratch_file_is_read_back_while_it_grows() {
    let folder = folder();
    let path = folder.path().join("spill");
    let spill = Source::scratch(&path);
    let cancel = AtomicBool::new(false);
    let plan = Run {
        in_flight: 2,
        cancel: &cancel,
    };
    let all = content(SIZE);
    let mut tally = Tally::default();
    for length in [3000, SIZE] {
        std::fs::write(&path, slice(&all, &(0..length))).unwrap();
        let ranges = [(0, vec![length - 3000..length])];
        let mut job = Copying::new(&ranges, 1);
        run(
            &mut job,
            std::slice::from_ref(&spill),
            &plan,
            &mut tally,
            |event| {
                if let Event::Item((_, bytes)) = event {
                    assert!(bytes == slice(&all, &(length - 3000..length)));
                }
                Ok(())
            },
        )
        .unwrap();
    }
    // What a program reads back of its own costs no request, and none of it is an input's.
    assert_eq!(
        (tally.requests, tally.bytes_fetched, tally.bytes_payload),
        (0, 0, 0)
    );
    let beyond = [(0, vec![SIZE - 10..SIZE + 10])];
    let mut job = Copying::new(&beyond, 1);
    let short = run(&mut job, &[spill], &plan, &mut tally, |_| Ok(())).unwrap_err();
    assert!(short.to_string().contains("begin anew"), "{short}");
}

#[test]
fn a_long_walk_is_told_of_and_can_be_cancelled() {
    let folder = folder();
    let server = Server::start(folder.path());
    let cancel = AtomicBool::new(false);
    let plan = Run {
        in_flight: 1,
        cancel: &cancel,
    };
    let source = Source::open(&server.url("ok", "a.bin"), &hasty()).unwrap();
    let (mut reading, mut tally) = (Reading::of(&RANGES), Tally::default());
    follow(&source, &mut reading, &plan, &mut tally, |_| {}).unwrap();
    let all = content(SIZE);
    let wanted: Vec<_> = RANGES.iter().map(|range| slice(&all, range)).collect();
    assert_eq!((reading.got, tally.requests), (wanted, 3));

    let slow = Source::open(&server.url("slow", "a.bin"), &hasty()).unwrap();
    let many: Vec<_> = (0..1000).map(|_| 0..20_000).collect();
    let (mut reading, mut told) = (Reading::of(&many), 0);
    let begun = Instant::now();
    let stopped = follow(&slow, &mut reading, &plan, &mut tally, |_| {
        told += 1;
        cancel.store(told > 2, Ordering::SeqCst);
    });
    assert_eq!(stopped.unwrap_err(), Error::Interrupted);
    assert!(begun.elapsed() < Duration::from_secs(3));
    assert_eq!(server.active_soon(), 0, "no request runs on");
}
