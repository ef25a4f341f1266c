//! The letters that a field's bytes stand for.

use std::borrow::Cow;

/// UTF-8, or else Latin-1, in which every byte is a letter; and whether it was that.
pub(super) fn decoded(bytes: &[u8]) -> (Cow<'_, str>, bool) {
    match str::from_utf8(bytes) {
        Ok(text) => (Cow::Borrowed(text), false),
        Err(_) => (bytes.iter().map(|byte| char::from(*byte)).collect(), true),
    }
}
