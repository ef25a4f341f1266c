//! A shard that is annotated: it asks for blocks, goes through its ions, and hands out what is finished.

use std::collections::VecDeque;
use std::ops::Range;
use std::rc::Rc;

use super::batch::{Batch, Frame, Group};
use super::buffer::{ImageBuffer, Kept};
use super::held::Held;
use super::ions::Ions;
use super::plan::{check, patterns};
use super::record::{Decoy, Scored};
use super::shares::{DECOYS, Shares, TARGETS};
use super::sheet::Sheet;
use super::shelf::{AHEAD, Shelf, Turn};
use super::wish::{Keep, Wish};
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::ion::isotope::Patterns;
use crate::job::{Fetch, Job};
use crate::store::head::Head;

/// Pixels times ions after which a job hands out [`Output::Progress`], so that its driver can breathe.
const WORK: u64 = 300_000;

/// What a job hands out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Output<'a> {
    /// So many more ions of the shard are done, or patterns were computed (0): nothing has to be done about it.
    Progress {
        /// Ions since the last time.
        ions: u32,
    },
    /// What is finished is to be saved: the job lets go of it.
    Save(Save<'a>),
}

/// What was finished since the last save.
///
/// After a resume from an earlier save's `position`, ions from there on may come once more, the same to the bit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Save<'a> {
    /// Targets that score.
    pub targets: &'a [Scored],
    /// Decoys that score.
    pub decoys: &'a [Decoy],
    /// The images of these targets, where images are kept.
    pub images: &'a [Kept],
    /// Every ion of the shard before this place of the order is in this or an earlier save.
    pub position: u32,
    /// Bytes of the images, [`HIT`](super::buffer::HIT) for each peak.
    pub image_bytes: u64,
    /// Whether it is the job's last one.
    pub last: bool,
}

/// A group on its way: its blocks are asked for once it is admitted.
#[derive(Debug)]
struct Ahead {
    group: Group,
    turn: Turn,
    admitted: bool,
}

/// A batch with groups on their way.
#[derive(Debug)]
struct Open {
    batch: Batch,
    /// Its groups that are not done.
    left: usize,
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

/// A shard of ions on its way through a store.
///
/// Feed it as any [`Job`]; it ends with a [`Save`] whose `last` is set, even if there is nothing in it. After an error
/// there is nothing more to come; what was finished before is handed out before the error is.
#[derive(Debug)]
pub struct AnnotateJob {
    head: Rc<Head>,
    ions: Rc<Ions>,
    shard: Range<u32>,
    keep: bool,
    max_requests: u64,
    budget: Budget,
    patterns: Patterns,
    shelf: Shelf,
    held: Held,
    sheet: Sheet,
    buffer: ImageBuffer,
    /// Batches with groups that are not done, the one at hand first.
    batches: VecDeque<Open>,
    /// Groups that are not done, the one at hand first.
    ahead: VecDeque<Ahead>,
    groups_done: u64,
    /// The next ion of the group at hand, counted in it.
    at: usize,
    /// Where the next batch begins.
    start: u32,
    /// Whether no more batches are begun.
    closing: bool,
    position: u32,
    targets: Vec<Scored>,
    decoys: Vec<Decoy>,
    /// A target whose images wait on the sheet until those that are held were saved.
    waiting: Option<Scored>,
    save_soon: bool,
    /// Whether the last thing handed out was a save.
    saved: bool,
    /// Ions since they were last told.
    told: u32,
    skipped: u64,
    fault: Option<Error>,
    finished: bool,
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
        Ok(Self {
            patterns: patterns(&ions)?,
            shelf,
            held: Held::default(),
            sheet,
            buffer: ImageBuffer::new(shares.images, wish.images.policy().unwrap_or_default()),
            keep: wish.images != Keep::None,
            max_requests: wish.max_requests.unwrap_or(u64::MAX),
            budget,
            batches: VecDeque::new(),
            ahead: VecDeque::new(),
            groups_done: 0,
            at: 0,
            start: from,
            closing: false,
            position: from,
            targets: room(TARGETS, "scores of targets")?,
            decoys: room(DECOYS, "scores of decoys")?,
            waiting: None,
            save_soon: false,
            saved: false,
            told: 0,
            skipped: 0,
            fault: None,
            finished: false,
            head,
            ions,
            shard,
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
        let slot = self.held.slot(&self.head, slot)?;
        slot.feed(&self.head.file, read, offset, len, write)
    }

    /// Says that the read of a fetch has been fed whole.
    ///
    /// # Errors
    /// [`Error::Unexpected`] if bytes are missing.
    pub fn complete(&mut self, slot: u32) -> Result<()> {
        self.held.slot(&self.head, slot)?.complete(&self.head.file)
    }

    /// Asks for a save of what is finished, at the next [`ready`](Job::ready).
    pub fn save_soon(&mut self) {
        self.save_soon = true;
    }

    /// Asks for an end: the batch at hand is finished and saved, and no later one is begun.
    pub fn stop_soon(&mut self) {
        self.closing = true;
        let left = self.batches.front().map_or(0, |open| open.left);
        for later in self.ahead.drain(left..) {
            self.held.forget(&later.turn.runs);
        }
        self.batches.truncate(1);
    }

    /// Where a job of the same shard goes on, if this one has ended before the shard's end.
    #[must_use]
    pub fn stopped(&self) -> Option<u32> {
        (self.finished && self.position < self.shard.end).then_some(self.position)
    }

    /// Requests that were asked for so far.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.held.asked()
    }

    /// Ions so far whose isotope pattern cannot be computed, because it has too many isotopologues. They score nothing.
    #[must_use]
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// What was handed out last, if it was a save; it stays until the next [`ready`](Job::ready).
    #[must_use]
    pub fn last(&self) -> Option<Save<'_>> {
        self.saved.then(|| Save {
            targets: &self.targets,
            decoys: &self.decoys,
            images: self.buffer.held(),
            position: self.position,
            image_bytes: self.buffer.bytes(),
            last: self.finished,
        })
    }

    /// Goes on until something is to be handed out, or blocks are missing.
    fn advance(&mut self) -> Result<Event> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        if let Some(scored) = self.waiting.take() {
            self.keep_images(scored)?;
        }
        let pixels = u64::from(self.sheet.pixels()).max(1);
        let mut work = 0;
        loop {
            if self.is_full() || std::mem::take(&mut self.save_soon) && self.is_pending() {
                return Ok(Event::Save);
            }
            if work >= WORK || self.look_ahead()? {
                return Ok(Event::Progress);
            }
            self.admit();
            let Some(front) = self.ahead.front() else {
                return Ok(self.told_or(Event::Last));
            };
            if !self.held.arrived(&self.head, &front.group.need)? {
                return Ok(self.told_or(Event::Wait));
            }
            let ions = front.group.ions.clone();
            if self.at < ions.len() {
                let scored = self.annotate(ions.start + self.at)?;
                self.at += 1;
                work += if scored { pixels } else { pixels / 16 + 1 };
            } else {
                self.end_group();
            }
        }
    }

    /// Progress, if there is some to tell of.
    fn told_or(&self, event: Event) -> Event {
        if self.told > 0 {
            Event::Progress
        } else {
            event
        }
    }

    /// Computes the next batch, if there are too few groups on their way; whether it did.
    fn look_ahead(&mut self) -> Result<bool> {
        // Batches without groups are done as soon as they are at hand.
        while let Some(open) = self.batches.front().filter(|open| open.left == 0) {
            self.position = open.batch.end;
            self.told += open.batch.skipped;
            self.skipped += u64::from(open.batch.skipped);
            self.batches.pop_front();
        }
        let most = AHEAD as usize + 1;
        let enough = self.ahead.len() >= most || self.batches.len() >= most;
        if self.closing || enough || self.start >= self.shard.end {
            return Ok(false);
        }
        let frame = Frame::new(&self.head, &self.ions, &self.shelf, self.shard.end);
        let mut batch = Batch::new(&frame, &mut self.patterns, self.start)?;
        let before = self.shelf.cost().requests;
        let groups = std::mem::take(&mut batch.groups);
        let turns: Vec<Ahead> = (groups.into_iter())
            .map(|group| Ahead {
                turn: self.shelf.take(&self.head, group.need.clone(), group.floor),
                group,
                admitted: false,
            })
            .collect();
        let after = self.shelf.cost().requests;
        if after > self.max_requests {
            if before == 0 {
                return Err(Error::Parameter {
                    name: "--max-requests",
                    what: format!(
                        "the next {} ions need {after} requests; allow at least so many, or give more memory",
                        batch.end - self.start
                    ),
                });
            }
            self.closing = true;
            return Ok(false);
        }
        self.start = batch.end;
        self.batches.push_back(Open {
            left: turns.len(),
            batch,
        });
        self.ahead.extend(turns);
        Ok(true)
    }

    /// Lets the groups ask for their blocks for which there is room now.
    fn admit(&mut self) {
        for ahead in self.ahead.iter_mut().filter(|ahead| !ahead.admitted) {
            if ahead.turn.after > self.groups_done {
                break;
            }
            let Turn { drops, runs, .. } = &ahead.turn;
            self.held.put_away(&self.head, drops, &mut self.budget);
            self.held.want(runs);
            ahead.admitted = true;
        }
    }

    fn end_group(&mut self) {
        self.ahead.pop_front();
        self.at = 0;
        self.groups_done += 1;
        if let Some(open) = self.batches.front_mut() {
            open.left = open.left.saturating_sub(1);
        }
    }

    /// Annotates an ion of the batch at hand, or a piece of one; whether it was scored.
    fn annotate(&mut self, index: usize) -> Result<bool> {
        let Self {
            head,
            held,
            ions,
            sheet,
            ..
        } = self;
        let request = ions.request();
        let (Some(open), Some(front)) = (self.batches.front(), self.ahead.front()) else {
            return Ok(false);
        };
        let Some(entry) = open.batch.entries.get(index) else {
            return Ok(false);
        };
        if let Some(piece) = &front.group.piece {
            sheet.draw_piece(head, held, request, entry, piece)?;
            if !piece.last || piece.peak + 1 < usize::from(entry.pattern.peaks) {
                return Ok(false);
            }
        } else {
            sheet.draw(head, held, request, entry)?;
        }
        self.told += 1;
        let target = ions.is_target(entry.ion);
        let Some(metrics) = sheet.score(&entry.pattern, target)? else {
            return Ok(sheet.is_drawn());
        };
        if !target {
            self.decoys.push(Decoy {
                ion: entry.position,
                msm: metrics.msm,
            });
            return Ok(true);
        }
        sheet.weigh(head, held, request, entry)?;
        let scored = sheet.scored(request, entry, metrics);
        if self.keep && !self.buffer.fits(sheet.hits()) {
            self.waiting = Some(scored);
        } else {
            self.keep_images(scored)?;
        }
        Ok(true)
    }

    /// Takes a target, with the images on the sheet.
    fn keep_images(&mut self, scored: Scored) -> Result<()> {
        if self.keep {
            let kept = self.sheet.kept(scored.ion, &scored.metrics)?;
            self.buffer.add(kept, self.sheet.hits());
        }
        self.targets.push(scored);
        Ok(())
    }

    /// Whether something must be saved before the next ion.
    fn is_full(&self) -> bool {
        self.waiting.is_some()
            || self.targets.len() >= TARGETS
            || self.decoys.len() >= DECOYS
            || self.buffer.full()
    }

    /// Whether there is something to save.
    fn is_pending(&self) -> bool {
        !self.targets.is_empty() || !self.decoys.is_empty()
    }

    /// Lets go of what was saved.
    fn clear(&mut self) {
        if std::mem::take(&mut self.saved) {
            self.targets.clear();
            self.decoys.clear();
            self.buffer.clear();
        }
    }
}

impl Job for AnnotateJob {
    type Item<'a> = Output<'a>;

    fn next(&mut self) -> Option<Fetch> {
        self.admit();
        self.held.next(&self.head, &mut self.budget)
    }

    fn lend(&mut self, fetch: &Fetch) -> Vec<u8> {
        self.held.lend(fetch)
    }

    fn filled(&mut self, fetch: &Fetch, buffer: Vec<u8>) -> Result<()> {
        let slot = self.held.slot(&self.head, fetch.slot)?;
        slot.put(&self.head.file, buffer)?;
        slot.complete(&self.head.file)
    }

    fn ready(&mut self) -> Result<Option<Output<'_>>> {
        self.clear();
        if self.finished {
            return Ok(None);
        }
        let event = match self.advance() {
            Ok(event) => event,
            Err(error) => {
                self.fault = Some(error.clone());
                if !self.is_pending() {
                    return Err(error);
                }
                Event::Save
            }
        };
        match event {
            Event::Wait => Ok(None),
            Event::Progress => Ok(Some(Output::Progress {
                ions: std::mem::take(&mut self.told),
            })),
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

/// An empty list with room for so many.
fn room<T>(len: usize, what: &str) -> Result<Vec<T>> {
    let mut list = Vec::new();
    list.try_reserve_exact(len).map_err(|_| Error::Budget {
        need: (len * size_of::<T>()) as u64,
        have: 0,
        what: what.to_owned(),
    })?;
    Ok(list)
}
