//! Ion images that wait for their bytes.

use std::rc::Rc;

use js_sys::{Array, Float32Array, Float64Array};
use wasm_bindgen::prelude::*;

use super::record::{self, Record};
use super::{Thrown, thrown};
use crate::error::Error;
use crate::ion::images::{ImagesJob, Wish};
use crate::ion::normalise::Norms;
use crate::ion::window::Window;
use crate::job::Job;
use crate::wasm::bulk::doubles;

/// A job of images.
#[wasm_bindgen]
pub struct Images {
    pub(super) job: ImagesJob,
    pub(super) norms: Option<Rc<Norms>>,
}

fetched!(Images);

#[wasm_bindgen]
impl Images {
    /// The next finished image, with a copy of its values; images come in the order of their m/z.
    ///
    /// # Errors
    /// Damaged blocks, or no memory.
    pub fn ready(&mut self) -> Result<JsValue, Thrown> {
        let Some(image) = self.job.ready().map_err(thrown)? else {
            return Ok(JsValue::UNDEFINED);
        };
        let mut max = image.max;
        let values = match &self.norms {
            None => Float32Array::new_from_slice(image.values),
            Some(norms) => {
                let mut values = Vec::new();
                values
                    .try_reserve_exact(image.values.len())
                    .map_err(|_| thrown(no_room(image.values.len())))?;
                values.extend_from_slice(image.values);
                max = norms.apply(image.first, &mut values).map_err(thrown)?;
                Float32Array::new_from_slice(&values)
            }
        };
        let window = Array::of2(&image.window.lo.into(), &image.window.hi.into());
        Ok(Record::new()
            .number("index", image.index as u64)
            .with("window", &window)
            .number("width", image.width)
            .number("height", image.height)
            .with("values", &values)
            .number("hits", image.hits)
            .float("max", f64::from(max))
            .number("requests", image.requests)
            .number("bytes", image.bytes)
            .into())
    }
}

fn no_room(values: usize) -> Error {
    Error::Budget {
        need: 4 * values as u64,
        have: 0,
        what: "a normalised image".to_owned(),
    }
}

/// Windows from m/z, half-width, and 0 for ppm or 1 for Da, in turn.
pub(super) fn windows(wanted: &Float64Array) -> Result<Vec<Window>, Thrown> {
    let wanted = doubles(wanted)?;
    let mut windows = Vec::new();
    for window in wanted.as_chunks::<3>().0 {
        let [mz, half, unit] = *window;
        let window = if unit == 0.0 {
            Window::ppm(mz, half)
        } else {
            Window::dalton(mz, half)
        };
        windows.push(window.map_err(thrown)?);
    }
    Ok(windows)
}

pub(super) fn read_wish(value: &JsValue) -> Result<Wish, Thrown> {
    let usual = Wish::default();
    Ok(Wish {
        slice: record::small(value, "slice")?.unwrap_or(usual.slice),
        memory: record::count(value, "memory")?.unwrap_or(usual.memory),
        in_flight: record::small(value, "in_flight")?.unwrap_or(usual.in_flight),
        ..usual
    })
}
