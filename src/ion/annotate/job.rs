//! A shard that is annotated: it asks for blocks, goes through its ions, and hands out what is finished.

use std::ops::Range;
use std::rc::Rc;

use super::batch::{Entry, Piece};
use super::buffer::ImageBuffer;
use super::course::{Course, Work};
use super::ions::Ions;
use super::output::{Output, Pending, Save};
use super::plan::check;
use super::record::Decoy;
use super::shares::Shares;
use super::sheet::Sheet;
use super::shelf::Shelf;
use super::wish::Wish;
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::job::{Fetch, Job};
use crate::store::head::Head;

/// Pixels times ions after which a job hands out [`Output::Progress`], so that its driver can breathe.
const WORK: u64 = 300_000;

/// A shard of ions on its way through a store.
///
/// Feed it as any [`Job`]; it ends with a [`Save`] whose `last` is set, even if there is nothing in it. After an error
/// there is nothing more to come; what was finished before is handed out before the error is.
///
/// ```
/// use std::rc::Rc;
///
/// use sectile::error::Result;
/// use sectile::ion::annotate::{AnnotateJob, Ions, Output, Wish};
/// use sectile::job::Job;
/// use sectile::store::head::Head;
///
/// /// Annotates all ions, of a store in memory; how many targets score.
/// fn annotate(store: &[u8], head: Rc<Head>, ions: Rc<Ions>) -> Result<usize> {
///     let mut job = AnnotateJob::new(head, ions.clone(), 0..ions.len(), 0, &Wish::default())?;
///     let mut found = 0;
///     while !job.is_done() {
///         while let Some(fetch) = job.next() {
///             let range = &fetch.reads[0].range;
///             let mut buffer = job.lend(&fetch);
///             buffer.copy_from_slice(&store[range.start as usize..range.end as usize]);
///             job.filled(&fetch, buffer)?;
///         }
///         if let Some(Output::Save(save)) = job.ready()? {
///             found += save.targets.len();
///         }
///     }
///     Ok(found)
/// }
/// ```
#[derive(Debug)]
pub struct AnnotateJob {
    head: Rc<Head>,
    ions: Rc<Ions>,
    end: u32,
    budget: Budget,
    course: Course,
    sheet: Sheet,
    pending: Pending,
    save_soon: bool,
    /// Whether the last thing handed out was a save.
    saved: bool,
    fault: Option<Error>,
    finished: bool,
}

/// What a turn of the job led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    /// Blocks are missing.
    Wait,
    Progress,
    Save,
    /// All is done: what is left is saved.
    Last,
}

impl AnnotateJob {
    /// Annotates the ions of `shard` from the place `from` of the order on: the shard's start, or the `position` of a
    /// [`Save`] of an earlier job of the same shard.
    ///
    /// # Errors
    /// [`Error::Budget`] naming the smallest that works; [`Error::Parameter`] for a range that is no part of the order, a
    /// place that is not in it, a slice that does not exist, no request in flight.
    pub fn new(
        head: Rc<Head>,
        ions: Rc<Ions>,
        shard: Range<u32>,
        from: u32,
        wish: &Wish,
    ) -> Result<Self> {
        check(&ions, &shard)?;
        if !(shard.start..=shard.end).contains(&from) {
            return Err(Error::Parameter {
                name: "from",
                what: format!(
                    "{from} is not in the shard from {} to {}",
                    shard.start, shard.end
                ),
            });
        }
        let shares = Shares::new(&head, &ions, wish)?;
        let mut budget = Budget::new(wish.memory);
        budget.reserve(shares.program, "the program")?;
        budget.reserve(shares.reserved, "images that are kept")?;
        let sheet = Sheet::new(&head, ions.request(), &mut budget)?;
        let shelf = Shelf::new(&head, shares.blocks, &mut budget)?;
        let policy = wish.images.policy();
        let images = policy.map(|policy| ImageBuffer::new(shares.images, policy));
        Ok(Self {
            course: Course::new(
                ions.request().patterns()?,
                shelf,
                from,
                shard.end,
                wish.max_requests,
            ),
            sheet,
            pending: Pending::new(images)?,
            budget,
            end: shard.end,
            save_soon: false,
            saved: false,
            fault: None,
            finished: false,
            head,
            ions,
        })
    }

    /// Feeds part of a read: byte `offset` of read `read` of the fetch that fills `slot`. A fetch has one read.
    ///
    /// `write` is given the place in the slot and fills all of it. Bytes may come in pieces of any size; a piece
    /// may begin anywhere up to the first byte that is still missing (a driver may start a read over).
    ///
    /// # Errors
    /// [`Error::Unexpected`] and [`Error::Parameter`] for bytes that were not asked for.
    pub fn feed(
        &mut self,
        slot: u32,
        read: usize,
        offset: u64,
        len: usize,
        write: impl FnOnce(&mut [u8]),
    ) -> Result<()> {
        let slot = self.course.held.slot(&self.head, slot)?;
        slot.feed(&self.head.file, read, offset, len, write)
    }

    /// Says that the read of a fetch has been fed whole.
    ///
    /// # Errors
    /// [`Error::Unexpected`] if bytes are missing.
    pub fn complete(&mut self, slot: u32) -> Result<()> {
        let slot = self.course.held.slot(&self.head, slot)?;
        slot.complete(&self.head.file)
    }

    /// Asks for a save of what is finished, at the next [`ready`](Job::ready). There is none if nothing is.
    pub fn save_soon(&mut self) {
        self.save_soon = true;
    }

    /// Asks for an end: the batch at hand is finished and saved, and no later one is begun.
    ///
    /// Fetches of later ones that are under way are not waited for.
    pub fn stop_soon(&mut self) {
        self.course.close();
    }

    /// Where a job of the same shard goes on, if this one has ended before the shard's end.
    #[must_use]
    pub fn stopped(&self) -> Option<u32> {
        let position = self.course.position;
        (self.finished && position < self.end).then_some(position)
    }

    /// Requests that were asked for so far.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.course.held.asked()
    }

    /// Ions so far whose isotope pattern cannot be computed, because it has too many isotopologues. They score nothing.
    #[must_use]
    pub fn skipped(&self) -> u64 {
        self.course.skipped
    }

    /// What was handed out last, if it was a save; it stays until the next [`ready`](Job::ready).
    #[must_use]
    pub fn last(&self) -> Option<Save<'_>> {
        let position = self.course.position;
        (self.saved).then(|| self.pending.save(position, self.finished))
    }

    /// Goes on until something is to be handed out, or blocks are missing.
    fn advance(&mut self) -> Result<Event> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        self.pending.resume(&self.sheet)?;
        let pixels = u64::from(self.sheet.pixels());
        let mut work = 0;
        loop {
            let asked = std::mem::take(&mut self.save_soon);
            if self.pending.is_full() || asked && !self.pending.is_empty() {
                return Ok(Event::Save);
            }
            if work >= WORK || self.course.look_ahead(&self.head, &self.ions)? {
                return Ok(Event::Progress);
            }
            self.course.admit(&self.head, &mut self.budget);
            match self.course.work(&self.head)? {
                Work::Ion(entry, piece) => {
                    let drawn = self.annotate(&entry, piece.as_ref())?;
                    // What has no first peak costs next to nothing.
                    work += if drawn {
                        pixels.max(64)
                    } else {
                        pixels / 16 + 64
                    };
                }
                Work::Done => self.course.end_group(),
                Work::Wait | Work::End if self.course.told > 0 => return Ok(Event::Progress),
                Work::Wait => return Ok(Event::Wait),
                Work::End => return Ok(Event::Last),
            }
        }
    }

    /// Annotates an ion, or a piece of one; whether it has a first image.
    fn annotate(&mut self, entry: &Entry, piece: Option<&Piece>) -> Result<bool> {
        let (head, held) = (&*self.head, &self.course.held);
        let request = self.ions.request();
        let sheet = &mut self.sheet;
        if let Some(piece) = piece {
            sheet.draw_piece(head, held, request, entry, piece)?;
            if !piece.last || piece.peak + 1 < usize::from(entry.pattern.peaks) {
                return Ok(true);
            }
        } else {
            sheet.draw(head, held, request, entry)?;
        }
        self.course.told += 1;
        let target = self.ions.is_target(entry.ion);
        let Some(metrics) = sheet.score(&entry.pattern, target)? else {
            return Ok(sheet.is_drawn());
        };
        if target {
            sheet.weigh(head, held, request, entry)?;
            let scored = sheet.scored(request, entry, metrics);
            self.pending.target(scored, sheet)?;
        } else {
            self.pending.decoy(Decoy {
                ion: entry.position,
                msm: metrics.msm,
            });
        }
        Ok(true)
    }
}

impl Job for AnnotateJob {
    type Item<'a> = Output<'a>;

    fn next(&mut self) -> Option<Fetch> {
        self.course.admit(&self.head, &mut self.budget);
        self.course.held.next(&self.head, &mut self.budget)
    }

    fn lend(&mut self, fetch: &Fetch) -> Vec<u8> {
        self.course.held.lend(fetch)
    }

    fn filled(&mut self, fetch: &Fetch, buffer: Vec<u8>) -> Result<()> {
        let slot = self.course.held.slot(&self.head, fetch.slot)?;
        slot.put(&self.head.file, buffer)?;
        slot.complete(&self.head.file)
    }

    fn ready(&mut self) -> Result<Option<Output<'_>>> {
        if std::mem::take(&mut self.saved) {
            self.pending.clear();
        }
        if self.finished {
            return Ok(None);
        }
        let event = match self.advance() {
            Ok(event) => event,
            Err(error) => {
                self.fault = Some(error.clone());
                if self.pending.is_empty() {
                    return Err(error);
                }
                Event::Save
            }
        };
        match event {
            Event::Wait => Ok(None),
            Event::Progress => {
                let ions = std::mem::take(&mut self.course.told);
                Ok(Some(Output::Progress { ions }))
            }
            Event::Save | Event::Last => {
                self.saved = true;
                self.finished = event == Event::Last;
                Ok(self.last().map(Output::Save))
            }
        }
    }

    fn is_done(&self) -> bool {
        self.finished
    }

    fn peak(&self) -> u64 {
        self.budget.peak()
    }
}
