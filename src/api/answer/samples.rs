//! One pixel of every exposure of a stack.

use crate::error::{Error, Result};
use crate::fits::pixel::{Bitpix, Encoding};
use crate::job::{Fetch, Job};
use crate::stack::exposure::Stack;
use crate::stack::job::{MedianJob, Values};
use crate::stack::median::{Kernel, Samples as Run};
use crate::stack::plan::{EXPOSURE, Plan, Rect, Wish};
use crate::stack::rms::Rms;
use crate::stack::statistic::Statistic;

/// Reads one pixel of each exposure.
///
/// Each is a median of one exposure, which is its value as it is, so that whatever an exposure is read with
/// (scaling, BLANK, masks) holds here too.
#[derive(Debug)]
pub(super) struct Pixels {
    jobs: Vec<MedianJob>,
    asked: usize,
    values: Vec<f64>,
    wide: bool,
}

/// The values of a pixel in all exposures, their median and their scatter.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found {
    /// In the order of the exposures; NaN where one has none.
    pub(super) values: Vec<f64>,
    pub(super) median: f64,
    pub(super) rms: f64,
    pub(super) count: u16,
}

impl Pixels {
    /// Pixel (`x`, `y`) of a stack.
    pub(super) fn new(stack: &Stack, x: u32, y: u32) -> Result<Self> {
        let mut jobs = Vec::new();
        for index in 0..stack.exposures.len() {
            let one = alone(stack, index, stack.wide);
            let wish = Wish {
                memory: u64::MAX,
                in_flight: 1,
                rect: Some(Rect {
                    x0: x,
                    y0: y,
                    x1: x + 1,
                    y1: y + 1,
                }),
                ..Wish::default()
            };
            jobs.push(MedianJob::new(&one, Plan::new(&one, &wish)?)?);
        }
        Ok(Self {
            values: vec![f64::NAN; jobs.len()],
            jobs,
            asked: 0,
            wide: stack.wide,
        })
    }

    /// Bytes for so many exposures.
    pub(super) fn bytes(exposures: usize) -> u64 {
        let each = Kernel::scratch_bytes(1) + EXPOSURE + size_of::<MedianJob>() as u64 + 128;
        exposures as u64 * each + Kernel::scratch_bytes(exposures)
    }

    /// Requests and bytes that it reads.
    pub(super) fn reads(stack: &Stack, x: u32, y: u32) -> Result<(u64, u64)> {
        let rect = Rect {
            x0: x,
            y0: y,
            x1: x + 1,
            y1: y + 1,
        };
        let wish = Wish {
            memory: u64::MAX,
            rect: Some(rect),
            ..Wish::default()
        };
        let plan = Plan::new(stack, &wish)?;
        Ok((plan.requests, plan.payload_bytes))
    }

    pub(super) fn next(&mut self) -> Option<Fetch> {
        let index = self.asked;
        let fetch = self.jobs.get_mut(index)?.next()?;
        self.asked += 1;
        // Each job knows one slot and one source only.
        let place = u32::try_from(index).unwrap_or(u32::MAX);
        let mut reads = fetch.reads;
        for read in &mut reads {
            (read.slot, read.source) = (place, place);
        }
        Some(Fetch {
            slot: place,
            source: place,
            reads,
        })
    }

    pub(super) fn lend(&mut self, fetch: &Fetch) -> Vec<u8> {
        let job = self.jobs.get_mut(fetch.slot as usize);
        job.map(|job| job.lend(&own(fetch))).unwrap_or_default()
    }

    pub(super) fn filled(&mut self, fetch: &Fetch, buffer: Vec<u8>) -> Result<()> {
        self.job(fetch.slot)?.filled(&own(fetch), buffer)
    }

    pub(super) fn feed(
        &mut self,
        slot: u32,
        read: usize,
        offset: u64,
        len: usize,
        write: impl FnOnce(&mut [u8]),
    ) -> Result<()> {
        self.job(slot)?.feed(0, read, offset, len, write)
    }

    pub(super) fn complete(&mut self, slot: u32) -> Result<()> {
        self.job(slot)?.complete(0)
    }

    fn job(&mut self, slot: u32) -> Result<&mut MedianJob> {
        self.jobs
            .get_mut(slot as usize)
            .ok_or_else(|| Error::Parameter {
                name: "slot",
                what: format!("there is no slot {slot}"),
            })
    }

    /// The values, once all have come.
    pub(super) fn ready(&mut self) -> Result<Option<Found>> {
        let mut whole = true;
        for (job, value) in self.jobs.iter_mut().zip(&mut self.values) {
            if job.is_done() {
                continue;
            }
            match job.ready()? {
                Some(section) => {
                    *value = match section.values {
                        Values::F32(values) => values.first().map_or(f64::NAN, |v| f64::from(*v)),
                        Values::F64(values) => values.first().copied().unwrap_or(f64::NAN),
                    };
                }
                None => whole = false,
            }
        }
        if whole {
            self.reduced().map(Some)
        } else {
            Ok(None)
        }
    }

    fn reduced(&mut self) -> Result<Found> {
        let values = std::mem::take(&mut self.values);
        let (mut kernel, mut scatter) = (Kernel::new(values.len())?, Rms::new(values.len())?);
        let mut count = [0];
        let (median, rms) = if self.wide {
            let bytes: Vec<[u8; 8]> = values.iter().map(|value| value.to_be_bytes()).collect();
            let (rows, mut median, mut rms) = (runs(&bytes, Bitpix::F64), [0.0], [0.0]);
            kernel.median_f64(&rows, &mut median, &mut count)?;
            scatter.reduce_f64(&rows, &[], &mut rms, &mut count)?;
            (median[0], rms[0])
        } else {
            #[expect(clippy::cast_possible_truncation, reason = "they were f32")]
            let bytes: Vec<[u8; 4]> = values.iter().map(|v| (*v as f32).to_be_bytes()).collect();
            let (rows, mut median, mut rms) = (runs(&bytes, Bitpix::F32), [0.0], [0.0]);
            kernel.median_f32(&rows, &mut median, &mut count)?;
            scatter.reduce_f32(&rows, &[], &mut rms, &mut count)?;
            (f64::from(median[0]), f64::from(rms[0]))
        };
        Ok(Found {
            values,
            median,
            rms,
            count: count[0],
        })
    }
}

fn runs<const N: usize>(bytes: &[[u8; N]], bitpix: Bitpix) -> Vec<Run<'_>> {
    let encoding = Encoding::plain(bitpix);
    let run = bytes.iter().map(|bytes| Run { bytes, encoding });
    run.collect()
}

/// A fetch as the job that asked for it knows it.
fn own(fetch: &Fetch) -> Fetch {
    let mut own = fetch.clone();
    (own.slot, own.source) = (0, 0);
    for read in &mut own.reads {
        (read.slot, read.source) = (0, 0);
    }
    own
}

/// A stack of one exposure of a stack.
pub(super) fn alone(stack: &Stack, index: usize, wide: bool) -> Stack {
    Stack {
        exposures: stack.exposures.get(index).cloned().into_iter().collect(),
        width: stack.width,
        height: stack.height,
        wide,
        unit: stack.unit.clone(),
        wcs: None,
        cards: Vec::new(),
        left_out: stack.left_out.clone(),
        warnings: Vec::new(),
    }
}
