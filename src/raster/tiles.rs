//! All tiles of a plane while it passes by: rows in, finished tiles out.

use std::collections::VecDeque;
use std::fmt::Debug;

use super::halving::Halving;
use super::plane::{Sample, Scale, quantise};
use super::pyramid::Pyramid;
use crate::budget::Budget;
use crate::error::{Error, Result};

/// Which row of a plane comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The highest FITS row, as in a picture.
    TopDown,
    /// FITS row 0, as in a FITS file.
    BottomUp,
}

/// What a tile keeps of each value.
pub trait Keep<T> {
    /// One pixel of a tile.
    type Cell: Copy + Default + Debug + PartialEq;

    /// What stands beyond the plane.
    fn beyond(&self) -> Self::Cell;

    /// Makes a row of cells of as many values.
    fn keep(&self, row: &[T], cells: &mut [Self::Cell]);
}

/// Codes, 0 beyond the plane.
impl<T: Sample> Keep<T> for Scale {
    type Cell = u16;

    fn beyond(&self) -> u16 {
        0
    }

    fn keep(&self, row: &[T], cells: &mut [u16]) {
        quantise(row, self, cells);
    }
}

/// Values as they are, NaN beyond the plane.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AsValues;

impl<T: Sample> Keep<T> for AsValues {
    type Cell = T;

    fn beyond(&self) -> T {
        T::narrow(f64::NAN)
    }

    fn keep(&self, row: &[T], cells: &mut [T]) {
        cells.copy_from_slice(row);
    }
}

/// A finished tile, lent until the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tile<'a, C = u16> {
    /// Level, 0 the coarsest.
    pub z: u32,
    /// Column of tiles, from the left.
    pub x: u32,
    /// Row of tiles, from the top.
    pub y: u32,
    /// What is kept of each pixel, codes unless [`AsValues`] was asked for; top row first: the edge of a tile
    /// squared, 0 or NaN beyond the plane.
    pub codes: &'a [C],
}

/// Makes the tiles of all levels out of rows that arrive in order.
///
/// Holds one row of tiles a level, [`bytes`](Self::bytes) in all: O(width · tile), whatever the
/// height. Both orders give the same tiles, bit for bit.
#[derive(Debug, Clone)]
pub struct Builder<T, K: Keep<T> = Scale> {
    pyramid: Pyramid,
    keep: K,
    order: Order,
    /// The finest first.
    levels: Vec<Level<T, K::Cell>>,
    /// Rows of tiles that are full and not handed out: place of the level, and y.
    due: VecDeque<(usize, u32)>,
    /// The next column of the first of them.
    column: u32,
    /// One tile, to be lent.
    tile: Vec<K::Cell>,
}

#[derive(Debug, Clone)]
struct Level<T, C> {
    z: u32,
    width: usize,
    height: u32,
    /// Rows that have come.
    come: u32,
    /// What is kept of the row of tiles that is being filled.
    band: Vec<C>,
    halving: Halving<T>,
}

impl<T: Sample> Builder<T> {
    /// Nothing come yet.
    #[must_use]
    pub fn new(pyramid: Pyramid, scale: Scale, order: Order) -> Self {
        let edge = pyramid.tile() as usize;
        let band = |width: usize| vec![0; width * edge];
        let levels = levels(
            &pyramid,
            |width| Ok(band(width)),
            |len| Ok(Vec::with_capacity(len)),
        );
        Self {
            pyramid,
            keep: scale,
            order,
            // Nothing in it fails: the allocator aborts instead.
            levels: levels.unwrap_or_default(),
            due: VecDeque::new(),
            column: 0,
            tile: vec![0; edge * edge],
        }
    }
}

impl<T: Sample, K: Keep<T>> Builder<T, K> {
    /// Nothing come yet; all that it will ever hold, [`bytes`](Self::bytes), is taken out of the budget.
    ///
    /// # Errors
    /// [`Error::Budget`] if the budget or the allocator has not enough.
    pub fn within(pyramid: Pyramid, keep: K, order: Order, budget: &mut Budget) -> Result<Self> {
        let edge = pyramid.tile() as usize;
        let tile = budget.allocate(edge * edge, "a tile")?;
        let mut bands = Vec::new();
        for z in (0..pyramid.levels()).rev() {
            let width = pyramid.size(z).map_or(0, |(width, _)| width as usize);
            bands.push(budget.allocate(width.saturating_mul(edge), "a row of tiles")?);
        }
        let mut bands = bands.into_iter();
        let levels = levels(
            &pyramid,
            |_| Ok(bands.next().unwrap_or_default()),
            |len| {
                let mut row = budget.allocate(len, "a row of a level")?;
                row.clear();
                Ok(row)
            },
        )?;
        Ok(Self {
            pyramid,
            keep,
            order,
            levels,
            due: VecDeque::new(),
            column: 0,
            tile,
        })
    }

    /// Bytes that a builder for this pyramid holds.
    #[must_use]
    pub fn bytes(pyramid: &Pyramid) -> u64 {
        let edge = u64::from(pyramid.tile());
        let cell = size_of::<K::Cell>() as u64;
        let level = |z: u32| {
            let width = pyramid.size(z).map_or(0, |(width, _)| u64::from(width));
            let rows = if z > 0 { width + width.div_ceil(2) } else { 0 };
            width * edge * cell + rows * size_of::<T>() as u64
        };
        edge * edge * cell + (0..pyramid.levels()).map(level).sum::<u64>()
    }

    /// Takes the next rows, any number of whole ones, and hands out the tiles they finish.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a part of a row or for more rows than the plane has, before any of
    /// them is taken; and whatever `emit` gives, at which the builder is of no further use.
    pub fn rows<E: From<Error>>(
        &mut self,
        values: &[T],
        emit: &mut impl FnMut(Tile<'_, K::Cell>) -> Result<(), E>,
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
            self.push(row)?;
            while let Some(tile) = self.next_tile() {
                emit(tile)?;
            }
        }
        Ok(())
    }

    /// Takes one row, after which [`next_tile`](Self::next_tile) hands out what it finished.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a row of another width, for more rows than the plane has, and while tiles of the
    /// row before are still to be handed out.
    pub fn push(&mut self, row: &[T]) -> Result<()> {
        let finest = &self.levels[0];
        let what = if row.len() != finest.width {
            format!("{} values in a row of {}", row.len(), finest.width)
        } else if finest.come == finest.height {
            format!("all {} have come", finest.height)
        } else if !self.due.is_empty() {
            "tiles of the one before are still to be handed out".to_owned()
        } else {
            self.take(row);
            return Ok(());
        };
        Err(Error::Parameter { name: "rows", what })
    }

    /// The next tile that is finished; those of finer levels first, of a level from the left.
    pub fn next_tile(&mut self) -> Option<Tile<'_, K::Cell>> {
        let (place, y) = *self.due.front()?;
        let level = &self.levels[place];
        let (x, edge) = (self.column, self.pyramid.tile() as usize);
        let left = x as usize * edge;
        level.cut(y, left, self.keep.beyond(), edge, &mut self.tile);
        self.column += 1;
        if left + edge >= level.width {
            self.column = 0;
            self.due.pop_front();
        }
        Some(Tile {
            z: level.z,
            x,
            y,
            codes: &self.tile,
        })
    }

    /// Checks that every row has come, and with them every tile has gone.
    ///
    /// # Errors
    /// [`Error::Parameter`] with the number of rows that are missing.
    pub fn finish(self) -> Result<()> {
        let left = self.levels[0].height - self.levels[0].come;
        if left == 0 && self.due.is_empty() {
            return Ok(());
        }
        Err(Error::Parameter {
            name: "rows",
            what: format!("{left} rows are missing"),
        })
    }

    /// Takes a row of the finest level and whatever follows from it on the coarser ones.
    fn take(&mut self, row: &[T]) {
        let edge = self.pyramid.tile();
        let mut finer: Option<&mut Level<T, K::Cell>> = None;
        for (place, level) in self.levels.iter_mut().enumerate() {
            let row = finer.as_ref().map_or(row, |finer| finer.halving.halved());
            let at = match self.order {
                Order::TopDown => level.come,
                Order::BottomUp => level.height - 1 - level.come,
            };
            level.come += 1;
            let from = (at % edge) as usize * level.width;
            self.keep
                .keep(row, &mut level.band[from..from + level.width]);
            if level.fills(at, self.order, edge) {
                self.due.push_back((place, at / edge));
            }
            if level.z == 0 || !level.halving.pair((at, level.height), row) {
                break;
            }
            finer = Some(level);
        }
    }
}

/// The levels, the finest first, out of what makes a band for a width and a row of a length.
fn levels<T, C>(
    pyramid: &Pyramid,
    mut band: impl FnMut(usize) -> Result<Vec<C>>,
    mut row: impl FnMut(usize) -> Result<Vec<T>>,
) -> Result<Vec<Level<T, C>>> {
    let mut levels = Vec::new();
    for z in (0..pyramid.levels()).rev() {
        let Some((width, height)) = pyramid.size(z) else {
            continue;
        };
        let width = width as usize;
        levels.push(Level {
            z,
            width,
            height,
            come: 0,
            band: band(width)?,
            halving: Halving::new(
                row(if z > 0 { width } else { 0 })?,
                row(if z > 0 { width.div_ceil(2) } else { 0 })?,
            ),
        });
    }
    Ok(levels)
}

impl<T: Sample, C: Copy> Level<T, C> {
    /// Whether this row was the last one that its row of tiles waited for.
    fn fills(&self, at: u32, order: Order, tile: u32) -> bool {
        match order {
            Order::TopDown => at % tile == tile - 1 || at == self.height - 1,
            Order::BottomUp => at.is_multiple_of(tile),
        }
    }

    /// Copies the tile of the row `y` of tiles that begins in column `left`.
    fn cut(&self, y: u32, left: usize, beyond: C, edge: usize, tile: &mut [C]) {
        let rows = (self.height as usize - y as usize * edge).min(edge);
        let columns = (self.width - left).min(edge);
        for (i, line) in tile.chunks_exact_mut(edge).enumerate() {
            let filled = if i < rows { columns } else { 0 };
            let from = i * self.width + left;
            line[..filled].copy_from_slice(&self.band[from..from + filled]);
            line[filled..].fill(beyond);
        }
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
            let held =
                |level: &Level<f32, u16>| level.band.capacity() * 2 + level.halving.capacity() * 4;
            let held: usize = builder.levels.iter().map(held).sum();
            let held = held + builder.tile.capacity() * 2;
            assert_eq!(held as u64, Builder::<f32>::bytes(&pyramid));
            let mut budget = Budget::new(u64::MAX);
            Builder::<f32, AsValues>::within(pyramid, AsValues, order, &mut budget)?;
            assert_eq!(budget.held(), Builder::<f32, AsValues>::bytes(&pyramid));
        }
        Ok(())
    }
}
