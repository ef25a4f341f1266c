//! An answer that is being computed.

use wasm_bindgen::prelude::*;

use super::asking::plain;
use crate::api::answer::Answer as Core;
use crate::job::Job;
use crate::wasm::{Thrown, thrown};

/// A job whose one item is the answer.
#[wasm_bindgen]
pub struct Answer {
    job: Core,
}

impl Answer {
    pub(super) fn new(job: Core) -> Self {
        Self { job }
    }
}

fetched!(Answer);

#[wasm_bindgen]
impl Answer {
    /// Whether the answer has become ready.
    ///
    /// # Errors
    /// Those of the computation.
    pub fn ready(&mut self) -> Result<bool, Thrown> {
        Ok(self.job.ready().map_err(thrown)?.is_some())
    }

    /// The dataset's sources, by their places, that the sources of fetches are.
    #[must_use]
    pub fn sources(&self) -> Vec<u32> {
        self.job.sources().to_vec()
    }

    /// The answer: `{status, headers, body}`. Nothing is left here.
    ///
    /// # Errors
    /// If it is not ready.
    pub fn reply(self) -> Result<JsValue, Thrown> {
        Ok(plain(&self.job.into_reply().map_err(thrown)?))
    }
}
