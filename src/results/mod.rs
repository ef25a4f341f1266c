//! Results as files: those of an annotation, and those of a median.
//!
//! Of an annotation, [`Table`] takes the scores of all shards and gives [`Annotations`], which are written as CSV and JSON;
//! [`images`] has the images file, [`part`] what shards append to while they run and what they come to, [`shards`] what
//! a shard is and how it is computed, [`assembly`] how all of them become the results. [`mod@stack`] has the file of a
//! median and the parts that its shards write, [`pyramid`] the median at all resolutions.

mod annotations;
pub mod assembly;
mod csv;
pub mod images;
mod json;
pub mod part;
mod provenance;
pub mod pyramid;
pub mod shards;
pub mod stack;
mod table;
mod text;

pub use annotations::{Annotations, Row};
pub use provenance::Provenance;
pub(crate) use provenance::hex;
pub use table::Table;
