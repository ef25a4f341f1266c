//! Packing as a job: it asks for the `.ibd` and for its own spill, and hands out what is to be written.
//!
//! ```text
//! .ibd ─► spectra ─► load ─► cut ─► spread ─► spill ─► group ─► sort ─► blocks ─► store
//!                     └────────── all fits ──────────────────────┘
//! ```

use std::collections::VecDeque;

use super::errand::{Errand, Errands};
use super::lane::Lane;
use super::measure::{BASE, CHECKPOINTS, Cut, DRIVER, Measure, SPREAD};
use super::pile::{Cursor, Part, Pile};
use super::plan::{Plan, ibd_name, shape};
use super::report::{Phase, Progress, Report};
use super::row::Shape;
use super::save;
use super::spectrum::Intake;
use super::spread::Spread;
use super::state::Fingerprint;
use super::tables::{self, Tables};
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::imzml::dataset::{Dataset, Spectrum};
use crate::job::{Fetch, Job};
use crate::store::head::{Counts, Layout};
use crate::store::write::Writer;

/// Which file a put belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum File {
    /// The spill: temporary, read back as source 1.
    Spill,
    /// The store. Its first bytes are put last, so that one which was not finished is none.
    Store,
    /// The checkpoint: a whole new one, which replaces the one before once all earlier puts are safe.
    State,
}

/// Bytes to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Put<'a> {
    /// Where to.
    pub file: File,
    /// Offset in the file; 0 for a checkpoint.
    pub at: u64,
    /// What.
    pub bytes: &'a [u8],
}

/// Source of the `.ibd`.
pub const IBD: u32 = 0;
/// Source of the spill.
pub const SPILL: u32 = 1;

/// A dataset on its way into a store.
///
/// Sources: [`IBD`] and [`SPILL`]; the latter is what this job's puts wrote, and is read only after
/// they were handed out. The store depends on the dataset alone: not on the budget, the requests in
/// flight or the order in which bytes arrive.
#[derive(Debug)]
pub struct PackJob {
    pub(super) dataset: Dataset,
    pub(super) plan: Plan,
    pub(super) cut: Cut,
    pub(super) shape: Shape,
    pub(super) names: [String; 2],
    pub(super) budget: Budget,
    pub(super) lane: Lane,
    /// Rows: a load, the buffers of the partitions, or a group with its scratch. Between those, a page
    /// for checkpoints and tables.
    pub(super) arena: Vec<u8>,
    /// Tells its dataset from others.
    pub(super) print: Fingerprint,
    pub(super) stage: Stage,
    pub(super) supply: Supply,
    /// Errands of spectra: those asked for and not yet used up.
    pub(super) errands: Errands,
    pub(super) open: VecDeque<Errand>,
    /// The spectrum that is read next.
    pub(super) spectrum: usize,
    /// Points of the spectra read so far.
    pub(super) points: u64,
    /// Points at which the next checkpoint is due, or peaks in the store.
    pub(super) due: u64,
    pub(super) intake: Option<Intake>,
    pub(super) tables: Tables,
    pub(super) counts: Counts,
    /// Spectra in the store, and the first one left out.
    pub(super) spectra: u64,
    pub(super) first_bad: Option<u64>,
    /// Rows in the arena, of a load or a group.
    pub(super) loaded: usize,
    /// How many rows of the supply at hand are used up.
    pub(super) from: usize,
    pub(super) spread: Option<Spread>,
    pub(super) pile: Pile,
    pub(super) cursor: Cursor,
    /// Rows of all spectra together.
    pub(super) all: Part,
    pub(super) writer: Option<Writer>,
    pub(super) columns: Columns,
    /// What was handed out last.
    pub(super) out: Option<Out>,
    pub(super) page: Vec<u8>,
    pub(super) layout: Option<Layout>,
    /// The head, until it is put.
    pub(super) head_bytes: Vec<u8>,
    pub(super) spilled_bytes: u64,
    pub(super) report: Option<Report>,
}

/// What is done next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Rows are collected in the arena; with the range of their keys, where it is known.
    Load(Option<(u64, u64)>),
    /// The load was put; its arena is cut into buffers.
    Spread,
    /// All buffers were put because a checkpoint is due.
    Mark,
    /// All rows are in the spill.
    Spilled,
    /// All spectra are read; the table of pixels is put, from this value of it on.
    Pixels(usize),
    /// The next group is looked for.
    Next,
    /// The rows of a group are collected in the arena.
    Gather,
    /// They are all there.
    Sort,
    /// Sorted rows go into the store.
    Feed,
    /// Rows of one m/z, which need not be sorted, go from the spill into the store.
    Stream,
    /// A group is in the store.
    Fed,
    /// All peaks are in the store; its tables are put.
    Bins,
    Head,
    Done,
}

/// Where rows come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Supply {
    Spectra,
    Spill,
    Nothing,
}

/// What was handed out.
#[derive(Debug, Clone)]
pub(super) struct Out {
    pub(super) file: File,
    pub(super) at: u64,
    pub(super) from: From,
}

/// Where its bytes are.
#[derive(Debug, Clone)]
pub(super) enum From {
    Arena(std::ops::Range<usize>),
    Page,
}

/// Rows as columns on their way to the writer.
#[derive(Debug, Default)]
pub(super) struct Columns {
    pub(super) mz: Vec<f64>,
    pub(super) intensity: Vec<f64>,
    pub(super) pixel: Vec<u32>,
}

/// Rows that go to the writer at one time.
pub(super) const BATCH: usize = 1024;

impl PackJob {
    /// Allocates what `plan` says.
    ///
    /// `resume` is the last checkpoint of a job with the same dataset and plan that did not come to
    /// its end; the spill and the store must hold what that job put before it.
    ///
    /// # Errors
    /// [`Error::Budget`] if the plan's budget or the allocator has not
    /// enough; [`Error::Parameter`] with the name `plan` for the plan
    /// of another dataset, and with the name `state` and the reason if the checkpoint cannot be gone on from: then start anew, without one.
    pub fn new(mut dataset: Dataset, plan: Plan, resume: Option<&[u8]>) -> Result<Self> {
        let mut budget = Budget::new(plan.memory);
        dataset.spectra.shrink_to_fit();
        let measure = Measure::new(&dataset, plan.in_flight);
        if plan.spectra != dataset.spectra.len() as u64 || plan.rows != measure.rows {
            return Err(Error::Parameter {
                name: "plan",
                what: "it is the plan of another dataset".to_owned(),
            });
        }
        let cut = plan.cut;
        let shape = shape(&dataset);
        budget.reserve(
            BASE + measure.text() + u64::from(plan.in_flight) * DRIVER,
            "the program",
        )?;
        budget.reserve(index_bytes(&dataset), "the index")?;
        budget.reserve(measure.inflated(), "the longest spectrum, inflated")?;
        let pixels = u32::try_from(dataset.grid.pixels()).unwrap_or(u32::MAX);
        let tables = Tables::new(pixels, dataset.duplicates > 0, &mut budget)?;
        let intake = Intake::new(&dataset, shape, &mut budget)?;
        let lane = Lane::new(plan.in_flight, length(cut.slot_bytes), &mut budget)?;
        let arena = budget.allocate(length(cut.arena_bytes), "the rows")?;
        budget.reserve(SPREAD * cut.partitions, "the bounds of partitions")?;
        let pile = Pile::new(cut.chunks, cut.parts, &mut budget)?;
        let mut job = Self {
            names: [ibd_name(&dataset), "the spill".to_owned()],
            errands: Errands::new(cut.slot_bytes, plan.ibd_bytes, 0),
            print: save::print(&dataset),
            due: (plan.rows / CHECKPOINTS).max(1),
            shape,
            budget,
            lane,
            arena,
            stage: Stage::Load(None),
            supply: Supply::Spectra,
            open: VecDeque::new(),
            spectrum: 0,
            points: 0,
            intake: Some(intake),
            tables,
            counts: Counts {
                duplicate_pixels: dataset.duplicates,
                ..Counts::default()
            },
            spectra: 0,
            first_bad: None,
            loaded: 0,
            from: 0,
            spread: None,
            pile,
            cursor: Cursor::default(),
            all: Part::EMPTY,
            writer: None,
            columns: Columns::default(),
            out: None,
            page: Vec::new(),
            layout: None,
            head_bytes: Vec::new(),
            spilled_bytes: 0,
            report: None,
            dataset,
            plan,
            cut,
        };
        if let Some(state) = resume {
            job.restore(state)?;
        }
        Ok(job)
    }

    /// The plan that is carried out.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Feeds part of a read: byte `offset` of read `read` of the fetch that fills `slot`.
    ///
    /// `write` is given the place in the slot and fills all of it, so that nothing is copied twice.
    /// Bytes may come in pieces of any size; a piece may begin anywhere up to the first byte that is
    /// still missing (a driver may start a read over).
    ///
    /// # Errors
    /// [`Error::Unexpected`] for bytes that were not asked for.
    pub fn feed(
        &mut self,
        slot: u32,
        read: usize,
        offset: u64,
        len: usize,
        write: impl FnOnce(&mut [u8]),
    ) -> Result<()> {
        let place = (slot, read, offset);
        self.lane.feed(place, len, &self.names, write)
    }

    /// Says that every read of a fetch has been fed whole.
    ///
    /// # Errors
    /// [`Error::Unexpected`] naming the first read that lacks bytes.
    pub fn complete(&mut self, slot: u32) -> Result<()> {
        self.lane.complete(slot, &self.names)
    }

    /// The put that was handed out last; its bytes stay until the next one is made ready.
    #[must_use]
    pub fn last(&self) -> Option<Put<'_>> {
        let Out { file, at, from } = self.out.as_ref()?;
        let bytes = match from {
            From::Arena(range) => self.arena.get(range.clone()).unwrap_or_default(),
            From::Page => &self.page,
        };
        Some(Put {
            file: *file,
            at: *at,
            bytes,
        })
    }

    /// How far it is.
    #[must_use]
    pub fn progress(&self) -> Progress {
        let written = self.writer.as_ref().map(Writer::peaks);
        let (phase, done, total) = match (self.stage, written) {
            (Stage::Done, _) => (Phase::Done, self.all.rows, self.all.rows),
            (_, Some(written)) => (Phase::Sort, written, self.all.rows),
            (_, None) => (Phase::Read, self.points, self.plan.rows),
        };
        Progress { phase, done, total }
    }

    /// What came of it, once it is done.
    #[must_use]
    pub fn report(&self) -> Option<&Report> {
        self.report.as_ref().filter(|_| self.is_done())
    }

    fn ask_spectra(&mut self) -> Option<Fetch> {
        while self.lane.has_room() {
            let errand = self.errands.next(&self.dataset.spectra)?;
            let fetch = if errand.reads.is_empty() {
                None
            } else {
                self.lane.ask(IBD, &errand.reads)
            };
            self.open.push_back(errand);
            if fetch.is_some() {
                return fetch;
            }
        }
        None
    }

    fn ask_spill(&mut self) -> Option<Fetch> {
        if !self.lane.has_room() {
            return None;
        }
        let row = self.shape.bytes();
        let rows = length(self.cut.slot_bytes) / row;
        let ranges = self.cursor.next(self.pile.taken(), rows, row as u64);
        if ranges.is_empty() {
            return None;
        }
        self.lane.ask(SPILL, &ranges)
    }
}

impl Job for PackJob {
    type Item<'a> = Put<'a>;

    fn next(&mut self) -> Option<Fetch> {
        match self.supply {
            Supply::Spectra => self.ask_spectra(),
            Supply::Spill => self.ask_spill(),
            Supply::Nothing => None,
        }
    }

    fn lend(&mut self, fetch: &Fetch) -> Vec<u8> {
        self.lane.lend(fetch)
    }

    fn filled(&mut self, fetch: &Fetch, buffer: Vec<u8>) -> Result<()> {
        self.lane.filled(fetch, buffer, &self.names)
    }

    fn ready(&mut self) -> Result<Option<Put<'_>>> {
        self.out = self.turn()?;
        Ok(self.last())
    }

    fn is_done(&self) -> bool {
        self.stage == Stage::Done
    }

    fn peak(&self) -> u64 {
        self.budget.peak()
    }
}

/// Bytes of the index.
pub(super) fn index_bytes(dataset: &Dataset) -> u64 {
    (dataset.spectra.len() * size_of::<Spectrum>()) as u64
}

/// Lengths within a budget that was reserved.
pub(super) fn length(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// Bytes that are held for the pixels while spectra are read only.
pub(super) fn norm_bytes(dataset: &Dataset) -> u64 {
    let pixels = dataset.grid.pixels();
    tables::bytes(pixels, dataset.duplicates > 0) - tables::mask_bytes(pixels)
}
