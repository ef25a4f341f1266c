//! Packing that is killed, stopped, starved or refused: nothing lost, nothing wrong under the final name.

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

use pairs::{Spots, array};
use program::{Ran, SlowServer, names, run, run_well, sectile, signal, text, wait_until};
use serde_json::json;

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
        scene.left(),
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
fn a_damaged_checkpoint_is_refused_and_restart_helps() {
    let scene = Scene::new();
    scene.killed(&[]);
    let state = scene.work.path().join("o.sectile.sectile-state");
    let mut bytes = fs::read(&state).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x55;
    fs::write(&state, bytes).unwrap();
    let ran = run(scene.work.path(), &scene.arguments(&[]));
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stderr.contains("--restart"), "{}", ran.stderr);
    run_well(scene.work.path(), &scene.arguments(&["--restart"]));
    assert!(scene.is_whole());
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
    let before = (scene.left(), names(temp.path()));
    for folder in [scene.work.path(), temp.path()] {
        let cleaned = run_well(folder, &["clean"]);
        assert!(
            cleaned.stderr.contains("another process"),
            "{}",
            cleaned.stderr
        );
    }
    assert_eq!((scene.left(), names(temp.path())), before);
    assert_eq!(
        before.1.len(),
        1,
        "the spill is where it was wanted: {before:?}"
    );
    child.kill().unwrap();
    scene.ended(child);

    // The journal says where the spill is.
    let listed = run_well(scene.work.path(), &["clean", "--dry-run"]).stdout;
    assert_eq!(listed.lines().count(), 4, "{listed}");
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

#[test]
fn a_budget_that_is_too_small_names_the_one_that_works() {
    let scene = Scene::new();
    let needed = |arguments: &[&str]| -> String {
        let ran = run(
            scene.data.path(),
            &[arguments, &["--memory", "1MiB", "--json"]].concat(),
        );
        assert_eq!(ran.code, Some(3), "{ran:?}");
        let error = ran.event("error");
        assert_eq!(error["code"], "budget", "{error}");
        let message = error["message"].as_str().unwrap();
        message.split("--memory ").nth(1).unwrap().to_owned()
    };
    let ion = ["--mz", "500", "--normalise", "rms", "-o"];
    for list in [
        &["pack", "d.imzML", "-o", "s.sectile"][..],
        &[&["ion", "whole.sectile"], &ion[..], &["i.png"]].concat(),
        &[
            &["ion", "whole.sectile"],
            &ion[..],
            &["i.csv", "--mz", "501"],
        ]
        .concat(),
        &[
            "spectrum",
            "whole.sectile",
            "--rect",
            "5,0,20,9",
            "-o",
            "r.csv",
        ],
    ] {
        let memory = needed(list);
        let ran = run_well(
            scene.data.path(),
            &[list, &["--memory", &memory, "--json"]].concat(),
        );
        let done = ran.event("done");
        let budget = sectile::budget::parse_size(&memory).unwrap();
        assert!(
            done["peak_bytes"].as_u64().unwrap() <= budget,
            "{list:?}: {done}"
        );
    }
    assert!(fs::read(scene.data.path().join("s.sectile")).unwrap() == scene.whole);
}

#[test]
fn partners_that_are_not_there_or_called_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    Spots::disc(3, 10).write(folder.path(), "d");
    let at = |name: &str| folder.path().join(name);
    fs::rename(at("d.ibd"), at("elsewhere.bin")).unwrap();
    let server = SlowServer::start(folder.path(), Duration::ZERO);
    let url = server.url("d.imzML");
    for (source, words) in [
        ("d.imzML", &["d.ibd", "--ibd"][..]),
        (&url, &["d.ibd", "d.IBD", "--ibd"]),
    ] {
        for command in ["pack", "spectrum"] {
            let out = if command == "pack" {
                "o.sectile"
            } else {
                "o.csv"
            };
            let mut list = vec![command, source, "-o", out];
            if command == "spectrum" {
                list.extend(["--pixel", "5,-2"]);
            }
            let ran = run(folder.path(), &list);
            assert_eq!(ran.code, Some(3), "{ran:?}");
            for word in words {
                assert!(ran.stderr.contains(word), "{word} in {}", ran.stderr);
            }
        }
    }
    // What the index says is told even so.
    let ran = run(folder.path(), &["info", "d.imzML"]);
    assert_eq!(ran.code, Some(3));
    assert!(
        ran.stdout.contains("3×3 pixels") && ran.stderr.contains("d.ibd"),
        "{ran:?}"
    );
    run_well(
        folder.path(),
        &[
            "pack",
            "d.imzML",
            "--ibd",
            "elsewhere.bin",
            "-o",
            "a.sectile",
        ],
    );
    run_well(
        folder.path(),
        &["pack", &url, "--ibd", "elsewhere.bin", "-o", "b.sectile"],
    );
    fs::rename(at("elsewhere.bin"), at("D.IBD")).unwrap();
    run_well(folder.path(), &["pack", "d.imzML", "-o", "c.sectile"]);
    let read = |name: &str| fs::read(at(name)).unwrap();
    assert!(read("a.sectile") == read("b.sectile") && read("b.sectile") == read("c.sectile"));
}

#[test]
fn a_checksum_that_does_not_fit_is_found_on_request() {
    let folder = tempfile::tempdir().unwrap();
    Spots::disc(6, 100).write(folder.path(), "d");
    let ran = run_well(
        folder.path(),
        &["pack", "d.imzML", "-o", "d.sectile", "--verify"],
    );
    assert_eq!(ran.stderr.matches("checksum").count(), 0, "{ran:?}");
    let mut ibd = fs::read(folder.path().join("d.ibd")).unwrap();
    let last = ibd.len() - 1;
    ibd[last] ^= 1;
    fs::write(folder.path().join("d.ibd"), ibd).unwrap();
    let ran = run(
        folder.path(),
        &["pack", "d.imzML", "-o", "e.sectile", "--verify"],
    );
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(
        ran.stderr.contains("d.ibd") && ran.stderr.contains("SHA-1"),
        "{}",
        ran.stderr
    );
    assert!(
        names(folder.path())
            .iter()
            .all(|name| !name.starts_with("e."))
    );
}

#[test]
fn bad_spectra_stop_it_or_are_left_out_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let mut spots = Spots::disc(6, 100);
    spots.0[3].mz[50] = f64::NAN;
    spots.0[7].mz[0] = -1.0;
    spots.0[9].intensity[2] = f32::INFINITY;
    spots.write(folder.path(), "d");
    let ran = run(
        folder.path(),
        &["pack", "d.imzML", "-o", "d.sectile", "--json"],
    );
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let message = ran.event("error")["message"].as_str().unwrap().to_owned();
    assert!(
        message.contains("spectrum 3") && message.contains("--skip-bad"),
        "{message}"
    );
    assert_eq!(
        names(folder.path()),
        ["d.ibd", "d.imzML"],
        "nothing is left"
    );
    let ran = run_well(
        folder.path(),
        &["pack", "d.imzML", "-o", "d.sectile", "--json", "--skip-bad"],
    );
    assert_eq!(ran.event("done")["counts"]["bad_spectra"], 3);
    assert!(ran.stdout.contains("\"warning\""), "{ran:?}");
    run_well(
        folder.path(),
        &[
            "ion",
            "d.sectile",
            "--mz",
            "500",
            "--da",
            "499",
            "-o",
            "d.npy",
        ],
    );
    let image = array(&folder.path().join("d.npy")).1;
    for n in [3, 7, 9] {
        let [x, y, _] = spots.0[n].at;
        let pixel = (y + 2) * 6 + x - 5;
        assert!(
            image[usize::try_from(pixel).unwrap()].is_nan(),
            "what is left out is no data"
        );
    }

    // An ibd that was cut short: said at once, or all that lies beyond its end is left out.
    let ibd = fs::read(folder.path().join("d.ibd")).unwrap();
    fs::write(folder.path().join("d.ibd"), &ibd[..ibd.len() / 2]).unwrap();
    let ran = run(folder.path(), &["pack", "d.imzML", "-o", "e.sectile"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stderr.contains("ibd"), "{ran:?}");
    let ran = run_well(
        folder.path(),
        &["pack", "d.imzML", "-o", "e.sectile", "--json", "--skip-bad"],
    );
    let bad = ran.event("done")["counts"]["bad_spectra"].as_u64().unwrap();
    assert!(bad > 10 && bad < spots.0.len() as u64, "{bad}");
}

#[test]
fn stores_that_are_none() {
    let folder = tempfile::tempdir().unwrap();
    Spots::disc(6, 100).write(folder.path(), "it's µ");
    let put = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    run_well(folder.path(), &["pack", "it's µ.imzML", "-o", "d.sectile"]);
    let store = fs::read(folder.path().join("d.sectile")).unwrap();
    put("short.sectile", &store[..store.len() / 2]);
    put("page.sectile", b"<!DOCTYPE html><html>not found</html>");
    put("empty.sectile", b"");
    let mut flipped = store.clone();
    flipped[200] ^= 1;
    put("flipped.sectile", &flipped);
    for (name, word) in [
        ("short.sectile", "cut short"),
        ("page.sectile", "no segment store"),
        ("empty.sectile", "no segment store"),
        ("flipped.sectile", "SHA-256"),
        ("absent.sectile", "no such file"),
        (
            "it's µ.imzML",
            r"sectile pack 'it'\''s µ.imzML' -o 'it'\''s µ.sectile'",
        ),
    ] {
        let ran = run(folder.path(), &["ion", name, "--mz", "500", "-o", "x.png"]);
        assert_eq!(ran.code, Some(3), "{name}: {ran:?}");
        assert!(
            ran.stderr.contains(name) && ran.stderr.contains(word),
            "{word:?} in {}",
            ran.stderr
        );
    }
    // A block that was damaged is found when it is read.
    let mut flipped = store;
    let last = flipped.len() - 100;
    flipped[last] ^= 1;
    put("block.sectile", &flipped);
    let list = [
        "ion",
        "block.sectile",
        "--mz",
        "500",
        "--da",
        "499",
        "-o",
        "x.png",
    ];
    let ran = run(folder.path(), &list);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stderr.contains("block.sectile"), "{}", ran.stderr);
    assert!(
        names(folder.path())
            .iter()
            .all(|name| !name.starts_with("x."))
    );
}

#[test]
fn an_input_is_never_overwritten() {
    let (store, _) = {
        let folder = tempfile::tempdir().unwrap();
        Spots::disc(3, 10).write(folder.path(), "d");
        run_well(folder.path(), &["pack", "d.imzML", "-o", "d.sectile"]);
        let bytes = fs::read(folder.path().join("d.sectile")).unwrap();
        (folder, bytes)
    };
    fs::rename(store.path().join("d.ibd"), store.path().join("d.sectile")).unwrap();
    let before = fs::read(store.path().join("d.sectile")).unwrap();
    let ran = run(
        store.path(),
        &["pack", "d.imzML", "--ibd", "d.sectile", "-o", "./d.sectile"],
    );
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(fs::read(store.path().join("d.sectile")).unwrap() == before);
}

#[test]
fn command_lines_that_make_no_sense() {
    let folder = tempfile::tempdir().unwrap();
    Spots::disc(3, 10).write(folder.path(), "d");
    run_well(folder.path(), &["pack", "d.imzML", "-o", "d.sectile"]);
    let server = SlowServer::start(folder.path(), Duration::ZERO);
    let (pair, store) = (server.url("d.imzML"), server.url("d.sectile"));
    let ion = ["ion", store.as_str(), "-o"];
    let spectrum = ["spectrum", pair.as_str(), "-o"];
    for list in [
        &["pack", &pair][..],
        &["pack", &pair, "-o", "x"],
        &["pack", &pair, "-o", "x.png"],
        &["pack", &pair, "-o", "-"],
        &["pack", &pair, "-o", "x.sectile", "--in-flight", "0"],
        &["plan", "pack", &pair, "-o", "x.zip"],
        &[&ion[..], &["x.png"]].concat(),
        &[&ion[..], &["x.png", "--mz", "C6H12O6"]].concat(),
        &[&ion[..], &["x.png", "--mz", "-5"]].concat(),
        // A decimal comma is no list.
        &[&ion[..], &["x.png", "--mz", "885,5"]].concat(),
        &[&ion[..], &["x.png", "--mz", "500", "--ppm", "0"]].concat(),
        &[
            &ion[..],
            &["x.png", "--mz", "500", "--ppm", "3", "--da", "1"],
        ]
        .concat(),
        &[&ion[..], &["x.png", "--mz", "500", "--normalise", "max"]].concat(),
        &[&ion[..], &["x.tif", "--mz", "500"]].concat(),
        &[&ion[..], &["x.csv", "--mz", "500", "--alpha"]].concat(),
        &[&ion[..], &["{mz}.png", "--mz", "500", "500"]].concat(),
        &[&spectrum[..], &["x.csv"]].concat(),
        &[&spectrum[..], &["x.png", "--pixel", "5,5"]].concat(),
        &[&spectrum[..], &["x.csv", "--pixel", "5"]].concat(),
        &[
            &spectrum[..],
            &["x.csv", "--pixel", "5,5", "--rect", "1,1,2,2"],
        ]
        .concat(),
        &[&spectrum[..], &["x.csv", "--rect", "2,1,2,2"]].concat(),
        &[&spectrum[..], &["x.csv", "--polygon", "1,1 2,2"]].concat(),
    ] {
        let ran = run(folder.path(), list);
        assert_eq!(ran.code, Some(2), "{list:?}: {ran:?}");
        assert!(!ran.stderr.is_empty());
    }
    assert_eq!(
        server.requests(),
        0,
        "nothing is fetched for a line that makes no sense"
    );
    for (list, word) in [
        (&["pack", "d.imzML", "-o", "absent/x.sectile"][..], "absent"),
        (
            &["pack", "d.imzML", "-o", "x.sectile", "--temp", "absent"],
            "absent",
        ),
        (
            &["pack", "d.imzML", "-o", "x.sectile", "--memory", "lots"],
            "--memory",
        ),
        (&["pack", "d.ibd", "-o", "x.sectile"], ".imzML"),
        (&["pack", "absent.imzML", "-o", "x.sectile"], "absent.imzML"),
        (
            &["pack", "d.sectile", "-o", "x.sectile", "--ibd", "d.ibd"],
            "d.sectile",
        ),
        (
            &["ion", "d.sectile", "--mz", "500", "-o", "absent/x.png"],
            "absent",
        ),
    ] {
        let ran = run(folder.path(), list);
        assert_eq!(ran.code, Some(3), "{list:?}: {ran:?}");
        assert!(ran.stderr.contains(word), "{word} in {}", ran.stderr);
    }
    assert!(
        names(folder.path())
            .iter()
            .all(|name| !name.starts_with("x.") && !name.contains(".sectile-"))
    );
    let ran = run(
        folder.path(),
        &["ion", "d.sectile", "-o", "x.tif", "--mz", "1", "--json"],
    );
    assert_eq!(ran.event("error")["exit"], json!(2));
}
