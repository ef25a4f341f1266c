//! Annotation natively, by the vectors that a browser is held to as well.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::float_cmp,
    reason = "a test; each file uses a part of the cases"
)]

mod annotate_cases;
mod annotate_vectors;
mod ion_cases;
mod packing;

#[test]
fn the_reference_dataset_is_annotated_as_by_the_reference_programs() {
    annotate_vectors::the_reference_dataset_is_annotated_as_by_the_reference_programs();
}

#[test]
fn images_are_saved_in_the_groups_of_the_reference_program() {
    annotate_vectors::images_are_saved_in_the_groups_of_the_reference_program();
}

#[test]
fn random_datasets_are_annotated_as_by_a_scan() {
    annotate_vectors::random_datasets_are_annotated_as_by_a_scan();
}
