//! What packing a dataset will read, hold and write: from the index alone.
//!
//! Rows (one a peak) are collected in one arena. Where all rows fit into half of it, they are sorted in
//! place and nothing is spilled. Otherwise the first load tells where the m/z lie; the arena is cut
//! into as many buffers as there are partitions of m/z, full buffers go to the spill, and afterwards the
//! same arena sorts one group of neighbouring partitions after the other.

use serde::{Deserialize, Serialize};

use super::errand::{Errands, end, lies_inside};
use super::measure::{Cut, Measure};
use super::row::Shape;
use crate::budget;
use crate::error::{Error, Result};
use crate::imzml::dataset::{Dataset, Number, Spectrum};
use crate::imzml::pair::candidates;
use crate::store::head::Real;

/// What is asked of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Wish {
    /// The memory budget in bytes, for everything: the index, the slots, the sort, the tables.
    pub memory: u64,
    /// Requests in flight at one time.
    pub in_flight: u32,
    /// Bytes of the `.ibd`, where they are known: a spectrum that does not lie inside is an error here
    /// already, or is left out.
    pub ibd_bytes: Option<u64>,
    /// Leave out spectra that cannot be read, and count them, instead of failing.
    pub skip_bad: bool,
}

impl Default for Wish {
    fn default() -> Self {
        Self {
            memory: budget::DEFAULT,
            in_flight: 6,
            ibd_bytes: None,
            skip_bad: false,
        }
    }
}

/// The whole of what will be read, held and written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// Spectra in the index.
    pub spectra: u64,
    /// Points in all arrays: the most peaks that the store can have.
    pub rows: u64,
    /// Bytes of a row while it is sorted: 12, 16 or 20.
    pub row_bytes: u64,
    /// Partitions of m/z in the spill; 1 where all rows fit into memory.
    pub partitions: u64,
    /// Bytes that the spill will have, about: 0 where all rows fit into memory, more than this where
    /// m/z crowd so much that a partition must be split again.
    pub spill_bytes: u64,
    /// Requests for the `.ibd`.
    pub requests: u64,
    /// Bytes of the `.ibd` that are asked for, each once.
    pub payload_bytes: u64,
    /// Bytes that the store will have, about.
    pub store_bytes_estimate: u64,
    /// Most bytes held at one time.
    pub peak_bytes: u64,
    /// The smallest budget that works.
    pub minimum_bytes: u64,
    /// The budget given.
    pub memory: u64,
    /// Requests in flight.
    pub in_flight: u32,
    /// Where the `.ibd` ends, if that is known.
    pub ibd_bytes: Option<u64>,
    /// Whether spectra that cannot be read are left out.
    pub skip_bad: bool,
    /// Bytes a slot.
    pub slot_bytes: u64,
    /// Bytes of the arena in which rows are collected and sorted.
    pub arena_bytes: u64,
    /// What the user should know.
    pub warnings: Vec<String>,
    #[serde(skip)]
    pub(super) cut: Cut,
}

/// Bytes a peak of the store where nothing more is known: what real datasets come to.
fn packed_peak(shape: Shape) -> u64 {
    match (shape.mz, shape.intensity) {
        (Real::F32, Real::F32) => 6,
        (Real::F32, Real::F64) => 8,
        (Real::F64, Real::F32) => 10,
        (Real::F64, Real::F64) => 12,
    }
}

impl Plan {
    /// Plans the packing of `dataset`, whose index lies in memory already.
    ///
    /// # Cost
    /// One pass over the index.
    ///
    /// # Errors
    /// [`Error::Budget`] naming the smallest budget that works; [`Error::Parameter`] for no request
    /// in flight; [`Error::Format`] naming the first spectrum that does not lie in the `.ibd`.
    pub fn new(dataset: &Dataset, wish: &Wish) -> Result<Self> {
        if !(1..=1024).contains(&wish.in_flight) {
            return Err(Error::Parameter {
                name: "--in-flight",
                what: format!("{} is not between 1 and 1024", wish.in_flight),
            });
        }
        if !wish.skip_bad {
            inside(dataset, wish)?;
        }
        let measure = Measure::new(dataset, wish.in_flight);
        let cut = measure.cut(wish.memory)?;
        let (mut requests, mut payload_bytes) = (0, 0);
        let mut errands = Errands::new(cut.slot_bytes, wish.ibd_bytes, 0);
        while let Some(errand) = errands.next(&dataset.spectra) {
            requests += errand.reads.len() as u64;
            payload_bytes += errand.bytes();
        }
        let tables = 12 * u64::from(crate::store::format::BINS) + 9 * measure.pixels;
        let mut plan = Self {
            spectra: dataset.spectra.len() as u64,
            rows: measure.rows,
            row_bytes: measure.row_bytes(),
            partitions: cut.partitions,
            spill_bytes: if cut.partitions > 1 {
                measure.rows * measure.row_bytes()
            } else {
                0
            },
            requests,
            payload_bytes,
            store_bytes_estimate: tables + measure.rows * packed_peak(measure.shape),
            peak_bytes: measure.total(&cut),
            minimum_bytes: measure.minimum(),
            memory: wish.memory,
            in_flight: wish.in_flight,
            ibd_bytes: wish.ibd_bytes,
            skip_bad: wish.skip_bad,
            slot_bytes: cut.slot_bytes,
            arena_bytes: cut.arena_bytes,
            warnings: Vec::new(),
            cut,
        };
        plan.warn(&measure);
        Ok(plan)
    }

    fn warn(&mut self, measure: &Measure) {
        if measure.is_cut_again(&self.cut) {
            let memory = measure.comfortable(self.memory);
            self.warnings.push(format!(
                "the budget is so small for {} peaks that the spill is written more than once; \
                 --memory {}MiB avoids that",
                self.rows,
                memory.div_ceil(1 << 20)
            ));
        }
        if self.memory < self.minimum_bytes.saturating_add(self.minimum_bytes / 10) {
            self.warnings.push(format!(
                "the budget is within 10 % of the smallest that works ({} KiB)",
                self.minimum_bytes.div_ceil(1024)
            ));
        }
    }
}

/// Whether all arrays lie in the `.ibd`.
fn inside(dataset: &Dataset, wish: &Wish) -> Result<()> {
    let outside = |spectrum: &Spectrum| !lies_inside(spectrum, wish.ibd_bytes);
    let Some(index) = dataset.spectra.iter().position(outside) else {
        return Ok(());
    };
    let Spectrum { x, y, .. } = dataset.spectra[index];
    let need = dataset.spectra.iter().map(end).max().unwrap_or(0);
    Err(Error::Format {
        file: ibd_name(dataset),
        at: wish.ibd_bytes.unwrap_or(0),
        what: format!(
            "the file ends here, but spectrum {index} (x={x} y={y}) does not, and the index needs \
             {need} bytes: the ibd is cut short; copy it again, or leave such spectra out \
             (--skip-bad)"
        ),
    })
}

/// The precision in which the store holds a dataset's columns.
pub(super) fn shape(dataset: &Dataset) -> Shape {
    let real = |number| match number {
        Number::F32 => Real::F32,
        _ => Real::F64,
    };
    Shape {
        mz: real(dataset.mz_number()),
        intensity: real(dataset.intensity_number()),
    }
}

/// What to call a dataset's `.ibd`: its name, or a likely one where it was not looked at.
pub(super) fn ibd_name(dataset: &Dataset) -> String {
    let imzml = &dataset.file;
    let name = dataset.ibd.as_ref().map(|ibd| ibd.name.clone());
    name.or_else(|| candidates(imzml).into_iter().next())
        .unwrap_or_else(|| format!("{imzml} (its ibd)"))
}
