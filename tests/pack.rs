//! Packing: what comes out is a stable sort of what went in, at any budget and in any order of arrival.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "a test"
)]

mod packing;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use packing::{Arrival, Columns, crowd, minimum, naive, open, pack, shared, unpack, wish};
use sectile::imzml::Dataset;
use sectile::imzml::dataset::Compression;
use sectile::ion::pack::plan::Wish;
use sectile::store::head::Real;
use sha1::{Digest, Sha1};

const SHAPES: [(Real, Real); 4] = [
    (Real::F32, Real::F32),
    (Real::F32, Real::F64),
    (Real::F64, Real::F32),
    (Real::F64, Real::F64),
];

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/ion")
        .join(name)
}

fn sha1(bytes: impl IntoIterator<Item = u8>) -> String {
    let bytes: Vec<u8> = bytes.into_iter().collect();
    let mut text = String::new();
    for byte in Sha1::digest(&bytes) {
        write!(text, "{byte:02x}").unwrap();
    }
    text
}

#[test]
fn the_sorted_columns_are_those_of_the_reference() {
    let (dataset, ibd) = open(&data("synth_processed.imzML")).unwrap();
    for memory in [16, 64, 256] {
        let packed = pack(&dataset, &ibd, &wish(memory << 20), Arrival::InOrder).unwrap();
        let (head, peaks) = unpack(&packed.disk.store);
        assert_eq!(head.layout.contents.peaks, 5570);
        assert_eq!(
            (head.layout.contents.width, head.layout.contents.height),
            (14, 11)
        );
        assert_eq!(head.mask.count(), 126);
        let mz = peaks.mz.iter().flat_map(|mz| mz.to_le_bytes());
        assert_eq!(sha1(mz), "bbd624af2daceb79c3350d49e31f288de5cf2463");
        let intensity = peaks
            .intensity
            .iter()
            .flat_map(|value| (*value as f32).to_le_bytes());
        assert_eq!(sha1(intensity), "8d8c631ef00cfdbc360ee393935349d33cdb3857");
        let pixel = peaks.pixel.iter().flat_map(|pixel| pixel.to_le_bytes());
        assert_eq!(sha1(pixel), "ad3a4d13edf46e13c65c18b89a9582c09201bba2");
    }
}

#[test]
fn a_continuous_dataset_has_its_mz_read_once() {
    let (dataset, ibd) = open(&data("synth_continuous.imzML")).unwrap();
    assert_eq!(dataset.spectra.len(), 126);
    let packed = pack(&dataset, &ibd, &wish(16 << 20), Arrival::InOrder).unwrap();
    assert_eq!(packed.plan.payload_bytes, ibd.len() as u64 - 16);
    let (_, peaks) = unpack(&packed.disk.store);
    assert!(peaks == naive(&dataset, &ibd));
}

#[test]
fn zlib_equals_its_own_arrays_stored_as_they_are() {
    let (dataset, ibd) = open(&data("synth_processed_zlib.imzML")).unwrap();
    let mut plain = packing::Make::new(Real::F64, Real::F32);
    for (index, spectrum) in dataset.spectra.iter().enumerate() {
        assert_eq!(spectrum.mz().compression, Compression::Zlib);
        let mut arrays = [spectrum.mz(), spectrum.intensity()];
        for (array, real) in arrays.iter_mut().zip([Real::F64, Real::F32]) {
            let mut values = Vec::new();
            let bytes = &ibd[array.at as usize..array.end() as usize];
            sectile::imzml::spectrum::decode(*array, bytes, "", index as u64, &mut values).unwrap();
            *array = plain.array(real, &values);
        }
        plain.add_arrays([spectrum.x, spectrum.y, spectrum.z], arrays[0], arrays[1]);
    }
    let zlib = pack(&dataset, &ibd, &wish(16 << 20), Arrival::InOrder).unwrap();
    let stored = Dataset {
        spectra: plain.dataset().spectra,
        ..dataset
    };
    let plain = pack(&stored, &plain.ibd, &wish(16 << 20), Arrival::InOrder).unwrap();
    assert_eq!(zlib.report.peaks, plain.report.peaks);
    assert!(zlib.report.peaks > 400);
    assert!(zlib.disk.store == plain.disk.store);
}

#[test]
fn real_pairs_pack_to_the_same_bytes_at_any_budget() {
    let Some(root) = shared("data/imzml") else {
        return;
    };
    let mut pairs = Vec::new();
    find(&root, &mut pairs);
    assert!(pairs.len() >= 27, "{}", pairs.len());
    for path in pairs {
        let (dataset, ibd) = open(&path).unwrap();
        let wanted = naive(&dataset, &ibd);
        let mut stores: Vec<Vec<u8>> = Vec::new();
        let tight = minimum(&dataset, 2);
        for (memory, in_flight) in [(16 << 20, 6), (64 << 20, 1), (256 << 20, 16), (tight, 2)] {
            let wish = Wish {
                memory,
                in_flight,
                ..Wish::default()
            };
            let packed = pack(&dataset, &ibd, &wish, Arrival::Shuffled(3)).unwrap();
            stores.push(packed.disk.store);
        }
        assert!(
            stores.windows(2).all(|pair| pair[0] == pair[1]),
            "{}",
            path.display()
        );
        let (head, peaks) = unpack(&stores[0]);
        assert!(peaks == wanted, "{}", path.display());
        assert_eq!(
            head.mask.count() + dataset.duplicates,
            dataset.spectra.len() as u64
        );
    }
}

fn find(folder: &Path, pairs: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            find(&path, pairs);
        } else if sectile::imzml::pair::is_imzml(&path.to_string_lossy()) {
            pairs.push(path);
        }
    }
}

#[test]
fn continuous_and_processed_agree() {
    let Some(root) = shared("data/imzml/pyimzml") else {
        return;
    };
    let peaks = |name: &str| -> Columns {
        let (dataset, ibd) = open(&root.join(name)).unwrap();
        unpack(
            &pack(&dataset, &ibd, &wish(16 << 20), Arrival::InOrder)
                .unwrap()
                .disk
                .store,
        )
        .1
    };
    let continuous = peaks("Example_Continuous.imzML");
    assert!(continuous.mz.len() > 20_000);
    assert!(continuous == peaks("Example_Processed.imzML"));
}

/// Packs at budgets that force partitions, and compares with a plain sort and a packing in memory.
fn at_many_budgets(dataset: &Dataset, ibd: &[u8], again: bool) {
    let wanted = naive(dataset, ibd);
    let whole = pack(dataset, ibd, &wish(256 << 20), Arrival::InOrder).unwrap();
    assert_eq!((whole.plan.partitions, whole.report.spill_bytes), (1, 0));
    let (_, peaks) = unpack(&whole.disk.store);
    assert!(peaks == wanted);
    let least = minimum(dataset, 3);
    let rows = whole.plan.rows * whole.plan.row_bytes;
    for (memory, arrival) in [
        (least, Arrival::InOrder),
        (least, Arrival::Shuffled(5)),
        (least + rows / 8, Arrival::Shuffled(6)),
        (least + rows / 3, Arrival::Pieces(4096)),
    ] {
        let wish = Wish {
            memory,
            in_flight: 3,
            ..Wish::default()
        };
        let packed = pack(dataset, ibd, &wish, arrival).unwrap();
        assert!(packed.plan.partitions > 4, "{:?}", packed.plan);
        assert!(packed.disk.store == whole.disk.store, "{memory}");
        assert!(packed.report.spill_bytes > 0);
        if again && memory == least {
            // Some partitions were too large, and were split.
            assert!(
                packed.report.spill_bytes > rows * 5 / 4,
                "{:?}",
                packed.report
            );
        }
    }
}

#[test]
fn partitions_in_the_spill_change_nothing() {
    for (shape, seed) in SHAPES.into_iter().zip(1..) {
        let (dataset, ibd) = crowd(8000, 40, shape, seed);
        at_many_budgets(&dataset, &ibd, false);
    }
}

#[test]
fn partitions_that_are_too_large_are_split_again() {
    for shape in SHAPES {
        let (dataset, ibd) = packing::drift(9000, 40, shape);
        at_many_budgets(&dataset, &ibd, true);
    }
}

#[test]
fn one_mz_may_have_more_peaks_than_memory_has_room() {
    let (dataset, ibd) = packing::same(9000, 40);
    at_many_budgets(&dataset, &ibd, false);
}

#[test]
fn bytes_may_come_one_by_one() {
    let (dataset, ibd) = crowd(60, 30, SHAPES[2], 9);
    let whole = pack(&dataset, &ibd, &wish(16 << 20), Arrival::InOrder).unwrap();
    let pieces = pack(&dataset, &ibd, &wish(16 << 20), Arrival::Pieces(1)).unwrap();
    assert!(whole.disk.store == pieces.disk.store);
}
