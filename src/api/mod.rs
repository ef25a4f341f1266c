//! The interface over HTTP: what is asked, what may be answered, and what it costs, decided without any I/O.
//!
//! Two hosts share it: the worker at the edge, and `sectile serve`. A host hands a [`Request`] to [`Service::ask`] and is
//! told to send a [`Reply`], to open a dataset and ask again, to work on a ticket, or to look after a job. It reads
//! files, keeps the cache, sends and waits; nothing else.
//!
//! ```text
//!  target ──► path, query ──► route ──► dataset, token, version ──► layer, rectangle ──► canonical ──► 304, ticket, 413
//!             tricks: 400     404, 405  404, 401, 404               404, 204             ETag, cache key
//! ```
//!
//! What one request means is written in one canonical form, whatever its spelling; it is the key of the cache and, with
//! the version of the program, the entity tag.

pub mod answer;
pub mod canonical;
pub mod catalog;
pub mod conditions;
pub mod cors;
pub mod file;
pub mod job;
pub mod jobs;
pub mod layer;
pub mod limits;
pub mod openapi;
pub mod opened;
pub mod path;
pub mod problem;
pub mod query;
pub mod reply;
pub mod request;
pub mod route;
pub mod service;
pub mod version;

pub use layer::Layer;
pub use limits::{Cost, Limits};
pub use problem::Problem;
pub use reply::Reply;
pub use request::Request;
pub use route::Route;
pub use service::{Ask, ServerFacts, Service};

/// Name and version of the program, a part of every entity tag and of every job's name.
pub const PROGRAM: &str = concat!("sectile ", env!("CARGO_PKG_VERSION"));
