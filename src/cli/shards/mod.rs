//! The shards of a median: one process computes one of them, `sectile assemble` makes the result.
//!
//! They meet in a folder beside the output: `job.json` says what all of them are about, and each writes one part.

pub mod folder;
mod run;

pub use run::run;
