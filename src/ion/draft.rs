//! The plan of some ion images: what is at hand, what is read, and in which order.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use super::image::Canvas;
use super::images::{BASE, Plan, Reader, WINDOW, Wish};
use super::reads::CHUNK;
use super::schedule::{self, Limits, Schedule};
use super::window::Window;
use crate::error::{Error, Result};
use crate::store::head::Head;

/// A schedule with all that it stands on.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) plan: Plan,
    pub(super) schedule: Schedule,
    /// The blocks of each window.
    pub(super) needs: Vec<Range<u32>>,
    /// Blocks out of the cache, held until the job is done.
    pub(super) pinned: BTreeMap<u32, Rc<Vec<u8>>>,
    /// Bytes that do not depend on which blocks are read.
    pub(super) fixed: u64,
}

impl Draft {
    pub(super) fn new(reader: &Reader, windows: &[Window], wish: &Wish) -> Result<Self> {
        let head = &**reader.head();
        check(head, windows, wish)?;
        let fixed = fixed(reader, windows, wish);
        let needs: Vec<Range<u32>> = (windows.iter())
            .map(|window| {
                let blocks = head.blocks_of(window.lo, window.hi);
                narrow(blocks.start)..narrow(blocks.end)
            })
            .collect();
        let wanted = union(&needs);
        let largest = (wanted.iter().cloned().flatten())
            .map(|n| length(&head.block_range(n as usize)))
            .max()
            .unwrap_or(0);
        let minimum = fixed.saturating_add(largest);
        if wish.memory < minimum {
            return Err(Error::Budget {
                need: minimum,
                have: wish.memory,
                what: "an ion image of this store".to_owned(),
            });
        }
        let available = wish.memory - fixed;
        let pinned = pin(reader, &wanted, (available - largest) / 2);
        let at_hand: u64 = pinned.values().map(|bytes| bytes.len() as u64).sum();
        let limits = Limits {
            available: available - at_hand,
            in_flight: u64::from(wish.in_flight),
            gap: wish.gap,
        };
        let schedule = Schedule::new(
            &needs,
            &Known {
                head,
                pinned: &pinned,
            },
            limits,
        );
        let streamed = schedule.visits.iter().filter(|visit| !visit.last);
        let mut streamed: Vec<usize> = streamed.map(|visit| visit.window).collect();
        streamed.dedup();
        let plan = Plan {
            images: windows.len() as u64,
            blocks: wanted
                .iter()
                .map(|span| u64::from(span.end - span.start))
                .sum(),
            cached: pinned.len() as u64,
            requests: schedule.runs.len() as u64,
            bytes: schedule.runs.iter().map(|run| length(&run.range)).sum(),
            streamed: streamed.len() as u64,
            peak_bytes: fixed + at_hand + schedule.peak,
            minimum_bytes: minimum,
            memory: wish.memory,
        };
        Ok(Self {
            plan,
            schedule,
            needs,
            pinned,
            fixed,
        })
    }
}

/// Memory that does not depend on which blocks are read.
fn fixed(reader: &Reader, windows: &[Window], wish: &Wish) -> u64 {
    BASE.saturating_add(reader.head().held_bytes())
        .saturating_add(reader.cache_bytes())
        .saturating_add(windows.len() as u64 * WINDOW)
        .saturating_add(u64::from(wish.in_flight) * CHUNK)
        .saturating_add(Canvas::bytes(u64::from(area(reader.head()))))
}

/// Takes hold of the blocks in the cache that will be wanted, up to so many bytes.
fn pin(reader: &Reader, wanted: &[Range<u32>], most: u64) -> BTreeMap<u32, Rc<Vec<u8>>> {
    let mut pinned = BTreeMap::new();
    let mut held = 0;
    for n in wanted.iter().cloned().flatten() {
        if let Some(bytes) = reader.held(n)
            && held + bytes.len() as u64 <= most
        {
            held += bytes.len() as u64;
            pinned.insert(n, bytes);
        }
    }
    pinned
}

/// The ranges joined where they overlap or touch, ascending.
fn union(needs: &[Range<u32>]) -> Vec<Range<u32>> {
    let mut joined: Vec<Range<u32>> = needs.iter().filter(|n| !n.is_empty()).cloned().collect();
    join(&mut joined);
    joined
}

/// Sorts ranges and joins those that overlap or touch.
pub(super) fn join(ranges: &mut Vec<Range<u32>>) {
    ranges.sort_unstable_by_key(|range| range.start);
    ranges.dedup_by(|next, last| {
        let joins = next.start <= last.end;
        if joins {
            last.end = last.end.max(next.end);
        }
        joins
    });
}

/// What a schedule has to know about a store.
struct Known<'k> {
    head: &'k Head,
    pinned: &'k BTreeMap<u32, Rc<Vec<u8>>>,
}

impl schedule::Blocks for Known<'_> {
    fn range(&self, n: u32) -> Range<u64> {
        self.head.block_range(n as usize)
    }

    fn has(&self, n: u32) -> bool {
        self.pinned.contains_key(&n)
    }
}

fn check(head: &Head, windows: &[Window], wish: &Wish) -> Result<()> {
    windows.iter().try_for_each(Window::check)?;
    check_wish(head.layout.contents.slices, wish.slice, wish.in_flight)
}

/// Refuses a slice that does not exist, and no request in flight.
pub(super) fn check_wish(slices: u32, slice: u32, in_flight: u32) -> Result<()> {
    if slice >= slices {
        return Err(Error::Parameter {
            name: "slice",
            what: format!("there are {slices}; {slice} is none of 0 to {}", slices - 1),
        });
    }
    if !(1..=1024).contains(&in_flight) {
        return Err(Error::Parameter {
            name: "--in-flight",
            what: format!("{in_flight} is not between 1 and 1024"),
        });
    }
    Ok(())
}

/// Pixels of a slice.
pub(super) fn area(head: &Head) -> u32 {
    head.layout
        .contents
        .width
        .saturating_mul(head.layout.contents.height)
}

pub(super) fn length(range: &Range<u64>) -> u64 {
    range.end - range.start
}

/// The number of a block.
pub(super) fn narrow(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
