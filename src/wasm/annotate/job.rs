//! A shard that is scored, and waits for its bytes.

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use crate::ion::annotate::{AnnotateJob, Decoy, Keep, Output, Plan, Save, Scored, Wish};
use crate::job::Job;
use crate::wasm::record::{self, Record};
use crate::wasm::store::Store;
use crate::wasm::{Thrown, thrown};

/// A job of one shard.
#[wasm_bindgen]
pub struct Annotating {
    job: AnnotateJob,
    to: u32,
}

impl Annotating {
    pub(super) fn new(job: AnnotateJob, to: u32) -> Self {
        Self { job, to }
    }
}

fetched!(Annotating);

#[wasm_bindgen]
impl Annotating {
    /// The next of what there is to tell: `{ions}` done of this job, or a save
    /// `{targets, decoys, found, decoysFound, position}` with the scores as records of the core.
    ///
    /// # Errors
    /// Damaged blocks, or no memory.
    pub fn ready(&mut self) -> Result<JsValue, Thrown> {
        Ok(match self.job.ready().map_err(thrown)? {
            None => JsValue::UNDEFINED,
            Some(Output::Progress { ions }) => Record::new().number("ions", ions).into(),
            Some(Output::Save(save)) => saved(&save),
        })
    }

    /// Has what is finished handed out soon.
    pub fn save_soon(&mut self) {
        self.job.save_soon();
    }

    /// Ends the job, with everything saved, where it can be gone on with.
    pub fn stop_soon(&mut self) {
        self.job.stop_soon();
    }

    /// Once the job is done: the position up to which everything has been handed out.
    #[must_use]
    pub fn position(&self) -> u32 {
        self.job.stopped().unwrap_or(self.to)
    }
}

fn saved(save: &Save<'_>) -> JsValue {
    let targets = records(save.targets, Scored::to_bytes);
    let decoys = records(save.decoys, Decoy::to_bytes);
    Record::new()
        .with("targets", &targets)
        .with("decoys", &decoys)
        .number("found", save.targets.len() as u64)
        .number("decoysFound", save.decoys.len() as u64)
        .number("position", save.position)
        .into()
}

/// Records one after the other, made in memory of JavaScript: here may be no room for as many.
fn records<T, const BYTES: usize>(all: &[T], write: impl Fn(&T) -> [u8; BYTES]) -> Uint8Array {
    let place = |n: usize| u32::try_from(n * BYTES).unwrap_or(u32::MAX);
    let array = Uint8Array::new_with_length(place(all.len()));
    for (n, one) in all.iter().enumerate() {
        let record = array.subarray(place(n), place(n + 1));
        record.copy_from(&write(one));
    }
    array
}

/// What is asked besides the result, from `{memory, in_flight, max_requests}`; images are not kept.
pub(super) fn read_wish(store: &Store, value: &JsValue) -> Result<Wish, Thrown> {
    let usual = Wish::default();
    Ok(Wish {
        memory: record::count(value, "memory")?.unwrap_or(store.memory),
        in_flight: record::small(value, "in_flight")?.unwrap_or(usual.in_flight),
        images: Keep::None,
        max_requests: record::count(value, "max_requests")?,
    })
}

pub(super) fn told(plan: &Plan) -> JsValue {
    Record::new()
        .number("ions", plan.ions)
        .number("batches", plan.batches)
        .number("groups", plan.groups)
        .number("blocks", plan.blocks)
        .number("requests", plan.requests)
        .number("bytes", plan.bytes)
        .number("refetched", plan.refetched)
        .number("peak_bytes", plan.peak_bytes)
        .number("minimum_bytes", plan.minimum_bytes)
        .number("memory", plan.memory)
        .into()
}
