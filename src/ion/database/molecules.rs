//! What a list has in it.

use std::fmt;
use std::ops::Range;

use crate::ion::formula::Composition;

/// The formulas of a list and the molecules that have them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Molecules {
    /// The formulas: each composition once, sorted by their texts as bytes.
    pub formulas: Vec<Formula>,
    /// The molecules, those of a formula side by side in the list's order.
    pub molecules: Vec<Molecule>,
    /// The first rows that were left out, at most [`Molecules::MOST_SHOWN`].
    pub rejected: Vec<Rejected>,
    /// All rows that were left out.
    pub rejected_rows: u64,
    /// Rows with something in them, without the header: molecules and rejected ones.
    pub rows: u64,
    /// What divides the columns.
    pub separator: Separator,
    /// The names of the columns, as they are; empty for a plain list.
    pub columns: Vec<String>,
    /// What a user should know: how the list was understood where that was not plain.
    pub warnings: Vec<String>,
}

impl Molecules {
    /// The most rejected rows that are kept.
    pub const MOST_SHOWN: usize = 100;

    /// Bytes that the formulas and molecules hold, texts included.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let formulas = self.formulas.iter().map(|formula| {
            let atoms = size_of_val(formula.composition.atoms());
            size_of::<Formula>() + formula.text.len() + atoms
        });
        let molecules = self.molecules.iter().map(|molecule| {
            let texts =
                [&molecule.id, &molecule.name].map(|text| text.as_ref().map_or(0, String::len));
            size_of::<Molecule>() + texts[0] + texts[1]
        });
        let bytes: usize = formulas.chain(molecules).sum();
        bytes as u64
    }

    /// The molecules of the formula at `index`; none if there is no such formula.
    #[must_use]
    pub fn of(&self, index: usize) -> &[Molecule] {
        let range = self.formulas.get(index).map(|formula| {
            let Range { start, end } = formula.molecules;
            start as usize..end as usize
        });
        range
            .and_then(|range| self.molecules.get(range))
            .unwrap_or(&[])
    }
}

/// A formula of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Formula {
    /// The formula as the list has it, without white space around it; of several ways to write it the first
    /// in the order of their bytes.
    pub text: String,
    /// Its atoms.
    pub composition: Composition,
    /// Where its molecules are in [`Molecules::molecules`]; at least one.
    pub molecules: Range<u32>,
}

/// A molecule of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Molecule {
    /// The list's identifier of it, where it has one.
    pub id: Option<String>,
    /// Its name, where it has one.
    pub name: Option<String>,
}

/// A row that was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    /// The line on which the row begins; the list's first line is 1.
    pub line: u64,
    /// The row's formula, shortened where it is long.
    pub text: String,
    /// What is wrong with it.
    pub what: String,
}

/// What divides the columns of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Separator {
    /// `\t`
    Tab,
    /// `;`
    Semicolon,
    /// `,`
    Comma,
    /// Nothing: a plain list has one formula a line.
    None,
}

/// `tab`, `semicolon`, `comma` or `none`.
impl fmt::Display for Separator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tab => "tab",
            Self::Semicolon => "semicolon",
            Self::Comma => "comma",
            Self::None => "none",
        })
    }
}

impl Separator {
    /// The byte; a plain list is read as if a tab divided it.
    pub(super) fn byte(self) -> u8 {
        match self {
            Self::Tab | Self::None => b'\t',
            Self::Semicolon => b';',
            Self::Comma => b',',
        }
    }
}
