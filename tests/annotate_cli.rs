//! Annotation as its users meet it: on the demo tissue, whose contents are known.

#![cfg(all(feature = "cli", unix))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::float_cmp,
    missing_docs,
    dead_code,
    unreachable_pub,
    reason = "tests may; the shared modules serve several files"
)]

mod annotations;
mod program;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::Duration;

use annotations::{absent, finished, planted, results, scene};
use program::{SlowServer, names, run, run_well, text};
use serde_json::json;

#[test]
fn what_was_planted_is_found_and_what_is_absent_is_not() {
    let scene = scene();
    let planted: BTreeSet<String> = planted(scene).into_iter().map(|ion| ion.formula).collect();
    let absent = absent(scene, 200);
    assert_eq!((planted.len(), absent.len()), (40, 200));
    let list = scene.list("all.csv", planted.iter().chain(&absent));
    for scoring in ["metaspace-v3", "metaspace-v1"] {
        let out = tempfile::tempdir().unwrap();
        let ran = run_well(
            out.path(),
            &[
                "annotate",
                text(&scene.store),
                "--molecules",
                text(&list),
                "--scoring",
                scoring,
                "-o",
                "r",
                "--json",
            ],
        );
        let plan = ran.event("plan");
        assert_eq!(
            plan["adducts"],
            json!(["+H", "+Na", "+K"]),
            "by the store's polarity"
        );
        assert_eq!(
            (&plan["charge_from"], &plan["charge"]),
            (&json!("store"), &json!(1))
        );
        assert_eq!(plan["analyzer"], "orbitrap");
        assert_eq!(plan["analyzer_from"], "store");
        assert_eq!(plan["resolving_power"], 140_000.0);
        assert_eq!(plan["formulas"], 240);
        let rows = results(&out.path().join("r/results.csv"));
        let mut best: BTreeMap<&str, f64> = BTreeMap::new();
        for row in &rows {
            let least = best.entry(&row.formula).or_insert(1.0);
            *least = least.min(row.fdr);
        }
        for formula in &planted {
            let fdr = best.get(&**formula).copied().unwrap_or(1.0);
            assert!(fdr <= 0.1, "{scoring}: {formula} is planted, its FDR {fdr}");
        }
        for formula in &absent {
            let fdr = best.get(&**formula).copied().unwrap_or(1.0);
            assert!(fdr > 0.05, "{scoring}: {formula} is absent, its FDR {fdr}");
        }
    }
}

#[test]
fn results_depend_on_neither_memory_workers_nor_shards() {
    let scene = scene();
    let list = scene.small_list();
    let mut wanted: Option<Vec<(String, Vec<u8>)>> = None;
    for (memory, workers, shards) in [
        ("32MiB", "1", "1"),
        ("32MiB", "1", "7"),
        ("32MiB", "3", "7"),
        ("128MiB", "1", "1"),
        ("128MiB", "3", "7"),
        ("512MiB", "3", "1"),
        ("512MiB", "1", "7"),
        ("512MiB", "3", "7"),
    ] {
        let out = tempfile::tempdir().unwrap();
        let list = [
            "annotate",
            text(&scene.store),
            "--molecules",
            text(&list),
            "--decoys",
            "20",
            "--memory",
            memory,
            "--workers",
            workers,
            "--shards",
            shards,
            "-o",
            "r",
            "--json",
        ];
        let ran = run_well(out.path(), &list);
        let done = ran.event("done");
        let budget = sectile::budget::parse_size(memory).unwrap();
        let peak = done["peak_bytes"].as_u64().unwrap();
        assert!(peak > 0 && peak <= budget, "{memory}, {workers}: {done}");
        assert_eq!(ran.event("plan")["shards"].to_string(), shards);
        let found = finished(&out.path().join("r"));
        match &wanted {
            None => wanted = Some(found),
            Some(wanted) => assert!(
                *wanted == found,
                "{memory}, {workers} workers, {shards} shards"
            ),
        }
    }
    let wanted = wanted.unwrap();
    assert_eq!(wanted.len(), 3);
}

/// A run over HTTP that can be stopped in the middle.
struct Remote {
    server: SlowServer,
    work: tempfile::TempDir,
    store: String,
    list: String,
    whole: Vec<(String, Vec<u8>)>,
}

impl Remote {
    fn new() -> Self {
        let scene = scene();
        let server = SlowServer::start(scene.folder.path(), Duration::ZERO);
        scene.small_list();
        let mut remote = Self {
            store: server.url("tissue.sectile"),
            list: server.url("small.csv"),
            server,
            work: tempfile::tempdir().unwrap(),
            whole: Vec::new(),
        };
        run_well(remote.work.path(), &remote.arguments("whole", &[]));
        remote.whole = finished(&remote.work.path().join("whole"));
        remote
    }

    fn arguments<'a>(&'a self, out: &'a str, more: &[&'a str]) -> Vec<&'a str> {
        let list = [
            "annotate",
            &self.store,
            "--molecules",
            &self.list,
            "--decoys",
            "20",
            "-o",
            out,
            "--json",
        ];
        [&list[..], more].concat()
    }

    fn folder(&self, out: &str) -> std::path::PathBuf {
        self.work.path().join(out)
    }

    fn is_whole(&self, out: &str) -> bool {
        finished(&self.folder(out)) == self.whole
    }

    /// Bytes of what is saved of shards.
    fn saved(&self, out: &str) -> u64 {
        let folder = self.folder(out).join("annotations.sectile-shards");
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let is_saved = |name: &str| name.ends_with("scores") || name.ends_with("part");
        let saved = entries.filter(|entry| is_saved(&entry.file_name().to_string_lossy()));
        saved
            .map(|entry| entry.metadata().map_or(0, |metadata| metadata.len()))
            .sum()
    }

    /// Starts a run on the slowed server and waits until so many bytes of scores are saved.
    fn started(&self, out: &str, more: &[&str], saved: u64) -> std::process::Child {
        self.server.set_delay(Duration::from_millis(30));
        let mut command = program::sectile();
        command
            .current_dir(self.work.path())
            .args(self.arguments(out, more))
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped());
        let child = command.spawn().unwrap();
        program::wait_until("there is a save", || self.saved(out) >= saved);
        child
    }

    fn ended(&self, child: std::process::Child) -> program::Ran {
        let ran = child.wait_with_output().unwrap().into();
        self.server.set_delay(Duration::ZERO);
        ran
    }
}

/// Many shards one after the other, so that there is something to kill in between.
const SLOW: [&str; 6] = ["--shards", "40", "--workers", "1", "--in-flight", "1"];

#[test]
fn over_http_it_makes_the_requests_that_are_planned() {
    let remote = Remote::new();
    let local = tempfile::tempdir().unwrap();
    let (store, list) = (&scene().store, scene().small_list());
    let arguments = [
        "annotate",
        text(store),
        "--molecules",
        text(&list),
        "--decoys",
        "20",
        "-o",
        "r",
    ];
    let ran = run_well(local.path(), &arguments);
    assert!(finished(&local.path().join("r")) == remote.whole);
    assert!(ran.stdout.contains("r/results.csv"), "{ran:?}");
    for more in [
        &["--memory", "16MiB", "--workers", "1"][..],
        &["--memory", "256MiB", "--workers", "3", "--shards", "5"],
    ] {
        let before = remote.server.requests();
        let mut words = remote.arguments("planned", more);
        words.insert(0, "plan");
        let ran = run_well(remote.work.path(), &words);
        let plan = ran.event("plan");
        assert_eq!(
            remote.server.requests() - before,
            2,
            "the head and the list"
        );
        assert_eq!(ran.event("done")["requests"], 2);
        assert!(!remote.folder("planned").exists());
        let before = remote.server.requests();
        let done = run_well(remote.work.path(), &remote.arguments("done", more)).event("done");
        assert_eq!(done["requests"], remote.server.requests() - before);
        assert_eq!(
            done["requests"].as_u64(),
            plan["requests"].as_u64().map(|n| n + 2)
        );
        let head =
            done["bytes_fetched"].as_u64().unwrap() - done["bytes_payload"].as_u64().unwrap();
        assert!(head <= (256 << 10) + 10_000, "{done}");
        assert_eq!(done["bytes_payload"], plan["bytes"], "{more:?}");
        assert!(
            done["peak_bytes"].as_u64() <= plan["peak_bytes"].as_u64(),
            "{done} {plan}"
        );
        assert!(remote.is_whole("done"));
    }
}

#[test]
fn killed_it_goes_on_in_other_memory_and_with_other_workers() {
    let remote = Remote::new();
    let done = run_well(remote.work.path(), &remote.arguments("all", &SLOW)).event("done");
    let all = done["bytes_payload"].as_u64().unwrap();
    for (more, again) in [
        (&SLOW[..], &SLOW[..]),
        (
            &SLOW,
            &["--shards", "40", "--workers", "3", "--memory", "64MiB"],
        ),
    ] {
        let out = "killed";
        let mut child = remote.started(out, more, 8_000);
        child.kill().unwrap();
        remote.ended(child);
        for name in ["results.csv", "annotations.json", "images.sectile-images"] {
            assert!(!remote.folder(out).join(name).exists(), "{name}");
        }
        let mut words = remote.arguments(out, again);
        words.push("-v");
        let ran = run_well(remote.work.path(), &words);
        assert!(ran.stderr.contains("going on"), "{ran:?}");
        let payload = ran.event("done")["bytes_payload"].as_u64().unwrap();
        assert!(payload > 0 && payload < all, "{payload} of {all}");
        assert!(remote.is_whole(out));
        fs::remove_dir_all(remote.folder(out)).unwrap();
    }
}

#[test]
fn killed_again_and_again_it_still_ends_with_the_same_bytes() {
    let remote = Remote::new();
    let (store, list) = (&scene().store, scene().small_list());
    let arguments = [
        "annotate",
        text(store),
        "--molecules",
        text(&list),
        "--decoys",
        "20",
        "--shards",
        "5",
        "-o",
        "r",
    ];
    let (mut kills, mut delay) = (0_u32, 5);
    while !remote.folder("r/annotations.json").exists() && delay < 5000 {
        let mut command = program::sectile();
        let mut child = command
            .current_dir(remote.work.path())
            .args(arguments)
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let until = std::time::Instant::now() + Duration::from_millis(delay);
        while std::time::Instant::now() < until && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        kills += u32::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
        delay += delay / 4 + 1;
    }
    assert!(kills >= 3, "it was killed {kills} times only");
    run_well(remote.work.path(), &arguments);
    assert!(remote.is_whole("r"));
}

#[test]
fn ctrl_c_stops_at_once_and_says_how_to_go_on() {
    let remote = Remote::new();
    let child = remote.started("c", &SLOW, 8_000);
    remote.server.set_delay(Duration::from_mins(1));
    std::thread::sleep(Duration::from_millis(100));
    let asked = std::time::Instant::now();
    program::signal(&child, "INT");
    let ran = remote.ended(child);
    assert!(
        asked.elapsed() < Duration::from_secs(3),
        "{:?}",
        asked.elapsed()
    );
    assert_eq!(ran.code, Some(130), "{ran:?}");
    let error = ran.event("error");
    assert_eq!(error["code"], "interrupted");
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("goes on from here"),
        "{error}"
    );
    let events = ran.events();
    let progress: Vec<_> = events
        .iter()
        .filter(|event| event["event"] == "progress")
        .collect();
    assert!(!progress.is_empty());
    for event in progress {
        assert_eq!(
            (&event["phase"], &event["unit"]),
            (&json!("ions"), &json!("ions"))
        );
        assert!(event["done"].as_u64() <= event["total"].as_u64(), "{event}");
        assert!(
            event["seconds_left"].is_number() || event["done"] == 0,
            "{event}"
        );
    }
    run_well(remote.work.path(), &remote.arguments("c", &SLOW));
    assert!(remote.is_whole("c"));
}

#[test]
fn at_a_limit_it_stops_with_4_and_the_same_command_goes_on_to_the_same_end() {
    let remote = Remote::new();
    let mut words = remote.arguments("p", &[]);
    words.insert(0, "plan");
    let plan = run_well(remote.work.path(), &words).event("plan");
    assert!(plan["batches"].as_u64() > Some(1), "{plan}");
    // One less than all of it takes.
    let most = (plan["shard_requests"].as_u64().unwrap() - 1).to_string();
    // What is looked at is the time that requests take.
    remote.server.set_delay(Duration::from_millis(25));
    for limit in [["--max-requests", &most], ["--max-seconds", "0.001"]] {
        let more = [&["--in-flight", "1"][..], &limit].concat();
        let (mut runs, mut last) = (0, 0);
        loop {
            let before = remote.server.requests();
            let ran = run(remote.work.path(), &remote.arguments("l", &more));
            runs += 1;
            assert!(runs < 200);
            if limit[0] == "--max-requests" {
                let requests = remote.server.requests() - before;
                assert!(requests <= 2 + most.parse::<u64>().unwrap(), "{requests}");
            }
            if ran.code == Some(0) {
                break;
            }
            assert_eq!(ran.code, Some(4), "{ran:?}");
            let (saved, error) = (ran.event("saved"), ran.event("error"));
            assert_eq!(error["code"], "stopped");
            assert!(
                error["message"]
                    .as_str()
                    .unwrap()
                    .contains("same command again"),
                "{error}"
            );
            let done = saved["done"].as_u64().unwrap();
            assert!(
                done > last && saved["done"].as_u64() < saved["total"].as_u64(),
                "{saved}"
            );
            last = done;
            assert!(!remote.folder("l/results.csv").exists());
        }
        assert!(runs > 1, "{limit:?}");
        assert!(remote.is_whole("l"));
        fs::remove_dir_all(remote.folder("l")).unwrap();
    }
    // Too few for a single batch: it would never end.
    let ran = run(
        remote.work.path(),
        &remote.arguments("l", &["--max-requests", "1"]),
    );
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stdout.contains("allow at least"), "{ran:?}");
}

#[test]
fn what_cannot_be_gone_on_with_begins_anew_and_says_why() {
    let remote = Remote::new();
    for (more, word) in [
        (&["--decoys", "7"][..], "decoys"),
        (&["--ppm", "5"], "ppm"),
        (&["--adducts", "+H"], "adducts"),
        (&["--images", "first"], "images"),
        (&["--restart"], ""),
    ] {
        let mut child = remote.started("o", &SLOW, 8_000);
        child.kill().unwrap();
        remote.ended(child);
        let mut words = remote.arguments("o", &[&SLOW[..], more].concat());
        if more[0] == "--decoys" {
            words.drain(4..6);
        }
        let ran = run_well(remote.work.path(), &words);
        assert_eq!(
            ran.stdout.contains("begins anew"),
            !word.is_empty(),
            "{ran:?}"
        );
        assert!(ran.stdout.contains(word), "{ran:?}");
        assert_eq!(names(&remote.folder("o")).len(), 3);
        assert_eq!(remote.is_whole("o"), word.is_empty(), "{more:?}");
    }
}
