//! Molecule lists: which formulas are looked for, and what they are called.
//!
//! [`Reader`] is fed a list's bytes and gives [`Molecules`].

mod columns;
mod draft;
mod foreign;
mod head;
mod lines;
mod molecules;
mod reader;
mod rows;
mod text;

pub use molecules::{Formula, Molecule, Molecules, Rejected, Separator};
pub use reader::Reader;
