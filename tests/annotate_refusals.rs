//! What `annotate` is given and cannot use: it says what, where, and what to do.

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
mod pairs;
mod program;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use annotations::{finished, planted, scene};
use pairs::{Spot, Spots};
use program::{Ran, names, run, run_well, text};
use serde_json::json;

/// Annotates the tissue with a list and more options, into `r` in a new folder.
fn annotate(list: &Path, more: &[&str]) -> (tempfile::TempDir, Ran) {
    let out = tempfile::tempdir().unwrap();
    let store = &scene().store;
    let words = [
        "annotate",
        text(store),
        "--molecules",
        text(list),
        "--decoys",
        "2",
        "-o",
        "r",
        "--json",
    ];
    let ran = run(out.path(), &[&words[..], more].concat());
    (out, ran)
}

fn written(folder: &tempfile::TempDir, bytes: &[u8]) -> PathBuf {
    let path = folder.path().join("list.csv");
    fs::write(&path, bytes).unwrap();
    path
}

fn message(ran: &Ran) -> String {
    ran.event("error")["message"].as_str().unwrap().to_owned()
}

#[test]
fn lists_that_hold_nothing_of_use() {
    let folder = tempfile::tempdir().unwrap();
    for (bytes, words) in [
        (&b""[..], &["list.csv"][..]),
        (b"\n\n \n", &["list.csv"]),
        (b"id\tname\tinchi\nA\tx\tInChI=1S\n", &["formula", "column"]),
        (
            b"id,name,formula\nA,x,XYZ\nB,y,C6Q2\n",
            &["no formula can be read"],
        ),
        (b"\x89PNG\r\n\x1a\n0000", &["list.csv"]),
    ] {
        let (out, ran) = annotate(&written(&folder, bytes), &[]);
        assert_eq!(ran.code, Some(3), "{bytes:?}: {ran:?}");
        let said = message(&ran);
        for word in words {
            assert!(said.contains(word), "{word:?} in {said:?}");
        }
        assert!(!out.path().join("r").exists(), "nothing is made for it");
    }
    let (_, ran) = annotate(Path::new("absent.csv"), &[]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(message(&ran).contains("absent.csv"));
}

#[test]
fn rows_that_cannot_be_read_are_left_out_and_told() {
    let folder = tempfile::tempdir().unwrap();
    let list = "id\tname\tformula\nA\tcreatine\tC4H9N3O2\nB\tnonsense\tC54H102O6XYZ\n\nC\t\tC6H12O6\nD\tnone\t\n";
    let (out, ran) = annotate(&written(&folder, list.as_bytes()), &[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let rejected: Vec<_> = ran
        .events()
        .into_iter()
        .filter(|event| event["event"] == "rejected")
        .collect();
    let lines: Vec<_> = rejected.iter().map(|event| event["line"].clone()).collect();
    assert_eq!(lines, [json!(3), json!(6)], "{rejected:?}");
    assert_eq!(rejected[0]["text"], "C54H102O6XYZ");
    let plan = ran.event("plan");
    assert_eq!(
        (&plan["formulas"], &plan["rejected_rows"]),
        (&json!(2), &json!(2))
    );
    assert!(
        ran.stdout.contains("2 of 4 rows are left out: line 3"),
        "{ran:?}"
    );
    assert!(out.path().join("r/results.csv").exists());
}

#[test]
fn lists_of_the_shared_cases() {
    let shared = std::env::var_os("SECTILE_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"),
        PathBuf::from,
    );
    let folder = shared.join("data/molecules/moldbs");
    if !folder.is_dir() {
        println!("skipped: {} is not there", folder.display());
        return;
    }
    for (name, code, rejects) in [
        ("moldb.csv", 0, false),
        ("db-wrong-sep.csv", 0, false),
        ("db-empty-values.csv", 0, false),
        ("db-missing-columns.csv", 3, false),
        ("db-wrong-formulas.csv", 0, true),
    ] {
        let (_, ran) = annotate(&folder.join(name), &["--adducts", "+H"]);
        assert_eq!(ran.code, Some(code), "{name}: {ran:?}");
        assert_eq!(
            ran.stdout.contains("\"rejected\""),
            rejects,
            "{name}: {ran:?}"
        );
    }
}

#[test]
fn options_that_make_no_sense() {
    let folder = tempfile::tempdir().unwrap();
    let list = written(&folder, b"formula\nC6H12O6\n");
    for (more, code, words) in [
        (&["--adducts", "H"][..], 2, &["--adducts", "\"H\""][..]),
        (&["--adducts", "+Xx"], 2, &["Xx"]),
        (&["--adducts", "+H,+"], 2, &["--adducts"]),
        (&["--adducts", "+H,+H"], 2, &["+H", "twice"]),
        (&["--adducts", "[M+2H]2+"], 2, &["[M+2H]2+"]),
        (&["--adducts", "[M+H]+,[M-H]-"], 3, &["[M-H]-"]),
        (&["--neutral-losses", "+H2O"], 2, &["+H2O", "taken away"]),
        (&["--analyzer", "quadrupole"], 2, &["quadrupole", "fticr"]),
        (
            &["--scoring", "metaspace-v9"],
            2,
            &["metaspace-v9", "metaspace-v3"],
        ),
        (&["--ppm", "0"], 2, &["greater than 0"]),
        (&["--ppm", "2000"], 3, &["ppm"]),
        (&["--resolving-power", "70k"], 2, &["140000"]),
        (&["--decoys", "90"], 2, &["90"]),
        (&["--slice", "9"], 3, &["z = 1"]),
        (&["--memory", "1MiB"], 3, &["--memory"]),
        (&["--adducts", "-C50"], 3, &["nothing to look for"]),
    ] {
        let more: Vec<&str> = more.to_vec();
        let out = tempfile::tempdir().unwrap();
        let mut words_of = vec![
            "annotate",
            text(&scene().store),
            "--molecules",
            text(&list),
            "-o",
            "r",
        ];
        words_of.extend(&more);
        let ran = run(out.path(), &words_of);
        assert_eq!(ran.code, Some(code), "{more:?}: {ran:?}");
        for word in words {
            assert!(
                ran.stderr.contains(word),
                "{more:?}: {word:?} in {}",
                ran.stderr
            );
        }
        assert!(
            names(out.path()).is_empty(),
            "{more:?}: {:?}",
            names(out.path())
        );
    }
}

#[test]
fn the_smallest_budget_that_it_names_is_enough() {
    let folder = tempfile::tempdir().unwrap();
    let list = written(&folder, b"formula\nC6H12O6\n");
    let (_, ran) = annotate(&list, &["--memory", "1MiB"]);
    let said = message(&ran);
    let at = said.rsplit_once("--memory ").unwrap().1;
    let (_, ran) = annotate(&list, &["--memory", at]);
    assert_eq!(ran.code, Some(0), "{said}: {ran:?}");
    let done = ran.event("done")["peak_bytes"].as_u64().unwrap();
    assert!(
        done <= sectile::budget::parse_size(at).unwrap(),
        "{done} in {at}"
    );
}

#[test]
fn adducts_of_the_other_polarity_are_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    let list = written(&folder, b"formula\nC6H12O6\n");
    let (_, ran) = annotate(&list, &["--adducts", "-H,+Cl"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(ran.event("plan")["charge"], -1);
    assert!(ran.stdout.contains("its polarity is positive"), "{ran:?}");

    // A store that says no polarity: by the adducts, and said so.
    let dataset = tempfile::tempdir().unwrap();
    let spot = |x: i32| Spot {
        at: [x, 1, 1],
        mz: vec![179.0561, 180.0595],
        intensity: vec![10.0, 1.0],
    };
    Spots(vec![spot(1), spot(2), spot(3)]).write(dataset.path(), "d");
    run_well(dataset.path(), &["pack", "d.imzML", "-o", "d.sectile"]);
    let words = [
        "annotate",
        "d.sectile",
        "--molecules",
        text(&list),
        "-o",
        "r",
        "--json",
    ];
    let ran = run_well(dataset.path(), &[&words[..], &["--adducts", "-H"]].concat());
    let plan = ran.event("plan");
    assert_eq!(
        (&plan["charge"], &plan["charge_from"]),
        (&json!(-1), &json!("adducts"))
    );
    assert_eq!(
        (&plan["analyzer"], &plan["analyzer_from"]),
        (&json!("orbitrap"), &json!("default"))
    );
    assert!(ran.stdout.contains("does not say one polarity"), "{ran:?}");
    let ran = run_well(dataset.path(), &words);
    assert_eq!(ran.event("plan")["adducts"], json!(["+H", "+Na", "+K"]));
}

#[test]
fn stores_that_are_none_or_of_another_version() {
    let folder = tempfile::tempdir().unwrap();
    let list = written(&folder, b"formula\nC6H12O6\n");
    let mut bytes = fs::read(&scene().store).unwrap();
    bytes[8] = 99;
    fs::write(folder.path().join("new.sectile"), &bytes).unwrap();
    bytes[8] = 1;
    let half = bytes.len() / 2;
    fs::write(folder.path().join("cut.sectile"), &bytes[..half]).unwrap();
    let last = bytes.len() - 9;
    bytes[last] ^= 1;
    for (name, words) in [
        ("new.sectile", &["version 99", "newer"][..]),
        ("cut.sectile", &["cut.sectile", "cut short"]),
        ("list.csv", &["list.csv"]),
        ("tissue.imzML", &["pack"]),
        ("absent.sectile", &["absent.sectile"]),
    ] {
        let words_of = ["annotate", name, "--molecules", text(&list), "-o", "r"];
        let ran = run(folder.path(), &words_of);
        assert_eq!(ran.code, Some(3), "{name}: {ran:?}");
        for word in words {
            assert!(
                ran.stderr.contains(word),
                "{name}: {word:?} in {}",
                ran.stderr
            );
        }
        assert!(!folder.path().join("r").exists());
    }
}

#[test]
fn folders_that_cannot_be_written_into() {
    let folder = tempfile::tempdir().unwrap();
    let list = written(&folder, b"formula\nC6H12O6\n");
    fs::write(folder.path().join("file"), "mine").unwrap();
    for output in ["file", "file/below", "/proc/nothing", "/proc"] {
        let words = [
            "annotate",
            text(&scene().store),
            "--molecules",
            text(&list),
            "-o",
            output,
        ];
        let ran = run(folder.path(), &words);
        assert_eq!(ran.code, Some(3), "{output}: {ran:?}");
        assert!(ran.stderr.contains(output), "{output}: {}", ran.stderr);
    }
    assert_eq!(fs::read(folder.path().join("file")).unwrap(), b"mine");
}

/// A limit on file sizes stands in for a full disk: both stop a write in its middle.
#[test]
fn a_full_disk_costs_nothing_that_is_finished() {
    let scene = scene();
    let list = scene.small_list();
    let out = tempfile::tempdir().unwrap();
    let words = [
        "annotate",
        text(&scene.store),
        "--molecules",
        text(&list),
        "--decoys",
        "2",
        "-o",
        "r",
        "--json",
    ];
    run_well(out.path(), &words);
    let whole = finished(&out.path().join("r"));
    let largest = whole
        .iter()
        .map(|(_, bytes)| bytes.len() / 512)
        .max()
        .unwrap();
    let again = [&words[..], &["--ppm", "3.0", "--shards", "3"]].concat();
    for blocks in [1, largest / 6, largest - 1] {
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
        let mut command = Command::new("sh");
        command
            .args(["-c", &script, env!("CARGO_BIN_EXE_sectile")])
            .args(&again)
            .current_dir(out.path());
        let ran: Ran = command.output().unwrap().into();
        assert_eq!(ran.code, Some(3), "{blocks}: {ran:?}");
        assert_eq!(ran.event("error")["code"], "space", "{ran:?}");
        let there: Vec<_> = finished(&out.path().join("r"))
            .into_iter()
            .filter(|(name, _)| !name.contains(".sectile-s") && !name.contains(".sectile-journal"))
            .filter(|(name, _)| !name.contains(".sectile-fresh"))
            .collect();
        assert!(
            there == whole,
            "{blocks}: the earlier results are untouched"
        );
    }
    run_well(out.path(), &again);
    assert!(finished(&out.path().join("r")) == whole);
}

#[test]
fn a_damaged_block_is_told_and_what_was_finished_before_is_kept() {
    let scene = scene();
    let folder = tempfile::tempdir().unwrap();
    let list = scene.small_list();
    let mut bytes = fs::read(&scene.store).unwrap();
    // A peak of a planted ion of high m/z: what is before it can be annotated.
    let at = bytes.len() * 9 / 10;
    bytes[at] ^= 0x10;
    fs::write(folder.path().join("d.sectile"), bytes).unwrap();
    let words = [
        "annotate",
        "d.sectile",
        "--molecules",
        text(&list),
        "--decoys",
        "2",
        "-o",
        "r",
        "--shards",
        "9",
    ];
    let ran = run(folder.path(), &words);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stderr.contains("d.sectile: byte"), "{ran:?}");
    assert!(!folder.path().join("r/results.csv").exists());
    assert!(planted(scene).len() > 40);
}
