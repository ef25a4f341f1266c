//! Results of an annotation: tables, rates, and files.

pub mod images;
pub mod part;
