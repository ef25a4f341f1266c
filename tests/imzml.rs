//! imzML: index, arrays and pairs, by files with known answers.

#![cfg(not(target_arch = "wasm32"))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "a test fails by panicking, and its numbers are small"
)]

#[path = "imzml/cases.rs"]
mod cases;
#[path = "imzml/faults.rs"]
mod faults;
#[path = "imzml/pieces.rs"]
mod pieces;
#[path = "imzml/real.rs"]
mod real;
#[path = "imzml/stated.rs"]
mod stated;
#[path = "imzml/text.rs"]
mod text;
#[path = "imzml/values.rs"]
mod values;
