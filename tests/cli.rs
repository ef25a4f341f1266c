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

use program::{floats, names, pixels, run, run_well, stack};
use sectile::png;
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

/// The median by sorting, straight from the definition.
fn naive_median(exposures: &[Vec<f32>]) -> (Vec<f32>, Vec<u16>) {
    let pixel = |at: usize| {
        let mut values: Vec<f32> = exposures
            .iter()
            .map(|values| values[at])
            .filter(|v| !v.is_nan())
            .collect();
        values.sort_by(f32::total_cmp);
        let n = values.len();
        let median = match n {
            0 => f32::NAN,
            n if n % 2 == 1 => values[n / 2],
            n => (values[n / 2 - 1] + values[n / 2]) * 0.5,
        };
        (median, u16::try_from(n).unwrap())
    };
    (0..exposures[0].len()).map(pixel).unzip()
}

fn demo_exposures(folder: &Path, n: u32) -> Vec<Vec<f32>> {
    (1..=n)
        .map(|i| floats(&pixels(&folder.join(format!("exposure_{i:02}.fits")), 1)))
        .collect()
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
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
            "truth.fits"
        ]
    );
    let files = read_all(one.path());
    assert!(files == read_all(two.path()));
    assert_eq!(format!("{:016x}", hash(&files)), "5ecdc50e3b134d80");
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
fn the_median_is_that_of_the_definition_at_every_budget() {
    let folder = stack(5, 96);
    let (values, count) = naive_median(&demo_exposures(folder.path(), 5));
    let minimum = run_well(
        folder.path(),
        &["plan", "median", "exposures.txt", "--json"],
    )
    .event("plan")["minimum_bytes"]
        .as_u64()
        .unwrap();
    let mut files = Vec::new();
    for (at, memory) in [minimum, minimum + 20_000, 64 << 20]
        .into_iter()
        .enumerate()
    {
        let (name, memory) = (format!("m{at}.fits"), memory.to_string());
        let ran = run_well(
            folder.path(),
            &[
                "median",
                "exposures.txt",
                "-o",
                &name,
                "--memory",
                &memory,
                "--json",
            ],
        );
        let done = ran.event("done");
        assert_eq!(ran.events().last(), Some(&done));
        for key in [
            "requests",
            "bytes_fetched",
            "bytes_payload",
            "peak_bytes",
            "sections",
            "seconds",
        ] {
            assert!(done[key].is_number(), "{key}");
        }
        assert_eq!(done["bytes_payload"], 5 * 96 * 96 * 4);
        assert!(done["peak_bytes"].as_u64().unwrap() <= memory.parse().unwrap());
        let sections = ran
            .events()
            .iter()
            .filter(|event| event["event"] == "section")
            .count();
        assert_eq!(done["sections"], sections);
        assert_eq!(sections > 1, at < 2);
        files.push(fs::read(folder.path().join(&name)).unwrap());
    }
    assert!(files[0] == files[1] && files[1] == files[2]);
    let out = folder.path().join("m0.fits");
    assert_eq!(bits(&floats(&pixels(&out, 0))), bits(&values));
    let counted: Vec<u8> = count.iter().flat_map(|n| n.to_be_bytes()).collect();
    assert_eq!(pixels(&out, 1), counted);
}

#[test]
fn the_result_carries_sky_unit_and_history() {
    let folder = stack(2, 64);
    run_well(
        folder.path(),
        &[
            "median",
            "exposure_01.fits",
            "exposure_02.fits",
            "-o",
            "m.fits",
            "--rect",
            "10,20,50,60",
        ],
    );
    let file = fs::read(folder.path().join("m.fits")).unwrap();
    assert_eq!(file.len() % 2880, 0);
    let header = String::from_utf8_lossy(&file[..5760]).into_owned();
    for card in [
        "SIMPLE  =                    T",
        "NAXIS1  =                   40",
        "BUNIT   = 'MJy/sr",
        "NCOMBINE=                    2",
        "CTYPE1  = 'RA---TAN'",
        "CRPIX1  =                 22.5",
        "CRPIX2  =                 12.5",
        "HISTORY sectile ",
        "HISTORY exposure_02.fits",
        "HISTORY pixels 10,20 to 50,60",
    ] {
        assert!(header.contains(card), "{card} in {header}");
    }
}

#[test]
fn a_rectangle_and_a_preview_are_parts_of_the_whole() {
    let folder = stack(3, 64);
    run_well(
        folder.path(),
        &["median", "exposures.txt", "-o", "whole.fits"],
    );
    let whole = floats(&pixels(&folder.path().join("whole.fits"), 0));
    run_well(
        folder.path(),
        &[
            "median",
            "exposures.txt",
            "-o",
            "part.fits",
            "--rect",
            "10,20,50,60",
            "--preview",
            "3",
        ],
    );
    let part = floats(&pixels(&folder.path().join("part.fits"), 0));
    let wanted: Vec<f32> = (20..60)
        .step_by(3)
        .flat_map(|y| (10..50).step_by(3).map(move |x| (x, y)))
        .map(|(x, y)| whole[y * 64 + x])
        .collect();
    assert_eq!(bits(&part), bits(&wanted));
}

#[test]
fn arrays_pictures_and_tiles_hold_the_same_values() {
    let folder = stack(3, 300);
    let at = |name: &str| folder.path().join(name);
    run_well(folder.path(), &["median", "exposures.txt", "-o", "m.fits"]);
    let values = floats(&pixels(&at("m.fits"), 0));

    run_well(folder.path(), &["median", "exposures.txt", "-o", "m.npy"]);
    let npy = fs::read(at("m.npy")).unwrap();
    assert!(npy.starts_with(b"\x93NUMPY\x01\x00"));
    assert!(String::from_utf8_lossy(&npy[..128]).contains("'shape': (300, 300)"));
    let stored: Vec<u8> = values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    assert!(npy.ends_with(&stored) && npy.len() == 128 + stored.len());

    run_well(
        folder.path(),
        &["median", "exposures.txt", "-o", "m.png", "--tiles", "tiles"],
    );
    let picture = png::decode(&fs::read(at("m.png")).unwrap(), 1 << 24).unwrap();
    let scale = picture.scale.unwrap();
    assert_eq!(picture.unit.as_deref(), Some("MJy/sr"));
    let top_down = values.chunks(300).rev().flatten();
    let codes: Vec<u16> = top_down
        .map(|value| scale.code(f64::from(*value)))
        .collect();
    assert!(picture.codes == codes);

    assert_eq!(names(&at("tiles")), ["0", "1"]);
    let tile = png::decode(&fs::read(at("tiles/1/1/1.png")).unwrap(), 1 << 24).unwrap();
    assert_eq!(tile.scale, Some(scale));
    assert_eq!(&tile.codes[..44], &codes[256 * 300 + 256..][..44]);
    assert!(tile.codes[44..256].iter().all(|code| *code == 0));
    assert_eq!(
        names(folder.path())
            .iter()
            .filter(|name| name.contains("sectile"))
            .count(),
        0
    );

    let again = run(
        folder.path(),
        &["median", "exposures.txt", "-o", "m.png", "--tiles", "tiles"],
    );
    assert_eq!(
        again.code,
        Some(2),
        "tiles of two results must not mix: {again:?}"
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
fn an_exposure_is_never_overwritten() {
    let folder = stack(2, 64);
    let before = fs::read(folder.path().join("exposure_01.fits")).unwrap();
    let ran = run(
        folder.path(),
        &["median", "exposures.txt", "-o", "./exposure_01.fits"],
    );
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(fs::read(folder.path().join("exposure_01.fits")).unwrap() == before);
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
