//! The list of molecules of an annotation, read from wherever it lies.

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use crate::api::Problem;
use crate::api::catalog::{BUILT_IN, Kind, SourceEntry};
use crate::api::jobs::ask::Asked;
use crate::api::jobs::list::{List as Core, ListReading, built_in};
use crate::api::service::Service;
use crate::wasm::edge::service::refused;
use crate::wasm::record::Record;
use crate::wasm::{Thrown, thrown};

/// A list that is being read, or that was.
#[wasm_bindgen]
pub struct List {
    entry: Option<SourceEntry>,
    reading: Option<ListReading>,
    core: Option<Core>,
}

impl List {
    /// The list that a job names; nothing for a job that has none.
    pub(super) fn of(
        service: &Service,
        dataset: &str,
        asked: &Asked,
        memory: u64,
    ) -> Result<Option<Self>, Thrown> {
        let Asked::Annotation(asked) = asked else {
            return Ok(None);
        };
        if asked.molecules == BUILT_IN {
            let core = Some(built_in(memory).map_err(thrown)?);
            return Ok(Some(Self {
                entry: None,
                reading: None,
                core,
            }));
        }
        let declared = service.catalog().dataset(dataset);
        let lists = declared.and_then(|declared| match &declared.kind {
            Kind::Ions(ions) => Some(&ions.molecules),
            Kind::Stack(_) => None,
        });
        let found = lists.and_then(|lists| lists.iter().find(|(name, _)| *name == asked.molecules));
        let Some((_, entry)) = found else {
            let detail = format!("{dataset} has no list {:?} any more", asked.molecules);
            return Err(refused(&Problem::new("job", detail)));
        };
        Ok(Some(Self {
            reading: Some(ListReading::new(entry.shown(), memory)),
            entry: Some(entry.clone()),
            core: None,
        }))
    }

    pub(super) fn core(&mut self) -> Result<&Core, Thrown> {
        if let Some(reading) = self.reading.take() {
            self.core = Some(reading.into_list().map_err(thrown)?);
        }
        let missing = || refused(&Problem::new("internal", "the list was not read"));
        self.core.as_ref().ok_or_else(missing)
    }
}

#[wasm_bindgen]
impl List {
    /// Where it lies, `{url, remote, known}`; nothing for the one that is built in.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn source(&self) -> Option<JsValue> {
        let entry = self.entry.as_ref()?;
        let known = Record::new()
            .maybe_number("total", entry.size)
            .maybe_text("etag", entry.etag.as_deref());
        let source = Record::new()
            .text("url", &entry.url)
            .flag("remote", entry.remote)
            .with("known", &known.into());
        Some(source.into())
    }

    /// The range that is needed next, `[start, end]`; nothing once all of it was read.
    ///
    /// # Errors
    /// None.
    pub fn need(&mut self) -> Result<Option<Vec<f64>>, Thrown> {
        self.reading.as_mut().map_or(Ok(None), crate::wasm::need)
    }

    /// Takes the bytes of the range; `total` is the file's size, or negative where it is not known.
    ///
    /// # Errors
    /// What is wrong with the list.
    pub fn feed(&mut self, at: f64, bytes: &Uint8Array, total: f64) -> Result<(), Thrown> {
        match &mut self.reading {
            Some(reading) => crate::wasm::feed(reading, at, bytes, total),
            None => Ok(()),
        }
    }
}
