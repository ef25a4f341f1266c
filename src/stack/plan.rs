//! What a median will read, and how much memory that takes: from headers alone.
//!
//! A pool of equal slots, one exposure's part of one section each, holds the bytes: N for the
//! section that is being completed and R − 1 more. That is enough for R requests in flight at all
//! times, because one of them at least is still for the section that is not complete. One section
//! alone needs N slots only. A slot is filled by one request where rows are
//! wanted whole, or by one request a row where only part of each row is wanted and that is cheaper.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::cut::{Cut, Measure, span_pixels};
use super::exposure::Stack;
use super::median::Kernel;
use crate::budget;
use crate::error::{Error, Result};

/// What a program needs before it holds a single pixel: code, stack, tables, allocator.
pub const BASE: u64 = 768 << 10;

/// Book-keeping an exposure: name, place, encoding, its share of the tables.
pub const EXPOSURE: u64 = 1 << 10;

/// What a driver holds of a body on its way into a slot.
pub const CHUNK: u64 = 64 << 10;

/// Requests below this many bytes pay more for latency than for bytes.
pub const SMALL_REQUEST: u64 = 64 << 10;

/// Requests that a shard may make: what one invocation of an edge worker is allowed.
pub const SHARD_REQUESTS: u64 = 10_000;

/// A rectangle of pixels, half-open, zero-based; y counts from the first row of the file upwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rect {
    /// First column.
    pub x0: u32,
    /// First row.
    pub y0: u32,
    /// Column behind the last.
    pub x1: u32,
    /// Row behind the last.
    pub y1: u32,
}

/// What is asked of a plan.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub struct Wish {
    /// The memory budget in bytes.
    pub memory: u64,
    /// Requests in flight at one time.
    pub in_flight: u32,
    /// The part that is wanted; all if `None`.
    pub rect: Option<Rect>,
    /// Every `step`-th row and column only: a preview. 1 for all.
    pub step: u32,
    /// Seconds from a request to its first byte.
    pub latency: f64,
    /// Bytes a second, all requests together.
    pub bandwidth: f64,
    /// Bytes that a slot need not exceed: where requests cost next to nothing, larger sections leave the processor's
    /// caches and take longer. A row is read whole even so.
    pub slot_bytes: u64,
}

impl Default for Wish {
    fn default() -> Self {
        Self {
            memory: budget::DEFAULT,
            in_flight: 6,
            rect: None,
            step: 1,
            latency: 0.05,
            bandwidth: 100e6,
            slot_bytes: u64::MAX,
        }
    }
}

/// How a slot is filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// One request from the first wanted pixel to the last.
    Span,
    /// One request for each row's wanted part.
    Rows,
}

/// One section: the rows `rows` (every step-th) and the columns `columns` of the image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Rows of the image; the first is wanted, then every step-th.
    pub rows: Range<u32>,
    /// Columns of the image.
    pub columns: Range<u32>,
}

/// The whole of what will be read, and what it costs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Plan {
    /// Exposures.
    pub exposures: u64,
    /// Those of them whose masks are read, too.
    pub masks: u64,
    /// The part of the image that is computed.
    pub rect: Rect,
    /// Every `step`-th row and column.
    pub step: u32,
    /// Sections in all.
    pub sections: u64,
    /// Wanted rows a section, at most; 1 where rows are cut into parts.
    pub rows: u32,
    /// Columns of the image a section, at most.
    pub columns: u32,
    /// How slots are filled.
    pub layout: Layout,
    /// Slots in the pool.
    pub slots: u32,
    /// Bytes a slot.
    pub slot_bytes: u64,
    /// Requests in flight.
    pub in_flight: u32,
    /// Requests for pixels.
    pub requests: u64,
    /// Bytes of pixels that are asked for.
    pub payload_bytes: u64,
    /// Most bytes held at one time.
    pub peak_bytes: u64,
    /// The smallest budget that works.
    pub minimum_bytes: u64,
    /// The budget given.
    pub memory: u64,
    /// Shards of at most [`SHARD_REQUESTS`] requests.
    pub shards: u64,
    /// Estimated wall time in seconds at the stated latency and bandwidth.
    pub seconds: f64,
    /// What the user should know.
    pub warnings: Vec<String>,
}

impl Plan {
    /// Plans the median of `stack` as `wish` asks.
    ///
    /// Both layouts are planned and the one with the shorter estimated time is taken.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a rectangle outside the image or empty, a step of 0 or no request
    /// in flight; [`Error::Budget`] naming the smallest budget that works.
    pub fn new(stack: &Stack, wish: &Wish) -> Result<Self> {
        let rect = checked(stack, wish)?;
        let span = Self::with(stack, wish, rect, Layout::Span);
        if wish.step == 1 && rect.x0 == 0 && rect.x1 == stack.width {
            return span;
        }
        match (span, Self::with(stack, wish, rect, Layout::Rows)) {
            (Ok(span), Ok(rows)) => Ok(if rows.seconds < span.seconds {
                rows
            } else {
                span
            }),
            (Err(_), rows) => rows,
            (span, Err(_)) => span,
        }
    }

    fn with(stack: &Stack, wish: &Wish, rect: Rect, layout: Layout) -> Result<Self> {
        let exposures = stack.exposures.len() as u64;
        let in_flight = u64::from(wish.in_flight);
        let step = u64::from(wish.step);
        let columns = u64::from(rect.x1 - rect.x0);
        let rows = u64::from(rect.y1 - rect.y0).div_ceil(step);
        let measure = Measure {
            exposures,
            slots: exposures + in_flight - 1,
            row_bytes: u64::from(stack.width) * stack.pixel_bytes() as u64,
            pixel_bytes: stack.pixel_bytes() as u64,
            out_bytes: (stack.value_bytes() + size_of::<u16>()) as u64,
            fixed: BASE
                + Kernel::scratch_bytes(stack.exposures.len())
                + exposures * EXPOSURE
                + in_flight * CHUNK,
            step,
            layout,
            enough: wish.slot_bytes,
        };
        let cut = measure.cut(wish.memory, rows, columns)?;
        Ok(Self::assemble(stack, wish, rect, &measure, &cut))
    }

    fn assemble(stack: &Stack, wish: &Wish, rect: Rect, measure: &Measure, cut: &Cut) -> Self {
        let columns = u64::from(rect.x1 - rect.x0);
        let rows = u64::from(rect.y1 - rect.y0).div_ceil(measure.step);
        let parts = columns.div_ceil(cut.columns);
        let bands = rows.div_ceil(cut.rows);
        let sections = bands * parts;
        let per_band = match measure.layout {
            Layout::Span => parts * bands,
            Layout::Rows => parts * rows,
        };
        let masks = stack.masks();
        // A mask lies elsewhere in the file: its part of a section is a request, or run of them, of its own.
        let requests = per_band * (measure.exposures + masks);
        let pixels = match measure.layout {
            Layout::Rows => rows * columns,
            Layout::Span => span_pixels(u64::from(stack.width), rows, columns, measure.step, cut),
        };
        let payload: u64 = stack
            .exposures
            .iter()
            .map(|exposure| pixels.saturating_mul(exposure.pixel_bytes() as u64))
            .fold(0, u64::saturating_add);
        let minimum = measure.minimum(columns, rows);
        let mut plan = Self {
            exposures: measure.exposures,
            masks,
            rect,
            step: wish.step,
            sections,
            rows: narrow(cut.rows),
            columns: narrow(cut.columns),
            layout: measure.layout,
            slots: narrow(cut.slots),
            slot_bytes: measure.slot(cut.rows, cut.columns),
            in_flight: wish.in_flight,
            requests,
            payload_bytes: payload,
            peak_bytes: measure.total(cut.slots, cut.rows, cut.columns),
            minimum_bytes: minimum,
            memory: wish.memory,
            shards: 0,
            seconds: estimate(wish, requests, payload),
            warnings: Vec::new(),
        };
        plan.shards = plan.sections.div_ceil(plan.run(SHARD_REQUESTS));
        plan.warn(measure, rows, columns);
        plan
    }

    fn warn(&mut self, measure: &Measure, rows: u64, columns: u64) {
        if self.sections > 1 && self.slot_bytes < SMALL_REQUEST {
            let mut wanted = 1;
            while wanted < rows && measure.slot(wanted, columns) < SMALL_REQUEST {
                wanted += 1;
            }
            let memory = measure
                .total(measure.slots, wanted, columns)
                .min(measure.total(measure.exposures, rows, columns));
            self.warnings.push(format!(
                "requests are only {} KiB, so latency will dominate; --memory {} avoids that",
                self.slot_bytes / 1024,
                mebibytes(memory)
            ));
        }
        if self.memory < self.minimum_bytes.saturating_add(self.minimum_bytes / 10) {
            self.warnings.push(format!(
                "the budget is within 10 % of the smallest that works ({} KiB)",
                self.minimum_bytes.div_ceil(1024)
            ));
        }
    }

    /// The section with this index; bands from the first row on, in a band the parts from the left.
    #[must_use]
    pub fn section(&self, index: u64) -> Section {
        let columns = u64::from(self.rect.x1 - self.rect.x0);
        let parts = columns.div_ceil(u64::from(self.columns));
        let (band, part) = (index / parts, index % parts);
        let height = u64::from(self.rows) * u64::from(self.step);
        let y0 = u64::from(self.rect.y0) + band * height;
        let x0 = u64::from(self.rect.x0) + part * u64::from(self.columns);
        Section {
            rows: narrow(y0)..narrow((y0 + height).min(u64::from(self.rect.y1))),
            columns: narrow(x0)
                ..narrow((x0 + u64::from(self.columns)).min(u64::from(self.rect.x1))),
        }
    }

    /// Wanted rows of a section.
    #[must_use]
    pub fn wanted_rows(&self, section: &Section) -> u32 {
        (section.rows.end - section.rows.start).div_ceil(self.step)
    }

    /// Pixels a row of the result.
    #[must_use]
    pub fn width(&self) -> u32 {
        (self.rect.x1 - self.rect.x0).div_ceil(self.step)
    }

    /// Rows of the result.
    #[must_use]
    pub fn height(&self) -> u32 {
        (self.rect.y1 - self.rect.y0).div_ceil(self.step)
    }

    /// The part of the image that rows of the result come from; rows beyond the result are clipped.
    #[must_use]
    pub fn rect_of(&self, rows: &Range<u32>) -> Rect {
        let row = |at: u32| {
            let row = u64::from(self.rect.y0) + u64::from(at) * u64::from(self.step);
            narrow(row).min(self.rect.y1)
        };
        Rect {
            y0: row(rows.start),
            y1: row(rows.end),
            ..self.rect
        }
    }

    /// Sections that `requests` requests are enough for, one at least.
    fn run(&self, requests: u64) -> u64 {
        let runs = self.exposures + self.masks;
        let a_section = match self.layout {
            Layout::Span => runs,
            Layout::Rows => runs * u64::from(self.rows),
        };
        (requests / a_section.max(1)).max(1)
    }

    /// Contiguous runs of sections of at most `requests` requests each (one section at least).
    pub fn shards_of(&self, requests: u64) -> impl Iterator<Item = Range<u64>> {
        let (run, sections) = (self.run(requests), self.sections);
        let mut start = 0_u64;
        std::iter::from_fn(move || {
            let shard = start..sections.min(start.saturating_add(run));
            start = shard.end;
            (!shard.is_empty()).then_some(shard)
        })
    }
}

#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn estimate(wish: &Wish, requests: u64, bytes: u64) -> f64 {
    let in_flight = u64::from(wish.in_flight).min(requests.max(1)) as f64;
    let waiting = wish.latency * requests as f64 / in_flight;
    wish.latency + waiting.max(bytes as f64 / wish.bandwidth)
}

fn checked(stack: &Stack, wish: &Wish) -> Result<Rect> {
    let parameter = |name, what: String| Err(Error::Parameter { name, what });
    if wish.step == 0 {
        return parameter("--preview", "the step must be at least 1".to_owned());
    }
    if !(1..=1024).contains(&wish.in_flight) {
        return parameter(
            "--in-flight",
            format!("{} is not between 1 and 1024", wish.in_flight),
        );
    }
    let all = Rect {
        x0: 0,
        y0: 0,
        x1: stack.width,
        y1: stack.height,
    };
    let rect = wish.rect.unwrap_or(all);
    if rect.x0 >= rect.x1 || rect.y0 >= rect.y1 || rect.x1 > stack.width || rect.y1 > stack.height {
        return parameter(
            "--rect",
            format!(
                "{},{},{},{} is empty or not inside the image of {}×{} pixels",
                rect.x0, rect.y0, rect.x1, rect.y1, stack.width, stack.height
            ),
        );
    }
    Ok(rect)
}

fn narrow(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

fn mebibytes(bytes: u64) -> String {
    format!("{}MiB", bytes.div_ceil(1 << 20))
}
