//! Results of an annotation: rates, tables, and files.
//!
//! [`Table`] takes the scores of all shards and gives [`Annotations`], which are written as CSV and JSON;
//! [`images`] has the images file, [`part`] what shards append to while they run.

mod annotations;
mod csv;
pub mod images;
mod json;
pub mod part;
mod provenance;
mod table;
mod text;

pub use annotations::{Annotations, Row};
pub use provenance::Provenance;
pub(crate) use provenance::hex;
pub use table::Table;
