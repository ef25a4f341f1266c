//! What a file that is no list in plain text looks like, from its first bytes.

use crate::error::{Error, Result};

/// Leading bytes of what is dropped here by mistake, what it is, and what to do.
const MAGIC: [(&[u8], &str); 10] = [
    (b"\xff\xfe", UTF_16),
    (b"\xfe\xff", UTF_16),
    (
        b"PK\x03\x04",
        "a zip archive or an Excel workbook: save the sheet as CSV",
    ),
    (
        b"\xd0\xcf\x11\xe0",
        "an old Excel workbook: save the sheet as CSV",
    ),
    (b"\x1f\x8b", "packed with gzip: unpack it first"),
    (b"SQLite format 3", "an SQLite database: export it as CSV"),
    (
        b"SECTILE\x1a",
        "a packed store: it is what a list is looked for in",
    ),
    (
        b"<",
        "a web page or XML, perhaps an error page of the server",
    ),
    (b"{", "JSON, perhaps an error message of the server"),
    (
        b"\x7fELF",
        "a program: choose a text file with a formula column",
    ),
];

const UTF_16: &str = "text in UTF-16: save it as UTF-8 (in Excel: \"CSV UTF-8\")";

/// Refuses a list whose first line, or as much of it as is read, is not text.
pub(super) fn check(file: &str, line: &[u8]) -> Result<()> {
    let text = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let known = MAGIC.iter().find(|(magic, _)| text.starts_with(magic));
    let what = match known {
        Some((_, what)) => *what,
        // Every other byte of Latin text in UTF-16 is 0.
        None if text.len() > 1 && (text[0] == 0 || text[1] == 0) => UTF_16,
        None if text.contains(&0) => "no text: it has bytes of 0",
        None => return Ok(()),
    };
    Err(Error::Unsupported {
        file: file.to_owned(),
        what: format!("a molecule list is text, but the file is {what}"),
    })
}
