//! The groups of a shard one after another: which is at hand, and which are on their way.

use std::collections::VecDeque;
use std::ops::Range;

use super::batch::{Batch, Entry, Frame, Group, Piece};
use super::held::Held;
use super::ions::Ions;
use super::shelf::{AHEAD, Shelf, Turn};
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::ion::isotope::Patterns;
use crate::store::head::Head;

/// Groups on their way, and batches, at one time.
const KNOWN: usize = AHEAD + 1;

/// A group on its way: its blocks are asked for once it is admitted.
#[derive(Debug)]
struct Ahead {
    group: Group,
    turn: Turn,
    admitted: bool,
}

/// A batch that is not done.
#[derive(Debug)]
struct Open {
    /// Its groups are those that are not on their way yet.
    batch: Batch,
    /// Its groups that are not done.
    left: usize,
}

/// The way of a shard through its batches and groups.
#[derive(Debug)]
pub(super) struct Course {
    patterns: Patterns,
    shelf: Shelf,
    /// Blocks.
    pub(super) held: Held,
    /// Batches with groups that are not done, the one at hand first.
    batches: VecDeque<Open>,
    /// Groups that are not done, the one at hand first.
    ahead: VecDeque<Ahead>,
    groups_done: u64,
    /// The next ion of the group at hand, counted in it.
    at: usize,
    /// Where the next batch begins.
    start: u32,
    end: u32,
    max_requests: Option<u64>,
    /// Whether no more batches are begun.
    closing: bool,
    /// All ions before this place are done.
    pub(super) position: u32,
    /// Ions that are done since they were last told of.
    pub(super) told: u32,
    /// Ions without a pattern.
    pub(super) skipped: u64,
}

/// What there is to do.
pub(super) enum Work {
    /// Blocks are missing.
    Wait,
    /// The next ion of the group at hand, or a piece of it.
    Ion(Entry, Option<Piece>),
    /// The group at hand is done.
    Done,
    /// All groups are done.
    End,
}

impl Course {
    /// The way from the place `from` on.
    pub(super) fn new(
        patterns: Patterns,
        shelf: Shelf,
        from: u32,
        end: u32,
        max_requests: Option<u64>,
    ) -> Self {
        Self {
            patterns,
            shelf,
            held: Held::default(),
            batches: VecDeque::new(),
            ahead: VecDeque::new(),
            groups_done: 0,
            at: 0,
            start: from,
            end,
            max_requests,
            closing: false,
            position: from,
            told: 0,
            skipped: 0,
        }
    }

    /// Begins no more batches, and gives up those that are not at hand.
    pub(super) fn close(&mut self) {
        self.closing = true;
        let front = self.batches.front();
        let own = front.map_or(0, |open| open.left - open.batch.groups.len());
        for later in self.ahead.drain(own..) {
            self.held.forget(&later.turn.runs);
        }
        self.batches.truncate(1);
    }

    /// Sends the next groups on their way, and computes a batch if there are too few; whether it did that.
    pub(super) fn look_ahead(&mut self, head: &Head, ions: &Ions) -> Result<bool> {
        while let Some(open) = self.batches.pop_front_if(|open| open.left == 0) {
            self.position = open.batch.end;
            self.told += open.batch.skipped;
            self.skipped += u64::from(open.batch.skipped);
        }
        while self.ahead.len() < KNOWN
            && let Some(group) = self.next_group()
        {
            let turn = self.shelf.take(head, group.need.clone(), group.floor);
            self.ahead.push_back(Ahead {
                group,
                turn,
                admitted: false,
            });
        }
        let enough = self.ahead.len() >= KNOWN || self.batches.len() >= KNOWN;
        if self.closing || enough || self.start >= self.end {
            return Ok(false);
        }
        let frame = Frame::new(head, ions, &self.shelf, self.end);
        let batch = Batch::new(&frame, &mut self.patterns, self.start)?;
        if !self.may_ask_for(head, &batch)? {
            self.closing = true;
            return Ok(false);
        }
        self.start = batch.end;
        let left = batch.groups.len();
        self.batches.push_back(Open { batch, left });
        Ok(true)
    }

    /// The next group that is not on its way, in the first batch that has one.
    fn next_group(&mut self) -> Option<Group> {
        let mut batches = self.batches.iter_mut();
        batches.find_map(|open| open.batch.groups.pop_front())
    }

    /// Whether there are requests left for a whole batch, all groups before which are on their way.
    ///
    /// # Errors
    /// [`Error::Parameter`] if that batch is the first.
    fn may_ask_for(&self, head: &Head, batch: &Batch) -> Result<bool> {
        let Some(most) = self.max_requests else {
            return Ok(true);
        };
        let mut trial = self.shelf.clone();
        for group in &batch.groups {
            trial.take(head, group.need.clone(), group.floor);
        }
        let need = trial.cost().requests;
        if need > most && self.shelf.cost().groups == 0 {
            return Err(Error::Parameter {
                name: "--max-requests",
                what: format!(
                    "the next {} ions need {need} requests; allow at least so many, or give more memory",
                    batch.end - self.start
                ),
            });
        }
        Ok(need <= most)
    }

    /// Lets the groups ask for their blocks for which there is room now.
    pub(super) fn admit(&mut self, head: &Head, budget: &mut Budget) {
        for ahead in self.ahead.iter_mut().filter(|ahead| !ahead.admitted) {
            if ahead.turn.after > self.groups_done {
                break;
            }
            let Turn { drops, runs, .. } = &ahead.turn;
            self.held.put_away(head, drops, budget);
            self.held.want(runs);
            ahead.admitted = true;
        }
    }

    /// The next thing to do.
    pub(super) fn work(&mut self, head: &Head) -> Result<Work> {
        let (Some(front), Some(open)) = (self.ahead.front(), self.batches.front()) else {
            return Ok(Work::End);
        };
        // Once the first ion is at work, nothing of the group goes away.
        if self.at == 0 && !self.held.arrived(head, &front.group.need)? {
            return Ok(Work::Wait);
        }
        let Range { start, end } = front.group.ions;
        let entry = open.batch.entries.get(start + self.at);
        match entry.filter(|_| start + self.at < end) {
            Some(entry) => {
                self.at += 1;
                Ok(Work::Ion(*entry, front.group.piece.clone()))
            }
            None => Ok(Work::Done),
        }
    }

    /// Goes on to the next group.
    pub(super) fn end_group(&mut self) {
        self.ahead.pop_front();
        self.at = 0;
        self.groups_done += 1;
        if let Some(open) = self.batches.front_mut() {
            open.left = open.left.saturating_sub(1);
        }
    }
}
