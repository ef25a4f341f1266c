//! The job's checkpoints: what is written, and how a new job goes on from it.

use super::errand::Errands;
use super::job::{File, From, Out, PackJob, Stage, Supply};
use super::pile::{Chunk, Part};
use super::plan::Plan;
use super::spread::Spread;
use super::state::{Eye, Fingerprint, Pen, refused};
use super::turn::Turn;
use crate::error::Result;
use crate::imzml::Dataset;
use crate::store::head::Counts;
use crate::store::write::Writer;

/// A checkpoint between two spectra.
const READING: u64 = 0;
/// A checkpoint between two groups.
const SORTING: u64 = 1;

impl PackJob {
    /// A checkpoint, if nothing but the spill holds rows and there is room for it: it is written into
    /// the arena, which is idle between stages. Without it, a later run only has more to do again.
    pub(super) fn checkpoint(&mut self) -> Turn {
        if self.loaded > 0 || !self.saves() {
            return Turn::On;
        }
        let len = self.arena.len();
        let mut pen = Pen::new(std::mem::take(&mut self.arena), self.fingerprint());
        self.save(&mut pen);
        self.arena = pen.finish();
        let written = self.arena.len();
        self.arena.resize(len.max(written), 0);
        Turn::Put(Out {
            file: File::State,
            at: 0,
            from: From::Arena(0..written),
        })
    }

    /// Whether there are checkpoints: not where all rows fit into memory, and not where the arena is
    /// so small that it does not hold one.
    pub(super) fn saves(&self) -> bool {
        self.cut.partitions > 1 && self.saved_bytes() <= self.arena.len() as u64
    }

    /// Most bytes that a checkpoint takes now.
    fn saved_bytes(&self) -> u64 {
        let lists = self.pile.chunks.len() * size_of::<Chunk>()
            + self.pile.parts.len() * size_of::<Part>()
            + self.spread.as_ref().map_or(0, |s| 40 * s.parts.len());
        let tables = self.tables.mask.bytes().len() + self.tables.saved_bytes();
        let writer = match (&self.writer, &self.layout) {
            (Some(_), Some(layout)) => Writer::bytes(layout) + 256,
            _ => 0,
        };
        (lists + tables) as u64 + writer + 512
    }

    fn save(&self, pen: &mut Pen) {
        let sorting = self.writer.is_some();
        pen.number(if sorting { SORTING } else { READING });
        for number in [
            self.counts.peaks_read,
            self.counts.zeros_dropped,
            self.counts.negative_intensities,
            self.counts.unsorted_spectra,
            self.counts.bad_spectra,
            self.counts.empty_spectra,
            self.spectra,
            self.first_bad.map_or(0, |first| first + 1),
            self.points,
            self.due,
            self.spilled_bytes,
            self.pile.end,
        ] {
            pen.number(number);
        }
        pen.bytes(self.tables.mask.bytes());
        save_parts(pen, &self.pile.parts);
        pen.number(self.pile.chunks.len() as u64);
        for chunk in &self.pile.chunks {
            pen.number(chunk.at);
            pen.number(u64::from(chunk.rows) << 32 | u64::from(chunk.part));
        }
        if let Some(writer) = &self.writer {
            save_part(pen, &self.all);
            writer.save(&mut pen.page);
        } else {
            pen.number(self.spectrum as u64);
            let spread = self.spread.as_ref();
            let bounds = spread.map_or(&[][..], |spread| &spread.bounds);
            pen.number(bounds.len() as u64);
            for bound in bounds {
                pen.number(*bound);
            }
            save_parts(pen, spread.map_or(&[], |spread| &spread.parts));
            self.tables.save(&mut |bytes| pen.bytes(bytes));
        }
    }

    /// Goes on from a checkpoint.
    pub(super) fn restore(&mut self, state: &[u8]) -> Result<()> {
        let mut eye = Eye::new(state, self.fingerprint())?;
        let kind = eye.number()?;
        self.counts = Counts {
            peaks_read: eye.number()?,
            zeros_dropped: eye.number()?,
            negative_intensities: eye.number()?,
            unsorted_spectra: eye.number()?,
            bad_spectra: eye.number()?,
            empty_spectra: eye.number()?,
            duplicate_pixels: self.counts.duplicate_pixels,
        };
        self.spectra = eye.number()?;
        self.first_bad = eye.number()?.checked_sub(1);
        self.points = eye.number()?;
        self.due = eye.number()?;
        self.spilled_bytes = eye.number()?;
        self.pile.end = eye.number()?;
        let mask = eye.bytes(self.tables.mask.bytes().len() as u64)?;
        for pixel in 0..self.tables.mask.pixels() {
            if mask[(pixel / 8) as usize] >> (pixel % 8) & 1 == 1 {
                self.tables.mask.set(pixel);
            }
        }
        let most = self.pile.parts.capacity();
        restore_parts(&mut eye, most, &mut self.pile.parts)?;
        for _ in 0..eye.count(self.pile.chunks.capacity())? {
            let (at, both) = (eye.number()?, eye.number()?);
            #[expect(clippy::cast_possible_truncation, reason = "two halves")]
            let (rows, part) = ((both >> 32) as u32, both as u32);
            self.pile.chunks.push(Chunk { at, rows, part });
        }
        match kind {
            READING => self.restore_reading(&mut eye),
            SORTING => self.restore_sorting(&mut eye),
            _ => Err(refused("it is of an unknown kind")),
        }
    }

    fn restore_reading(&mut self, eye: &mut Eye<'_>) -> Result<()> {
        self.spectrum = eye.count(self.dataset.spectra.len())?;
        self.errands = Errands::new(self.cut.slot_bytes, self.plan.ibd_bytes, self.spectrum);
        let row = self.shape.bytes();
        let partitions = usize::try_from(self.cut.partitions).unwrap_or(usize::MAX);
        let mut spread = Spread::new(partitions, self.arena.len() / row);
        for _ in 0..eye.count(partitions)? {
            spread.bounds.push(eye.number()?);
        }
        restore_parts(eye, partitions, &mut spread.parts)?;
        if spread.parts.len() != spread.bounds.len() + 1 {
            return Err(refused("its partitions have no bounds"));
        }
        spread.refill();
        self.spread = Some(spread);
        self.stage = Stage::Spread;
        self.tables.restore(eye.rest())
    }

    fn restore_sorting(&mut self, eye: &mut Eye<'_>) -> Result<()> {
        self.all = restore_part(eye)?;
        let layout = self.lay_out()?;
        self.layout = Some(layout);
        let due = self.due;
        self.end_reading();
        self.due = due;
        let writer = Writer::restore("the checkpoint", layout, eye.rest(), &mut self.budget);
        self.writer = Some(writer.map_err(|error| refused(&error.to_string()))?);
        self.make_pages(&layout)?;
        self.supply = Supply::Nothing;
        self.stage = Stage::Next;
        Ok(())
    }

    /// What a checkpoint depends on: the dataset, the plan and the options.
    fn fingerprint(&self) -> u64 {
        with_plan(self.print, &self.plan)
    }

    /// Whether [`PackJob::new`] takes `state` for a checkpoint of this dataset and plan, so that what
    /// it would go on from can be thrown away before the index goes into a job.
    ///
    /// # Cost
    /// One pass over the index and the checkpoint.
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::error::Error::Parameter) with the name `state` and the reason.
    pub fn check(dataset: &Dataset, plan: &Plan, state: &[u8]) -> Result<()> {
        Eye::new(state, with_plan(print(dataset), plan)).map(drop)
    }
}

/// What a checkpoint depends on: a dataset, the plan and the options.
fn with_plan(mut print: Fingerprint, plan: &Plan) -> u64 {
    let cut = &plan.cut;
    for number in [
        cut.slot_bytes,
        cut.arena_bytes,
        cut.partitions,
        cut.chunks,
        u64::from(plan.skip_bad),
        plan.ibd_bytes.map_or(0, |bytes| bytes + 1),
    ] {
        print.number(number);
    }
    print.value()
}

fn save_parts(pen: &mut Pen, parts: &[Part]) {
    pen.number(parts.len() as u64);
    for part in parts {
        save_part(pen, part);
    }
}

fn save_part(pen: &mut Pen, part: &Part) {
    for number in [part.rows, part.min, part.max] {
        pen.number(number);
    }
}

fn restore_parts(eye: &mut Eye<'_>, most: usize, parts: &mut Vec<Part>) -> Result<()> {
    for _ in 0..eye.count(most)? {
        parts.push(restore_part(eye)?);
    }
    Ok(())
}

fn restore_part(eye: &mut Eye<'_>) -> Result<Part> {
    Ok(Part {
        rows: eye.number()?,
        min: eye.number()?,
        max: eye.number()?,
    })
}

/// The fingerprint of a dataset.
pub(super) fn print(dataset: &Dataset) -> Fingerprint {
    let mut print = Fingerprint::new();
    print.text(&dataset.file);
    print.text(env!("CARGO_PKG_VERSION"));
    dataset
        .warnings
        .iter()
        .for_each(|warning| print.text(warning));
    for byte in dataset.uuid.iter().flatten() {
        print.number(*byte);
    }
    let grid = &dataset.grid;
    for number in [
        grid.width,
        grid.height,
        grid.x0.cast_unsigned(),
        grid.y0.cast_unsigned(),
    ] {
        print.number(number);
    }
    print.number(dataset.spectra.len() as u64);
    for spectrum in &dataset.spectra {
        for array in [spectrum.mz(), spectrum.intensity()] {
            print.number(array.at);
            print.number(array.bytes);
            print.number(array.len);
            print.number(array.number as u32 | (array.compression as u32) << 8);
        }
        for place in [spectrum.x, spectrum.y, spectrum.z] {
            print.number(place.cast_unsigned());
        }
    }
    print
}
