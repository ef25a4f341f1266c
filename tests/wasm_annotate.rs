//! Formulas, isotope patterns, scores, rates and annotation in a browser's dedicated worker: as natively.
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
mod fdr_vectors;
mod formula_vectors;
mod ion_cases;
mod isotope_vectors;
mod packing;
mod score_vectors;

use std::rc::Rc;

use annotate_cases::{FORMULAS, Found, annotate, ions, oracle, planted, request};
use ion_cases::{Feeding, WHOLE, head};
use sectile::ion::annotate::{Request, Wish};
use sectile::ion::isotope::Generation;
use sectile::ion::scoring::Scoring;
use sectile::store::head::Real;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_dedicated_worker);

#[wasm_bindgen_test]
fn formulas_lists_and_modifiers_are_read_as_natively() {
    formula_vectors::isotopes_are_the_golden_ones();
    formula_vectors::charges_have_their_electrons();
    formula_vectors::formulas_have_their_atoms();
    formula_vectors::bad_formulas_are_refused();
    formula_vectors::ions_are_the_golden_ones();
    formula_vectors::lists_are_read_however_they_come();
}

#[wasm_bindgen_test]
fn isotope_patterns_are_those_of_the_reference() {
    for (generation, count) in [(Generation::Current, 26 * 15), (Generation::Older, 26 * 5)] {
        let worst = isotope_vectors::patterns(generation);
        assert_eq!(worst.patterns, count);
        assert!(worst.mz <= 1e-8 && worst.intensity <= 1e-5, "{worst:?}");
    }
}

#[wasm_bindgen_test]
fn scores_are_those_of_the_references_and_have_the_bits_that_they_have_natively() {
    score_vectors::golden::sets_score_as_the_references();
    score_vectors::golden::arrays_score_as_lists();
    score_vectors::golden::formulas_score_as_the_references();
    score_vectors::chaos_is_labelled(&[(1, 1), (40, 1), (31, 17), (64, 9), (65, 9), (130, 70)]);
    assert_eq!(score_vectors::bits(), score_vectors::BITS);
}

#[wasm_bindgen_test]
fn decoys_and_rates_are_those_of_metaspace() {
    fdr_vectors::random_numbers_are_numpys();
    fdr_vectors::decoys_are_metaspaces();
    fdr_vectors::decoys_keep_losses();
    fdr_vectors::rates_are_metaspaces();
    fdr_vectors::score_maps_are_metaspaces();
    fdr_vectors::levels_are_metaspaces();
    fdr_vectors::fewer_decoys_are_the_first_ones();
}

#[wasm_bindgen_test]
fn annotation_equals_a_scan_of_all_peaks_at_any_budget_and_in_shards() {
    for (scoring, reals) in [
        (Scoring::V3, [Real::F32, Real::F32]),
        (Scoring::V1, [Real::F64, Real::F32]),
    ] {
        let request = Request {
            scoring,
            hotspot: scoring == Scoring::V3,
            ..request()
        };
        let ions = ions(&FORMULAS, &request);
        let sample = planted(1, [12, 9, 1], 900, reals, &ions);
        let expected = oracle(&sample, &ions);
        assert!(expected.targets.len() > 5 && !expected.decoys.is_empty());
        let file = sample.store();
        let head = head(&file);
        let pieces = Feeding {
            piece: 777,
            shuffled: true,
        };
        for (memory, shards, feeding) in [(64 << 20, 1, WHOLE), (16 << 20, 7, pieces)] {
            let wish = Wish {
                memory,
                ..Wish::default()
            };
            let mut found = Found::default();
            for shard in ions.shards(shards) {
                let from = shard.start;
                let ions = Rc::clone(&ions);
                let outcome = annotate(&file, &head, &ions, shard, from, &wish, feeding).unwrap();
                found.join(outcome.found);
            }
            assert_eq!(found, expected);
        }
    }
}
