//! An imzML pair: its index, read from the XML as it comes.

use js_sys::{Array, Uint8Array};
use wasm_bindgen::prelude::*;

use super::pack::{Packing, read_wish, told};
use super::record::{self, Record};
use super::{Thrown, offset, thrown};
use crate::error::Error;
use crate::imzml::dataset::{Dataset, Spectrum};
use crate::imzml::pair;
use crate::imzml::reader::Reader;
use crate::ion::pack::job::PackJob;
use crate::ion::pack::plan::{Plan, Wish};
use crate::wasm::bulk;

/// What a plan counts for the program itself, and for a body on its way: no memory of the job's own.
const BASE: u64 = 768 << 10;
const CHUNK: u64 = 64 << 10;

/// An `.imzML` that is being read.
#[wasm_bindgen]
pub struct Imzml {
    reader: Option<Reader>,
}

#[wasm_bindgen]
impl Imzml {
    /// A reader of the file of this name, whose index may take `memory` bytes.
    ///
    /// # Errors
    /// A memory that is no number of bytes.
    #[wasm_bindgen(constructor)]
    pub fn new(name: &str, memory: f64) -> Result<Imzml, Thrown> {
        let reader = Reader::new(name, offset("memory", memory)?);
        Ok(Self {
            reader: Some(reader),
        })
    }

    /// Takes the next bytes of the file, any number of them.
    ///
    /// # Errors
    /// What is wrong with the XML, or an index that does not fit.
    pub fn push(&mut self, bytes: &Uint8Array) -> Result<(), Thrown> {
        let bytes = bulk::bytes(bytes)?;
        self.reader
            .as_mut()
            .ok_or_else(used_up)?
            .push(&bytes)
            .map_err(thrown)
    }

    /// The index, once the whole file has been pushed. Nothing is left here.
    ///
    /// # Errors
    /// A file that ends too early or holds no spectrum.
    pub fn finish(&mut self) -> Result<Index, Thrown> {
        let reader = self.reader.take().ok_or_else(used_up)?;
        Ok(Index {
            dataset: Some(reader.finish().map_err(thrown)?),
            ibd: String::new(),
            ibd_bytes: None,
            skip_bad: false,
        })
    }
}

/// Where each spectrum of a dataset lies.
#[wasm_bindgen]
pub struct Index {
    dataset: Option<Dataset>,
    /// Name of the `.ibd`, for messages.
    pub(super) ibd: String,
    /// Its size, once it has been compared with the index.
    ibd_bytes: Option<u64>,
    /// Whether spectra that cannot be read are left out.
    pub(super) skip_bad: bool,
}

impl Index {
    pub(super) fn dataset(&self) -> Result<&Dataset, Thrown> {
        self.dataset.as_ref().ok_or_else(used_up)
    }
}

#[wasm_bindgen]
impl Index {
    /// What the XML says.
    ///
    /// # Errors
    /// An index that has been used up.
    pub fn describe(&self) -> Result<JsValue, Thrown> {
        let dataset = self.dataset()?;
        let slices = Array::new();
        for z in &dataset.grid.slices {
            slices.push(&(*z).into());
        }
        Ok(Record::new()
            .number("spectra", dataset.spectra.len() as u64)
            .number("width", dataset.grid.width)
            .number("height", dataset.grid.height)
            .with("slices", &slices)
            .text("polarity", dataset.polarity.name())
            .text("representation", dataset.representation.name())
            .maybe_text("instrument", dataset.instrument.as_deref())
            .number("duplicates", dataset.duplicates)
            .texts("warnings", &dataset.warnings)
            .into())
    }

    /// The byte of the `.ibd` behind the last one that the index names.
    ///
    /// # Errors
    /// An index that has been used up.
    pub fn end(&self) -> Result<f64, Thrown> {
        let spectra = self.dataset()?.spectra.iter();
        let end = spectra.map(|one| one.mz().end().max(one.intensity().end()));
        Ok(super::number(end.max().unwrap_or(0)))
    }

    /// Compares the index with the `.ibd`: its name, its size and its first 16 bytes. Arrays outside of it
    /// are left to the plan where bad spectra are skipped.
    ///
    /// # Errors
    /// The first spectrum whose arrays are not inside the file.
    pub fn settle(
        &mut self,
        name: &str,
        size: f64,
        first: &Uint8Array,
        skip_bad: bool,
    ) -> Result<(), Thrown> {
        name.clone_into(&mut self.ibd);
        let (size, first) = (offset("size", size)?, bulk::bytes(first)?);
        self.ibd_bytes = Some(size);
        self.skip_bad = skip_bad;
        let dataset = self.dataset.as_mut().ok_or_else(used_up)?;
        match dataset.settle(name, size, &first) {
            Err(Error::Format { .. }) if skip_bad => Ok(()),
            settled => settled.map_err(thrown),
        }
    }

    /// What packing would cost.
    ///
    /// # Errors
    /// As [`Plan::new`], and members of `wish` that are not of their kind.
    pub fn plan(&self, wish: &JsValue) -> Result<JsValue, Thrown> {
        let plan = Plan::new(self.dataset()?, &read_wish(wish, self.ibd_bytes)?).map_err(thrown)?;
        Ok(told(&plan))
    }

    /// The job of packing, from a checkpoint on if there is one. The index goes into it, even where that
    /// fails.
    ///
    /// # Errors
    /// As [`Plan::new`] and [`PackJob::new`]; those of a checkpoint are a parameter's.
    pub fn pack(&mut self, wish: &JsValue, state: Option<Uint8Array>) -> Result<Packing, Thrown> {
        let wish = read_wish(wish, self.ibd_bytes)?;
        let plan = feasible(self.dataset()?, wish).map_err(thrown)?;
        let state = match state {
            Some(state) => Some(bulk::within(&state, plan.memory)?),
            None => None,
        };
        let dataset = self.dataset.take().ok_or_else(used_up)?;
        let job = PackJob::new(dataset, plan, state.as_deref()).map_err(thrown)?;
        Ok(Packing::new(job))
    }
}

/// A plan whose memory can be had.
///
/// What an instance has done before may have left its memory in pieces, and then less than the budget must
/// do: the store comes out the same.
fn feasible(dataset: &Dataset, mut wish: Wish) -> crate::error::Result<Plan> {
    let mut plan = Plan::new(dataset, &wish)?;
    while !fits(&plan, dataset) {
        wish.memory -= wish.memory / 16;
        plan = Plan::new(dataset, &wish)?;
    }
    Ok(plan)
}

/// Whether what the job will hold can be had in one piece. It is given back at once, and what the job then
/// allocates is cut from it: the allocator asks for memory as large as the piece wanted, whatever it has
/// left, so that the last and largest piece would not fit where all of them do.
fn fits(plan: &Plan, dataset: &Dataset) -> bool {
    let index = dataset.spectra.capacity() * size_of::<Spectrum>();
    let here = BASE + u64::from(plan.in_flight) * CHUNK + index as u64;
    usize::try_from(plan.peak_bytes.saturating_sub(here))
        .is_ok_and(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_ok())
}

fn used_up() -> Thrown {
    thrown(Error::Parameter {
        name: "index",
        what: "it has been used up".to_owned(),
    })
}

/// The names under which the `.ibd` of an `.imzML` is looked for, the likeliest first.
#[wasm_bindgen]
#[must_use]
pub fn ibd_names(imzml: &str) -> JsValue {
    record::list(&pair::candidates(imzml))
}
