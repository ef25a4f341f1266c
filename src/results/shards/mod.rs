//! An annotation in shards: what the job is, how it is divided, and one shard's way to its part.
//!
//! [`Description`] is all that a job depends on, as JSON, without paths and without a clock: whoever has it, the store
//! and the list can compute any shard, and whoever has it, the list and all parts can assemble the results.
//! [`divide`] says into how many shards a job must be cut for invocations that have limits. [`ShardJob`] computes
//! one in memory; programs that have a disk write [what is saved](super::part) there and [seal](super::part::seal)
//! it at the end, to the same bytes.

mod description;
mod division;
mod pictures;
mod work;

pub use description::Description;
pub use division::{Division, Invocation, MOST, divide};
pub use work::{Part, ShardJob};
