//! Formulas and molecule lists in a browser's dedicated worker: read as natively.
#![cfg(target_arch = "wasm32")]
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::panic,
    missing_docs,
    reason = "a test; each file uses a part of the cases"
)]

mod formula_vectors;

use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_dedicated_worker);

#[wasm_bindgen_test]
fn isotopes_are_the_golden_ones() {
    formula_vectors::isotopes_are_the_golden_ones();
}

#[wasm_bindgen_test]
fn charges_have_their_electrons() {
    formula_vectors::charges_have_their_electrons();
}

#[wasm_bindgen_test]
fn formulas_have_their_atoms() {
    formula_vectors::formulas_have_their_atoms();
}

#[wasm_bindgen_test]
fn bad_formulas_are_refused() {
    formula_vectors::bad_formulas_are_refused();
}

#[wasm_bindgen_test]
fn ions_are_the_golden_ones() {
    formula_vectors::ions_are_the_golden_ones();
}

#[wasm_bindgen_test]
fn lists_are_read_however_they_come() {
    formula_vectors::lists_are_read_however_they_come();
}
