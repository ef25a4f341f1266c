//! One median as several jobs that know nothing of each other: which rows each of them computes.
//!
//! A shard is a band of rows of the result. All have the same number of rows to within one, so the division
//! depends on the height of the result and on the number of shards, and on nothing else: not on a budget, a
//! machine, or the order in which shards run. Pixels do not depend on how they are cut, so that the bands of all
//! shards one above the other are the bits of one run.

use std::ops::Range;

use super::exposure::Stack;
use super::job::MedianJob;
use super::plan::{Plan, SHARD_REQUESTS, Wish};
use crate::error::{Error, Result};

/// The most shards that a job is cut into: what a batch system's array of jobs may have.
pub const MOST: u32 = 99_999;

/// Nanoseconds of processor time that a stored value costs at most, with its way through the driver: about twice
/// what was measured in WebAssembly on a shared machine.
const NANOSECONDS_A_VALUE: u64 = 4;
/// Nanoseconds that a pixel of the result costs: written, summed up, and read once more.
const NANOSECONDS_A_PIXEL: u64 = 20;
/// Microseconds of processor time that a request costs.
const MICROSECONDS_A_REQUEST: u64 = 200;

/// Numbers of shards that are tried before they grow by a quarter each time.
const STEPS: u32 = 8;

/// What one shard may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Requests, those for headers included: one an exposure.
    pub requests: u64,
    /// Milliseconds of processor time.
    pub cpu_ms: u64,
    /// Bytes of the part that it writes.
    pub part_bytes: u64,
}

/// One invocation of an edge worker: 10,000 requests, 30 s of processor time; a part of 32 MiB is held in memory
/// until it is written.
impl Default for Limits {
    fn default() -> Self {
        Self {
            requests: SHARD_REQUESTS,
            cpu_ms: 30_000,
            part_bytes: 32 << 20,
        }
    }
}

/// What one shard costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// Requests, those for headers included: one an exposure.
    pub requests: u64,
    /// Estimated milliseconds of processor time, rather too many than too few.
    pub cpu_ms: u64,
    /// Bytes of values and counts.
    pub part_bytes: u64,
    /// Bytes of pixels that are asked for.
    pub payload_bytes: u64,
    /// Most bytes held at one time.
    pub peak_bytes: u64,
}

/// How a result is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shards {
    height: u32,
    count: u32,
}

impl Shards {
    /// A result of `height` rows in `count` shards.
    ///
    /// # Errors
    /// [`Error::Parameter`] for no shard, more than there are rows, or more than [`MOST`].
    pub fn new(height: u32, count: u32) -> Result<Self> {
        if count == 0 || count > height.min(MOST) {
            return Err(Error::Parameter {
                name: "shards",
                what: format!(
                    "a result of {height} rows is cut into 1 to {} shards, not into {count}",
                    height.min(MOST)
                ),
            });
        }
        Ok(Self { height, count })
    }

    /// The fewest shards of which each keeps within the limits when it is computed as `wish` asks; up to a quarter more
    /// where most of the cost does not depend on the rows.
    ///
    /// # Cost
    /// A few plans, seldom more than ten; no memory.
    ///
    /// # Errors
    /// Those of [`Plan::new`]; [`Error::Parameter`] naming the cost of the smallest shard if that is too much.
    pub fn within(stack: &Stack, wish: &Wish, limits: &Limits) -> Result<Self> {
        let whole = Plan::new(stack, wish)?;
        let most = whole.height().min(MOST);
        let (mut count, mut tries) = (1, 0);
        loop {
            let shards = Self::new(whole.height(), count)?;
            // The first is as tall as any; where heights differ, the lower ones cost no more.
            let tallest = shards.height.div_ceil(count);
            let cost = cost(stack, wish, &whole, &(0..tallest))?;
            let over = [
                (cost.requests, limits.requests),
                (cost.cpu_ms, limits.cpu_ms),
                (cost.part_bytes, limits.part_bytes),
            ];
            if over.iter().all(|(is, may)| is <= may) {
                return Ok(shards);
            }
            if count == most {
                return Err(too_much(&cost, limits, most));
            }
            // A shard of more rows than these would be too much: nothing costs less a row in a lower shard.
            let rows = over.iter().map(|(is, may)| {
                let rows = u128::from(tallest) * u128::from(*may) / u128::from(*is.max(&1));
                u32::try_from(rows).unwrap_or(u32::MAX)
            });
            let rows = rows.min().unwrap_or(1).max(1);
            tries += 1;
            // What each shard costs whatever its rows are brings it near by small steps only.
            let step = if tries < STEPS { 1 } else { count / 4 + 1 };
            count = (whole.height().div_ceil(rows)).max(count + step).min(most);
        }
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The rows of the result that a shard computes, shards counted from 0 and from the first row on; `None` for
    /// no such shard.
    #[must_use]
    pub fn rows(&self, shard: u32) -> Option<Range<u32>> {
        let edge = |shard: u32| {
            let row = u64::from(self.height) * u64::from(shard) / u64::from(self.count);
            u32::try_from(row).unwrap_or(self.height)
        };
        (shard < self.count).then(|| edge(shard)..edge(shard + 1))
    }

    /// The plan of a shard, of the median that `wish` asks for.
    ///
    /// # Errors
    /// Those of [`Plan::new`], with the budget of `wish`; [`Error::Parameter`] for no such shard, and for a result
    /// of another height.
    pub fn plan(&self, stack: &Stack, wish: &Wish, shard: u32) -> Result<Plan> {
        let whole = Plan::new(stack, wish)?;
        let fault = |what: String| Error::Parameter {
            name: "shards",
            what,
        };
        if whole.height() != self.height {
            return Err(fault(format!(
                "they are of a result of {} rows, and this one has {}",
                self.height,
                whole.height()
            )));
        }
        let rows = self.rows(shard);
        let rows = rows.ok_or_else(|| {
            fault(format!(
                "there is no shard {shard} of {}, from 0 on",
                self.count
            ))
        })?;
        of_rows(stack, wish, &whole, &rows)
    }

    /// The job of a shard: gives the same bits for its rows as the job of the whole.
    ///
    /// # Errors
    /// Those of [`Shards::plan`] and of [`MedianJob::new`].
    pub fn job(&self, stack: &Stack, wish: &Wish, shard: u32) -> Result<MedianJob> {
        MedianJob::new(stack, self.plan(stack, wish, shard)?)
    }

    /// What a shard costs.
    ///
    /// # Errors
    /// Those of [`Shards::plan`].
    pub fn cost(&self, stack: &Stack, wish: &Wish, shard: u32) -> Result<Cost> {
        Ok(of_plan(stack, &self.plan(stack, wish, shard)?))
    }
}

fn of_rows(stack: &Stack, wish: &Wish, whole: &Plan, rows: &Range<u32>) -> Result<Plan> {
    let wish = Wish {
        rect: Some(whole.rect_of(rows)),
        ..wish.clone()
    };
    Plan::new(stack, &wish)
}

fn cost(stack: &Stack, wish: &Wish, whole: &Plan, rows: &Range<u32>) -> Result<Cost> {
    Ok(of_plan(stack, &of_rows(stack, wish, whole, rows)?))
}

fn of_plan(stack: &Stack, plan: &Plan) -> Cost {
    let exposures = plan.exposures;
    let pixels = u64::from(plan.width()) * u64::from(plan.height());
    // A preview computes its rows whole and keeps some of the values.
    let read = u64::from(plan.rect.x1 - plan.rect.x0) * u64::from(plan.height());
    // A mask's pixel is looked at like a value.
    let values = read.saturating_mul(exposures + plan.masks);
    let requests = plan.requests.saturating_add(exposures);
    let nanoseconds = values
        .saturating_mul(NANOSECONDS_A_VALUE)
        .saturating_add(pixels.saturating_mul(NANOSECONDS_A_PIXEL))
        .saturating_add(requests.saturating_mul(MICROSECONDS_A_REQUEST * 1000));
    Cost {
        requests,
        cpu_ms: nanoseconds.div_ceil(1_000_000),
        part_bytes: pixels.saturating_mul((stack.value_bytes() + size_of::<u16>()) as u64),
        payload_bytes: plan.payload_bytes,
        peak_bytes: plan.peak_bytes,
    }
}

fn too_much(cost: &Cost, limits: &Limits, most: u32) -> Error {
    Error::Parameter {
        name: "shards",
        what: format!(
            "even one of {most} shards takes {} requests, {} ms of processor time and {} bytes of result, where {}, \
             {} and {} are allowed; give it more memory, or fewer exposures",
            cost.requests,
            cost.cpu_ms,
            cost.part_bytes,
            limits.requests,
            limits.cpu_ms,
            limits.part_bytes
        ),
    }
}
