//! Scores that were saved, and what they come to.

use std::rc::Rc;

use js_sys::{Array, Uint8Array};
use wasm_bindgen::prelude::*;

use super::ions::Ions;
use crate::error::Error;
use crate::ion::annotate::{Decoy, Scored};
use crate::ion::isotope::PEAKS;
use crate::results::{self, Annotations, Provenance, Row};
use crate::wasm::record::{self, Record};
use crate::wasm::store::Store;
use crate::wasm::{Thrown, bulk, offset, thrown};

/// Most bytes of one save: a job hands out far fewer.
const MOST: u64 = 4 << 20;

/// Scores of shards, as they come.
#[wasm_bindgen]
pub struct Table {
    table: Option<results::Table>,
}

#[wasm_bindgen]
impl Ions {
    /// A table of these ions without scores, which may take `memory` bytes.
    ///
    /// # Errors
    /// A memory that is no number of bytes.
    pub fn table(&self, memory: f64) -> Result<Table, Thrown> {
        let memory = offset("memory", memory)?;
        Ok(Table {
            table: Some(results::Table::new(Rc::clone(&self.order), memory)),
        })
    }

    /// What the scores of a table come to; nothing is left in it. `list` is the list's name, for provenance.
    ///
    /// # Errors
    /// Scores of different runs, or no memory.
    pub fn results(&self, table: &mut Table, store: &Store, list: &str) -> Result<Results, Thrown> {
        let table = table.table.take().ok_or_else(used_up)?;
        Ok(Results {
            annotations: table.finish().map_err(thrown)?,
            provenance: Provenance::new(&store.head, list, Some(self.list_sha256)),
            warnings: self.warnings.clone(),
        })
    }
}

#[wasm_bindgen]
impl Table {
    /// Takes scores as a job hands them out; the same may come again.
    ///
    /// # Errors
    /// What are no such scores, or not of these ions; no memory.
    pub fn take(&mut self, targets: &Uint8Array, decoys: &Uint8Array) -> Result<(), Thrown> {
        let table = self.table.as_mut().ok_or_else(used_up)?;
        let targets = records(targets, Scored::from_bytes)?;
        table.take_targets(&targets).map_err(thrown)?;
        let decoys = records(decoys, |bytes| Some(Decoy::from_bytes(bytes)))?;
        table.take_decoys(&decoys).map_err(thrown)
    }
}

fn records<T, const BYTES: usize>(
    bytes: &Uint8Array,
    read: impl Fn(&[u8; BYTES]) -> Option<T>,
) -> Result<Vec<T>, Thrown> {
    let bytes = bulk::within(bytes, MOST)?;
    let (whole, rest) = bytes.as_chunks::<BYTES>();
    let all: Option<Vec<T>> = whole.iter().map(read).collect();
    all.filter(|_| rest.is_empty()).ok_or_else(|| {
        thrown(Error::Parameter {
            name: "scores",
            what: "these bytes are no scores that a job has handed out".to_owned(),
        })
    })
}

fn used_up() -> Thrown {
    thrown(Error::Parameter {
        name: "table",
        what: "its results have been made".to_owned(),
    })
}

/// What was found.
#[wasm_bindgen]
pub struct Results {
    annotations: Annotations,
    provenance: Provenance,
    /// What contradicts the charge.
    warnings: Vec<String>,
}

#[wasm_bindgen]
impl Results {
    /// How many rows there are.
    #[must_use]
    pub fn length(&self) -> usize {
        self.annotations.rows().len()
    }

    /// Some of the rows.
    #[must_use]
    pub fn rows(&self, from: usize, to: usize) -> Array {
        let rows = self.annotations.rows();
        let end = to.min(rows.len());
        let part = rows.get(from..end).unwrap_or_default();
        part.iter().map(|row| self.row(row)).collect()
    }

    /// What a user should know.
    #[must_use]
    pub fn warnings(&self) -> JsValue {
        let found = self.annotations.warnings();
        record::list(&[&self.warnings, found].concat())
    }

    /// The beginning of `results.csv`.
    #[must_use]
    pub fn csv_head(&self) -> String {
        self.annotations.csv_head().to_owned()
    }

    /// Some of its lines.
    #[must_use]
    pub fn csv_rows(&self, from: usize, to: usize) -> String {
        self.annotations.csv_rows(from..to)
    }

    /// The beginning of `annotations.json`.
    #[must_use]
    pub fn json_head(&self) -> String {
        self.annotations.json_head(&self.provenance)
    }

    /// Some of its rows.
    #[must_use]
    pub fn json_rows(&self, from: usize, to: usize) -> String {
        self.annotations.json_rows(from..to)
    }

    /// Its end.
    #[must_use]
    pub fn json_tail(&self) -> String {
        self.annotations.json_tail().to_owned()
    }
}

impl Results {
    fn row(&self, row: &Row) -> JsValue {
        let found = &self.annotations;
        let Scored { mz, metrics, .. } = &row.scored;
        let peaks: Array = (0..PEAKS)
            .filter(|k| mz[*k] > 0.0)
            .map(|k| peak(&row.scored, k))
            .collect();
        let molecules: Array = (found.molecules(row).iter())
            .map(|molecule| {
                let named = Record::new()
                    .maybe_text("id", molecule.id.as_deref())
                    .maybe_text("name", molecule.name.as_deref());
                JsValue::from(named)
            })
            .collect();
        Record::new()
            .text("formula", found.formula(row))
            .text("adduct", found.modifier(row))
            .text("ion", &found.ion_formula(row))
            .float("mz", mz[0])
            .float("msm", metrics.msm)
            .float("fdr", row.fdr)
            .float("chaos", metrics.chaos)
            .float("spatial", metrics.spatial)
            .float("spectral", metrics.spectral)
            .float("mzErrAbs", row.scored.mz_err_abs)
            .float("mzErrRel", row.scored.mz_err_rel)
            .flag("overlap", row.scored.overlap)
            .with("peaks", &peaks)
            .with("molecules", &molecules)
            .into()
    }
}

fn peak(scored: &Scored, k: usize) -> JsValue {
    Record::new()
        .float("mz", scored.mz[k])
        .float("theory", scored.theory[k])
        .float("total", scored.metrics.total[k])
        .float("min", scored.metrics.min[k])
        .float("max", scored.metrics.max[k])
        .into()
}
