//! The HTTP API.

pub mod jobs;
