//! Ion images: stores and pairs opened, packed, drawn.

mod drawing;
mod images;
mod lent;
mod pack;
mod pair;
mod spectrum;

pub(super) use self::drawing::Drawing;
use super::store::Store;
use super::{Thrown, flat, number, offset, record, thrown};
