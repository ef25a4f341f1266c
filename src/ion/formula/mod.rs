//! Chemical formulas: what a molecule or an ion is made of.
//!
//! [`Composition`] is a formula read and summed up, [`modifier`] turns one into another (`+Na`, `-H2O+H`),
//! [`element`] has the isotopes.

mod atom;
mod composition;
pub mod element;
mod fault;
pub mod modifier;
mod parse;
mod table;

pub use atom::Atom;
pub use composition::{Composition, MOST_ATOMS};
pub use fault::Fault;
