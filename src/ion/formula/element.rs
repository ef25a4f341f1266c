//! Chemical elements and their isotopes.

use std::fmt;

use crate::ion::formula::table::ELEMENTS;

/// Mass of an electron in Da, as METASPACE's ims-cpp has it.
pub const ELECTRON: f64 = 0.000_548_579_909_24;

/// One isotope of an element.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Isotope {
    /// Mass of the atom in Da, its electrons included.
    pub mass: f64,
    /// The share of the element's atoms that are of this isotope, 0 to 1.
    pub abundance: f64,
}

impl Isotope {
    /// Protons and neutrons: 13 of carbon-13.
    #[must_use]
    pub fn number(&self) -> u32 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "masses of the table are from 1 to 300"
        )]
        let number = (self.mass + 0.5) as u32;
        number
    }
}

/// One of the 106 elements from hydrogen to seaborgium, ordered by atomic number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Element(u8);

impl Element {
    /// Elements that are known.
    pub const COUNT: usize = ELEMENTS.len();

    /// Hydrogen.
    pub(super) const FIRST: Self = Self(0);

    /// The element of a symbol; case matters (`Co` is cobalt, `CO` none).
    #[must_use]
    pub fn of(symbol: &str) -> Option<Self> {
        let index = ELEMENTS.iter().position(|(known, _)| *known == symbol)?;
        u8::try_from(index).ok().map(Self)
    }

    /// The element at `index`, which is the atomic number less one.
    #[must_use]
    pub fn at(index: usize) -> Option<Self> {
        let known = u8::try_from(index).ok()?;
        (index < Self::COUNT).then_some(Self(known))
    }

    /// The atomic number less one: a place in a table of [`Element::COUNT`] elements.
    #[must_use]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// The symbol, for instance `Na`.
    #[must_use]
    pub fn symbol(self) -> &'static str {
        ELEMENTS[self.index()].0
    }

    /// The isotopes by mass, at least one and at most ten; abundances sum to 1 within 0.001.
    ///
    /// Elements without a stable isotope have the one that lives longest.
    #[must_use]
    pub fn isotopes(self) -> &'static [Isotope] {
        ELEMENTS[self.index()].1
    }
}

impl fmt::Debug for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.symbol())
    }
}
