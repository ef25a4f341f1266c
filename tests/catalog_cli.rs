//! `sectile catalog`: what it writes, what it leaves, what it refuses.

#![cfg(feature = "cli")]
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
use std::time::Duration;

use md5::{Digest as _, Md5};
use program::{SlowServer, names, run, run_well, stack};
use sectile::api::catalog::{Allow, Catalog, Kind};
use serde_json::Value;

fn written(folder: &Path) -> Value {
    serde_json::from_slice(&fs::read(folder.join("sectile.json")).unwrap()).unwrap()
}

fn checked(folder: &Path) -> Catalog {
    let bytes = fs::read(folder.join("sectile.json")).unwrap();
    let catalog = Catalog::parse(
        &bytes,
        Allow {
            private_origins: true,
        },
    )
    .unwrap();
    assert!(catalog.faulty.is_empty(), "{:?}", catalog.faulty);
    catalog
}

#[test]
fn headers_sizes_and_order_are_kept() {
    let folder = stack(3, 64);
    let path = folder.path();
    fs::create_dir(path.join("m13")).unwrap();
    for n in 1..=3 {
        let name = format!("exposure_{n:02}.fits");
        fs::rename(path.join(&name), path.join("m13").join(name)).unwrap();
    }
    let done = run_well(
        path,
        &[
            "catalog",
            "--stack",
            "m13=m13/*_0?.fits",
            "--title",
            "m13=A cluster",
            "--jobs",
            "--json",
        ],
    );
    assert_eq!(done.event("dataset")["files"], 3);
    assert_eq!(done.event("done")["written"], true);
    let catalog = checked(path);
    let dataset = catalog.dataset("m13").unwrap();
    assert_eq!(
        (dataset.title.as_deref(), dataset.jobs),
        (Some("A cluster"), true)
    );
    let Kind::Stack(stack) = &dataset.kind else {
        panic!("{dataset:?}");
    };
    let urls: Vec<&str> = stack.exposures.iter().map(|one| one.url.as_str()).collect();
    assert_eq!(
        urls,
        [
            "m13/exposure_01.fits",
            "m13/exposure_02.fits",
            "m13/exposure_03.fits"
        ]
    );
    for exposure in &stack.exposures {
        let bytes = fs::metadata(path.join(&exposure.url)).unwrap().len();
        assert_eq!((exposure.size, &exposure.etag), (Some(bytes), &None));
        let image = exposure.image.as_ref().unwrap();
        assert_eq!((image.width, image.height), (64, 64));
        assert!(image.data_at > 0 && image.data_at + image.data_len() <= bytes);
        assert!(image.cards.iter().any(|card| card.starts_with("CRVAL1")));
    }
    assert_eq!(written(path)["datasets"]["m13"]["type"], "stack");
    assert!(
        names(path).iter().all(|name| !name.contains("sectile-")),
        "nothing is left beside"
    );
}

#[test]
fn tags_of_a_bucket_are_sums_of_the_bytes() {
    let folder = stack(1, 64);
    let path = folder.path();
    let make = |etags: &str| {
        run_well(
            path,
            &["catalog", "--stack", "a=exposure_01.fits", "--etags", etags],
        );
        written(path)["datasets"]["a"]["exposures"][0]["etag"].clone()
    };
    assert_eq!(make("none"), Value::Null);
    let sum: String = Md5::digest(fs::read(path.join("exposure_01.fits")).unwrap())
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    assert_eq!(make("md5"), format!("\"{sum}\""));
    assert_eq!(make("served"), Value::Null);
}

#[test]
fn addresses_carry_what_their_server_says() {
    let folder = stack(2, 64);
    let path = folder.path();
    let origin = SlowServer::start(path, Duration::ZERO);
    let far = format!("far={}", origin.url("exposure_02.fits"));
    let home = origin.url("");
    let mut arguments = vec![
        "catalog",
        "--stack",
        "far=exposure_01.fits",
        "--stack",
        &far,
    ];
    arguments.extend(["--origin", home.trim_end_matches('/')]);
    let refused = run(path, &arguments);
    assert_eq!(refused.code, Some(3), "{refused:?}");
    assert!(refused.stderr.contains("private"), "{refused:?}");
    assert!(!path.join("sectile.json").exists());
    arguments.push("--allow-private-origins");
    run_well(path, &arguments);
    let exposures = &written(path)["datasets"]["far"]["exposures"];
    assert_eq!(exposures[1]["etag"], "\"exposure_02.fits\"");
    assert_eq!(exposures[0]["size"], exposures[1]["size"]);
    assert_eq!(checked(path).origins.len(), 1);
    let unlisted = [
        "catalog",
        "--stack",
        &far,
        "--allow-private-origins",
        "-o",
        "other.json",
    ];
    let unlisted = run(path, &unlisted);
    assert_eq!(unlisted.code, Some(3));
    assert!(unlisted.stderr.contains("origins"), "{unlisted:?}");
}

#[test]
fn other_datasets_stay_and_one_can_be_removed() {
    let folder = stack(2, 64);
    let path = folder.path();
    run_well(path, &["pack", "tissue.imzML", "-o", "tissue.sectile"]);
    run_well(path, &["catalog", "--stack", "a=exposure_01.fits"]);
    run_well(
        path,
        &[
            "catalog",
            "--ions",
            "t=tissue.sectile",
            "--molecules",
            "t:lipids=molecules.csv",
            "--analyzer",
            "orbitrap",
            "--resolving-power",
            "70000",
        ],
    );
    let catalog = checked(path);
    assert_eq!(catalog.datasets.len(), 2);
    let Kind::Ions(ions) = &catalog.dataset("t").unwrap().kind else {
        panic!("{catalog:?}");
    };
    assert_eq!(ions.resolving_power, Some(70_000.0));
    assert_eq!(
        (ions.molecules.len(), ions.molecules[0].0.as_str()),
        (1, "lipids")
    );
    let before = fs::read(path.join("sectile.json")).unwrap();
    let shown = run_well(path, &["catalog"]);
    assert!(shown.stdout.contains("a: stack") && shown.stdout.contains("t: ions"));
    assert!(
        fs::read(path.join("sectile.json")).unwrap() == before,
        "only shown"
    );
    run_well(path, &["catalog", "--remove", "a", "--remove", "x"]);
    assert!(checked(path).dataset("a").is_none());
}

#[test]
fn what_cannot_be_served_is_not_declared() {
    let folder = stack(2, 64);
    let path = folder.path();
    fs::write(path.join("bad.fits"), "SIMPLE").unwrap();
    fs::write(path.join("empty.txt"), "\n").unwrap();
    let other = stack(1, 96);
    fs::copy(
        other.path().join("exposure_01.fits"),
        path.join("other.fits"),
    )
    .unwrap();
    for (arguments, code, word) in [
        (&["--stack", "a"][..], 2, "NAME=VALUE"),
        (&["--stack", "a=absent.fits"], 3, "absent.fits"),
        (&["--stack", "a=absent*.fits"], 3, "absent*.fits"),
        (&["--stack", "a=bad.fits"], 3, "bad.fits"),
        (
            &["--stack", "a=exposure_01.fits", "--stack", "a=other.fits"],
            3,
            "other.fits",
        ),
        (&["--stack", "A=exposure_01.fits"], 3, "\"A\""),
        (&["--stack", "a=../x.fits"], 3, "x.fits"),
        (&["--ions", "t=exposure_01.fits"], 3, "exposure_01.fits"),
        (
            &["--stack", "a=exposure_01.fits", "--ions", "a=x"],
            2,
            "not both",
        ),
        (&["--stack", "a=exposure_01.fits", "--title", "b=x"], 2, "b"),
        (&["--stack", "a=exposure_01.fits", "--mask", "DQ"], 3, "DQ"),
        (
            &["--stack", "a=exposure_01.fits", "--token-file", "empty.txt"],
            3,
            "token",
        ),
        (&["--stack", "a=exposure_01.fits", "--hdu", "SCI"], 3, "SCI"),
    ] {
        let ran = run(path, &[&["catalog"], arguments].concat());
        assert_eq!(ran.code, Some(code), "{arguments:?} {ran:?}");
        assert!(ran.stderr.contains(word), "{arguments:?} {ran:?}");
        assert!(!path.join("sectile.json").exists(), "{arguments:?}");
    }
    fs::write(path.join("sectile.json"), "[]").unwrap();
    let ran = run(path, &["catalog", "--stack", "a=exposure_01.fits"]);
    assert_eq!(ran.code, Some(3));
    assert_eq!(fs::read(path.join("sectile.json")).unwrap(), b"[]");
}
