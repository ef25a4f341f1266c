//! One `cvParam`: a term of a controlled vocabulary, with its value and unit.

use std::borrow::Cow;

use quick_xml::escape::unescape;
use quick_xml::events::attributes::Attributes;

/// Which term: the number of its accession, with the vocabulary in the upper bits.
pub(super) type Code = u64;

/// Code of a term of the PSI-MS vocabulary.
pub(super) const fn ms(number: u64) -> Code {
    number
}

/// Code of a term of the imaging vocabulary.
pub(super) const fn ims(number: u64) -> Code {
    1 << 32 | number
}

/// Code of a unit of the unit ontology.
pub(super) const fn uo(number: u64) -> Code {
    2 << 32 | number
}

/// An accession as it is written, `MS:1000514`.
pub(super) fn accession(code: Code) -> String {
    let vocabulary = match code >> 32 {
        0 => "MS",
        1 => "IMS",
        _ => "UO",
    };
    format!("{vocabulary}:{:07}", code & 0xffff_ffff)
}

fn code(text: &str) -> Option<Code> {
    let (vocabulary, number) = text.trim().split_once(':')?;
    let number = u64::from(number.parse::<u32>().ok()?);
    match vocabulary {
        "MS" => Some(ms(number)),
        "IMS" => Some(ims(number)),
        "UO" => Some(uo(number)),
        _ => None,
    }
}

/// A term as it stands in the XML.
#[derive(Debug)]
pub(super) struct Term<'a> {
    pub(super) code: Code,
    pub(super) name: Cow<'a, str>,
    /// Without blanks around it; empty where there is none.
    pub(super) value: Cow<'a, str>,
    pub(super) unit: Unit,
    /// The byte of its tag.
    pub(super) at: u64,
}

/// What unit a value has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Unit {
    /// None is given.
    Absent,
    /// A length: so many µm.
    Length(f64),
    /// One that is no length known here.
    Other,
}

impl<'a> Term<'a> {
    /// The term in what follows a tag's name; `None` if its vocabulary is none that is known, or if
    /// it is none of those that are wanted: then what stands behind its accession is not looked at.
    ///
    /// # Errors
    /// What is wrong with the attributes.
    pub(super) fn read(
        rest: &'a str,
        at: u64,
        wanted: impl Fn(Code) -> bool,
    ) -> Result<Option<Self>, String> {
        let empty = || Cow::Borrowed("");
        let (mut accession, mut name, mut value) = (empty(), empty(), empty());
        let (mut unit_accession, mut unit_name) = (empty(), empty());
        for attribute in Attributes::new(rest, 0).with_checks(false) {
            let attribute = attribute.map_err(|error| error.to_string())?;
            let place = match attribute.key.0 {
                "accession" => {
                    if code(&attribute.value).is_some_and(|code| !wanted(code)) {
                        return Ok(None);
                    }
                    &mut accession
                }
                "name" => &mut name,
                "value" => &mut value,
                "unitAccession" => &mut unit_accession,
                "unitName" => &mut unit_name,
                _ => continue,
            };
            *place = attribute.value;
        }
        let Some(code) = code(&plain(accession)?) else {
            return Ok(None);
        };
        let unit = if unit_accession.is_empty() && unit_name.is_empty() {
            Unit::Absent
        } else {
            unit(&plain(unit_accession)?, &plain(unit_name)?)
        };
        Ok(Some(Self {
            code,
            name: plain(name)?,
            value: trimmed(plain(value)?),
            unit,
            at,
        }))
    }
}

/// The value of one attribute; the last of that name.
///
/// # Errors
/// What is wrong with the attributes.
pub(super) fn attribute<'a>(rest: &'a str, name: &str) -> Result<Option<Cow<'a, str>>, String> {
    let mut found = None;
    for attribute in Attributes::new(rest, 0).with_checks(false) {
        let attribute = attribute.map_err(|error| error.to_string())?;
        if attribute.key.0 == name {
            found = Some(plain(attribute.value)?);
        }
    }
    Ok(found)
}

/// A value with its entities resolved.
fn plain(raw: Cow<'_, str>) -> Result<Cow<'_, str>, String> {
    if !raw.contains('&') {
        return Ok(raw);
    }
    match unescape(&raw) {
        Ok(text) => Ok(Cow::Owned(text.into_owned())),
        Err(error) => Err(error.to_string()),
    }
}

fn trimmed(text: Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
        Cow::Owned(text) => Cow::Owned(text.trim().to_owned()),
    }
}

/// The accession says; the name only where there is no accession.
fn unit(accession: &str, name: &str) -> Unit {
    let micrometers = match code(accession) {
        Some(code) => match code & 0xffff_ffff {
            _ if code != uo(code & 0xffff_ffff) => None,
            8 => Some(1e6),
            15 => Some(1e4),
            16 => Some(1e3),
            17 => Some(1.0),
            18 => Some(1e-3),
            19 => Some(1e-4),
            20 => Some(1e-6),
            _ => None,
        },
        None if accession.is_empty() => named(name.trim()),
        None => None,
    };
    micrometers.map_or(Unit::Other, Unit::Length)
}

fn named(name: &str) -> Option<f64> {
    // MICRO SIGN and GREEK SMALL LETTER MU look the same.
    match name.to_ascii_lowercase().as_str() {
        "m" | "meter" | "metre" => Some(1e6),
        "cm" | "centimeter" | "centimetre" => Some(1e4),
        "mm" | "millimeter" | "millimetre" => Some(1e3),
        "um" | "\u{b5}m" | "\u{3bc}m" | "micrometer" | "micrometre" | "micron" => Some(1.0),
        "nm" | "nanometer" | "nanometre" => Some(1e-3),
        _ => None,
    }
}
