//! From the text of a formula to its atoms.

use crate::ion::formula::atom::Atom;
use crate::ion::formula::composition::{Composition, MOST_ATOMS};
use crate::ion::formula::element::Element;
use crate::ion::formula::fault::Fault;

/// Groups inside one another.
const DEEPEST: usize = 32;

/// Characters of the text that a message shows.
const SHOWN: usize = 16;

/// Reads a formula; what it accepts is said at [`Composition::parse`].
pub(super) fn composition(text: &str) -> Result<Composition, Fault> {
    read(text, false)
}

/// Reads a part of an adduct: a formula that may have a digit in front, which counts it whole.
pub(super) fn counted(text: &str) -> Result<Composition, Fault> {
    read(text, true)
}

fn read(text: &str, counted: bool) -> Result<Composition, Fault> {
    let trimmed = text.trim_start();
    let mut reader = Reader {
        at: text.chars().count() - trimmed.chars().count(),
        rest: trimmed.trim_end(),
        atoms: Vec::new(),
        groups: Vec::new(),
        part: None,
    };
    if reader.rest.is_empty() {
        return Err(Fault::new(0, "there is no formula"));
    }
    if counted {
        reader.digit_in_front()?;
    }
    while let Some(next) = reader.rest.chars().next() {
        reader.item(next)?;
    }
    reader.close_part(true)?;
    Composition::sum(&reader.atoms).map_err(|atom| {
        let what = format!("more than {MOST_ATOMS} atoms of {atom}");
        Fault::new(0, what)
    })
}

/// A group that is open.
struct Group {
    /// Atoms read before it.
    from: usize,
    /// Where it was opened.
    at: usize,
    /// The bracket that closes it.
    close: char,
}

/// A part after a dot.
struct Part {
    from: usize,
    count: u32,
}

struct Reader<'a> {
    rest: &'a str,
    /// Characters before `rest`.
    at: usize,
    /// Atoms so far, kinds repeated.
    atoms: Vec<(Atom, u32)>,
    groups: Vec<Group>,
    part: Option<Part>,
}

impl Reader<'_> {
    fn item(&mut self, next: char) -> Result<(), Fault> {
        match next {
            'A'..='Z' => self.symbol(),
            '(' | '[' => self.open(next),
            ')' | ']' => self.close(next),
            '.' | '·' | '•' | '⋅' => self.next_part(next),
            '=' => {
                self.skip(next);
                Ok(())
            }
            _ => Err(self.refuse(next)),
        }
    }

    fn digit_in_front(&mut self) -> Result<(), Fault> {
        let at = self.at;
        if let Some(count) = self.count()? {
            if count > 9 {
                let what = "a number above 9 in front; an isotope is written as [13C]";
                return Err(Fault::new(at, what));
            }
            self.part = Some(Part { from: 0, count });
        }
        Ok(())
    }

    /// An element with its count.
    fn symbol(&mut self) -> Result<(), Fault> {
        let atom = self.atom(None)?;
        let count = self.count()?.unwrap_or(1);
        self.atoms.push((atom, count));
        Ok(())
    }

    /// An element, or the isotope `number` of it.
    fn atom(&mut self, number: Option<u32>) -> Result<Atom, Fault> {
        let at = self.at;
        let small = self.rest.char_indices().skip(1);
        let mut ends = small.filter(|(_, letter)| !letter.is_ascii_lowercase());
        let len = ends.next().map_or(self.rest.len(), |(end, _)| end);
        let symbol = self.take(len);
        let unknown = || {
            let shown: String = symbol.chars().take(SHOWN).collect();
            Fault::new(at, format!("{shown:?} is not an element"))
        };
        if symbol == "D" && number.is_none() {
            let hydrogen = Element::of("H").ok_or_else(unknown)?;
            return Atom::stated(hydrogen, 2).ok_or_else(unknown);
        }
        let element = Element::of(symbol).ok_or_else(unknown)?;
        let Some(number) = number else {
            return Ok(Atom::natural(element));
        };
        Atom::stated(element, number).ok_or_else(|| {
            let isotopes = element.isotopes().iter();
            let known: Vec<String> = isotopes.map(|known| known.number().to_string()).collect();
            let known = known.join(", ");
            Fault::new(
                at,
                format!("the isotopes of {symbol} are {known}; there is no {number}"),
            )
        })
    }

    fn open(&mut self, bracket: char) -> Result<(), Fault> {
        let at = self.at;
        let inside = self.rest.chars().nth(1);
        if bracket == '[' && inside.is_some_and(|next| next.is_ascii_digit()) {
            return self.isotope();
        }
        if self.groups.len() == DEEPEST {
            return Err(Fault::new(
                at,
                format!("groups are nested more than {DEEPEST} deep"),
            ));
        }
        self.skip(bracket);
        self.groups.push(Group {
            from: self.atoms.len(),
            at,
            close: if bracket == '(' { ')' } else { ']' },
        });
        Ok(())
    }

    /// `[13C]6`, `[13C6]`.
    fn isotope(&mut self) -> Result<(), Fault> {
        let at = self.at;
        self.skip('[');
        let number = self.count()?;
        if !self
            .rest
            .starts_with(|next: char| next.is_ascii_uppercase())
        {
            return Err(Fault::new(
                self.at,
                "an isotope's symbol is missing; write for instance [13C]6",
            ));
        }
        let atom = self.atom(number)?;
        let inner = self.count()?.unwrap_or(1);
        if !self.rest.starts_with(']') {
            return Err(Fault::new(
                at,
                "a bracket that begins with a number holds one isotope, as [13C]6 or [13C6]",
            ));
        }
        self.skip(']');
        let outer_at = self.at;
        let outer = self.count()?.unwrap_or(1);
        self.atoms.push((atom, times(inner, outer, outer_at)?));
        Ok(())
    }

    fn close(&mut self, bracket: char) -> Result<(), Fault> {
        let at = self.at;
        let Some(group) = self.groups.pop() else {
            return Err(Fault::new(at, format!("{bracket:?} closes nothing")));
        };
        if group.close != bracket {
            let what = format!("{bracket:?} where {:?} has to come", group.close);
            return Err(Fault::new(at, what));
        }
        if group.from == self.atoms.len() {
            return Err(Fault::new(group.at, "a group without atoms"));
        }
        self.skip(bracket);
        let count_at = self.at;
        let count = self.count()?.unwrap_or(1);
        self.multiply(group.from, count, count_at)
    }

    fn multiply(&mut self, from: usize, count: u32, at: usize) -> Result<(), Fault> {
        for (_, known) in &mut self.atoms[from..] {
            *known = times(*known, count, at)?;
        }
        Ok(())
    }

    /// A dot, and the count of what comes after it.
    fn next_part(&mut self, dot: char) -> Result<(), Fault> {
        if self.atoms.is_empty() {
            return Err(Fault::new(
                self.at,
                format!("{dot:?} with nothing before it"),
            ));
        }
        self.close_part(false)?;
        self.skip(dot);
        let count = self.count()?.unwrap_or(1);
        self.part = Some(Part {
            from: self.atoms.len(),
            count,
        });
        Ok(())
    }

    fn close_part(&mut self, last: bool) -> Result<(), Fault> {
        if let Some(group) = self.groups.last() {
            let what = format!("a group that {:?} does not close", group.close);
            return Err(Fault::new(group.at, what));
        }
        let part = self.part.take().unwrap_or(Part { from: 0, count: 1 });
        if part.from == self.atoms.len() {
            let what = match (self.atoms.is_empty(), last) {
                (true, _) => "there are no atoms",
                (_, true) => "no atoms after the last \".\"",
                (_, false) => "no atoms between two \".\"",
            };
            return Err(Fault::new(self.at, what));
        }
        self.multiply(part.from, part.count, self.at)
    }

    /// The number that comes next, if one does: 1 to [`MOST_ATOMS`].
    fn count(&mut self) -> Result<Option<u32>, Fault> {
        let at = self.at;
        let mut count: Option<u32> = None;
        while let Some(next) = self.rest.chars().next() {
            let Some(digit) = digit(next) else {
                break;
            };
            self.skip(next);
            let grown = count.unwrap_or(0).saturating_mul(10).saturating_add(digit);
            count = Some(grown);
        }
        match count {
            Some(0) => Err(Fault::new(at, "a count of 0")),
            Some(large) if large > MOST_ATOMS => Err(too_many(at)),
            count => Ok(count),
        }
    }

    /// Why `next` cannot stand here.
    fn refuse(&self, next: char) -> Fault {
        let after = self.rest[next.len_utf8()..].chars();
        let what = match next {
            '+' | '-' | '−' | '–' => {
                let mut after = after;
                if next != '+' && after.clone().any(|later| later.is_ascii_alphabetic()) {
                    format!("{next:?}: a count cannot be negative")
                } else if after.all(|later| matches!(later, '+' | '-' | '−' | '0'..='9')) {
                    "a charge; leave it out, and state it by the adduct ([M]+, [M]-)".to_owned()
                } else {
                    format!("{next:?} is not part of a formula; adducts are given separately")
                }
            }
            next if next.is_whitespace() => "white space inside a formula".to_owned(),
            next if digit(next).is_some() => {
                "a number with nothing to count before it; isotopes are written as [13C]6"
                    .to_owned()
            }
            next if next.is_ascii_lowercase() => {
                format!("no element begins with a small letter ({next:?})")
            }
            next => format!("{next:?} is not part of a formula"),
        };
        Fault::new(self.at, what)
    }

    fn skip(&mut self, letter: char) {
        self.take(letter.len_utf8());
    }
}

impl<'a> Reader<'a> {
    /// Takes `len` bytes, which end where a character ends.
    fn take(&mut self, len: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(len);
        self.at += taken.chars().count();
        self.rest = rest;
        taken
    }
}

fn too_many(at: usize) -> Fault {
    Fault::new(at, format!("more than {MOST_ATOMS} atoms of one kind"))
}

fn times(one: u32, other: u32, at: usize) -> Result<u32, Fault> {
    let product = one.checked_mul(other);
    product
        .filter(|product| *product <= MOST_ATOMS)
        .ok_or_else(|| too_many(at))
}

/// A digit, or a subscript one.
fn digit(letter: char) -> Option<u32> {
    match letter {
        '0'..='9' => letter.to_digit(10),
        '₀'..='₉' => Some(u32::from(letter) - u32::from('₀')),
        _ => None,
    }
}
