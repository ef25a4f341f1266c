//! Results as files, and what a display needs to know about values.

use js_sys::{Float32Array, Float64Array, Uint8Array, Uint16Array};
use wasm_bindgen::prelude::*;

use super::bulk::{doubles, floats, room};
use super::stack::Stack;
use super::{Thrown, thrown};
use crate::fits::pixel::Bitpix;
use crate::fits::write::{self, ImageHeader};
use crate::png;
use crate::raster::plane::{Range, quantise};
use crate::raster::pyramid::Pyramid;
use crate::raster::stretch;

/// The contrast of zscale that every display starts with.
const CONTRAST: f64 = 0.25;

/// One tile as a 16-bit PNG with its own scale; the first row of `values` is its lowest.
///
/// # Errors
/// A shape that does not fit the number of values.
#[wasm_bindgen]
pub fn png_tile(
    width: u32,
    height: u32,
    values: &Float64Array,
    unit: Option<String>,
) -> Result<Uint8Array, Thrown> {
    let values = doubles(values)?;
    let mut seen = Range::new();
    seen.see(&values);
    let scale = seen.scale();
    let mut codes: Vec<u16> = room(u32::try_from(values.len()).unwrap_or(u32::MAX))?;
    let width_of = width.max(1) as usize;
    for (from, to) in values
        .chunks(width_of)
        .rev()
        .zip(codes.chunks_mut(width_of))
    {
        quantise(from, &scale, to);
    }
    let meta = png::Meta {
        unit,
        ..png::Meta::new(scale)
    };
    let bytes = png::encode(width, height, &codes, &meta).map_err(thrown)?;
    Ok(Uint8Array::new_from_slice(&bytes))
}

/// The limits z1, z2 of zscale with contrast 0.25.
///
/// # Errors
/// Too many samples.
#[wasm_bindgen]
pub fn zscale(samples: &Float32Array) -> Result<Vec<f64>, Thrown> {
    let samples = floats(samples)?;
    let limits = stretch::zscale(&samples, CONTRAST);
    Ok(limits.map_or_else(|| vec![0.0, 1.0], |limits| vec![limits.low, limits.high]))
}

/// Levels of a pyramid of tiles.
///
/// # Errors
/// A side of 0.
#[wasm_bindgen]
pub fn levels(width: u32, height: u32, tile: u32) -> Result<u32, Thrown> {
    Ok(Pyramid::new(width, height, tile).map_err(thrown)?.levels())
}

/// The pixels under a tile, `[x0, y0, x1, y1, step]`; nothing outside the image.
///
/// # Errors
/// A side of 0.
#[wasm_bindgen]
pub fn tile_rect(
    width: u32,
    height: u32,
    tile: u32,
    z: u32,
    x: u32,
    y: u32,
) -> Result<Option<Vec<u32>>, Thrown> {
    let pyramid = Pyramid::new(width, height, tile).map_err(thrown)?;
    let step = pyramid
        .levels()
        .checked_sub(z + 1)
        .and_then(|up| 1_u32.checked_shl(up));
    let place = pyramid.tile_rect(z, x, y).zip(step);
    Ok(place.map(|(rect, step)| vec![rect.x0, rect.y0, rect.x1, rect.y1, step]))
}

/// The parts of a FITS file, in order.
#[wasm_bindgen]
pub struct FitsWriter {
    primary: ImageHeader,
}

#[wasm_bindgen]
impl Stack {
    /// A FITS file for a result of this shape, which covers the whole image.
    #[must_use]
    pub fn fits(&self, width: u32, height: u32, wide: bool) -> FitsWriter {
        let stack = &self.stack;
        let count = stack.exposures.len();
        let mut history = vec![format!(
            "sectile {}: per-pixel median without NaN of {count} exposures",
            env!("CARGO_PKG_VERSION")
        )];
        history.extend(stack.left_out.clone());
        // A signed link's query is a secret and does not belong into a file that is passed on.
        let name = |name: &str| name.split(['?', '#']).next().unwrap_or(name).to_owned();
        history.extend(stack.exposures.iter().map(|exposure| name(&exposure.name)));
        let bitpix = if wide { Bitpix::F64 } else { Bitpix::F32 };
        FitsWriter {
            primary: ImageHeader {
                carried: stack.cards.clone(),
                unit: stack.unit.clone(),
                combined: u32::try_from(count).ok(),
                history,
                ..ImageHeader::primary(bitpix, width, height)
            },
        }
    }
}

#[wasm_bindgen]
impl FitsWriter {
    /// The primary header.
    ///
    /// # Errors
    /// A side of 0.
    pub fn header(&self) -> Result<Uint8Array, Thrown> {
        Ok(Uint8Array::new_from_slice(
            &self.primary.to_bytes().map_err(thrown)?,
        ))
    }

    /// The header of the extension COUNT.
    ///
    /// # Errors
    /// A side of 0.
    pub fn count_header(&self) -> Result<Uint8Array, Thrown> {
        let header = ImageHeader::count(self.primary.width, self.primary.height);
        Ok(Uint8Array::new_from_slice(
            &header.to_bytes().map_err(thrown)?,
        ))
    }
}

/// Values as they are stored.
///
/// # Errors
/// Too many at one time.
#[wasm_bindgen]
pub fn fits_values(values: &Float32Array) -> Result<Uint8Array, Thrown> {
    let mut bytes = Vec::new();
    write::put_f32(&floats(values)?, &mut bytes);
    Ok(Uint8Array::new_from_slice(&bytes))
}

/// Values in f64 as they are stored.
///
/// # Errors
/// Too many at one time.
#[wasm_bindgen]
pub fn fits_wide_values(values: &Float64Array) -> Result<Uint8Array, Thrown> {
    let mut bytes = Vec::new();
    write::put_f64(&doubles(values)?, &mut bytes);
    Ok(Uint8Array::new_from_slice(&bytes))
}

/// The zeros behind so many bytes of data.
#[wasm_bindgen]
#[must_use]
pub fn fits_padding(bytes: f64) -> Uint8Array {
    let bytes = super::offset("bytes", bytes).unwrap_or(0);
    Uint8Array::new_from_slice(&vec![0; write::padding(bytes)])
}

/// Counts as they are stored.
///
/// # Errors
/// Too many at one time, or a count beyond 32,767.
#[wasm_bindgen]
pub fn fits_count(count: &Uint16Array) -> Result<Uint8Array, Thrown> {
    let mut counts: Vec<u16> = room(count.length())?;
    count.copy_to(&mut counts);
    let mut bytes = Vec::new();
    write::put_u16(&counts, &mut bytes).map_err(thrown)?;
    Ok(Uint8Array::new_from_slice(&bytes))
}
