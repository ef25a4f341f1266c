//! Computing one answer.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use sectile::api::answer::Ticket;
use sectile::drive::native::{Run, Source, run};
use sectile::job::Tally;

use super::asking::Ready;
use super::fault::Fault;
use super::shelf::Taken;

/// Requests in flight for one answer from other servers, and reads at one time from files.
const IN_FLIGHT: [usize; 2] = [6, 2];

/// A computed answer and what it took.
#[derive(Debug, Clone)]
pub struct Made {
    /// The answer.
    pub ready: Ready,
    /// Milliseconds that it waited for room.
    pub waited: f64,
    /// Milliseconds of reading and computing.
    pub computed: f64,
    /// Bytes that were read.
    pub bytes: u64,
    /// Requests or reads.
    pub requests: u64,
}

/// Reads and computes; blocks.
///
/// # Errors
/// Those of the files and of the ticket; [`Fault::GivenUp`] after `cancel`.
pub fn compute(ticket: &Ticket, taken: &Taken, cancel: &AtomicBool) -> Result<Made, Fault> {
    let started = Instant::now();
    let mut answer = ticket.start(&taken.opened, ticket.cost.peak_bytes)?;
    let sources: Option<Vec<Source>> = answer
        .sources()
        .iter()
        .map(|index| taken.sources.get(*index as usize).cloned())
        .collect();
    let sources = sources.ok_or_else(super::open::gone)?;
    let is_remote = sources.iter().any(|source| source.path().is_none());
    let how = Run {
        in_flight: IN_FLIGHT[usize::from(!is_remote)],
        cancel,
    };
    let mut tally = Tally::default();
    run(&mut answer, &sources, &how, &mut tally, |_| Ok(()))?;
    let ready = answer.into_reply()?.into();
    Ok(Made {
        ready,
        waited: 0.0,
        computed: milliseconds(started),
        bytes: tally.bytes_fetched,
        requests: tally.requests,
    })
}

/// Milliseconds since then.
pub fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1000.0
}
