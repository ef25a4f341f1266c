//! Drivers: the only part that performs I/O, and the rules they share.
//!
//! - [`policy`] says what a server's answer means, and [`fault`] why one cannot be used. Both are
//!   pure; the web driver calls them through wasm.
//! - [`native`] opens files and URLs and runs jobs over them with threads; its errors are [`Error`].
//!
//! This room stands on [`job`](crate::job) alone: it knows neither formats nor medians.

pub mod fault;
mod field;
pub mod policy;

#[cfg(all(feature = "cli", not(target_arch = "wasm32")))]
mod crew;
#[cfg(all(feature = "cli", not(target_arch = "wasm32")))]
mod error;
#[cfg(all(feature = "cli", not(target_arch = "wasm32")))]
mod file;
#[cfg(all(feature = "cli", not(target_arch = "wasm32")))]
mod http;
#[cfg(all(feature = "cli", not(target_arch = "wasm32")))]
pub mod native;
#[cfg(all(feature = "cli", not(target_arch = "wasm32")))]
mod session;
#[cfg(all(feature = "cli", not(target_arch = "wasm32")))]
mod url;

#[cfg(all(feature = "cli", not(target_arch = "wasm32")))]
pub use error::Error;
