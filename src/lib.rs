//! Medians of astronomy stacks by HTTP ranges, in one memory budget.

pub mod budget;
pub mod drive;
pub mod error;
pub mod fits;
pub mod job;
pub mod manifest;
pub mod npy;
pub mod png;
pub mod range;
pub mod raster;
pub mod stack;
#[cfg(target_arch = "wasm32")]
mod wasm;
