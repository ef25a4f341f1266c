//! What comes of an annotation: the images file, pictures out of it, `info`, `clean`, and `ion` by formula.

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

mod annotations;
mod pairs;
mod program;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use annotations::{finished, planted, results, scene};
use pairs::array;
use program::{SlowServer, names, run, run_well, text};
use serde_json::{Value, json};

/// A finished annotation of the tissue, in `r`.
fn annotated() -> &'static Path {
    static OUT: OnceLock<tempfile::TempDir> = OnceLock::new();
    OUT.get_or_init(|| {
        let out = tempfile::tempdir().unwrap();
        let (store, list) = (&scene().store, scene().small_list());
        let words = [
            "annotate",
            text(store),
            "--molecules",
            text(&list),
            "-o",
            "r",
        ];
        run_well(out.path(), &words);
        out
    })
    .path()
}

/// Grey and alpha of a picture.
fn picture(path: &Path) -> (u32, u32, Vec<[u16; 2]>) {
    let file = std::io::BufReader::new(fs::File::open(path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    assert_eq!(info.color_type, png::ColorType::GrayscaleAlpha);
    assert_eq!(info.bit_depth, png::BitDepth::Sixteen);
    let pixels = bytes.as_chunks::<4>().0.iter();
    let pixels = pixels.map(|p| {
        [
            u16::from_be_bytes([p[0], p[1]]),
            u16::from_be_bytes([p[2], p[3]]),
        ]
    });
    (info.width, info.height, pixels.collect())
}

#[test]
fn pictures_are_the_ion_images_of_the_store() {
    let out = annotated();
    let ran = run_well(
        out,
        &[
            "images",
            "r",
            "--formula",
            "C42H82NO8P",
            "--adduct",
            "+K",
            "--isotope",
            "1",
            "-o",
            "one.png",
            "--json",
        ],
    );
    let told = ran.event("image");
    let mz = told["mz"].as_f64().unwrap().to_string();
    run_well(
        out,
        &["ion", text(&scene().store), "--mz", &mz, "-o", "one.npy"],
    );
    let (shape, values) = array(&out.join("one.npy"));
    let (width, height, pixels) = picture(&out.join("one.png"));
    assert_eq!(shape, [height as usize, width as usize]);
    let [min, max] = ["min", "max"].map(|key| told[key].as_f64().unwrap());
    let greatest = values
        .iter()
        .filter(|v| !v.is_nan())
        .fold(0.0_f32, |a, b| a.max(*b));
    assert_eq!((min, max), (0.0, f64::from(greatest)));
    for (value, [grey, alpha]) in values.iter().zip(&pixels) {
        assert_eq!(*alpha, if value.is_nan() { 0 } else { u16::MAX });
        if !value.is_nan() {
            let back = min + f64::from(*grey) / 65535.0 * (max - min);
            assert!(
                (back - f64::from(*value)).abs() <= max / 65535.0 * 1.01,
                "{back} {value}"
            );
        }
    }
}

#[test]
fn a_folder_gets_one_picture_an_image_and_the_rate_decides() {
    let out = annotated();
    let rows = results(&out.join("r/results.csv"));
    for (fdr, isotope) in [("0.1", "0"), ("0.5", "0"), ("0.1", "all")] {
        let folder = format!("p-{fdr}-{isotope}");
        let words = [
            "images",
            "r",
            "--fdr",
            fdr,
            "--isotope",
            isotope,
            "-o",
            &folder,
            "--json",
        ];
        let ran = run_well(out, &words);
        let wanted: BTreeSet<String> = rows
            .iter()
            .filter(|row| row.fdr <= fdr.parse().unwrap())
            .map(|row| format!("{}{}.png", row.formula, row.adduct))
            .collect();
        let there: BTreeSet<String> = names(&out.join(&folder)).into_iter().collect();
        assert!(wanted.len() > 40, "{}", wanted.len());
        if isotope == "0" {
            assert_eq!(there, wanted);
        } else {
            assert!(there.len() > 3 * wanted.len(), "{}", there.len());
            assert!(there.contains("C42H82NO8P+K_3.png"), "{there:?}");
        }
        assert_eq!(ran.event("done")["images"], there.len());
    }
}

#[test]
fn over_http_one_image_is_two_requests() {
    let out = annotated();
    let server = SlowServer::start(out, Duration::ZERO);
    let url = server.url("r/images.sectile-images");
    let words = [
        "--formula",
        "C6H12O6",
        "--adduct",
        "+Na",
        "-o",
        "h.png",
        "--json",
    ];
    let ran = run_well(out, &[&["images", &url][..], &words].concat());
    assert_eq!(server.requests(), 2, "the index, and the image");
    assert_eq!(ran.event("done")["requests"], 2);
    run_well(
        out,
        &[
            "images",
            "r",
            "--formula",
            "O6C6H12",
            "--adduct",
            "+Na",
            "-o",
            "l.png",
        ],
    );
    assert!(fs::read(out.join("h.png")).unwrap() == fs::read(out.join("l.png")).unwrap());
    let before = server.requests();
    run_well(out, &["images", &url, "-o", "all"]);
    assert!(server.requests() - before < 20, "neighbours share requests");
}

#[test]
fn what_is_not_there_is_told_by_what_is() {
    let out = annotated();
    for (words, code, said) in [
        (
            &["--formula", "C6H12O6", "--adduct", "+Li"][..],
            3,
            &["+Na", "FDR"][..],
        ),
        (&["--formula", "C99H12O6"], 3, &["no image of C99H12O6"]),
        (&["--formula", "Xy"], 2, &["--formula", "Xy"]),
        (&["--adduct", "+H"], 2, &["--formula"]),
        (&["--fdr", "2"], 2, &["0.1"]),
        (&["--isotope", "4"], 2, &["all"]),
        (&[], 2, &["name a folder"]),
    ] {
        let ran = run(out, &[&["images", "r", "-o", "x.png"][..], words].concat());
        assert_eq!(ran.code, Some(code), "{words:?}: {ran:?}");
        for word in said {
            assert!(
                ran.stderr.contains(word),
                "{words:?}: {word:?} in {}",
                ran.stderr
            );
        }
        assert!(!out.join("x.png").exists());
    }
    let empty = tempfile::tempdir().unwrap();
    let ran = run(empty.path(), &["images", ".", "-o", "x.png"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stderr.contains("images.sectile-images"), "{ran:?}");
}

#[test]
fn a_damaged_images_file_is_refused() {
    let out = annotated();
    let folder = tempfile::tempdir().unwrap();
    let whole = fs::read(out.join("r/images.sectile-images")).unwrap();
    for (at, word) in [
        (0, "byte 0"),
        (8, "version"),
        (200, "SHA-256"),
        (whole.len() - 5, "CRC-32"),
    ] {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x40;
        fs::write(folder.path().join("d.sectile-images"), bytes).unwrap();
        let ran = run(
            folder.path(),
            &["images", "d.sectile-images", "--isotope", "all", "-o", "p"],
        );
        assert_eq!(ran.code, Some(3), "{at}: {ran:?}");
        assert!(ran.stderr.contains(word), "{at}: {}", ran.stderr);
    }
    fs::write(
        folder.path().join("d.sectile-images"),
        &whole[..whole.len() - 1],
    )
    .unwrap();
    let ran = run(folder.path(), &["images", "d.sectile-images", "-o", "p"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
}

#[test]
fn losses_are_looked_for_with_each_adduct_and_none() {
    let out = tempfile::tempdir().unwrap();
    let (store, list) = (&scene().store, scene().small_list());
    let words = [
        "annotate",
        text(store),
        "--molecules",
        text(&list),
        "--decoys",
        "2",
        "--adducts",
        "+H",
        "--adducts",
        "[M]+",
        "--neutral-losses",
        "-H2O,-NH3",
        "-o",
        "r",
        "--json",
    ];
    let ran = run_well(out.path(), &words);
    let plan = ran.event("plan");
    assert_eq!(plan["adducts"], json!(["+H", "[M]+"]));
    assert_eq!(plan["neutral_losses"], json!(["-H2O", "-NH3"]));
    let summary = fs::read_to_string(out.path().join("r/annotations.json")).unwrap();
    let summary: Value = serde_json::from_str(&summary).unwrap();
    assert_eq!(
        summary["options"]["adducts"],
        json!(["+H", "[M]+", "-H2O+H", "-H2O[M]+", "-NH3+H", "-NH3[M]+"])
    );
    run_well(out.path(), &["images", "r", "-o", "p"]);
    let there = names(&out.path().join("p"));
    let rows = results(&out.path().join("r/results.csv"));
    assert_eq!(there.len(), rows.len());
    assert!(there.contains(&"C42H82NO8P+H.png".to_owned()), "{there:?}");
}

#[test]
fn images_can_be_left_out() {
    let out = tempfile::tempdir().unwrap();
    let (store, list) = (&scene().store, scene().small_list());
    let annotate = |folder: &str, images: &str| {
        let words = [
            "annotate",
            text(store),
            "--molecules",
            text(&list),
            "--decoys",
            "2",
            "-o",
            folder,
            "--images",
            images,
        ];
        run_well(out.path(), &words);
    };
    let mut tables = Vec::new();
    for images in ["all", "first", "none"] {
        annotate(images, images);
        tables.push(fs::read(out.path().join(images).join("results.csv")).unwrap());
    }
    assert!(
        tables[0] == tables[1] && tables[0] == tables[2],
        "scores do not depend on it"
    );
    let size = |images: &str| {
        let file = out.path().join(images).join("images.sectile-images");
        file.metadata().map_or(0, |metadata| metadata.len())
    };
    assert!(size("all") > 2 * size("first") && size("first") > 0 && size("none") == 0);
    // Images of another run must not stay beside results that have none.
    annotate("all", "none");
    assert_eq!(
        names(&out.path().join("all")),
        ["annotations.json", "results.csv"]
    );
}

#[test]
fn info_tells_results_and_images() {
    let out = annotated();
    let folder = run_well(out, &["info", "r", "--json"]).event("source");
    let file = run_well(out, &["info", "r/images.sectile-images", "--json"]).event("source");
    let rows = results(&out.join("r/results.csv"));
    assert_eq!(file["ions"], rows.len());
    assert_eq!((&file["width"], &file["height"]), (&json!(60), &json!(45)));
    let at_ten = rows.iter().filter(|row| row.fdr <= 0.1).count();
    assert_eq!(file["levels"][1]["ions"], at_ten);
    assert_eq!(folder["kind"], "annotations");
    let ran = run_well(out, &["info", "r", "r/images.sectile-images"]);
    assert!(
        ran.stdout.contains("annotations") && ran.stdout.contains("60×45"),
        "{}",
        ran.stdout
    );
}

#[test]
fn the_summary_says_what_it_was_made_of() {
    let out = annotated();
    let text = fs::read_to_string(out.join("r/annotations.json")).unwrap();
    let summary: Value = serde_json::from_str(&text).unwrap();
    let said = summary.to_string();
    for word in [
        "metaspace-v3",
        "orbitrap",
        env!("CARGO_PKG_VERSION"),
        "tissue.sectile",
        "small.csv",
    ] {
        assert!(
            said.contains(word),
            "{word} in {}",
            &said[..said.len().min(2000)]
        );
    }
    assert!(
        !said.contains(scene().folder.path().to_str().unwrap()),
        "folders are nobody's business"
    );
}

#[test]
fn clean_removes_what_a_killed_run_left_and_nothing_else() {
    let scene = scene();
    let list = scene.small_list();
    let server = SlowServer::start(scene.folder.path(), Duration::from_millis(20));
    let url = server.url("tissue.sectile");
    let out = tempfile::tempdir().unwrap();
    let words = [
        "annotate",
        &url,
        "--molecules",
        text(&list),
        "-o",
        "r",
        "--shards",
        "30",
        "--in-flight",
        "1",
        "--workers",
        "1",
    ];
    let shards = out.path().join("r/annotations.sectile-shards");
    let start = || {
        let mut command = program::sectile();
        command.current_dir(out.path()).args(words);
        command
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null());
        let child = command.spawn().unwrap();
        program::wait_until("there is a shard", || {
            fs::read_dir(&shards).is_ok_and(|all| all.count() > 4)
        });
        child
    };
    let mut child = start();
    // In use: left alone, and no second run gets in.
    let busy = run_well(out.path(), &["clean", "r"]);
    assert!(busy.stderr.contains("another process"), "{busy:?}");
    let second = run(out.path(), &words);
    assert_eq!(second.code, Some(1), "{second:?}");
    assert!(second.stderr.contains("another process"), "{second:?}");
    child.kill().unwrap();
    child.wait().unwrap();
    fs::write(out.path().join("r/mine.txt"), "mine").unwrap();
    let listed = run_well(out.path(), &["clean", "r", "--dry-run"]);
    assert!(listed.stdout.contains("sectile-shards"), "{listed:?}");
    assert!(shards.exists());
    let cleaned = run_well(out.path(), &["clean", "r"]);
    assert_eq!(names(&out.path().join("r")), ["mine.txt"], "{cleaned:?}");
    let again = run_well(out.path(), &["clean", "r"]);
    assert_eq!(again.stdout, "");
}

#[test]
fn ion_draws_the_isotope_peaks_of_a_formula() {
    let folder = tempfile::tempdir().unwrap();
    let store = text(&scene().store);
    let words = ["ion", store, "--formula", "C42H82NO8P", "--adduct", "+K"];
    let ran = run_well(
        folder.path(),
        &[&words[..], &["--isotope", "all", "-o", "k.npy", "--json"]].concat(),
    );
    let pattern = ran.event("pattern");
    assert_eq!(pattern["ion"], "C42H82NO8P+K");
    assert_eq!(pattern["charge"], 1);
    let (shape, all) = array(&folder.path().join("k.npy"));
    assert_eq!(shape, [4, 45, 60]);
    let mz: Vec<f64> = pattern["mz"]
        .as_array()
        .unwrap()
        .iter()
        .map(|mz| mz.as_f64().unwrap())
        .collect();
    let truth = planted(scene());
    let truth = truth
        .iter()
        .find(|ion| ion.formula == "C42H82NO8P" && ion.adduct == "+K")
        .unwrap();
    assert!((mz[0] / truth.mz - 1.0).abs() < 1e-6, "{mz:?} {truth:?}");
    // The first peak by default, and the same as by its m/z.
    run_well(folder.path(), &[&words[..], &["-o", "f.npy"]].concat());
    let first = mz[0].to_string();
    run_well(
        folder.path(),
        &["ion", store, "--mz", &first, "-o", "m.npy"],
    );
    assert!(
        fs::read(folder.path().join("f.npy")).unwrap()
            == fs::read(folder.path().join("m.npy")).unwrap()
    );
    let (_, one) = array(&folder.path().join("f.npy"));
    let same = one
        .iter()
        .zip(&all)
        .all(|(a, b)| a.to_bits() == b.to_bits());
    assert!(same);
    let sum: f64 = one
        .iter()
        .filter(|v| !v.is_nan())
        .map(|v| f64::from(*v))
        .sum();
    assert!(sum > 0.0);
    // Beside an m/z that was typed, and planned.
    run_well(
        folder.path(),
        &[&words[..], &["--mz", "500.5", "-o", "{mz}.png"]].concat(),
    );
    assert!(folder.path().join("500.5.png").exists());
    assert_eq!(
        names(folder.path())
            .iter()
            .filter(|name| name.contains(".png"))
            .count(),
        2
    );
    let plan = run_well(
        folder.path(),
        &[
            "plan",
            "ion",
            store,
            "--formula",
            "C6H12O6",
            "--isotope",
            "all",
            "--json",
        ],
    );
    assert_eq!(plan.event("plan")["images"], 4);
    assert_eq!(plan.event("pattern")["adduct"], "+H");
}

#[test]
fn ion_refuses_formulas_that_are_none() {
    let folder = tempfile::tempdir().unwrap();
    let store = text(&scene().store);
    for (words, code, said) in [
        (&["--formula", "C6Q"][..], 2, "--formula"),
        (&["--formula", "C6H12O6", "--adduct", "H"], 2, "--adduct"),
        (
            &["--formula", "C6H12O6", "--adduct", "-Na"],
            3,
            "takes away more",
        ),
        (&["--adduct", "+H"], 2, "--formula"),
        (&["--mz", "500", "--isotope", "1"], 2, "--formula"),
        (&[], 2, "--mz"),
    ] {
        let ran = run(
            folder.path(),
            &[&["ion", store, "-o", "x.npy"][..], words].concat(),
        );
        assert_eq!(ran.code, Some(code), "{words:?}: {ran:?}");
        assert!(ran.stderr.contains(said), "{words:?}: {}", ran.stderr);
        assert!(names(folder.path()).is_empty());
    }
    assert!(finished(folder.path()).is_empty());
}
