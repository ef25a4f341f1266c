//! From the parts of all shards to the results.
//!
//! [`Assembly`] says which bytes of which part it needs and hands out the bytes of the results in their order, so that
//! whoever drives it needs to know neither: a program reads files and writes files, a Worker reads objects and streams
//! into others. The results are those of one process, byte for byte.

mod heads;
mod job;
mod pour;
mod windows;

pub use job::{Assembly, File, Names, Turn};
