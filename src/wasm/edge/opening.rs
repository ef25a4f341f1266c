//! A dataset that is being opened.

use js_sys::{Array, Uint8Array};
use wasm_bindgen::prelude::*;

use crate::api::catalog::Dataset;
use crate::api::opened::{Opened, Opening as Core, saved};
use crate::api::version::files;
use crate::error::Error;
use crate::wasm::record::{self, Record};
use crate::wasm::{Thrown, bulk, number, offset, thrown};

/// Reads what headers and heads say.
#[wasm_bindgen]
pub struct Opening {
    pub(super) dataset: Dataset,
    memory: u64,
    /// Nothing once it is finished.
    core: Option<Core>,
    opened: Option<Opened>,
}

impl Opening {
    pub(super) fn new(dataset: &Dataset, memory: u64) -> Result<Self, Thrown> {
        Ok(Self {
            core: Some(Core::new(dataset, memory).map_err(thrown)?),
            dataset: dataset.clone(),
            memory,
            opened: None,
        })
    }

    /// What was opened; of an opening that was restored, or that has read all.
    pub(super) fn finish(&mut self) -> Result<Opened, Thrown> {
        if let Some(core) = self.core.take() {
            self.opened = Some(core.finish().map_err(thrown)?);
        }
        self.opened.clone().ok_or_else(over)
    }

    fn core(&mut self) -> Result<&mut Core, Thrown> {
        self.core.as_mut().ok_or_else(over)
    }
}

#[wasm_bindgen]
impl Opening {
    /// What the opening is called once it is saved; nothing where it need not be, for the catalog or one read says all.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn key(&self) -> Option<String> {
        let core = self.core.as_ref()?;
        (core.pending().count() > 1).then(|| saved::key(&self.dataset))
    }

    /// The sources that still need bytes.
    #[must_use]
    pub fn pending(&self) -> Vec<u32> {
        let core = self.core.as_ref();
        core.map_or_else(Vec::new, |core| core.pending().collect())
    }

    /// Takes a saved opening in place of reading; `false` if it is not that of this dataset, which then is to be read.
    ///
    /// # Errors
    /// Bytes for which there is no room.
    pub fn restore(&mut self, bytes: &Uint8Array) -> Result<bool, Thrown> {
        let bytes = bulk::within(bytes, self.memory)?;
        let restored = saved::restore(&self.dataset, &bytes, self.memory);
        let is_ours = restored.is_ok();
        if let Ok(opened) = restored {
            self.opened = Some(opened);
            self.core = None;
        }
        Ok(is_ours)
    }

    /// What to keep, after the dataset was opened; nothing where it cannot be kept.
    #[must_use]
    pub fn saved(&self) -> Option<Vec<u8>> {
        saved::to_bytes(&self.dataset, self.opened.as_ref()?)
    }

    /// All files: `{url, remote, size, etag, modified}`, as far as that is known.
    #[must_use]
    pub fn sources(&self) -> Array {
        let seen = self.opened.as_ref().map_or(&[][..], Opened::sources);
        let entries = files(&self.dataset.kind).enumerate();
        entries
            .map(|(at, entry)| {
                let seen = seen.get(at).cloned().unwrap_or_default();
                let known = Record::new()
                    .maybe_number("total", seen.size.or(entry.size))
                    .maybe_text("etag", seen.etag.as_deref().or(entry.etag.as_deref()))
                    .maybe_text("modified", seen.modified.as_deref());
                JsValue::from(
                    Record::new()
                        .text("url", &entry.url)
                        .flag("remote", entry.remote)
                        .with("known", &known.into()),
                )
            })
            .collect()
    }

    /// The range of a source that is needed next, `[start, end]`; nothing once all of it is there.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub fn need(&mut self, source: u32) -> Result<Option<Vec<f64>>, Thrown> {
        let need = self.core()?.need(source).map_err(thrown)?;
        Ok(need.map(|range| vec![number(range.start), number(range.end)]))
    }

    /// Takes the bytes of the range; `total` is the file's size, or negative where it is not known.
    ///
    /// # Errors
    /// Bytes that were not asked for, or a file of another size.
    pub fn feed(
        &mut self,
        source: u32,
        at: f64,
        bytes: &Uint8Array,
        total: f64,
    ) -> Result<(), Thrown> {
        let bytes = bulk::within(bytes, self.memory)?;
        let total = if total < 0.0 {
            None
        } else {
            Some(offset("total", total)?)
        };
        let at = offset("at", at)?;
        let fed = self.core()?.feed(source, at, &bytes, total);
        fed.map_err(thrown)
    }

    /// Takes note of what answers told of a source: `{etag, modified}`.
    ///
    /// # Errors
    /// A file of another version than declared.
    pub fn identify(&mut self, source: u32, known: &JsValue) -> Result<(), Thrown> {
        let (etag, modified) = (
            record::text(known, "etag")?,
            record::text(known, "modified")?,
        );
        let core = self.core()?;
        let noted = core.identify(source, etag.as_deref(), modified.as_deref());
        noted.map_err(thrown)
    }
}

fn over() -> Thrown {
    thrown(Error::Parameter {
        name: "opening",
        what: "it has ended".to_owned(),
    })
}
