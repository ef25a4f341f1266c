//! What is drawn from a store: images, and its tables.

use std::rc::Rc;

use js_sys::{Array, Float32Array, Float64Array, Uint8Array};
use wasm_bindgen::prelude::*;

use super::images::{Images, read_wish, windows};
use super::record::{self, Record};
use super::{Store, Thrown, number, thrown};
use crate::budget::Budget;
use crate::error::Error;
use crate::ion::images::Reader;
use crate::ion::normalise::{Normalise, Norms};
use crate::store::head::Head;
use crate::store::{BinTable, PixelTable};

/// Of what a store may use, the part that fetched blocks may stay in: one in four.
const CACHE: u64 = 4;

/// What a store keeps for its images.
pub(in crate::wasm) struct Drawing {
    reader: Reader,
    /// Those of the total and of the root mean square, once they are read.
    norms: [Option<Rc<Norms>>; 2],
}

impl Drawing {
    pub(in crate::wasm) fn new(head: Rc<Head>, memory: u64) -> Self {
        Self {
            reader: Reader::new(head, memory / CACHE),
            norms: [None, None],
        }
    }
}

#[wasm_bindgen]
impl Store {
    /// What the images of these windows cost; `wanted` holds m/z, half-width, and 0 for ppm or 1 for Da,
    /// in turn.
    ///
    /// # Errors
    /// Windows that are none, a budget that is too small, members of `wish` that are not of their kind.
    pub fn plan(&self, wanted: &Float64Array, wish: &JsValue) -> Result<JsValue, Thrown> {
        let windows = windows(wanted)?;
        let plan = self
            .drawing
            .reader
            .plan(&windows, &read_wish(wish)?)
            .map_err(thrown)?;
        Ok(Record::new()
            .number("images", plan.images)
            .number("blocks", plan.blocks)
            .number("cached", plan.cached)
            .number("requests", plan.requests)
            .number("bytes", plan.bytes)
            .number("peak_bytes", plan.peak_bytes)
            .number("minimum_bytes", plan.minimum_bytes)
            .number("memory", plan.memory)
            .into())
    }

    /// Images that wait for their bytes; `wanted` as for [`plan`](Self::plan).
    ///
    /// # Errors
    /// As [`plan`](Self::plan); norms that are wished for and have not been read.
    pub fn images(&self, wanted: &Float64Array, wish: &JsValue) -> Result<Images, Thrown> {
        let norms = match normalise(wish)? {
            Normalise::None => None,
            kind => Some(self.drawing.norms[place(kind)].clone().ok_or_else(|| {
                thrown(Error::Parameter {
                    name: "normalise",
                    what: "the norms have not been read".to_owned(),
                })
            })?),
        };
        let windows = windows(wanted)?;
        let job = self
            .drawing
            .reader
            .images(&windows, &read_wish(wish)?)
            .map_err(thrown)?;
        Ok(Images { job, norms })
    }

    /// The range to read before images can be divided by these norms, `[start, end]`; nothing if that has
    /// been done or needs nothing.
    ///
    /// # Errors
    /// A name that is none of `none`, `tic`, `rms`.
    pub fn norms_needed(&self, kind: &str) -> Result<Option<Vec<f64>>, Thrown> {
        let kind: Normalise = kind.parse().map_err(thrown)?;
        if kind == Normalise::None || self.drawing.norms[place(kind)].is_some() {
            return Ok(None);
        }
        let range = self.head.layout.pixel_table();
        Ok(Some(vec![number(range.start), number(range.end)]))
    }

    /// Takes the bytes of that range.
    ///
    /// # Errors
    /// Bytes of another length, values that are none, or no memory for them.
    pub fn take_norms(&mut self, bytes: &Uint8Array) -> Result<(), Thrown> {
        let mut budget = Budget::new(self.memory);
        let bytes = held(bytes, &mut budget)?;
        let table = PixelTable::parse(&self.head, &bytes, &mut budget).map_err(thrown)?;
        self.drawing.norms = [
            Some(Rc::new(Norms::new(table.tic).map_err(thrown)?)),
            Some(Rc::new(Norms::new(table.rms).map_err(thrown)?)),
        ];
        Ok(())
    }

    /// The range of the mean spectrum, `[start, end]`.
    #[must_use]
    pub fn bin_table(&self) -> Vec<f64> {
        let range = self.head.layout.bins.range();
        vec![number(range.start), number(range.end)]
    }

    /// Reads the bytes of that range: m/z, mean and maximum of the bins that hold anything.
    ///
    /// # Errors
    /// Bytes of another length, values that are none, or no memory for them.
    pub fn mean_spectrum(&self, bytes: &Uint8Array) -> Result<Array, Thrown> {
        let mut budget = Budget::new(self.memory);
        let bytes = held(bytes, &mut budget)?;
        let table = BinTable::parse(&self.head, &bytes, &mut budget).map_err(thrown)?;
        let bins = &self.head.layout.bins;
        let filled = || table.filled(bins);
        let length = filled().count();
        let mut mz: Vec<f64> = budget.allocate(length, "a spectrum").map_err(thrown)?;
        let mut mean: Vec<f32> = budget.allocate(length, "a spectrum").map_err(thrown)?;
        let mut max: Vec<f32> = budget.allocate(length, "a spectrum").map_err(thrown)?;
        for (at, bin) in filled().enumerate() {
            (mz[at], mean[at], max[at]) = bin;
        }
        Ok(Array::of3(
            &Float64Array::new_from_slice(&mz),
            &Float32Array::new_from_slice(&mean),
            &Float32Array::new_from_slice(&max),
        ))
    }
}

fn normalise(wish: &JsValue) -> Result<Normalise, Thrown> {
    match record::text(wish, "normalise")? {
        Some(name) => name.parse().map_err(thrown),
        None => Ok(Normalise::None),
    }
}

fn place(kind: Normalise) -> usize {
    usize::from(kind == Normalise::Rms)
}

/// A table's bytes, copied in as far as the budget allows.
fn held(bytes: &Uint8Array, budget: &mut Budget) -> Result<Vec<u8>, Thrown> {
    let length = bytes.length() as usize;
    let mut held = budget
        .allocate(length, "a table of the store")
        .map_err(thrown)?;
    bytes.copy_to(&mut held);
    Ok(held)
}
