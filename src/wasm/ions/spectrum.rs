//! Spectra that wait for their bytes.

use js_sys::{Float32Array, Float64Array};
use wasm_bindgen::prelude::*;

use super::images::read_wish;
use super::pair::Index;
use super::record::{self, Record};
use super::{Store, Thrown, thrown};
use crate::error::Error;
use crate::ion::images::Wish;
use crate::ion::region::Region;
use crate::ion::spectrum::SpectrumJob;
use crate::job::Job;
use crate::wasm::bulk::doubles;

/// A job of one spectrum.
#[wasm_bindgen]
pub struct Spectrum {
    job: SpectrumJob,
}

fetched!(Spectrum);

#[wasm_bindgen]
impl Spectrum {
    /// What it costs: `{pixels, requests, bytes, peak_bytes, minimum_bytes}`.
    #[must_use]
    pub fn plan(&self) -> JsValue {
        let plan = self.job.plan();
        Record::new()
            .number("pixels", plan.pixels)
            .number("requests", plan.requests)
            .number("bytes", plan.bytes)
            .number("peak_bytes", plan.peak_bytes)
            .number("minimum_bytes", plan.minimum_bytes)
            .into()
    }

    /// The spectrum, once it is finished: `{mz, intensity, max, pixels}`; `max` is null for one pixel.
    ///
    /// # Errors
    /// What is wrong with the bytes, or no memory.
    pub fn ready(&mut self) -> Result<JsValue, Thrown> {
        let Some(found) = self.job.ready().map_err(thrown)? else {
            return Ok(JsValue::UNDEFINED);
        };
        let max = match found.max {
            [] => JsValue::NULL,
            max => Float32Array::new_from_slice(max).into(),
        };
        Ok(Record::new()
            .with("mz", &Float64Array::new_from_slice(found.mz))
            .with("intensity", &Float64Array::new_from_slice(found.intensity))
            .with("max", &max)
            .number("pixels", found.pixels)
            .into())
    }
}

#[wasm_bindgen]
impl Store {
    /// The spectrum of the region that `wish` names, by a pass over the whole store.
    ///
    /// # Errors
    /// A region or a slice that does not exist, a budget that is too small.
    pub fn spectrum(&self, wish: &JsValue) -> Result<Spectrum, Thrown> {
        let region = read_region(wish)?;
        let job = SpectrumJob::of_store(&self.head, &region, &read_wish(wish)?).map_err(thrown)?;
        Ok(Spectrum { job })
    }
}

#[wasm_bindgen]
impl Index {
    /// The spectrum of the region that `wish` names, by the arrays of its spectra alone; in the bins of
    /// `store` where there are several pixels.
    ///
    /// # Errors
    /// A region or a slice that does not exist, arrays of unequal length, a budget that is too small.
    pub fn spectrum(&self, store: &Store, wish: &JsValue) -> Result<Spectrum, Thrown> {
        let region = read_region(wish)?;
        let bins = Some(store.head.layout.bins);
        let wish = Wish {
            skip_bad: self.skip_bad,
            ..read_wish(wish)?
        };
        let job = SpectrumJob::of_pair(self.dataset()?, &self.ibd, &region, bins, &wish);
        Ok(Spectrum {
            job: job.map_err(thrown)?,
        })
    }
}

/// `pixel` is `[x, y]`, `rect` `[x0, y0, x1, y1]`, `polygon` `[x, y, x, y, …]`.
fn read_region(wish: &JsValue) -> Result<Region, Thrown> {
    if let Some([x, y]) = corners(wish, "pixel")?.as_deref() {
        return Ok(Region::Pixel {
            x: side(*x)?,
            y: side(*y)?,
        });
    }
    if let Some([x0, y0, x1, y1]) = corners(wish, "rect")?.as_deref() {
        return Ok(Region::Rect {
            x0: side(*x0)?,
            y0: side(*y0)?,
            x1: side(*x1)?,
            y1: side(*y1)?,
        });
    }
    match corners(wish, "polygon")? {
        Some(polygon) if polygon.len().is_multiple_of(2) => {
            Ok(Region::Polygon(polygon.as_chunks::<2>().0.to_vec()))
        }
        _ => Err(wrong("it is no pixel, rectangle or polygon")),
    }
}

fn corners(wish: &JsValue, name: &str) -> Result<Option<Vec<f64>>, Thrown> {
    match record::member(wish, name) {
        Some(found) => match found.dyn_ref::<Float64Array>() {
            Some(array) => doubles(array).map(Some),
            None => Err(wrong("its numbers are no Float64Array")),
        },
        None => Ok(None),
    }
}

fn side(value: f64) -> Result<u32, Thrown> {
    record::whole(value)
        .and_then(|value| u32::try_from(value).ok())
        .ok_or_else(|| wrong("a pixel's place is not a whole number from 0 on"))
}

fn wrong(what: &str) -> Thrown {
    thrown(Error::Parameter {
        name: "region",
        what: what.to_owned(),
    })
}
