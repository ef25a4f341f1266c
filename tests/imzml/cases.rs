//! Known faults of the field, each with its right outcome; `tests/data/imzml/expected.json`.

use std::path::{Path, PathBuf};

use sectile::imzml::Dataset;
use sectile::imzml::checksum::Check;
use sectile::imzml::dataset::{Compression, Number, Representation};
use sectile::imzml::ibd::Ibd;
use sectile::imzml::pair::{candidates, is_imzml};
use sectile::imzml::reader::Reader;
use serde_json::Value;

use crate::text::{MEMORY, drive, peaks};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/imzml")
}

/// A pair of files, opened by the machines.
struct Pair {
    dataset: Dataset,
    ibd: Vec<u8>,
    settled: Result<(), String>,
    expected: Value,
}

fn open(case: &str) -> Pair {
    let text = std::fs::read_to_string(folder().join("expected.json")).unwrap();
    let mut all: Value = serde_json::from_str(&text).unwrap();
    let expected = all[case].take();
    let imzml = expected["files"][0].as_str().unwrap();
    assert!(is_imzml(imzml));
    let named = candidates(imzml).into_iter();
    let ibd = named
        .map(|name| folder().join(name))
        .find(|path| path.is_file());
    let xml = std::fs::read(folder().join(imzml)).unwrap();
    let ibd = std::fs::read(ibd.expect("the partner is found")).unwrap();
    let mut reader = Reader::new(imzml, MEMORY);
    drive(&mut reader, &xml, false, 1000).unwrap();
    let mut dataset = reader.finish().unwrap();
    let mut look = Ibd::new("the.ibd");
    drive(&mut look, &ibd, false, 16).unwrap();
    let settled = look.settle(&mut dataset).map_err(|error| error.to_string());
    Pair {
        dataset,
        ibd,
        settled,
        expected,
    }
}

/// Every spectrum that is listed, and no other.
fn spectra(pair: &Pair) {
    let listed = pair.expected["spectra"].as_array().unwrap();
    assert_eq!(listed.len(), pair.dataset.spectra.len());
    for (index, listed) in listed.iter().enumerate() {
        let spectrum = &pair.dataset.spectra[index];
        let position = [spectrum.x, spectrum.y, spectrum.z].map(i64::from);
        let wanted = ["x", "y", "z"].map(|name| listed[name].as_i64().unwrap());
        assert_eq!(position, wanted, "spectrum {index}");
        let (mz, intensity) = peaks(&pair.dataset, &pair.ibd, index).unwrap();
        same(&mz, &listed["mz"], &pair.expected["tolerance"]);
        same(
            &intensity,
            &listed["intensity"],
            &pair.expected["tolerance"],
        );
    }
}

fn same(values: &[f64], listed: &Value, tolerance: &Value) {
    let listed = listed.as_array().unwrap();
    assert_eq!(values.len(), listed.len());
    for (value, listed) in values.iter().zip(listed) {
        assert!((value - listed.as_f64().unwrap()).abs() <= tolerance.as_f64().unwrap());
    }
}

/// The first image that is listed, by a scan of every spectrum; where positions repeat, summed.
fn image(pair: &Pair, image: &Value) -> Vec<Vec<Option<f64>>> {
    let grid = &pair.dataset.grid;
    let (lo, hi) = (
        image["mz_lo"].as_f64().unwrap(),
        image["mz_hi"].as_f64().unwrap(),
    );
    let mut flat = vec![None; grid.pixels() as usize];
    for (index, spectrum) in pair.dataset.spectra.iter().enumerate() {
        let (mz, intensity) = peaks(&pair.dataset, &pair.ibd, index).unwrap();
        let hits = mz
            .iter()
            .zip(&intensity)
            .filter(|(mz, _)| (lo..=hi).contains(*mz));
        let sum: f64 = hits.map(|(_, intensity)| intensity).sum();
        *flat[grid.pixel(spectrum) as usize].get_or_insert(0.0) += sum;
    }
    flat.chunks(grid.width as usize)
        .map(<[_]>::to_vec)
        .collect()
}

fn images(pair: &Pair) {
    for listed in pair.expected["images"].as_array().into_iter().flatten() {
        let grid = &pair.dataset.grid;
        assert_eq!(Value::from(vec![grid.x0, grid.y0]), listed["origin_xy"]);
        assert_eq!(Value::from(grid.width), listed["width"]);
        assert_eq!(Value::from(grid.height), listed["height"]);
        let rows: Vec<Vec<Option<f64>>> = serde_json::from_value(listed["rows"].clone()).unwrap();
        assert_eq!(image(pair, listed), rows);
    }
}

/// A case without anything to say about it.
fn in_order(case: &str) -> Pair {
    let pair = open(case);
    assert_eq!(pair.settled, Ok(()));
    assert_eq!(pair.dataset.warnings, [""; 0], "{case}");
    if pair.expected["spectra"].is_array() {
        spectra(&pair);
    }
    images(&pair);
    pair
}

/// A case with one warning; `said` must stand in it.
fn warned(case: &str, said: &[&str]) -> Pair {
    let pair = open(case);
    assert_eq!(pair.settled, Ok(()));
    assert_eq!(
        pair.dataset.warnings.len(),
        1,
        "{:?}",
        pair.dataset.warnings
    );
    for said in said {
        assert!(
            pair.dataset.warnings[0].contains(said),
            "{:?}",
            pair.dataset.warnings
        );
    }
    pair
}

#[test]
fn b01_processed() {
    let pair = in_order("B01");
    assert!(!pair.dataset.shares_mz());
    assert_eq!(pair.dataset.mz_number(), Number::F64);
    assert_eq!(pair.dataset.intensity_number(), Number::F32);
    assert_eq!(pair.dataset.pixel_size, [Some(50.0); 2]);
}

#[test]
fn b01_checksum_is_that_of_the_ibd() {
    let pair = open("B01");
    let stated = pair.dataset.checksum.unwrap();
    let mut check = Check::new("the.ibd", stated);
    drive(&mut check, &pair.ibd, false, 100).unwrap();
    check.finish().unwrap();
    let mut damaged = pair.ibd.clone();
    damaged[100] ^= 1;
    let mut check = Check::new("the.ibd", stated);
    drive(&mut check, &damaged, true, 100).unwrap();
    let error = check.finish().unwrap_err().to_string();
    assert!(error.contains("SHA-1") && error.contains("9824bfb17f0b6a3c673cfc7432d7151db58bdcdb"));
}

#[test]
fn b02_continuous_shares_one_array() {
    let pair = in_order("B02");
    assert!(pair.dataset.shares_mz());
    let at = pair.expected["mz_offset"].as_u64().unwrap();
    assert!(pair.dataset.spectra.iter().all(|s| s.mz().at == at));
    assert_eq!(pair.dataset.mz_number(), Number::F32);
}

#[test]
fn b03_zero_based() {
    let pair = warned("B03", &["x=0 y=0"]);
    spectra(&pair);
    images(&pair);
    assert_eq!([pair.dataset.grid.x0, pair.dataset.grid.y0], [0, 0]);
}

#[test]
fn b05_no_pixel_size() {
    let pair = warned("B05", &["pixel size", "unknown"]);
    images(&pair);
    assert_eq!(pair.dataset.pixel_size, [None; 2]);
}

#[test]
fn b07_zlib() {
    let pair = in_order("B07");
    let listed: Vec<[u64; 6]> =
        serde_json::from_value(pair.expected["byte_index"].clone()).unwrap();
    for (spectrum, listed) in pair.dataset.spectra.iter().zip(listed) {
        for (array, listed) in [spectrum.mz(), spectrum.intensity()]
            .iter()
            .zip(listed.chunks(3))
        {
            assert_eq!(array.compression, Compression::Zlib);
            assert_eq!(
                [array.at, u64::from(array.len), u64::from(array.bytes)],
                listed
            );
        }
    }
}

#[test]
fn b09_data_type_by_encoded_length() {
    let pair = warned("B09", &["6 arrays", "name and the accession"]);
    assert_eq!(pair.dataset.mz_number(), Number::F32);
    spectra(&pair);
    images(&pair);
}

#[test]
fn b10_uuid_of_another_file() {
    let stated = "ffffffff-0000-1111-2222-333333333333";
    let pair = warned("B10", &[stated, "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0"]);
    images(&pair);
    assert_eq!(pair.dataset.uuid.unwrap()[..5], [0xff, 0xff, 0xff, 0xff, 0]);
}

#[test]
fn b12_truncated() {
    let pair = open("B12");
    let error = pair.settled.unwrap_err();
    for said in ["ibd has 129 bytes", "needs 232", "spectrum 3 (x=1 y=2)"] {
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn b14_empty_and_missing() {
    in_order("B14");
}

#[test]
fn b15_unsorted_is_read_as_it_stands() {
    // Sorting is the packer's; images by a scan do not care.
    in_order("B15");
}

#[test]
fn b16_duplicate_coordinates() {
    let pair = warned("B16", &["1 position has more than one spectrum", "summed"]);
    assert_eq!(pair.dataset.duplicates, 1);
}

#[test]
fn b18_names() {
    in_order("B18");
}

#[test]
fn b21_attributes_in_any_order() {
    let pair = in_order("B21");
    assert_eq!(pair.dataset.spectra, open("B01").dataset.spectra);
}

#[test]
fn b23_representation_in_a_group() {
    let pair = in_order("B23");
    assert_eq!(pair.dataset.representation, Representation::Centroid);
    assert_eq!(
        pair.dataset.representation.name(),
        pair.expected["representation"]
    );
}

#[test]
fn b24_pixel_size_in_nanometres() {
    let pair = in_order("B24");
    let wanted = pair.expected["pixel_size_um"].as_f64().unwrap();
    for size in pair.dataset.pixel_size {
        assert!((size.unwrap() - wanted).abs() < 1e-12);
    }
}

#[test]
fn b28_not_a_rectangle() {
    let pair = in_order("B28");
    assert_eq!(
        pair.dataset.spectra.len() as u64,
        pair.expected["n_spectra"]
    );
}

#[test]
fn b31_no_namespace() {
    in_order("B31");
}
