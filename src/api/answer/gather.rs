//! Values of a picture, collected while they are computed: whole, or shrunk to a tile.

use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::raster::plane::Sample;
use crate::raster::shrink::Shrink;
use crate::raster::tiles::Order;
use crate::stack::plan::Rect;

/// Which values are collected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Frame {
    /// The part of the source, in its own rows.
    pub(super) rect: Rect,
    /// For a tile, how often it is halved; its rows leave from the top. Otherwise they keep their order.
    pub(super) halvings: Option<u32>,
    /// Which row of the source is the first.
    pub(super) order: Order,
}

impl Frame {
    /// Columns and rows of what is collected.
    pub(super) fn size(&self) -> (u32, u32) {
        let mut size = (self.width(), self.rect.y1 - self.rect.y0);
        for _ in 0..self.halvings.unwrap_or(0) {
            size = (size.0.div_ceil(2), size.1.div_ceil(2));
        }
        size
    }

    /// Number of values that are collected.
    pub(super) fn len(&self) -> u64 {
        let (width, height) = self.size();
        u64::from(width) * u64::from(height)
    }

    /// Number of values of the source that are looked at.
    pub(super) fn source_len(&self) -> u64 {
        u64::from(self.width()) * u64::from(self.rect.y1 - self.rect.y0)
    }

    fn width(&self) -> u32 {
        self.rect.x1 - self.rect.x0
    }
}

/// Collects values of one frame.
#[derive(Debug)]
pub(super) struct Gather<T> {
    frame: Frame,
    shrink: Option<Shrink<T>>,
    /// A row that comes in parts, and how much of it has come.
    line: Vec<T>,
    come: usize,
    values: Vec<T>,
}

impl<T: Sample> Gather<T> {
    /// Nothing come yet.
    pub(super) fn new(frame: Frame, budget: &mut Budget) -> Result<Self> {
        let len = usize::try_from(frame.len()).map_err(|_| Error::Budget {
            need: frame.len().saturating_mul(size_of::<T>() as u64),
            have: budget.limit(),
            what: "the values of the answer".to_owned(),
        })?;
        let size = (frame.width(), frame.rect.y1 - frame.rect.y0);
        let shrink = frame
            .halvings
            .map(|halvings| Shrink::new(size, halvings, frame.order, budget));
        let line = if shrink.is_some() { size.0 as usize } else { 0 };
        Ok(Self {
            frame,
            shrink: shrink.transpose()?,
            line: budget.allocate(line, "a row of the answer")?,
            come: 0,
            values: budget.allocate(len, "the values of the answer")?,
        })
    }

    /// Bytes that it takes out of a budget.
    pub(super) fn bytes(frame: &Frame) -> u64 {
        let size = size_of::<T>() as u64;
        let beside = frame.halvings.map_or(0, |halvings| {
            Shrink::<T>::bytes(frame.width(), halvings) + u64::from(frame.width()) * size
        });
        frame.len().saturating_mul(size).saturating_add(beside)
    }

    /// Takes values of one row: column and row of the first of them in the source. Whole rows, or parts of one row
    /// after the other, come in order.
    pub(super) fn put(&mut self, (x, y): (u32, u32), row: &[T]) -> Result<()> {
        let rect = self.frame.rect;
        let inside = x >= rect.x0 && (rect.y0..rect.y1).contains(&y);
        let left = x.wrapping_sub(rect.x0) as usize;
        let width = self.frame.width() as usize;
        if !inside || left + row.len() > width {
            return Err(Error::Parameter {
                name: "rows",
                what: format!("{} values at {x}, {y} are beside the answer", row.len()),
            });
        }
        let Some(shrink) = &mut self.shrink else {
            let start = (y - rect.y0) as usize * width + left;
            self.values[start..start + row.len()].copy_from_slice(row);
            return Ok(());
        };
        let values = &mut self.values;
        let mut emit = |at: u32, row: &[T]| {
            values[at as usize * row.len()..][..row.len()].copy_from_slice(row);
        };
        if row.len() == width {
            return shrink.row(row, &mut emit);
        }
        self.line[left..left + row.len()].copy_from_slice(row);
        self.come += row.len();
        if self.come == width {
            self.come = 0;
            return shrink.row(&self.line, &mut emit);
        }
        Ok(())
    }

    /// What was collected, row by row, and the bytes of it that stay in the budget.
    pub(super) fn into_values(self, budget: &mut Budget) -> Vec<T> {
        let kept = self.frame.len() * size_of::<T>() as u64;
        budget.release(Self::bytes(&self.frame) - kept);
        self.values
    }
}
