//! How much memory a way of cutting the work takes, and which cut fits a budget.

use super::plan::Layout;
use crate::error::{Error, Result};

/// Pixels of the narrowest section.
const NARROWEST: u64 = 256;

/// Bytes of the largest slot: lengths in memory stay far from 32-bit limits.
const LARGEST_SLOT: u64 = 1 << 30;

/// How the work is cut.
pub(super) struct Cut {
    pub(super) slots: u64,
    pub(super) rows: u64,
    pub(super) columns: u64,
}

/// The figures that do not depend on how the work is cut.
pub(super) struct Measure {
    pub(super) exposures: u64,
    pub(super) slots: u64,
    pub(super) row_bytes: u64,
    pub(super) pixel_bytes: u64,
    pub(super) out_bytes: u64,
    pub(super) fixed: u64,
    pub(super) step: u64,
    pub(super) layout: Layout,
    /// Bytes that the slot of more than one row need not exceed.
    pub(super) enough: u64,
}

impl Measure {
    pub(super) fn slot(&self, rows: u64, columns: u64) -> u64 {
        let part = columns * self.pixel_bytes;
        match self.layout {
            Layout::Span => ((rows - 1) * self.step)
                .saturating_mul(self.row_bytes)
                .saturating_add(part),
            Layout::Rows => rows.saturating_mul(part),
        }
    }

    /// Bytes of values and counts of one section; a preview holds one full row more.
    fn out(&self, rows: u64, columns: u64) -> u64 {
        let kept = rows.saturating_mul(columns.div_ceil(self.step));
        let row = if self.step > 1 { columns } else { 0 };
        kept.saturating_add(row).saturating_mul(self.out_bytes)
    }

    pub(super) fn total(&self, slots: u64, rows: u64, columns: u64) -> u64 {
        self.fixed
            .saturating_add(slots.saturating_mul(self.slot(rows, columns)))
            .saturating_add(self.out(rows, columns))
    }

    fn fits(&self, memory: u64, slots: u64, rows: u64, columns: u64) -> bool {
        self.slot(rows, columns) <= LARGEST_SLOT && self.total(slots, rows, columns) <= memory
    }

    pub(super) fn minimum(&self, columns: u64, rows: u64) -> u64 {
        let narrowest = self.total(self.slots, 1, columns.min(NARROWEST.max(self.step)));
        narrowest.min(self.total(self.exposures, rows, columns))
    }

    pub(super) fn cut(&self, memory: u64, rows: u64, columns: u64) -> Result<Cut> {
        let whole = Cut {
            slots: self.exposures,
            rows,
            columns,
        };
        let is_enough = |rows| rows == 1 || self.slot(rows, columns) <= self.enough;
        let fits = self.fits(memory, self.exposures, rows, columns);
        if fits && is_enough(rows) {
            return Ok(whole);
        }
        let tallest = most(rows, |tried| {
            is_enough(tried) && self.fits(memory, self.slots, tried, columns)
        });
        if tallest > 0 {
            // Sections of equal height: the last one keeps as many requests busy as the others.
            let bands = rows.div_ceil(tallest);
            return Ok(Cut {
                slots: self.slots,
                rows: rows.div_ceil(bands),
                columns,
            });
        }
        if fits {
            return Ok(whole);
        }
        let widest = most(columns, |tried| self.fits(memory, self.slots, 1, tried));
        if widest < columns.min(NARROWEST) || widest < self.step.min(columns) {
            return Err(Error::Budget {
                need: self.minimum(columns, rows),
                have: memory,
                what: format!(
                    "a median of {} exposures with {} slots",
                    self.exposures, self.slots
                ),
            });
        }
        // Every part begins on a column that a preview keeps.
        let parts = columns.div_ceil(widest);
        let columns = columns.div_ceil(parts).next_multiple_of(self.step);
        Ok(Cut {
            slots: self.slots,
            rows: 1,
            columns: columns.min(widest - widest % self.step),
        })
    }
}

/// The largest number up to `most` for which `holds`, which holds up to some number and not above.
fn most(most: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut good, mut bad) = (0, most + 1);
    while bad - good > 1 {
        let tried = good + (bad - good) / 2;
        if holds(tried) {
            good = tried;
        } else {
            bad = tried;
        }
    }
    good
}

/// Pixels that spans cover, in all sections together, of one exposure.
pub(super) fn span_pixels(width: u64, rows: u64, columns: u64, step: u64, cut: &Cut) -> u64 {
    if cut.columns < columns {
        return rows * columns;
    }
    let span = |rows: u64| {
        ((rows - 1) * step)
            .saturating_mul(width)
            .saturating_add(columns)
    };
    let full = rows / cut.rows;
    let rest = rows % cut.rows;
    let last = if rest > 0 { span(rest) } else { 0 };
    full.saturating_mul(span(cut.rows)).saturating_add(last)
}
