//! Formulas, adducts and neutral losses as they are typed on the command line.

use sectile::ion::formula::Composition;
use sectile::ion::formula::modifier::Modifier;

use crate::cli::failure::{Failure, Result};

/// Reads the value of `--formula`.
pub fn formula(text: &str) -> Result<Composition> {
    Composition::parse(text).map_err(|fault| Failure::usage(format!("--formula {text:?}: {fault}")))
}

/// Reads a value of an option that takes adducts or losses.
pub fn modifier(option: &str, text: &str) -> Result<Modifier> {
    Modifier::parse(text).map_err(|fault| Failure::usage(format!("{option} {text:?}: {fault}")))
}
