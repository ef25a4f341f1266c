//! The binding to JavaScript: the only place that names it. Convert, call, convert.
//!
//! Bulk data crosses as typed arrays whose length is checked before anything is copied, never as
//! `&[u8]`: the binding would allocate for it before this code runs, and trap where there is no
//! room. Structures cross as plain objects with the names of the command line's `--json`, which
//! [`record`] builds and takes apart: a JSON library would be a fifth of the module.
//!
//! What a page of one kind needs is a module of its own, chosen by a feature: `wasm-stack`, `wasm-ions`
//! and `wasm-annotate`; so is what the Worker needs, `wasm-edge`. Rooms that several need are in each of them.
//!
//! Errors are thrown as objects `{code, message, at}`; the module's JavaScript turns them into
//! `CoreError`.

#![cfg(any(
    feature = "wasm-stack",
    feature = "wasm-ions",
    feature = "wasm-annotate",
    feature = "wasm-edge"
))]
#![cfg_attr(
    not(any(
        feature = "wasm-stack",
        feature = "wasm-ions",
        feature = "wasm-annotate"
    )),
    allow(
        dead_code,
        reason = "the Worker alone needs less of the common rooms than any page"
    )
)]
#![allow(unreachable_pub, reason = "what is bound is reached from JavaScript")]

#[macro_use]
mod fetched;

#[cfg(feature = "wasm-annotate")]
mod annotate;
mod bulk;
#[cfg(feature = "wasm-edge")]
mod edge;
#[cfg(feature = "wasm-stack")]
mod export;
#[cfg(feature = "wasm-ions")]
mod ions;
#[cfg(any(feature = "wasm-stack", feature = "wasm-ions"))]
mod png;
mod policy;
mod record;
#[cfg(feature = "wasm-stack")]
mod stack;
#[cfg(any(feature = "wasm-ions", feature = "wasm-annotate"))]
mod store;
#[cfg(feature = "wasm-stack")]
mod walk;

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use self::record::Record;
use crate::error::{Error, Result};
use crate::job::{Fetch, Machine, Step};

/// What a call throws.
type Thrown = JsValue;

/// An error of the core as JavaScript sees it.
#[expect(clippy::needless_pass_by_value, reason = "the form that map_err takes")]
fn thrown(error: Error) -> Thrown {
    Record::new()
        .text("code", error.code())
        .text("message", &error.to_string())
        .maybe_number("at", error.at())
        .into()
}

/// A file offset from JavaScript, exact below 2⁵³.
fn offset(name: &'static str, value: f64) -> Result<u64, Thrown> {
    record::whole(value).ok_or_else(|| {
        thrown(Error::Parameter {
            name,
            what: format!("{value} is not a byte offset"),
        })
    })
}

/// The range that a machine needs next, `[start, end]`; nothing once it is done.
fn need<M: Machine>(machine: &mut M) -> Result<Option<Vec<f64>>, Thrown> {
    loop {
        match machine.step().map_err(thrown)? {
            Step::Need(range) => return Ok(Some(vec![number(range.start), number(range.end)])),
            Step::Ready(_) => {}
            Step::Done => return Ok(None),
        }
    }
}

/// Hands a machine the bytes of the range that it needs; a negative `total` is a size that is not known.
fn feed<M: Machine>(
    machine: &mut M,
    at: f64,
    bytes: &Uint8Array,
    total: f64,
) -> Result<(), Thrown> {
    let bytes = bulk::bytes(bytes)?;
    let total = if total < 0.0 {
        None
    } else {
        Some(offset("total", total)?)
    };
    machine
        .feed(offset("at", at)?, &bytes, total)
        .map_err(thrown)
}

/// A fetch for JavaScript: `[slot, source, start, end, start, end, …]`.
fn flat(fetch: &Fetch) -> Vec<f64> {
    let mut flat = vec![f64::from(fetch.slot), f64::from(fetch.source)];
    for read in &fetch.reads {
        flat.extend([number(read.range.start), number(read.range.end)]);
    }
    flat
}

/// An offset or a small number for JavaScript.
#[expect(
    clippy::cast_precision_loss,
    reason = "files are below 2⁵³ bytes; larger ones were refused"
)]
fn number(value: u64) -> f64 {
    value as f64
}

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = console, js_name = error)]
    fn report(text: &str);
}

/// Runs once when the instance starts: what a panic says goes to the console, for the trap that
/// follows carries no text.
#[wasm_bindgen(start)]
pub fn start() {
    std::panic::set_hook(Box::new(|info| report(&info.to_string())));
}
