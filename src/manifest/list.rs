//! A text list: one path or URL on each line.

use crate::error::{Error, Result};
use crate::manifest::Members;

/// Names that a list may hold: more than twice what a stack may.
const MOST_NAMES: usize = 10_000;

/// Reads a list.
///
/// UTF-8, with or without a byte-order mark; lines end in LF or CRLF. Blanks around a name are
/// dropped, those within belong to it; quotes are part of a name. Empty lines and lines that begin
/// with `#` are skipped. A name that occurs twice is kept twice and noted.
///
/// # Errors
/// [`Error::Format`] for text that is not UTF-8, for control characters (the file is no text), and
/// for a list without a name or with more than 10,000.
pub fn parse(file: &str, bytes: &[u8]) -> Result<Members> {
    let wrong = |at: usize, what: &str| Error::Format {
        file: file.to_owned(),
        at: at as u64,
        what: what.to_owned(),
    };
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Err(wrong(0, "the list is UTF-16; save it as UTF-8"));
    }
    if bytes.starts_with(b"SIMPLE  =") {
        return Err(wrong(0, "this is a FITS file, not a list of files"));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let what = "the list is not UTF-8 text from this byte on; save it as UTF-8";
        wrong(error.valid_up_to(), what)
    })?;
    let control = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
    if let Some(at) = text.find(control) {
        return Err(wrong(at, "a control character: the list is no text file"));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let names: Vec<String> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(str::to_owned)
        .collect();
    if names.is_empty() {
        return Err(wrong(
            0,
            "the list names no file; write one path or URL on each line",
        ));
    }
    if names.len() > MOST_NAMES {
        return Err(wrong(0, "the list names more than 10,000 files; split it"));
    }
    let notes = repeated(&names);
    Ok(Members { names, notes })
}

/// A note for each name that is there more than once.
pub(super) fn repeated(names: &[String]) -> Vec<String> {
    // Put in one by one: a list is short, and a sort of its own weighs 4 KB in wasm.
    let mut sorted: Vec<&String> = Vec::with_capacity(names.len());
    for name in names {
        sorted.insert(sorted.partition_point(|other| *other <= name), name);
    }
    sorted
        .chunk_by(|a, b| a == b)
        .filter(|same| same.len() > 1)
        .map(|same| {
            format!(
                "{} is listed {} times, and counts as often",
                same[0],
                same.len()
            )
        })
        .collect()
}
