//! Results of a median: the FITS file, and the parts that shards make of it.
//!
//! [`layout`] is where every pixel lies in the file and [`headers`] what stands in front of them, so that each
//! program that writes it writes the same bytes. [`job`] says what a job in shards is, [`part`] what one of them
//! writes, and [`assembly`] how the file is made of the parts: by copying, without a value being looked at.

pub mod assembly;
pub mod headers;
pub mod job;
pub mod layout;
pub mod part;

pub use assembly::{Assembly, Piece};
pub use headers::Made;
pub use job::{Description, Input};
pub use layout::Layout;
