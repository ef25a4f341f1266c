//! Masks on the command line: what is left out, what is said of it, and what is refused.

#![cfg(all(feature = "cli", unix))]
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
use std::process::Stdio;
use std::time::Duration;

use program::{SlowServer, floats, pixels, run, run_well, sectile, signal, stack, wait_until};
use serde_json::json;

const EXPOSURES: usize = 5;
const SIZE: usize = 96;

/// The flag of a pixel: 0, bit 0 (do not use), bit 2 (a jump), both, or a high bit alone.
fn flag(exposure: usize, at: usize) -> u32 {
    match (at * 7 + exposure * 13) % 23 {
        0 => 1,
        1 | 2 => 4,
        3 => 5,
        4 => 1 << 30,
        _ => 0,
    }
}

/// Behind the bytes of a file an extension of `SIZE`² pixels.
fn append(path: &Path, name: &str, (bitpix, bzero): (i32, u32), pixels: &[u8], width: usize) {
    let height = pixels.len() / width / (bitpix.unsigned_abs() as usize / 8);
    let cards = [
        "XTENSION= 'IMAGE   '".to_owned(),
        format!("BITPIX  = {bitpix:20}"),
        "NAXIS   =                    2".to_owned(),
        format!("NAXIS1  = {width:20}"),
        format!("NAXIS2  = {height:20}"),
        "PCOUNT  =                    0".to_owned(),
        "GCOUNT  =                    1".to_owned(),
        format!("BZERO   = {bzero:20}"),
        format!("EXTNAME = '{name:8}'"),
        "END".to_owned(),
    ];
    let mut bytes = fs::read(path).unwrap();
    for card in cards {
        bytes.extend(format!("{card:80}").bytes());
    }
    bytes.resize(bytes.len().next_multiple_of(2880), b' ');
    bytes.extend(pixels);
    bytes.resize(bytes.len().next_multiple_of(2880), 0);
    fs::write(path, bytes).unwrap();
}

fn name(exposure: usize) -> String {
    format!("exposure_{:02}.fits", exposure + 1)
}

/// A demo stack whose exposures have a DQ of unsigned 32-bit flags, and a weight of 0 where bit 0 is set.
fn flagged() -> tempfile::TempDir {
    let folder = stack(
        u32::try_from(EXPOSURES).unwrap(),
        u32::try_from(SIZE).unwrap(),
    );
    for exposure in 0..EXPOSURES {
        let path = folder.path().join(name(exposure));
        let flags = (0..SIZE * SIZE).map(|at| flag(exposure, at));
        let weights = flags
            .clone()
            .map(|flag| if flag & 1 == 1 { 0.0_f32 } else { 0.5 });
        let flags: Vec<u8> = flags
            .flat_map(|flag| (flag ^ 1 << 31).to_be_bytes())
            .collect();
        append(&path, "DQ", (32, 1 << 31), &flags, SIZE);
        let weights: Vec<u8> = weights.flat_map(f32::to_be_bytes).collect();
        append(&path, "WHT", (-32, 0), &weights, SIZE);
    }
    folder
}

/// The same exposures with NaN in the place of what flags leave out.
fn blanked(folder: &Path, left_out: impl Fn(u32) -> bool) -> tempfile::TempDir {
    let other = tempfile::tempdir().unwrap();
    for exposure in 0..EXPOSURES {
        let path = folder.join(name(exposure));
        let source = run_well(folder, &["info", "--json", &name(exposure)]).event("source");
        let data_at = source["hdus"][1]["data_at"].as_u64().unwrap();
        let mut bytes = fs::read(path).unwrap();
        for at in (0..SIZE * SIZE).filter(|at| left_out(flag(exposure, *at))) {
            let from = usize::try_from(data_at).unwrap() + at * 4;
            bytes[from..from + 4].copy_from_slice(&f32::NAN.to_be_bytes());
        }
        fs::write(other.path().join(name(exposure)), bytes).unwrap();
    }
    fs::copy(
        folder.join("exposures.txt"),
        other.path().join("exposures.txt"),
    )
    .unwrap();
    other
}

fn median<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [
        &["median", "exposures.txt", "-o", "out.fits", "--json"],
        more,
    ]
    .concat()
}

/// Cards of the primary header that begin so.
fn cards(file: &Path, begin: &str) -> Vec<String> {
    let bytes = fs::read(file).unwrap();
    let cards = bytes
        .chunks(80)
        .map(|card| String::from_utf8_lossy(card).into_owned());
    let header = cards.take_while(|card| !card.starts_with("END "));
    header.filter(|card| card.starts_with(begin)).collect()
}

/// Whether a flag leaves its pixel out.
type LeftOut = Box<dyn Fn(u32) -> bool>;

#[test]
fn what_a_mask_leaves_out_is_as_if_it_were_nan() {
    let folder = flagged();
    let bit = |bits: u32| move |flag: u32| flag & bits != 0;
    let cases: [(&[&str], LeftOut, &str); 5] = [
        (
            &["--mask", "DQ"],
            Box::new(bit(1)),
            "HDU 2 (DQ,1), has one of the bits 1",
        ),
        (
            &["--mask", "2", "--mask-bits", "1+4"],
            Box::new(bit(5)),
            "has one of the bits 5",
        ),
        (
            &["--mask", "dq", "--mask-bits", "0x40000000"],
            Box::new(bit(1 << 30)),
            "bits 1073741824",
        ),
        (
            &["--mask", "DQ", "--mask-bits", "any"],
            Box::new(|flag| flag != 0),
            "(DQ,1), is not 0",
        ),
        (
            &["--mask", "WHT", "--mask-bits", "zero"],
            Box::new(bit(1)),
            "HDU 3 (WHT,1), is not above 0",
        ),
    ];
    for (mask, left_out, says) in cases {
        // A budget of many sections, and parts of rows.
        let small = [mask, &["--memory", "1100KiB", "--in-flight", "2"]].concat();
        for more in [
            mask,
            &small,
            &[mask, &["--rect", "3,5,90,71"]].concat(),
            &[mask, &["--preview", "3"]].concat(),
        ] {
            let wanted = blanked(folder.path(), &left_out);
            let bare = more.strip_prefix(mask).unwrap();
            run_well(wanted.path(), &median(bare));
            run_well(folder.path(), &median(more));
            let (got, wanted) = (
                folder.path().join("out.fits"),
                wanted.path().join("out.fits"),
            );
            for hdu in [0, 1] {
                assert!(
                    pixels(&got, hdu) == pixels(&wanted, hdu),
                    "{more:?}, HDU {hdu}"
                );
            }
            let history = cards(&got, "HISTORY").join("");
            let words: Vec<&str> = history
                .split_whitespace()
                .filter(|word| *word != "HISTORY")
                .collect();
            assert!(words.join(" ").contains(says), "{history}");
            assert!(!cards(&wanted, "HISTORY").join("").contains("left out"));
            assert!(
                floats(&pixels(&got, 0))
                    .iter()
                    .any(|value| value.is_finite())
            );
        }
    }
}

#[test]
fn the_plan_counts_masks_and_says_what_they_leave_out() {
    let folder = flagged();
    let plan = |more: &[&str]| {
        let arguments = [&["plan", "median", "exposures.txt", "--json"], more].concat();
        run_well(folder.path(), &arguments).event("plan")
    };
    let (bare, masked) = (plan(&[]), plan(&["--mask", "DQ", "--mask-bits", "any"]));
    assert_eq!([&bare["masks"], &masked["masks"]], [&json!(0), &json!(5)]);
    assert_eq!(
        [&bare["requests"], &masked["requests"]],
        [&json!(5), &json!(10)]
    );
    let payload = |plan: &serde_json::Value| plan["payload_bytes"].as_u64().unwrap();
    assert_eq!(payload(&masked), 2 * payload(&bare));
    assert!(bare["left_out"].is_null());
    assert!(
        masked["left_out"]
            .as_str()
            .unwrap()
            .contains("HDU 2 (DQ,1), is not 0")
    );

    let people = run_well(
        folder.path(),
        &["plan", "median", "exposures.txt", "--mask", "DQ"],
    );
    for words in [
        "mask       left out: pixels whose mask, HDU 2 (DQ,1), has one of the bits 1",
        "requests   10, one a section and exposure, and mask",
    ] {
        assert!(people.stdout.contains(words), "{}", people.stdout);
    }
    let done = run_well(folder.path(), &median(&["--mask", "DQ"])).event("done");
    assert_eq!(done["bytes_payload"].as_u64().unwrap(), payload(&masked));
}

#[test]
fn info_tells_what_can_be_a_mask() {
    let folder = flagged();
    let people = run_well(folder.path(), &["info", "exposure_01.fits"]).stdout;
    for words in [
        "mask: HDU 2 tells which pixels to leave out (--mask DQ)",
        "mask: HDU 3 tells which pixels to leave out (--mask WHT --mask-bits zero)",
    ] {
        assert!(people.contains(words), "{people}");
    }
    let truth = run_well(folder.path(), &["info", "truth.fits"]).stdout;
    assert!(!truth.contains("mask: HDU"), "{truth}");
}

#[test]
fn what_is_no_mask_is_refused_with_file_and_hdu() {
    let bare = stack(3, 64);
    let refused = |folder: &Path, more: &[&str], code: i32, words: &[&str]| {
        let ran = run(
            folder,
            &[&["median", "exposures.txt", "-o", "out.fits"], more].concat(),
        );
        assert_eq!(ran.code, Some(code), "{more:?}: {ran:?}");
        for word in words {
            assert!(ran.stderr.contains(word), "{word} in {}", ran.stderr);
        }
        assert!(!folder.join("out.fits").exists());
    };
    let flags = vec![0_u8; 64 * 64];
    for exposure in [0, 1] {
        append(&bare.path().join(name(exposure)), "DQ", (8, 0), &flags, 64);
    }
    let mask = ["--mask", "DQ"];
    let missing = [
        "exposure_03.fits",
        "the mask, HDU DQ,1, was not found",
        "1 SCI,1",
    ];
    refused(bare.path(), &mask, 3, &missing);

    let third = bare.path().join(name(2));
    let as_it_was = fs::read(&third).unwrap();
    append(&third, "DQ", (8, 0), &flags[..64 * 63], 64);
    refused(
        bare.path(),
        &mask,
        3,
        &["exposure_03.fits", "HDU 2 (DQ,1)", "64×63", "64×64"],
    );

    fs::write(&third, &as_it_was).unwrap();
    append(&third, "DQ", (-32, 0), &[0; 64 * 64 * 4], 64);
    let whole = [
        "exposure_03.fits",
        "HDU 2 (DQ,1)",
        "BITPIX = -32",
        "flags are whole numbers",
    ];
    refused(bare.path(), &mask, 3, &whole);

    let wide = ["exposure_01.fits", "256", "8 bits a pixel"];
    refused(
        bare.path(),
        &["--mask", "DQ", "--mask-bits", "256"],
        3,
        &wide,
    );
    refused(
        bare.path(),
        &["--mask", "SCI"],
        3,
        &["exposure_01.fits", "image and mask at once"],
    );
    refused(
        bare.path(),
        &["--mask", "DQ", "--mask-bits", "0"],
        2,
        &["leaves nothing out"],
    );
    refused(
        bare.path(),
        &["--mask", "DQ", "--mask-bits", "bad"],
        2,
        &["no set of bits"],
    );
    refused(bare.path(), &["--mask-bits", "1"], 2, &["--mask"]);
}

#[test]
fn a_killed_run_goes_on_with_the_same_mask_only() {
    let folder = flagged();
    let server = SlowServer::start(folder.path(), Duration::ZERO);
    let urls: Vec<String> = (0..EXPOSURES)
        .map(|exposure| server.url(&name(exposure)))
        .collect();
    let work = tempfile::tempdir().unwrap();
    let arguments = |bits: &'static str, memory: &'static str| {
        let mut arguments = vec!["median", "-o", "out.fits", "--json", "--memory", memory];
        arguments.extend(["--in-flight", "1", "--mask", "DQ", "--mask-bits", bits]);
        arguments.extend(urls.iter().map(String::as_str));
        arguments
    };
    let killed = || {
        server.set_delay(Duration::from_millis(30));
        let mut command = sectile();
        command
            .current_dir(work.path())
            .args(arguments("5", "950KiB"));
        let child = command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let journal = work.path().join("out.fits.sectile-journal");
        wait_until("rows are in the journal", || {
            fs::read_to_string(&journal).is_ok_and(|text| text.lines().count() > 2)
        });
        signal(&child, "KILL");
        child.wait_with_output().unwrap();
        server.set_delay(Duration::ZERO);
    };
    let whole = run_well(work.path(), &arguments("5", "64MiB")).event("done");
    let bytes = fs::read(work.path().join("out.fits")).unwrap();
    killed();
    let rest = run_well(work.path(), &arguments("5", "64MiB")).event("done");
    assert!(rest["bytes_payload"].as_u64() < whole["bytes_payload"].as_u64());
    assert!(fs::read(work.path().join("out.fits")).unwrap() == bytes);
    killed();
    let other = run_well(work.path(), &arguments("1", "64MiB"));
    let warning = other.event("warning")["message"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(warning.contains("mask"), "{warning}");
    assert_eq!(other.event("done")["bytes_payload"], whole["bytes_payload"]);
    assert!(fs::read(work.path().join("out.fits")).unwrap() != bytes);
}

#[test]
fn shards_leave_out_the_same_and_belong_to_their_mask() {
    let folder = flagged();
    let masked = ["--mask", "DQ", "--mask-bits", "5"];
    run_well(folder.path(), &median(&masked));
    let whole = fs::read(folder.path().join("out.fits")).unwrap();
    fs::remove_file(folder.path().join("out.fits")).unwrap();
    for shard in ["1/3", "3/3", "2/3"] {
        run_well(
            folder.path(),
            &median(&[&masked[..], &["--shard", shard]].concat()),
        );
    }
    run_well(folder.path(), &["assemble", "out.fits"]);
    assert!(fs::read(folder.path().join("out.fits")).unwrap() == whole);

    // A shard of another mask is no part of what others have begun.
    fs::remove_file(folder.path().join("out.fits")).unwrap();
    run_well(
        folder.path(),
        &median(&[&masked[..], &["--shard", "1/2"]].concat()),
    );
    let other = ["median", "exposures.txt", "-o", "out.fits"];
    let other = [&other[..], &["--mask", "DQ", "--shard", "2/2"]].concat();
    let ran = run(folder.path(), &other);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stderr.contains("another job"), "{}", ran.stderr);
}

#[test]
fn real_weights_leave_out_what_has_none() {
    let shared = std::env::var_os("SECTILE_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"),
        Into::into,
    );
    let data = shared.join("data/fits");
    let names: Vec<String> = (1..=5)
        .map(|at| format!("derived__m13_{at}_outlier_i2d.fits"))
        .collect();
    if !names.iter().all(|name| data.join(name).exists()) {
        println!("skipped: no drizzled exposures (SECTILE_SHARED)");
        return;
    }
    let out = tempfile::tempdir().unwrap();
    let files: Vec<String> = names
        .iter()
        .map(|name| data.join(name).to_str().unwrap().to_owned())
        .collect();
    let mut arguments = vec![
        "median",
        "-o",
        "out.fits",
        "--mask",
        "WHT",
        "--mask-bits",
        "zero",
    ];
    arguments.extend(files.iter().map(String::as_str));
    run_well(out.path(), &arguments);
    let of = |file: &Path, hdu: &str| {
        let folder = file.parent().unwrap();
        let name = file.file_name().unwrap().to_str().unwrap();
        let source = run_well(folder, &["info", "--json", name]).event("source");
        let hdus = source["hdus"].as_array().unwrap();
        floats(&pixels(
            file,
            hdus.iter().position(|one| one["name"] == hdu).unwrap(),
        ))
    };
    let planes: Vec<_> = names
        .iter()
        .map(|name| (of(&data.join(name), "SCI"), of(&data.join(name), "WHT")))
        .collect();
    let median = floats(&pixels(&out.path().join("out.fits"), 0));
    let mut without_weight = 0;
    for (at, median) in median.iter().enumerate() {
        let mut values = Vec::new();
        for (science, weight) in &planes {
            without_weight += usize::from(!science[at].is_nan() && weight[at] <= 0.0);
            if weight[at] > 0.0 && !science[at].is_nan() {
                values.push(science[at]);
            }
        }
        values.sort_by(f32::total_cmp);
        let half = values.len() / 2;
        let wanted = match values.len() {
            0 => f32::NAN,
            n if n % 2 == 1 => values[half],
            _ => (values[half - 1] + values[half]) * 0.5,
        };
        assert!(median.to_bits() == (wanted + 0.0).to_bits(), "pixel {at}");
    }
    println!("{without_weight} values without weight");
}
