//! What the reference programs found in their synthetic dataset, and scans of random ones: the same vectors natively
//! and in a browser.

use std::collections::BTreeMap;
use std::rc::Rc;

use sectile::imzml::reader::Reader as Xml;
use sectile::ion::annotate::{Ions, Keep, Policy, Request, Wish};
use sectile::ion::isotope::{Analyzer, Instrument};
use sectile::ion::scoring::Scoring;
use sectile::store::head::Real;
use serde_json::Value;

use crate::annotate_cases::{
    Outcome, annotate, formulas, ions, modifiers, oracle, planted, request,
};
use crate::ion_cases::{WHOLE, head};
use crate::packing::{Arrival, pack, wish};

const XML: &[u8] = include_bytes!("../data/ion/synth_processed.imzML");
const IBD: &[u8] = include_bytes!("../data/ion/synth_processed.ibd");
const IMAGES: &str = include_str!("../golden/imaging-ms/e2e.json");
const SCORES: &str = include_str!("../golden/imaging-ms/e2e_metrics.json");

/// For a limit of the buffer in bytes, the formulas whose images were saved together, and their bytes.
const FLUSHES: [(u64, &[&[usize]], &[u64]); 5] = [
    (64, SINGLY, &SIZES),
    (2000, SINGLY, &SIZES),
    (
        4000,
        &[&[0, 1], &[2, 3], &[5], &[7], &[8, 9], &[11]],
        &[7608, 6552, 4764, 4272, 4440, 1404],
    ),
    (
        8000,
        &[&[0, 1, 2], &[3, 5], &[7, 8, 9], &[11]],
        &[10644, 8280, 8712, 1404],
    ),
    (1_000_000_000, &[&[0, 1, 2, 3, 5, 7, 8, 9, 11]], &[29040]),
];

const SINGLY: &[&[usize]] = &[&[0], &[1], &[2], &[3], &[5], &[7], &[8], &[9], &[11]];
const SIZES: [u64; 9] = [3048, 4560, 3036, 3516, 4764, 4272, 2244, 2196, 1404];

/// The synthetic dataset as a store.
fn store() -> Vec<u8> {
    let mut reader = Xml::new("golden.imzML", 1 << 24);
    reader.push(XML).unwrap();
    let mut dataset = reader.finish().unwrap();
    (dataset.settle("golden.ibd", IBD.len() as u64, &IBD[..16])).unwrap();
    let packed = pack(&dataset, IBD, &wish(16 << 20), Arrival::InOrder).unwrap();
    packed.disk.store
}

/// The twelve ions, as molecules whose modifier changes nothing.
fn twelve() -> (Rc<Ions>, Vec<Value>) {
    let golden: Value = serde_json::from_str(IMAGES).unwrap();
    let results = golden["formula_results"].as_array().unwrap().clone();
    let texts: Vec<String> = (results.iter())
        .map(|result| result["formula"].as_str().unwrap().to_owned())
        .collect();
    let instrument = Instrument::new(Analyzer::Orbitrap, 140_000.0).unwrap();
    let request = Request {
        scoring: Scoring::V1,
        decoys: 1,
        ..Request::new(modifiers(&["[M]+"]), instrument, 1)
    };
    (ions(&texts, &request), results)
}

/// Annotates them, saving images under a policy.
fn run(ions: &Rc<Ions>, store: &[u8], images: Keep) -> Outcome {
    let wish = Wish {
        memory: 2_000_000_000,
        images,
        ..Wish::default()
    };
    annotate(store, &head(store), ions, 0..ions.len(), 0, &wish, WHOLE).unwrap()
}

/// The place in the order of each formula's target.
fn places(ions: &Ions) -> BTreeMap<u32, usize> {
    let targets = (0..ions.len()).filter_map(|position| {
        let ion = ions.ion(position).unwrap();
        ions.is_target(ion)
            .then_some((position, ion.formula as usize))
    });
    targets.collect()
}

/// Hits as the reference programs list them, summed pixel by pixel.
fn summed(image: &Value, width: u64) -> BTreeMap<u32, f64> {
    let mut sums = BTreeMap::new();
    let list = |name: &str| image[name].as_array().unwrap();
    for ((row, column), value) in list("row").iter().zip(list("col")).zip(list("val")) {
        let pixel = row.as_u64().unwrap() * width + column.as_u64().unwrap();
        *sums.entry(pixel as u32).or_insert(0.0) += value.as_f64().unwrap();
    }
    sums
}

fn close(found: f64, expected: f64, tolerance: f64, what: &str) {
    assert!(
        (found - expected).abs() <= tolerance,
        "{what}: {found}, not {expected}"
    );
}

/// Images, scores and totals of all twelve are those of the reference programs.
pub(crate) fn the_reference_dataset_is_annotated_as_by_the_reference_programs() {
    let (ions, golden) = twelve();
    let scores: Vec<Value> = serde_json::from_str(SCORES).unwrap();
    let found = run(&ions, &store(), Keep::default()).found;
    for (position, formula) in places(&ions) {
        let (golden, scores) = (&golden[formula], &scores[formula]);
        let name = golden["formula"].as_str().unwrap();
        assert_eq!(scores["formula"], golden["formula"]);
        let Some(scored) = found.scored(position) else {
            assert!(scores["scores"].is_null(), "{name} was not found");
            continue;
        };
        let number = |value: &Value| value.as_f64().unwrap();
        let metrics = scored.metrics;
        let list = [
            metrics.chaos,
            metrics.spatial,
            metrics.spectral,
            metrics.msm,
        ];
        let tolerances = [1e-9, 2e-6, 1e-7, 2e-6];
        for (k, (value, tolerance)) in list.into_iter().zip(tolerances).enumerate() {
            close(value, number(&scores["scores"][k]), tolerance, name);
        }
        for k in 0..4 {
            close(scored.theory[k], number(&scores["theory"][k]), 1e-5, name);
            let total = number(&scores["total"][k]);
            close(metrics.total[k], total, 1e-6 * total, name);
            close(metrics.max[k], number(&scores["max"][k]), 1e-9, name);
            let expected = match &golden["images"][k] {
                Value::Null => BTreeMap::new(),
                image => summed(image, 14),
            };
            let drawn: BTreeMap<u32, f64> = match &found.images[&position][k] {
                None => BTreeMap::new(),
                Some((pixels, bits, _)) => (pixels.iter().zip(bits))
                    .map(|(pixel, bits)| (*pixel, f64::from(f32::from_bits(*bits))))
                    .collect(),
            };
            assert!(drawn.keys().eq(expected.keys()), "{name} {k}");
            for (pixel, value) in drawn {
                close(value, expected[&pixel], 1e-7 * value.abs(), name);
            }
        }
    }
    assert_eq!(found.targets.len(), 9);
}

/// Images are saved in the groups in which the images manager of the reference program saves them.
pub(crate) fn images_are_saved_in_the_groups_of_the_reference_program() {
    let (ions, _) = twelve();
    let store = store();
    let places = places(&ions);
    for (limit, groups, sizes) in FLUSHES {
        let images = Keep::Buffer {
            bytes: Some(limit),
            policy: Policy::FlushAfter,
        };
        let outcome = run(&ions, &store, images);
        let (saved, bytes): (Vec<_>, Vec<_>) = outcome.flushes.into_iter().unzip();
        let saved: Vec<Vec<usize>> = (saved.iter())
            .map(|ions| ions.iter().map(|ion| places[ion]).collect())
            .collect();
        assert_eq!(
            (saved, bytes),
            (
                groups.iter().map(|group| group.to_vec()).collect(),
                sizes.to_vec()
            )
        );
    }
}

/// Random datasets are annotated as by a scan of all their peaks.
pub(crate) fn random_datasets_are_annotated_as_by_a_scan() {
    for (seed, reals, scoring) in [
        (31, [Real::F32, Real::F32], Scoring::V3),
        (32, [Real::F64, Real::F32], Scoring::V2),
        (33, [Real::F64, Real::F64], Scoring::V1),
    ] {
        let request = Request {
            scoring,
            ppm: 20.0,
            ..request()
        };
        let ions = ions(&formulas(4), &request);
        let sample = planted(seed, [7, 6, 1], 600, reals, &ions);
        let file = sample.store();
        let outcome = run(&ions, &file, Keep::default());
        let expected = oracle(&sample, &ions);
        assert!(expected.targets.len() > 3);
        assert_eq!(outcome.found, expected);
    }
}
