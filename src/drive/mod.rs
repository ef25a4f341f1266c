//! Drivers: the only part that performs I/O, and the rules they share.
//!
//! - [`policy`] says what a server's answer means, and [`fault`] why one cannot be used. Both are
//!   pure; the web driver calls them through wasm.
//! - `native` opens files and URLs, walks headers and runs jobs with threads; its errors are
//!   `Error`. It is there with the feature `cli`.
//!
//! This room stands on [`job`](crate::job) alone: it knows neither formats nor medians.

pub mod fault;
mod field;
mod identity;
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
mod options;
#[cfg(all(feature = "cli", not(target_arch = "wasm32")))]
mod pace;
#[cfg(all(feature = "cli", not(target_arch = "wasm32")))]
mod part;
#[cfg(all(feature = "cli", not(target_arch = "wasm32")))]
mod session;
#[cfg(all(feature = "cli", not(target_arch = "wasm32")))]
mod url;
#[cfg(all(feature = "cli", not(target_arch = "wasm32")))]
mod walk;

#[cfg(all(feature = "cli", not(target_arch = "wasm32")))]
pub use error::Error;
