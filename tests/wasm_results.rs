//! Rates and results in a browser's dedicated worker: the same numbers and bytes as natively.
#![cfg(target_arch = "wasm32")]
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::panic,
    clippy::float_cmp,
    missing_docs,
    reason = "a test; each file uses a part of the cases"
)]

mod fdr_vectors;
mod results_vectors;

use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_dedicated_worker);

#[wasm_bindgen_test]
fn decoys_and_rates_are_metaspaces() {
    fdr_vectors::random_numbers_are_numpys();
    fdr_vectors::decoys_are_metaspaces();
    fdr_vectors::decoys_keep_losses();
    fdr_vectors::fewer_decoys_are_the_first_ones();
    fdr_vectors::rates_are_metaspaces();
    fdr_vectors::score_maps_are_metaspaces();
    fdr_vectors::levels_are_metaspaces();
}

#[wasm_bindgen_test]
fn results_have_the_same_bytes_as_natively() {
    assert_eq!(results_vectors::hash(), results_vectors::HASH);
}
