//! A strip: a few exposures of some more pixels, for the networks.
//!
//! Native values are read where they lie. Only what has to be changed first (swapped, decoded, freed of
//! NaN) is written to rows of the strip's own, which stay in the first-level cache.

use super::network::{self, MOST, PIXELS, Row, WHOLE};
use super::{fill, load};
use crate::error::{Error, Result};

/// Rows of padding.
static UP: Row = [f32::INFINITY; PIXELS];
static DOWN: Row = [f32::NEG_INFINITY; PIXELS];

/// A row and a gap, so that the rows' first values do not share few places of a cache.
type Spaced = [f32; SPACED];
const SPACED: usize = PIXELS + LINE;

/// Values in a line of a cache.
const LINE: usize = 16;

/// Rows of values, and what their reduction needs.
#[derive(Debug)]
pub(in crate::stack) struct Strip {
    values: Vec<f32>,
    /// Where the rows begin among the values: with a line of the cache.
    first: usize,
    state: State,
}

#[derive(Debug)]
#[repr(align(64))]
struct State {
    /// The padding of each pixel: the missing values where none is missing.
    padding: [u32; PIXELS],
    /// Missing values of each pixel, padding included.
    missing: [u32; PIXELS],
    exposures: usize,
    /// Rows of the network.
    size: usize,
    /// Whether the last strip had a NaN; the next one is taken to be alike.
    nan: bool,
}

impl Strip {
    /// A strip for so many exposures, if there is a network for them.
    pub(in crate::stack) fn new(exposures: usize) -> Result<Option<Self>> {
        let Some(size) = network::size_for(exposures) else {
            return Ok(None);
        };
        let mut values = Vec::new();
        let length = exposures * SPACED + LINE;
        values
            .try_reserve_exact(length)
            .map_err(|_| Error::Budget {
                need: Self::bytes(exposures),
                have: 0,
                what: "the scratch of the median".into(),
            })?;
        values.resize(length, 0.0);
        let first = values.as_ptr().align_offset(LINE * size_of::<f32>()) % LINE;
        let state = State {
            exposures,
            size,
            padding: [short(size - exposures).into(); PIXELS],
            missing: [0; PIXELS],
            nan: false,
        };
        Ok(Some(Self {
            values,
            first,
            state,
        }))
    }

    fn rows(&mut self) -> (&mut [Spaced], &mut State) {
        let rows = self.values[self.first..].as_chunks_mut().0;
        (&mut rows[..self.state.exposures], &mut self.state)
    }

    /// Bytes of the rows; 0 if there is no network for so many exposures.
    pub(in crate::stack) fn bytes(exposures: usize) -> u64 {
        match network::size_for(exposures) {
            Some(_) => (exposures * SPACED + LINE) as u64 * size_of::<f32>() as u64,
            None => 0,
        }
    }

    /// Median and count of `out.len()` pixels that `load` brings into the rows.
    ///
    /// `load` fills the first values of each row with so many pixels from one on, and tells whether a
    /// NaN may be among them.
    pub(in crate::stack) fn reduce(
        &mut self,
        out: &mut [f32],
        count: &mut [u16],
        mut load: impl FnMut(usize, usize, &mut [Spaced]) -> bool,
    ) {
        let mut start = 0;
        let (strips, tail) = out.as_chunks_mut::<PIXELS>();
        let (counts, count_tail) = count.as_chunks_mut::<PIXELS>();
        for (out, count) in strips.iter_mut().zip(counts) {
            self.state.nan = load(start, PIXELS, self.rows().0);
            self.median(out, count);
            start += PIXELS;
        }
        if !tail.is_empty() {
            self.state.nan = load(start, tail.len(), self.rows().0);
            let (mut out, mut count) = ([0.0; PIXELS], [0; PIXELS]);
            self.median(&mut out, &mut count);
            tail.copy_from_slice(&out[..tail.len()]);
            count_tail.copy_from_slice(&count[..count_tail.len()]);
        }
    }

    /// [`Strip::reduce`] of native values, all as many as `out`.
    pub(in crate::stack) fn reduce_arrays(
        &mut self,
        exposures: &[&[f32]],
        out: &mut [f32],
        count: &mut [u16],
    ) {
        let whole = out.len() - out.len() % PIXELS;
        let (out, tail) = out.split_at_mut(whole);
        let (count, count_tail) = count.split_at_mut(whole);
        let mut table = self.state.table(&[]);
        let strips = out.as_chunks_mut().0.iter_mut();
        for ((at, out), count) in strips.enumerate().zip(count.as_chunks_mut().0) {
            let start = at * PIXELS;
            load::ahead(exposures, start);
            for (row, exposure) in table.iter_mut().zip(exposures) {
                if let Some(values) = exposure.get(start..).and_then(<[f32]>::first_chunk) {
                    *row = values;
                }
            }
            if !self.state.settle_whole(&table, out, count) {
                self.median_elsewhere(&table, out, count);
            }
        }
        self.reduce(tail, count_tail, |start, pixels, rows| {
            for (exposure, row) in exposures.iter().zip(rows) {
                let values = &exposure[whole + start..][..pixels];
                row[..pixels].copy_from_slice(values);
            }
            true
        });
    }

    /// Median and count of values that lie elsewhere, NaNs among them.
    fn median_elsewhere(&mut self, table: &[&Row; MOST], out: &mut Row, count: &mut [u16; PIXELS]) {
        let (rows, state) = self.rows();
        if !state.settle_filling(table, out, count) {
            state.nan = fill::balance_into(table, rows, &state.padding, &mut state.missing);
            state.settle_patched(rows, out, count);
        }
    }

    /// Median and count of the rows.
    fn median(&mut self, out: &mut Row, count: &mut [u16; PIXELS]) {
        let (rows, state) = self.rows();
        let table = state.table(rows);
        let done =
            state.settle_whole(&table, out, count) || state.settle_filling(&table, out, count);
        if !done {
            state.nan = fill::balance(rows, &state.padding, &mut state.missing);
            state.settle_patched(rows, out, count);
        }
    }
}

impl State {
    /// The rows of the network: those given, then padding. Without any, the first ones are to be set.
    fn table<'a>(&self, rows: &'a [Spaced]) -> [&'a Row; MOST] {
        let mut table = [&UP; MOST];
        for (row, spaced) in table.iter_mut().zip(rows) {
            if let Some(values) = spaced.first_chunk() {
                *row = values;
            }
        }
        for row in table[self.exposures..self.size]
            .iter_mut()
            .skip(1)
            .step_by(2)
        {
            *row = &DOWN;
        }
        table
    }

    /// Median and count, unless there may be a NaN.
    fn settle_whole(&self, table: &[&Row; MOST], out: &mut Row, count: &mut [u16; PIXELS]) -> bool {
        // A stack of one exposure is padded, which those networks do not take.
        let small = self.size <= WHOLE;
        if self.nan || (small && self.exposures < self.size) {
            return false;
        }
        let rows = &table[..self.size];
        let suspect = if small {
            network::whole(rows, out)
        } else {
            network::patched(rows, &self.padding, out)
        };
        if suspect {
            return false;
        }
        *count = [short(self.exposures); PIXELS];
        true
    }

    /// Median and count, if there is a network that fills what is missing.
    fn settle_filling(
        &mut self,
        table: &[&Row; MOST],
        out: &mut Row,
        count: &mut [u16; PIXELS],
    ) -> bool {
        if self.size > WHOLE {
            return false;
        }
        self.missing = self.padding;
        self.nan = network::filling(&table[..self.size], &mut self.missing, out);
        self.tidy(out, count);
        true
    }

    /// Median and count of rows that are filled.
    fn settle_patched(&self, rows: &[Spaced], out: &mut Row, count: &mut [u16; PIXELS]) {
        network::patched(&self.table(rows)[..self.size], &self.missing, out);
        self.tidy(out, count);
    }

    /// Counts, and every NaN canonical.
    fn tidy(&self, out: &mut Row, count: &mut [u16; PIXELS]) {
        let size = short(self.size);
        for (number, missing) in count.iter_mut().zip(&self.missing) {
            *number = size - short(*missing as usize);
        }
        for median in out {
            *median = if median.is_nan() { f32::NAN } else { *median };
        }
    }
}

/// A number of rows, at most those of a network.
#[expect(clippy::cast_possible_truncation, reason = "at most a network's")]
fn short(rows: usize) -> u16 {
    rows as u16
}
