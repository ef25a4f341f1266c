//! An answer that takes data: planned, asked for, fed, made.
//!
//! ```text
//!  route, opened ──► errand ──► Ticket{cost} ──► limits ──► Answer: a Job ──► values ──► Reply
//!                    layer,     plan             413        median, images,   tile, PNG, FITS,
//!                    rectangle                              spectrum, table   JSON
//! ```
//!
//! A [`Ticket`] is all that is known before anything is read, and what it costs. An [`Answer`] is the job of it: like any
//! other job it names ranges and is fed. What comes out does not depend on the memory that it is given.

mod cost;
mod cutout;
mod errand;
mod fault;
mod gather;
mod number;
mod picture;
mod plane;
mod run;
mod samples;
mod spectrum;
mod statistics;
mod subject;
mod table;
mod work;

use self::cost::Favour;
use self::errand::Errand;
use super::canonical::{canonical, etag};
use super::limits::{Cost, Limits};
use super::opened::Opened;
use super::problem::Problem;
use super::route::Route;

pub use self::fault::{Trouble, problem};
pub use self::run::Answer;

/// Requests in flight: as many connections as an invocation at the edge has.
pub const IN_FLIGHT: u32 = 6;

/// An answer that was planned and not begun.
#[derive(Debug, Clone, PartialEq)]
pub struct Ticket {
    /// The canonical path and query: the key of the host's cache.
    pub canonical: String,
    /// The dataset, `name@version`.
    pub dataset: String,
    /// The entity tag.
    pub etag: String,
    /// What is asked for.
    pub route: Route,
    /// What it will take.
    pub cost: Cost,
    favour: Favour,
}

impl Ticket {
    /// Plans the answer to a route of the open dataset `id` (`name@version`); `None` for a tile that is not there, which
    /// is 204.
    ///
    /// Where there is a choice, between reading rows of a picture one by one and from the first to the last, the faster way
    /// that fits the limits is taken. Whether any fits is for [`Limits::check`] to say.
    ///
    /// # Errors
    /// `layer` and `outside` (404) for what the dataset does not have; `parameter` (400) for the spectrum of a stack
    /// without a pixel; `route` (404) for a route that takes no data.
    pub fn plan(
        id: &str,
        route: &Route,
        opened: &Opened,
        limits: &Limits,
    ) -> Result<Option<Self>, Problem> {
        let Some(errand) = Errand::new(route, opened)? else {
            return Ok(None);
        };
        let (cost, favour) = cost::plan(&errand, opened, limits)?;
        let canonical = canonical(id, route);
        Ok(Some(Self {
            etag: etag(&canonical),
            canonical,
            dataset: id.to_owned(),
            route: route.clone(),
            cost,
            favour,
        }))
    }

    /// Begins the answer in `memory` bytes: the cost's [`peak_bytes`](Cost::peak_bytes) are enough, and fewer may be.
    ///
    /// # Errors
    /// `budget` (413) if it cannot be done in so little memory; as [`Ticket::plan`] if the dataset is another one.
    pub fn start(&self, opened: &Opened, memory: u64) -> Result<Answer, Problem> {
        let errand = Errand::new(&self.route, opened)?;
        let errand = errand.ok_or_else(|| {
            Problem::new(
                "changed",
                "the dataset changed since this was planned; ask again",
            )
        })?;
        Ok(Answer::new(self, errand, opened, memory)?)
    }
}
