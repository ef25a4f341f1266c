//! Jobs that do not fit one answer: cut into shards, spread over a queue, put together when the last one is finished.
//!
//! ```text
//!  POST ──► plan ──► job.json ──► a message for each shard ──► part in the bucket ──► the last one ──► results, done.json
//! ```
//!
//! Nothing here does any of it. A host lists what the bucket holds of a job ([`Held`](held::Held)), and is told what to do
//! ([`Effect`](effect::Effect)): when a job is asked for ([`begin`](begin::begin)), when a message comes
//! ([`decide`](step::decide)), when work fails ([`after`](step::after)), and when it has failed too often
//! ([`give_up`](step::give_up)). There is no scheduler and no state but the bucket's, so that a message may come twice, out
//! of order, or to a host that has just been started, and the same keys with the same bytes are there in the end.
//!
//! A job's [id](id::Id) is a digest of dataset, request and program version; a part, and every result, are functions of these.
//! Results are the bytes that the command line writes for the same sources: `sectile median` names its exposures in
//! `HISTORY` as they were given, without a query; a host names a source by its `url` in the catalog. So the command, run in
//! the folder that the bucket is a copy of, with the urls as arguments, writes the same file.

pub mod ask;
pub mod begin;
pub mod document;
pub mod effect;
pub mod held;
pub mod id;
pub mod keys;
pub mod message;
pub mod progress;
pub mod step;

/// Most shards of a job: the listing of one has to be looked at after each.
pub const MOST_SHARDS: u32 = 10_000;
