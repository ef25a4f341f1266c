//! Which column is which.

use csv_core::ReadFieldResult;

use crate::ion::database::Separator;
use crate::ion::database::text::decoded;

/// Names of the column of formulas, as [`plain_name`] leaves them; earlier ones are preferred.
const FORMULA: [&str; 12] = [
    "formula",
    "sf",
    "molecularformula",
    "molformula",
    "moleculeformula",
    "sumformula",
    "chemicalformula",
    "neutralformula",
    "chemformula",
    "elementalformula",
    "elementalcomposition",
    "mf",
];

/// Names of the column of names.
const NAME: [&str; 16] = [
    "name",
    "molname",
    "moleculename",
    "moleculenames",
    "commonname",
    "compoundname",
    "metabolitename",
    "chemicalname",
    "lipidname",
    "systematicname",
    "abbreviation",
    "compound",
    "metabolite",
    "molecule",
    "lipid",
    "title",
];

/// Names of the column of identifiers.
const ID: [&str; 20] = [
    "id",
    "molid",
    "moleculeid",
    "moleculeids",
    "databaseid",
    "dbid",
    "compoundid",
    "metaboliteid",
    "accession",
    "accessionnumber",
    "identifier",
    "hmdbid",
    "lmid",
    "chebiid",
    "keggid",
    "pubchemcid",
    "pubchemid",
    "cid",
    "inchikey",
    "cas",
];

/// Columns and letters of them that a message shows.
const SHOWN: usize = 12;
const LETTERS: usize = 40;

/// How the rows of a list are to be read.
#[derive(Debug, Clone)]
pub(super) struct Columns {
    pub(super) separator: Separator,
    /// As they are in the first line; none if that is a row itself.
    pub(super) names: Vec<String>,
    pub(super) formula: usize,
    pub(super) name: Option<usize>,
    pub(super) id: Option<usize>,
    /// Another column that goes by a usual name of formulas.
    pub(super) other: Option<String>,
}

impl Columns {
    /// Columns by the first line of a list: its header, or the first formula of a plain list.
    ///
    /// # Errors
    /// A message if there are columns, but none of formulas.
    pub(super) fn read(line: &[u8], cutter: &mut Cutter) -> Result<Self, String> {
        if let Some(columns) = Self::usual(line, cutter) {
            return Ok(columns);
        }
        let (mut widest, mut by) = (Vec::new(), Separator::None);
        for (separator, csv) in &mut cutter.0 {
            let names = fields(line, csv);
            if names.len() > widest.len() {
                (widest, by) = (names, *separator);
            }
        }
        match Self::named(by, &widest, is_formula) {
            Some(columns) => Ok(columns),
            None if widest.len() < 2 => Ok(Self::plain()),
            None => Err(missing(&widest)),
        }
    }

    /// Columns by a line with a usual name of formulas: if it begins with `#`, nothing else tells a header from
    /// a remark.
    pub(super) fn usual(line: &[u8], cutter: &mut Cutter) -> Option<Self> {
        let mut ways = cutter.0.iter_mut();
        ways.find_map(|(separator, csv)| Self::named(*separator, &fields(line, csv), |_| false))
    }

    /// One formula a line, without a header.
    pub(super) fn plain() -> Self {
        Self {
            separator: Separator::None,
            names: Vec::new(),
            formula: 0,
            name: None,
            id: None,
            other: None,
        }
    }

    /// Whether the first line is a row itself.
    pub(super) fn is_plain(&self) -> bool {
        self.names.is_empty()
    }

    /// Columns by their names, if one of them is of formulas: by a usual name, or else one that `may` be.
    fn named(separator: Separator, names: &[String], may: impl Fn(&str) -> bool) -> Option<Self> {
        let plain: Vec<String> = names.iter().map(|name| plain_name(name)).collect();
        let mut formulas = FORMULA.iter().filter_map(|known| place(&plain, known));
        let formula = formulas
            .next()
            .or_else(|| plain.iter().position(|name| may(name)))?;
        let first = |known: &[&str]| known.iter().find_map(|known| place(&plain, known));
        let other = formulas.next();
        Some(Self {
            separator: if names.len() == 1 {
                Separator::None
            } else {
                separator
            },
            names: names.to_vec(),
            formula,
            name: first(&NAME),
            id: first(&ID),
            other: other.map(|at| names[at].clone()),
        })
    }
}

/// What the columns are, and what was expected.
fn missing(names: &[String]) -> String {
    let shown = names.iter().take(SHOWN).map(|name| {
        let short: String = name.chars().take(LETTERS).collect();
        format!("{short:?}")
    });
    let mut shown: Vec<String> = shown.collect();
    if names.len() > SHOWN {
        shown.push(format!("and {} more", names.len() - SHOWN));
    }
    format!(
        "no column of formulas; the columns are {}. Name one of them formula, sf or molecular formula in the \
         first line, and part columns by tabs, commas or semicolons; or give one formula a line and nothing else",
        shown.join(", ")
    )
}

/// Letters, as small ones, and digits of a column's name: `Mol. Formula` is `molformula`.
fn plain_name(name: &str) -> String {
    let letters = name.chars().filter(char::is_ascii_alphanumeric);
    letters.map(|letter| letter.to_ascii_lowercase()).collect()
}

fn place(names: &[String], known: &str) -> Option<usize> {
    names.iter().position(|name| name == known)
}

/// Whether a column that goes by no usual name has formulas of molecules nevertheless.
fn is_formula(name: &str) -> bool {
    name.len() < 32 && name.contains("formula") && !name.contains("ion") && !name.contains("adduct")
}

/// Cuts a line by each separator; made once, because a reader of fields begins with its tables.
#[derive(Debug)]
pub(super) struct Cutter([(Separator, csv_core::Reader); 3]);

impl Cutter {
    pub(super) fn new() -> Self {
        let all = [Separator::Tab, Separator::Semicolon, Separator::Comma];
        Self(all.map(|separator| (separator, separator.reader())))
    }
}

/// The fields of one line.
fn fields(line: &[u8], csv: &mut csv_core::Reader) -> Vec<String> {
    csv.reset();
    let mut fields = Vec::new();
    let mut field = Vec::new();
    let mut out = [0; 256];
    let mut rest = line;
    // Each turn takes a byte, gives one or ends a field, and the line is short.
    loop {
        let (outcome, taken, given) = csv.read_field(rest, &mut out);
        rest = &rest[taken..];
        field.extend_from_slice(&out[..given]);
        match outcome {
            ReadFieldResult::InputEmpty | ReadFieldResult::OutputFull => {}
            ReadFieldResult::Field { record_end } => {
                fields.push(decoded(&field).0.trim().to_owned());
                field.clear();
                if record_end {
                    return fields;
                }
            }
            ReadFieldResult::End => return fields,
        }
    }
}
