//! The rows of a finished annotation.

use std::ops::Range;
use std::rc::Rc;

use super::images::Subject;
use crate::ion::annotate::{Ions, Scored};
use crate::ion::database::Molecule;
use crate::ion::fdr::level;
use crate::ion::formula::modifier::Modifier;

/// One annotated ion: a formula with a target modifier whose MSM is above 0.
///
/// Ions of one and the same composition (`C6H12O6` with `-H2O+H`, `C6H10O5` with `+H`) are a row each: their images
/// and scores are equal, their rates may not be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row {
    /// Index of the formula in the molecules.
    pub formula: u32,
    /// Index of the modifier among the targets.
    pub modifier: u16,
    /// Scores, m/z and intensities.
    pub scored: Scored,
    /// The rate of false discovery at its score, 0 to 1.
    pub fdr: f64,
}

/// All annotated ions, sorted by FDR, falling MSM, formula and modifier.
#[derive(Debug)]
pub struct Annotations {
    ions: Rc<Ions>,
    rows: Vec<Row>,
    /// The targets as texts, with their losses and adducts.
    names: Vec<Names>,
    decoys: u64,
    warnings: Vec<String>,
}

/// How a modifier is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Names {
    pub(super) modifier: String,
    pub(super) loss: String,
    pub(super) adduct: String,
}

impl Annotations {
    pub(super) fn new(
        ions: Rc<Ions>,
        rows: Vec<Row>,
        modifiers: Vec<String>,
        decoys: u64,
        warnings: Vec<String>,
    ) -> Self {
        let targets = ions.request().targets.iter().zip(modifiers);
        let names = targets.map(|(target, modifier)| Names {
            modifier,
            loss: target.loss().to_string(),
            adduct: target.adduct().to_string(),
        });
        Self {
            names: names.collect(),
            ions,
            rows,
            decoys,
            warnings,
        }
    }

    /// The rows in their order.
    #[must_use]
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The ions that were looked for.
    #[must_use]
    pub fn ions(&self) -> &Rc<Ions> {
        &self.ions
    }

    /// Decoys that score.
    #[must_use]
    pub fn decoys(&self) -> u64 {
        self.decoys
    }

    /// What a user should know, a sentence each: also why rates are rough.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Rows at each of [`level::LEVELS`] or below it.
    #[must_use]
    pub fn levels(&self) -> [u64; 4] {
        level::counts(self.rows.iter().map(|row| row.fdr))
    }

    /// A row's formula as the list has it.
    #[must_use]
    pub fn formula(&self, row: &Row) -> &str {
        let formula = self.ions.molecules().formulas.get(row.formula as usize);
        formula.map_or("", |formula| &formula.text)
    }

    /// A row's neutral loss and adduct together, which with the formula names it.
    #[must_use]
    pub fn modifier(&self, row: &Row) -> &str {
        self.names(row).map_or("", |names| &names.modifier)
    }

    /// A row's neutral loss; empty without one.
    #[must_use]
    pub fn loss(&self, row: &Row) -> &str {
        self.names(row).map_or("", |names| &names.loss)
    }

    /// A row's adduct.
    #[must_use]
    pub fn adduct(&self, row: &Row) -> &str {
        self.names(row).map_or("", |names| &names.adduct)
    }

    /// The atoms of a row's ion, in METASPACE's order of elements.
    #[must_use]
    pub fn ion_formula(&self, row: &Row) -> String {
        let formula = self.ions.molecules().formulas.get(row.formula as usize);
        let target: Option<&Modifier> = self.ions.request().targets.get(usize::from(row.modifier));
        let ion = formula
            .zip(target)
            .and_then(|(formula, target)| target.apply(&formula.composition));
        ion.map(|ion| ion.to_string()).unwrap_or_default()
    }

    /// The molecules of a row's formula.
    #[must_use]
    pub fn molecules(&self, row: &Row) -> &[Molecule] {
        self.ions.molecules().of(row.formula as usize)
    }

    /// Bytes of memory that the rows hold.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        (self.rows.capacity() * size_of::<Row>()) as u64
    }

    /// The ions of the images file.
    #[must_use]
    pub fn subjects(&self) -> Vec<Subject<'_>> {
        let subject = |row: &Row| Subject {
            ion: row.scored.ion,
            formula: self.formula(row),
            modifier: self.modifier(row),
            msm: row.scored.metrics.msm,
            fdr: row.fdr,
            mz: row.scored.mz,
        };
        self.rows.iter().map(subject).collect()
    }

    pub(super) fn part(&self, rows: Range<usize>) -> &[Row] {
        let end = rows.end.min(self.rows.len());
        self.rows.get(rows.start.min(end)..end).unwrap_or_default()
    }

    fn names(&self, row: &Row) -> Option<&Names> {
        self.names.get(usize::from(row.modifier))
    }
}
