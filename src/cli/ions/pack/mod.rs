//! `sectile pack`.

mod files;
pub mod names;
