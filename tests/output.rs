//! What `median` writes: the definition's values, in every format, at every budget.

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

use program::{floats, names, pixels, run, run_well, stack};
use sectile::png;

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
fn tiles_of_a_very_wide_image_count_against_the_budget() {
    let folder = tempfile::tempdir().unwrap();
    let cards = [
        "SIMPLE  =                    T",
        "BITPIX  =                    8",
        "NAXIS   =                    2",
        "NAXIS1  =                30000",
        "NAXIS2  =                    1",
        "END",
    ];
    let mut file: Vec<u8> = cards
        .iter()
        .flat_map(|card| format!("{card:80}").into_bytes())
        .collect();
    file.resize(2880, b' ');
    file.resize(2880 + 31_680, 7);
    fs::write(folder.path().join("wide.fits"), file).unwrap();
    let arguments = [
        "median",
        "wide.fits",
        "-o",
        "m.png",
        "--tiles",
        "t",
        "--json",
        "--memory",
    ];
    let ran = run(folder.path(), &[&arguments[..], &["8MiB"]].concat());
    assert_eq!(
        (ran.code, ran.event("error")["code"].as_str()),
        (Some(3), Some("budget"))
    );
    assert_eq!(names(folder.path()), ["wide.fits"]);
    let done = run_well(folder.path(), &[&arguments[..], &["64MiB"]].concat()).event("done");
    assert!(done["peak_bytes"].as_u64().unwrap() > 30_000_000, "{done}");
    assert_eq!(names(&folder.path().join("t/7")).len(), 118);
}
