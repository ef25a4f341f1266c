//! Drivers: the only part that performs I/O, and the rules they share.
//!
//! - [`policy`] says what a server's answer means, and [`fault`] why one cannot be used. Both are
//!   pure; the web driver calls them through wasm.
//!
//! This room stands on [`job`](crate::job) alone: it knows neither formats nor medians.

pub mod fault;
mod field;
pub mod policy;
