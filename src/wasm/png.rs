//! Pictures for a person to keep, band by band.

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

use js_sys::{Float64Array, Uint8Array};
use wasm_bindgen::prelude::*;

use super::bulk::{doubles, room};
use super::{Thrown, thrown};
use crate::error::Error;
use crate::png;
use crate::raster::plane::{Scale, quantise};

/// The sink of a writer whose bytes go to JavaScript as they come.
#[derive(Clone, Default)]
struct Sink(Rc<RefCell<Vec<u8>>>);

impl Sink {
    fn take(&self) -> Uint8Array {
        let bytes = self.0.take();
        Uint8Array::new_from_slice(&bytes)
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the form that map_err takes")]
fn refused(error: io::Error) -> Thrown {
    thrown(Error::Parameter {
        name: "png",
        what: error.to_string(),
    })
}

/// What values a picture has, for a scale that holds them all.
#[cfg(feature = "wasm-ions")]
#[wasm_bindgen]
pub struct Seen {
    range: crate::raster::plane::Range,
}

#[cfg(feature = "wasm-ions")]
#[wasm_bindgen]
impl Seen {
    /// No value yet.
    #[wasm_bindgen(constructor)]
    #[must_use]
    pub fn new() -> Self {
        Self {
            range: crate::raster::plane::Range::new(),
        }
    }

    /// Takes some of the values; NaN is none.
    ///
    /// # Errors
    /// Too many at one time.
    pub fn see(&mut self, values: &Float64Array) -> Result<(), Thrown> {
        self.range.see(&doubles(values)?);
        Ok(())
    }

    /// BZERO and BSCALE.
    #[must_use]
    pub fn scale(&self) -> Vec<f64> {
        let Scale { bzero, bscale } = self.range.scale();
        vec![bzero, bscale]
    }
}

/// A 16-bit PNG that is written band by band, from the top row down.
#[wasm_bindgen]
pub struct PngWriter {
    writer: Option<png::Writer<Sink>>,
    sink: Sink,
    scale: Scale,
    #[cfg(feature = "wasm-ions")]
    share: Option<png::Share>,
}

#[wasm_bindgen]
impl PngWriter {
    /// A picture of this shape and scale, with an alpha channel that is 0 where there is no value if
    /// one is wished for.
    ///
    /// # Errors
    /// A side of 0.
    #[wasm_bindgen(constructor)]
    pub fn new(
        width: u32,
        height: u32,
        bzero: f64,
        bscale: f64,
        unit: Option<String>,
        alpha: bool,
    ) -> Result<PngWriter, Thrown> {
        let scale = Scale { bzero, bscale };
        let meta = png::Meta {
            unit,
            ..png::Meta::new(scale)
        };
        let sink = Sink::default();
        let form = if alpha {
            png::Form::GreyAlpha
        } else {
            png::Form::Grey
        };
        let writer = png::Writer::new(sink.clone(), width, height, form, &meta);
        Ok(Self {
            writer: Some(writer.map_err(refused)?),
            sink,
            scale,
            #[cfg(feature = "wasm-ions")]
            share: None,
        })
    }

    /// Takes the next rows and gives the bytes that are finished.
    ///
    /// # Errors
    /// Part of a row, or more rows than the picture has.
    pub fn rows(&mut self, values: &Float64Array) -> Result<Uint8Array, Thrown> {
        let values = doubles(values)?;
        let mut codes = room(u32::try_from(values.len()).unwrap_or(u32::MAX))?;
        quantise(&values, &self.scale, &mut codes);
        let Some(writer) = &mut self.writer else {
            return Err(finished());
        };
        writer.rows(&codes).map_err(refused)?;
        Ok(self.sink.take())
    }

    /// The last bytes.
    ///
    /// # Errors
    /// If rows are missing.
    pub fn finish(&mut self) -> Result<Uint8Array, Thrown> {
        let Some(writer) = self.writer.take() else {
            return Err(finished());
        };
        writer.finish().map_err(refused)?;
        Ok(self.sink.take())
    }
}

#[cfg(feature = "wasm-ions")]
#[wasm_bindgen]
impl PngWriter {
    /// A picture of grey and alpha as METASPACE stores ion images, whose smallest and greatest values are these; it takes
    /// [`values`](Self::values) in place of rows.
    ///
    /// # Errors
    /// A side of 0.
    pub fn of_shares(width: u32, height: u32, least: f32, greatest: f32) -> Result<Self, Thrown> {
        let share = png::Share::new(least, greatest);
        let sink = Sink::default();
        let writer = png::Writer::of_shares(sink.clone(), width, height, &share);
        Ok(Self {
            writer: Some(writer.map_err(refused)?),
            sink,
            scale: share.scale(),
            share: Some(share),
        })
    }

    /// Takes the next rows, NaN where nothing was measured, and gives the bytes that are finished.
    ///
    /// # Errors
    /// Part of a row, or more rows than the picture has.
    pub fn values(&mut self, values: &js_sys::Float32Array) -> Result<Uint8Array, Thrown> {
        let mut held = room(values.length())?;
        values.copy_to(&mut held);
        let (Some(writer), Some(share)) = (&mut self.writer, &self.share) else {
            return Err(finished());
        };
        writer.values(&held, share).map_err(refused)?;
        Ok(self.sink.take())
    }
}

fn finished() -> Thrown {
    thrown(Error::Parameter {
        name: "png",
        what: "the picture is finished already".to_owned(),
    })
}
