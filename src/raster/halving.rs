//! Rows that come one after another, halved in squares of four.

use super::plane::Sample;
use super::pyramid::halve;

/// A row that waits for the other one of its square, and what the two of them shrink to.
///
/// Holds no more than it was made with: a row of the level, and one of half of its width.
#[derive(Debug, Clone)]
pub(super) struct Halving<T> {
    waiting: Vec<T>,
    halved: Vec<T>,
}

impl<T> Halving<T> {
    /// With room for a row of the level and for one that two of them shrink to.
    pub(super) fn new(waiting: Vec<T>, halved: Vec<T>) -> Self {
        Self { waiting, halved }
    }
}

impl<T: Sample> Halving<T> {
    /// Halves row `at` of `height` with the other one of its square, if it has come, and says so.
    pub(super) fn pair(&mut self, (at, height): (u32, u32), row: &[T]) -> bool {
        self.halved.clear();
        if at ^ 1 >= height {
            halve(row, None, &mut self.halved);
        } else if self.waiting.is_empty() {
            self.waiting.extend_from_slice(row);
            return false;
        } else {
            // Upper row first in either order: f64 sums round alike only in the same order.
            let (top, bottom) = if at.is_multiple_of(2) {
                (row, self.waiting.as_slice())
            } else {
                (self.waiting.as_slice(), row)
            };
            halve(top, Some(bottom), &mut self.halved);
            self.waiting.clear();
        }
        true
    }

    /// The row that was halved last.
    pub(super) fn halved(&self) -> &[T] {
        &self.halved
    }

    /// Values that there is room for.
    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.waiting.capacity() + self.halved.capacity()
    }
}
