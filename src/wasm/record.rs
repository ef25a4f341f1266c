//! Plain JavaScript objects, member by member.

use js_sys::{Array, Object, Reflect};
use wasm_bindgen::prelude::*;

use super::{Thrown, number, thrown};
use crate::error::Error;

/// The first whole number that f64 does not tell from its neighbour.
const INEXACT: f64 = 9_007_199_254_740_992.0;

/// The whole number, unless it is negative, broken or beyond 2⁵³.
pub(super) fn whole(value: f64) -> Option<u64> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked on the way"
    )]
    ((0.0..INEXACT).contains(&value) && value.fract() == 0.0).then_some(value as u64)
}

/// An object that is being put together.
pub(super) struct Record(Object);

impl Record {
    pub(super) fn new() -> Self {
        Self(Object::new())
    }

    /// One more member, of any kind.
    pub(super) fn with(self, name: &str, value: &JsValue) -> Self {
        // Fails for frozen objects alone, and this one was made here.
        let _set = Reflect::set(&self.0, &JsValue::from_str(name), value);
        self
    }

    pub(super) fn text(self, name: &str, text: &str) -> Self {
        self.with(name, &JsValue::from_str(text))
    }

    /// `null` where there is no text.
    pub(super) fn maybe_text(self, name: &str, text: Option<&str>) -> Self {
        self.with(name, &text.map_or(JsValue::NULL, JsValue::from_str))
    }

    pub(super) fn float(self, name: &str, value: f64) -> Self {
        self.with(name, &JsValue::from_f64(value))
    }

    pub(super) fn number(self, name: &str, value: impl Into<u64>) -> Self {
        self.float(name, number(value.into()))
    }

    /// `null` where there is no number.
    pub(super) fn maybe_number(self, name: &str, value: Option<u64>) -> Self {
        match value {
            Some(value) => self.number(name, value),
            None => self.with(name, &JsValue::NULL),
        }
    }

    pub(super) fn flag(self, name: &str, value: bool) -> Self {
        self.with(name, &JsValue::from_bool(value))
    }

    pub(super) fn texts(self, name: &str, texts: &[String]) -> Self {
        self.with(name, &list(texts))
    }
}

impl From<Record> for JsValue {
    fn from(record: Record) -> Self {
        record.0.into()
    }
}

/// An array of strings.
pub(super) fn list(texts: &[String]) -> JsValue {
    let array = Array::new();
    for text in texts {
        array.push(&JsValue::from_str(text));
    }
    array.into()
}

/// A member, `None` where the value has none or holds `undefined` or `null` there.
pub(super) fn member(value: &JsValue, name: &str) -> Option<JsValue> {
    let found = Reflect::get(value, &JsValue::from_str(name)).ok()?;
    (!found.is_undefined() && !found.is_null()).then_some(found)
}

/// A member that is text.
///
/// # Errors
/// If it is there and no text.
pub(super) fn text(value: &JsValue, name: &'static str) -> Result<Option<String>, Thrown> {
    convert(value, name, "text", JsValue::as_string)
}

/// A member that is an array of texts.
///
/// # Errors
/// If it is there and none.
#[cfg(feature = "wasm-annotate")]
pub(super) fn texts(value: &JsValue, name: &'static str) -> Result<Option<Vec<String>>, Thrown> {
    convert(value, name, "an array of texts", |found| {
        let array = found.dyn_ref::<Array>()?;
        array.iter().map(|one| one.as_string()).collect()
    })
}

/// A member that is any number.
///
/// # Errors
/// If it is there and no number.
#[cfg(any(feature = "wasm-stack", feature = "wasm-annotate"))]
pub(super) fn float(value: &JsValue, name: &'static str) -> Result<Option<f64>, Thrown> {
    convert(value, name, "a number", JsValue::as_f64)
}

/// A member that is a whole number, not negative.
///
/// # Errors
/// If it is there and none.
pub(super) fn count(value: &JsValue, name: &'static str) -> Result<Option<u64>, Thrown> {
    let read = |found: &JsValue| found.as_f64().and_then(whole);
    convert(value, name, "a whole number", read)
}

/// [`count`] of at most 2³² − 1.
///
/// # Errors
/// If it is there and none.
pub(super) fn small(value: &JsValue, name: &'static str) -> Result<Option<u32>, Thrown> {
    let read = |found: &JsValue| found.as_f64().and_then(whole)?.try_into().ok();
    convert(value, name, "a whole number below 2^32", read)
}

/// A member that is true; a missing one is false.
pub(super) fn flag(value: &JsValue, name: &str) -> bool {
    member(value, name).is_some_and(|found| found.is_truthy())
}

fn convert<T>(
    value: &JsValue,
    name: &'static str,
    kind: &str,
    read: impl Fn(&JsValue) -> Option<T>,
) -> Result<Option<T>, Thrown> {
    let Some(found) = member(value, name) else {
        return Ok(None);
    };
    match read(&found) {
        Some(converted) => Ok(Some(converted)),
        None => Err(thrown(Error::Parameter {
            name,
            what: format!("it is not {kind}"),
        })),
    }
}
