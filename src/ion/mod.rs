//! Ions: imaging datasets, packed by m/z, looked at, and searched for molecules.
//!
//! [`pack`] sorts a dataset into a segment store. [`window`] is what is asked for, [`mod@image`] draws it from peaks
//! in memory, [`images`] from a store's blocks, which it plans, asks for and is fed; [`spectrum`] goes the other way,
//! from a pixel or a [`region`] to its m/z. [`normalise`] divides an image by its pixels' totals.
//!
//! [`formula`] is what molecules are made of, [`database`] lists them, [`isotope`] says where their peaks are,
//! [`scoring`] which rules hold, [`score`] how well images fit, and [`annotate`] takes all ions of a list through a
//! store. [`fdr`] says how many of those that score well are likely wrong.

pub mod annotate;
pub mod database;
mod draft;
pub mod fdr;
pub mod formula;
pub mod image;
pub mod images;
pub mod isotope;
pub mod normalise;
pub mod pack;
mod reader;
mod reads;
pub mod region;
mod schedule;
pub mod score;
pub mod scoring;
mod slots;
pub mod spectrum;
pub mod window;
