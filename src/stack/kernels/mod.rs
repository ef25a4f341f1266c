//! Inner loops of the median: blocks of a few pixels by all exposures, small enough for the
//! first-level cache.
//!
//! Nothing here names a vector type. Every loop runs over a fixed number of lanes without branches,
//! which the compiler turns into SIMD (`simd128` in wasm, SSE2 or better natively); selections are
//! written `if b < a { b } else { a }`, which is exactly one `pmin`/`minps`. Functions that work on
//! a block are kept out of line: a browser's engine swaps its slow first code for optimised code
//! between two calls, never within one.

pub(super) mod block;
mod fill;
pub(super) mod leave;
pub(super) mod load;
mod network;
pub(super) mod real;
mod search;
pub(super) mod strip;

pub(super) use network::PIXELS;

/// Pixels in a block of f32 values: one row of a block is 128 bytes, two cache lines.
pub(super) const LANES: usize = 32;

/// Pixels in a block of f64 values.
pub(super) const WIDE_LANES: usize = 16;
