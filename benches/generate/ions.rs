//! Writes a large imzML pair to measure with: centroids of thousands of ions, and noise between them.
//!
//! ```sh
//! cargo run --release --no-default-features --example generate_ions -- big.imzML --pixels 100x100 --peaks 2000 --mz f64
//! ```
//!
//! | option | default | |
//! |---|---|---|
//! | `--pixels WxH` | 100x100 | all of them acquired |
//! | `--peaks N` | 2000 | in each spectrum, exactly |
//! | `--mz f32` or `f64` | f64 | full precision either way |
//! | `--ions N` | 22000 | how many ions the 70 % of peaks that are not noise belong to |
//! | `--seed N` | 1 | |
//!
//! The set itself is described in `set.rs`. Prints one line of JSON.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    unreachable_pub,
    reason = "a tool for measuring may stop at once, and its numbers are small; modules are shared"
)]

use std::collections::BTreeMap;
use std::env;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

mod set;

use set::Set;

fn main() {
    let (set, path) = parse();
    let arrays = path.with_extension("ibd");
    let [mut ibd, mut imzml] = [&arrays, &path].map(|path| create(path));
    set.write(&mut ibd, &mut imzml).unwrap();
    for mut file in [ibd, imzml] {
        file.flush().unwrap();
    }
    let bytes = |path: &Path| std::fs::metadata(path).unwrap().len();
    println!(
        r#"{{"bench":"generate_ions","imzml":"{}","spectra":{},"peaks":{},"imzml_bytes":{},"ibd_bytes":{}}}"#,
        path.display(),
        set.pixels(),
        set.pixels() * set.peaks,
        bytes(&path),
        bytes(&arrays),
    );
}

/// What is to be made, and its imzML file's name.
fn parse() -> (Set, PathBuf) {
    let (mut named, mut path) = (BTreeMap::new(), None);
    let mut words = env::args().skip(1);
    while let Some(word) = words.next() {
        if let Some(name) = word.strip_prefix("--") {
            let value = words.next();
            let value = value.unwrap_or_else(|| panic!("--{name} needs a value"));
            named.insert(name.to_owned(), value);
        } else {
            path = Some(PathBuf::from(word));
        }
    }
    let mut take = |name: &str, default: &str| {
        let value = named.remove(name);
        value.unwrap_or_else(|| default.to_owned())
    };
    let size = take("pixels", "100x100");
    let (width, height) = size.split_once('x').unwrap_or((&size, ""));
    let set = Set {
        size: [number(width), number(height)],
        peaks: number(&take("peaks", "2000")),
        mz_bytes: match take("mz", "f64").as_str() {
            "f32" => 4,
            "f64" => 8,
            other => panic!("--mz is f32 or f64, not {other}"),
        },
        ions: number(&take("ions", "22000")),
        seed: number(&take("seed", "1")),
    };
    assert!(named.is_empty(), "unknown options: {named:?}");
    let path = path.unwrap_or_else(|| panic!("needs the name of the imzML file to write"));
    (set, path)
}

fn number<T: FromStr>(text: &str) -> T {
    text.parse()
        .unwrap_or_else(|_| panic!("{text} is not a number that fits here"))
}

fn create(path: &Path) -> BufWriter<File> {
    let file = File::create(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    BufWriter::with_capacity(1 << 20, file)
}
