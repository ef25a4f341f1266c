//! What a file that is no store looks like, from its first bytes.

/// Leading bytes of files that are found under a store's name, and what they are.
const MAGIC: [(&[u8], &str); 10] = [
    (b"\x1f\x8b", "it is packed with gzip: unpack it first"),
    (b"BZh", "it is packed with bzip2: unpack it first"),
    (b"PK\x03\x04", "it is a zip archive: unpack it first"),
    (b"\xfd7zXZ\0", "it is packed with xz: unpack it first"),
    (
        b"\x28\xb5\x2f\xfd",
        "it is packed with zstd: unpack it first",
    ),
    (b"\x89HDF", "it is an HDF5 file"),
    (b"SIMPLE  =", "it is a FITS file"),
    (
        b"version https://git-lfs",
        "it is a Git LFS pointer: fetch the file itself",
    ),
    (
        b"{",
        "it looks like JSON, perhaps an error message of the server",
    ),
    (
        b"[",
        "it looks like JSON, perhaps an error message of the server",
    ),
];

/// Describes the beginning of such a file, which may be all of it.
pub(super) fn looks(head: &[u8]) -> String {
    if head.is_empty() {
        return "the file is empty".to_owned();
    }
    if let Some((_, what)) = MAGIC.iter().find(|(magic, _)| head.starts_with(magic)) {
        return (*what).to_owned();
    }
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let text = text.trim_ascii_start();
    let begins = |with: &str| {
        let text = text.get(..with.len());
        text.is_some_and(|text| text.eq_ignore_ascii_case(with.as_bytes()))
    };
    if begins("<!doctype html") || begins("<html") || begins("<head") {
        return "it looks like a web page (HTML), perhaps a login or error page of the server"
            .to_owned();
    }
    if begins("<") {
        return "it looks like XML; if it is an imzML file, `sectile pack` makes a store of it"
            .to_owned();
    }
    let shown = &head[..head.len().min(16)];
    format!("it begins with \"{}\"", shown.escape_ascii())
}
