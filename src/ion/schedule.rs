//! Which blocks are read together, for which windows, and how long they are held.
//!
//! Windows are served in the order of their first block, one at a time, and each goes through its blocks in
//! the order of the file, so that sums do not depend on anything else. Blocks come in *groups*: all windows in one
//! group if everything fits into memory, otherwise groups of at most half of it, so that the next is fetched
//! while one is worked on. A window that is too large for that goes through its blocks piece by piece.

use std::ops::Range;

/// The blocks of a store, as far as a schedule is concerned: they lie in the file one behind another.
pub(super) trait Blocks {
    /// The bytes of block `n` in the file.
    fn range(&self, n: u32) -> Range<u64>;
    /// Whether block `n` is at hand already.
    fn has(&self, n: u32) -> bool;

    /// Bytes of block `n`.
    fn bytes(&self, n: u32) -> u64 {
        let range = self.range(n);
        range.end - range.start
    }
}

/// Bytes at hand that are read once more rather than cutting a window's request in two.
const BRIDGE: u64 = 256 << 10;

/// What bounds a schedule.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Bytes for blocks.
    pub(super) available: u64,
    /// Requests in flight.
    pub(super) in_flight: u64,
    /// Bytes between two wanted blocks that are read rather than asked around.
    pub(super) gap: u64,
}

/// A part of a window's work, or all of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Visit {
    /// Index of the window as it was given.
    pub(super) window: usize,
    /// The blocks to go through, all of them in the visit's group.
    pub(super) blocks: Range<u32>,
    /// Whether the image is finished then.
    pub(super) last: bool,
}

/// Consecutive blocks that one request brings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) blocks: Range<u32>,
    pub(super) range: Range<u64>,
}

/// Blocks that are held at one time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Group {
    /// Its visits among all.
    pub(super) visits: Range<usize>,
    /// Its runs among all.
    pub(super) runs: Range<usize>,
    /// Blocks taken over from the group before.
    pub(super) carried: Range<u32>,
    /// Bytes of its runs and of what it takes over.
    pub(super) bytes: u64,
    /// Runs that may be asked for while this group is at hand.
    pub(super) until: usize,
    /// A piece of a window that is too large to be held.
    pub(super) streamed: bool,
}

/// All groups, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Schedule {
    pub(super) groups: Vec<Group>,
    pub(super) visits: Vec<Visit>,
    pub(super) runs: Vec<Run>,
    /// Most bytes of blocks held at one time.
    pub(super) peak: u64,
}

impl Schedule {
    /// Plans the reads for windows whose blocks are `needs`.
    ///
    /// `limits.available` must hold the largest block.
    pub(super) fn new(needs: &[Range<u32>], blocks: &impl Blocks, limits: Limits) -> Self {
        let mut order: Vec<usize> = (0..needs.len()).collect();
        order.sort_by_key(|window| (needs[*window].start, needs[*window].end));
        let mut builder = Builder {
            blocks,
            limits,
            most: limits.available,
            out: Self::default(),
            open: Open::default(),
        };
        builder.all(needs, &order);
        if builder.out.groups.len() > 1 {
            builder.most = limits.available / 2;
            builder.out = Self::default();
            builder.all(needs, &order);
        }
        let mut out = builder.out;
        out.look_ahead(limits.available);
        out
    }

    /// Says how far ahead reads may go while each group is at hand.
    fn look_ahead(&mut self, available: u64) {
        let bytes: Vec<u64> = self.groups.iter().map(|group| group.bytes).collect();
        let (ends, peak) = look_ahead(&bytes, available);
        for (at, end) in ends.into_iter().enumerate() {
            self.groups[at].until = self.groups[end - 1].runs.end;
        }
        self.peak = peak;
    }
}

/// For each of several groups of so many bytes the one behind the last that can be held together with it and all
/// between, and the most bytes that are held so.
pub(super) fn look_ahead(bytes: &[u64], available: u64) -> (Vec<usize>, u64) {
    let mut peak = 0;
    let (mut end, mut held) = (0, 0_u64);
    let ends = (bytes.iter().enumerate())
        .map(|(at, own)| {
            while end < bytes.len() && (end == at || held + bytes[end] <= available) {
                held += bytes[end];
                end += 1;
            }
            peak = peak.max(held);
            held -= own;
            end
        })
        .collect();
    (ends, peak)
}

/// The group that is being put together.
#[derive(Default)]
struct Open {
    visits: Vec<Visit>,
    /// Its blocks as disjoint ascending ranges.
    spans: Vec<Range<u32>>,
    /// Bytes of its blocks that are not at hand.
    bytes: u64,
    streamed: bool,
}

struct Builder<'b, B> {
    blocks: &'b B,
    limits: Limits,
    /// Most bytes of a group.
    most: u64,
    out: Schedule,
    open: Open,
}

impl<B: Blocks> Builder<'_, B> {
    fn all(&mut self, needs: &[Range<u32>], order: &[usize]) {
        for window in order {
            let need = &needs[*window];
            if self.missing(need.clone()) > self.limits.available {
                self.close();
                self.stream(*window, need);
            } else {
                self.join(*window, need);
            }
        }
        self.close();
    }

    /// Bytes of blocks that have to be fetched.
    fn missing(&self, blocks: Range<u32>) -> u64 {
        let missing = blocks.filter(|n| !self.blocks.has(*n));
        missing.map(|n| self.blocks.bytes(n)).sum()
    }

    /// Adds a window to the open group, or to a new one if that would be too large.
    fn join(&mut self, window: usize, need: &Range<u32>) {
        let mut new = self.beyond(need);
        if self.open.bytes + self.missing(new.clone()) > self.most {
            self.close();
            new = need.clone();
        }
        self.open.bytes += self.missing(new.clone());
        if !new.is_empty() {
            self.open.spans.push(new);
        }
        self.open.visits.push(Visit {
            window,
            blocks: need.clone(),
            last: true,
        });
    }

    /// The blocks of `need` that the open group lacks: windows come in order, so these are the last ones.
    fn beyond(&self, need: &Range<u32>) -> Range<u32> {
        let end = self.open.spans.last().map_or(0, |span| span.end);
        need.start.max(end).min(need.end)..need.end
    }

    /// Cuts a window that is too large into pieces.
    fn stream(&mut self, window: usize, need: &Range<u32>) {
        let piece = self.limits.available / (self.limits.in_flight + 1);
        let mut start = need.start;
        while start < need.end {
            let mut end = start + 1;
            let mut bytes = self.missing(start..end);
            while end < need.end && bytes + self.missing(end..end + 1) <= piece {
                bytes += self.missing(end..end + 1);
                end += 1;
            }
            let part = start..end;
            self.open = Open {
                visits: vec![Visit {
                    window,
                    blocks: part.clone(),
                    last: end == need.end,
                }],
                spans: vec![part],
                bytes,
                streamed: true,
            };
            self.close();
            start = end;
        }
    }

    /// Finishes the open group: what it takes over from the one before, and its runs.
    fn close(&mut self) {
        let open = std::mem::take(&mut self.open);
        if open.visits.is_empty() {
            return;
        }
        let carried = self.carried(&open);
        let first_run = self.out.runs.len();
        let mut spare = self.most.saturating_sub(open.bytes);
        for span in &open.spans {
            let rest = span.start.max(carried.end).min(span.end)..span.end;
            self.runs(rest, first_run, &mut spare);
        }
        let runs = first_run..self.out.runs.len();
        let fetched = self.out.runs[runs.clone()].iter();
        let bytes = fetched
            .map(|run| run.range.end - run.range.start)
            .sum::<u64>();
        let visits = self.out.visits.len()..self.out.visits.len() + open.visits.len();
        self.out.visits.extend(open.visits);
        self.out.groups.push(Group {
            visits,
            runs,
            bytes: bytes + self.missing(carried.clone()),
            carried,
            until: 0,
            streamed: open.streamed,
        });
    }

    /// The first blocks of a group that the group before has, if both can be held at one time.
    fn carried(&self, open: &Open) -> Range<u32> {
        let (Some(before), Some(first)) = (self.out.groups.last(), open.spans.first()) else {
            return 0..0;
        };
        let visits = &self.out.visits[before.visits.clone()];
        let held = visits
            .iter()
            .map(|visit| visit.blocks.end)
            .max()
            .unwrap_or(0);
        let from = visits
            .iter()
            .map(|visit| visit.blocks.start)
            .min()
            .unwrap_or(0);
        let end = held.min(first.end);
        if from > first.start
            || first.start >= end
            || before.bytes + open.bytes > self.limits.available
        {
            return 0..0;
        }
        first.start..end
    }

    /// Adds the runs that bring what of `span` is not at hand, as few as may be; `spare` bytes of memory are left
    /// for what lies between.
    fn runs(&mut self, span: Range<u32>, first_run: usize, spare: &mut u64) {
        let mut gap = self.limits.gap;
        for n in span.filter(|n| !self.blocks.has(*n)) {
            let range = self.blocks.range(n);
            if let Some(last) = self.out.runs[first_run..].last_mut() {
                let between = range.start - last.range.end;
                if between <= gap && between <= *spare {
                    *spare -= between;
                    last.range.end = range.end;
                    last.blocks.end = n + 1;
                    gap = gap.max(BRIDGE);
                    continue;
                }
            }
            self.out.runs.push(Run {
                blocks: n..n + 1,
                range,
            });
            // Inside a window only blocks at hand lie between: a second request costs more than they do.
            gap = gap.max(BRIDGE);
        }
    }
}
