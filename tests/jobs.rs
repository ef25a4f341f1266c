//! Jobs of the queue: whatever happens between bucket, queue and hosts, the same keys are there in the end.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test says what failed by failing"
)]

#[path = "jobs_cases/mod.rs"]
mod jobs_cases;
