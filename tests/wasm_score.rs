//! Scores in a browser's dedicated worker: those of the references, and the same bits as natively.
#![cfg(target_arch = "wasm32")]
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::panic,
    missing_docs,
    reason = "a test; each file uses a part of the cases"
)]

mod score_vectors;

use score_vectors::golden;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_dedicated_worker);

#[wasm_bindgen_test]
fn image_sets_have_the_scores_of_the_references() {
    golden::sets_score_as_the_references();
}

#[wasm_bindgen_test]
fn arrays_have_the_scores_of_lists() {
    golden::arrays_score_as_lists();
}

#[wasm_bindgen_test]
fn formulas_of_a_dataset_have_the_scores_of_the_references() {
    golden::formulas_score_as_the_references();
}

#[wasm_bindgen_test]
fn chaos_counts_what_a_labelling_of_each_level_counts() {
    score_vectors::chaos_is_labelled(&[(1, 40), (40, 1), (16, 20), (64, 9), (130, 20)]);
    score_vectors::lists_have_the_chaos_of_arrays(&[(63, 9), (130, 20)]);
}

#[wasm_bindgen_test]
fn scores_have_the_same_bits_as_natively() {
    assert_eq!(score_vectors::bits(), score_vectors::BITS);
}
