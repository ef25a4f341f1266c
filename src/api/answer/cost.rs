//! What an answer will read, hold and work, known before a byte of data is read.

use std::rc::Rc;

use super::IN_FLIGHT;
use super::errand::{Errand, Form};
use super::gather::{Frame, Gather};
use super::picture;
use super::samples::Pixels;
use super::spectrum;
use super::statistics;
use super::subject::{OfIon, OfStack, Subject};
use crate::api::limits::{Cost, Limits};
use crate::api::opened::Opened;
use crate::error::{Error, Result};
use crate::ion::images::{self, Reader};
use crate::ion::normalise::Normalise;
use crate::ion::region::Region;
use crate::ion::spectrum::SpectrumJob;
use crate::stack::exposure::Stack;
use crate::stack::plan::{BASE, Plan, Rect, Wish};
use crate::store::head::Head;

/// Nanoseconds that a byte costs on its way into a slot, a stored value in a median, a request, a value of the answer;
/// and milliseconds that every answer costs. Generous for wasm on a shared processor.
const NS_BYTE: u64 = 1;
const NS_VALUE: u64 = 3;
const NS_REQUEST: u64 = 50_000;
const NS_OUT: u64 = 25;
const MS_BASE: u64 = 2;

/// What a plan is to spare most, where there is a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Favour {
    /// Time, at the usual latency and bandwidth.
    #[default]
    Time,
    /// Bytes: only what is wanted.
    Bytes,
    /// Requests.
    Requests,
}

impl Favour {
    const ALL: [Self; 3] = [Self::Time, Self::Bytes, Self::Requests];

    fn latency(self) -> f64 {
        match self {
            Self::Time => Wish::default().latency,
            Self::Bytes => 0.0,
            Self::Requests => 1e6,
        }
    }
}

/// A cost, and the choice that it stands on.
pub(super) type Planned = (Cost, Favour);

/// Plans an errand for these limits; what does not fit them is planned as if it did, so that it can be told.
///
/// # Errors
/// Those of the plans but [`Error::Budget`].
pub(super) fn plan(errand: &Errand, opened: &Opened, limits: &Limits) -> Result<Planned> {
    match (errand, opened) {
        (
            Errand::Layer {
                subject: Subject::Stack(of),
                frame,
                form,
            },
            _,
        ) => of_stack(of, frame, *form, limits),
        (
            Errand::Layer {
                subject: Subject::Ion(of),
                frame,
                form,
            },
            _,
        ) => of_ion(of, frame, *form, limits).map(timely),
        (
            Errand::Stored {
                subject,
                frame,
                form,
                range,
                ..
            },
            _,
        ) => {
            let (bytes, wide) = (range.end - range.start, subject.wide());
            Ok(timely(Cost {
                requests: 1,
                bytes,
                peak_bytes: bytes + after(wide, frame, *form),
                cpu_ms: cpu(1, bytes, 0, frame.len()),
                answer_bytes: answer_bytes(wide, false, frame, *form),
            }))
        }
        (Errand::Samples { x, y }, Opened::Stack { stack, .. }) => {
            let (requests, bytes) = Pixels::reads(stack, *x, *y)?;
            let exposures = stack.exposures.len();
            let answer_bytes = spectrum::samples_bytes(exposures);
            Ok(timely(Cost {
                requests,
                bytes,
                peak_bytes: BASE + Pixels::bytes(exposures) + answer_bytes,
                cpu_ms: cpu(requests, bytes, 100 * requests, 0),
                answer_bytes,
            }))
        }
        (Errand::Spectrum { x, y }, Opened::Ions { head, .. }) => {
            of_pixel(head, (*x, *y), limits).map(timely)
        }
        (Errand::Mean, Opened::Ions { head, .. }) => Ok(timely(mean(head))),
        _ => Err(another_type()),
    }
}

/// The error for a dataset that is not what an errand was made for.
pub(super) fn another_type() -> Error {
    Error::Parameter {
        name: "dataset",
        what: "it is of another type than when it was opened; open it anew".to_owned(),
    }
}

fn timely(cost: Cost) -> Planned {
    (cost, Favour::Time)
}

fn of_stack(of: &OfStack, frame: &Frame, form: Form, limits: &Limits) -> Result<Planned> {
    let mut first = None;
    for favour in Favour::ALL {
        let beside = beside(of, frame);
        let room = limits.memory.saturating_sub(beside);
        // A plan for the least memory may take a little less, but is not made for less.
        let (plan, least) = match stack_plan(&of.stack, frame.rect, room, favour) {
            Err(Error::Budget { need, .. }) => {
                (stack_plan(&of.stack, frame.rect, need, favour)?, need)
            }
            plan => (plan?, 0),
        };
        let values = frame.source_len().saturating_mul(plan.exposures);
        let cost = Cost {
            requests: plan.requests,
            bytes: plan.payload_bytes,
            peak_bytes: (plan.peak_bytes.max(least) + beside).max(after(of.wide(), frame, form)),
            cpu_ms: cpu(
                plan.requests,
                plan.payload_bytes,
                values,
                work_after(frame, form),
            ),
            answer_bytes: answer_bytes(of.wide(), of.is_count(), frame, form),
        };
        if limits.check(&cost).is_ok() {
            return Ok((cost, favour));
        }
        first.get_or_insert((cost, favour));
    }
    Ok(first.unwrap_or_default())
}

/// The plan that an answer carries out.
pub(super) fn stack_plan(stack: &Stack, rect: Rect, memory: u64, favour: Favour) -> Result<Plan> {
    let wish = Wish {
        memory,
        in_flight: IN_FLIGHT,
        rect: Some(rect),
        latency: favour.latency(),
        ..Wish::default()
    };
    Plan::new(stack, &wish)
}

/// Bytes held beside a reduction while it is computed: what is collected, and a row of counts as numbers.
pub(super) fn beside(of: &OfStack, frame: &Frame) -> u64 {
    let line = if of.is_count() { line_bytes(frame) } else { 0 };
    line + gathered(of.wide(), frame)
}

/// Bytes of a row of the source in f32.
pub(super) fn line_bytes(frame: &Frame) -> u64 {
    4 * u64::from(frame.rect.x1 - frame.rect.x0)
}

fn gathered(wide: bool, frame: &Frame) -> u64 {
    if wide {
        Gather::<f64>::bytes(frame)
    } else {
        Gather::<f32>::bytes(frame)
    }
}

/// Most bytes held once all values are there.
fn after(wide: bool, frame: &Frame, form: Form) -> u64 {
    let values = frame.len().saturating_mul(if wide { 8 } else { 4 });
    let made = match form {
        Form::Tile { edge, alpha } => picture::tile_bytes(edge, alpha),
        Form::Png => picture::scratch_bytes(frame.size().0)
            .saturating_add(answer_bytes(wide, false, frame, form)),
        Form::Fits | Form::Point => answer_bytes(wide, false, frame, form),
        Form::Statistics => statistics::BYTES,
    };
    BASE.saturating_add(values).saturating_add(made)
}

/// Most bytes of the answer's body.
fn answer_bytes(wide: bool, count: bool, frame: &Frame, form: Form) -> u64 {
    match form {
        Form::Tile { edge, alpha } => picture::most_bytes(edge, edge, alpha),
        Form::Png => {
            let (width, height) = frame.size();
            picture::most_bytes(width, height, false)
        }
        Form::Fits => {
            let size = if count {
                2
            } else if wide {
                8
            } else {
                4
            };
            super::cutout::most_bytes(frame.len().saturating_mul(size))
        }
        Form::Point | Form::Statistics => statistics::BYTES,
    }
}

fn of_ion(of: &OfIon, frame: &Frame, form: Form, limits: &Limits) -> Result<Cost> {
    let norms = norm_bytes(of);
    let beside = norms + gathered(false, frame) + line_bytes(frame);
    let reader = Reader::new(Rc::new(Head::clone(&of.head)), 0);
    let room = limits.memory.saturating_sub(beside);
    let windows = [of.window];
    let plan = match reader.plan(&windows, &image_wish(room)) {
        Err(Error::Budget { need, .. }) => reader.plan(&windows, &image_wish(need))?,
        plan => plan?,
    };
    let table = if of.norm == Normalise::None {
        0..0
    } else {
        of.head.layout.pixel_table()
    };
    let (requests, bytes) = (
        plan.requests + u64::from(!table.is_empty()),
        plan.bytes + table.end - table.start,
    );
    // The table's bytes and both columns of it.
    let reading = BASE + 2 * (table.end - table.start) + gathered(false, frame);
    let area = u64::from(of.head.layout.contents.width) * u64::from(of.head.layout.contents.height);
    Ok(Cost {
        requests,
        bytes,
        peak_bytes: (plan.peak_bytes + beside)
            .max(reading)
            .max(after(false, frame, form)),
        cpu_ms: cpu(
            requests,
            bytes,
            bytes / 4 + area * 2,
            work_after(frame, form),
        ),
        answer_bytes: answer_bytes(false, false, frame, form),
    })
}

/// Bytes of the norms that an image is divided by.
pub(super) fn norm_bytes(of: &OfIon) -> u64 {
    if of.norm == Normalise::None {
        0
    } else {
        4 * u64::from(of.head.pixels())
    }
}

/// How the blocks of an image are asked for.
pub(super) fn image_wish(memory: u64) -> images::Wish {
    images::Wish {
        memory,
        in_flight: IN_FLIGHT,
        ..images::Wish::default()
    }
}

/// How many times as many peaks as the mean a pixel may have before its spectrum asks for more memory than planned.
const BEYOND_USUAL: u64 = 8;

/// Bytes of a peak in lists that grow, and in the document.
const BYTES_OF_PEAK: u64 = 96;

fn of_pixel(head: &Head, (x, y): (u32, u32), limits: &Limits) -> Result<Cost> {
    let head = Rc::new(head.clone());
    let region = Region::Pixel { x, y };
    let job = match SpectrumJob::of_store(&head, &region, &image_wish(limits.memory)) {
        Err(Error::Budget { need, .. }) => {
            SpectrumJob::of_store(&head, &region, &image_wish(need))?
        }
        job => job?,
    };
    let plan = job.plan();
    // How many peaks a pixel has only its blocks say; many times the usual number find room.
    let contents = &head.layout.contents;
    let usual = contents.peaks / contents.spectra.max(1);
    let peaks = usual.saturating_mul(BEYOND_USUAL * BYTES_OF_PEAK);
    let most = plan.peak_bytes.saturating_add(peaks).min(limits.memory);
    Ok(Cost {
        requests: plan.requests,
        bytes: plan.bytes,
        peak_bytes: most.max(plan.peak_bytes).max(plan.minimum_bytes),
        cpu_ms: cpu(plan.requests, plan.bytes, plan.bytes, 0),
        answer_bytes: 0,
    })
}

fn mean(head: &Head) -> Cost {
    let range = head.layout.bins.range();
    let bytes = range.end - range.start;
    let answer_bytes = spectrum::mean_bytes(u64::from(head.layout.bins.count));
    Cost {
        requests: u64::from(bytes > 0),
        bytes,
        // The table's bytes, its columns and the text, all at once.
        peak_bytes: BASE + 2 * bytes + answer_bytes,
        cpu_ms: cpu(1, bytes, 0, u64::from(head.layout.bins.count) * 40),
        answer_bytes,
    }
}

/// What is made of the values, in values that are encoded: statistics look at each of them some ten times.
fn work_after(frame: &Frame, form: Form) -> u64 {
    match form {
        Form::Statistics => frame.len().saturating_mul(10),
        _ => frame.len(),
    }
}

fn cpu(requests: u64, bytes: u64, values: u64, out: u64) -> u64 {
    let parts = [
        requests.saturating_mul(NS_REQUEST),
        bytes.saturating_mul(NS_BYTE),
        values.saturating_mul(NS_VALUE),
        out.saturating_mul(NS_OUT),
    ];
    let ns = parts.into_iter().fold(0, u64::saturating_add);
    MS_BASE + ns / 1_000_000
}
