//! Shards as processes: out of order, twice, killed, and put together to the bytes of one run.

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
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use program::{Ran, SlowServer, names, run, run_well, sectile, stack, wait_until};

const SHARDS: &str = "out.fits.sectile-shards";

/// What lies beside outputs.
fn left(folder: &Path) -> Vec<String> {
    names(folder)
        .into_iter()
        .filter(|name| name.contains(".sectile-") || name.contains("-fresh"))
        .collect()
}

fn shard(folder: &Path, which: &str) -> Ran {
    run_well(
        folder,
        &[
            "median",
            "exposures.txt",
            "-o",
            "out.fits",
            "--shard",
            which,
            "--json",
        ],
    )
}

fn shards(folder: &Path, of: u32) {
    for number in 1..=of {
        shard(folder, &format!("{number}/{of}"));
    }
}

/// The script of the documentation, as the batch system runs it for one task.
fn task(folder: &Path, number: u32) -> Child {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/median-array.sh");
    let program = Path::new(env!("CARGO_BIN_EXE_sectile")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    Command::new("sh")
        .arg(script)
        .current_dir(folder)
        .env("PATH", path)
        .env("SLURM_ARRAY_TASK_ID", number.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn ended(child: Child) -> Ran {
    child.wait_with_output().unwrap().into()
}

#[test]
fn the_script_in_any_order_twice_and_killed_gives_the_bytes_of_one_run() {
    let data = stack(3, 128);
    let server = SlowServer::start(data.path(), Duration::ZERO);
    let work = tempfile::tempdir().unwrap();
    let folder = work.path();
    let urls: Vec<String> = (1..=3)
        .map(|i| server.url(&format!("exposure_{i:02}.fits")))
        .collect();
    fs::write(folder.join("exposures.txt"), urls.join("\n")).unwrap();
    run_well(
        folder,
        &[
            "median",
            "exposures.txt",
            "-o",
            "one.fits",
            "--pyramid",
            "one-pyramid.fits",
        ],
    );

    // One is killed while its pixels are on their way.
    server.set_delay(Duration::from_millis(300));
    let mut killed = task(folder, 5);
    let journal = folder.join("median.fits.sectile-shards/00004.part.sectile-journal");
    wait_until("the shard has begun", || journal.exists());
    killed.kill().unwrap();
    assert_eq!(ended(killed).code, None);
    assert!(
        !folder
            .join("median.fits.sectile-shards/00004.part")
            .exists()
    );
    server.set_delay(Duration::from_millis(20));

    // Out of order, several at once, and some twice.
    for batch in [[12, 1, 7, 7], [5, 3, 10, 12], [2, 2, 11, 4]] {
        let running: Vec<Child> = batch
            .into_iter()
            .map(|number| task(folder, number))
            .collect();
        for child in running {
            let ran = ended(child);
            assert_eq!(ran.code, Some(0), "{ran:?}");
        }
    }
    let early = run(folder, &["assemble", "median.fits"]);
    assert_eq!(early.code, Some(3));
    assert!(
        early.stderr.contains("not there yet: 6/12, 8/12, 9/12;"),
        "{early:?}"
    );
    assert!(!folder.join("median.fits").exists());
    for number in [9, 6, 8] {
        assert_eq!(ended(task(folder, number)).code, Some(0));
    }
    run_well(
        folder,
        &["assemble", "median.fits", "--pyramid", "pyramid.fits"],
    );
    let read = |name: &str| fs::read(folder.join(name)).unwrap();
    assert!(read("median.fits") == read("one.fits"));
    assert!(read("pyramid.fits") == read("one-pyramid.fits"));
    assert!(left(folder).is_empty(), "{:?}", left(folder));
}

#[test]
fn a_killed_shard_goes_on_where_it_was() {
    let data = stack(3, 128);
    let server = SlowServer::start(data.path(), Duration::ZERO);
    let work = tempfile::tempdir().unwrap();
    let folder = work.path();
    let urls: Vec<String> = (1..=3)
        .map(|i| server.url(&format!("exposure_{i:02}.fits")))
        .collect();
    fs::write(folder.join("exposures.txt"), urls.join("\n")).unwrap();
    let plan = run_well(
        folder,
        &[
            "plan",
            "median",
            "exposures.txt",
            "--json",
            "--in-flight",
            "1",
        ],
    );
    let least = plan.event("plan")["minimum_bytes"].as_u64().unwrap();
    let tight = (least + 4_000).to_string();
    let arguments = |which: &'static str, memory: &str| -> Vec<String> {
        [
            "median",
            "exposures.txt",
            "-o",
            "out.fits",
            "--in-flight",
            "1",
            "--json",
            "--shard",
            which,
            "--memory",
            memory,
        ]
        .map(str::to_owned)
        .to_vec()
    };
    server.set_delay(Duration::from_millis(40));
    let mut child = sectile()
        .current_dir(folder)
        .args(arguments("2/2", &tight))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let journal = folder.join(SHARDS).join("00001.part.sectile-journal");
    wait_until("rows are in the journal", || {
        fs::read_to_string(&journal).is_ok_and(|text| text.lines().count() > 2)
    });
    // While it runs, its folder is left alone.
    let cleaned = run_well(folder, &["clean", "."]);
    assert!(cleaned.stderr.contains("another process"), "{cleaned:?}");
    child.kill().unwrap();
    ended(child);
    server.set_delay(Duration::ZERO);
    let two: Vec<String> = arguments("2/2", "64MiB");
    let two: Vec<&str> = two.iter().map(String::as_str).collect();
    let payload = |ran: &Ran| ran.event("done")["bytes_payload"].as_u64().unwrap();
    let rest = payload(&run_well(folder, &two));
    assert!(rest > 0 && rest < 3 * 64 * 128 * 4, "{rest}");
    // It is there now: no pixel is read again, unless it is wanted.
    assert_eq!(payload(&run_well(folder, &two)), 0);
    let anew = [&two[..], &["--restart"]].concat();
    assert_eq!(payload(&run_well(folder, &anew)), 3 * 64 * 128 * 4);
    let one: Vec<String> = arguments("1/2", &tight);
    run_well(folder, &one.iter().map(String::as_str).collect::<Vec<_>>());
    run_well(folder, &["assemble", "out.fits"]);
    run_well(folder, &["median", "exposures.txt", "-o", "whole.fits"]);
    assert!(
        fs::read(folder.join("out.fits")).unwrap() == fs::read(folder.join("whole.fits")).unwrap()
    );
}

#[test]
fn options_of_the_median_hold_for_its_shards() {
    let data = stack(4, 64);
    let folder = data.path();
    for options in [
        &["--rect", "5,7,60,50"][..],
        &["--preview", "3"],
        &["--rect", "5,7,60,50", "--preview", "2"],
    ] {
        let median = |more: &[&str]| {
            run_well(
                folder,
                &[&["median", "exposures.txt"], options, more].concat(),
            );
        };
        median(&["-o", "one.fits"]);
        for which in ["3/3", "1/3", "2/3"] {
            median(&["-o", "out.fits", "--shard", which]);
        }
        run_well(folder, &["assemble", "out.fits"]);
        let read = |name: &str| fs::read(folder.join(name)).unwrap();
        assert!(read("out.fits") == read("one.fits"), "{options:?}");
    }
}

#[test]
fn parts_of_another_job_are_never_mixed_in() {
    let data = stack(3, 64);
    let folder = data.path();
    shards(folder, 2);
    let two = ["median", "exposures.txt", "-o", "out.fits"];
    for (more, said) in [
        (&["--shard", "1/3"][..], "not the same number of shards"),
        (
            &["--shard", "1/2", "--rect", "0,0,9,9"],
            "not the same rectangle",
        ),
    ] {
        let ran = run(folder, &[&two[..], more].concat());
        assert_eq!(ran.code, Some(3), "{ran:?}");
        assert!(
            ran.stderr.contains(said) && ran.stderr.contains("--restart"),
            "{ran:?}"
        );
    }
    // An exposure that was written anew.
    let first = folder.join("exposure_01.fits");
    fs::write(&first, fs::read(&first).unwrap()).unwrap();
    let touched = Command::new("touch")
        .args(["-d", "2001-02-03"])
        .arg(&first)
        .status()
        .unwrap();
    assert!(touched.success());
    let changed = run(folder, &[&two[..], &["--shard", "1/2"]].concat());
    assert!(
        changed
            .stderr
            .contains("not the same version of exposure_01.fits"),
        "{changed:?}"
    );
    // With --restart one shard is of the new job; the other one's part is of the old one.
    run_well(
        folder,
        &[&two[..], &["--shard", "1/2", "--restart"]].concat(),
    );
    let mixed = run(folder, &["assemble", "out.fits"]);
    assert_eq!(mixed.code, Some(3));
    assert!(
        mixed.stderr.contains("00001.part") && mixed.stderr.contains("another job"),
        "{mixed:?}"
    );
    assert!(!folder.join("out.fits").exists());
    shard(folder, "2/2");
    run_well(folder, &["assemble", "out.fits"]);
}

#[test]
fn a_damaged_part_is_refused_and_nothing_is_lost() {
    let data = stack(3, 64);
    let folder = data.path();
    shards(folder, 2);
    fs::write(folder.join("out.fits"), "what was there before").unwrap();
    let path = folder.join(SHARDS).join("00001.part");
    let whole = fs::read(&path).unwrap();
    let damaged = |change: &dyn Fn(&mut Vec<u8>), said: &str| {
        let mut bytes = whole.clone();
        change(&mut bytes);
        fs::write(&path, bytes).unwrap();
        let ran = run(folder, &["assemble", "out.fits", "--pyramid", "p.fits"]);
        assert_eq!(ran.code, Some(3), "{ran:?}");
        assert!(
            ran.stderr.contains("00001.part") && ran.stderr.contains(said),
            "{ran:?}"
        );
        assert!(fs::read(folder.join("out.fits")).unwrap() == b"what was there before");
        assert!(!folder.join("p.fits").exists());
        assert_eq!(left(folder), [SHARDS]);
    };
    damaged(&|bytes| bytes[200] ^= 1, "byte 96");
    damaged(&|bytes| *bytes.last_mut().unwrap() ^= 1, "checksum");
    damaged(&|bytes| bytes[40] ^= 1, "damaged");
    damaged(
        &|bytes| bytes.truncate(1000),
        "1000 bytes where there should be",
    );
    damaged(&Vec::clear, "ends before its header");
    // A part that is none is computed again.
    shard(folder, "2/2");
    assert!(fs::read(&path).unwrap() == whole);
    run_well(
        folder,
        &[
            "assemble",
            "out.fits",
            "--pyramid",
            "p.fits",
            "--keep-parts",
        ],
    );
    assert_eq!(left(folder), [SHARDS]);
    let first = fs::read(folder.join("out.fits")).unwrap();
    run_well(folder, &["assemble", "out.fits"]);
    assert!(fs::read(folder.join("out.fits")).unwrap() == first);
    assert!(left(folder).is_empty());
    // A removal that was killed is gone on with; where there is nothing, that is said.
    fs::create_dir(folder.join(SHARDS)).unwrap();
    fs::write(folder.join(SHARDS).join("assembled.json"), "{}").unwrap();
    fs::write(folder.join(SHARDS).join("00000.part"), "x").unwrap();
    run_well(folder, &["assemble", "out.fits"]);
    assert!(left(folder).is_empty());
    let nothing = run(folder, &["assemble", "out.fits"]);
    assert_eq!(nothing.code, Some(3));
    assert!(
        nothing.stderr.contains("there are no shards of it"),
        "{nothing:?}"
    );
}

#[test]
fn a_description_that_is_none_is_refused() {
    let data = stack(3, 64);
    let folder = data.path();
    shards(folder, 2);
    let path = folder.join(SHARDS).join("job.json");
    let text = fs::read_to_string(&path).unwrap();
    for (wrong, said) in [
        (text[..text.len() / 2].to_owned(), "no description"),
        (text.replacen("\"median\"", "\"annotate\"", 1), "annotate"),
        (
            text.replacen("\"sectile\":\"", "\"sectile\":\"9", 1),
            "version 9",
        ),
        (text.replacen("\"shards\":2", "\"shards\":65", 1), "shards"),
    ] {
        fs::write(&path, wrong).unwrap();
        for arguments in [
            &["assemble", "out.fits"][..],
            &[
                "median",
                "exposures.txt",
                "-o",
                "out.fits",
                "--shard",
                "1/2",
            ],
        ] {
            let ran = run(folder, arguments);
            assert_eq!(ran.code, Some(3), "{ran:?}");
            assert!(
                ran.stderr.contains(said) && ran.stderr.contains("job.json"),
                "{ran:?}"
            );
        }
    }
    fs::write(&path, text).unwrap();
    run_well(folder, &["assemble", "out.fits"]);
}

#[test]
fn command_lines_that_make_no_sense_are_refused() {
    let data = stack(3, 64);
    let folder = data.path();
    let median = ["median", "exposures.txt"];
    for (arguments, said, code) in [
        (&["-o", "out.png", "--shard", "1/2"][..], ".fits", 2),
        (&["-o", "out.fits", "--shard", "3/2"], "3/2", 2),
        (&["-o", "out.fits", "--shard", "0/2"], "0/2", 2),
        (&["-o", "out.fits", "--shard", "1/65"], "64 rows", 3),
        (
            &["-o", "out.fits", "--shard", "1/2", "--tiles", "t"],
            "--tiles",
            2,
        ),
        (
            &["-o", "out.fits", "--shard", "1/2", "--pyramid", "p.fits"],
            "--pyramid",
            2,
        ),
        (&["-o", "out.fits", "--pyramid", "out.fits"], "at once", 2),
        (
            &["-o", "out.fits", "--pyramid", "nowhere/p.fits"],
            "nowhere",
            3,
        ),
    ] {
        let ran = run(folder, &[&median[..], arguments].concat());
        assert_eq!(ran.code, Some(code), "{ran:?}");
        assert!(ran.stderr.contains(said), "{ran:?}");
    }
    assert_eq!(left(folder), Vec::<String>::new());
}

#[test]
fn clean_removes_what_shards_have_left() {
    let data = stack(3, 64);
    let folder = data.path();
    shard(folder, "1/2");
    let listed = run_well(folder, &["clean", ".", "--dry-run"]);
    assert!(listed.stdout.contains(SHARDS), "{listed:?}");
    fs::write(folder.join(SHARDS).join("mine.txt"), "x").unwrap();
    assert_ne!(run(folder, &["clean", "."]).code, Some(0));
    assert_eq!(names(&folder.join(SHARDS)), ["mine.txt"]);
    fs::remove_file(folder.join(SHARDS).join("mine.txt")).unwrap();
    run_well(folder, &["clean", "."]);
    assert!(left(folder).is_empty());
}

#[test]
fn a_pyramid_beside_any_result_is_the_same_file() {
    let data = stack(3, 300);
    let folder = data.path();
    let read = |name: &str| fs::read(folder.join(name)).unwrap();
    run_well(
        folder,
        &[
            "median",
            "exposures.txt",
            "-o",
            "a.fits",
            "--pyramid",
            "a-pyramid.fits",
        ],
    );
    run_well(
        folder,
        &[
            "median",
            "exposures.txt",
            "-o",
            "b.png",
            "--pyramid",
            "b-pyramid.fits",
            "--tiles",
            "t",
        ],
    );
    assert!(read("a-pyramid.fits") == read("b-pyramid.fits"));
    let source = run_well(folder, &["info", "--json", "a-pyramid.fits"]).event("source");
    // 2 × 2 tiles and one above them.
    for hdu in 0..2 {
        assert_eq!(
            source["hdus"][hdu]["axes"],
            serde_json::json!([256, 256, 5]),
            "{source}"
        );
    }
    // Too little memory for rows of tiles is said before anything is read.
    let plan = run_well(folder, &["plan", "median", "exposures.txt", "--json"]).event("plan");
    let least = plan["minimum_bytes"].as_u64().unwrap().to_string();
    let ran = run(
        folder,
        &[
            "median",
            "exposures.txt",
            "-o",
            "c.fits",
            "--pyramid",
            "c-p.fits",
            "--memory",
            &least,
        ],
    );
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(
        ran.stderr.contains("pyramid") && ran.stderr.contains("--memory"),
        "{ran:?}"
    );
    assert!(left(folder).is_empty());
}

#[test]
fn plan_tells_the_division() {
    let data = stack(3, 128);
    let folder = data.path();
    let plan = |more: &[&str]| {
        run_well(
            folder,
            &[&["plan", "median", "exposures.txt", "--json"], more].concat(),
        )
    };
    let shards = |ran: &Ran| -> Vec<serde_json::Value> {
        ran.events()
            .into_iter()
            .filter(|event| event["event"] == "shard")
            .collect()
    };
    let told = shards(&plan(&["--shards", "12"]));
    assert_eq!(told.len(), 12);
    assert_eq!(told[0]["rows"], serde_json::json!([0, 10]));
    assert_eq!(told[11]["rows"], serde_json::json!([117, 128]));
    assert_eq!(told[11]["shard"], "12/12");
    assert!(shards(&plan(&[])).is_empty());
    assert_eq!(shards(&plan(&["--shards", "auto"])).len(), 1);
    let few = shards(&plan(&["--shards", "auto", "--shard-result", "20000"]));
    assert!(
        few.len() > 4
            && few
                .iter()
                .all(|shard| shard["part_bytes"].as_u64().unwrap() <= 20_000)
    );
    // The plan of one of them.
    let one = plan(&["--shard", "12/12"]).event("plan");
    assert_eq!(one["rect"]["y0"], 117);
    let text = run_well(
        folder,
        &["plan", "median", "exposures.txt", "--shards", "3"],
    );
    assert!(
        text.stdout
            .contains("3/3        rows 85 to 127: 6 requests"),
        "{text:?}"
    );
}
