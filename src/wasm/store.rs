//! A store: opened and described. What is done with one is in the rooms of the modules.

use std::rc::Rc;

use js_sys::{Array, Uint8Array};
use wasm_bindgen::prelude::*;

use super::record::Record;
use super::{Thrown, feed, need, offset, thrown};
use crate::error::Error;
use crate::store::head::{Counts, Head, Meta};
use crate::store::read::Open;

/// A store whose head is being read.
#[wasm_bindgen]
pub struct OpenStore {
    open: Option<Open>,
}

#[wasm_bindgen]
impl OpenStore {
    /// Starts at the file's first byte; the head may take half of `memory`.
    ///
    /// # Errors
    /// A memory that is no number of bytes.
    #[wasm_bindgen(constructor)]
    pub fn new(name: &str, memory: f64) -> Result<OpenStore, Thrown> {
        let open = Open::new(name, offset("memory", memory)? / 2);
        Ok(Self { open: Some(open) })
    }

    /// The range that is needed next, `[start, end]`; nothing once the head is there.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub fn need(&mut self) -> Result<Option<Vec<f64>>, Thrown> {
        need(self.machine()?)
    }

    /// Takes the bytes of the range; `total` is the file's size, or negative where it is not known.
    ///
    /// # Errors
    /// Bytes that were not asked for, or not the file's.
    pub fn feed(&mut self, at: f64, bytes: &Uint8Array, total: f64) -> Result<(), Thrown> {
        feed(self.machine()?, at, bytes, total)
    }

    /// The store that was opened, which may use `memory` bytes for what it keeps. Nothing is left here.
    ///
    /// # Errors
    /// If its head is not there yet.
    pub fn store(&mut self, memory: f64) -> Result<Store, Thrown> {
        let memory = offset("memory", memory)?;
        let open = self.open.take().ok_or_else(opened)?;
        let head = Rc::new(open.into_head().map_err(thrown)?);
        Ok(Store {
            #[cfg(feature = "wasm-ions")]
            drawing: super::ions::Drawing::new(Rc::clone(&head), memory),
            head,
            memory,
        })
    }

    fn machine(&mut self) -> Result<&mut Open, Thrown> {
        self.open.as_mut().ok_or_else(opened)
    }
}

fn opened() -> Thrown {
    thrown(Error::Parameter {
        name: "store",
        what: "it has been opened already".to_owned(),
    })
}

/// An open store.
#[wasm_bindgen]
pub struct Store {
    pub(super) head: Rc<Head>,
    /// Bytes that may be held for it.
    pub(super) memory: u64,
    /// What its images and tables are drawn with.
    #[cfg(feature = "wasm-ions")]
    pub(super) drawing: super::ions::Drawing,
}

#[wasm_bindgen]
impl Store {
    /// What the head says.
    #[must_use]
    pub fn describe(&self) -> JsValue {
        let head = &self.head;
        let contents = &head.layout.contents;
        let Meta {
            slices, pixel_size, ..
        } = &head.meta;
        let both = pixel_size[0].zip(pixel_size[1]);
        let pair = |x: f64, y: f64| JsValue::from(Array::of2(&x.into(), &y.into()));
        let range = match contents.peaks {
            0 => JsValue::NULL,
            _ => pair(contents.first_mz, contents.last_mz),
        };
        let origin = head.meta.origin.map(f64::from);
        Record::new()
            .number("width", contents.width)
            .number("height", contents.height)
            .with("slices", &integers(slices, contents.slices))
            .number("peaks", contents.peaks)
            .number("spectra", contents.spectra)
            .with("mz", &range)
            .with(
                "pixelSize",
                &both.map_or(JsValue::NULL, |(x, y)| pair(x, y)),
            )
            .with("origin", &pair(origin[0], origin[1]))
            .text("polarity", &head.meta.polarity)
            .text("representation", &head.meta.representation)
            .maybe_text("instrument", head.meta.instrument.as_deref())
            .text("source", &head.meta.source)
            .text("writer", &head.meta.writer)
            .maybe_text("uuid", head.meta.uuid.as_deref())
            .with("counts", &counts(&head.meta.counts))
            .texts("warnings", &head.meta.warnings)
            .number("acquired", head.mask.count())
            .number("blocks", head.layout.blocks)
            .number("bytes", head.file_bytes)
            .into()
    }
}

/// The slices' own numbers; 1, 2, … where the store does not tell as many as it has.
fn integers(values: &[i32], count: u32) -> JsValue {
    let array = Array::new();
    for n in 0..count {
        let told = values
            .get(n as usize)
            .filter(|_| values.len() == count as usize);
        array.push(
            &told
                .map_or(f64::from(n) + 1.0, |value| f64::from(*value))
                .into(),
        );
    }
    array.into()
}

/// Counts by their names.
pub(super) fn counts(counts: &Counts) -> JsValue {
    let mut record = Record::new();
    for (name, value) in counts.named() {
        record = record.number(name, value);
    }
    record.into()
}
