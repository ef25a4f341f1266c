//! Killed and run again: nothing lost, the same bytes, and nothing left that `clean` does not list.

#![cfg(all(feature = "cli", unix))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    dead_code,
    unreachable_pub,
    reason = "tests may; the shared module serves several files"
)]

mod program;

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use program::{Ran, SlowServer, names, run, run_well, sectile, signal, stack, text, wait_until};

const EXPOSURES: u32 = 3;
const SIZE: u32 = 128;
const PAYLOAD: u32 = EXPOSURES * SIZE * SIZE * 4;

/// A demo stack on a slow server, and a folder to write into.
struct Scene {
    data: tempfile::TempDir,
    work: tempfile::TempDir,
    server: SlowServer,
    urls: Vec<String>,
    /// A budget at which there are many sections.
    memory: String,
}

impl Scene {
    fn new() -> Self {
        let data = stack(EXPOSURES, SIZE);
        let server = SlowServer::start(data.path(), Duration::ZERO);
        let urls: Vec<String> = (1..=EXPOSURES)
            .map(|i| server.url(&format!("exposure_{i:02}.fits")))
            .collect();
        let plan = run_well(
            data.path(),
            &[
                "plan",
                "median",
                "exposures.txt",
                "--json",
                "--in-flight",
                "1",
            ],
        )
        .event("plan");
        let memory = (plan["minimum_bytes"].as_u64().unwrap() + 8_000).to_string();
        Self {
            data,
            work: tempfile::tempdir().unwrap(),
            server,
            urls,
            memory,
        }
    }

    fn arguments<'a>(&'a self, out: &'a str, memory: &'a str) -> Vec<&'a str> {
        let mut arguments = vec![
            "median",
            "-o",
            out,
            "--memory",
            memory,
            "--in-flight",
            "1",
            "--json",
        ];
        arguments.extend(self.urls.iter().map(String::as_str));
        arguments
    }

    /// Starts a run on the slowed server and waits until some rows are in the journal.
    fn started(&self, out: &str) -> Child {
        self.server.set_delay(Duration::from_millis(40));
        let mut command = sectile();
        command
            .current_dir(self.work.path())
            .args(self.arguments(out, &self.memory));
        let child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let journal = self.work.path().join(format!("{out}.sectile-journal"));
        wait_until("rows are in the journal", || {
            fs::read_to_string(&journal).is_ok_and(|text| text.lines().count() > 2)
        });
        child
    }

    fn ended(&self, child: Child) -> Ran {
        let ran = child.wait_with_output().unwrap().into();
        self.server.set_delay(Duration::ZERO);
        ran
    }

    fn left(&self) -> Vec<String> {
        names(self.work.path())
            .into_iter()
            .filter(|name| name.contains(".sectile-"))
            .collect()
    }

    fn clean_run(&self, out: &str) -> Vec<u8> {
        run_well(self.work.path(), &self.arguments(out, "64MiB"));
        fs::read(self.work.path().join(out)).unwrap()
    }
}

#[test]
fn a_killed_run_goes_on_and_the_bytes_are_the_same() {
    for suffix in ["fits", "png", "npy"] {
        let scene = Scene::new();
        let whole = scene.clean_run(&format!("whole.{suffix}"));
        let out = format!("out.{suffix}");
        let mut child = scene.started(&out);
        child.kill().unwrap();
        scene.ended(child);
        assert!(!scene.work.path().join(&out).exists());
        assert_eq!(
            scene.left(),
            [
                format!("{out}.sectile-journal"),
                format!("{out}.sectile-part")
            ]
        );

        // What tears a line: half of it on the disk.
        let journal = scene.work.path().join(format!("{out}.sectile-journal"));
        let torn = [fs::read(&journal).unwrap(), b"[1".to_vec()].concat();
        fs::write(&journal, torn).unwrap();

        // Another budget cuts other bands.
        let done = run_well(scene.work.path(), &scene.arguments(&out, "64MiB")).event("done");
        let payload = done["bytes_payload"].as_u64().unwrap();
        assert!(payload > 0 && payload < u64::from(PAYLOAD), "{done}");
        assert!(fs::read(scene.work.path().join(&out)).unwrap() == whole);
        assert!(scene.left().is_empty());
    }
}

#[test]
fn ctrl_c_stops_at_once_and_leaves_what_can_be_gone_on_with() {
    let scene = Scene::new();
    let whole = scene.clean_run("whole.fits");
    let child = scene.started("out.fits");
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
    assert_eq!(ran.event("error")["code"], "interrupted");
    let requests = scene.server.requests();
    std::thread::sleep(Duration::from_millis(150));
    assert_eq!(scene.server.requests(), requests, "no request runs on");
    assert!(!scene.work.path().join("out.fits").exists());
    let done = run_well(
        scene.work.path(),
        &scene.arguments("out.fits", &scene.memory),
    )
    .event("done");
    assert!(done["bytes_payload"].as_u64().unwrap() < u64::from(PAYLOAD));
    assert!(fs::read(scene.work.path().join("out.fits")).unwrap() == whole);
}

#[test]
fn another_job_begins_anew_and_says_why() {
    let scene = Scene::new();
    let mut child = scene.started("out.fits");
    child.kill().unwrap();
    scene.ended(child);
    let mut arguments = scene.arguments("out.fits", "64MiB");
    arguments.extend(["--rect", "0,0,128,100"]);
    let ran = run_well(scene.work.path(), &arguments);
    assert!(
        ran.event("warning")["message"]
            .as_str()
            .unwrap()
            .contains("rect"),
        "{ran:?}"
    );
    assert_eq!(
        ran.event("done")["bytes_payload"],
        EXPOSURES * SIZE * 100 * 4
    );
}

#[test]
fn a_changed_exposure_begins_anew() {
    let data = stack(2, 64);
    let server = SlowServer::start(data.path(), Duration::ZERO);
    let work = tempfile::tempdir().unwrap();
    let local = data.path().join("exposure_02.fits");
    let url = server.url("exposure_01.fits");
    let arguments = ["median", &url, text(&local), "-o", "out.fits", "--json"];
    run_well(work.path(), &arguments);
    let whole = fs::read(work.path().join("out.fits")).unwrap();
    // As a killed run would have left it, but for an exposure that is another one by now.
    let fingerprint =
        |name: &str| format!("{{\"job\":\"median\",\"inputs\":[\"{name}\"]}}\n[0,64]\n");
    fs::write(
        work.path().join("out.fits.sectile-journal"),
        fingerprint("other"),
    )
    .unwrap();
    fs::write(
        work.path().join("out.fits.sectile-part"),
        vec![0; whole.len()],
    )
    .unwrap();
    let ran = run_well(work.path(), &arguments);
    assert!(
        ran.event("warning")["message"]
            .as_str()
            .unwrap()
            .contains("inputs"),
        "{ran:?}"
    );
    assert!(fs::read(work.path().join("out.fits")).unwrap() == whole);
}

#[test]
fn restart_takes_nothing_over() {
    let scene = Scene::new();
    let mut child = scene.started("out.fits");
    child.kill().unwrap();
    scene.ended(child);
    let mut arguments = scene.arguments("out.fits", "64MiB");
    arguments.push("--restart");
    let done = run_well(scene.work.path(), &arguments).event("done");
    assert_eq!(done["bytes_payload"], PAYLOAD);
}

#[test]
fn two_processes_do_not_write_one_output() {
    let scene = Scene::new();
    let mut child = scene.started("out.fits");
    let second = run(scene.work.path(), &scene.arguments("out.fits", "64MiB"));
    assert_eq!(second.code, Some(1), "{second:?}");
    assert!(
        second.stderr.contains("another process"),
        "{}",
        second.stderr
    );
    let cleaned = run_well(scene.work.path(), &["clean"]);
    assert!(
        cleaned.stderr.contains("another process"),
        "{}",
        cleaned.stderr
    );
    assert_eq!(scene.left().len(), 2, "clean leaves what is being written");
    child.kill().unwrap();
    scene.ended(child);
}

#[test]
fn clean_removes_ours_and_nothing_else_and_twice_is_harmless() {
    let scene = Scene::new();
    let mut child = scene.started("out.fits");
    child.kill().unwrap();
    scene.ended(child);
    let work = scene.work.path();
    fs::write(work.join("mine.part"), "keep").unwrap();
    fs::write(work.join(".sectile-part"), "keep").unwrap();
    fs::create_dir_all(work.join("sub")).unwrap();
    fs::write(work.join("sub/x.fits.sectile-part"), "keep").unwrap();
    fs::create_dir_all(work.join("t.sectile-tiles/0/0")).unwrap();
    fs::write(work.join("t.sectile-tiles/0/0/0.png"), "tile").unwrap();
    fs::write(work.join("p.png.sectile-fresh"), "half").unwrap();
    std::os::unix::fs::symlink("mine.part", work.join("link.sectile-part")).unwrap();
    let before = names(work);

    let dry = run_well(work, &["clean", "--dry-run", "--json"]);
    let listed: Vec<String> = dry
        .events()
        .iter()
        .filter(|event| event["event"] == "leftover")
        .map(|event| {
            Path::new(event["path"].as_str().unwrap())
                .file_name()
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(
        listed,
        [
            "out.fits.sectile-part",
            "p.png.sectile-fresh",
            "t.sectile-tiles",
            "out.fits.sectile-journal"
        ]
    );
    assert_eq!(names(work), before);

    run_well(work, &["clean"]);
    let kept = [".sectile-part", "link.sectile-part", "mine.part", "sub"];
    assert_eq!(names(work), kept);
    let again = run_well(work, &["clean"]);
    assert_eq!(
        (again.stdout.as_str(), names(work).as_slice()),
        ("", &kept.map(str::to_owned)[..])
    );
    assert!(work.join("sub/x.fits.sectile-part").exists());
    assert_eq!(run(work, &["clean", "absent"]).code, Some(3));
}
