//! Real pairs, where they are at hand, and made ones whose numbers are known.

use std::path::{Path, PathBuf};

use sectile::imzml::Dataset;
use sectile::imzml::checksum::{Check, digits};
use sectile::imzml::dataset::{Checksum, Compression, Number};
use sectile::imzml::ibd::Ibd;
use sectile::imzml::pair::{candidates, is_imzml};
use sectile::imzml::reader::Reader;
use sectile::imzml::spectrum::{check_intensity, check_mz};

use crate::text::{MEMORY, drive, peaks, read_in};

fn shared() -> PathBuf {
    std::env::var_os("SECTILE_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"),
        PathBuf::from,
    )
}

/// Every imzML below a folder.
fn below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            below(&path, found);
        } else if is_imzml(path.to_str().unwrap()) {
            found.push(path);
        }
    }
    found.sort();
}

fn open(path: &Path) -> (Dataset, Vec<u8>) {
    let name = path.to_str().unwrap();
    let mut reader = Reader::new(name, MEMORY);
    let xml = std::fs::read(path).unwrap();
    drive(&mut reader, &xml, false, 10_000).unwrap();
    let mut dataset = reader.finish().unwrap();
    let pieces = read_in(&xml, 7).unwrap();
    assert_eq!(
        (&pieces.spectra, &pieces.warnings),
        (&dataset.spectra, &dataset.warnings)
    );
    let named = candidates(name).into_iter().map(PathBuf::from);
    let ibd = named.into_iter().find(|path| path.is_file()).unwrap();
    let bytes = std::fs::read(&ibd).unwrap();
    let mut look = Ibd::new(ibd.to_str().unwrap());
    drive(&mut look, &bytes, false, 16).unwrap();
    look.settle(&mut dataset).unwrap();
    (dataset, bytes)
}

#[test]
fn real_pairs_open_and_decode() {
    let folder = shared().join("data/imzml");
    let mut pairs = Vec::new();
    below(&folder, &mut pairs);
    if pairs.is_empty() {
        println!("skipped: no folder of real pairs (SECTILE_SHARED)");
        return;
    }
    let manifest = std::fs::read_to_string(folder.join("MANIFEST.md")).unwrap();
    for path in &pairs {
        let (dataset, ibd) = open(path);
        let stem = path.file_stem().unwrap().to_str().unwrap();
        let row = manifest
            .lines()
            .find(|line| line.contains(&format!("/{stem}.imzML")))
            .unwrap();
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let (count, bounds) = cells[5].split_once(" (").unwrap();
        assert_eq!(dataset.spectra.len().to_string(), count, "{stem}");
        let grid = &dataset.grid;
        let (x1, y1) = (
            grid.x0 + grid.width.cast_signed() - 1,
            grid.y0 + grid.height.cast_signed() - 1,
        );
        assert_eq!(
            format!("{}..{x1} x {}..{y1})", grid.x0, grid.y0),
            bounds,
            "{stem}"
        );
        let letter = |number| if number == Number::F32 { "f" } else { "d" };
        let types = [dataset.mz_number(), dataset.intensity_number()]
            .map(letter)
            .join("/");
        assert_eq!(types, cells[7], "{stem}");
        assert_eq!(
            dataset.shares_mz() && dataset.spectra.len() > 1,
            cells[4].starts_with("continuous"),
            "{stem}"
        );
        assert!(cells[4].contains(dataset.representation.name()), "{stem}");
        let mut range = (f64::MAX, f64::MIN);
        for (index, spectrum) in dataset.spectra.iter().enumerate() {
            let (mz, intensity) = peaks(&dataset, &ibd, index).unwrap();
            check_mz(&mz, spectrum.mz(), stem, index as u64).unwrap();
            check_intensity(&intensity, spectrum.intensity(), stem, index as u64).unwrap();
            range = mz
                .iter()
                .fold(range, |(lo, hi), mz| (lo.min(*mz), hi.max(*mz)));
        }
        assert_eq!(
            format!("[{:.3}, {:.3}]", range.0, range.1),
            with_zeros(cells[6]),
            "{stem}"
        );
        let mut check = Check::new(stem, dataset.checksum.unwrap());
        check.push(&ibd);
        check.finish().unwrap();
    }
    println!("{} pairs", pairs.len());
}

/// `[1.5, 2]` with three decimals each.
fn with_zeros(cell: &str) -> String {
    let numbers = cell.trim_matches(['[', ']']).split(", ");
    let numbers: Vec<String> = numbers
        .map(|number| format!("{:.3}", number.parse::<f64>().unwrap()))
        .collect();
    format!("[{}]", numbers.join(", "))
}

#[test]
fn the_two_modes_of_one_dataset_agree() {
    let folder = shared().join("data/imzml/pyimzml");
    if !folder.is_dir() {
        println!("skipped: no folder of real pairs (SECTILE_SHARED)");
        return;
    }
    let [(one, one_ibd), (other, other_ibd)] =
        ["Continuous", "Processed"].map(|mode| open(&folder.join(format!("Example_{mode}.imzML"))));
    assert!(one.shares_mz() && !other.shares_mz());
    assert_eq!(one.instrument.as_deref(), Some("LTQ FT Ultra"));
    assert_eq!(one.polarity.name(), "negative");
    for index in 0..9 {
        let same =
            peaks(&one, &one_ibd, index).unwrap() == peaks(&other, &other_ibd, index).unwrap();
        assert!(same, "spectrum {index}");
    }
}

#[test]
fn made_pairs_have_the_golden_peaks() {
    let folder = shared().join("golden/imaging-ms/e2e");
    if !folder.is_dir() {
        println!("skipped: no folder of golden numbers (SECTILE_SHARED)");
        return;
    }
    let golden = std::fs::read_to_string(folder.join("e2e.json")).unwrap();
    let golden: serde_json::Value = serde_json::from_str(&golden).unwrap();
    let (plain, ibd) = open(&folder.join("synth_processed.imzML"));
    let mut all = Vec::new();
    for (index, spectrum) in plain.spectra.iter().enumerate() {
        let (mz, intensity) = peaks(&plain, &ibd, index).unwrap();
        let pixel = plain.grid.pixel(spectrum);
        all.extend(
            mz.into_iter()
                .zip(intensity)
                .map(|(mz, intensity)| (mz, intensity, pixel)),
        );
    }
    assert_eq!(all.len() as u64, golden["n_peaks"]);
    assert_eq!(plain.spectra.len() as u64, golden["n_spectra"]);
    assert_eq!((plain.grid.width, plain.grid.height), (14, 11));
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let first: Vec<(f64, f64, u32)> =
        serde_json::from_value(golden["sorted_first10"].clone()).unwrap();
    for (found, wanted) in all.iter().zip(first) {
        // The numbers of the list are rounded once more as they are read.
        assert!(
            (found.0 / wanted.0 - 1.0).abs() < 1e-15 && (found.1 / wanted.1 - 1.0).abs() < 1e-15
        );
        assert_eq!(found.2, wanted.2);
    }
    let sum = |bytes: Vec<u8>, name: &str| {
        let mut check = Check::new(name, Checksum::Sha1([0; 20]));
        check.push(&bytes);
        assert_eq!(golden[name], digits(check.sum()), "{name}");
    };
    let mz = all.iter().flat_map(|peak| peak.0.to_le_bytes());
    sum(mz.collect(), "mz_order_sha1");
    let intensity = all.iter().flat_map(|peak| (peak.1 as f32).to_le_bytes());
    sum(intensity.collect(), "int_sha1");
    let pixel = all.iter().flat_map(|peak| peak.2.to_le_bytes());
    sum(pixel.collect(), "sp_i_sha1");

    // The zlib variant has the first spectra of the plain one.
    let (packed, packed_ibd) = open(&folder.join("synth_processed_zlib.imzML"));
    assert!(
        packed
            .spectra
            .iter()
            .all(|s| s.mz().compression == Compression::Zlib)
    );
    assert_eq!(packed.spectra.len(), 12);
    for (index, spectrum) in packed.spectra.iter().enumerate() {
        let same = |s: &sectile::imzml::dataset::Spectrum| (s.x, s.y) == (spectrum.x, spectrum.y);
        let twin = plain.spectra.iter().position(same).unwrap();
        let (found, wanted) = (
            peaks(&packed, &packed_ibd, index),
            peaks(&plain, &ibd, twin),
        );
        assert_eq!(found.unwrap(), wanted.unwrap(), "spectrum {index}");
    }
}
