//! Scores as they come in, until all are there.

use std::rc::Rc;

use super::annotations::{Annotations, Row};
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::ion::annotate::{Decoy, Ion, Ions, Scored};
use crate::ion::fdr::decoys::FEWEST_TARGETS;
use crate::ion::fdr::estimate::{Decoy as Ranked, estimate};

/// Collects the scores of all shards, in any order, and estimates rates.
///
/// # Memory
/// 264 bytes a target that scores and 16 a decoy, twice that while they grow, and 100 for each of both while rates
/// are estimated.
#[derive(Debug)]
pub struct Table {
    ions: Rc<Ions>,
    budget: Budget,
    rows: Vec<Row>,
    hits: Vec<Hit>,
}

/// A decoy that scores.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Hit {
    ion: Ion,
    msm: f64,
}

impl Table {
    /// A table of these ions without scores, in at most `memory` bytes.
    #[must_use]
    pub fn new(ions: Rc<Ions>, memory: u64) -> Self {
        Self {
            ions,
            budget: Budget::new(memory),
            rows: Vec::new(),
            hits: Vec::new(),
        }
    }

    /// Takes targets that score. The same one may come again, as after a resume.
    ///
    /// # Errors
    /// [`Error::Parameter`] for an ion that is no target of these, and for an MSM that is not above 0 and at most 1;
    /// [`Error::Budget`].
    pub fn take_targets(&mut self, targets: &[Scored]) -> Result<()> {
        grow(
            &mut self.rows,
            targets.len(),
            &mut self.budget,
            "the targets that score",
        )?;
        for target in targets {
            let ion = self.ion(target.ion, target.metrics.msm, true)?;
            self.rows.push(Row {
                formula: ion.formula,
                modifier: ion.modifier,
                scored: *target,
                fdr: 1.0,
            });
        }
        Ok(())
    }

    /// Takes decoys that score. The same one may come again, as after a resume.
    ///
    /// # Errors
    /// As [`take_targets`](Self::take_targets).
    pub fn take_decoys(&mut self, decoys: &[Decoy]) -> Result<()> {
        grow(
            &mut self.hits,
            decoys.len(),
            &mut self.budget,
            "the decoys that score",
        )?;
        for decoy in decoys {
            let ion = self.ion(decoy.ion, decoy.msm, false)?;
            self.hits.push(Hit {
                ion,
                msm: decoy.msm,
            });
        }
        Ok(())
    }

    fn ion(&self, place: u32, msm: f64, target: bool) -> Result<Ion> {
        let ion = self.ions.ion(place);
        let ion = ion.filter(|ion| self.ions.is_target(*ion) == target);
        let score = msm > 0.0 && msm <= 1.0;
        ion.filter(|_| score).ok_or_else(|| Error::Parameter {
            name: "scores",
            what: format!(
                "ion {place} with an MSM of {msm} is no {} of these molecules and options, or that is no score; \
                 annotate again",
                if target { "target" } else { "decoy" }
            ),
        })
    }

    /// Rates of all targets, once all shards are in.
    ///
    /// Each modifier's targets are ranked with their own decoys. Rows are sorted by FDR, then by falling MSM, then by
    /// formula and modifier as bytes, so their order is total and says nothing about shards.
    ///
    /// # Cost
    /// Sorting; for each formula and target a search for each of its decoys.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if an ion came twice with different scores; [`Error::Budget`].
    pub fn finish(mut self) -> Result<Annotations> {
        let working = (self.rows.len() + self.hits.len()) as u64 * 100;
        self.budget
            .reserve(working, "estimating rates of false discovery")?;
        self.settle()?;
        let mut warnings = self.ions.warnings();
        let names: Vec<String> = self
            .ions
            .request()
            .targets
            .iter()
            .map(ToString::to_string)
            .collect();
        for (target, name) in names.iter().enumerate() {
            let found = self.estimate(target)?;
            if (1..FEWEST_TARGETS).contains(&found) {
                let some = if found == 1 {
                    "ion scores"
                } else {
                    "ions score"
                };
                warnings.push(format!(
                    "{name:?}: {found} {some}, fewer than {FEWEST_TARGETS}: rates of false discovery estimated \
                     from so few are rough"
                ));
            }
        }
        self.rows.sort_unstable_by(|a, b| {
            let name = |row: &Row| names.get(usize::from(row.modifier));
            (a.fdr.total_cmp(&b.fdr))
                .then_with(|| b.scored.metrics.msm.total_cmp(&a.scored.metrics.msm))
                // Formulas of a list are in the order of their texts.
                .then_with(|| a.formula.cmp(&b.formula))
                .then_with(|| name(a).cmp(&name(b)))
        });
        Ok(Annotations::new(
            self.ions,
            self.rows,
            names,
            self.hits.len() as u64,
            warnings,
        ))
    }

    /// Sorts by ion, and drops what came twice.
    fn settle(&mut self) -> Result<()> {
        self.rows.sort_unstable_by_key(|row| row.scored.ion);
        self.hits
            .sort_unstable_by(|a, b| (a.ion.cmp(&b.ion)).then_with(|| a.msm.total_cmp(&b.msm)));
        let rows = self.rows.windows(2).find_map(|pair| match pair {
            [a, b] if a.scored.ion == b.scored.ion => {
                (a.scored.to_bytes() != b.scored.to_bytes()).then_some((a.formula, a.modifier))
            }
            _ => None,
        });
        let hits = self.hits.windows(2).find_map(|pair| match pair {
            [a, b] if a.ion == b.ion => {
                (a.msm.to_bits() != b.msm.to_bits()).then_some((a.ion.formula, a.ion.modifier))
            }
            _ => None,
        });
        if let Some((formula, modifier)) = rows.or(hits) {
            let formulas = &self.ions.molecules().formulas;
            let formula = formulas
                .get(formula as usize)
                .map_or("", |formula| &formula.text);
            let modifiers = self.ions.decoys_chosen().modifiers();
            let modifier = modifiers
                .get(usize::from(modifier))
                .map(ToString::to_string);
            return Err(Error::Mismatch {
                file: "scores".to_owned(),
                what: format!(
                    "{formula} {} came twice with different scores: its parts are of different runs; annotate again",
                    modifier.unwrap_or_default()
                ),
            });
        }
        self.rows.dedup_by_key(|row| row.scored.ion);
        self.hits.dedup_by_key(|hit| hit.ion);
        Ok(())
    }

    /// Rates of one modifier's targets; returns how many there are.
    fn estimate(&mut self, target: usize) -> Result<usize> {
        let is_mine = |row: &Row| usize::from(row.modifier) == target;
        let mine = self.rows.iter().filter(|row| is_mine(row));
        let scores: Vec<f64> = mine.map(|row| row.scored.metrics.msm).collect();
        let decoys = self.ions.decoys_chosen();
        let mut hits = Vec::new();
        for of_one in self.hits.chunk_by(|a, b| a.ion.formula == b.ion.formula) {
            let formula = of_one.first().map_or(0, |hit| hit.ion.formula);
            for (ranking, modifier) in (0..).zip(decoys.of(formula as usize, target)) {
                let at = of_one.binary_search_by_key(&modifier, |hit| hit.ion.modifier);
                let hit = at.ok().and_then(|at| of_one.get(at));
                hits.extend(hit.map(|hit| Ranked {
                    ranking,
                    score: hit.msm,
                }));
            }
        }
        let rates = estimate(decoys.rule(), &scores, &hits, decoys.per_target())?;
        let mine = self.rows.iter_mut().filter(|row| is_mine(row));
        for (row, rate) in mine.zip(&rates) {
            row.fdr = *rate;
        }
        Ok(rates.len())
    }
}

/// Makes room for so many more.
fn grow<T>(held: &mut Vec<T>, more: usize, budget: &mut Budget, what: &str) -> Result<()> {
    if held.capacity() - held.len() >= more {
        return Ok(());
    }
    let (before, more) = (held.capacity(), more.max(held.len()));
    let size = |count: usize| (count as u64).saturating_mul(size_of::<T>() as u64);
    // Both are there while one is copied into the other.
    budget.reserve(size(held.len().saturating_add(more)), what)?;
    held.try_reserve_exact(more).map_err(|_| Error::Budget {
        need: size(more),
        have: 0,
        what: what.to_owned(),
    })?;
    budget.release(size(before));
    Ok(())
}
