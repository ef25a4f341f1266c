//! How many atoms of which kind.

use std::cmp::Ordering;
use std::fmt::{self, Write};

use crate::ion::formula::atom::Atom;
use crate::ion::formula::fault::Fault;
use crate::ion::formula::parse;

/// The most atoms of one kind that a formula may have: of carbon, over a million Da.
pub const MOST_ATOMS: u32 = 100_000;

/// The atoms of a molecule or an ion: each kind once, with its count, never 0.
///
/// Formulas written differently (`C2H6O`, `CH3CH2OH`) are equal. A composition has no charge: that is said
/// by what makes an ion of it.
///
/// Displayed in METASPACE's order: C, H, N, O, P, S, then the other symbols alphabetically; a stated isotope
/// comes after its element, as `[13C]6`. [`Composition::parse`] reads what is displayed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Composition {
    atoms: Vec<(Atom, u32)>,
}

impl Composition {
    /// Reads a formula, such as `C6H12O6`, `C6H5(CH2)3OH`, `[13C]6H12O6`, `C8H11NO2.HCl`.
    ///
    /// * A symbol is a capital with the small letters after it; case matters. `D` is `[2H]`.
    /// * Counts are 1 to [`MOST_ATOMS`]; subscript digits are digits.
    /// * Groups in `()` or `[]` nest, up to 32 deep, and have a count of their own.
    /// * A repeated element is *added*: `CH3CH2OH` is `C2H6O`. METASPACE's parser keeps its last count only.
    /// * An isotope is stated in brackets, `[13C]6` or `[13C6]`; it must be one of the element's table.
    /// * `.` and `·` join the parts of an adduct, which are added and may have a count in front
    ///   (`CuSO4.5H2O`); `=` is passed over, as METASPACE does.
    /// * White space at the ends is passed over.
    ///
    /// # Errors
    /// [`Fault`] for anything else: unknown symbols, counts of 0 or too large, open groups, white space
    /// inside, a number in front, and charges (`C5H14NO+`), which the adduct has to state (`[M]+`).
    pub fn parse(text: &str) -> Result<Self, Fault> {
        parse::composition(text)
    }

    /// The kinds of atom in their order, each with its count.
    #[must_use]
    pub fn atoms(&self) -> &[(Atom, u32)] {
        &self.atoms
    }

    /// Atoms of one kind.
    #[must_use]
    pub fn count(&self, atom: Atom) -> u32 {
        self.place(atom).map_or(0, |at| self.atoms[at].1)
    }

    /// Mass in Da of the neutral composition with each element's most abundant isotope.
    ///
    /// An ion of charge z has the m/z (mass - z [electrons](super::element::ELECTRON)) / |z|.
    #[must_use]
    pub fn mass(&self) -> f64 {
        let masses = self.atoms.iter();
        masses
            .map(|(atom, count)| atom.mass() * f64::from(*count))
            .sum()
    }

    /// The formula in Hill's order: C, H, then alphabetically; without carbon all alphabetically.
    #[must_use]
    pub fn hill(&self) -> String {
        let carbon = self
            .atoms
            .iter()
            .any(|(atom, _)| atom.element().symbol() == "C");
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = self.write(&mut text, |symbol| match symbol {
            "C" if carbon => 0,
            "H" if carbon => 1,
            _ => 2,
        });
        text
    }

    /// The atoms of both.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Option<Self> {
        let mut sum = self.clone();
        sum.add(other)?;
        Some(sum)
    }

    /// Sums atoms, kinds repeated in any order; a kind of which there are too many is the error.
    pub(super) fn sum(atoms: &[(Atom, u32)]) -> Result<Self, Atom> {
        let mut sum = Self::empty();
        for (atom, count) in atoms {
            sum.add_atoms(*atom, *count).ok_or(*atom)?;
        }
        Ok(sum)
    }

    /// Of no atoms, which no formula is.
    pub(in crate::ion) fn empty() -> Self {
        Self { atoms: Vec::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.atoms.is_empty()
    }

    /// Adds the atoms of another; `None`, with a part of them added, if there are too many.
    pub(super) fn add(&mut self, other: &Self) -> Option<()> {
        for (atom, count) in &other.atoms {
            self.add_atoms(*atom, *count)?;
        }
        Some(())
    }

    fn add_atoms(&mut self, atom: Atom, count: u32) -> Option<()> {
        match self.place(atom) {
            Ok(at) => {
                let sum = self.atoms[at].1.checked_add(count)?;
                self.atoms[at].1 = (sum <= MOST_ATOMS).then_some(sum)?;
            }
            Err(at) => self.atoms.insert(at, (atom, count)),
        }
        Some(())
    }

    /// Takes the atoms of another away; `None`, with a part of them taken, if there are too few.
    pub(super) fn take(&mut self, other: &Self) -> Option<()> {
        for (atom, count) in &other.atoms {
            let at = self.place(*atom).ok()?;
            self.atoms[at].1 = self.atoms[at].1.checked_sub(*count)?;
        }
        self.atoms.retain(|(_, count)| *count > 0);
        Some(())
    }

    fn place(&self, atom: Atom) -> Result<usize, usize> {
        self.atoms.binary_search_by_key(&atom, |(known, _)| *known)
    }

    /// Writes the atoms by the rank of their symbols, then alphabetically.
    fn write(&self, out: &mut impl Write, rank: impl Fn(&str) -> usize) -> fmt::Result {
        let key = |atom: Atom| rank(atom.element().symbol());
        let before = |a: Atom, b: Atom| match key(a).cmp(&key(b)) {
            Ordering::Equal => a.by_symbol(b) == Ordering::Less,
            unequal => unequal == Ordering::Less,
        };
        // Kinds are few: each is put where it belongs among those before it.
        let mut atoms: Vec<(Atom, u32)> = Vec::with_capacity(self.atoms.len());
        for one in &self.atoms {
            let at = atoms.partition_point(|other| before(other.0, one.0));
            atoms.insert(at, *one);
        }
        for (atom, count) in atoms {
            write!(out, "{atom}")?;
            if count > 1 {
                write!(out, "{count}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Composition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const FIRST: [&str; 6] = ["C", "H", "N", "O", "P", "S"];
        self.write(f, |symbol| {
            let place = FIRST.iter().position(|first| *first == symbol);
            place.unwrap_or(FIRST.len())
        })
    }
}
