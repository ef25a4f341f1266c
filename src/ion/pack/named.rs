//! What a store calls the file that it was made of.

use crate::percent::decode;

/// The last part of a path or URL.
///
/// Of a URL without its query, which may hold a secret, and with its percent-encoded bytes decoded
/// (RFC 3986 §2.1): a store does not depend on where its dataset was read from.
pub(super) fn source_name(file: &str) -> String {
    let is_url = file.contains("://");
    let path = match file.split(['?', '#']).next() {
        Some(path) if is_url => path,
        _ => file,
    };
    let last = path.rsplit(['/', '\\']).next().unwrap_or(path);
    if is_url {
        decode(last).unwrap_or_else(|| last.to_owned())
    } else {
        last.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_called_the_same_wherever_it_lies() {
        for (file, is) in [
            ("a/b c%20d.imzML", "b c%20d.imzML"),
            (r"C:\data\a.imzML", "a.imzML"),
            ("https://h/x/b%20c%C2%B5.imzML?key=a/b#c", "b c\u{b5}.imzML"),
            ("https://h/b c.imzML", "b c.imzML"),
            ("https://h/100%.imzML", "100%.imzML"),
            ("https://h/%ff.imzML", "%ff.imzML"),
        ] {
            assert_eq!(source_name(file), is, "{file}");
        }
    }
}
