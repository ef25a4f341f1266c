//! Annotation: lists read, ions counted and scored, results made.

mod ions;
mod job;
mod list;
mod request;
mod table;
