//! The arithmetic of a plan: which buffer takes how much of the budget.

use super::job::{index_bytes, norm_bytes};
use super::pile::{CHUNK_ENTRY, PART_ENTRY};
use super::plan::shape;
use super::row::Shape;
use super::{errand, spectrum, tables};
use crate::error::{Error, Result};
use crate::imzml::dataset::{Array, Compression, Dataset, Spectrum};
use crate::store::format::{BINS, BLOCK_PEAKS};
use crate::store::head::Entry;

/// What a program needs before it holds a single peak: code, stack, allocator.
pub(super) const BASE: u64 = 768 << 10;

/// What a driver holds of a body on its way into a slot, or of a put on its way out.
pub(super) const DRIVER: u64 = 64 << 10;

/// Checkpoints while spectra are read, at most.
pub(super) const CHECKPOINTS: u64 = 16;

/// Buffers of partitions get no smaller: requests of less cost more than their bytes.
const SMALLEST_BUFFER: u64 = 8 << 10;

/// The smallest arena: enough to cut.
const SMALLEST_ARENA: u64 = 16 * SMALLEST_BUFFER;

/// Slots get no larger, except for a spectrum that needs more.
const LARGEST_SLOT: u64 = 2 << 20;

/// Slots get no smaller, except where that is all there is to read.
const SMALLEST_SLOT: u64 = 16 << 10;

/// How often a partition that is too large may be split again before the table of chunks is short.
const SPLITS: u64 = 8;

/// Bytes for each partition while rows are spread: its bound, its fill, what it holds, and lists of
/// how many rows each has.
pub(super) const SPREAD: u64 = 64;

/// What a plan is made of.
#[derive(Debug, Clone)]
pub(super) struct Measure {
    pub(super) shape: Shape,
    /// Points in all arrays.
    pub(super) rows: u64,
    pub(super) pixels: u64,
    in_flight: u64,
    /// Bytes of the largest fetch that cannot be cut, and of all arrays.
    largest: u64,
    all: u64,
    /// Held while spectra are read only.
    reading: u64,
    text: u64,
    inflated: u64,
    /// Held while the store is written only.
    writing: u64,
    /// Held after that, when rows and slots are not needed any more.
    finishing: u64,
    /// What can be had in one piece when all spectra are read.
    left: u64,
    /// Held from the start to the end.
    always: u64,
}

/// How the budget is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cut {
    pub(super) slot_bytes: u64,
    pub(super) arena_bytes: u64,
    /// Bytes of the arena in which groups are sorted: the same one, or the room that the index leaves
    /// when it is not needed any more.
    pub(super) sorting_bytes: u64,
    pub(super) partitions: u64,
    /// Rows of a partition's buffer.
    pub(super) buffer_rows: u64,
    /// Chunks in the spill, at most.
    pub(super) chunks: u64,
    /// Partitions listed at one time, at most.
    pub(super) parts: u64,
}

impl Cut {
    /// Bytes of what is noted of chunks and partitions.
    pub(super) fn lists(&self) -> u64 {
        self.chunks * CHUNK_ENTRY + self.parts * PART_ENTRY + SPREAD * self.partitions
    }
}

impl Measure {
    pub(super) fn new(dataset: &Dataset, in_flight: u32) -> Self {
        let shape = shape(dataset);
        let spectra = &dataset.spectra;
        let rows: u64 = spectra.iter().map(|s| spectrum::points(s.mz())).sum();
        let longest = spectrum::longest(dataset);
        let is_zlib = |s: &Spectrum| {
            [s.mz(), s.intensity()]
                .iter()
                .any(|a| a.compression == Compression::Zlib)
        };
        let inflated = if spectra.iter().any(is_zlib) {
            8 * longest
        } else {
            0
        };
        let pixels = dataset.grid.pixels();
        let length = |array: Array| array.end() - array.at;
        let text: usize = dataset.warnings.iter().map(String::len).sum();
        let text = 4 * text as u64;
        let blocks = rows.div_ceil(u64::from(BLOCK_PEAKS) / 2) + 1;
        let directory = blocks * size_of::<Entry>() as u64;
        let bins = 12 * u64::from(BINS);
        let mask = tables::mask_bytes(pixels);
        let index = index_bytes(dataset);
        let reading = index + norm_bytes(dataset) + inflated + longest * spectrum::scratch(shape);
        let writing = directory + bins + BLOCK;
        Self {
            shape,
            rows,
            pixels,
            in_flight: u64::from(in_flight),
            largest: spectra.iter().map(errand::alone).max().unwrap_or(0),
            all: spectra
                .iter()
                .map(|s| length(s.mz()) + length(s.intensity()))
                .sum(),
            text,
            inflated,
            reading,
            writing,
            // A little less, for the allocator's own marks.
            left: index
                .min(reading.saturating_sub(writing))
                .saturating_sub(256)
                & !63,
            finishing: writing + directory + bins + mask + text + SPARE_TEXT,
            always: BASE + text + mask + u64::from(in_flight) * DRIVER,
        }
    }

    /// Bytes of the dataset's words, and those that are made of them.
    pub(super) fn text(&self) -> u64 {
        self.text
    }

    /// Bytes of an inflated array of the longest spectrum.
    pub(super) fn inflated(&self) -> u64 {
        self.inflated
    }

    pub(super) fn row_bytes(&self) -> u64 {
        self.shape.bytes() as u64
    }

    /// The largest arena within `memory`, and everything that follows from it.
    pub(super) fn cut(&self, memory: u64) -> Result<Cut> {
        let need = self.minimum();
        if memory >= need {
            // Large slots mean few requests, but not at the price of writing the spill twice.
            let welcome = [8, 32, u64::MAX].map(|share| memory / share / self.in_flight);
            let cuts = welcome.map(|welcome| self.within(memory, self.slot(welcome)));
            let mut cuts = cuts.into_iter().flatten();
            if let Some(first) = cuts.next() {
                let once = |cut: &Cut| !self.is_cut_again(cut);
                return Ok(if once(&first) {
                    first
                } else {
                    cuts.find(once).unwrap_or(first)
                });
            }
        }
        Err(Error::Budget {
            need,
            have: memory,
            what: "packing this dataset".to_owned(),
        })
    }

    /// The largest arena beside slots of a size, if there is one.
    fn within(&self, memory: u64, slot_bytes: u64) -> Option<Cut> {
        // The table of chunks depends on the arena, which is what the table leaves.
        let mut arena = memory.saturating_sub(self.fixed(slot_bytes));
        for _ in 0..4 {
            let cut = self.with(slot_bytes, arena);
            let total = self.total(&cut);
            if total <= memory {
                return Some(cut);
            }
            arena = arena.saturating_sub(total - memory);
        }
        let cut = self.with(slot_bytes, 0);
        (self.total(&cut) <= memory).then_some(cut)
    }

    /// Everything held at one time, most.
    pub(super) fn total(&self, cut: &Cut) -> u64 {
        let sorting = self.fixed(cut.slot_bytes) + cut.arena_bytes + cut.lists();
        sorting.max(self.always + self.finishing)
    }

    /// The smallest budget that works.
    pub(super) fn minimum(&self) -> u64 {
        self.total(&self.with(self.slot(0), 0))
    }

    /// A budget in which no partition needs to be split again, if the m/z are spread as in the first
    /// load: the next one above `memory`, of some steps.
    pub(super) fn comfortable(&self, mut memory: u64) -> u64 {
        loop {
            memory += (memory / 8).max(1 << 20);
            if self.cut(memory).is_ok_and(|cut| !self.is_cut_again(&cut)) {
                return memory;
            }
        }
    }

    /// Whether partitions are larger than what can be sorted, even if all are of one size.
    pub(super) fn is_cut_again(&self, cut: &Cut) -> bool {
        cut.partitions > 1 && self.rows * self.row_bytes() / cut.partitions > cut.sorting_bytes / 2
    }

    fn fixed(&self, slot_bytes: u64) -> u64 {
        self.always + self.reading.max(self.writing) + self.in_flight * slot_bytes
    }

    /// Bytes of a slot, if so many were welcome.
    fn slot(&self, welcome: u64) -> u64 {
        let useful = welcome
            .clamp(SMALLEST_SLOT, LARGEST_SLOT)
            .min(self.all.max(1));
        useful.max(self.largest).max(4 * self.row_bytes())
    }

    fn with(&self, slot_bytes: u64, arena: u64) -> Cut {
        let row = self.row_bytes();
        let whole = 2 * row * self.rows.max(1);
        if arena >= whole {
            return Cut {
                slot_bytes,
                arena_bytes: whole.max(SMALLEST_ARENA),
                sorting_bytes: whole.max(SMALLEST_ARENA),
                partitions: 1,
                buffer_rows: self.rows.max(1),
                chunks: 0,
                parts: 0,
            };
        }
        let arena = arena.max(SMALLEST_ARENA);
        let sorting_bytes = arena.max(self.left);
        let groups = (self.rows * row).div_ceil(sorting_bytes / 2);
        // More partitions than groups even out that some are larger than others; more than fit are
        // split again.
        let partitions = (4 * groups).clamp(8, arena / SMALLEST_BUFFER);
        let buffer_rows = arena / partitions / row;
        let whole_chunks = self.rows.div_ceil(buffer_rows);
        Cut {
            slot_bytes,
            arena_bytes: arena,
            sorting_bytes,
            partitions,
            buffer_rows,
            chunks: 2 * whole_chunks + (CHECKPOINTS + 2 * SPLITS + 4) * partitions,
            parts: (SPLITS + 1) * partitions,
        }
    }
}

/// Bytes that the head has for what packing has to say.
const SPARE_TEXT: u64 = 16 << 10;

/// A block that is written, as peaks, as bytes and once more until the next one is.
const BLOCK: u64 = BLOCK_PEAKS as u64 * (20 + 2 * 24);
