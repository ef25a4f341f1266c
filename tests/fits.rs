//! FITS: the header walk, cards, images and WCS, by files with known answers.

#![cfg(not(target_arch = "wasm32"))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "fits/cards.rs"]
mod cards;
#[path = "fits/cases.rs"]
mod cases;
#[path = "fits/faults.rs"]
mod faults;
#[path = "fits/masks.rs"]
mod masks;
#[path = "fits/mutations.rs"]
mod mutations;
#[path = "fits/reads.rs"]
mod reads;
#[path = "fits/samples.rs"]
mod samples;
#[path = "fits/sky.rs"]
mod sky;
#[path = "fits/source.rs"]
mod source;
