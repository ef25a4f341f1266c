//! What a file that is no imzML looks like, from its first bytes or its root element.

use crate::error::{Error, Result};

/// Leading bytes of what is found under this name, and what it is.
const MAGIC: [(&[u8], &str); 9] = [
    (b"\x1f\x8b", "packed with gzip"),
    (b"BZh", "packed with bzip2"),
    (b"PK\x03\x04", "a zip archive"),
    (b"\xfd7zXZ\0", "packed with xz"),
    (b"\x28\xb5\x2f\xfd", "packed with zstd"),
    (b"7z\xbc\xaf", "a 7z archive"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
    (b"<\0", "UTF-16"),
];

/// Refuses a file that does not begin like XML in UTF-8 or a relative of it.
pub(super) fn check(file: &str, head: &[u8]) -> Result<()> {
    if let Some((_, name)) = MAGIC.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Err(Error::Unsupported {
            file: file.to_owned(),
            what: format!("the file is {name}, not XML in UTF-8: unpack or convert it first"),
        });
    }
    if head.starts_with(b"SECTILE\x1a") {
        return Err(Error::Unsupported {
            file: file.to_owned(),
            what: "the file is a packed store and no imzML: open it as one, as `sectile ion` does"
                .to_owned(),
        });
    }
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let text = text.trim_ascii_start();
    let what = match text.first() {
        None if head.is_empty() => "the file is empty".to_owned(),
        Some(b'<') if begins(text, b"<!doctype html") => {
            "it looks like a web page (HTML), perhaps a login or error page of the server"
                .to_owned()
        }
        Some(b'<') | None => return Ok(()),
        Some(b'{' | b'[') => {
            "it looks like JSON, perhaps an error message of the server".to_owned()
        }
        Some(_) => {
            let shown = &text[..text.len().min(32)];
            format!(
                "it begins with \"{}\"; perhaps this is the ibd, and the imzML lies beside it",
                shown.escape_ascii()
            )
        }
    };
    Err(Error::Format {
        file: file.to_owned(),
        at: 0,
        what: format!("no imzML file, which is XML: {what}"),
    })
}

fn begins(text: &[u8], with: &[u8]) -> bool {
    let text = text.get(..with.len());
    text.is_some_and(|text| text.eq_ignore_ascii_case(with))
}

/// Why a root element of this name is refused.
pub(super) fn root(name: &str) -> String {
    let shown: String = name.chars().take(40).collect();
    let looks = if name.eq_ignore_ascii_case("html") {
        "it looks like a web page, perhaps a login or error page of the server"
    } else {
        "perhaps it is another format, or an error message of the server"
    };
    format!("no imzML file: its root element is <{shown}>, not <mzML>; {looks}")
}
