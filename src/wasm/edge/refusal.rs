//! What the host's own side of an answer failed by, as an answer.

use js_sys::Array;
use wasm_bindgen::prelude::*;

use super::asking::{Asking, plain};
use crate::api::answer::{self, Trouble};
use crate::api::cors::{Freshness, dress};
use crate::api::problem::{CODES, Problem};
use crate::wasm::Thrown;
use crate::wasm::record;

/// Seconds after which there may be room, or another instance.
const AGAIN: u32 = 1;

/// The problem that an error is which JavaScript has caught: `{code, message, status}`, of this library's `CoreError`.
///
/// What it does not know is `internal`, and its words stay in the log.
pub(super) fn problem(error: &JsValue) -> Result<Problem, Thrown> {
    let code = record::text(error, "code")?.unwrap_or_default();
    let message = record::text(error, "message")?.unwrap_or_default();
    let status = record::small(error, "status")?.and_then(|status| u16::try_from(status).ok());
    let trouble = match code.as_str() {
        "changed" => Some(Trouble::Changed),
        "missing" => Some(Trouble::Missing),
        "network" => Some(Trouble::Unreachable),
        "unexpected" => Some(Trouble::Truncated),
        "http" => Some(
            status
                .and_then(Trouble::of_status)
                .unwrap_or(Trouble::NoRanges),
        ),
        _ => None,
    };
    if let Some(trouble) = trouble {
        return Ok(answer::problem(trouble, message));
    }
    Ok(match code.as_str() {
        // By plan there was room: others hold it.
        "busy" | "retired" | "budget" => Problem::busy(message, AGAIN),
        "unsupported" | "mismatch" => Problem::new("format", message),
        known if CODES.iter().any(|(code, ..)| *code == known) => Problem::new(known, message),
        _ => Problem::new("internal", "the server has failed; its log says why"),
    })
}

/// A refusal where no catalog could be read.
///
/// # Errors
/// Members of the error that are not of their kind.
#[wasm_bindgen]
pub fn refusal(asking: &Array, error: &JsValue) -> Result<JsValue, Thrown> {
    let asking = Asking::new(asking);
    let mut reply = problem(error)?.reply();
    dress(&mut reply, &asking.request(), Freshness::Never, false);
    Ok(plain(&reply))
}
