//! Whole annotations of a store in memory.

use std::rc::Rc;

use sectile::ion::annotate::Ions;
use wasm_bindgen::prelude::*;

use crate::planted::{Outcome, Planted, patterns};

/// A store in which every ion of a list was measured.
#[wasm_bindgen]
pub struct TimedAnnotation {
    planted: Planted,
    decoys: Rc<Ions>,
    outcome: Outcome,
}

#[wasm_bindgen]
impl TimedAnnotation {
    /// A store of about `peaks` peaks on 100×100 pixels.
    #[wasm_bindgen(constructor)]
    pub fn new(peaks: f64) -> Result<TimedAnnotation, JsError> {
        let planted = Planted::new(peaks as u64)?;
        let decoys = planted.with_decoys(20)?;
        Ok(TimedAnnotation { planted, decoys, outcome: Outcome::default() })
    }

    /// Annotates all ions that were measured, or the list with 20 decoys of each target; how many ions.
    pub fn annotate(&mut self, decoys: bool) -> Result<f64, JsError> {
        let ions = if decoys { &self.decoys } else { &self.planted.ions };
        self.outcome = self.planted.annotate(ions, |_, _| {})?;
        Ok(self.outcome.ions as f64)
    }

    /// Computes the patterns of all ions that were measured; how many.
    pub fn patterns(&self) -> Result<usize, JsError> {
        Ok(patterns(&self.planted.ions)?.len())
    }

    /// The sum of MSM of the last annotation's targets.
    pub fn msm(&self) -> f64 {
        self.outcome.msm
    }

    /// Targets of the last annotation that score.
    pub fn scored(&self) -> f64 {
        self.outcome.targets as f64
    }

    /// Peaks of all images.
    pub fn peaks(&self) -> f64 {
        self.planted.head.layout.contents.peaks as f64
    }
}
