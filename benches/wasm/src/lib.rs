//! Kernels behind exports that the scripts of `benches/wasm` time.

pub mod ion;
#[path = "../../sample/ions.rs"]
mod ions;
pub mod isotope;
#[path = "../../sample/lines.rs"]
mod lines;

mod annotate;
mod dataset;
#[path = "../../sample/images.rs"]
mod images;
#[path = "../../sample/planted.rs"]
mod planted;
mod score;

use sectile::fits::pixel::{Bitpix, Encoding};
use sectile::stack::median::{Kernel, Samples, nanmedian};
use wasm_bindgen::prelude::*;

/// A stack in slots of its own, as a job holds it.
#[wasm_bindgen]
pub struct TimedStack {
    kernel: Kernel,
    encoding: Encoding,
    arrays: Vec<Vec<f32>>,
    source: Vec<Vec<u8>>,
    slots: Vec<Vec<u8>>,
    out: Vec<f32>,
    wide: Vec<f64>,
    count: Vec<u16>,
}

#[wasm_bindgen]
impl TimedStack {
    /// `n` exposures of `width` pixels; `pixels` are their stored bytes, one exposure after another.
    #[wasm_bindgen(constructor)]
    pub fn new(n: usize, width: usize, bitpix: i32, bzero: f64, pixels: &[u8]) -> Result<TimedStack, JsError> {
        let bitpix = Bitpix::from_card(bitpix.into()).ok_or_else(|| JsError::new("no such BITPIX"))?;
        let source: Vec<Vec<u8>> = pixels
            .chunks(width * bitpix.size())
            .map(<[u8]>::to_vec)
            .collect();
        let arrays = source
            .iter()
            .filter(|_| bitpix == Bitpix::F32)
            .map(|row| row.as_chunks().0.iter().map(|pixel| f32::from_be_bytes(*pixel)).collect())
            .collect();
        Ok(TimedStack {
            arrays,
            kernel: Kernel::new(n)?,
            encoding: Encoding { bzero, ..Encoding::plain(bitpix) },
            slots: source.clone(),
            source,
            out: vec![0.0; width],
            wide: vec![0.0; width],
            count: vec![0; width],
        })
    }

    /// Writes every slot afresh, as a driver does with the bodies that come in.
    pub fn refill(&mut self) {
        for (slot, source) in self.slots.iter_mut().zip(&self.source) {
            slot.copy_from_slice(source);
        }
    }

    /// The median of `pixels` pixels from `start`.
    pub fn reduce(&mut self, start: usize, pixels: usize) -> Result<(), JsError> {
        let size = self.encoding.bitpix.size();
        let rows: Vec<Samples<'_>> = self
            .slots
            .iter()
            .map(|slot| Samples { bytes: &slot[start * size..], encoding: self.encoding })
            .collect();
        let end = start + pixels;
        let count = &mut self.count[start..end];
        if self.encoding.is_wide() {
            self.kernel.median_f64(&rows, &mut self.wide[start..end], count)?;
        } else {
            self.kernel.median_f32(&rows, &mut self.out[start..end], count)?;
        }
        Ok(())
    }

    /// The median of all pixels as native values, in one call.
    pub fn reduce_arrays(&mut self) -> Result<(), JsError> {
        let rows: Vec<&[f32]> = self.arrays.iter().map(Vec::as_slice).collect();
        nanmedian(&rows, &mut self.out, &mut self.count)?;
        Ok(())
    }

    /// The sum of the results that are numbers, so that nothing is optimised away.
    pub fn checksum(&self) -> f64 {
        let sum: f64 = self.out.iter().filter(|v| v.is_finite()).map(|&v| f64::from(v)).sum();
        sum + self.wide.iter().filter(|v| v.is_finite()).sum::<f64>()
    }
}
