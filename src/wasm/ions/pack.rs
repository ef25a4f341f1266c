//! Packing that waits for its bytes, and for what it puts to be written.

use wasm_bindgen::prelude::*;

use super::lent::Lent;
use super::record::{self, Record};
use super::{Thrown, thrown};
use crate::error::Error;
use crate::ion::pack::job::{File, PackJob, Put};
use crate::ion::pack::plan::{Plan, Wish};
use crate::job::Job;
use crate::wasm::store::counts;

/// A job of packing.
#[wasm_bindgen]
pub struct Packing {
    job: PackJob,
    lent: Lent,
}

impl Packing {
    pub(super) fn new(job: PackJob) -> Self {
        Self {
            job,
            lent: Lent::default(),
        }
    }
}

fed!(Packing);

#[wasm_bindgen]
impl Packing {
    /// The next slot to fill: `[slot, source, start, end, start, end, …]`; source 0 is the `.ibd`, 1 the
    /// spill.
    #[wasm_bindgen(js_name = next)]
    pub fn next_fetch(&mut self) -> Option<Vec<f64>> {
        self.lent.next(&mut self.job)
    }

    /// Address and length of a read's place in the core's memory, for a source that reads straight into it:
    /// all reads of the slot are then filled so, and none is fed.
    ///
    /// # Errors
    /// A slot that was not asked for.
    pub fn place(&mut self, slot: u32, read: usize) -> Result<Vec<f64>, Thrown> {
        self.lent.place(&mut self.job, slot, read)
    }

    /// Says that a slot's reads have all been filled or fed.
    ///
    /// # Errors
    /// If bytes are missing.
    pub fn complete(&mut self, slot: u32) -> Result<(), Thrown> {
        match self.lent.give_back(slot) {
            Some((fetch, buffer)) => self.job.filled(&fetch, buffer).map_err(thrown),
            None => self.job.complete(slot).map_err(thrown),
        }
    }

    /// What is to be written next: `[file, at, address, length]` of bytes in the core's memory, which stay
    /// until the next turn. File 0 is the spill, 1 the store, 2 a checkpoint that replaces the one before.
    ///
    /// # Errors
    /// What is wrong with a spectrum, or no memory.
    pub fn ready(&mut self) -> Result<Option<Vec<f64>>, Thrown> {
        let put = self.job.ready().map_err(thrown)?;
        Ok(put.map(|Put { file, at, bytes }| {
            let file = match file {
                File::Spill => 0.0,
                File::Store => 1.0,
                File::State => 2.0,
            };
            let [address, length] = super::lent::whereabouts(bytes);
            vec![file, super::number(at), address, length]
        }))
    }

    /// The memory of its plan in bytes: a job that goes on from a checkpoint must be given the same.
    #[must_use]
    pub fn memory(&self) -> f64 {
        super::number(self.job.plan().memory)
    }

    /// How far it is: `{phase, done, total}`.
    #[must_use]
    pub fn progress(&self) -> JsValue {
        let progress = self.job.progress();
        Record::new()
            .text("phase", progress.phase.name())
            .number("done", progress.done)
            .number("total", progress.total)
            .into()
    }

    /// What came of it.
    ///
    /// # Errors
    /// A job that is not done.
    pub fn report(&self) -> Result<JsValue, Thrown> {
        let Some(report) = self.job.report() else {
            return Err(thrown(Error::Parameter {
                name: "report",
                what: "packing is not done".to_owned(),
            }));
        };
        Ok(Record::new()
            .number("peaks", report.peaks)
            .number("spectra", report.spectra)
            .with("counts", &counts(&report.counts))
            .texts("warnings", &report.warnings)
            .number("store_bytes", report.store_bytes)
            .number("spill_bytes", report.spill_bytes)
            .into())
    }
}

/// `ibd_bytes` is the size of the `.ibd`.
pub(super) fn read_wish(value: &JsValue, ibd_bytes: Option<u64>) -> Result<Wish, Thrown> {
    let usual = Wish::default();
    Ok(Wish {
        ibd_bytes,
        memory: record::count(value, "memory")?.unwrap_or(usual.memory),
        in_flight: record::small(value, "in_flight")?.unwrap_or(usual.in_flight),
        skip_bad: record::flag(value, "skip_bad"),
    })
}

pub(super) fn told(plan: &Plan) -> JsValue {
    Record::new()
        .number("spectra", plan.spectra)
        .number("rows", plan.rows)
        .number("row_bytes", plan.row_bytes)
        .number("partitions", plan.partitions)
        .number("spill_bytes", plan.spill_bytes)
        .number("requests", plan.requests)
        .number("payload_bytes", plan.payload_bytes)
        .number("store_bytes_estimate", plan.store_bytes_estimate)
        .number("peak_bytes", plan.peak_bytes)
        .number("minimum_bytes", plan.minimum_bytes)
        .number("memory", plan.memory)
        .number("in_flight", plan.in_flight)
        .texts("warnings", &plan.warnings)
        .into()
}
