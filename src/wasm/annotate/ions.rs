//! All ions of a list, and what is done with them.

use std::rc::Rc;

use js_sys::{Array, Uint32Array};
use wasm_bindgen::prelude::*;

use super::job::{Annotating, read_wish, told as plan_told};
use super::list::{Molecules, told};
use super::request::read_request;
use crate::ion::annotate::{self, AnnotateJob};
use crate::results::hex;
use crate::wasm::record::Record;
use crate::wasm::store::Store;
use crate::wasm::{Thrown, offset, thrown};

/// All ions that a list and a request have, targets and decoys, in the order in which they are scored.
#[wasm_bindgen]
pub struct Ions {
    pub(super) order: Rc<annotate::Ions>,
    pub(super) list_sha256: [u8; 32],
    /// What contradicts the charge.
    pub(super) warnings: Vec<String>,
}

#[wasm_bindgen]
impl Ions {
    /// Chooses decoys and puts all ions in order, in at most `memory` bytes.
    ///
    /// # Errors
    /// Adducts that cannot be read, options that make no sense, members of `wish` that are not of their kind.
    #[wasm_bindgen(constructor)]
    pub fn new(molecules: &Molecules, wish: &JsValue, memory: f64) -> Result<Ions, Thrown> {
        let memory = offset("memory", memory)?;
        let (request, warnings) = read_request(wish)?;
        let ions = annotate::Ions::new(Rc::clone(&molecules.molecules), request, memory);
        Ok(Self {
            order: Rc::new(ions.map_err(thrown)?),
            list_sha256: molecules.sha256,
            warnings,
        })
    }

    /// What is looked for.
    #[must_use]
    pub fn describe(&self) -> JsValue {
        let ions = &self.order;
        let warnings = [self.warnings.clone(), ions.warnings()].concat();
        let modifiers = Array::new();
        for target in &ions.request().targets {
            modifiers.push(&JsValue::from_str(&target.to_string()));
        }
        told(Record::new(), ions.molecules())
            .with("adducts", &modifiers)
            .float("charge", f64::from(ions.request().charge))
            .number("targets", ions.targets())
            .number("decoys", ions.decoys())
            .number("ions", ions.len())
            .number("impossible", ions.impossible())
            .texts("warnings", &warnings)
            .into()
    }

    /// What tells these ions, the request and the store from others, in hexadecimal.
    #[must_use]
    pub fn fingerprint(&self, store: &Store) -> String {
        let both = [self.order.fingerprint(), store.head.digest];
        both.iter().map(hex).collect()
    }

    /// Ranges of the order that can be scored apart from each other: `[from, to, from, to, …]`.
    #[must_use]
    pub fn shards(&self, count: u32) -> Uint32Array {
        let shards = self.order.shards(count).into_iter();
        let flat: Vec<u32> = shards.flat_map(|shard| [shard.start, shard.end]).collect();
        Uint32Array::new_from_slice(&flat)
    }

    /// What the ions from `from` to `to` cost.
    ///
    /// # Errors
    /// A budget that is too small, a slice that does not exist, members of `wish` that are not of their kind.
    pub fn plan(
        &self,
        store: &Store,
        from: u32,
        to: u32,
        wish: &JsValue,
    ) -> Result<JsValue, Thrown> {
        let wish = read_wish(store, wish)?;
        let plan = annotate::plan(&store.head, &self.order, from..to, &wish).map_err(thrown)?;
        Ok(plan_told(&plan))
    }

    /// A job that scores the ions from `from` to `to`, going on at `position`.
    ///
    /// # Errors
    /// As [`plan`](Self::plan), and a position outside of the range.
    pub fn annotate(
        &self,
        store: &Store,
        from: u32,
        to: u32,
        position: u32,
        wish: &JsValue,
    ) -> Result<Annotating, Thrown> {
        let wish = read_wish(store, wish)?;
        let (head, ions) = (Rc::clone(&store.head), Rc::clone(&self.order));
        let job = AnnotateJob::new(head, ions, from..to, position, &wish).map_err(thrown)?;
        Ok(Annotating::new(job, to))
    }
}
