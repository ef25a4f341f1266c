//! Molecule lists: which formulas are looked for, and what they are called.
//!
//! [`Reader`] is fed a list's bytes and gives [`Molecules`].

mod molecules;
mod reader;

pub use molecules::{Formula, Molecule, Molecules, Rejected, Separator};
pub use reader::Reader;
