//! Into how many shards a job is cut, so that each stays within the limits of one invocation.

use std::ops::Range;
use std::rc::Rc;

use serde::Serialize;

use super::work::{Beside, keep};
use crate::error::{Error, Result};
use crate::ion::annotate::{Ions, Plan, Wish, plan};
use crate::results::part::whole::Depicted;
use crate::store::head::Head;

/// Most shards of a job.
pub const MOST: u32 = 65_536;

/// What one invocation may take: a Worker's limits, or those of a batch system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Invocation {
    /// Requests, those for head and list and the part's own not among them.
    pub requests: u64,
    /// Milliseconds of processor time.
    pub cpu_ms: u64,
    /// Bytes of memory.
    pub memory: u64,
    /// Requests in flight at one time.
    pub in_flight: u32,
}

/// How a job is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Division {
    /// Shards.
    pub shards: u32,
    /// Ions of the largest.
    pub ions: u64,
    /// Requests of the shard that makes most.
    pub requests: u64,
    /// About the milliseconds of processor time of the shard that takes most, beginning included.
    pub cpu_ms: u64,
    /// About the milliseconds that each shard takes to begin: it puts all ions in order.
    pub begin_ms: u64,
    /// Bytes of memory of the shard that takes most, if its images were all noise.
    pub memory: u64,
}

impl Default for Invocation {
    /// A Worker's 10,000 requests of which some are left for head, list and part, 30 s, and 48 MiB.
    fn default() -> Self {
        Self {
            requests: 9_900,
            cpu_ms: 30_000,
            memory: 48 << 20,
            in_flight: 6,
        }
    }
}

/// Nanoseconds of processor time in WebAssembly, each twice what was measured: machines differ.
mod cost {
    /// To begin: of each ion of the list.
    pub(super) const ORDER: u64 = 2_000;
    /// Of an ion: its pattern, and the windows of its images.
    pub(super) const ION: u64 = 60_000;
    /// Of a pixel of an ion's images: the scores.
    pub(super) const PIXEL: u64 = 36;
    /// Of a pixel of a picture: drawing and packing.
    pub(super) const PICTURE: u64 = 60;
    /// Of a byte of blocks: unpacking, checksum.
    pub(super) const BYTE: u64 = 4;
}

/// Cuts a job into as few shards as stay within the limits.
///
/// The number depends on store, ions, images kept and limits, so that it is the same wherever it is worked out; the shards
/// themselves depend on their number alone ([`Ions::shards`]). Times are estimates from above: most decoys have no
/// peak, and take a fraction.
///
/// # Cost
/// The patterns of all ions, about 7 µs each, once for each number that is tried: mostly once, seldom three times.
///
/// # Errors
/// [`Error::Parameter`] if not even one ion stays within the limits, or there would be more than [`MOST`] shards;
/// [`Error::Budget`] if the memory is too small for any.
pub fn divide(
    head: &Rc<Head>,
    ions: &Rc<Ions>,
    images: Depicted,
    limits: &Invocation,
) -> Result<Division> {
    let all = ions.len().max(1);
    let begin = u64::from(all) * cost::ORDER / 1_000_000;
    if begin >= limits.cpu_ms {
        return Err(wrong(format!(
            "to put {all} ions in order takes about {begin} ms of the {} that an invocation has; a shorter list, or fewer \
             decoys",
            limits.cpu_ms
        )));
    }
    let mut shards = 1;
    loop {
        let tried = match tried(head, ions, images, limits, shards) {
            // What could be found in a smaller shard takes less.
            Err(Error::Budget { .. }) if shards < all.min(MOST) => {
                shards = shards.saturating_mul(2).min(all).min(MOST);
                continue;
            }
            tried => tried?,
        };
        // How many times too large the largest shard is, in what it is most too large in.
        let over = [
            (tried.requests, limits.requests),
            (tried.cpu_ms - tried.begin_ms, limits.cpu_ms - begin),
            (
                tried.memory.saturating_sub(tried.least),
                limits.memory.saturating_sub(tried.least),
            ),
        ];
        let over = over.iter().map(|(need, have)| times(*need, *have));
        let over = over.max().unwrap_or(1);
        if over <= 1 {
            return Ok(tried.division(shards, begin));
        }
        if shards >= all.min(MOST) {
            return Err(wrong(format!(
                "{shards} shards are not enough: one would make {} requests, take {} ms and {} bytes of memory",
                tried.requests, tried.cpu_ms, tried.memory
            )));
        }
        let more = u64::from(shards).saturating_mul(over);
        shards = u32::try_from(more).unwrap_or(u32::MAX).min(all).min(MOST);
    }
}

/// How many times what is there would be needed; 1 if it is enough.
fn times(need: u64, have: u64) -> u64 {
    if need <= have {
        return 1;
    }
    need.div_ceil(have.max(1)).max(2)
}

/// The largest of some shards, in each respect.
#[derive(Debug, Default)]
struct Tried {
    ions: u64,
    requests: u64,
    cpu_ms: u64,
    begin_ms: u64,
    memory: u64,
    /// What of the memory does not depend on the size of a shard.
    least: u64,
}

impl Tried {
    fn division(&self, shards: u32, begin_ms: u64) -> Division {
        Division {
            shards,
            ions: self.ions,
            requests: self.requests,
            cpu_ms: self.cpu_ms,
            begin_ms,
            memory: self.memory,
        }
    }
}

fn tried(
    head: &Rc<Head>,
    ions: &Rc<Ions>,
    images: Depicted,
    limits: &Invocation,
    shards: u32,
) -> Result<Tried> {
    let mut tried = Tried {
        begin_ms: u64::from(ions.len()) * cost::ORDER / 1_000_000,
        ..Tried::default()
    };
    for shard in ions.shards(shards) {
        tried.take(head, ions, images, limits, shard)?;
    }
    Ok(tried)
}

impl Tried {
    fn take(
        &mut self,
        head: &Rc<Head>,
        ions: &Rc<Ions>,
        images: Depicted,
        limits: &Invocation,
        shard: Range<u32>,
    ) -> Result<()> {
        let contents = &head.layout.contents;
        let pixels = u64::from(contents.width) * u64::from(contents.height);
        let targets = shard
            .clone()
            .filter(|place| ions.ion(*place).is_some_and(|ion| ions.is_target(ion)));
        let targets = targets.count() as u64;
        let beside = Beside::new(head, ions, shard.clone(), images);
        let fixed = beside.easel + beside.seal;
        // Requests are those that are made in what a shard leaves to its job at worst.
        let wish = Wish {
            memory: limits.memory.saturating_sub(fixed),
            in_flight: limits.in_flight,
            images: keep(images.peaks()),
            max_requests: None,
        };
        let least = plan(head, ions, 0..0, &wish)?.minimum_bytes;
        let spare = wish.memory - least;
        let wish = Wish {
            memory: wish.memory - beside.pictures.min(spare / 4 * 3),
            ..wish
        };
        let Plan {
            ions: count,
            requests,
            bytes,
            ..
        } = plan(head, ions, shard, &wish)?;
        let each = cost::ION + pixels * cost::PIXEL;
        let picture = pixels * cost::PICTURE * images.peaks() as u64;
        let nanoseconds = (count.saturating_mul(each))
            .saturating_add(targets.saturating_mul(picture))
            .saturating_add(bytes.saturating_mul(cost::BYTE));
        self.ions = self.ions.max(count);
        self.requests = self.requests.max(requests);
        self.cpu_ms = self
            .cpu_ms
            .max(nanoseconds.div_ceil(1_000_000) + self.begin_ms);
        let memory = fixed + least + beside.pictures.saturating_mul(4).div_ceil(3);
        self.memory = self.memory.max(memory);
        self.least = least + beside.easel;
        Ok(())
    }
}

fn wrong(what: String) -> Error {
    Error::Parameter {
        name: "limits",
        what,
    }
}
