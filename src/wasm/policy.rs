//! What a server's answer means, for the driver in JavaScript.

use wasm_bindgen::prelude::*;

use super::{Thrown, from_json, json};
use crate::drive::policy;

/// [`policy::judge`] on JSON text.
///
/// # Errors
/// Text that is not of the form.
#[wasm_bindgen]
pub fn judge(asked: &str, head: &str, dice: f64, now: f64) -> Result<String, Thrown> {
    let (asked, head) = (from_json("asked", asked)?, from_json("head", head)?);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "seconds since 1970"
    )]
    Ok(json(&policy::judge(&asked, &head, dice, now as u64)))
}

/// [`policy::judge_lost`] on JSON text.
///
/// # Errors
/// Text that is not of the form.
#[wasm_bindgen]
pub fn judge_lost(asked: &str, why: &str, dice: f64) -> Result<String, Thrown> {
    Ok(json(&policy::judge_lost(
        &from_json("asked", asked)?,
        why,
        dice,
    )))
}

/// [`policy::judge_body`] on JSON text.
///
/// # Errors
/// Text that is not of the form.
#[wasm_bindgen]
pub fn judge_body(
    asked: &str,
    take: &str,
    received: f64,
    ended: bool,
    dice: f64,
) -> Result<String, Thrown> {
    let (asked, take) = (from_json("asked", asked)?, from_json("take", take)?);
    let received = super::offset("received", received)?;
    Ok(json(&policy::judge_body(
        &asked, &take, received, ended, dice,
    )))
}
