//! The median against a sort, numpy's recorded answers, and itself at other places.

#![cfg(not(target_arch = "wasm32"))]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::float_cmp,
    reason = "a test may stop at once, and means exact values"
)]

mod median_vectors;

#[test]
fn every_kind_of_stack_at_every_size_equals_a_sort() {
    assert_eq!(median_vectors::digest(4096), 0xb9a2_6f14_3cf3_66ac);
}
