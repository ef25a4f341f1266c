//! An atom of a formula: an element as nature mixes it, or one isotope of it.

use std::cmp::Ordering;
use std::fmt;

use crate::ion::formula::element::{Element, Isotope};

/// Room for an isotope's place beside the element's: no element has more than ten.
const PLACES: u16 = 16;

/// An element with its natural isotopes, or one stated isotope of it (`[13C]`).
///
/// Ordered by atomic number, the natural mixture before stated isotopes, those by mass.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Atom(u16);

impl Atom {
    /// An atom whose isotope is left to nature.
    #[must_use]
    pub fn natural(element: Element) -> Self {
        // There are 106 elements.
        #[expect(clippy::cast_possible_truncation, reason = "an index below 106")]
        let index = element.index() as u16;
        Self(index * PLACES)
    }

    /// An atom of the isotope with `number` protons and neutrons, if the table of isotopes has it.
    #[must_use]
    pub fn stated(element: Element, number: u32) -> Option<Self> {
        let mut isotopes = element.isotopes().iter();
        let place = isotopes.position(|isotope| isotope.number() == number)?;
        let place = u16::try_from(place).ok()?;
        Some(Self(Self::natural(element).0 + place + 1))
    }

    /// The element.
    #[must_use]
    pub fn element(self) -> Element {
        let index = usize::from(self.0 / PLACES);
        // Made of an element, so that there is one.
        Element::at(index).unwrap_or(Element::FIRST)
    }

    /// What an atom can weigh: all isotopes of the element, or the one that is stated.
    ///
    /// The abundance of a stated isotope is nature's, which says nothing about a labelled molecule.
    #[must_use]
    pub fn isotopes(self) -> &'static [Isotope] {
        let all = self.element().isotopes();
        match usize::from(self.0 % PLACES) {
            0 => all,
            place => all.get(place - 1..place).unwrap_or(all),
        }
    }

    /// Protons and neutrons of a stated isotope.
    #[must_use]
    pub fn number(self) -> Option<u32> {
        let stated = !self.0.is_multiple_of(PLACES);
        let isotope = self.isotopes().first().filter(|_| stated)?;
        Some(isotope.number())
    }

    /// Mass in Da of the most abundant isotope, or of the stated one; of equals the lightest.
    #[must_use]
    pub fn mass(self) -> f64 {
        let mut most = Isotope {
            mass: 0.0,
            abundance: -1.0,
        };
        for isotope in self.isotopes() {
            if isotope.abundance > most.abundance {
                most = *isotope;
            }
        }
        most.mass
    }

    /// The order of symbols, natural before stated.
    pub(super) fn by_symbol(self, other: Self) -> Ordering {
        let symbols = [self, other].map(|atom| atom.element().symbol());
        symbols[0].cmp(symbols[1]).then(self.cmp(&other))
    }
}

/// `C`, or `[13C]` where the isotope is stated.
impl fmt::Display for Atom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let symbol = self.element().symbol();
        match self.number() {
            Some(number) => write!(f, "[{number}{symbol}]"),
            None => f.write_str(symbol),
        }
    }
}

impl fmt::Debug for Atom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
