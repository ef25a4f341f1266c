//! Stacks: gathered, planned, reduced.

use js_sys::{Float32Array, Float64Array, Uint16Array};
use wasm_bindgen::prelude::*;

use super::record::{self, Record};
use super::walk::Image;
use super::{Thrown, number, thrown};
use crate::error::Error;
use crate::fits;
use crate::job::Job;
use crate::stack::exposure::{self, Rules};
use crate::stack::job::{MedianJob, Values};
use crate::stack::plan::{Layout, Plan, Rect, Wish};

/// Images on their way to becoming a stack.
#[wasm_bindgen]
pub struct Gather {
    stack: Option<exposure::Stack>,
    rules: Rules,
}

#[wasm_bindgen]
impl Gather {
    /// Nothing gathered yet. `mask_bits` says what masks leave out: `1`, `0x11`, `1+16`, `any` or `zero`.
    ///
    /// # Errors
    /// Another `mask_bits`.
    #[wasm_bindgen(constructor)]
    pub fn new(ignore_wcs: bool, ignore_units: bool, mask_bits: &str) -> Result<Gather, Thrown> {
        Ok(Self {
            stack: None,
            rules: Rules {
                ignore_wcs,
                ignore_units,
                mask: mask_bits.parse().map_err(thrown)?,
            },
        })
    }

    /// Adds an image that agrees with the first; the answer is an array of warnings.
    ///
    /// # Errors
    /// How it differs from the first; it is not added then.
    pub fn add(&mut self, image: &Image) -> Result<JsValue, Thrown> {
        let image = image.image.clone();
        let warnings = match &mut self.stack {
            Some(stack) => stack.add(image, self.rules).map_err(thrown)?,
            empty => {
                *empty = Some(exposure::Stack::begin(image, self.rules).map_err(thrown)?);
                Vec::new()
            }
        };
        Ok(record::list(&warnings))
    }

    /// The stack of all that was added. Nothing is left here.
    ///
    /// # Errors
    /// No image at all.
    pub fn open(&mut self) -> Result<Stack, Thrown> {
        let stack = match self.stack.take() {
            Some(stack) => stack,
            None => exposure::Stack::open(Vec::new(), self.rules).map_err(thrown)?,
        };
        Ok(Stack { stack })
    }
}

/// A stack of exposures.
#[wasm_bindgen]
pub struct Stack {
    pub(super) stack: exposure::Stack,
}

#[wasm_bindgen]
impl Stack {
    /// What it is.
    #[must_use]
    pub fn describe(&self) -> JsValue {
        let stack = &self.stack;
        let has_sky = stack.wcs.as_ref().is_some_and(fits::wcs::Wcs::is_plain_tan);
        Record::new()
            .number("exposures", stack.exposures.len() as u64)
            .number("width", stack.width)
            .number("height", stack.height)
            .flag("wide", stack.wide)
            .maybe_text("unit", stack.unit.as_deref())
            .flag("has_sky", has_sky)
            .maybe_text("left_out", stack.left_out.as_deref())
            .texts("warnings", &stack.warnings)
            .into()
    }

    /// The stack of one exposure alone.
    ///
    /// # Errors
    /// An index beyond the last.
    pub fn one(&self, index: usize) -> Result<Stack, Thrown> {
        let Some(exposure) = self.stack.exposures.get(index) else {
            let what = format!("{index} of {}", self.stack.exposures.len());
            return Err(thrown(Error::Parameter {
                name: "exposure",
                what,
            }));
        };
        let wide = exposure.encoding.is_wide();
        let mut stack = self.stack.clone();
        stack.exposures = vec![exposure.clone()];
        stack.wide = wide;
        stack.left_out = stack.left_out.filter(|_| stack.exposures[0].mask.is_some());
        stack.warnings = Vec::new();
        Ok(Stack { stack })
    }

    /// The plan of a median.
    ///
    /// # Errors
    /// As [`Plan::new`], and members of `wish` that are not of their kind.
    pub fn plan(&self, wish: &JsValue) -> Result<JsValue, Thrown> {
        let plan = Plan::new(&self.stack, &read_wish(wish)?).map_err(thrown)?;
        Ok(told(&plan))
    }

    /// A median that waits for its bytes.
    ///
    /// # Errors
    /// As [`Plan::new`] and [`MedianJob::new`], and members of `wish` that are not of their kind.
    pub fn median(&self, wish: &JsValue) -> Result<Median, Thrown> {
        let plan = Plan::new(&self.stack, &read_wish(wish)?).map_err(thrown)?;
        let job = MedianJob::new(&self.stack, plan).map_err(thrown)?;
        Ok(Median { job })
    }

    /// Right ascension and declination of a pixel in degrees, where the WCS is a plain TAN.
    #[must_use]
    pub fn sky(&self, x: f64, y: f64) -> Option<Vec<f64>> {
        let wcs = self.stack.wcs.as_ref().filter(|wcs| wcs.is_plain_tan())?;
        wcs.pixel_to_sky(x, y).map(|sky| sky.to_vec())
    }
}

/// A median that waits for its bytes.
#[wasm_bindgen]
pub struct Median {
    job: MedianJob,
}

fetched!(Median);

#[wasm_bindgen]
impl Median {
    /// Reduces the section at hand if all its bytes are there: `[section, x0, y0, width, rows, step]`.
    ///
    /// # Errors
    /// Those of the reduction.
    pub fn ready(&mut self) -> Result<Option<Vec<f64>>, Thrown> {
        let ready = self.job.ready().map_err(thrown)?;
        Ok(ready.map(|section| {
            let head = [
                section.x0,
                section.y0,
                section.width,
                section.rows,
                section.step,
            ];
            let mut flat = vec![number(section.section)];
            flat.extend(head.map(f64::from));
            flat
        }))
    }

    /// The values of the section that was made ready last, as a typed array of its precision.
    #[must_use]
    pub fn values(&self) -> JsValue {
        match self.job.last().map(|section| section.values) {
            Some(Values::F32(values)) => Float32Array::new_from_slice(values).into(),
            Some(Values::F64(values)) => Float64Array::new_from_slice(values).into(),
            None => JsValue::UNDEFINED,
        }
    }

    /// Its counts of contributing exposures.
    #[must_use]
    pub fn count(&self) -> Option<Uint16Array> {
        self.job
            .last()
            .map(|section| Uint16Array::new_from_slice(section.count))
    }
}

fn read_wish(value: &JsValue) -> Result<Wish, Thrown> {
    let usual = Wish::default();
    let rect = match record::member(value, "rect") {
        Some(rect) => Some(read_rect(&rect)?),
        None => None,
    };
    Ok(Wish {
        memory: record::count(value, "memory")?.unwrap_or(usual.memory),
        in_flight: record::small(value, "in_flight")?.unwrap_or(usual.in_flight),
        rect,
        step: record::small(value, "step")?.unwrap_or(usual.step),
        latency: record::float(value, "latency")?.unwrap_or(usual.latency),
        bandwidth: record::float(value, "bandwidth")?.unwrap_or(usual.bandwidth),
        ..usual
    })
}

fn read_rect(value: &JsValue) -> Result<Rect, Thrown> {
    let side = |name| {
        record::small(value, name)?.ok_or_else(|| {
            thrown(Error::Parameter {
                name: "rect",
                what: format!("it has no {name}"),
            })
        })
    };
    Ok(Rect {
        x0: side("x0")?,
        y0: side("y0")?,
        x1: side("x1")?,
        y1: side("y1")?,
    })
}

fn told(plan: &Plan) -> JsValue {
    let rect = Record::new()
        .number("x0", plan.rect.x0)
        .number("y0", plan.rect.y0)
        .number("x1", plan.rect.x1)
        .number("y1", plan.rect.y1);
    let layout = match plan.layout {
        Layout::Span => "span",
        Layout::Rows => "rows",
    };
    Record::new()
        .number("exposures", plan.exposures)
        .number("masks", plan.masks)
        .with("rect", &rect.into())
        .number("step", plan.step)
        .number("sections", plan.sections)
        .number("rows", plan.rows)
        .number("columns", plan.columns)
        .text("layout", layout)
        .number("slots", plan.slots)
        .number("slot_bytes", plan.slot_bytes)
        .number("in_flight", plan.in_flight)
        .number("requests", plan.requests)
        .number("payload_bytes", plan.payload_bytes)
        .number("peak_bytes", plan.peak_bytes)
        .number("minimum_bytes", plan.minimum_bytes)
        .number("memory", plan.memory)
        .number("shards", plan.shards)
        .float("seconds", plan.seconds)
        .texts("warnings", &plan.warnings)
        .into()
}
