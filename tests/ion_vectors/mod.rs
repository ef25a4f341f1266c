//! Datasets, what their stores hash to, and what is asked of them: the same vectors natively and in a browser.
#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "a test says what failed by failing"
)]

use std::fmt::Write as _;

use sectile::imzml::Dataset;
use sectile::imzml::reader::Reader as Xml;
use sectile::ion::images::Wish;
use sectile::ion::window::Window;
use sectile::store::head::{Head, Real};
use sha2::{Digest as _, Sha256};

use crate::ion_cases::{Feeding, Pair, images, reader};
use crate::packing::{Arrival, Packed, crowd, minimum, naive, pack, unpack, wish};

/// The synthetic datasets of the reference programs, as XML and arrays.
const GOLDEN: [(&str, &[u8], &[u8]); 3] = [
    (
        "processed",
        include_bytes!("../data/ion/synth_processed.imzML"),
        include_bytes!("../data/ion/synth_processed.ibd"),
    ),
    (
        "continuous",
        include_bytes!("../data/ion/synth_continuous.imzML"),
        include_bytes!("../data/ion/synth_continuous.ibd"),
    ),
    (
        "zlib",
        include_bytes!("../data/ion/synth_processed_zlib.imzML"),
        include_bytes!("../data/ion/synth_processed_zlib.ibd"),
    ),
];

/// What a browser and a machine must agree about: SHA-256 of a store without its head, whose text names the
/// program's version.
pub(crate) const HASHES: [(&str, &str); 6] = [
    (
        "processed",
        "393c48220e4b39f8dc88efd0e249457a5e814bda859275b4c6560671a8c9177c",
    ),
    (
        "continuous",
        "2c938ff843f8552d1477885c759f7c22b985aac9ec61eda99ab9460076d04fe6",
    ),
    (
        "zlib",
        "a57d9a2284d12b71158a48b7340e8973514c0d281bf81dbee0daad814a474433",
    ),
    (
        "crowd f32",
        "6aa0188c10e300b6ac0906dcbf918e18b09a44d7bcd6ff33aa8eae7fdd0d1093",
    ),
    (
        "crowd f64",
        "0f3bb85770b718c1ad26a98ca6658a950975bd828f2e1b3c60717c985c76a83c",
    ),
    (
        "crowd mixed",
        "f3e3ed043c8b4e25d4b11c9f01ec452431763542d0f42a49131dae17acbf79a2",
    ),
];

fn hash(store: &[u8]) -> String {
    let head = Head::parse("store", store).unwrap();
    let digest = Sha256::digest(&store[head.layout.head_bytes as usize..]);
    digest.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// All datasets with the name of their hash.
pub(crate) fn datasets() -> Vec<(&'static str, Dataset, Vec<u8>)> {
    let golden = GOLDEN.map(|(name, xml, ibd)| {
        let mut reader = Xml::new("golden.imzML", 1 << 24);
        for piece in xml.chunks(7001) {
            reader.push(piece).unwrap();
        }
        let mut dataset = reader.finish().unwrap();
        dataset
            .settle("golden.ibd", ibd.len() as u64, &ibd[..16])
            .unwrap();
        (name, dataset, ibd.to_vec())
    });
    let crowds = [
        ("crowd f32", (Real::F32, Real::F32)),
        ("crowd f64", (Real::F64, Real::F64)),
        ("crowd mixed", (Real::F64, Real::F32)),
    ];
    let crowds = crowds.map(|(name, shape)| {
        let (dataset, ibd) = crowd(900, 400, shape, 5);
        (name, dataset, ibd)
    });
    golden.into_iter().chain(crowds).collect()
}

/// Packs at several budgets and orders of arrival: every store holds what it must, and all are the same.
pub(crate) fn stores_hash(name: &str, dataset: &Dataset, ibd: &[u8]) -> String {
    let mut hashes = Vec::new();
    let least = minimum(dataset, 6);
    let runs = [
        (least, Arrival::InOrder),
        (8 << 20, Arrival::Shuffled(3)),
        (16 << 20, Arrival::Pieces(999)),
    ];
    for (memory, arrival) in runs {
        let Packed { disk, peak, .. } =
            pack(dataset, ibd, &wish(memory.max(least)), arrival).unwrap();
        assert!(peak <= memory.max(least));
        assert_eq!(unpack(&disk.store).1, naive(dataset, ibd), "{name}");
        hashes.push(hash(&disk.store));
    }
    hashes.dedup();
    assert_eq!(hashes.len(), 1, "{name} depends on the budget");
    hashes.remove(0)
}

/// Draws images out of a store in several ways: all equal a scan of the peaks.
pub(crate) fn images_are_scans(name: &str, dataset: &Dataset, ibd: &[u8]) {
    let packed = pack(dataset, ibd, &wish(16 << 20), Arrival::InOrder).unwrap();
    let store = packed.disk.store;
    let pair = Pair {
        dataset: dataset.clone(),
        ibd: ibd.to_vec(),
    };
    let sample = pair.sample();
    let middle = sample.peaks[sample.peaks.len() / 2].mz;
    let ends = [sample.peaks[0].mz, sample.peaks[sample.peaks.len() - 1].mz];
    let windows = [
        Window::ppm(middle, 3.0).unwrap(),
        Window::dalton(middle, 20.0).unwrap(),
        Window::ppm(ends[0], 1e-9).unwrap(),
        Window::ppm(ends[1], 5.0).unwrap(),
        Window::dalton(ends[1] + 10.0, 1.0).unwrap(),
    ];
    for (piece, shuffled) in [(usize::MAX, false), (1000, true)] {
        let reader = reader(&store, 1 << 20);
        let wish = Wish {
            memory: 16 << 20,
            ..Wish::default()
        };
        let run = images(
            &reader,
            &store,
            &windows,
            &wish,
            Feeding { piece, shuffled },
        )
        .unwrap();
        for (window, drawn) in windows.iter().zip(&run.images) {
            let (expected, hits) = sample.scan(*window, 0);
            assert_eq!(
                (&drawn.bits, drawn.hits),
                (&expected, hits),
                "{name} {window:?}"
            );
        }
        // What was fetched stays, and gives the same.
        let again = images(
            &reader,
            &store,
            &windows[..1],
            &wish,
            Feeding { piece, shuffled },
        )
        .unwrap();
        assert_eq!(again.requests, 0);
        assert_eq!(again.images[0].bits, run.images[0].bits);
    }
}
