//! The binding to JavaScript: the only place that names it. Convert, call, convert.
//!
//! Bulk data crosses as typed arrays whose length is checked before anything is copied, never as
//! `&[u8]`: the binding would allocate for it before this code runs, and trap where there is no
//! room. Structures cross as JSON text with the names of the command line's `--json`.
//!
//! Errors are thrown as JSON text `{"code", "message", "at"}`; the module's JavaScript turns them
//! into `CoreError`.

#![allow(unreachable_pub, reason = "what is bound is reached from JavaScript")]

mod export;
mod policy;
mod stack;
mod walk;

use serde::Serialize;
use wasm_bindgen::prelude::*;

use crate::error::Error;

/// What a call throws.
type Thrown = JsValue;

#[derive(Serialize)]
struct Told<'a> {
    code: &'a str,
    message: String,
    at: Option<u64>,
}

/// An error of the core as JavaScript sees it.
#[expect(clippy::needless_pass_by_value, reason = "the form that map_err takes")]
fn thrown(error: Error) -> Thrown {
    let told = Told {
        code: error.code(),
        message: error.to_string(),
        at: error.at(),
    };
    JsValue::from_str(&json(&told))
}

/// A structure as JSON text.
fn json<T: Serialize>(value: &T) -> String {
    // Plain structures of numbers and text cannot fail to be written; if one did, its reader would
    // find that the text is no JSON.
    serde_json::to_string(value).unwrap_or_default()
}

/// Reads JSON text that the module's own JavaScript wrote.
fn from_json<T: serde::de::DeserializeOwned>(name: &'static str, text: &str) -> Result<T, Thrown> {
    serde_json::from_str(text).map_err(|error| {
        thrown(Error::Parameter {
            name,
            what: format!("{error} in {text}"),
        })
    })
}

/// A file offset from JavaScript, exact below 2⁵³.
fn offset(name: &'static str, value: f64) -> Result<u64, Thrown> {
    if (0.0..9_007_199_254_740_992.0).contains(&value) && value.fract() == 0.0 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "checked above"
        )]
        return Ok(value as u64);
    }
    Err(thrown(Error::Parameter {
        name,
        what: format!("{value} is not a byte offset"),
    }))
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
