//! Isotope patterns and annotation in a browser's dedicated worker: the same as natively.
#![cfg(target_arch = "wasm32")]
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::panic,
    clippy::unreadable_literal,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::float_cmp,
    missing_docs,
    reason = "a test; each file uses a part of the cases"
)]

mod annotate_cases;
mod annotate_vectors;
mod ion_cases;
mod isotope_vectors;
mod packing;

use isotope_vectors::Worst;
use sectile::ion::isotope::Generation;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_dedicated_worker);

fn within(worst: &Worst, count: u32, mz: f64, intensity: f64) {
    assert_eq!(worst.patterns, count);
    assert!(worst.mz <= mz && worst.intensity <= intensity, "{worst:?}");
}

#[wasm_bindgen_test]
fn isotope_patterns_are_those_of_the_reference() {
    for (generation, count) in [(Generation::Current, 26 * 15), (Generation::Older, 26 * 5)] {
        within(
            &isotope_vectors::isotopologues(generation),
            26,
            1e-12,
            1e-12,
        );
        within(&isotope_vectors::patterns(generation), count, 1e-8, 1e-5);
    }
    assert_eq!(isotope_vectors::half_widths(), 45);
    assert_eq!(isotope_vectors::hash(), isotope_vectors::HASH);
}

#[wasm_bindgen_test]
fn the_reference_dataset_is_annotated_as_by_the_reference_programs() {
    annotate_vectors::the_reference_dataset_is_annotated_as_by_the_reference_programs();
    annotate_vectors::images_are_saved_in_the_groups_of_the_reference_program();
}

#[wasm_bindgen_test]
fn random_datasets_are_annotated_as_by_a_scan() {
    annotate_vectors::random_datasets_are_annotated_as_by_a_scan();
}
