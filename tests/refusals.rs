//! Bad input: a clear error, the right exit code, nothing under the final name.

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
use std::process::Command;
use std::time::Duration;

use program::{Ran, SlowServer, names, run, stack};

/// A run that must be refused as bad input, with these words in its error and nothing written.
fn refused(folder: &Path, exposures: &[&str], words: &[&str]) -> Ran {
    let before = names(folder);
    let arguments = [&["median", "-o", "out.fits", "--json"], exposures].concat();
    let ran = run(folder, &arguments);
    assert_eq!(ran.code, Some(3), "{exposures:?}: {ran:?}");
    let error = ran.event("error");
    let message = error["message"].as_str().unwrap();
    for word in words {
        assert!(message.contains(word), "{word:?} in {message:?}");
    }
    assert_eq!(ran.events().last(), Some(&error));
    assert!(ran.stderr.contains("error: "), "{}", ran.stderr);
    assert_eq!(names(folder), before, "{exposures:?} left something");
    ran
}

fn header(cards: &[&str]) -> Vec<u8> {
    let mut bytes: Vec<u8> = cards
        .iter()
        .flat_map(|card| format!("{card:80}").into_bytes())
        .collect();
    bytes.resize(bytes.len().next_multiple_of(2880), b' ');
    bytes
}

#[test]
fn files_that_are_no_images() {
    let folder = stack(2, 64);
    let put = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    let whole = fs::read(folder.path().join("exposure_01.fits")).unwrap();
    put(
        "page.fits",
        b"<!DOCTYPE html><html><body>not found</body></html>",
    );
    put("short.fits", &whole[..whole.len() / 2]);
    put(
        "noend.fits",
        &header(&[
            "SIMPLE  =                    T",
            "BITPIX  =                    8",
            "NAXIS   =                    0",
        ]),
    );
    put(
        "absurd.fits",
        &header(&[
            "SIMPLE  =                    T",
            "BITPIX  =                  -32",
            "NAXIS   =                    2",
            "NAXIS1  =  9223372036854775807",
            "NAXIS2  =  9223372036854775807",
            "END",
        ]),
    );
    put(
        "many.fits",
        &header(&[
            "SIMPLE  =                    T",
            "BITPIX  =                    8",
            "NAXIS   =                 1234",
            "END",
        ]),
    );
    put("empty.fits", b"");
    put("random.fits", &whole[5760..9000]);
    for (name, word) in [
        ("page.fits", "page"),
        ("short.fits", "truncated"),
        ("noend.fits", "END"),
        ("absurd.fits", "axes"),
        ("many.fits", "NAXIS"),
        ("empty.fits", ""),
        ("random.fits", ""),
        ("absent.fits", "no such file"),
        (".", "folder"),
    ] {
        refused(folder.path(), &["exposure_01.fits", name], &[name, word]);
    }
    let error = refused(folder.path(), &["short.fits"], &[]).event("error");
    assert!(error["at"].is_u64(), "{error}");
}

#[test]
fn exposures_that_do_not_belong_together() {
    let (folder, other) = (stack(1, 64), stack(1, 80));
    fs::copy(
        other.path().join("exposure_01.fits"),
        folder.path().join("wide.fits"),
    )
    .unwrap();
    refused(
        folder.path(),
        &["exposure_01.fits", "wide.fits"],
        &["wide.fits", "80×80", "64×64"],
    );

    let mut shifted = fs::read(folder.path().join("exposure_01.fits")).unwrap();
    let card = b"CRVAL1  =             150.1125";
    let at = shifted
        .windows(card.len())
        .position(|window| window == card)
        .unwrap();
    shifted[at..at + card.len()].copy_from_slice(b"CRVAL1  =             150.1127");
    fs::write(folder.path().join("shifted.fits"), shifted).unwrap();
    refused(
        folder.path(),
        &["exposure_01.fits", "shifted.fits"],
        &["shifted.fits", "pixels", "--ignore-wcs"],
    );
    let ran = run(
        folder.path(),
        &[
            "median",
            "exposure_01.fits",
            "shifted.fits",
            "--ignore-wcs",
            "-o",
            "m.fits",
        ],
    );
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(
        ran.stderr.contains("warning: shifted.fits"),
        "{}",
        ran.stderr
    );
}

#[test]
fn lists_without_exposures() {
    let folder = stack(1, 64);
    fs::write(folder.path().join("none.txt"), "# nothing\n\n").unwrap();
    fs::write(
        folder.path().join("none_asn.json"),
        r#"{"products":[{"name":"p","members":[]}]}"#,
    )
    .unwrap();
    fs::write(folder.path().join("broken_asn.json"), "{\"products\":").unwrap();
    refused(folder.path(), &["none.txt"], &["none.txt", "names no file"]);
    refused(folder.path(), &["none_asn.json"], &["none_asn.json"]);
    refused(folder.path(), &["broken_asn.json"], &["broken_asn.json"]);
}

#[test]
fn addresses_without_files() {
    let folder = stack(1, 64);
    let server = SlowServer::start(folder.path(), Duration::ZERO);
    refused(
        folder.path(),
        &[&server.url("absent.fits")],
        &["absent.fits", "404"],
    );
    refused(
        folder.path(),
        &[&server.url("403/exposure_01.fits")],
        &["403"],
    );
    refused(folder.path(), &["ftp://example.org/a.fits"], &["ftp"]);
}

#[test]
fn budgets_that_are_no_sizes_and_parts_that_are_not_there() {
    let folder = stack(1, 64);
    for memory in ["lots", "-1", "0", "12QiB", "nan", ""] {
        refused(
            folder.path(),
            &["exposure_01.fits", &format!("--memory={memory}")],
            &["--memory"],
        );
    }
    refused(
        folder.path(),
        &["exposure_01.fits", "--rect", "0,0,65,64"],
        &["--rect", "64×64"],
    );
    refused(
        folder.path(),
        &["exposure_01.fits", "--hdu", "ERR"],
        &["ERR", "SCI"],
    );
    refused(folder.path(), &["exposure_01.fits", "--hdu", "7"], &["7"]);
    refused(
        folder.path(),
        &["exposure_01.fits", "--plane", "1"],
        &["plane"],
    );
}

#[test]
fn outputs_that_cannot_be_written() {
    let folder = stack(1, 64);
    fs::create_dir(folder.path().join("dir.fits")).unwrap();
    for (out, word) in [
        ("dir.fits", "folder"),
        ("absent/out.fits", "absent"),
        ("exposure_01.fits/out.fits", "exposure_01.fits"),
    ] {
        let ran = run(folder.path(), &["median", "exposure_01.fits", "-o", out]);
        assert_eq!(ran.code, Some(3), "{out}: {ran:?}");
        assert!(ran.stderr.contains(word), "{}", ran.stderr);
    }
}

#[cfg(unix)]
#[test]
fn files_without_permission() {
    use std::os::unix::fs::PermissionsExt;
    let folder = stack(1, 64);
    let file = folder.path().join("exposure_01.fits");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::File::open(&file).is_ok() {
        eprintln!("skipped: this user may read everything");
        return;
    }
    refused(
        folder.path(),
        &["exposure_01.fits"],
        &["exposure_01.fits", "permission"],
    );
}

/// A limit on file sizes stands in for a full disk: both stop a write in its middle.
#[cfg(unix)]
#[test]
fn no_space_left() {
    let folder = stack(1, 256);
    let script =
        "trap '' XFSZ; ulimit -f 100; exec \"$0\" median exposure_01.fits -o out.fits --json";
    let full: Ran = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_sectile")])
        .current_dir(folder.path())
        .output()
        .unwrap()
        .into();
    assert_eq!(full.code, Some(3), "{full:?}");
    assert_eq!(full.event("error")["code"], "space");
    assert!(!folder.path().join("out.fits").exists());
    let listed = run(folder.path(), &["clean", "--dry-run"]);
    for left in names(folder.path())
        .iter()
        .filter(|name| name.contains(".sectile-"))
    {
        assert!(
            listed.stdout.contains(left.as_str()),
            "{left} in {}",
            listed.stdout
        );
    }
    assert_eq!(
        run(
            folder.path(),
            &["median", "exposure_01.fits", "-o", "out.fits"]
        )
        .code,
        Some(0)
    );
    assert!(
        !names(folder.path())
            .iter()
            .any(|name| name.contains(".sectile-"))
    );
}

#[test]
fn command_lines_that_make_no_sense() {
    let folder = stack(1, 64);
    let server = SlowServer::start(folder.path(), Duration::ZERO);
    let url = server.url("exposure_01.fits");
    for arguments in [
        &[][..],
        &["median", &url],
        &["median", "-o", "out.fits"],
        &["median", &url, "-o", "out.tiff"],
        &["median", &url, "-o", "out"],
        &["median", &url, "-o", "-"],
        &["plan", "median", &url, "-o", "out.xyz"],
        &["median", &url, "-o", "out.fits", "--rect", "5,5,5,9"],
        &["median", &url, "-o", "out.fits", "--in-flight", "0"],
        &["median", &url, "-o", "out.fits", "--preview", "0"],
        &["median", &url, "-o", "out.fits", "--header", "no colon"],
        &["median", &url, "-o", "out.fits", "--plane", "-1"],
        &["frobnicate"],
    ] {
        let ran = run(folder.path(), arguments);
        assert_eq!(ran.code, Some(2), "{arguments:?}: {ran:?}");
        assert!(!ran.stderr.is_empty());
    }
    assert_eq!(
        server.requests(),
        0,
        "nothing is fetched for a line that makes no sense"
    );
    let ran = run(folder.path(), &["median", &url, "-o", "-", "--json"]);
    assert_eq!(ran.event("error")["code"], "usage");
    let ran = run(folder.path(), &["--json", "frobnicate"]);
    assert_eq!(
        (ran.code, ran.event("error")["exit"].as_i64()),
        (Some(2), Some(2))
    );
    assert_eq!(run(folder.path(), &["--help"]).code, Some(0));
    assert_eq!(run(folder.path(), &["--version"]).code, Some(0));
}
