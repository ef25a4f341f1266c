//! A shard that is being computed, and its part.

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use crate::api::jobs::shard::{Part as CorePart, Shard as Core};
use crate::job::Job;
use crate::wasm::{Thrown, number, thrown};

/// A job that leaves a part.
#[wasm_bindgen]
pub struct Shard {
    job: Core,
}

impl Shard {
    pub(super) fn new(job: Core) -> Self {
        Self { job }
    }
}

fetched!(Shard);

#[wasm_bindgen]
impl Shard {
    /// Whether some of it has been finished.
    ///
    /// # Errors
    /// Those of the computation.
    pub fn ready(&mut self) -> Result<bool, Thrown> {
        Ok(self.job.ready().map_err(thrown)?.is_some())
    }

    /// The dataset's sources, by their places, that the sources of fetches are.
    #[must_use]
    pub fn sources(&self) -> Vec<u32> {
        self.job.sources()
    }

    /// The part. Nothing is left here.
    ///
    /// # Errors
    /// If the shard is not done.
    pub fn part(self) -> Result<Part, Thrown> {
        Ok(Part(self.job.into_part().map_err(thrown)?))
    }
}

/// A finished part.
#[wasm_bindgen]
pub struct Part(CorePart);

#[wasm_bindgen]
impl Part {
    /// Bytes of the part.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn bytes(&self) -> f64 {
        number(self.0.bytes())
    }

    /// Copies all of it to the beginning of an array; tells how many bytes that are.
    #[must_use]
    pub fn copy(&self, to: &Uint8Array) -> u32 {
        let mut at = 0;
        let mut pieces = (0..).map_while(|number| self.0.piece(number));
        let copied = pieces.try_for_each(|piece| {
            let len = u32::try_from(piece.len()).ok()?;
            let end = at + len;
            (end <= to.length()).then(|| to.subarray(at, end).copy_from(piece))?;
            at = end;
            Some(())
        });
        if copied.is_some() { at } else { 0 }
    }
}
