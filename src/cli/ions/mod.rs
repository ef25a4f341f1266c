//! The commands for imaging mass spectrometry: `pack`, `ion`, `spectrum`, `annotate`, `images`, and their
//! parts of `info` and `plan`.
//!
//! [`partner`] finds the `.ibd` of an `.imzML`, [`dataset`] opens the pair, [`store`] a packed store.
//! [`pack`] sorts the one into the other, [`image`] draws, [`spectrum`] reads the other way. [`annotate`] finds
//! molecules, for an [`instrument`]; [`images`] writes what it has found.

pub mod annotate;
mod dataset;
pub mod image;
pub mod images;
pub mod info;
mod instrument;
pub mod pack;
pub mod partner;
mod reading;
mod sought;
pub mod spectrum;
mod store;
mod typed;
