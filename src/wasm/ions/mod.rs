//! Ion images: stores and pairs opened, packed, drawn.

mod images;
mod lent;
mod pack;
mod pair;
mod spectrum;
mod store;

use super::{Thrown, feed, flat, need, number, offset, record, thrown};
