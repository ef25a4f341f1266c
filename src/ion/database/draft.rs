//! The molecules so far, within a budget.

use std::cmp::Ordering;
use std::ops::Range;

use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::ion::database::columns::Columns;
use crate::ion::database::rows::{LONGEST, Row};
use crate::ion::database::text::decoded;
use crate::ion::database::{Formula, Molecule, Molecules, Rejected};
use crate::ion::formula::Composition;

const WHAT: &str = "the molecule list";

/// Entries that are first made room for.
const FIRST: usize = 64;

/// Bytes that the allocator takes beside those it gives.
const OVERHEAD: u64 = 16;

/// Letters of a rejected formula that are kept.
const SHOWN: usize = 60;

/// One row that is in order.
#[derive(Debug)]
struct Entry {
    text: String,
    composition: Composition,
    molecule: Molecule,
}

/// Collects rows; at the end sorts them by formula.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) budget: Budget,
    entries: Vec<Entry>,
    rejected: Vec<Rejected>,
    rejected_rows: u64,
    rows: u64,
    /// Rows with fields that are not UTF-8.
    foreign: u64,
    /// Rows with more columns than the header.
    wide: u64,
}

impl Draft {
    pub(super) fn new(memory: u64) -> Self {
        Self {
            budget: Budget::new(memory),
            entries: Vec::new(),
            rejected: Vec::new(),
            rejected_rows: 0,
            rows: 0,
            foreign: 0,
            wide: 0,
        }
    }

    /// Reserves what the names of the columns take.
    pub(super) fn header(&mut self, columns: &Columns) -> Result<()> {
        let names = columns.names.iter();
        let bytes: usize = names.map(|name| size_of::<String>() + name.len()).sum();
        self.budget.reserve(bytes as u64, WHAT)
    }

    /// Takes a row in, or notes why it cannot be.
    pub(super) fn row(&mut self, row: &Row, columns: &Columns) -> Result<()> {
        if !row.filled {
            return Ok(());
        }
        self.rows += 1;
        self.wide += u64::from(!columns.is_plain() && row.columns > columns.names.len());
        let [formula, name, id] = &row.fields;
        let decoded = [formula, name, id].map(|field| decoded(field));
        self.foreign += u64::from(decoded.iter().any(|(_, foreign)| *foreign));
        let [formula, name, id] = decoded.each_ref().map(|(text, _)| text.trim());
        match composition(row, columns, formula) {
            Ok(composition) => self.keep(formula, composition, [id, name]),
            Err(what) => self.reject(row.line, formula, what),
        }
    }

    fn keep(&mut self, text: &str, composition: Composition, rest: [&str; 2]) -> Result<()> {
        let texts = [text, rest[0], rest[1]].into_iter();
        let bytes: u64 = texts.map(|text| text.len() as u64 + OVERHEAD).sum();
        self.budget.reserve(bytes + heap(&composition), WHAT)?;
        room(&mut self.entries, &mut self.budget)?;
        if u32::try_from(self.entries.len() + 1).is_err() {
            return Err(Error::Parameter {
                name: "molecules",
                what: "a list of more than 4294967295 molecules; split it".to_owned(),
            });
        }
        let [id, name] = rest.map(|text| (!text.is_empty()).then(|| text.to_owned()));
        self.entries.push(Entry {
            text: text.to_owned(),
            composition,
            molecule: Molecule { id, name },
        });
        Ok(())
    }

    fn reject(&mut self, line: u64, formula: &str, what: String) -> Result<()> {
        self.rejected_rows += 1;
        if self.rejected.len() == Molecules::MOST_SHOWN {
            return Ok(());
        }
        let mut text: String = formula.chars().take(SHOWN).collect();
        if text.len() < formula.len() {
            text.push('…');
        }
        let bytes = (text.len() + what.len() + size_of::<Rejected>()) as u64;
        self.budget.reserve(bytes + 2 * OVERHEAD, WHAT)?;
        self.rejected.push(Rejected { line, text, what });
        Ok(())
    }

    /// The molecules.
    pub(super) fn finish(mut self, file: &str, columns: Columns) -> Result<Molecules> {
        if self.entries.is_empty() {
            return Err(Error::Format {
                file: file.to_owned(),
                at: 0,
                what: self.nothing(&columns),
            });
        }
        let mut warnings = self.warnings(&columns);
        let order = by_composition(&self.entries, &mut self.budget)?;
        let groups = groups(&self.entries, &order, &mut self.budget)?;
        let respelt = groups.iter().filter(|group| group.respelt).count();
        if respelt > 0 {
            warnings.push(format!(
                "formulas written in several ways, each of which is looked for once: {respelt}"
            ));
        }
        let (formulas, molecules) = sorted(&mut self.entries, &order, &groups, &mut self.budget)?;
        Ok(Molecules {
            formulas,
            molecules,
            rejected: self.rejected,
            rejected_rows: self.rejected_rows,
            rows: self.rows,
            separator: columns.separator,
            columns: columns.names,
            warnings,
        })
    }

    /// Why there is no molecule.
    fn nothing(&self, columns: &Columns) -> String {
        let Some(first) = self.rejected.first() else {
            return "the list has a header, but no row".to_owned();
        };
        let expected = if columns.is_plain() {
            "; it was read as one formula a line, because its first line names no column formula, sf or \
             molecular formula"
        } else {
            ""
        };
        format!(
            "no formula can be read in any row ({} in all); the first, line {}, {:?}: {}{expected}",
            self.rows, first.line, first.text, first.what
        )
    }

    fn warnings(&self, columns: &Columns) -> Vec<String> {
        let mut warnings = Vec::new();
        if let Some(other) = &columns.other {
            let taken = &columns.names[columns.formula];
            warnings.push(format!(
                "formulas are taken from the column {taken:?}, not from {other:?}"
            ));
        }
        if self.foreign > 0 {
            warnings.push(format!(
                "rows that are not UTF-8, whose names were read as Latin-1: {}",
                self.foreign
            ));
        }
        if self.wide > 0 {
            warnings.push(format!(
                "rows with more columns than the header (is a name with a separator in it not quoted?): {}",
                self.wide
            ));
        }
        warnings
    }
}

/// The formula of a row, or why there is none.
fn composition(
    row: &Row,
    columns: &Columns,
    formula: &str,
) -> std::result::Result<Composition, String> {
    if let Some(lines) = row.open {
        return Err(format!(
            "a quote is opened in this row and never closed; lines after it that are lost: {lines}"
        ));
    }
    if row.long {
        return Err(format!(
            "a field of more than {LONGEST} bytes: is a quote opened in this row and not closed?"
        ));
    }
    if row.columns <= columns.formula {
        return Err(format!(
            "the row ends with column {}, the formula is number {}",
            row.columns,
            columns.formula + 1
        ));
    }
    Composition::parse(formula).map_err(|fault| fault.to_string())
}

/// Bytes that a composition holds beside itself.
fn heap(composition: &Composition) -> u64 {
    size_of_val(composition.atoms()) as u64 + OVERHEAD
}

/// Makes room for one more. While the old ones are moved, both are held.
fn room<T>(list: &mut Vec<T>, budget: &mut Budget) -> Result<()> {
    if list.len() < list.capacity() {
        return Ok(());
    }
    let more = (list.len() / 2).max(FIRST);
    let old = (list.capacity() * size_of::<T>()) as u64;
    fixed(list, list.len() + more, budget)?;
    budget.release(old);
    Ok(())
}

/// Makes room for `len` in all, and reserves it.
fn fixed<T>(list: &mut Vec<T>, len: usize, budget: &mut Budget) -> Result<()> {
    let bytes = (len as u64).saturating_mul(size_of::<T>() as u64);
    budget.reserve(bytes, WHAT)?;
    if list.try_reserve_exact(len - list.len()).is_err() {
        budget.release(bytes);
        return Err(Error::Budget {
            need: bytes,
            have: budget.limit() - budget.held(),
            what: WHAT.to_owned(),
        });
    }
    Ok(())
}

/// Sorts places by what is there; one such sort is enough code.
fn sort(places: &mut [u32], compare: &dyn Fn(usize, usize) -> Ordering) {
    places.sort_unstable_by(|a, b| compare(*a as usize, *b as usize));
}

/// The places of entries: those of one composition side by side, in the list's order.
fn by_composition(entries: &[Entry], budget: &mut Budget) -> Result<Vec<u32>> {
    let mut order = Vec::new();
    fixed(&mut order, entries.len(), budget)?;
    order.extend((0..).take(entries.len()));
    sort(&mut order, &|a, b| {
        let by_atoms = entries[a].composition.cmp(&entries[b].composition);
        by_atoms.then(a.cmp(&b))
    });
    Ok(order)
}

/// Entries of one composition.
struct Group {
    /// Where they are in the order by composition.
    range: Range<u32>,
    /// The entry with the first text.
    text: u32,
    /// Whether others have another text.
    respelt: bool,
}

/// Groups of entries in their order by composition.
fn groups(entries: &[Entry], order: &[u32], budget: &mut Budget) -> Result<Vec<Group>> {
    let of = |place: u32| &entries[place as usize];
    let mut groups: Vec<Group> = Vec::new();
    for (at, place) in (0..).zip(order) {
        let entry = of(*place);
        match groups.last_mut() {
            Some(group) if of(group.text).composition == entry.composition => {
                group.range.end = at + 1;
                let text = &of(group.text).text;
                group.respelt |= entry.text != *text;
                if entry.text < *text {
                    group.text = *place;
                }
            }
            _ => {
                room(&mut groups, budget)?;
                groups.push(Group {
                    range: at..at + 1,
                    text: *place,
                    respelt: false,
                });
            }
        }
    }
    Ok(groups)
}

/// Moves what entries have into formulas, sorted by text, and their molecules.
fn sorted(
    entries: &mut [Entry],
    order: &[u32],
    groups: &[Group],
    budget: &mut Budget,
) -> Result<(Vec<Formula>, Vec<Molecule>)> {
    let mut by_text = Vec::new();
    fixed(&mut by_text, groups.len(), budget)?;
    by_text.extend((0..).take(groups.len()));
    sort(&mut by_text, &|a, b| {
        let texts = [a, b].map(|at| &entries[groups[at].text as usize].text);
        texts[0].cmp(texts[1])
    });
    let (mut formulas, mut molecules) = (Vec::new(), Vec::new());
    fixed(&mut formulas, groups.len(), budget)?;
    fixed(&mut molecules, entries.len(), budget)?;
    let mut next = 0;
    for at in by_text {
        let group = &groups[at as usize];
        let first = &mut entries[group.text as usize];
        let from = next;
        next += group.range.end - group.range.start;
        formulas.push(Formula {
            text: std::mem::take(&mut first.text),
            composition: std::mem::replace(&mut first.composition, Composition::empty()),
            molecules: from..next,
        });
        for place in &order[group.range.start as usize..group.range.end as usize] {
            let Molecule { id, name } = &mut entries[*place as usize].molecule;
            molecules.push(Molecule {
                id: id.take(),
                name: name.take(),
            });
        }
    }
    Ok((formulas, molecules))
}
