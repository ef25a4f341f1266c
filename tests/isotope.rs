//! Isotope patterns: those of METASPACE's library, at every resolving power, and bounds that hold.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::unreadable_literal,
    clippy::float_cmp,
    reason = "a test"
)]

mod isotope_vectors;

use isotope_vectors::{Worst, isotopologues, patterns};
use sectile::ion::isotope::Generation;

fn within(worst: Worst, count: u32, mz: f64, intensity: f64) {
    println!("{worst:?}");
    assert_eq!(worst.patterns, count);
    assert!(worst.mz <= mz && worst.intensity <= intensity, "{worst:?}");
}

#[test]
fn isotopologues_are_the_librarys() {
    for generation in [Generation::Current, Generation::Older] {
        within(isotopologues(generation), 26, 1e-12, 1e-12);
    }
}

#[test]
fn patterns_are_the_librarys() {
    within(patterns(Generation::Current), 26 * 15, 1e-8, 1e-5);
}

#[test]
fn patterns_of_the_older_generation_are_the_older_librarys() {
    within(patterns(Generation::Older), 26 * 5, 1e-8, 1e-5);
}
