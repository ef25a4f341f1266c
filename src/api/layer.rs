//! Which picture of a dataset is meant: its canonical name, and what else decides it.
//!
//! Stacks have `median`, `rms`, `count` and `frame-1` … `frame-N`. Datasets of ions have `mz-885.5498`, an m/z of four decimals,
//! and ions such as `C47H83O13P-H`, a formula with what makes an ion of it.

use std::fmt::{self, Write as _};

use super::problem::Problem;
use crate::ion::annotate::polarity;
use crate::ion::formula::Composition;
use crate::ion::formula::modifier::Modifier;
use crate::ion::normalise::Normalise;
use crate::ion::window::Tolerance;

/// The half width of a window where none is asked for, in millionths of its m/z.
pub const USUAL_PPM: f64 = 3.0;

/// The largest m/z that is drawn.
pub const LARGEST_MZ: f64 = 99_999.999_9;

/// The widest window to either side, in millionths, and in the unit of m/z.
const WIDEST: [f64; 2] = [1000.0, 10.0];

/// One picture of a dataset.
///
/// Displayed as its canonical name, which [`Layer::parse`] reads again; what its name does not hold is among
/// [`Layer::parameters`].
#[derive(Debug, Clone, PartialEq)]
pub enum Layer {
    /// The median of a stack.
    Median,
    /// The scatter of the values around their mean: [`crate::stack::rms`].
    Rms,
    /// How many values the median was taken of.
    Count,
    /// One exposure of a stack, counted from 1.
    Frame(u32),
    /// An ion image.
    Ion {
        /// The ion or the m/z.
        what: IonOf,
        /// Half width of the window of m/z.
        tol: Tolerance,
        /// What values are divided by.
        norm: Normalise,
    },
}

/// Which ion an image is of.
#[derive(Debug, Clone, PartialEq)]
pub enum IonOf {
    /// An m/z, a multiple of 0.0001 to the nearest f64.
    Mz(f64),
    /// An isotope peak of an ion.
    Formula {
        /// The molecule.
        composition: Composition,
        /// What makes an ion of it; its charge, if it states none, is what [`polarity::choose`] says of its text.
        modifier: Modifier,
        /// The isotope peak, 0 to 3.
        isotope: u8,
    },
}

/// Parameters of a request that belong to its layer, as they were sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Given<'a> {
    /// `tol`.
    pub tol: Option<&'a str>,
    /// `norm`.
    pub norm: Option<&'a str>,
    /// `isotope`.
    pub isotope: Option<&'a str>,
}

impl Layer {
    /// Reads a layer's name, percent-decoded, and its parameters.
    ///
    /// m/z are rounded to four decimals, tolerances to as many in ppm and to six in Da, and what was rounded is what is
    /// drawn, so that one canonical name has one picture. Formulas that are written differently and have the same atoms
    /// are one.
    ///
    /// # Errors
    /// `layer` (404) for a name that is none, an impossible ion, or a parameter that the layer does not have;
    /// `parameter` (400) for a number that is none.
    pub fn parse(name: &str, given: &Given<'_>) -> Result<Self, Problem> {
        let stack = match name {
            "median" => Some(Self::Median),
            "rms" => Some(Self::Rms),
            "count" => Some(Self::Count),
            _ => match name.strip_prefix("frame-") {
                Some(number) => Some(Self::Frame(frame(number)?)),
                None => None,
            },
        };
        if let Some(layer) = stack {
            return layer.without(given);
        }
        let isotope = given.isotope.map(isotope).transpose()?;
        let what = match (name.strip_prefix("mz-"), isotope) {
            (Some(mz), None) => IonOf::Mz(self::mz(mz)?),
            (Some(_), Some(_)) => return Err(no_parameter(name, "isotope")),
            (None, isotope) => ion(name, isotope.unwrap_or(0))?,
        };
        let tol = given.tol.map(tolerance).transpose()?;
        let norm = given.norm.map(normalise).transpose()?;
        Ok(Self::Ion {
            what,
            tol: tol.unwrap_or(Tolerance::Ppm(USUAL_PPM)),
            norm: norm.unwrap_or_default(),
        })
    }

    /// Its parameters that are not the usual ones, canonical, in the order of their names: `isotope`, `norm`, `tol`.
    #[must_use]
    pub fn parameters(&self) -> Vec<(&'static str, String)> {
        let Self::Ion { what, tol, norm } = self else {
            return Vec::new();
        };
        let mut parameters = Vec::new();
        if let IonOf::Formula { isotope, .. } = what
            && *isotope > 0
        {
            parameters.push(("isotope", isotope.to_string()));
        }
        if *norm != Normalise::None {
            parameters.push(("norm", norm.name().to_owned()));
        }
        match tol {
            Tolerance::Ppm(ppm) if ppm.to_bits() == USUAL_PPM.to_bits() => {}
            Tolerance::Ppm(ppm) => parameters.push(("tol", format!("{ppm}ppm"))),
            Tolerance::Dalton(da) => parameters.push(("tol", format!("{da}da"))),
        }
        parameters
    }

    /// Whether it is a picture of an ion, and not of a stack.
    #[must_use]
    pub fn is_ion(&self) -> bool {
        matches!(self, Self::Ion { .. })
    }

    fn without(self, given: &Given<'_>) -> Result<Self, Problem> {
        let all = [
            ("tol", given.tol),
            ("norm", given.norm),
            ("isotope", given.isotope),
        ];
        match all.iter().find(|(_, value)| value.is_some()) {
            Some((parameter, _)) => Err(no_parameter(&self.to_string(), parameter)),
            None => Ok(self),
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Median => f.write_str("median"),
            Self::Rms => f.write_str("rms"),
            Self::Count => f.write_str("count"),
            Self::Frame(number) => write!(f, "frame-{number}"),
            Self::Ion { what, .. } => what.fmt(f),
        }
    }
}

impl fmt::Display for IonOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mz(mz) => write!(f, "mz-{mz:.4}"),
            Self::Formula {
                composition,
                modifier,
                ..
            } => write!(f, "{composition}{}", written(modifier)),
        }
    }
}

/// The canonical text of a modifier: parts by their atoms, the charge where the parts do not tell it.
fn written(modifier: &Modifier) -> String {
    let mut parts = String::new();
    for (minus, atoms) in modifier.parts() {
        // Writing to a string does not fail.
        let _ = write!(parts, "{}{atoms}", if minus { '-' } else { '+' });
    }
    match modifier.charge() {
        Some(charge) if implied(&parts) != Some(charge) => {
            let sign = if charge < 0 { '-' } else { '+' };
            format!("[M{parts}]{sign}")
        }
        _ => parts,
    }
}

/// The charge that the text of an adduct implies.
fn implied(adduct: &str) -> Option<i8> {
    let chosen = polarity::choose("", "", None, &[adduct]);
    (chosen.from == "adducts").then_some(chosen.charge)
}

fn ion(name: &str, isotope: u8) -> Result<IonOf, Problem> {
    if !name.starts_with(|first: char| first.is_ascii_uppercase() || "([".contains(first)) {
        return Err(no_layer(name, "it is none that any dataset has"));
    }
    let signs = ["+", "-", "−", "[M]", "[M+", "[M-", "[M−"];
    let Some(at) = signs.iter().filter_map(|sign| name.find(sign)).min() else {
        return Err(no_layer(
            name,
            "what makes an ion of the molecule is missing, as in C6H12O6+Na or C6H12O6[M]+",
        ));
    };
    let (formula, text) = name.split_at(at);
    let composition =
        Composition::parse(formula).map_err(|fault| no_layer(name, &fault.to_string()))?;
    let read = |text: &str| {
        Modifier::parse(text).map_err(|fault| no_layer(name, &format!("in {text}: {fault}")))
    };
    let given = read(text)?;
    // What the sign tells must outlast the canonical spelling of the atoms: `+2Na-H` is `+Na2-H`.
    let charge = given.charge().or_else(|| implied(text));
    let plain = written(&given);
    let modifier = match charge {
        Some(charge) if given.charge().is_none() && implied(&plain) != Some(charge) => {
            read(&format!("[M{plain}]{}", if charge < 0 { '-' } else { '+' }))?
        }
        _ => read(&plain)?,
    };
    if modifier.apply(&composition).is_none() {
        return Err(no_layer(
            name,
            "the modifier takes away more than there is, or leaves nothing",
        ));
    }
    Ok(IonOf::Formula {
        composition,
        modifier,
        isotope,
    })
}

fn frame(text: &str) -> Result<u32, Problem> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits {
        let detail = format!("frame-{text}: the number of a frame is digits, as in frame-1");
        return Err(Problem::new("parameter", detail));
    }
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| no_layer(&format!("frame-{text}"), "frames are counted from 1"))
}

fn mz(text: &str) -> Result<f64, Problem> {
    let value = decimal(text).ok_or_else(|| {
        let detail = format!("mz-{text}: an m/z is a decimal number, as in mz-885.5498");
        Problem::new("parameter", detail)
    })?;
    let rounded = rounded::<4>(value);
    if rounded > 0.0 && rounded <= LARGEST_MZ {
        return Ok(rounded);
    }
    Err(no_layer(
        &format!("mz-{text}"),
        &format!("an m/z is from 0.0001 to {LARGEST_MZ}"),
    ))
}

fn tolerance(text: &str) -> Result<Tolerance, Problem> {
    let wrong = || {
        let detail =
            format!("tol={text}: a tolerance is a number with its unit, as 3ppm or 0.01da");
        Problem::new("parameter", detail)
    };
    let at = text.find(|c: char| c.is_ascii_lowercase());
    let (number, unit) = text.split_at(at.ok_or_else(wrong)?);
    let value = decimal(number).ok_or_else(wrong)?;
    let (value, widest, tolerance): (f64, f64, fn(f64) -> Tolerance) = match unit {
        "ppm" => (rounded::<4>(value), WIDEST[0], Tolerance::Ppm),
        "da" => (rounded::<6>(value), WIDEST[1], Tolerance::Dalton),
        _ => return Err(wrong()),
    };
    if value > 0.0 && value <= widest {
        return Ok(tolerance(value));
    }
    Err(Problem::new(
        "layer",
        format!("tol={text}: a tolerance is greater than 0 and at most {widest}{unit}"),
    ))
}

fn normalise(text: &str) -> Result<Normalise, Problem> {
    let mut all = Normalise::ALL.into_iter();
    all.find(|known| known.name() == text).ok_or_else(|| {
        let detail = format!("norm={text}: write none, tic or rms");
        Problem::new("parameter", detail)
    })
}

fn isotope(text: &str) -> Result<u8, Problem> {
    match text {
        "0" => Ok(0),
        "1" => Ok(1),
        "2" => Ok(2),
        "3" => Ok(3),
        _ => Err(Problem::new(
            "parameter",
            format!("isotope={text}: write 0, 1, 2 or 3"),
        )),
    }
}

/// Digits, with a point and more digits if need be: no sign, no exponent, no `inf`, at most 24 characters.
fn decimal(text: &str) -> Option<f64> {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let well = match text.split_once('.') {
        Some((whole, fraction)) => digits(whole) && digits(fraction),
        None => digits(text),
    };
    (well && text.len() <= 24).then(|| text.parse().ok())?
}

/// The nearest number of so many decimals, ties as the exact value of `value` has them.
fn rounded<const DECIMALS: usize>(value: f64) -> f64 {
    // By way of text: a product with a power of ten would round twice.
    format!("{value:.DECIMALS$}").parse().unwrap_or(value)
}

fn no_layer(name: &str, why: &str) -> Problem {
    let shown: String = name.chars().take(64).collect();
    Problem::new("layer", format!("layer {shown:?}: {why}"))
}

fn no_parameter(layer: &str, parameter: &str) -> Problem {
    no_layer(layer, &format!("it takes no {parameter}"))
}
