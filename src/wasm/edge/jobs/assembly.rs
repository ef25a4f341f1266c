//! Parts that are being put together.

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use crate::api::jobs::assembly::{Assembly as Core, Turn};
use crate::wasm::record::Record;
use crate::wasm::{Thrown, bulk, offset, thrown};

/// From parts to results.
#[wasm_bindgen]
pub struct Assembly {
    core: Core,
    memory: u64,
}

impl Assembly {
    pub(super) fn new(core: Core, memory: u64) -> Self {
        Self { core, memory }
    }
}

#[wasm_bindgen]
impl Assembly {
    /// What is wanted next: `{part, start, end}`, bytes of a part; `{file, bytes}`, the next bytes of a result; nothing once
    /// all is out.
    ///
    /// # Errors
    /// Parts that are damaged or of another job.
    pub fn turn(&mut self) -> Result<Option<JsValue>, Thrown> {
        Ok(match self.core.turn().map_err(thrown)? {
            Turn::Need { part, range } => Some(
                Record::new()
                    .number("part", part)
                    .number("start", range.start)
                    .number("end", range.end)
                    .into(),
            ),
            Turn::Put { file, bytes } => Some(
                Record::new()
                    .text("file", file)
                    .with("bytes", &Uint8Array::from(bytes))
                    .into(),
            ),
            Turn::Done => None,
        })
    }

    /// Takes bytes of a part, from `at` on; `total` is the part's size.
    ///
    /// # Errors
    /// Bytes that were not asked for, or a part that is cut short.
    pub fn feed(
        &mut self,
        part: u32,
        at: f64,
        bytes: &Uint8Array,
        total: f64,
    ) -> Result<(), Thrown> {
        let bytes = bulk::within(bytes, self.memory)?;
        let (at, total) = (offset("at", at)?, offset("total", total)?);
        self.core.feed(part, at, &bytes, total).map_err(thrown)
    }
}
