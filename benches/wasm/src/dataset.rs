//! A set of centroids on its way into a store and into images, behind exports that
//! `benches/wasm/dataset.mjs` times.

#[path = "../../generate/packed.rs"]
mod packed;
#[path = "../../generate/set.rs"]
mod set;

use packed::Packed;
use sectile::imzml::dataset::Dataset;
use set::Set;
use wasm_bindgen::prelude::*;

/// One set, and what was made of it so far.
#[wasm_bindgen]
pub struct TimedDataset {
    packed: Packed,
    dataset: Option<Dataset>,
}

#[wasm_bindgen]
impl TimedDataset {
    /// 100×100 pixels with so many peaks, whose m/z take 4 or 8 bytes.
    #[wasm_bindgen(constructor)]
    pub fn new(peaks: usize, mz_bytes: u32) -> Result<TimedDataset, JsError> {
        let set = Set {
            size: [100, 100],
            peaks,
            mz_bytes: mz_bytes.into(),
            ions: 22_000,
            seed: 1,
        };
        Ok(TimedDataset { packed: Packed::new(&set)?, dataset: None })
    }

    /// Reads the XML; gives the number of spectra.
    pub fn read(&mut self) -> Result<usize, JsError> {
        let dataset = self.packed.read()?;
        let spectra = dataset.spectra.len();
        self.dataset = Some(dataset);
        Ok(spectra)
    }

    /// Packs what was read; gives the number of peaks.
    pub fn pack(&mut self) -> Result<f64, JsError> {
        let dataset = self.dataset.take().ok_or_else(|| JsError::new("read it first"))?;
        Ok(self.packed.pack(dataset)? as f64)
    }

    /// Most bytes that packing held.
    pub fn peak(&self) -> f64 {
        self.packed.peak as f64
    }

    /// Bytes of the store.
    pub fn bytes(&self) -> usize {
        self.packed.bytes()
    }

    /// Opens the store and fetches its blocks.
    pub fn open(&mut self) -> Result<(), JsError> {
        Ok(self.packed.open()?)
    }

    /// Takes all images, one at a time; gives the number of peaks in them.
    pub fn images(&self) -> Result<f64, JsError> {
        Ok(self.packed.images()? as f64)
    }

    /// How many images that is.
    pub fn windows(&self) -> usize {
        self.packed.windows()
    }
}
