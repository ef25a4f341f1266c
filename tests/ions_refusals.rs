//! Pairs, stores and command lines that are refused: with a reason, and with nothing written.

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
use std::time::Duration;

use pairs::{Spots, array};
use program::{SlowServer, names, run, run_well};
use serde_json::json;

#[test]
fn a_budget_that_is_too_small_names_the_one_that_works() {
    let folder = tempfile::tempdir().unwrap();
    Spots::disc(20, 2500).write(folder.path(), "d");
    run_well(folder.path(), &["pack", "d.imzML", "-o", "whole.sectile"]);
    let needed = |arguments: &[&str]| -> String {
        let ran = run(
            folder.path(),
            &[arguments, &["--memory", "1KiB", "--json"]].concat(),
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
            folder.path(),
            &[list, &["--memory", &memory, "--json"]].concat(),
        );
        let done = ran.event("done");
        let budget = sectile::budget::parse_size(&memory).unwrap();
        assert!(
            done["peak_bytes"].as_u64().unwrap() <= budget,
            "{list:?}: {done}"
        );
    }
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    assert!(read("s.sectile") == read("whole.sectile"));
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
    let absent = server.url("absent.imzML");
    let ran = run(folder.path(), &["pack", &absent, "-o", "o.sectile"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(
        ran.stderr
            .contains("absent.imzML: bytes 0-15: the server answered 404"),
        "{}",
        ran.stderr
    );
    let nameless = server.url("d");
    let ran = run(folder.path(), &["pack", &nameless, "-o", "o.sectile"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(
        ran.stderr.contains("does not end in .imzML"),
        "{}",
        ran.stderr
    );
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

    let region = [
        "spectrum",
        "d.imzML",
        "--rect",
        "5,-2,11,4",
        "-o",
        "r.csv",
        "--json",
    ];
    let ran = run(folder.path(), &region);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(
        ran.event("error")["message"]
            .as_str()
            .unwrap()
            .contains("--skip-bad")
    );
    let ran = run_well(folder.path(), &[&region[..], &["--skip-bad"]].concat());
    assert_eq!(ran.event("file")["bad_spectra"], 3);
    assert_eq!(ran.event("file")["pixels"], spots.0.len() - 3);
    assert!(
        ran.stdout
            .contains("3 spectra of the region could not be read"),
        "{ran:?}"
    );
    let store = [
        "spectrum",
        "d.sectile",
        "--pixel",
        "7,0",
        "-o",
        "s.csv",
        "--skip-bad",
    ];
    assert_eq!(run(folder.path(), &store).code, Some(2));

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
fn stores_given_as_datasets_and_nothing_left_to_pack() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    Spots::disc(6, 100).write(folder.path(), "d");
    run_well(folder.path(), &["pack", "d.imzML", "-o", "d.sectile"]);
    fs::copy(place("d.sectile"), place("s.imzML")).unwrap();
    fs::copy(place("d.ibd"), place("s.ibd")).unwrap();
    fs::write(place("page.imzML"), "<!DOCTYPE html><html>no</html>").unwrap();
    fs::copy(place("d.ibd"), place("page.ibd")).unwrap();
    fs::write(place("none.ibd"), "").unwrap();
    let pack = |more: &[&str]| {
        run(
            folder.path(),
            &[&["pack"], more, &["-o", "x.sectile"]].concat(),
        )
    };
    for (more, words) in [
        (
            &["d.sectile"][..],
            ["d.sectile: is a packed store already", "sectile ion"],
        ),
        (
            &["s.imzML"],
            ["s.imzML: the file is a packed store", "sectile ion"],
        ),
        (&["page.imzML"], ["page.imzML", "web page"]),
        (
            &["d.imzML", "--ibd", "none.ibd", "--skip-bad"],
            ["none.ibd", "none of the 32 spectra can be read"],
        ),
    ] {
        let ran = pack(more);
        assert_eq!(ran.code, Some(3), "{ran:?}");
        assert!(
            words.iter().all(|word| ran.stderr.contains(word)),
            "{words:?}: {}",
            ran.stderr
        );
        assert!(!place("x.sectile").exists());
    }
    // Positions are the file's own, also where they are refused.
    for source in ["d.sectile", "d.imzML"] {
        for (option, region) in [("--pixel", "99,99"), ("--rect", "90,90,99,99")] {
            let ran = run(
                folder.path(),
                &["spectrum", source, option, region, "-o", "x.csv"],
            );
            assert_eq!(ran.code, Some(3), "{ran:?}");
            let words =
                format!("{option} holds no pixel of the grid, which spans x=5 to 10 and y=-2 to 3");
            assert!(ran.stderr.contains(&words), "{}", ran.stderr);
        }
    }
}

#[test]
fn errors_name_the_ibd_that_was_given() {
    let folder = tempfile::tempdir().unwrap();
    let mut spots = Spots::disc(6, 100);
    spots.0[3].mz[50] = f64::NAN;
    spots.write(folder.path(), "d");
    fs::rename(
        folder.path().join("d.ibd"),
        folder.path().join("other name.ibd"),
    )
    .unwrap();
    let arguments = [
        "pack",
        "d.imzML",
        "--ibd",
        "other name.ibd",
        "-o",
        "d.sectile",
    ];
    let ran = run(folder.path(), &arguments);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(
        ran.stderr.contains("other name.ibd: byte"),
        "{}",
        ran.stderr
    );
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
    put("packed.sectile", b"\x1f\x8b\x08\x00 and more");
    let dataset = fs::read(folder.path().join("it's µ.imzML")).unwrap();
    put("dataset.sectile", &dataset);
    put("said.sectile", b"{\"error\": 404}");
    put("empty.sectile", b"");
    let mut flipped = store.clone();
    flipped[200] ^= 1;
    put("flipped.sectile", &flipped);
    for (name, word) in [
        ("short.sectile", "cut short"),
        ("page.sectile", "no segment store: it looks like a web page"),
        ("packed.sectile", "no segment store: it is packed with gzip"),
        ("dataset.sectile", "`sectile pack` makes a store of it"),
        ("said.sectile", "looks like JSON"),
        ("empty.sectile", "no segment store: the file is empty"),
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
