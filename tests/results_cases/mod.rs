//! Cases of results, by what they are about.

mod images;
mod parts;
mod scores;
mod table;
