//! What a file that is not FITS looks like, from its first bytes.

/// Leading bytes of formats that are found under a FITS name, and their names.
const MAGIC: [(&[u8], &str); 12] = [
    (b"\x1f\x8b", "gzip"),
    (b"\x1f\x9d", "Unix compress (.Z)"),
    (b"BZh", "bzip2"),
    (b"PK\x03\x04", "zip"),
    (b"\xfd7zXZ\0", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"\x89HDF", "HDF5"),
    (b"\x89PNG", "PNG"),
    (b"\xff\xd8\xff", "JPEG"),
    (b"#ASDF", "ASDF"),
    (b"%PDF", "PDF"),
    (b"version https://git-lfs", "Git LFS pointer"),
];

/// How many of them are files packed as a whole.
const PACKED: usize = 6;

/// What the first bytes of a file are, if they do not begin a FITS file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Foreign {
    /// A packed file: in order, but without random access.
    Packed(&'static str),
    /// Anything else, described.
    Other(String),
}

/// `None` if the bytes begin with the card SIMPLE.
pub(super) fn foreign(head: &[u8]) -> Option<Foreign> {
    if head.starts_with(b"SIMPLE  =") {
        return None;
    }
    for (place, (magic, name)) in MAGIC.iter().enumerate() {
        if head.starts_with(magic) {
            return Some(if place < PACKED {
                Foreign::Packed(name)
            } else {
                Foreign::Other(format!("it looks like {name}"))
            });
        }
    }
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let text = text.trim_ascii_start();
    let begins = |with: &str| {
        text.get(..with.len())
            .is_some_and(|text| text.eq_ignore_ascii_case(with.as_bytes()))
    };
    let looks = if begins("<!doctype html") || begins("<html") || begins("<head") {
        "it looks like a web page (HTML), perhaps a login or error page of the server"
    } else if begins("<?xml") || begins("<") {
        "it looks like XML, perhaps an error message of the server"
    } else if begins("{") || begins("[") {
        "it looks like JSON, perhaps an error message of the server"
    } else if begins("XTENSION") {
        "it begins with an extension, without a primary HDU before it"
    } else if head.iter().all(|b| *b == 0) {
        "it begins with zeros"
    } else {
        "its first card is not SIMPLE"
    };
    Some(Foreign::Other(looks.to_owned()))
}

/// The first bytes as text, what is not printable ASCII escaped.
pub(super) fn excerpt(head: &[u8]) -> String {
    head[..head.len().min(48)].escape_ascii().to_string()
}
