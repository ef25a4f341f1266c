//! Numbers as JSON: the shortest decimal that gives back the same f64.

use std::fmt::Write as _;

/// Most characters of a number and what separates it from the next.
pub(super) const LONGEST: u64 = 26;

/// Appends a number; what JSON has no number for, NaN and infinities, is `null`.
pub(super) fn put(value: f64, text: &mut String) {
    let written = if value.is_finite() {
        // Debug and not Display, which writes 1e300 with all its zeros.
        write!(text, "{value:?}")
    } else {
        text.write_str("null")
    };
    // Writing to a string does not fail.
    let _ = written;
}

/// Appends `"name":[…]`.
pub(super) fn put_list(name: &str, values: impl Iterator<Item = f64>, text: &mut String) {
    let _ = write!(text, "\"{name}\":[");
    for (at, value) in values.enumerate() {
        if at > 0 {
            text.push(',');
        }
        put(value, text);
    }
    text.push(']');
}

/// Appends a text as JSON.
pub(super) fn put_text(value: &str, text: &mut String) {
    text.push_str(&serde_json::Value::from(value).to_string());
}
