//! The reduction of a stack as a job: slots are filled in any order, sections leave in theirs.

use std::collections::VecDeque;

use super::exposure::{Exposure, Stack};
use super::mask::Flags;
use super::median::{Kernel, Samples};
use super::plan::{BASE, CHUNK, EXPOSURE, Layout, Plan, Section};
use super::reads::Place;
use super::statistic::Statistic;
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::job::slot::Slot;
use crate::job::{Fetch, Job};

/// Values of one section, in the stack's precision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Values<'a> {
    /// Of exposures whose pixels f32 holds without loss.
    F32(&'a [f32]),
    /// Where some exposure has BITPIX 32, 64 or −64.
    F64(&'a [f64]),
}

/// A finished section.
///
/// # Shape
/// `[rows, width]`, row-major; the first row is row `y0` of the image, the next `y0 + step`, and
/// columns likewise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reduced<'a> {
    /// Index of the section in its plan.
    pub section: u64,
    /// Column of the image of the first value.
    pub x0: u32,
    /// Row of the image of the first value.
    pub y0: u32,
    /// Values a row.
    pub width: u32,
    /// Rows of values.
    pub rows: u32,
    /// Distance between neighbouring values in the image, in pixels.
    pub step: u32,
    /// Medians, or what else the job computes; NaN where no exposure has a value.
    pub values: Values<'a>,
    /// How many exposures contributed.
    pub count: &'a [u16],
}

/// The median of a stack.
pub type MedianJob = StackJob<Kernel>;

/// The reduction of a stack to one [`Statistic`], waiting for its bytes.
#[derive(Debug)]
pub struct StackJob<S> {
    plan: Plan,
    width: u32,
    exposures: Vec<Exposure>,
    statistic: S,
    budget: Budget,
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// The next fetch: section, exposure.
    asked: (u64, u32),
    /// Full slots of the section at hand and of those that follow.
    arrived: VecDeque<u32>,
    /// The section at hand.
    current: u64,
    values: Output,
    count: Vec<u16>,
    line: (Output, Vec<u16>),
}

#[derive(Debug)]
enum Output {
    F32(Vec<f32>),
    F64(Vec<f64>),
}

impl Output {
    fn new(wide: bool, len: usize, budget: &mut Budget, what: &str) -> Result<Self> {
        Ok(if wide {
            Self::F64(budget.allocate(len, what)?)
        } else {
            Self::F32(budget.allocate(len, what)?)
        })
    }
}

impl<S: Statistic> StackJob<S> {
    /// Allocates what `plan` says: all memory that the job will ever hold.
    ///
    /// # Errors
    /// [`Error::Budget`] if the plan's budget or the allocator has not enough.
    pub fn new(stack: &Stack, plan: Plan) -> Result<Self> {
        let mut budget = Budget::new(plan.memory);
        let exposures = stack.exposures.len();
        let fixed = BASE + exposures as u64 * EXPOSURE + u64::from(plan.in_flight) * CHUNK;
        budget.reserve(fixed, "the program")?;
        budget.reserve(S::scratch_bytes(exposures), "the kernel's scratch")?;
        let statistic = S::new(exposures)?;
        let slot_bytes = length(plan.slot_bytes, &plan)?;
        let mut slots = Vec::new();
        for _ in 0..plan.slots {
            slots.push(Slot::new(budget.allocate(slot_bytes, "a slot")?));
        }
        let kept = u64::from(plan.rows) * u64::from(plan.columns.div_ceil(plan.step));
        let kept = length(kept, &plan)?;
        let row = if plan.step > 1 {
            plan.columns as usize
        } else {
            0
        };
        let wide = stack.wide;
        Ok(Self {
            width: stack.width,
            exposures: stack.exposures.clone(),
            statistic,
            values: Output::new(wide, kept, &mut budget, "the values")?,
            count: budget.allocate(kept, "the counts")?,
            line: (
                Output::new(wide, row, &mut budget, "a row of values")?,
                budget.allocate(row, "a row of counts")?,
            ),
            budget,
            free: (0..plan.slots).rev().collect(),
            slots,
            asked: (0, 0),
            arrived: VecDeque::new(),
            current: 0,
            plan,
        })
    }

    /// The plan that is carried out.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Feeds part of a read: byte `offset` of read `read` of the fetch that fills `slot`.
    ///
    /// `write` is given the place in the slot and fills all of it, so that nothing is copied twice.
    /// Bytes may come in pieces of any size; a piece may begin anywhere up to the first byte that is
    /// still missing (a driver may start a read over).
    ///
    /// # Errors
    /// [`Error::Unexpected`] for bytes that were not asked for.
    pub fn feed(
        &mut self,
        slot: u32,
        read: usize,
        offset: u64,
        len: usize,
        write: impl FnOnce(&mut [u8]),
    ) -> Result<()> {
        let Some(lent) = self.slots.get_mut(slot as usize) else {
            return Err(no_slot(slot));
        };
        let name = &self.exposures[lent.source as usize].name;
        lent.feed(name, read, offset, len, write)
    }

    /// Says that every read of a fetch has been fed whole.
    ///
    /// # Errors
    /// [`Error::Unexpected`] naming the first read that lacks bytes.
    pub fn complete(&mut self, slot: u32) -> Result<()> {
        let Some(filled) = self.slots.get_mut(slot as usize) else {
            return Err(no_slot(slot));
        };
        filled.complete(&self.exposures[filled.source as usize].name)?;
        let ahead = usize::try_from(filled.turn - self.current).unwrap_or(usize::MAX);
        while self.arrived.len() <= ahead {
            self.arrived.push_back(0);
        }
        self.arrived[ahead] += 1;
        Ok(())
    }

    /// The section that was handed out last; its values stay until the next one is made ready.
    #[must_use]
    pub fn last(&self) -> Option<Reduced<'_>> {
        let index = self.current.checked_sub(1)?;
        let section = self.plan.section(index);
        let rows = self.plan.wanted_rows(&section);
        let columns = section.columns.end - section.columns.start;
        let width = columns.div_ceil(self.plan.step);
        let len = rows as usize * width as usize;
        Some(Reduced {
            section: index,
            x0: section.columns.start,
            y0: section.rows.start,
            width,
            rows,
            step: self.plan.step,
            values: match &self.values {
                Output::F32(values) => Values::F32(&values[..len]),
                Output::F64(values) => Values::F64(&values[..len]),
            },
            count: &self.count[..len],
        })
    }

    fn reduce(&mut self, section: &Section) -> Result<()> {
        // Arrival decides which slot an exposure is in; sums depend on the order of the exposures, so
        // that is always theirs.
        let mut places: Vec<Option<&Slot>> = vec![None; self.exposures.len()];
        for slot in &self.slots {
            if slot.full && slot.turn == self.current {
                places[slot.source as usize] = Some(slot);
            }
        }
        let order: Vec<&Slot> = places.into_iter().flatten().collect();
        let columns = section.columns.len();
        let step = self.plan.step;
        let kept = columns.div_ceil(step as usize);
        let mut samples: Vec<Samples<'_>> = Vec::with_capacity(order.len());
        // Empty where no exposure has a mask, which costs nothing then.
        let mut flags: Vec<Option<Flags<'_>>> = Vec::new();
        let masked = self.plan.masks > 0;
        for (row, _) in section
            .rows
            .clone()
            .step_by(self.plan.step as usize)
            .enumerate()
        {
            samples.clear();
            flags.clear();
            let first = match self.plan.layout {
                Layout::Rows => row * columns,
                Layout::Span => row * self.plan.step as usize * self.width as usize,
            };
            let wanted = first..first + columns;
            for slot in &order {
                let Exposure { encoding, mask, .. } = &self.exposures[slot.source as usize];
                let size = encoding.bitpix.size();
                samples.push(Samples {
                    bytes: &slot.buffer[wanted.start * size..wanted.end * size],
                    encoding: *encoding,
                });
                if masked {
                    flags.push(mask.as_ref().map(|mask| {
                        // Both images have as many pixels in the slot.
                        let flag = mask.bitpix.size();
                        let behind = slot.buffer.len() / (size + flag) * size;
                        let bytes = &slot.buffer[behind..];
                        Flags {
                            bytes: &bytes[wanted.start * flag..wanted.end * flag],
                            mask,
                        }
                    }));
                }
            }
            let out = row * kept..(row + 1) * kept;
            let count = &mut self.count[out.clone()];
            let line_count = self.line.1.get_mut(..columns).unwrap_or_default();
            match (&mut self.values, &mut self.line.0) {
                (Output::F32(values), Output::F32(line)) => {
                    let line = line.get_mut(..columns).unwrap_or_default();
                    sampled(
                        step,
                        &mut values[out],
                        count,
                        line,
                        line_count,
                        |values, count| self.statistic.reduce_f32(&samples, &flags, values, count),
                    )?;
                }
                (Output::F64(values), Output::F64(line)) => {
                    let line = line.get_mut(..columns).unwrap_or_default();
                    sampled(
                        step,
                        &mut values[out],
                        count,
                        line,
                        line_count,
                        |values, count| self.statistic.reduce_f64(&samples, &flags, values, count),
                    )?;
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// Reduces one row, whole or by way of a line of which every `step`-th value is kept.
fn sampled<T: Copy>(
    step: u32,
    values: &mut [T],
    count: &mut [u16],
    line: &mut [T],
    line_count: &mut [u16],
    reduce: impl FnOnce(&mut [T], &mut [u16]) -> Result<()>,
) -> Result<()> {
    if step == 1 {
        return reduce(values, count);
    }
    reduce(line, line_count)?;
    let step = step as usize;
    for (value, wanted) in values.iter_mut().zip(line.iter().step_by(step)) {
        *value = *wanted;
    }
    for (value, wanted) in count.iter_mut().zip(line_count.iter().step_by(step)) {
        *value = *wanted;
    }
    Ok(())
}

fn no_slot(slot: u32) -> Error {
    Error::Parameter {
        name: "slot",
        what: format!("there is no slot {slot}"),
    }
}

fn length(bytes: u64, plan: &Plan) -> Result<usize> {
    usize::try_from(bytes).map_err(|_| Error::Budget {
        need: bytes,
        have: plan.memory,
        what: "one buffer".to_owned(),
    })
}

impl<S: Statistic> Job for StackJob<S> {
    type Item<'a>
        = Reduced<'a>
    where
        S: 'a;

    fn next(&mut self) -> Option<Fetch> {
        let (section, exposure) = self.asked;
        if section == self.plan.sections {
            return None;
        }
        let slot = self.free.pop()?;
        let from = &self.exposures[exposure as usize];
        let place = Place {
            source: exposure,
            slot,
            width: self.width,
        };
        let reads = place.reads(&self.plan, &self.plan.section(section), from);
        let fetch = Fetch {
            slot,
            source: exposure,
            reads,
        };
        self.slots[slot as usize].take(section, &fetch);
        self.asked = if exposure as usize + 1 == self.exposures.len() {
            (section + 1, 0)
        } else {
            (section, exposure + 1)
        };
        Some(fetch)
    }

    fn lend(&mut self, fetch: &Fetch) -> Vec<u8> {
        self.slots[fetch.slot as usize].lend()
    }

    fn filled(&mut self, fetch: &Fetch, buffer: Vec<u8>) -> Result<()> {
        let name = &self.exposures[fetch.source as usize].name;
        self.slots[fetch.slot as usize].put(name, buffer)?;
        self.complete(fetch.slot)
    }

    fn ready(&mut self) -> Result<Option<Reduced<'_>>> {
        if self
            .arrived
            .front()
            .is_none_or(|full| *full as usize != self.exposures.len())
        {
            return Ok(None);
        }
        let section = self.plan.section(self.current);
        self.reduce(&section)?;
        self.arrived.pop_front();
        for (index, slot) in (0_u32..).zip(&mut self.slots) {
            if slot.full && slot.turn == self.current {
                slot.full = false;
                self.free.push(index);
            }
        }
        self.current += 1;
        Ok(self.last())
    }

    fn is_done(&self) -> bool {
        self.current == self.plan.sections
    }

    fn peak(&self) -> u64 {
        self.budget.peak()
    }
}
