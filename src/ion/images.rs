//! Ion images out of a store: planned, asked for, fed, drawn.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use super::draft::{Draft, area, length};
use super::image::Canvas;
use super::reads::Reads;
use super::schedule::{Run, Schedule};
use super::window::Window;
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::job::{Fetch, Job};
use crate::store::block::Block;

pub use super::reader::{BASE, Plan, Reader, WINDOW, Wish};

/// A finished image.
///
/// # Shape
/// `[height, width]`, row-major; row 0 is the top one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Image<'a> {
    /// Index of its window as it was given. Images leave in the order of their blocks in the file, which may be
    /// another.
    pub index: usize,
    /// Its window.
    pub window: Window,
    /// Sums of intensities: NaN where nothing was acquired, 0 where there was no peak.
    pub values: &'a [f32],
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Number of its first pixel in the store: where [`Norms`](super::normalise::Norms) of the slice begin.
    pub first: u32,
    /// Peaks of the slice in the window.
    pub hits: u64,
    /// The largest value; 0 where none is positive.
    pub max: f32,
    /// Requests that brought blocks of its window.
    pub requests: u64,
    /// Bytes of its window's blocks that were fetched. Shared blocks count for each image that they are of.
    pub bytes: u64,
}

/// Images that wait for their bytes.
///
/// Every block's CRC-32 is compared when it arrives.
#[derive(Debug)]
pub struct ImagesJob {
    plan: Plan,
    reader: Reader,
    windows: Vec<Window>,
    needs: Vec<Range<u32>>,
    schedule: Schedule,
    reads: Reads,
    budget: Budget,
    canvas: Canvas,
    pinned: BTreeMap<u32, Rc<Vec<u8>>>,
    /// Blocks taken over from the group before.
    carried: BTreeMap<u32, Vec<u8>>,
    /// The group at hand, and whether its blocks have arrived and were checked.
    group: usize,
    opened: bool,
    /// The next visit.
    visit: usize,
    /// The image that was handed out last: visit, peaks, largest value.
    last: Option<(usize, u64, f32)>,
    done: usize,
    first: u32,
    /// Whether no run begins before the end of the one before it.
    ascending: bool,
}

impl ImagesJob {
    pub(super) fn new(
        reader: &Reader,
        windows: &[Window],
        wish: &Wish,
        draft: Draft,
    ) -> Result<Self> {
        let head = &*reader.head;
        let mut budget = Budget::new(wish.memory);
        let area = area(head);
        let pixels = Canvas::bytes(u64::from(area));
        budget.reserve(draft.fixed.saturating_sub(pixels), "the program")?;
        let at_hand: u64 = draft.pinned.values().map(|bytes| bytes.len() as u64).sum();
        budget.reserve(at_hand, "blocks at hand")?;
        // Fits: the number of all pixels does.
        let first = wish.slice * area;
        let canvas = reader.canvas(area as usize, first, &mut budget)?;
        let ranges = draft.schedule.runs.iter().map(|run| run.range.clone());
        Ok(Self {
            reads: Reads::new(&head.file, ranges.collect()),
            ascending: (draft.schedule.runs)
                .is_sorted_by(|before, after| before.blocks.end <= after.blocks.start),
            plan: draft.plan,
            reader: reader.clone(),
            windows: windows.to_vec(),
            needs: draft.needs,
            schedule: draft.schedule,
            budget,
            canvas,
            pinned: draft.pinned,
            carried: BTreeMap::new(),
            group: 0,
            opened: false,
            visit: 0,
            last: None,
            done: 0,
            first,
        })
    }

    /// The plan that is carried out.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
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
        self.reads.feed(slot, read, offset, len, write)
    }

    /// Says that the read of a fetch has been fed whole.
    ///
    /// # Errors
    /// [`Error::Unexpected`] if bytes are missing.
    pub fn complete(&mut self, slot: u32) -> Result<()> {
        self.reads.complete(slot)
    }

    /// The image that was handed out last; its values stay until the next one is made ready.
    #[must_use]
    pub fn last(&self) -> Option<Image<'_>> {
        let (visit, hits, max) = self.last?;
        let index = self.schedule.visits.get(visit)?.window;
        let contents = &self.reader.head.layout.contents;
        let (requests, bytes) = self.cost(&self.needs[index]);
        Some(Image {
            index,
            window: self.windows[index],
            values: self.canvas.values(),
            width: contents.width,
            height: contents.height,
            first: self.first,
            hits,
            max,
            requests,
            bytes,
        })
    }

    /// Requests that brought some of these blocks, and the bytes of the blocks that they brought.
    fn cost(&self, blocks: &Range<u32>) -> (u64, u64) {
        let head = &self.reader.head;
        let (mut requests, mut bytes) = (0, 0);
        let runs = &self.schedule.runs;
        // They ascend, unless some blocks are read anew for a later window.
        let from = if self.ascending {
            runs.partition_point(|run| run.blocks.end <= blocks.start)
        } else {
            0
        };
        for run in &runs[from..] {
            if self.ascending && run.blocks.start >= blocks.end {
                break;
            }
            let shared = run.blocks.start.max(blocks.start)..run.blocks.end.min(blocks.end);
            if !shared.is_empty() {
                requests += 1;
                bytes += shared
                    .map(|n| length(&head.block_range(n as usize)))
                    .sum::<u64>();
            }
        }
        (requests, bytes)
    }

    /// Checks the blocks that the group's reads brought, and keeps them for later.
    fn open(&mut self) -> Result<()> {
        let group = &self.schedule.groups[self.group];
        let head = &self.reader.head;
        for at in group.runs.clone() {
            let run = &self.schedule.runs[at];
            for n in run.blocks.clone().filter(|n| !self.pinned.contains_key(n)) {
                let bytes = part(self.reads.bytes(at), run, &head.block_range(n as usize));
                // A window that does not fit into memory would only drive out what others may need again.
                let kept = if group.streamed {
                    Block::open(head, n as usize, bytes).map(drop)
                } else {
                    self.reader
                        .cache
                        .borrow_mut()
                        .insert(head, n as usize, bytes)
                };
                match kept {
                    // No room for it: it is used from where it is.
                    Err(Error::Budget { .. }) => drop(Block::open(head, n as usize, bytes)?),
                    kept => kept?,
                }
            }
        }
        self.opened = true;
        Ok(())
    }

    /// Goes through the blocks of the next visit.
    fn draw(&mut self) -> Result<()> {
        let Self {
            schedule,
            reads,
            pinned,
            carried,
            canvas,
            ..
        } = self;
        let visit = &schedule.visits[self.visit];
        let window = self.windows[visit.window];
        let head = &*self.reader.head;
        let runs = &schedule.runs[schedule.groups[self.group].runs.clone()];
        let first_run = schedule.groups[self.group].runs.start;
        for n in visit.blocks.clone() {
            let bytes = match (pinned.get(&n), carried.get(&n)) {
                (Some(bytes), _) => bytes,
                (None, Some(bytes)) => bytes.as_slice(),
                (None, None) => {
                    let at = runs.partition_point(|run| run.blocks.end <= n);
                    let range = head.block_range(n as usize);
                    runs.get(at).map_or(&[][..], |run| {
                        part(reads.bytes(first_run + at), run, &range)
                    })
                }
            };
            let block = Block::again(head, n as usize, bytes)?;
            let range = block.find(window.lo, window.hi)?;
            block.visit_groups(range, |pixels, intensities| {
                canvas.add_group(pixels, intensities);
            })?;
        }
        Ok(())
    }

    /// Lets go of the group at hand but for what the next one takes over.
    fn advance(&mut self) -> Result<()> {
        let runs = self.schedule.groups[self.group].runs.clone();
        let mut before = std::mem::take(&mut self.carried);
        let next = self.schedule.groups.get(self.group + 1);
        for n in next.map_or(0..0, |next| next.carried.clone()) {
            if self.pinned.contains_key(&n) {
                continue;
            }
            let bytes = match before.remove(&n) {
                Some(bytes) => bytes,
                None => self.copied(n, runs.clone())?,
            };
            self.carried.insert(n, bytes);
        }
        let freed = before.values().map(|bytes| bytes.len() as u64).sum();
        self.budget.release(freed);
        self.reads.release(runs.end, &mut self.budget);
        self.group += 1;
        self.opened = false;
        Ok(())
    }

    fn copied(&mut self, n: u32, runs: Range<usize>) -> Result<Vec<u8>> {
        let range = self.reader.head.block_range(n as usize);
        let among = &self.schedule.runs[runs.clone()];
        let at = among.partition_point(|run| run.blocks.end <= n);
        let Some(run) = among.get(at) else {
            return Ok(Vec::new());
        };
        let bytes = part(self.reads.bytes(runs.start + at), run, &range);
        let mut copy: Vec<u8> = self.budget.allocate(bytes.len(), "a block")?;
        copy.copy_from_slice(bytes);
        Ok(copy)
    }
}

impl Job for ImagesJob {
    type Item<'a> = Image<'a>;

    fn next(&mut self) -> Option<Fetch> {
        let until = self.schedule.groups.get(self.group)?.until;
        self.reads.next(until, &mut self.budget)
    }

    fn lend(&mut self, fetch: &Fetch) -> Vec<u8> {
        self.reads.lend(fetch)
    }

    fn filled(&mut self, fetch: &Fetch, buffer: Vec<u8>) -> Result<()> {
        self.reads.filled(fetch, buffer)
    }

    fn ready(&mut self) -> Result<Option<Image<'_>>> {
        if self.last.take().is_some() {
            self.canvas.clear();
        }
        while let Some(group) = self.schedule.groups.get(self.group) {
            let visits = group.visits.clone();
            if !self.opened {
                if !self.reads.arrived(group.runs.end)? {
                    return Ok(None);
                }
                self.open()?;
            }
            if self.visit == visits.end {
                self.advance()?;
                continue;
            }
            self.draw()?;
            self.visit += 1;
            let visit = &self.schedule.visits[self.visit - 1];
            if visit.last {
                let drawn = self
                    .canvas
                    .finish()
                    .map_err(|error| self.damaged(&visit.blocks, &error))?;
                self.last = Some((self.visit - 1, drawn.hits, drawn.max));
                self.done += 1;
                return Ok(self.last());
            }
        }
        Ok(None)
    }

    fn is_done(&self) -> bool {
        self.done == self.windows.len()
    }

    fn peak(&self) -> u64 {
        self.budget.peak()
    }
}

impl Drop for ImagesJob {
    /// The canvas goes back to the reader: laying out a new one costs as much as an image.
    fn drop(&mut self) {
        let mut canvas = self.canvas.take();
        canvas.clear();
        self.reader.canvas.replace(Some(canvas));
    }
}

impl ImagesJob {
    fn damaged(&self, blocks: &Range<u32>, error: &Error) -> Error {
        Error::Format {
            file: self.reader.head.file.clone(),
            at: self.reader.head.block_range(blocks.start as usize).start,
            what: format!("{error}; the store is damaged, fetch or pack it again"),
        }
    }
}

/// The bytes of a block among those of a run.
fn part<'b>(bytes: &'b [u8], run: &Run, block: &Range<u64>) -> &'b [u8] {
    let place = |at: u64| usize::try_from(at.saturating_sub(run.range.start)).ok();
    let found = place(block.start).zip(place(block.end));
    found
        .and_then(|(start, end)| bytes.get(start..end))
        .unwrap_or_default()
}
