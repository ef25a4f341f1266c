//! Percent-encoding (RFC 3986 §2.1).

/// Undoes percent-encoding, once; `None` if it is broken or not UTF-8.
///
/// ```
/// use sectile::percent::decode;
///
/// assert_eq!(decode("b%20c%C2%B5").as_deref(), Some("b c\u{b5}"));
/// assert_eq!(decode("100%"), None);
/// ```
#[must_use]
pub fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let high = char::from(rest.next()?).to_digit(16)?;
            let low = char::from(rest.next()?).to_digit(16)?;
            bytes.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}
