//! Scores: chaos, spatial, spectral and MSM, against slow ones and the reference programs'.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    clippy::unwrap_used,
    clippy::float_cmp,
    clippy::cast_possible_truncation,
    reason = "a test says what failed by failing"
)]

mod score_vectors;

use proptest::prelude::*;
use score_vectors::{golden, labelled};
use sectile::ion::score::chaos;

const SIZES: [(usize, usize); 16] = [
    (1, 1),
    (1, 40),
    (40, 1),
    (2, 2),
    (3, 3),
    (2, 30),
    (30, 2),
    (16, 20),
    (31, 17),
    (62, 9),
    (63, 9),
    (64, 9),
    (65, 9),
    (127, 11),
    (128, 12),
    (130, 70),
];

#[test]
fn chaos_counts_what_a_labelling_of_each_level_counts() {
    score_vectors::chaos_is_labelled(&SIZES);
}

#[test]
fn image_sets_have_the_scores_of_the_references() {
    golden::sets_score_as_the_references();
}

#[test]
fn arrays_have_the_scores_of_lists() {
    golden::arrays_score_as_lists();
}

#[test]
fn formulas_of_a_dataset_have_the_scores_of_the_references() {
    golden::formulas_score_as_the_references();
}

#[test]
fn scores_have_the_bits_that_they_have_in_a_browser() {
    assert_eq!(score_vectors::bits(), score_vectors::BITS);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn chaos_of_any_image_is_the_labelled_one(
        (width, values) in (1..90_usize).prop_flat_map(|width| {
            let value = prop_oneof![
                3 => Just(0.0_f32),
                4 => (0..8_u8).prop_map(f32::from),
                1 => -3.0..1e3_f32,
            ];
            (Just(width), prop::collection::vec(value, width..30 * width))
        })
    ) {
        let height = values.len() / width;
        let values = &values[..width * height];
        let expected = labelled(values, width, height, 30);
        let found = chaos::measure(values, width as u32, height as u32, 30).unwrap();
        prop_assert!((found - expected).abs() < 1e-12 || found.is_nan() && expected.is_nan());
    }
}
