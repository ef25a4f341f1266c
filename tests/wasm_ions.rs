//! Stores and images in a browser's dedicated worker: the same bits as natively.
#![cfg(target_arch = "wasm32")]
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::float_cmp,
    missing_docs,
    reason = "a test; each file uses a part of the cases"
)]

mod ion_cases;
mod ion_vectors;
mod packing;

use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_dedicated_worker);

#[wasm_bindgen_test]
fn stores_have_the_same_bits_as_natively() {
    let all = ion_vectors::datasets();
    let found = all.iter().map(|(name, dataset, ibd)| {
        let hash = ion_vectors::stores_hash(name, dataset, ibd);
        (*name, hash)
    });
    let found: Vec<(&str, String)> = found.collect();
    let expected = ion_vectors::HASHES.map(|(name, hash)| (name, hash.to_owned()));
    assert_eq!(found, expected);
}

#[wasm_bindgen_test]
fn images_equal_scans_as_natively() {
    for (name, dataset, ibd) in ion_vectors::datasets() {
        ion_vectors::images_are_scans(name, &dataset, &ibd);
    }
}
