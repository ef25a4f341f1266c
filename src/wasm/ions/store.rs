//! A store: opened, described, and its tables.

use std::rc::Rc;

use js_sys::{Array, Float32Array, Float64Array, Uint8Array};
use wasm_bindgen::prelude::*;

use super::images::{Images, read_wish, windows};
use super::pack::counts;
use super::record::{self, Record};
use super::{Thrown, feed, need, number, offset, thrown};
use crate::budget::Budget;
use crate::error::Error;
use crate::ion::images::Reader;
use crate::ion::normalise::{Normalise, Norms};
use crate::store::head::{Head, Meta};
use crate::store::read::Open;
use crate::store::{BinTable, PixelTable};

/// Of what a store may use, the part that fetched blocks may stay in: one in four.
const CACHE: u64 = 4;

/// A store whose head is being read.
#[wasm_bindgen]
pub struct OpenStore {
    open: Option<Open>,
}

#[wasm_bindgen]
impl OpenStore {
    /// Starts at the file's first byte; the head may take half of `memory`.
    ///
    /// # Errors
    /// A memory that is no number of bytes.
    #[wasm_bindgen(constructor)]
    pub fn new(name: &str, memory: f64) -> Result<OpenStore, Thrown> {
        let open = Open::new(name, offset("memory", memory)? / 2);
        Ok(Self { open: Some(open) })
    }

    /// The range that is needed next, `[start, end]`; nothing once the head is there.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub fn need(&mut self) -> Result<Option<Vec<f64>>, Thrown> {
        need(self.machine()?)
    }

    /// Takes the bytes of the range; `total` is the file's size, or negative where it is not known.
    ///
    /// # Errors
    /// Bytes that were not asked for, or not the file's.
    pub fn feed(&mut self, at: f64, bytes: &Uint8Array, total: f64) -> Result<(), Thrown> {
        feed(self.machine()?, at, bytes, total)
    }

    /// The store that was opened, which may use `memory` bytes for what it keeps. Nothing is left here.
    ///
    /// # Errors
    /// If its head is not there yet.
    pub fn store(&mut self, memory: f64) -> Result<Store, Thrown> {
        let memory = offset("memory", memory)?;
        let open = self.open.take().ok_or_else(opened)?;
        let head = Rc::new(open.into_head().map_err(thrown)?);
        Ok(Store {
            reader: Reader::new(Rc::clone(&head), memory / CACHE),
            head,
            norms: [None, None],
            memory,
        })
    }

    fn machine(&mut self) -> Result<&mut Open, Thrown> {
        self.open.as_mut().ok_or_else(opened)
    }
}

fn opened() -> Thrown {
    thrown(Error::Parameter {
        name: "store",
        what: "it has been opened already".to_owned(),
    })
}

/// An open store.
#[wasm_bindgen]
pub struct Store {
    pub(super) head: Rc<Head>,
    reader: Reader,
    /// Those of the total and of the root mean square, once they are read.
    norms: [Option<Rc<Norms>>; 2],
    memory: u64,
}

#[wasm_bindgen]
impl Store {
    /// What the head says.
    #[must_use]
    pub fn describe(&self) -> JsValue {
        let head = &self.head;
        let contents = &head.layout.contents;
        let Meta {
            slices, pixel_size, ..
        } = &head.meta;
        let both = pixel_size[0].zip(pixel_size[1]);
        let pair = |x: f64, y: f64| JsValue::from(Array::of2(&x.into(), &y.into()));
        let range = match contents.peaks {
            0 => JsValue::NULL,
            _ => pair(contents.first_mz, contents.last_mz),
        };
        let origin = head.meta.origin.map(f64::from);
        Record::new()
            .number("width", contents.width)
            .number("height", contents.height)
            .with("slices", &integers(slices, contents.slices))
            .number("peaks", contents.peaks)
            .number("spectra", contents.spectra)
            .with("mz", &range)
            .with(
                "pixelSize",
                &both.map_or(JsValue::NULL, |(x, y)| pair(x, y)),
            )
            .with("origin", &pair(origin[0], origin[1]))
            .text("polarity", &head.meta.polarity)
            .text("representation", &head.meta.representation)
            .maybe_text("instrument", head.meta.instrument.as_deref())
            .text("source", &head.meta.source)
            .text("writer", &head.meta.writer)
            .maybe_text("uuid", head.meta.uuid.as_deref())
            .with("counts", &counts(&head.meta.counts))
            .texts("warnings", &head.meta.warnings)
            .number("acquired", head.mask.count())
            .number("blocks", head.layout.blocks)
            .number("bytes", head.file_bytes)
            .into()
    }

    /// What the images of these windows cost; `wanted` holds m/z, half-width, and 0 for ppm or 1 for Da,
    /// in turn.
    ///
    /// # Errors
    /// Windows that are none, a budget that is too small, members of `wish` that are not of their kind.
    pub fn plan(&self, wanted: &Float64Array, wish: &JsValue) -> Result<JsValue, Thrown> {
        let windows = windows(wanted)?;
        let plan = self
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
            kind => Some(self.norms[place(kind)].clone().ok_or_else(|| {
                thrown(Error::Parameter {
                    name: "normalise",
                    what: "the norms have not been read".to_owned(),
                })
            })?),
        };
        let windows = windows(wanted)?;
        let job = self
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
        if kind == Normalise::None || self.norms[place(kind)].is_some() {
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
        self.norms = [
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

/// The slices' own numbers; 1, 2, … where the store does not tell as many as it has.
fn integers(values: &[i32], count: u32) -> JsValue {
    let array = Array::new();
    for n in 0..count {
        let told = values
            .get(n as usize)
            .filter(|_| values.len() == count as usize);
        array.push(
            &told
                .map_or(f64::from(n) + 1.0, |value| f64::from(*value))
                .into(),
        );
    }
    array.into()
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
