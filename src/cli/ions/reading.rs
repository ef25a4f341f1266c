//! What the options on reading come to.

use std::sync::atomic::AtomicBool;

use sectile::budget;
use sectile::drive::native::{Options, Run};
use sectile::error::Error;

use crate::cli::arguments::Reading;
use crate::cli::failure::Result;
use crate::cli::stack;

impl Reading {
    /// The budget in bytes.
    pub fn memory(&self) -> Result<u64> {
        Ok(budget::parse_size(&self.memory)?)
    }

    /// How servers are asked.
    pub fn options(&self) -> Result<Options> {
        stack::options(&self.headers)
    }

    /// How jobs are run.
    pub fn run<'c>(&self, cancel: &'c AtomicBool) -> Run<'c> {
        Run {
            in_flight: usize::from(self.in_flight),
            cancel,
        }
    }
}

/// A refusal by a plan that was given what is left of `memory` after `taken`, in terms of the whole.
pub fn with_taken(error: Error, taken: u64, memory: u64) -> Error {
    match error {
        Error::Budget { need, what, .. } => Error::Budget {
            need: need.saturating_add(taken),
            have: memory,
            what,
        },
        other => other,
    }
}
