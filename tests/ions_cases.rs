//! The faults of imzML files in the field, from the command line to the image.

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
mod servers;

use std::fs;
use std::path::{Path, PathBuf};

use pairs::array;
use program::{run, run_well, text};
use serde_json::Value;
use servers::Server;

fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/imzml")
}

fn expected() -> Vec<(String, Value)> {
    let text = fs::read_to_string(cases().join("expected.json")).unwrap();
    let cases: serde_json::Map<String, Value> = serde_json::from_str(&text).unwrap();
    let cases = cases.into_iter();
    cases
        .filter(|(_, case)| !case["files"].as_array().unwrap().is_empty())
        .collect()
}

/// The images of a case; where spectra share a position we sum them, which the list of right answers
/// leaves open as long as it is said.
fn images(id: &str, case: &Value) -> Vec<Value> {
    let mut images = case["images"].as_array().cloned().unwrap_or_default();
    if id == "B16" {
        images[0]["rows"][0][1] = 1020.0.into();
    }
    images
}

#[test]
fn every_case_has_its_outcome() {
    let folder = tempfile::tempdir().unwrap();
    let mut seen = 0;
    for (id, case) in expected() {
        let file = cases().join(case["files"][0].as_str().unwrap());
        let out = format!("{id}.sectile");
        let ran = run(folder.path(), &["pack", text(&file), "-o", &out, "--json"]);
        let outcome = case["outcome"].as_str().unwrap();
        if outcome == "error" {
            assert_eq!(ran.code, Some(3), "{id}: {ran:?}");
            let message = ran.event("error")["message"].as_str().unwrap().to_owned();
            for word in case["error_must_say"].as_array().unwrap() {
                assert!(message.contains(word.as_str().unwrap()), "{id}: {message}");
            }
            for number in ["bytes_there", "bytes_needed", "first_bad_index"] {
                let number = case[number].to_string();
                assert!(message.contains(&number), "{id}: {number} in {message}");
            }
            assert!(!folder.path().join(&out).exists());
            seen += 1;
            continue;
        }
        assert_eq!(ran.code, Some(0), "{id}: {ran:?}");
        let events = ran.events();
        let warnings: Vec<&str> = events
            .iter()
            .filter(|event| event["event"] == "warning")
            .map(|event| event["message"].as_str().unwrap())
            .collect();
        if outcome != "ok_or_error" {
            assert_eq!(warnings.is_empty(), outcome == "ok", "{id}: {warnings:?}");
        }
        if let Some(uuid) = case["uuid_ibd"].as_str() {
            assert!(warnings.concat().contains(uuid), "{id}: {warnings:?}");
        }
        let info = run_well(folder.path(), &["info", &out, "--json"]).event("source");
        if let Some(size) = case.get("pixel_size_um") {
            assert_eq!(&info["pixel_size"][0], size, "{id}");
        }
        if let Some(kind) = case.get("representation") {
            assert_eq!(&info["representation"], kind, "{id}");
        }
        if let Some(spectra) = case.get("n_spectra") {
            assert_eq!(&info["spectra"], spectra, "{id}");
        }
        for image in images(&id, &case) {
            compare(&id, folder.path(), &out, &info, &image);
            seen += 1;
        }
    }
    assert!(seen >= 17, "{seen} cases were seen");
}

fn compare(id: &str, folder: &Path, store: &str, info: &Value, image: &Value) {
    let [lo, hi] = ["mz_lo", "mz_hi"].map(|end| image[end].as_f64().unwrap());
    let (mz, da) = (
        f64::midpoint(lo, hi).to_string(),
        ((hi - lo) / 2.0).to_string(),
    );
    run_well(
        folder,
        &["ion", store, "--mz", &mz, "--da", &da, "-o", "i.npy"],
    );
    let (shape, values) = array(&folder.join("i.npy"));
    let number = |key: &str| image[key].as_u64().unwrap() as usize;
    assert_eq!(shape, [number("height"), number("width")], "{id}");
    assert_eq!(info["origin"], image["origin_xy"], "{id}");
    for (row, wanted) in image["rows"].as_array().unwrap().iter().enumerate() {
        for (column, wanted) in wanted.as_array().unwrap().iter().enumerate() {
            let value = values[row * shape[1] + column];
            match wanted.as_f64() {
                None => assert!(value.is_nan(), "{id}: row {row} column {column}"),
                Some(wanted) => assert!(
                    (f64::from(value) - wanted).abs() < 1e-4,
                    "{id}: row {row} column {column}: {value} for {wanted}"
                ),
            }
        }
    }
}

#[test]
fn every_case_is_the_same_store_over_http() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(&cases());
    for (id, case) in expected()
        .into_iter()
        .filter(|(_, case)| case["outcome"] != "error")
    {
        let name = case["files"][0].as_str().unwrap();
        let file = cases().join(name);
        run_well(folder.path(), &["pack", text(&file), "-o", "file.sectile"]);
        // Blanks and letters beyond ASCII are encoded once, whether or not they were.
        for url in [
            server.url("ok", name),
            server.url("ok", &name.replace(' ', "%20")),
        ] {
            run_well(folder.path(), &["pack", &url, "-o", "web.sectile"]);
            let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
            assert!(read("file.sectile") == read("web.sectile"), "{id}");
        }
    }
}

/// Real pairs of several programs: each packs, or is refused with the file's name.
#[test]
fn real_pairs_pack_from_the_command_line() {
    let shared = std::env::var_os("SECTILE_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"),
        PathBuf::from,
    );
    let data = shared.join("data/imzml");
    if !data.is_dir() {
        println!("skipped: {} is not there", data.display());
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut sums = Vec::new();
    for set in ["pyimzml", "galaxy", "metaspace/untreated_tiny"] {
        for name in program::names(&data.join(set)) {
            if !name.ends_with(".imzML") {
                continue;
            }
            let file = data.join(set).join(&name);
            let ran = run(
                folder.path(),
                &[
                    "pack",
                    text(&file),
                    "-o",
                    "r.sectile",
                    "--json",
                    "--memory",
                    "64MiB",
                ],
            );
            match ran.code {
                Some(0) => sums.push((name, ran.event("done")["peaks"].clone())),
                Some(3) => assert!(
                    ran.stderr.contains(name.trim_end_matches("imzML")),
                    "{ran:?}"
                ),
                _ => panic!("{name}: {ran:?}"),
            }
        }
    }
    assert!(sums.len() >= 20, "{sums:?}");
    let peaks = |name: &str| {
        sums.iter()
            .find(|(own, _)| own == name)
            .map(|(_, peaks)| peaks)
    };
    assert_eq!(
        peaks("Example_Continuous.imzML"),
        peaks("Example_Processed.imzML")
    );
}
