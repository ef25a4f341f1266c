//! What makes an ion of a molecule: neutral losses and adducts.

use std::fmt;

use crate::ion::formula::composition::Composition;
use crate::ion::formula::fault::Fault;
use crate::ion::formula::parse;

/// One signed part of a modifier, such as `-H2O`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Part {
    /// Whether its atoms are taken away.
    minus: bool,
    /// The part as written, without its sign.
    text: String,
    atoms: Composition,
}

/// A neutral loss and an adduct: parts that are added or taken away, in their order.
///
/// Displayed without brackets and white space as `+Na`, `-H2O+H`, as `[M]+` or `[M]-` where only a charge
/// is stated, and as nothing where nothing is. What is displayed alike is the same ion; modifiers are equal
/// if, beyond that, they state the same charge and split alike.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Modifier {
    parts: Vec<Part>,
    /// How many of the parts are the neutral loss.
    loss: usize,
    charge: Option<i8>,
}

impl Modifier {
    /// Reads `+H`, `-H2O+H`, `+K-H`, `[M]+`, `[M+Na]+`, `[M-H]-`, or nothing.
    ///
    /// A part is a sign and a formula as [`Composition::parse`] reads it; a number in front counts the whole
    /// part (`+2Na-H`), up to 9. The leading negative parts but the last part of all are the neutral loss: `-H2O+H`
    /// loses `-H2O`, `-H2O-H` too, `+K-H` nothing. A minus sign (U+2212) is a hyphen.
    ///
    /// # Errors
    /// [`Fault`] for what is neither, for charges other than 1 and -1, and for several molecules (`[2M+H]+`).
    pub fn parse(text: &str) -> Result<Self, Fault> {
        let unwrapped = unwrapped(text)?;
        let parts = parts(unwrapped.parts, unwrapped.at)?;
        let negative = parts.iter().take_while(|part| part.minus).count();
        Ok(Self {
            loss: if unwrapped.alone {
                parts.len()
            } else {
                negative.min(parts.len().saturating_sub(1))
            },
            parts,
            charge: unwrapped.charge,
        })
    }

    /// A neutral loss followed by an adduct; the charge is the adduct's, or else the loss's.
    #[must_use]
    pub fn join(loss: &Self, adduct: &Self) -> Self {
        let mut parts = loss.parts.clone();
        parts.extend_from_slice(&adduct.parts);
        Self {
            parts,
            loss: loss.parts.len(),
            charge: adduct.charge.or(loss.charge),
        }
    }

    /// What is looked for of each molecule: the adducts, then each loss with each of them.
    ///
    /// # Errors
    /// A sentence that names what stands twice.
    pub fn targets(losses: &[Self], adducts: &[Self]) -> Result<Vec<Self>, String> {
        let joined = losses
            .iter()
            .flat_map(|loss| adducts.iter().map(|adduct| Self::join(loss, adduct)));
        let targets: Vec<Self> = adducts.iter().cloned().chain(joined).collect();
        let names: Vec<String> = targets.iter().map(Self::to_string).collect();
        for (at, name) in names.iter().enumerate() {
            if names[..at].contains(name) {
                return Err(format!(
                    "{name:?} is named twice; give each adduct and each loss once"
                ));
            }
        }
        Ok(targets)
    }

    /// The ion's atoms: those of `molecule` with every part applied in its order.
    ///
    /// `None` if more of an element would be taken than there is at any step (`-H10+H10` on `C2H6O`), if
    /// nothing is left at the end, or if there are more than [`MOST_ATOMS`](super::MOST_ATOMS) of a kind. A
    /// stated isotope is an element of its own: `-H` takes no deuterium.
    #[must_use]
    pub fn apply(&self, molecule: &Composition) -> Option<Composition> {
        let mut ion = molecule.clone();
        for part in &self.parts {
            if part.minus {
                ion.take(&part.atoms)?;
            } else {
                ion.add(&part.atoms)?;
            }
        }
        (!ion.is_empty()).then_some(ion)
    }

    /// Its parts in their order, however they are spelled: whether atoms are taken away, and which.
    pub fn parts(&self) -> impl Iterator<Item = (bool, &Composition)> {
        self.parts.iter().map(|part| (part.minus, &part.atoms))
    }

    /// Bytes of memory that it holds.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let parts = self
            .parts
            .iter()
            .map(|part| size_of::<Part>() + part.text.capacity() + size_of_val(part.atoms.atoms()));
        (size_of::<Self>() + parts.sum::<usize>()) as u64
    }

    /// The charge, where it is stated (`[M+Na]+`): 1 or -1.
    #[must_use]
    pub fn charge(&self) -> Option<i8> {
        self.charge
    }

    /// The neutral loss, which a decoy keeps; of no parts where there is none.
    #[must_use]
    pub fn loss(&self) -> Self {
        Self {
            parts: self.parts[..self.loss].to_vec(),
            loss: self.loss,
            charge: None,
        }
    }

    /// What is left without the neutral loss, and the charge.
    #[must_use]
    pub fn adduct(&self) -> Self {
        Self {
            parts: self.parts[self.loss..].to_vec(),
            loss: 0,
            charge: self.charge,
        }
    }
}

/// What is left of a modifier without `[M` and `]+`.
struct Unwrapped<'a> {
    /// The signed parts.
    parts: &'a str,
    /// Characters before them.
    at: usize,
    charge: Option<i8>,
    /// Whether the molecule has its brackets for itself: `[M]+`, `-H2O[M]+`.
    alone: bool,
}

fn unwrapped(text: &str) -> Result<Unwrapped<'_>, Fault> {
    let trimmed = text.trim_start();
    let at = text.chars().count() - trimmed.chars().count();
    let trimmed = trimmed.trim_end();
    if let Some((parts, sign)) = trimmed.rsplit_once("[M]") {
        let sign_at = at + parts.chars().count() + 3;
        return Ok(Unwrapped {
            parts,
            at,
            charge: Some(charge(sign, sign_at)?),
            alone: true,
        });
    }
    let Some(inner) = trimmed.strip_prefix('[') else {
        return Ok(Unwrapped {
            parts: trimmed,
            at,
            charge: None,
            alone: false,
        });
    };
    let Some(inner) = inner.strip_prefix('M') else {
        let what = "one molecule M has to come first, as in [M+Na]+";
        return Err(Fault::new(at + 1, what));
    };
    let Some((parts, sign)) = inner.rsplit_once(']') else {
        return Err(Fault::new(at, "a bracket that \"]\" does not close"));
    };
    let sign_at = at + 3 + parts.chars().count();
    Ok(Unwrapped {
        parts,
        at: at + 2,
        charge: Some(charge(sign, sign_at)?),
        alone: false,
    })
}

fn charge(sign: &str, at: usize) -> Result<i8, Fault> {
    match sign {
        "+" | "1+" | "+1" => Ok(1),
        "-" | "1-" | "-1" | "−" => Ok(-1),
        "" => Err(Fault::new(
            at,
            "the charge is missing after the bracket, as in [M+Na]+",
        )),
        _ => Err(Fault::new(
            at,
            format!("{sign:?} is not a charge of 1 or -1, written + or -"),
        )),
    }
}

fn signed(letter: char) -> bool {
    matches!(letter, '+' | '-' | '−')
}

fn parts(text: &str, at: usize) -> Result<Vec<Part>, Fault> {
    let mut parts = Vec::new();
    let (mut rest, mut at) = (text, at);
    while let Some(sign) = rest.chars().next() {
        if !signed(sign) {
            return Err(Fault::new(
                at,
                format!("{sign:?} where + or - has to come, as in +Na or -H2O+H"),
            ));
        }
        let after = &rest[sign.len_utf8()..];
        let (part, next) = after.split_at(after.find(signed).unwrap_or(after.len()));
        let atoms = parse::counted(part).map_err(|fault| Fault {
            at: fault.at + at + 1,
            ..fault
        })?;
        parts.push(Part {
            minus: sign != '+',
            text: part.trim().to_owned(),
            atoms,
        });
        at += 1 + part.chars().count();
        rest = next;
    }
    Ok(parts)
}

impl fmt::Display for Modifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in &self.parts {
            f.write_str(if part.minus { "-" } else { "+" })?;
            f.write_str(&part.text)?;
        }
        let only_charge = self.loss == self.parts.len();
        match self.charge.filter(|_| only_charge) {
            Some(1) => f.write_str("[M]+"),
            Some(_) => f.write_str("[M]-"),
            None => Ok(()),
        }
    }
}
