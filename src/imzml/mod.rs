//! imzML 1.1: what an imaging mass-spectrometry dataset holds, and where.
//!
//! A dataset is a pair of files: XML in mzML's schema (`.imzML`), which describes every spectrum, and
//! the arrays of all spectra in one binary file (`.ibd`). Both are read by range; the XML once, from
//! beginning to end, into an index of 48 bytes a spectrum.

pub mod checksum;
pub mod dataset;
mod described;
mod document;
mod draft;
pub mod extent;
mod finish;
mod foreign;
pub mod ibd;
mod index;
pub mod pair;
pub mod reader;
mod sequence;
mod spectra;
pub mod spectrum;
mod term;
mod value;
mod xml;

pub use dataset::Dataset;
