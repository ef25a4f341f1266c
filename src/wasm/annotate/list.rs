//! A list of molecules, read from its bytes as they come.

use std::rc::Rc;

use js_sys::{Array, Uint8Array};
use sha2::{Digest as _, Sha256};
use wasm_bindgen::prelude::*;

use crate::error::Error;
use crate::ion::database::{self, Reader, Rejected};
use crate::wasm::record::Record;
use crate::wasm::{Thrown, bulk, offset, thrown};

/// A list that is being read.
#[wasm_bindgen]
pub struct MoleculeList {
    reader: Option<Reader>,
    sha256: Sha256,
}

#[wasm_bindgen]
impl MoleculeList {
    /// A reader of the list of this name, which may take `memory` bytes.
    ///
    /// # Errors
    /// A memory that is no number of bytes.
    #[wasm_bindgen(constructor)]
    pub fn new(name: &str, memory: f64) -> Result<MoleculeList, Thrown> {
        let reader = Reader::new(name, offset("memory", memory)?);
        Ok(Self {
            reader: Some(reader),
            sha256: Sha256::new(),
        })
    }

    /// Takes the next bytes of the file, any number of them.
    ///
    /// # Errors
    /// What is wrong with the list as a whole, or a list that does not fit.
    pub fn push(&mut self, bytes: &Uint8Array) -> Result<(), Thrown> {
        let bytes = bulk::bytes(bytes)?;
        let reader = self.reader.as_mut().ok_or_else(used_up)?;
        self.sha256.update(&bytes);
        reader.push(&bytes).map_err(thrown)
    }

    /// The molecules, once the whole file has been pushed. Nothing is left here.
    ///
    /// # Errors
    /// A list without a column of formulas, or without any formula.
    pub fn finish(&mut self) -> Result<Molecules, Thrown> {
        let reader = self.reader.take().ok_or_else(used_up)?;
        let molecules = reader.finish().map_err(thrown)?;
        Ok(Molecules {
            molecules: Rc::new(molecules),
            sha256: std::mem::take(&mut self.sha256).finalize().into(),
        })
    }
}

fn used_up() -> Thrown {
    thrown(Error::Parameter {
        name: "list",
        what: "it has been read to its end".to_owned(),
    })
}

/// The formulas of a list, and the molecules that have them.
#[wasm_bindgen]
pub struct Molecules {
    pub(super) molecules: Rc<database::Molecules>,
    /// Of the file.
    pub(super) sha256: [u8; 32],
}

#[wasm_bindgen]
impl Molecules {
    /// What the list holds, and which of its rows hold no formula.
    #[must_use]
    pub fn describe(&self) -> JsValue {
        let list = &self.molecules;
        told(Record::new().number("rows", list.rows), list)
            .text("separator", &list.separator.to_string())
            .texts("columns", &list.columns)
            .texts("warnings", &list.warnings)
            .into()
    }
}

/// Adds what any description of a list says.
pub(super) fn told(record: Record, list: &database::Molecules) -> Record {
    let rejected = Array::new();
    for Rejected { line, text, what } in &list.rejected {
        let row = Record::new()
            .number("line", *line)
            .text("text", text)
            .text("what", what);
        rejected.push(&row.into());
    }
    record
        .number("formulas", list.formulas.len() as u64)
        .number("molecules", list.molecules.len() as u64)
        .with("rejected", &rejected)
        .number("rejectedRows", list.rejected_rows)
}
