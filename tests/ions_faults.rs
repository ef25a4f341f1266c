//! Packing that is killed, stopped or starved: nothing lost, nothing wrong under the final name.

#![cfg(all(feature = "cli", unix))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    missing_docs,
    dead_code,
    unreachable_pub,
    reason = "tests may; the shared modules serve several files"
)]

mod pairs;
mod program;

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use pairs::Spots;
use program::{Ran, SlowServer, names, run, run_well, sectile, signal, text, wait_until};

/// A pair whose peaks do not fit into 8 MiB, on a server that can be slowed down, and its store.
struct Scene {
    data: tempfile::TempDir,
    work: tempfile::TempDir,
    server: SlowServer,
    url: String,
    whole: Vec<u8>,
    payload: u64,
}

impl Scene {
    fn new() -> Self {
        let (data, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        Spots::disc(20, 2500).write(data.path(), "d");
        let server = SlowServer::start(data.path(), Duration::ZERO);
        let url = server.url("d.imzML");
        run_well(
            data.path(),
            &[
                "pack",
                "d.imzML",
                "-o",
                "whole.sectile",
                "--memory",
                "64MiB",
            ],
        );
        Self {
            whole: fs::read(data.path().join("whole.sectile")).unwrap(),
            payload: fs::metadata(data.path().join("d.ibd")).unwrap().len() - 16,
            data,
            work,
            server,
            url,
        }
    }

    fn arguments<'a>(&'a self, more: &[&'a str]) -> Vec<&'a str> {
        let list = [
            "pack",
            &self.url,
            "-o",
            "o.sectile",
            "--memory",
            "8MiB",
            "--in-flight",
            "1",
            "--json",
        ];
        [&list[..], more].concat()
    }

    /// Starts a run on the slowed server and waits for its first checkpoint.
    fn started(&self, more: &[&str]) -> Child {
        self.server.set_delay(Duration::from_millis(15));
        let mut command = sectile();
        command
            .current_dir(self.work.path())
            .args(self.arguments(more));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        let state = self.work.path().join("o.sectile.sectile-state");
        wait_until("there is a checkpoint", || state.exists());
        child
    }

    fn killed(&self, more: &[&str]) {
        let mut child = self.started(more);
        child.kill().unwrap();
        self.ended(child);
    }

    fn ended(&self, child: Child) -> Ran {
        let ran = child.wait_with_output().unwrap().into();
        self.server.set_delay(Duration::ZERO);
        ran
    }

    /// What lies beside the store, but for a checkpoint that is just being replaced.
    fn lasting(&self) -> Vec<String> {
        let left = self.left().into_iter();
        left.filter(|name| !name.ends_with("-fresh")).collect()
    }

    fn left(&self) -> Vec<String> {
        let names = names(self.work.path()).into_iter();
        names.filter(|name| name.contains(".sectile-")).collect()
    }

    fn is_whole(&self) -> bool {
        fs::read(self.work.path().join("o.sectile")).unwrap() == self.whole
    }
}

#[test]
fn a_killed_packing_goes_on_and_the_bytes_are_the_same() {
    let scene = Scene::new();
    scene.killed(&[]);
    assert!(!scene.work.path().join("o.sectile").exists());
    let left = ["journal", "part", "spill", "state"];
    assert_eq!(
        scene.lasting(),
        left.map(|name| format!("o.sectile.sectile-{name}"))
    );
    let done = run_well(scene.work.path(), &scene.arguments(&[])).event("done");
    let payload = done["bytes_payload"].as_u64().unwrap();
    assert!(payload > 0 && payload < scene.payload, "{done}");
    assert!(scene.is_whole());
    assert!(scene.left().is_empty(), "{:?}", scene.left());
}

#[test]
fn killed_again_and_again_it_still_ends_with_the_same_bytes() {
    let scene = Scene::new();
    let pair = scene.data.path().join("d.imzML");
    let list = ["pack", text(&pair), "-o", "o.sectile", "--memory", "8MiB"];
    let out = scene.work.path().join("o.sectile");
    let (mut kills, mut delay) = (0, 10);
    while !out.exists() && kills < 40 {
        let mut command = sectile();
        command.current_dir(scene.work.path()).args(list);
        let mut child = command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // A little longer each time, so that kills fall into every phase.
        let until = Instant::now() + Duration::from_millis(delay);
        while Instant::now() < until && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(2));
        }
        kills += u32::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
        delay += 15;
    }
    assert!(kills >= 2, "it was killed {kills} times only");
    run_well(scene.work.path(), &list);
    assert!(scene.is_whole());
    assert!(scene.left().is_empty(), "{:?}", scene.left());
}

#[test]
fn ctrl_c_stops_at_once_and_says_how_to_go_on() {
    let scene = Scene::new();
    let child = scene.started(&[]);
    // The request in flight would take longer than any user waits.
    scene.server.set_delay(Duration::from_mins(1));
    std::thread::sleep(Duration::from_millis(100));
    let asked = Instant::now();
    signal(&child, "INT");
    let ran = scene.ended(child);
    assert!(
        asked.elapsed() < Duration::from_secs(3),
        "{:?}",
        asked.elapsed()
    );
    assert_eq!(ran.code, Some(130), "{ran:?}");
    let events = ran.events();
    let progress = events.iter().filter(|event| event["event"] == "progress");
    let reading: Vec<_> = progress.filter(|event| event["phase"] == "read").collect();
    assert!(!reading.is_empty(), "{events:?}");
    for event in reading {
        assert!(event["done"].as_u64() <= event["total"].as_u64(), "{event}");
        assert!(
            event["seconds_left"].is_number() || event["done"] == 0,
            "{event}"
        );
    }
    let error = ran.event("error");
    assert_eq!(error["code"], "interrupted");
    let message = error["message"].as_str().unwrap();
    assert!(
        message.contains("goes on from here") && message.contains("clean"),
        "{message}"
    );
    assert!(!scene.work.path().join("o.sectile").exists());
    run_well(scene.work.path(), &scene.arguments(&[]));
    assert!(scene.is_whole());
}

#[test]
fn what_cannot_be_gone_on_with_begins_anew_and_says_why() {
    let scene = Scene::new();
    for (more, word) in [
        (&["--memory=16MiB"][..], "memory"),
        (&["--skip-bad"], "skip_bad"),
        (&["--restart"], ""),
    ] {
        scene.killed(&[]);
        let mut list: Vec<&str> = scene.arguments(more);
        if more[0].starts_with("--memory") {
            list.drain(4..6);
        }
        let ran = run_well(scene.work.path(), &list);
        assert_eq!(
            ran.stdout.contains("begins anew"),
            !word.is_empty(),
            "{ran:?}"
        );
        assert!(ran.stdout.contains(word));
        assert_eq!(ran.event("done")["bytes_payload"], scene.payload);
        assert!(scene.is_whole());
        fs::remove_file(scene.work.path().join("o.sectile")).unwrap();
    }
    // Another version of the input.
    scene.killed(&[]);
    Spots::disc(10, 50).write(scene.data.path(), "other");
    fs::copy(
        scene.data.path().join("other.imzML"),
        scene.data.path().join("d.imzML"),
    )
    .unwrap();
    fs::copy(
        scene.data.path().join("other.ibd"),
        scene.data.path().join("d.ibd"),
    )
    .unwrap();
    let ran = run_well(scene.work.path(), &scene.arguments(&[]));
    assert!(ran.stdout.contains("not the same inputs"), "{ran:?}");
}

#[test]
fn what_cannot_be_gone_on_with_is_begun_anew_by_itself() {
    type Damage = fn(&mut Vec<u8>);
    let scene = Scene::new();
    let damages: [(&str, Damage, &str); 5] = [
        (
            "state",
            |bytes| {
                let middle = bytes.len() / 2;
                bytes[middle] ^= 0x55;
            },
            "it is damaged",
        ),
        ("state", |bytes| bytes.truncate(7), "too short"),
        ("state", |bytes| *bytes = vec![b'x'; 5000], "it is not one"),
        (
            "spill",
            |bytes| bytes.truncate(bytes.len() / 2),
            "has become shorter",
        ),
        ("spill", Vec::clear, "has become shorter"),
    ];
    for (file, damage, why) in damages {
        scene.killed(&[]);
        let path = scene.work.path().join(format!("o.sectile.sectile-{file}"));
        let mut bytes = fs::read(&path).unwrap();
        damage(&mut bytes);
        fs::write(&path, bytes).unwrap();
        let ran = run_well(scene.work.path(), &scene.arguments(&[]));
        let said = &ran.stdout;
        assert!(
            said.contains("begins anew") && said.contains(why),
            "{why}: {said}"
        );
        assert!(scene.is_whole(), "{why}");
        assert_eq!(scene.left(), [""; 0], "{why}");
        fs::remove_file(scene.work.path().join("o.sectile")).unwrap();
    }
}

#[test]
fn two_processes_do_not_pack_into_one_store_and_clean_leaves_them_alone() {
    let scene = Scene::new();
    let temp = tempfile::tempdir().unwrap();
    let more = ["--temp", text(temp.path())];
    let mut child = scene.started(&more);
    let second = run(scene.work.path(), &scene.arguments(&more));
    assert_eq!(second.code, Some(1), "{second:?}");
    assert!(
        second.stderr.contains("another process"),
        "{}",
        second.stderr
    );
    let before = (scene.lasting(), names(temp.path()));
    for folder in [scene.work.path(), temp.path()] {
        let cleaned = run_well(folder, &["clean"]);
        assert!(
            cleaned.stderr.contains("another process"),
            "{}",
            cleaned.stderr
        );
    }
    assert_eq!((scene.lasting(), names(temp.path())), before);
    assert_eq!(
        before.1.len(),
        1,
        "the spill is where it was wanted: {before:?}"
    );
    child.kill().unwrap();
    scene.ended(child);

    // The journal says where the spill is.
    let listed = run_well(scene.work.path(), &["clean", "--dry-run"]).stdout;
    assert!(listed.lines().count() >= 4, "{listed}");
    assert!(listed.contains(".sectile-spill"), "{listed}");
    run_well(scene.work.path(), &["clean"]);
    assert!(scene.left().is_empty() && names(temp.path()).is_empty());
    let again = run_well(scene.work.path(), &["clean"]);
    assert_eq!(again.stdout, "");

    // Going on works with a spill elsewhere, and another place for it begins anew without leaving the old.
    scene.killed(&more);
    run_well(scene.work.path(), &scene.arguments(&[]));
    assert!(scene.is_whole() && scene.left().is_empty());
    assert!(names(temp.path()).is_empty(), "{:?}", names(temp.path()));
}

/// A limit on file sizes stands in for a full disk: both stop a write in its middle.
#[test]
fn no_space_left() {
    let scene = Scene::new();
    let limited = |folder: &Path, blocks: u32, arguments: &[&str]| -> Ran {
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
        let mut command = Command::new("sh");
        command
            .args(["-c", &script, env!("CARGO_BIN_EXE_sectile")])
            .args(arguments);
        command.current_dir(folder).output().unwrap().into()
    };
    for blocks in [100, 4000, 12_000] {
        let full = limited(scene.work.path(), blocks, &scene.arguments(&[]));
        assert_eq!(full.code, Some(3), "{full:?}");
        let error = full.event("error");
        assert_eq!(error["code"], "space");
        assert!(
            error["message"].as_str().unwrap().contains("make room"),
            "{error}"
        );
        assert!(!scene.work.path().join("o.sectile").exists());
        let listed = run_well(scene.work.path(), &["clean", "--dry-run"]).stdout;
        for left in names(scene.work.path()) {
            assert!(listed.contains(&left), "{left} in {listed}");
        }
    }
    run_well(scene.work.path(), &scene.arguments(&[]));
    assert!(scene.is_whole() && scene.left().is_empty());

    fs::write(scene.work.path().join("o.npy"), "before").unwrap();
    for out in ["o.npy", "o.csv", "o.png"] {
        let list = [
            "ion",
            "o.sectile",
            "--mz",
            "500",
            "--da",
            "300",
            "-o",
            out,
            "--json",
        ];
        let full = limited(scene.work.path(), 0, &list);
        assert_eq!(
            (full.code, full.event("error")["code"].as_str()),
            (Some(3), Some("space")),
            "{full:?}"
        );
        assert!(scene.left().is_empty(), "{:?}", scene.left());
    }
    assert_eq!(
        fs::read(scene.work.path().join("o.npy")).unwrap(),
        b"before"
    );
}
