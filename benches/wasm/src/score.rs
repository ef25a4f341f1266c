//! Scores of ions in memory.

use sectile::budget::Budget;
use sectile::ion::score::{Area, Options, Scorer, Sparse, chaos};
use wasm_bindgen::prelude::*;

use crate::images::{Images, THEORY, labelled};

/// Images of one kind, and a scorer of them.
#[wasm_bindgen]
pub struct TimedScores {
    side: u32,
    images: Vec<Images>,
    dense: Vec<Vec<f32>>,
    scorer: Scorer,
}

#[wasm_bindgen]
impl TimedScores {
    /// `each` ions of `side`×`side` pixels; `kind` is 0 for scattered peaks, 1 for a tissue, 2 for noise.
    #[wasm_bindgen(constructor)]
    pub fn new(side: u32, each: usize, kind: usize, hotspot: bool) -> Result<TimedScores, JsError> {
        let images = Images::all(side, each).swap_remove(kind);
        let area = Area { width: side, height: side, acquired: u64::from(side * side) };
        let options = Options { hotspot, ..Options::default() };
        Ok(TimedScores {
            side,
            dense: images.iter().map(|image| image.dense(side)).collect(),
            images,
            scorer: Scorer::new(area, options, &mut Budget::new(1 << 30))?,
        })
    }

    /// What kind it is.
    pub fn name(&self) -> String {
        self.images[0].name.to_owned()
    }

    /// Every ion's scores; the sum of MSM.
    pub fn scores(&mut self) -> Result<f64, JsError> {
        let mut sum = 0.0;
        for image in &self.images {
            sum += self.scorer.score(&THEORY, &image.lists(), true)?.msm;
        }
        Ok(sum)
    }

    /// Every ion's chaos, and the sums of its first image.
    pub fn first(&mut self) -> Result<f64, JsError> {
        let (mut sum, none) = (0.0, Sparse::default());
        for image in &self.images {
            let images = [image.lists()[0], none, none, none];
            sum += self.scorer.score(&THEORY, &images, true)?.chaos;
        }
        Ok(sum)
    }

    /// Chaos of every first image as an array.
    pub fn arrays(&self) -> Result<f64, JsError> {
        let mut sum = 0.0;
        for image in &self.dense {
            sum += chaos(image, self.side, self.side, 30)?;
        }
        Ok(sum)
    }

    /// The same by 30 labellings each.
    pub fn labelled(&self) -> f64 {
        self.dense.iter().map(|image| labelled(image, self.side as usize)).sum()
    }
}
