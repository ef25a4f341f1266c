//! What a shard costs, found by going through it without reading a block.

use std::ops::Range;
use std::rc::Rc;

use super::batch::{Batch, Frame};
use super::ions::Ions;
use super::shares::Shares;
use super::shelf::Shelf;
use super::wish::{Plan, Wish};
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::store::head::Head;

/// Plans a shard: every request that [`AnnotateJob`](super::AnnotateJob) will make, and the memory it will take.
///
/// [`Wish::max_requests`] is not heeded: the plan is that of the whole shard.
///
/// # Cost
/// The patterns of all ions of the shard: as long as the job itself spends on them.
///
/// # Errors
/// As [`AnnotateJob::new`](super::AnnotateJob::new).
pub fn plan(head: &Rc<Head>, ions: &Rc<Ions>, shard: Range<u32>, wish: &Wish) -> Result<Plan> {
    check(ions, &shard)?;
    let shares = Shares::new(head, ions, wish)?;
    let mut budget = Budget::new(wish.memory);
    budget.reserve(shares.program, "the program")?;
    let mut shelf = Shelf::new(head, shares.blocks, &mut budget)?;
    let mut patterns = ions.request().patterns()?;
    let frame = Frame::new(head, ions, &shelf, shard.end);
    let (mut start, mut batches) = (shard.start, 0);
    while start < shard.end {
        let batch = Batch::new(&frame, &mut patterns, start)?;
        for group in batch.groups {
            shelf.take(head, group.need, group.floor);
        }
        start = batch.end;
        batches += 1;
    }
    let cost = shelf.cost();
    Ok(Plan {
        ions: u64::from(shard.end - shard.start),
        batches,
        groups: cost.groups,
        blocks: cost.blocks,
        requests: cost.requests,
        bytes: cost.bytes,
        refetched: cost.refetched,
        peak_bytes: shares.fixed + shares.reserved + cost.peak,
        image_bytes: shares.images,
        minimum_bytes: shares.minimum,
        memory: wish.memory,
    })
}

/// Refuses a range that is no part of the order.
pub(super) fn check(ions: &Ions, shard: &Range<u32>) -> Result<()> {
    if shard.start <= shard.end && shard.end <= ions.len() {
        return Ok(());
    }
    Err(Error::Parameter {
        name: "shard",
        what: format!(
            "{} to {} is no range of the {} ions",
            shard.start,
            shard.end,
            ions.len()
        ),
    })
}
