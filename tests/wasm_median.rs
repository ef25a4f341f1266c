//! The median in wasm, in a dedicated worker of a browser: where the page computes it.

#![cfg(target_arch = "wasm32")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::float_cmp,
    reason = "a test may stop at once, and means exact values"
)]

mod median_vectors;

use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_dedicated_worker);

/// Holds every stack against a sort, too.
#[wasm_bindgen_test]
fn wasm_gives_the_bits_that_native_code_gives() {
    assert_eq!(median_vectors::digest(257), median_vectors::DIGEST_257);
}
