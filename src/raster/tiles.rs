//! All tiles of a plane while it passes by: rows in, finished tiles out.

use super::plane::{Sample, Scale, quantise};
use super::pyramid::{Pyramid, halve};
use crate::error::{Error, Result};

/// Which row of a plane comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The highest FITS row, as in a picture.
    TopDown,
    /// FITS row 0, as in a FITS file.
    BottomUp,
}

/// A finished tile, lent until the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tile<'a> {
    /// Level, 0 the coarsest.
    pub z: u32,
    /// Column of tiles, from the left.
    pub x: u32,
    /// Row of tiles, from the top.
    pub y: u32,
    /// Codes, top row first: the edge of a tile squared, 0 beyond the plane.
    pub codes: &'a [u16],
}

/// Makes the tiles of all levels out of rows that arrive in order.
///
/// Holds one row of tiles a level, [`bytes`](Self::bytes) in all: O(width · tile), whatever the
/// height. Both orders give the same tiles, bit for bit.
#[derive(Debug, Clone)]
pub struct Builder<T> {
    pyramid: Pyramid,
    scale: Scale,
    order: Order,
    /// The finest first.
    levels: Vec<Level<T>>,
    /// One tile, to be lent.
    tile: Vec<u16>,
}

#[derive(Debug, Clone)]
struct Level<T> {
    z: u32,
    width: usize,
    height: u32,
    /// Rows that have come.
    come: u32,
    /// The codes of the row of tiles that is being filled.
    band: Vec<u16>,
    /// A row that waits for the other one of its square.
    waiting: Vec<T>,
    /// The row that two of them shrink to.
    halved: Vec<T>,
}

impl<T: Sample> Builder<T> {
    /// Nothing come yet.
    #[must_use]
    pub fn new(pyramid: Pyramid, scale: Scale, order: Order) -> Self {
        let edge = pyramid.tile() as usize;
        let level = |z: u32| {
            let (width, height) = pyramid.size(z)?;
            let width = width as usize;
            Some(Level {
                z,
                width,
                height,
                come: 0,
                band: vec![0; width * edge],
                waiting: Vec::with_capacity(if z > 0 { width } else { 0 }),
                halved: Vec::with_capacity(if z > 0 { width.div_ceil(2) } else { 0 }),
            })
        };
        Self {
            pyramid,
            scale,
            order,
            levels: (0..pyramid.levels()).rev().filter_map(level).collect(),
            tile: vec![0; edge * edge],
        }
    }

    /// Bytes that a builder for this pyramid holds.
    #[must_use]
    pub fn bytes(pyramid: &Pyramid) -> u64 {
        let edge = u64::from(pyramid.tile());
        let level = |z: u32| {
            let width = pyramid.size(z).map_or(0, |(width, _)| u64::from(width));
            let rows = if z > 0 { width + width.div_ceil(2) } else { 0 };
            width * edge * 2 + rows * size_of::<T>() as u64
        };
        edge * edge * 2 + (0..pyramid.levels()).map(level).sum::<u64>()
    }

    /// Takes the next rows, any number of whole ones, and hands out the tiles they finish.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a part of a row or for more rows than the plane has, before any of
    /// them is taken; and whatever `emit` gives, at which the builder is of no further use.
    pub fn rows<E: From<Error>>(
        &mut self,
        values: &[T],
        emit: &mut impl FnMut(Tile<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let finest = &self.levels[0];
        let (width, left) = (finest.width, finest.height - finest.come);
        if !values.len().is_multiple_of(width) || values.len() / width > left as usize {
            return Err(E::from(Error::Parameter {
                name: "rows",
                what: format!(
                    "{} values in rows of {width}, where {left} rows are to come",
                    values.len()
                ),
            }));
        }
        for row in values.chunks_exact(width) {
            self.row(row, emit)?;
        }
        Ok(())
    }

    /// Checks that every row has come, and with them every tile has gone.
    ///
    /// # Errors
    /// [`Error::Parameter`] with the number of rows that are missing.
    pub fn finish(self) -> Result<()> {
        let left = self.levels[0].height - self.levels[0].come;
        if left == 0 {
            return Ok(());
        }
        Err(Error::Parameter {
            name: "rows",
            what: format!("{left} rows are missing"),
        })
    }

    /// Takes a row of the finest level and whatever follows from it on the coarser ones.
    fn row<E>(
        &mut self,
        row: &[T],
        emit: &mut impl FnMut(Tile<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut finer: Option<&mut Level<T>> = None;
        for level in &mut self.levels {
            let row = finer.as_ref().map_or(row, |finer| finer.halved.as_slice());
            let at = match self.order {
                Order::TopDown => level.come,
                Order::BottomUp => level.height - 1 - level.come,
            };
            level.come += 1;
            level.keep(at, row, &self.scale, self.pyramid.tile());
            if level.fills(at, self.order, self.pyramid.tile()) {
                level.hand_out(at / self.pyramid.tile(), &mut self.tile, emit)?;
            }
            if level.z == 0 || !level.pair(at, row) {
                break;
            }
            finer = Some(level);
        }
        Ok(())
    }
}

impl<T: Sample> Level<T> {
    fn keep(&mut self, at: u32, row: &[T], scale: &Scale, tile: u32) {
        let at = (at % tile) as usize * self.width;
        quantise(row, scale, &mut self.band[at..at + self.width]);
    }

    /// Whether this row was the last one that its row of tiles waited for.
    fn fills(&self, at: u32, order: Order, tile: u32) -> bool {
        match order {
            Order::TopDown => at % tile == tile - 1 || at == self.height - 1,
            Order::BottomUp => at.is_multiple_of(tile),
        }
    }

    fn hand_out<E>(
        &self,
        y: u32,
        tile: &mut [u16],
        emit: &mut impl FnMut(Tile<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let edge = tile.len().isqrt();
        let rows = (self.height as usize - y as usize * edge).min(edge);
        for (x, left) in (0..).zip((0..self.width).step_by(edge)) {
            let columns = (self.width - left).min(edge);
            for (i, line) in tile.chunks_exact_mut(edge).enumerate() {
                let filled = if i < rows { columns } else { 0 };
                let from = i * self.width + left;
                line[..filled].copy_from_slice(&self.band[from..from + filled]);
                line[filled..].fill(0);
            }
            let z = self.z;
            emit(Tile {
                z,
                x,
                y,
                codes: tile,
            })?;
        }
        Ok(())
    }

    /// Halves the row with the other one of its square, if it has come, and says so.
    fn pair(&mut self, at: u32, row: &[T]) -> bool {
        self.halved.clear();
        if at ^ 1 >= self.height {
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_that_are_named_are_the_bytes_that_are_held() -> Result<()> {
        for (width, height, tile) in [(1000, 700, 64), (1, 1, 2), (3, 900, 16)] {
            let pyramid = Pyramid::new(width, height, tile)?;
            let order = Order::BottomUp;
            let mut builder = Builder::<f32>::new(pyramid, Scale::fit(0.0, 1.0), order);
            let row = vec![0.5; width as usize];
            for _ in 0..height {
                builder.rows(&row, &mut |_| Ok::<(), Error>(()))?;
            }
            let held = |level: &Level<f32>| {
                level.band.capacity() * 2 + (level.waiting.capacity() + level.halved.capacity()) * 4
            };
            let held: usize = builder.levels.iter().map(held).sum();
            let held = held + builder.tile.capacity() * 2;
            assert_eq!(held as u64, Builder::<f32>::bytes(&pyramid));
        }
        Ok(())
    }
}
