//! One coarse tile out of rows that pass by: 2×2 means, k times over.

use super::halving::Halving;
use super::plane::Sample;
use super::tiles::Order;
use crate::budget::Budget;
use crate::error::{Error, Result};

/// Halves a plane `halvings` times while its rows arrive.
///
/// The same numbers, bit for bit, as [`Pyramid::render`](super::pyramid::Pyramid::render) quantises and as the
/// [`Builder`](super::tiles::Builder) makes: squares are counted from the top left corner, an odd last column
/// or row stands for itself, means are taken in f64 of the values that are not NaN and rounded at each halving.
/// Rows may come in either order.
///
/// # Cost
/// O(values); holds two rows a halving, [`bytes`](Self::bytes) in all: O(width), whatever the height.
#[derive(Debug, Clone)]
pub struct Shrink<T> {
    order: Order,
    /// The given plane first, then each halving's.
    levels: Vec<Level<T>>,
}

#[derive(Debug, Clone)]
struct Level<T> {
    width: usize,
    height: u32,
    /// Rows that have come.
    come: u32,
    /// No room on the last level.
    halving: Halving<T>,
}

impl<T: Sample> Shrink<T> {
    /// For a plane of `width` × `height` values.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a side of 0; [`Error::Budget`] if its [`bytes`](Self::bytes) are not to be had.
    pub fn new(
        (width, height): (u32, u32),
        halvings: u32,
        order: Order,
        budget: &mut Budget,
    ) -> Result<Self> {
        if width == 0 || height == 0 {
            return Err(Error::Parameter {
                name: "shape",
                what: format!("{width} x {height} pixels make no picture"),
            });
        }
        let mut levels = Vec::new();
        let (mut columns, mut rows) = (width, height);
        for halving in 0..=halvings {
            let last = halving == halvings;
            let half = columns.div_ceil(2);
            let mut row = |len: u32| {
                let len = if last { 0 } else { len as usize };
                let mut row = budget.allocate::<T>(len, "rows that wait to be halved")?;
                row.clear();
                Ok(row)
            };
            levels.push(Level {
                width: columns as usize,
                height: rows,
                come: 0,
                halving: Halving::new(row(columns)?, row(half)?),
            });
            (columns, rows) = (half, rows.div_ceil(2));
        }
        Ok(Self { order, levels })
    }

    /// Bytes that it holds for planes of this width.
    #[must_use]
    pub fn bytes(width: u32, halvings: u32) -> u64 {
        let (mut columns, mut values) = (u64::from(width), 0);
        for _ in 0..halvings.min(u64::BITS) {
            values += columns + columns.div_ceil(2);
            columns = columns.div_ceil(2);
        }
        values * size_of::<T>() as u64
    }

    /// Width and height of what comes out.
    #[must_use]
    pub fn size(&self) -> (u32, u32) {
        let last = self.levels.last();
        last.map_or((0, 0), |level| {
            (u32::try_from(level.width).unwrap_or(u32::MAX), level.height)
        })
    }

    /// Whether every row has come, and with them every row has gone.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.levels
            .first()
            .is_some_and(|level| level.come == level.height)
    }

    /// Takes the next row; `emit` gets the row that it finishes, if any, and its place from the top.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a row of another width, or one more than the plane has.
    pub fn row(&mut self, row: &[T], emit: impl FnOnce(u32, &[T])) -> Result<()> {
        let finest = &self.levels[0];
        if row.len() != finest.width || finest.come == finest.height {
            return Err(Error::Parameter {
                name: "rows",
                what: format!(
                    "{} values in a row of {}, where {} rows are to come",
                    row.len(),
                    finest.width,
                    finest.height - finest.come
                ),
            });
        }
        let mut emit = Some(emit);
        let last = self.levels.len() - 1;
        let mut finer: Option<&Level<T>> = None;
        for (halving, level) in self.levels.iter_mut().enumerate() {
            let row = finer.map_or(row, |finer| finer.halving.halved());
            let at = match self.order {
                Order::TopDown => level.come,
                Order::BottomUp => level.height - 1 - level.come,
            };
            level.come += 1;
            if halving == last {
                if let Some(emit) = emit.take() {
                    emit(at, row);
                }
                break;
            }
            if !level.halving.pair((at, level.height), row) {
                break;
            }
            finer = Some(level);
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_that_are_named_are_the_bytes_that_are_reserved() {
        for (width, height, halvings) in [(1000, 700, 3), (1, 1, 5), (3, 900, 0), (257, 2, 9)] {
            let mut budget = Budget::new(u64::MAX);
            let shape = (width, height);
            let shrink = Shrink::<f64>::new(shape, halvings, Order::TopDown, &mut budget).unwrap();
            assert_eq!(budget.held(), Shrink::<f64>::bytes(width, halvings));
            let held = |level: &Level<f64>| level.halving.capacity();
            let held: usize = shrink.levels.iter().map(held).sum();
            assert_eq!(held as u64 * 8, budget.held());
        }
    }
}
