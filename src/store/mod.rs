//! The segment store: the peaks of an imaging dataset in one file, sorted by m/z and read by ranges.
//!
//! [`mod@format`] specifies the file. [`head`] is what its first bytes say, [`read`] fetches them,
//! [`block`] decodes a window of m/z, [`cache`] keeps blocks. [`layout`] computes every offset of a
//! file that is to be written, [`write`](mod@write) makes its bytes of sorted peaks.

mod bits;
pub mod block;
pub mod cache;
mod encode;
mod foreign;
pub mod format;
mod group;
pub mod head;
pub mod layout;
mod mask;
mod meta;
mod pixels;
pub mod read;
mod real;
mod saved;
mod spectrum;
pub mod write;

pub use pixels::PixelTable;
pub(crate) use pixels::rounded;
pub use spectrum::BinTable;
