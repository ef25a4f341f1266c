//! `annotate --shard` and `assemble` as a batch system uses them: processes in any order, twice, killed.

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

mod annotations;
mod part_cases;
mod program;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::rc::Rc;
use std::time::Duration;

use annotations::{absent, finished, planted, scene};
use program::{SlowServer, names, run, run_well, text};
use sectile::ion::database::Reader;
use sectile::job::{Machine, Step};
use sectile::results::shards::Description;
use sectile::store::read::Open;

/// A folder to work in, a job, and what one process makes of it.
struct Work {
    folder: tempfile::TempDir,
    list: PathBuf,
    whole: Vec<(String, Vec<u8>)>,
}

impl Work {
    fn new(images: &str) -> Self {
        Self::with(scene().small_list(), images)
    }

    fn with(list: PathBuf, images: &str) -> Self {
        let mut work = Self {
            folder: tempfile::tempdir().unwrap(),
            list,
            whole: Vec::new(),
        };
        run_well(work.path(), &work.words("whole", &["--images", images]));
        work.whole = finished(&work.out("whole"));
        work
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn out(&self, out: &str) -> PathBuf {
        self.path().join(out)
    }

    fn words<'w>(&'w self, out: &'w str, more: &[&'w str]) -> Vec<&'w str> {
        let words = [
            "annotate",
            text(&scene().store),
            "--molecules",
            text(&self.list),
            "-o",
            out,
        ];
        [&words[..], more].concat()
    }

    fn shard(&self, out: &str, shard: &str, more: &[&str]) -> program::Ran {
        let words = self
            .words(out, &[&["--shard", shard], more].concat())
            .join("\n");
        let words: Vec<&str> = words.split('\n').collect();
        run_well(self.path(), &words)
    }

    fn start(&self, out: &str, shard: &str) -> Child {
        let mut command = program::sectile();
        command
            .current_dir(self.path())
            .args(self.words(out, &["--shard", shard]))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    fn assemble(&self, out: &str, more: &[&str]) -> program::Ran {
        run_well(self.path(), &[&["assemble", out], more].concat())
    }

    fn is_whole(&self, out: &str) -> bool {
        finished(&self.out(out)) == self.whole
    }

    fn shards(&self, out: &str) -> PathBuf {
        self.out(out).join("annotations.sectile-shards")
    }
}

fn well(child: Child) -> program::Ran {
    let ran: program::Ran = child.wait_with_output().unwrap().into();
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran
}

#[test]
fn shards_out_of_order_and_twice_come_to_the_bytes_of_one_run() {
    let work = Work::new("all");
    for (of, memory) in [(1, "64MiB"), (3, "32MiB"), (8, "256MiB"), (8, "24MiB")] {
        let out = format!("n{of}-{memory}");
        let last = format!("{of}/{of}");
        let first = run_well(
            work.path(),
            &work.words(&out, &["--shard", &last, "--json"]),
        );
        let part = first.event("part");
        assert_eq!((&part["shard"], &part["shards"]), (&of.into(), &of.into()));
        // Those that are left side by side, one of them twice.
        let order = (1..of).rev().chain([1]).filter(|number| *number < of);
        let running: Vec<Child> = order
            .map(|number| work.start(&out, &format!("{number}/{of}")))
            .collect();
        for child in running {
            well(child);
        }
        let again = work.shard(&out, &last, &["-v", "--memory", memory]);
        assert!(again.stderr.contains("there already"), "{again:?}");
        assert!(!work.out(&out).join("results.csv").exists());
        work.assemble(&out, &["--memory", memory]);
        assert!(work.is_whole(&out), "{of} shards, {memory}");
        assert_eq!(names(&work.out(&out)).len(), 3, "nothing else is left");
        let once_more = work.assemble(&out, &["-v"]);
        assert!(once_more.stderr.contains("no shards"), "{once_more:?}");
        assert!(work.is_whole(&out));
    }
}

#[test]
fn a_hundred_shards_are_as_good_as_one() {
    let work = Work::new("first");
    for number in (1..=100).rev() {
        let shard = format!("{number}/100");
        work.shard("hundred", &shard, &["--images", "first"]);
    }
    work.assemble("hundred", &[]);
    assert!(work.is_whole("hundred"));
}

#[test]
fn parts_are_those_that_the_library_computes_in_memory() {
    let work = Work::new("all");
    for number in 1..=3 {
        work.shard("parts", &format!("{number}/3"), &[]);
    }
    let shards = work.shards("parts");
    let files = |folder: &Path| -> Vec<Vec<u8>> {
        let part = |number: u32| fs::read(folder.join(format!("{number:05}.part"))).unwrap();
        (1..=3).map(part).collect()
    };
    let parts = files(&shards);
    work.assemble("parts", &["--keep-parts"]);
    assert!(files(&shards) == parts);
    let text = fs::read_to_string(shards.join("job.json")).unwrap();
    assert!(!text.contains(work.path().to_str().unwrap()), "{text}");
    let description = Description::parse("job.json", text.as_bytes()).unwrap();
    let store = fs::read(&scene().store).unwrap();
    let mut open = Open::new("tissue.sectile", 64 << 20);
    while let Step::Need(range) = open.step().unwrap() {
        let end = range.end.min(store.len() as u64) as usize;
        let bytes = &store[range.start as usize..end];
        open.feed(range.start, bytes, Some(store.len() as u64))
            .unwrap();
    }
    let head = Rc::new(open.into_head().unwrap());
    let mut reader = Reader::new("molecules", 64 << 20);
    reader
        .push(&fs::read(shards.join("molecules")).unwrap())
        .unwrap();
    let ions = description
        .ions(Rc::new(reader.finish().unwrap()), 64 << 20)
        .unwrap();
    for (number, wanted) in (1..).zip(&parts) {
        let made = part_cases::part(&store, &head, &ions, &description, number, 32 << 20).unwrap();
        assert!(made == *wanted, "shard {number}");
    }
    let made = part_cases::assemble(&description, &ions, &parts, 32 << 20).unwrap();
    let whole: Vec<&Vec<u8>> = work.whole.iter().map(|(_, bytes)| bytes).collect();
    // By name: the summary, the images, the table.
    assert!(made.files.each_ref().to_vec() == [whole[1], whole[2], whole[0]]);
}

/// A job over a server that is slow, so that there is something to kill.
fn slow(server: &SlowServer, work: &Work, shard: &str, more: &[&str]) -> Child {
    let mut command = program::sectile();
    command
        .current_dir(work.path())
        .args([
            "annotate",
            &server.url("tissue.sectile"),
            "--molecules",
            &server.url("large.csv"),
        ])
        .args(["-o", "slow", "--in-flight", "1", "--shard", shard])
        .args(more)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.spawn().unwrap()
}

#[test]
fn a_killed_shard_is_gone_on_with_and_one_that_is_under_way_is_done_twice() {
    // Several batches, so that a save comes long before the end.
    let mut formulas: Vec<String> = planted(scene())
        .into_iter()
        .map(|ion| ion.formula)
        .collect();
    formulas.extend(absent(scene(), 250));
    let list = scene().list("large.csv", formulas.iter());
    let work = Work::with(list, "all");
    let server = SlowServer::start(scene().folder.path(), Duration::from_millis(600));
    let shards = work.shards("slow");
    let saved = |name: &str| shards.join(name).metadata().map_or(0, |file| file.len());
    let mut child = slow(&server, &work, "2/2", &[]);
    program::wait_until("there is a save", || saved("00002.scores") > 200);
    // Clean leaves it alone, and so does whoever wants the folder alone.
    let busy = run_well(work.path(), &["clean", "slow"]);
    assert!(busy.stderr.contains("another process"), "{busy:?}");
    let assembling = run(work.path(), &["assemble", "slow"]);
    assert_eq!(assembling.code, Some(1), "{assembling:?}");
    assert!(
        assembling.stderr.contains("another process"),
        "{assembling:?}"
    );
    child.kill().unwrap();
    child.wait().unwrap();
    let missing = run(work.path(), &["assemble", "slow"]);
    assert_eq!(missing.code, Some(3), "{missing:?}");
    assert!(missing.stderr.contains("missing: 1 to 2"), "{missing:?}");
    let before = server.requests();
    let again = slow(&server, &work, "2/2", &["-v"]);
    // Head, list, and the first blocks, by when the shard is its own.
    program::wait_until("it has begun", || server.requests() > before + 2);
    let twice = slow(&server, &work, "2/2", &[]);
    program::wait_until("both are under way", || {
        fs::read_dir(&shards).is_ok_and(|all| {
            let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
            let mut all = all.map(Result::unwrap).map(name);
            all.any(|name| name.contains('-') && name.ends_with("scores"))
        })
    });
    server.set_delay(Duration::ZERO);
    let (again, twice) = (well(again), well(twice));
    assert!(again.stderr.contains("going on"), "{again:?}");
    assert!(
        twice.stderr.contains("another process is about it"),
        "{twice:?}"
    );
    well(slow(&server, &work, "1/2", &[]));
    let left = names(&shards);
    assert_eq!(left, ["00001.part", "00002.part", "job.json", "molecules"]);
    // The results name the files as the server does, which are the same names.
    work.assemble("slow", &[]);
    assert!(work.is_whole("slow"));
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let work = Work::new("all");
    work.shard("mixed", "1/3", &[]);
    for (more, word) in [
        (&["--shard", "2/4"][..], "number of shards"),
        (&["--shard", "2/3", "--ppm", "5"], "ppm"),
        (&["--shard", "2/3", "--adducts", "+H"], "adducts"),
        (&["--shard", "2/3", "--images", "none"], "images"),
        (&[][..], "assemble"),
    ] {
        let ran = run(work.path(), &work.words("mixed", more));
        assert_eq!(ran.code, Some(3), "{ran:?}");
        assert!(ran.stderr.contains(word), "{word}: {ran:?}");
    }
    let ran = run(work.path(), &["assemble", "mixed"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stderr.contains("missing: 2 to 3"), "{ran:?}");
    work.shard("mixed", "3/3", &[]);
    // A part under the name of another, a damaged one, a foreign list.
    let shards = work.shards("mixed");
    fs::copy(shards.join("00003.part"), shards.join("00002.part")).unwrap();
    let ran = run(work.path(), &["assemble", "mixed"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(
        ran.stderr.contains("00002.part") && ran.stderr.contains("another shard"),
        "{ran:?}"
    );
    let bytes = fs::read(shards.join("00001.part")).unwrap();
    fs::write(shards.join("00002.part"), &bytes[..bytes.len() / 2]).unwrap();
    assert_eq!(run(work.path(), &["assemble", "mixed"]).code, Some(3));
    work.shard("mixed", "2/3", &[]);
    let list = fs::read(shards.join("molecules")).unwrap();
    fs::write(shards.join("molecules"), &list[1..]).unwrap();
    let ran = run(work.path(), &["assemble", "mixed"]);
    assert!(
        ran.code == Some(3) && ran.stderr.contains("SHA-256"),
        "{ran:?}"
    );
    fs::write(shards.join("molecules"), &list).unwrap();
    assert!(!work.out("mixed").join("results.csv").exists());
    work.assemble("mixed", &[]);
    assert!(work.is_whole("mixed"));
    // What a run without shards has left is not mixed with any.
    fs::create_dir_all(work.out("other")).unwrap();
    fs::write(
        work.out("other").join("annotations.sectile-journal"),
        "{}\n",
    )
    .unwrap();
    let ran = run(work.path(), &work.words("other", &["--shard", "1/3"]));
    assert!(
        ran.code == Some(3) && ran.stderr.contains("without --shard"),
        "{ran:?}"
    );
    let ran = run(work.path(), &["assemble", "nowhere"]);
    assert!(
        ran.code == Some(3) && ran.stderr.contains("has no shards"),
        "{ran:?}"
    );
    for wrong in ["0/3", "4/3", "1", "1/0", "a/b"] {
        assert_eq!(
            run(work.path(), &work.words("w", &["--shard", wrong])).code,
            Some(2)
        );
    }
    let both = work.words("w", &["--shard", "1/3", "--shards", "3"]);
    assert_eq!(run(work.path(), &both).code, Some(2));
}

#[test]
fn one_run_begins_anew_only_when_it_is_told_to_and_clean_removes_shards() {
    let work = Work::new("all");
    work.shard("r", "1/2", &[]);
    run_well(work.path(), &work.words("r", &["--restart"]));
    assert!(work.is_whole("r"));
    assert_eq!(names(&work.out("r")).len(), 3);
    work.shard("c", "1/2", &[]);
    fs::write(work.out("c").join("mine.txt"), "mine").unwrap();
    run_well(work.path(), &["clean", "c"]);
    assert_eq!(names(&work.out("c")), ["mine.txt"]);
}

#[test]
fn a_shard_beyond_the_last_ion_is_no_fault() {
    let work = Work::new("all");
    let ran = work.shard("beyond", "99999/99999", &["--json"]);
    let plan = ran.event("plan");
    assert!(plan["ions"].as_u64() < Some(99_999));
    assert!(ran.stdout.contains("this one has none"), "{ran:?}");
    assert!(!work.out("beyond").exists());
}

#[test]
fn the_plan_says_how_to_divide() {
    let work = Work::new("all");
    let plan = |more: &[&str]| {
        let mut words = work.words("p", &[&["--json"], more].concat());
        words.insert(0, "plan");
        run_well(work.path(), &words).event("plan")
    };
    let usual = plan(&[]);
    assert_eq!(usual["division"]["shards"], 1, "{usual}");
    let few = plan(&["--max-seconds", "0.2"]);
    let division = &few["division"];
    let shards = division["shards"].as_u64().unwrap();
    assert!(
        shards > 1 && division["cpu_ms"].as_u64() <= Some(200),
        "{few}"
    );
    // The plan of one shard is that of a part of the whole.
    let one = plan(&["--shard", "1/8"]);
    assert!(one["blocks"].as_u64() < usual["blocks"].as_u64(), "{one}");
    assert_eq!((&one["shards"], &one["workers"]), (&1.into(), &1.into()));
    let none = plan(&["--max-seconds", "0.001"]);
    assert!(
        none["division"].is_null() || none["division"]["cpu_ms"] == 1,
        "{none}"
    );
}
