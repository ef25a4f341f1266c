//! A batch of ions: their patterns, the blocks of their windows, and groups of them whose blocks fit into memory.

use std::collections::VecDeque;
use std::ops::Range;

use super::ions::{Ion, Ions};
use super::shelf::{Shelf, bytes_of};
use crate::error::{Error, Result};
use crate::ion::draft::{join, narrow};
use crate::ion::isotope::{PEAKS, Pattern, Patterns};
use crate::store::head::Head;

/// Ions of a batch but the last of a shard.
pub const BATCH: u32 = 1024;

/// An ion that is to be annotated.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    /// Its place in the order.
    pub(super) position: u32,
    pub(super) ion: Ion,
    pub(super) pattern: Pattern,
    /// First block and the one behind the last of each peak's window; equal where there is none.
    blocks: [(u32, u32); PEAKS],
}

/// Ions whose blocks are in memory at one time, or a part of the work of one that has too many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Group {
    /// Its ions among those of the batch.
    pub(super) ions: Range<usize>,
    /// The blocks that they need: disjoint, ascending.
    pub(super) need: Vec<Range<u32>>,
    /// The part of the work, if it is not all.
    pub(super) piece: Option<Piece>,
    /// No later ion needs a block before this one.
    pub(super) floor: u32,
}

/// Some consecutive blocks of one window of an ion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) peak: usize,
    pub(super) blocks: Range<u32>,
    /// Whether the window's image is whole then.
    pub(super) last: bool,
}

/// Consecutive ions of the order.
#[derive(Debug, Clone)]
pub(super) struct Batch {
    /// Where the next batch begins.
    pub(super) end: u32,
    pub(super) entries: Vec<Entry>,
    pub(super) groups: VecDeque<Group>,
    /// Ions whose pattern cannot be computed.
    pub(super) skipped: u32,
}

impl Entry {
    /// The blocks of a peak's window.
    pub(super) fn blocks(&self, peak: usize) -> Range<u32> {
        self.blocks
            .get(peak)
            .map_or(0..0, |(start, end)| *start..*end)
    }

    /// Puts the blocks of its windows at the end of `into`.
    fn need(&self, into: &mut Vec<Range<u32>>) {
        into.extend(
            (0..PEAKS)
                .map(|peak| self.blocks(peak))
                .filter(|blocks| !blocks.is_empty()),
        );
    }
}

/// Bounds of the windows, and which blocks they touch.
pub(super) struct Frame<'f> {
    head: &'f Head,
    ions: &'f Ions,
    /// The end of the shard.
    end: u32,
    /// Most bytes of blocks that a group should have.
    share: u64,
    /// Most bytes of blocks that a group can have.
    room: u64,
}

impl Batch {
    /// The batch that begins at `start`.
    pub(super) fn new(frame: &Frame<'_>, patterns: &mut Patterns, start: u32) -> Result<Self> {
        let end = start.saturating_add(BATCH).min(frame.end);
        let mut batch = Self {
            end,
            entries: Vec::new(),
            groups: VecDeque::new(),
            skipped: 0,
        };
        let room = batch.entries.try_reserve_exact((end - start) as usize);
        room.map_err(|_| Error::Budget {
            need: u64::from(end - start) * size_of::<Entry>() as u64,
            have: 0,
            what: "the patterns of a batch".to_owned(),
        })?;
        for position in start..end {
            match frame.entry(patterns, position)? {
                Some(entry) => batch.entries.push(entry),
                None => batch.skipped += 1,
            }
        }
        batch.entries.sort_unstable_by(|a, b| {
            let first = |entry: &Entry| entry.pattern.mz[0];
            first(a)
                .total_cmp(&first(b))
                .then(a.position.cmp(&b.position))
        });
        batch.cut(frame);
        Ok(batch)
    }

    /// Cuts the ions, which are in the order of their first peaks, into groups.
    fn cut(&mut self, frame: &Frame<'_>) {
        let mut start = 0;
        let mut need: Vec<Range<u32>> = Vec::new();
        for at in 0..self.entries.len() {
            let mut with = need.clone();
            self.entries[at].need(&mut with);
            join(&mut with);
            if start < at && total(frame.head, &with) > frame.share {
                self.close(frame, start..at, std::mem::take(&mut need));
                start = at;
                with.clear();
                self.entries[at].need(&mut with);
                join(&mut with);
            }
            need = with;
        }
        if start < self.entries.len() {
            self.close(frame, start..self.entries.len(), need);
        }
        self.floors(frame);
    }

    /// Finishes a group: its ions are taken in the order of their formulas.
    fn close(&mut self, frame: &Frame<'_>, ions: Range<usize>, need: Vec<Range<u32>>) {
        if total(frame.head, &need) > frame.room {
            return self.stream(frame, ions);
        }
        self.entries[ions.clone()].sort_unstable_by_key(|entry| entry.ion);
        self.groups.push_back(Group {
            ions,
            need,
            piece: None,
            floor: 0,
        });
    }

    /// Takes an ion whose blocks do not fit into memory through them in pieces.
    fn stream(&mut self, frame: &Frame<'_>, ions: Range<usize>) {
        let entry = self.entries[ions.start];
        for peak in 0..usize::from(entry.pattern.peaks) {
            let blocks = entry.blocks(peak);
            let mut start = blocks.start;
            loop {
                let mut end = (start + 1).min(blocks.end);
                while end < blocks.end && bytes_of(frame.head, &(start..end + 1)) <= frame.share {
                    end += 1;
                }
                let part = start..end;
                self.groups.push_back(Group {
                    ions: ions.clone(),
                    need: Vec::from_iter((!part.is_empty()).then(|| part.clone())),
                    piece: Some(Piece {
                        peak,
                        blocks: part,
                        last: end == blocks.end,
                    }),
                    floor: 0,
                });
                start = end;
                if start == blocks.end {
                    break;
                }
            }
        }
    }

    /// Says from which block on later groups need any.
    fn floors(&mut self, frame: &Frame<'_>) {
        let mut floor = frame.floor(self.end);
        for group in self.groups.iter_mut().rev() {
            group.floor = floor;
            floor = floor.min(group.need.first().map_or(floor, |range| range.start));
        }
    }
}

impl<'f> Frame<'f> {
    pub(super) fn new(head: &'f Head, ions: &'f Ions, shelf: &Shelf, end: u32) -> Self {
        Self {
            head,
            ions,
            end,
            share: shelf.share(),
            room: shelf.room(),
        }
    }

    /// An ion of the order with its pattern, if it has one.
    fn entry(&self, patterns: &mut Patterns, position: u32) -> Result<Option<Entry>> {
        let Some(ion) = self.ions.ion(position) else {
            return Ok(None);
        };
        let formula = self.ions.molecules().formulas.get(ion.formula as usize);
        let modifier = (self.ions.decoys_chosen().modifiers()).get(usize::from(ion.modifier));
        let composition = formula
            .zip(modifier)
            .and_then(|(formula, modifier)| modifier.apply(&formula.composition));
        let Some(composition) = composition else {
            return Ok(None);
        };
        let pattern = match patterns.pattern(&composition) {
            Ok(pattern) => pattern,
            Err(error @ Error::Budget { .. }) => return Err(error),
            Err(_) => return Ok(None),
        };
        let mut blocks = [(0, 0); PEAKS];
        for (blocks, mz) in blocks
            .iter_mut()
            .zip(&pattern.mz[..usize::from(pattern.peaks)])
        {
            let (lo, hi) = self.ions.request().window(*mz);
            let found = self.head.blocks_of(lo, hi);
            *blocks = (narrow(found.start), narrow(found.end));
        }
        Ok(Some(Entry {
            position,
            ion,
            pattern,
            blocks,
        }))
    }

    /// No ion from `position` on needs a block before this one.
    fn floor(&self, position: u32) -> u32 {
        if position >= self.end {
            return u32::MAX;
        }
        let lowest = self.ions.lowest(position).unwrap_or(0.0);
        let (least, _) = self.ions.request().window(lowest);
        narrow(self.head.blocks.partition_point(|entry| entry.last < least))
    }
}

fn total(head: &Head, need: &[Range<u32>]) -> u64 {
    need.iter().map(|range| bytes_of(head, range)).sum()
}
