//! The images file: specification, reading by ranges, and putting it together.
//!
//! [`mod@format`] is the specification. To read, [`Open`] asks for the head and gives the [`Index`], in which an image's
//! range stands; [`Index::check`] compares what came. To write, [`Easel`] draws what a job keeps, a shard appends it
//! to its [part](super::part::images), and [`Merge`] plans the file from all parts.

pub mod format;
mod header;
mod index;
mod merge;
mod open;
pub mod picture;

pub use format::SUFFIX;
pub use index::{Entry, Index, Peak};
pub use merge::{Copy, Frame, Merge, Subject};
pub use open::{HEAD_READ, Open};
pub use picture::{Easel, Picture};
