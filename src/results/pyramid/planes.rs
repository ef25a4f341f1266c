//! Rows as they are stored to planes of a cube as they are stored.

use crate::budget::Budget;
use crate::error::Result;
use crate::fits::write::{put_f32, put_f64};
use crate::raster::plane::Sample;
use crate::raster::pyramid::Pyramid;
use crate::raster::tiles::{AsValues, Builder, Order};

/// The tiles of one cube.
#[derive(Debug)]
pub(super) enum Planes {
    F32(Stage<f32>),
    F64(Stage<f64>),
    /// Stored as 16-bit integers, kept as f32.
    Counts(Stage<f32>),
    /// Between one cube and the other.
    None,
}

#[derive(Debug)]
pub(super) struct Stage<T: Sample> {
    builder: Builder<T, AsValues>,
    row: Vec<T>,
}

impl<T: Sample> Stage<T> {
    fn new(pyramid: Pyramid, width: u32, budget: &mut Budget) -> Result<Self> {
        Ok(Self {
            builder: Builder::within(pyramid, AsValues, Order::BottomUp, budget)?,
            row: budget.allocate(width as usize, "a row")?,
        })
    }

    fn bytes(pyramid: &Pyramid, width: u32) -> u64 {
        Builder::<T, AsValues>::bytes(pyramid) + u64::from(width) * size_of::<T>() as u64
    }

    /// Takes a row of stored pixels.
    fn push<const N: usize>(&mut self, stored: &[u8], value: impl Fn([u8; N]) -> T) -> Result<()> {
        for (value_of, bytes) in self.row.iter_mut().zip(stored.as_chunks::<N>().0) {
            *value_of = value(*bytes);
        }
        self.builder.push(&self.row)
    }

    /// Appends the next tile, its lowest row first; false if none is finished.
    fn next(&mut self, out: &mut Vec<u8>, put: impl Fn(&[T], &mut Vec<u8>)) -> bool {
        let Some(tile) = self.builder.next_tile() else {
            return false;
        };
        let edge = tile.codes.len().isqrt().max(1);
        for row in tile.codes.chunks(edge).rev() {
            put(row, out);
        }
        true
    }
}

impl Planes {
    /// The cube of medians, nothing come yet.
    pub(super) fn medians(
        wide: bool,
        pyramid: Pyramid,
        width: u32,
        budget: &mut Budget,
    ) -> Result<Self> {
        Ok(if wide {
            Self::F64(Stage::new(pyramid, width, budget)?)
        } else {
            Self::F32(Stage::new(pyramid, width, budget)?)
        })
    }

    /// The cube of counts, nothing come yet.
    pub(super) fn counts(pyramid: Pyramid, width: u32, budget: &mut Budget) -> Result<Self> {
        Ok(Self::Counts(Stage::new(pyramid, width, budget)?))
    }

    /// Bytes that the planes of medians hold; those of counts take no more.
    pub(super) fn bytes(wide: bool, pyramid: &Pyramid, width: u32) -> u64 {
        if wide {
            Stage::<f64>::bytes(pyramid, width)
        } else {
            Stage::<f32>::bytes(pyramid, width)
        }
    }

    /// Takes a row as it is stored in a part.
    pub(super) fn push(&mut self, stored: &[u8]) -> Result<()> {
        match self {
            Self::F32(stage) => stage.push(stored, f32::from_be_bytes),
            Self::F64(stage) => stage.push(stored, f64::from_be_bytes),
            Self::Counts(stage) => stage.push(stored, |bytes| f32::from(u16::from_be_bytes(bytes))),
            Self::None => Ok(()),
        }
    }

    /// Appends the next tile that is finished; false if none is.
    pub(super) fn next(&mut self, out: &mut Vec<u8>) -> bool {
        match self {
            Self::F32(stage) | Self::Counts(stage) => stage.next(out, put_f32),
            Self::F64(stage) => stage.next(out, put_f64),
            Self::None => false,
        }
    }
}
