//! The program as its users meet it: what it prints, writes and leaves, and how it ends.

#![cfg(feature = "cli")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    dead_code,
    unreachable_pub,
    reason = "tests may; the shared module serves two files"
)]

mod program;

use std::fs;
use std::path::Path;
use std::time::Duration;

use program::{SlowServer, floats, names, pixels, run, run_well, stack};
use serde_json::{Value, json};

/// FNV-1a, 64 bits, over several files.
fn hash(files: &[Vec<u8>]) -> u64 {
    files
        .iter()
        .flatten()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        })
}

fn read_all(folder: &Path) -> Vec<Vec<u8>> {
    names(folder)
        .iter()
        .map(|name| fs::read(folder.join(name)).unwrap())
        .collect()
}

#[test]
fn demo_data_is_the_same_everywhere() {
    let (one, two) = (stack(4, 128), stack(4, 128));
    assert_eq!(
        names(one.path()),
        [
            "exposure_01.fits",
            "exposure_02.fits",
            "exposure_03.fits",
            "exposure_04.fits",
            "exposures.txt",
            "molecules.csv",
            "tissue.ibd",
            "tissue.imzML",
            "tissue_truth.csv",
            "truth.fits"
        ]
    );
    let files = read_all(one.path());
    assert!(files == read_all(two.path()));
    let of = |wanted: bool| {
        let named = names(one.path()).into_iter().zip(&files);
        // The list of molecules may grow; it is the page's.
        let named = named.filter(|(name, _)| name != "molecules.csv");
        let wanted = named.filter(|(name, _)| name.starts_with("tissue") == wanted);
        let files: Vec<Vec<u8>> = wanted.map(|(_, file)| file.clone()).collect();
        format!("{:016x}", hash(&files))
    };
    assert_eq!(
        [of(false), of(true)],
        ["5ecdc50e3b134d80", "87c335b64db7ddee"]
    );
}

#[test]
fn the_demo_stack_is_worth_a_median() {
    let folder = stack(12, 128);
    run_well(folder.path(), &["median", "exposures.txt", "-o", "m.fits"]);
    let median = floats(&pixels(&folder.path().join("m.fits"), 0));
    let truth = floats(&pixels(&folder.path().join("truth.fits"), 0));
    let first = floats(&pixels(&folder.path().join("exposure_02.fits"), 1));
    let far = |values: &[f32]| {
        values
            .iter()
            .zip(&truth)
            .filter(|(a, b)| a.is_nan() || (**a - **b).abs() >= 0.5)
            .count()
    };
    assert!(median.iter().all(|value| value.is_finite()));
    assert!(
        far(&first) > 300,
        "dead columns and cosmic rays: {}",
        far(&first)
    );
    assert!(
        far(&median) < far(&first) / 20,
        "{} against {}",
        far(&median),
        far(&first)
    );
    let mask = pixels(&folder.path().join("truth.fits"), 1);
    assert_eq!(mask.len(), 12 * 128 * 128);
    assert!(mask.iter().all(|flag| *flag <= 1) && mask.contains(&1));
}

#[test]
fn info_tells_every_hdu() {
    let folder = stack(1, 64);
    let ran = run_well(folder.path(), &["info", "--json", "exposure_01.fits"]);
    let source = ran.event("source");
    assert_eq!(source["name"], "exposure_01.fits");
    assert_eq!(
        source["bytes"],
        fs::metadata(folder.path().join("exposure_01.fits"))
            .unwrap()
            .len()
    );
    assert_eq!(source["image"], 1);
    let science = &source["hdus"][1];
    for (key, value) in [
        ("index", json!(1)),
        ("name", json!("SCI")),
        ("ver", json!(1)),
        ("bitpix", json!(-32)),
        ("axes", json!([64, 64])),
        ("data_bytes", json!(64 * 64 * 4)),
        ("unit", json!("MJy/sr")),
        ("type", json!("image")),
    ] {
        assert_eq!(science[key], value, "{key}");
    }
    assert_eq!(science["sky"]["projection"], "RA---TAN, DEC--TAN");
    let near = |value: &Value, wanted: f64| (value.as_f64().unwrap() - wanted).abs() < 1e-9;
    assert!(near(&science["sky"]["center"][0], 150.1125));
    assert!(near(&science["sky"]["pixel_arcsec"], 0.031));
    assert_eq!(ran.event("done")["requests"], 1);

    let people = run_well(folder.path(), &["info", "exposure_01.fits", "truth.fits"]);
    for words in ["SCI", "64×64", "MJy/sr", "CRMASK", "RA---TAN"] {
        assert!(
            people.stdout.contains(words),
            "{words} in {}",
            people.stdout
        );
    }
}

#[test]
fn plan_tells_the_cost_and_fetches_headers_only() {
    let folder = stack(3, 64);
    let ran = run_well(
        folder.path(),
        &[
            "plan",
            "median",
            "exposures.txt",
            "--json",
            "--memory",
            "64MiB",
            "-o",
            "x.fits",
        ],
    );
    let plan = ran.event("plan");
    for (key, value) in [
        ("exposures", json!(3)),
        ("sections", json!(1)),
        ("requests", json!(3)),
        ("slots", json!(3)),
        ("payload_bytes", json!(3 * 64 * 64 * 4)),
        ("memory", json!(64 << 20)),
        ("image", json!([64, 64])),
        ("result", json!([64, 64])),
        ("bitpix", json!(-32)),
        ("schema", json!(1)),
    ] {
        assert_eq!(plan[key], value, "{key}");
    }
    let done = ran.event("done");
    assert_eq!(done["bytes_payload"], 0);
    assert!(!folder.path().join("x.fits").exists());
    let people = run_well(folder.path(), &["plan", "median", "exposures.txt"]);
    assert!(
        people
            .stdout
            .contains("sections   1 of up to 64 rows × 64 columns"),
        "{}",
        people.stdout
    );
}

#[test]
fn a_budget_that_is_too_small_names_the_one_that_works() {
    let folder = stack(3, 64);
    let ran = run(
        folder.path(),
        &[
            "median",
            "exposures.txt",
            "-o",
            "m.fits",
            "--json",
            "--memory",
            "1MiB",
        ],
    );
    assert_eq!(ran.code, Some(3));
    let error = ran.event("error");
    assert_eq!(
        (&error["code"], &error["exit"]),
        (&json!("budget"), &json!(3))
    );
    let message = error["message"].as_str().unwrap();
    let wanted = message.split("--memory ").nth(1).unwrap();
    run_well(
        folder.path(),
        &[
            "median",
            "exposures.txt",
            "-o",
            "m.fits",
            "--memory",
            wanted,
        ],
    );
}

#[test]
fn lists_and_associations_name_exposures_beside_them() {
    let folder = stack(2, 64);
    fs::create_dir(folder.path().join("lists")).unwrap();
    fs::write(
        folder.path().join("lists/all.txt"),
        "# two\n../exposure_01.fits\n\n../exposure_02.fits\n",
    )
    .unwrap();
    let association = json!({
        "asn_type": "image3",
        "products": [{ "name": "p", "members": [
            { "expname": "exposure_01.fits", "exptype": "science" },
            { "expname": "absent.fits", "exptype": "background" },
            { "expname": "exposure_02.fits", "exptype": "science", "exposerr": "jitter" },
        ]}],
    });
    fs::write(folder.path().join("two_asn.json"), association.to_string()).unwrap();
    run_well(folder.path(), &["median", "lists/all.txt", "-o", "a.npy"]);
    let ran = run_well(
        folder.path(),
        &["median", "two_asn.json", "-o", "b.npy", "--json"],
    );
    let warnings: Vec<Value> = ran
        .events()
        .into_iter()
        .filter(|event| event["event"] == "warning")
        .collect();
    assert!(
        warnings
            .iter()
            .any(|warning| warning["message"].as_str().unwrap().contains("jitter")),
        "{warnings:?}"
    );
    run_well(
        folder.path(),
        &[
            "median",
            "exposure_01.fits",
            "exposure_02.fits",
            "-o",
            "c.npy",
        ],
    );
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    assert!(read("a.npy") == read("b.npy") && read("b.npy") == read("c.npy"));
}

#[test]
fn quiet_and_verbose_change_standard_error_alone() {
    let folder = stack(2, 64);
    let arguments = ["plan", "median", "exposures.txt", "--memory", "64MiB"];
    let plain = run_well(folder.path(), &arguments);
    let verbose = run_well(folder.path(), &[&arguments[..], &["-v"]].concat());
    assert_eq!(plain.stdout, verbose.stdout);
    assert_eq!(plain.stderr, "");
    assert!(verbose.stderr.contains("requests"));
}

#[test]
fn one_bad_file_does_not_hide_the_others() {
    let folder = stack(1, 64);
    let whole = fs::read(folder.path().join("exposure_01.fits")).unwrap();
    fs::write(folder.path().join("page.fits"), "<!DOCTYPE html>").unwrap();
    fs::write(folder.path().join("short.fits"), &whole[..10_000]).unwrap();
    let ran = run(
        folder.path(),
        &[
            "info",
            "--json",
            "page.fits",
            "short.fits",
            "exposure_01.fits",
        ],
    );
    assert_eq!(ran.code, Some(3));
    let told: Vec<Value> = ran
        .events()
        .into_iter()
        .filter(|event| event["event"] == "source")
        .collect();
    let names: Vec<&Value> = told.iter().map(|source| &source["name"]).collect();
    assert_eq!(
        names,
        ["short.fits", "exposure_01.fits"],
        "a file cut short still has its table"
    );
    assert!(
        ran.event("error")["message"]
            .as_str()
            .unwrap()
            .starts_with("page.fits")
    );
    assert!(
        ran.event("warning")["message"]
            .as_str()
            .unwrap()
            .contains("short.fits")
    );
}

#[test]
fn files_are_read_in_small_sections_whatever_the_budget() {
    let folder = stack(2, 700);
    let plan = |more: &[&str]| {
        let list = ["plan", "median", "exposures.txt", "--json"];
        run_well(folder.path(), &[&list[..], more].concat()).event("plan")
    };
    let usual = plan(&[]);
    assert_eq!(
        (&usual["rows"], &usual["sections"]),
        (&json!(350), &json!(2))
    );
    assert!(usual["peak_bytes"].as_u64().unwrap() < 10 << 20);
    assert!(usual["seconds"].as_f64().unwrap() < 0.1);
    let told = plan(&["--latency", "1000", "--bandwidth", "1MB"]);
    assert!(told["seconds"].as_f64().unwrap() > 4.0);

    let server = SlowServer::start(folder.path(), Duration::ZERO);
    let urls = ["exposure_01.fits", "exposure_02.fits"].map(|name| server.url(name));
    let list = ["plan", "median", &urls[0], &urls[1], "--json"];
    let served = run_well(folder.path(), &list).event("plan");
    assert_eq!(
        served["sections"], 1,
        "requests to servers are as large as fits"
    );
    let mixed = ["plan", "median", "exposure_01.fits", &urls[1], "--json"];
    let mixed = run_well(folder.path(), &mixed).event("plan");
    assert_eq!(mixed["sections"], 1);
}

#[test]
fn latency_and_bandwidth_decide_how_a_rectangle_is_read() {
    let folder = stack(3, 64);
    let layout = |latency: &str| {
        let list = [
            "plan",
            "median",
            "exposures.txt",
            "--json",
            "--rect",
            "3,5,9,60",
        ];
        let ran = run_well(
            folder.path(),
            &[&list[..], &["--latency", latency]].concat(),
        );
        ran.event("plan")["layout"].clone()
    };
    assert_eq!((layout("0"), layout("50")), (json!("rows"), json!("span")));
    let wrong = ["plan", "median", "exposures.txt", "--bandwidth", "fast"];
    let ran = run(folder.path(), &wrong);
    assert_eq!(ran.code, Some(3));
    assert!(ran.stderr.contains("--bandwidth"), "{}", ran.stderr);
}
