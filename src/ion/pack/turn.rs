//! The stages of packing, one step after the other.

use super::job::{BATCH, Columns, File, From, Out, PackJob, Stage, Supply, length};
use super::pile::{Cursor, Next, Part};
use super::row::{intensity, key, pixel, with_shape};
use super::sort::sort;
use super::spectrum::Place;
use super::spread::Spread;
use crate::error::{Error, Result};
use crate::store::head::Real;
use crate::store::write::{Peaks, Writer};

/// What a step came to.
pub(super) enum Turn {
    /// Something is to be written.
    Put(Out),
    /// More bytes are needed.
    Wait,
    /// The next step can be made.
    On,
}

/// Whether there are rows.
enum More {
    Rows,
    Wait,
    End,
}

impl PackJob {
    /// Goes on to the next put, or as far as the bytes reach.
    pub(super) fn turn(&mut self) -> Result<Option<Out>> {
        loop {
            match self.step()? {
                Turn::Put(out) => return Ok(Some(out)),
                Turn::Wait => return Ok(None),
                Turn::On => {}
            }
        }
    }

    fn step(&mut self) -> Result<Turn> {
        match self.stage {
            Stage::Load(range) => with_shape!(self.shape, load(self, range)),
            Stage::Spread => with_shape!(self.shape, spread(self)),
            Stage::Mark => {
                self.due = self.points + (self.plan.rows / super::measure::CHECKPOINTS).max(1);
                self.stage = Stage::Spread;
                Ok(self.checkpoint())
            }
            Stage::Spilled => self.spilled(),
            Stage::Pixels(from) => self.pixels(from),
            Stage::Next => {
                self.take_next();
                Ok(Turn::On)
            }
            Stage::Gather => with_shape!(self.shape, gather(self)),
            Stage::Sort => {
                with_shape!(self.shape, sort_loaded(self));
                self.stage = Stage::Feed;
                Ok(Turn::On)
            }
            Stage::Feed => with_shape!(self.shape, feed(self)),
            Stage::Stream => with_shape!(self.shape, stream(self)),
            Stage::Fed => Ok(self.fed()),
            Stage::Bins => self.bins(),
            Stage::Head => Ok(self.head()),
            Stage::Done => Ok(Turn::Wait),
        }
    }

    /// Looks for rows, which begin at `self.from`.
    fn more(&mut self) -> Result<More> {
        match self.supply {
            Supply::Spectra => self.more_spectra(),
            Supply::Spill => Ok(self.more_spill()),
            Supply::Nothing => Ok(More::End),
        }
    }

    fn more_spectra(&mut self) -> Result<More> {
        loop {
            let Some(intake) = &mut self.intake else {
                return Ok(More::End);
            };
            if self.from < intake.len() {
                return Ok(More::Rows);
            }
            let Some(errand) = self.open.front() else {
                let done = self.errands.is_done(&self.dataset.spectra);
                return Ok(if done { More::End } else { More::Wait });
            };
            let slot = match self.lane.front() {
                _ if errand.reads.is_empty() => None,
                None => return Ok(More::Wait),
                full => full,
            };
            if self.spectrum >= errand.spectra.end {
                if let Some(slot) = slot {
                    self.lane.pass(slot);
                }
                self.open.pop_front();
                continue;
            }
            let place = Place {
                ibd: &self.names[0],
                ibd_bytes: self.plan.ibd_bytes,
                errand,
                slot: slot.map_or(&[], |slot| self.lane.bytes(slot)),
            };
            let (dataset, index) = (&self.dataset, self.spectrum);
            match intake.take(dataset, index, &place, &mut self.tables, &mut self.counts) {
                Ok(()) => self.spectra += 1,
                Err(Error::Format { .. } | Error::Unsupported { .. }) if self.plan.skip_bad => {
                    self.counts.bad_spectra += 1;
                    self.first_bad.get_or_insert(index as u64);
                }
                Err(error) => return Err(error),
            }
            self.points += u64::from(dataset.spectra[index].mz().len);
            self.spectrum += 1;
            self.from = 0;
            if self.mark_due() {
                return Ok(More::Rows);
            }
        }
    }

    fn more_spill(&mut self) -> More {
        let row = self.shape.bytes();
        while let Some(slot) = self.lane.front() {
            if self.from < self.lane.bytes(slot).len() / row {
                return More::Rows;
            }
            self.lane.pass(slot);
            self.from = 0;
        }
        if self.lane.waiting() == 0 && self.cursor.is_done(self.pile.taken()) {
            More::End
        } else {
            More::Wait
        }
    }

    /// Whether all rows at hand are used up, between two spectra, and a checkpoint is due.
    fn mark_due(&self) -> bool {
        self.stage == Stage::Spread
            && self.supply == Supply::Spectra
            && self.points >= self.due
            && self
                .intake
                .as_ref()
                .is_some_and(|intake| self.from >= intake.len())
            && self.saves()
    }

    /// Rows of half the arena: as many as can be sorted.
    fn capacity(&self) -> usize {
        self.arena.len() / 2 / self.shape.bytes()
    }

    /// All rows of a spread are in the spill.
    fn spilled(&mut self) -> Result<Turn> {
        self.pile.forget();
        let spread = self.spread.take();
        let parts = spread.map(|spread| spread.parts).unwrap_or_default();
        self.pile.stack(&parts)?;
        let read = self.supply == Supply::Spectra;
        self.supply = Supply::Nothing;
        self.loaded = 0;
        if !read {
            self.stage = Stage::Next;
            return Ok(self.checkpoint());
        }
        for part in parts {
            self.all.rows += part.rows;
            self.all.min = self.all.min.min(part.min);
            self.all.max = self.all.max.max(part.max);
        }
        self.stage = Stage::Pixels(0);
        Ok(Turn::On)
    }

    fn take_next(&mut self) {
        self.cursor = Cursor::default();
        self.supply = Supply::Spill;
        self.loaded = 0;
        self.from = 0;
        self.stage = match self.pile.take(self.capacity() as u64) {
            Next::Group => Stage::Gather,
            Next::Equal => Stage::Stream,
            Next::Large(part) => Stage::Load(Some((part.min, part.max))),
            Next::Nothing => {
                self.supply = Supply::Nothing;
                Stage::Bins
            }
        };
    }

    fn fed(&mut self) -> Turn {
        self.pile.forget();
        self.supply = Supply::Nothing;
        self.loaded = 0;
        self.stage = Stage::Next;
        let written = self.writer.as_ref().map_or(0, Writer::peaks);
        if written < self.due || written == self.all.rows {
            return Turn::On;
        }
        self.due = written + self.all.rows / 64;
        self.checkpoint()
    }

    /// A full block, if there is one.
    fn block(&mut self) -> Option<Turn> {
        let block = self.writer.as_mut()?.block()?;
        self.page.clear();
        self.page.extend_from_slice(block.bytes);
        Some(Turn::Put(Out {
            file: File::Store,
            at: block.at,
            from: From::Page,
        }))
    }

    /// Notes rows that go to the end of the spill: so many of each partition, one after the other.
    fn note(&mut self, counts: &[usize]) -> Result<Turn> {
        let row = self.shape.bytes();
        let at = self.pile.end;
        for (j, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let index = self.pile.index(j, counts.len());
            self.pile.add(index, *count, row)?;
        }
        let bytes = length(self.pile.end - at);
        if bytes == 0 {
            return Ok(Turn::On);
        }
        Ok(self.spill(at, 0..bytes))
    }

    fn spill(&mut self, at: u64, bytes: std::ops::Range<usize>) -> Turn {
        self.spilled_bytes += bytes.len() as u64;
        Turn::Put(Out {
            file: File::Spill,
            at,
            from: From::Arena(bytes),
        })
    }
}

/// The rows at hand.
fn supplied<const W: usize>(job: &PackJob) -> &[[u8; W]] {
    match (job.supply, &job.intake, job.lane.front()) {
        (Supply::Spectra, Some(intake), _) => intake.rows::<W>(),
        (Supply::Spill, _, Some(slot)) => job.lane.bytes(slot).as_chunks::<W>().0,
        _ => &[],
    }
}

/// Collects rows until half the arena is full.
fn load<const K: usize, const W: usize>(
    job: &mut PackJob,
    range: Option<(u64, u64)>,
) -> Result<Turn> {
    let capacity = job.capacity();
    loop {
        match job.more()? {
            More::Wait => return Ok(Turn::Wait),
            More::Rows if job.loaded == capacity => return cut::<K, W>(job, range),
            More::Rows => collect::<W>(job, capacity),
            More::End => break,
        }
    }
    sort_loaded::<K, W>(job);
    if job.supply == Supply::Spectra {
        if let [first, .., last] | [first @ last] = rows::<W>(job) {
            job.all = Part {
                rows: job.loaded as u64,
                min: key::<K, W>(first),
                max: key::<K, W>(last),
            };
        }
        job.stage = Stage::Pixels(0);
    } else {
        job.stage = Stage::Feed;
    }
    job.supply = Supply::Nothing;
    job.from = 0;
    Ok(Turn::On)
}

/// Copies the rows at hand into the arena, as many as fit.
fn collect<const W: usize>(job: &mut PackJob, capacity: usize) {
    let mut arena = std::mem::take(&mut job.arena);
    let (free, _) = arena.as_chunks_mut::<W>();
    let source = supplied::<W>(job).get(job.from..).unwrap_or_default();
    let count = source.len().min(capacity - job.loaded);
    free[job.loaded..job.loaded + count].copy_from_slice(&source[..count]);
    job.arena = arena;
    job.loaded += count;
    job.from += count;
}

/// The rows that were collected.
fn rows<const W: usize>(job: &PackJob) -> &[[u8; W]] {
    let (rows, _) = job.arena.as_chunks::<W>();
    rows.get(..job.loaded).unwrap_or_default()
}

fn sort_loaded<const K: usize, const W: usize>(job: &mut PackJob) {
    let (all, _) = job.arena.as_chunks_mut::<W>();
    let (rows, scratch) = all.split_at_mut(job.loaded);
    sort::<K, W>(rows, scratch);
    job.from = 0;
    if job.stage == Stage::Sort {
        job.supply = Supply::Nothing;
    }
}

/// Cuts the range of m/z by a full load, and puts it.
fn cut<const K: usize, const W: usize>(
    job: &mut PackJob,
    range: Option<(u64, u64)>,
) -> Result<Turn> {
    let from = job.from;
    sort_loaded::<K, W>(job);
    job.from = from;
    let mut spread = Spread::new(length(job.cut.partitions), job.arena.len() / W);
    let counts = spread.cut::<K, W>(rows::<W>(job), range);
    job.spread = Some(spread);
    job.loaded = 0;
    job.stage = Stage::Spread;
    job.note(&counts)
}

/// Distributes rows until a buffer is full.
fn spread<const K: usize, const W: usize>(job: &mut PackJob) -> Result<Turn> {
    loop {
        let more = if job.mark_due() {
            None
        } else {
            Some(job.more()?)
        };
        match more {
            Some(More::Wait) => return Ok(Turn::Wait),
            Some(More::Rows) if !job.mark_due() => {}
            end => {
                job.stage = match end {
                    Some(More::End) => Stage::Spilled,
                    _ => Stage::Mark,
                };
                let (arena, _) = job.arena.as_chunks_mut::<W>();
                let counts = job.spread.as_mut().map(|spread| spread.gather::<W>(arena));
                return job.note(&counts.unwrap_or_default());
            }
        }
        let Some(mut spread) = job.spread.take() else {
            job.stage = Stage::Spilled;
            return Ok(Turn::On);
        };
        let mut arena = std::mem::take(&mut job.arena);
        let mut from = job.from;
        let (buffers, _) = arena.as_chunks_mut::<W>();
        let full = spread.push::<K, W>(buffers, supplied::<W>(job), &mut from);
        job.arena = arena;
        job.from = from;
        let put = full.map(|part| {
            let count = spread.empty(part);
            let start = part * spread.room * W;
            let index = job.pile.index(part, spread.len());
            let at = job.pile.add(index, count, W)?;
            Ok(job.spill(at, start..start + count * W))
        });
        job.spread = Some(spread);
        if let Some(put) = put {
            return put;
        }
    }
}

/// Collects the rows of a group.
fn gather<const K: usize, const W: usize>(job: &mut PackJob) -> Result<Turn> {
    let capacity = job.capacity();
    loop {
        match job.more()? {
            More::Wait => return Ok(Turn::Wait),
            More::Rows if job.loaded < capacity => collect::<W>(job, capacity),
            More::Rows | More::End => {
                job.stage = Stage::Sort;
                return Ok(Turn::On);
            }
        }
    }
}

/// Gives sorted rows to the writer until a block is full.
fn feed<const K: usize, const W: usize>(job: &mut PackJob) -> Result<Turn> {
    loop {
        if let Some(put) = job.block() {
            return Ok(put);
        }
        if job.from >= job.loaded {
            job.stage = Stage::Fed;
            return Ok(Turn::On);
        }
        let (arena, _) = job.arena.as_chunks::<W>();
        let rows = &arena[job.from..job.loaded];
        job.from += write::<K, W>(job.writer.as_mut(), &mut job.columns, rows)?;
    }
}

/// Gives rows that need no sorting to the writer until a block is full.
fn stream<const K: usize, const W: usize>(job: &mut PackJob) -> Result<Turn> {
    loop {
        if let Some(put) = job.block() {
            return Ok(put);
        }
        match job.more()? {
            More::Wait => return Ok(Turn::Wait),
            More::End => {
                job.stage = Stage::Fed;
                return Ok(Turn::On);
            }
            More::Rows => {}
        }
        let Some(slot) = job.lane.front() else {
            continue;
        };
        let (rows, _) = job.lane.bytes(slot).as_chunks::<W>();
        let rows = rows.get(job.from..).unwrap_or_default();
        job.from += write::<K, W>(job.writer.as_mut(), &mut job.columns, rows)?;
    }
}

/// Gives a batch of rows to the writer; the answer is how many it took.
fn write<const K: usize, const W: usize>(
    writer: Option<&mut Writer>,
    columns: &mut Columns,
    rows: &[[u8; W]],
) -> Result<usize> {
    let Some(writer) = writer else {
        return Ok(rows.len());
    };
    let real = if K == 4 { Real::F32 } else { Real::F64 };
    let rows = &rows[..rows.len().min(BATCH)];
    columns.mz.clear();
    columns
        .mz
        .extend(rows.iter().map(|row| real.mz(key::<K, W>(row))));
    columns.intensity.clear();
    columns.intensity.extend(rows.iter().map(intensity::<K, W>));
    columns.pixel.clear();
    columns.pixel.extend(rows.iter().map(pixel::<W>));
    writer.feed(Peaks {
        mz: &columns.mz,
        intensity: &columns.intensity,
        pixel: &columns.pixel,
    })
}
