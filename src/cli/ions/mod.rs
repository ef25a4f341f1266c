//! The commands for imaging mass spectrometry: `pack`, `ion`, `spectrum`, and their parts of `info`
//! and `plan`.
//!
//! [`partner`] finds the `.ibd` of an `.imzML`, [`dataset`] opens the pair, [`store`] a packed store.
//! [`pack`] sorts the one into the other, [`image`] draws, [`spectrum`] reads the other way.

mod dataset;
pub mod image;
pub mod info;
pub mod pack;
pub mod partner;
mod reading;
pub mod spectrum;
mod store;
