//! Packing, images and spectra as their users meet them.

#![cfg(all(feature = "cli", unix))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::float_cmp,
    clippy::cast_precision_loss,
    missing_docs,
    dead_code,
    unreachable_pub,
    reason = "tests may; the shared modules serve several files"
)]

mod pairs;
mod program;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use pairs::{Spot, Spots, array, hex, table};
use program::{SlowServer, names, run, run_well};
use serde_json::json;
use sha2::{Digest, Sha256};

fn sha256(path: &Path) -> String {
    hex(&Sha256::digest(fs::read(path).unwrap()))
}

/// Where pixel `i` of a disc of 12×12 positions is: row 0 is the top one, the smallest y.
fn position(i: usize) -> [i32; 2] {
    let i = i32::try_from(i).unwrap();
    [5 + i % 12, -2 + i / 12]
}

/// A packed disc of 12×12 positions, its spots, and its folder.
fn packed() -> (tempfile::TempDir, Spots) {
    let folder = tempfile::tempdir().unwrap();
    let spots = Spots::disc(12, 300);
    spots.write(folder.path(), "d");
    run_well(folder.path(), &["pack", "d.imzML", "-o", "d.sectile"]);
    (folder, spots)
}

#[test]
fn a_store_is_the_same_at_every_budget_and_from_everywhere() {
    let folder = tempfile::tempdir().unwrap();
    let spots = Spots::disc(20, 3000);
    spots.write(folder.path(), "d");
    let server = SlowServer::start(folder.path(), Duration::ZERO);
    let url = server.url("d.imzML");
    let peaks = spots.0.len() * 3000;
    let mut digests = Vec::new();
    for (at, (from, memory)) in [
        ("d.imzML", "8MiB"),
        ("d.imzML", "16MiB"),
        ("d.imzML", "64MiB"),
        ("d.imzML", "256MiB"),
        (&url, "16MiB"),
        (&url, "256MiB"),
    ]
    .into_iter()
    .enumerate()
    {
        let out = format!("d{at}.sectile");
        let before = server.requests();
        let ran = run_well(
            folder.path(),
            &["pack", from, "-o", &out, "--memory", memory, "--json"],
        );
        let done = ran.event("done");
        assert_eq!(ran.events().last(), Some(&done));
        let plan = ran.event("plan");
        // All peaks fit into 64 MiB, and into no less.
        let budget = sectile::budget::parse_size(memory).unwrap();
        assert_eq!(
            plan["partitions"] == 1,
            budget >= 64 << 20,
            "{memory}: {plan}"
        );
        assert_eq!(plan["rows"], peaks);
        for peak in [&plan["peak_bytes"], &done["peak_bytes"]] {
            assert!(peak.as_u64().unwrap() <= budget, "{memory}: {done}");
        }
        let ibd = fs::metadata(folder.path().join("d.ibd")).unwrap().len();
        let xml = fs::metadata(folder.path().join("d.imzML")).unwrap().len();
        assert_eq!(done["bytes_payload"], ibd - 16, "every byte once: {done}");
        assert_eq!(done["bytes_fetched"], xml + ibd, "{done}");
        if from == url {
            // One look at each candidate for the partner is one too many, if the first is right.
            assert_eq!(done["requests"], server.requests() - before);
        }
        let digest = sha256(&folder.path().join(&out));
        assert_eq!(done["sha256"], digest);
        assert_eq!(ran.event("file")["sha256"], digest);
        assert_eq!(done["counts"]["peaks_read"], peaks);
        assert!(done["counts"]["negative_intensities"].as_u64().unwrap() > 1000);
        digests.push(digest);
    }
    assert!(
        digests.iter().all(|digest| *digest == digests[0]),
        "{digests:?}"
    );
    let left: Vec<String> = names(folder.path());
    assert!(
        left.iter().all(|name| !name.contains(".sectile-")),
        "{left:?}"
    );
    // For people it is one line that `sha256sum -c` can check.
    let ran = run_well(folder.path(), &["pack", "d.imzML", "-o", "p.sectile"]);
    assert_eq!(ran.stdout, format!("{}  p.sectile\n", digests[0]));
    assert_eq!(
        ran.stderr.matches("warning").count(),
        ran.stderr.lines().count()
    );
}

#[test]
fn images_are_what_a_scan_of_the_pair_says() {
    let (folder, spots) = packed();
    let at = |name: &str| folder.path().join(name);
    // A shared m/z, windows with many and with no peaks, below the first and above the last.
    let masses = ["100.4", "112.0", "150.0", "550.5", "999.99", "20.0", "2000"];
    for (tolerance, value) in [("--ppm", "3"), ("--da", "0.5"), ("--ppm", "20000")] {
        let mut arguments = vec!["ion", "d.sectile", tolerance, value, "--mz"];
        arguments.extend(masses);
        run_well(folder.path(), &[&arguments[..], &["-o", "i.npy"]].concat());
        let ran = run_well(
            folder.path(),
            &[&arguments[..], &["-o", "i.csv", "--json"]].concat(),
        );
        let (shape, values) = array(&at("i.npy"));
        assert_eq!(shape, [masses.len(), 12, 12]);
        let (heading, rows) = table(&at("i.csv"));
        assert_eq!(
            heading,
            "x,y,mz_100.4,mz_112.0,mz_150.0,mz_550.5,mz_999.99,mz_20.0,mz_2000"
        );
        assert_eq!(rows.len(), spots.0.len());
        for (n, mass) in masses.iter().enumerate() {
            let mz: f64 = mass.parse().unwrap();
            let number: f64 = value.parse().unwrap();
            let half = if tolerance == "--da" {
                number
            } else {
                mz * number * 1e-6
            };
            let wanted = spots.scan(mz - half, mz + half, 1);
            let image = &values[n * 144..(n + 1) * 144];
            for (i, value) in image.iter().enumerate() {
                let position = position(i);
                match wanted.get(&position) {
                    Some(wanted) => assert_eq!(value, wanted, "{mass} at {position:?}"),
                    None => assert!(value.is_nan(), "{mass} at {position:?}"),
                }
            }
            for row in &rows {
                let position = [row[0] as i32, row[1] as i32];
                assert_eq!(
                    row[2 + n] as f32,
                    wanted[&position],
                    "{mass} at {position:?}"
                );
            }
            let told = ran.events();
            let told = told
                .iter()
                .find(|event| event["event"] == "image" && event["mz"] == mz)
                .unwrap();
            let hits = spots
                .0
                .iter()
                .flat_map(|spot| spot.mz.iter().zip(&spot.intensity))
                .filter(|(found, v)| mz - half <= **found && **found <= mz + half && **v != 0.0);
            assert_eq!(told["hits"], hits.count(), "{told}");
        }
    }
}

#[test]
fn one_image_is_one_request_and_several_share_theirs() {
    let (folder, _) = packed();
    let server = SlowServer::start(folder.path(), Duration::ZERO);
    let url = server.url("d.sectile");
    let draw = |masses: &[&str], out: &str| {
        let before = server.requests();
        let list = [
            "ion", &url, "-o", out, "--json", "--memory", "16MiB", "--mz",
        ];
        let ran = run_well(folder.path(), &[&list[..], masses].concat());
        let done = ran.event("done");
        assert_eq!(done["requests"], server.requests() - before);
        assert!(done["peak_bytes"].as_u64().unwrap() <= 16 << 20, "{done}");
        (
            done["requests"].as_u64().unwrap(),
            done["bytes_payload"].as_u64().unwrap(),
        )
    };
    let (requests, bytes) = draw(&["150.0"], "a.npy");
    assert_eq!(requests, 2, "the head and the window's blocks");
    let (requests, shared) = draw(&["150.0", "150.0001", "150.0002"], "b.npy");
    assert_eq!(
        (requests, shared),
        (2, bytes),
        "blocks of three windows are read once"
    );
    let local = run_well(
        folder.path(),
        &["ion", "d.sectile", "--mz", "150.0", "-o", "c.npy"],
    );
    assert_eq!(local.stdout, "c.npy\n");
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    assert!(read("a.npy") == read("c.npy"));
    let plan = run_well(
        folder.path(),
        &["plan", "ion", &url, "--mz", "150.0", "--json"],
    );
    let event = plan.event("plan");
    assert_eq!(
        (&event["requests"], &event["bytes"]),
        (&json!(1), &json!(bytes))
    );
    assert!(!folder.path().join("x.png").exists());
}

#[test]
fn pictures_carry_their_scale_and_tell_zero_from_no_data() {
    let (folder, spots) = packed();
    let at = |name: &str| folder.path().join(name);
    run_well(
        folder.path(),
        &[
            "ion",
            "d.sectile",
            "--mz",
            "550.5",
            "--mz",
            "20",
            "-o",
            "{mz}.png",
            "--da",
            "0.8",
        ],
    );
    let picture = sectile::png::decode(&fs::read(at("550.5.png")).unwrap(), 1 << 20).unwrap();
    let scale = picture.scale.unwrap();
    let wanted = spots.scan(550.5 - 0.8, 550.5 + 0.8, 1);
    let mut zeros = 0;
    for (i, code) in picture.codes.iter().enumerate() {
        let position = position(i);
        match wanted.get(&position) {
            None => assert_eq!(*code, 0, "{position:?}"),
            Some(value) => {
                assert!(*code >= 1, "{position:?}");
                let back = scale.value(*code).unwrap();
                assert!(
                    (back - f64::from(*value)).abs() <= scale.bscale,
                    "{position:?}"
                );
                zeros += usize::from(*value == 0.0);
            }
        }
    }
    assert!(zeros > 0, "the window has pixels without a peak");
    let blank = sectile::png::decode(&fs::read(at("20.png")).unwrap(), 1 << 20).unwrap();
    for (blank, code) in blank.codes.iter().zip(&picture.codes) {
        assert_eq!(*blank > 0, *code > 0, "no peak at all is an image of zeros");
    }
    let text = String::from_utf8_lossy(&fs::read(at("550.5.png")).unwrap()).into_owned();
    for words in [
        "BSCALE",
        "m/z\u{0}550.5",
        "tolerance\u{0}0.8 Da",
        "25 x 50 um",
        "Source\u{0}d.imzML",
    ] {
        assert!(text.contains(words), "{words:?}");
    }

    run_well(
        folder.path(),
        &[
            "ion",
            "d.sectile",
            "--mz",
            "550.5",
            "-o",
            "a.png",
            "--da",
            "0.8",
            "--alpha",
        ],
    );
    let decoder = png::Decoder::new(std::io::BufReader::new(
        fs::File::open(at("a.png")).unwrap(),
    ));
    let mut reader = decoder.read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    assert_eq!(info.color_type, png::ColorType::GrayscaleAlpha);
    for (i, pixel) in bytes.as_chunks::<4>().0.iter().enumerate() {
        let position = position(i);
        let alpha = u16::from_be_bytes([pixel[2], pixel[3]]);
        assert_eq!(
            alpha == u16::MAX,
            wanted.contains_key(&position),
            "{position:?}"
        );
    }
    run_well(
        folder.path(),
        &["ion", "d.sectile", "--mz", "1", "2", "-o", "n.png"],
    );
    assert!(at("n-1.png").exists() && at("n-2.png").exists() && !at("n.png").exists());
    assert!(
        names(folder.path())
            .iter()
            .all(|name| !name.contains(".sectile-"))
    );
}

#[test]
fn normalised_images_are_shares_of_their_pixels_totals() {
    let (folder, spots) = packed();
    run_well(
        folder.path(),
        &[
            "ion",
            "d.sectile",
            "--mz",
            "150",
            "--da",
            "30",
            "-o",
            "i.csv",
            "--normalise",
            "tic",
        ],
    );
    let totals = spots.totals();
    let mean = totals.values().sum::<f64>() / totals.len() as f64;
    let wanted = spots.scan(120.0, 180.0, 1);
    let (_, rows) = table(&folder.path().join("i.csv"));
    for row in rows {
        let position = [row[0] as i32, row[1] as i32];
        let is = f64::from(wanted[&position]) / totals[&position] * mean;
        assert!(
            (row[2] - is).abs() <= 1e-5 * is.abs().max(1.0),
            "{position:?}: {} {is}",
            row[2]
        );
    }
}

#[test]
fn slices_are_images_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let spot = |at: [i32; 3], intensity: f32| Spot {
        at,
        mz: vec![500.0],
        intensity: vec![intensity],
    };
    let spots = Spots(vec![
        spot([1, 1, 4], 1.0),
        spot([2, 1, 4], 2.0),
        spot([2, 1, 9], 8.0),
    ]);
    spots.write(folder.path(), "z");
    run_well(folder.path(), &["pack", "z.imzML", "-o", "z.sectile"]);
    let draw = |more: &[&str]| {
        let list = ["ion", "z.sectile", "--mz", "500", "-o", "z.npy"];
        let ran = run(folder.path(), &[&list[..], more].concat());
        (ran, array(&folder.path().join("z.npy")).1)
    };
    let (ran, first) = draw(&[]);
    assert_eq!(first, [1.0, 2.0]);
    assert!(ran.stderr.contains("z = 4, 9"), "{}", ran.stderr);
    let (ran, second) = draw(&["--slice", "9"]);
    assert!(second[0].is_nan() && second[1] == 8.0);
    assert_eq!(ran.stderr, "");
    let (ran, _) = draw(&["--slice", "5"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stderr.contains("z = 4, 9"), "{}", ran.stderr);
}

#[test]
fn spectra_of_the_pair_and_of_the_store_are_the_same() {
    let (folder, spots) = packed();
    let at = |name: &str| folder.path().join(name);
    let spot = spots.0.iter().find(|spot| spot.at == [10, 3, 1]).unwrap();
    let wanted: Vec<Vec<f64>> = spot
        .mz
        .iter()
        .zip(&spot.intensity)
        .filter(|(_, intensity)| **intensity != 0.0)
        .map(|(mz, intensity)| vec![*mz, f64::from(*intensity)])
        .collect();
    for (source, out) in [("d.imzML", "p.csv"), ("d.sectile", "s.csv")] {
        let ran = run_well(
            folder.path(),
            &[
                "spectrum", source, "--pixel", "10,3", "-o", out, "--memory", "16MiB", "--json",
            ],
        );
        assert_eq!(
            table(&at(out)),
            ("mz,intensity".to_owned(), wanted.clone()),
            "{source}"
        );
        assert!(ran.event("done")["peak_bytes"].as_u64().unwrap() <= 16 << 20);
        let warned = ran.stdout.contains("all of it is read");
        assert_eq!(warned, source == "d.sectile", "a full pass is said");
    }
    let plan = |source: &str| {
        let list = ["plan", "spectrum", source, "--pixel", "10,3", "--json"];
        run_well(folder.path(), &list).event("plan")
    };
    assert_eq!(
        (
            plan("d.imzML")["from"].as_str(),
            plan("d.sectile")["from"].as_str()
        ),
        (Some("pair"), Some("store"))
    );
    assert!(plan("d.imzML")["bytes"].as_u64() < plan("d.sectile")["bytes"].as_u64());

    // A rectangle and the polygon of the same pixels, each from both.
    let inside = |spot: &&Spot| (8..12).contains(&spot.at[0]) && (1..4).contains(&spot.at[1]);
    let all = spots.0.iter().filter(inside);
    let all = all.flat_map(|spot| &spot.intensity);
    let sum: f64 = all.map(|v| f64::from(*v)).sum();
    for region in [["--rect", "8,1,12,4"], ["--polygon", "8,1 12,1 12,4 8,4"]] {
        for source in ["d.sectile", "d.imzML"] {
            let list = ["spectrum", source, "-o", "r.csv"];
            run_well(folder.path(), &[&list[..], &region].concat());
            let (heading, rows) = table(&at("r.csv"));
            assert_eq!(heading, "mz,mean,max");
            assert!(rows.is_sorted_by(|a, b| a[0] < b[0]));
            let mean: f64 = rows.iter().map(|row| row[1]).sum();
            assert!(
                (mean * 12.0 - sum).abs() < 1e-6 * sum,
                "{source}: {mean} {sum}"
            );
        }
    }
    let refused = |region: &[&str]| {
        let list = ["spectrum", "d.imzML", "-o", "x.csv"];
        run(folder.path(), &[&list[..], region].concat())
    };
    for region in [
        &["--pixel", "0,0"][..],
        &["--pixel", "400,400"],
        &["--rect", "-90,-90,-80,-80"],
    ] {
        let ran = refused(region);
        assert_eq!(ran.code, Some(3), "{ran:?}");
        assert!(!at("x.csv").exists());
    }
}

#[test]
fn info_tells_datasets_and_stores() {
    let (folder, spots) = packed();
    let pair = run_well(folder.path(), &["info", "d.imzML", "--json"]).event("source");
    let store = run_well(folder.path(), &["info", "d.sectile", "--json"]).event("source");
    for (key, value) in [
        ("width", json!(12)),
        ("height", json!(12)),
        ("origin", json!([5, -2])),
        ("slices", json!([1])),
        ("spectra", json!(spots.0.len())),
        ("pixel_size", json!([25.0, 50.0])),
        ("representation", json!("centroid")),
    ] {
        assert_eq!(pair[key], value, "{key}");
        assert_eq!(store[key], value, "{key}");
    }
    assert_eq!(pair["ibd"]["name"], "d.ibd");
    assert_eq!(pair["checksum"]["kind"], "SHA-1");
    assert_eq!(store["source"], "d.imzML");
    assert_eq!(store["acquired"], spots.0.len());
    let ran = run_well(folder.path(), &["info", "d.imzML", "d.sectile"]);
    for words in [
        "12×12 pixels",
        "25 × 50 µm",
        "64-bit float",
        "segment store",
        "zeros dropped",
    ] {
        assert!(ran.stdout.contains(words), "{words} in {}", ran.stdout);
    }
    let ran = run(folder.path(), &["info", "d.ibd"]);
    assert_eq!(ran.code, Some(3));
    assert!(ran.stderr.contains(".imzML"), "{}", ran.stderr);
}

#[test]
fn the_demo_dataset_packs_and_shows_its_ions() {
    let folder = program::stack(1, 64);
    let ran = run_well(
        folder.path(),
        &[
            "pack",
            "tissue.imzML",
            "-o",
            "t.sectile",
            "--verify",
            "--json",
        ],
    );
    assert!(ran.event("done")["peaks"].as_u64().unwrap() > 0);
    let truth = fs::read_to_string(folder.path().join("tissue_truth.csv")).unwrap();
    let column = truth
        .lines()
        .next()
        .unwrap()
        .split(',')
        .position(|name| name == "mz")
        .unwrap();
    let mz = truth
        .lines()
        .nth(1)
        .unwrap()
        .split(',')
        .nth(column)
        .unwrap()
        .to_owned();
    let ran = run_well(
        folder.path(),
        &["ion", "t.sectile", "--mz", &mz, "-o", "t.png", "--json"],
    );
    assert!(ran.event("image")["hits"].as_u64().unwrap() > 0, "{ran:?}");
}

/// Positions of a table of an image.
fn image(path: &Path) -> BTreeMap<[i32; 2], f64> {
    let (_, rows) = table(path);
    let rows = rows.into_iter();
    rows.map(|row| ([row[0] as i32, row[1] as i32], row[2]))
        .collect()
}

#[test]
fn duplicates_are_summed_with_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let spot = |intensity: f32| Spot {
        at: [3, 3, 1],
        mz: vec![500.0, 400.0],
        intensity: vec![intensity, 7.0],
    };
    Spots(vec![spot(1.0), spot(2.0)]).write(folder.path(), "two");
    let ran = run_well(
        folder.path(),
        &["pack", "two.imzML", "-o", "two.sectile", "--json"],
    );
    let counts = &ran.event("done")["counts"];
    assert_eq!(
        (&counts["duplicate_pixels"], &counts["unsorted_spectra"]),
        (&json!(1), &json!(2))
    );
    let warned = ran.events();
    let warned = warned.iter().filter(|event| event["event"] == "warning");
    let text: String = warned
        .map(|event| event["message"].as_str().unwrap())
        .collect();
    assert!(
        text.contains("position") && text.contains("sorted"),
        "{text}"
    );
    run_well(
        folder.path(),
        &["ion", "two.sectile", "--mz", "500", "-o", "two.csv"],
    );
    assert_eq!(
        image(&folder.path().join("two.csv")),
        BTreeMap::from([([3, 3], 3.0)])
    );
}
