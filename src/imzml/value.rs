//! Values as writers write them: numbers, UUIDs, checksums.

/// A whole number: digits with or without a sign, or a decimal that is whole (`1.156e+09`, as R
/// writes it).
///
/// # Errors
/// What was found in its place.
pub(super) fn whole(text: &str) -> Result<i64, String> {
    if let Ok(number) = text.parse() {
        return Ok(number);
    }
    let wrong = || {
        let shown: String = text.chars().take(40).collect();
        format!("{shown:?}, which is no whole number")
    };
    let starts = |b: &u8| b.is_ascii_digit() || matches!(b, b'+' | b'-' | b'.');
    let first = text.as_bytes().first();
    let number: f64 = match text.parse() {
        Ok(number) if first.is_some_and(starts) => number,
        _ => return Err(wrong()),
    };
    // Beyond 2^53 a decimal is not exact.
    if number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_992.0 {
        #[expect(clippy::cast_possible_truncation, reason = "whole and small enough")]
        return Ok(number as i64);
    }
    Err(wrong())
}

/// A whole number from 0 up.
///
/// # Errors
/// What was found in its place.
pub(super) fn count(text: &str) -> Result<u64, String> {
    u64::try_from(whole(text)?).map_err(|_| format!("{text:?}, which is negative"))
}

/// A position: a whole number within ±2^31.
///
/// # Errors
/// What was found in its place.
pub(super) fn position(text: &str) -> Result<i32, String> {
    i32::try_from(whole(text)?).map_err(|_| format!("{text:?}, which is too large for a position"))
}

/// `N` bytes of hexadecimal digits in either case; hyphens and braces are passed over.
pub(super) fn hexadecimal<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    let mut digits = 0;
    for letter in text.chars() {
        if matches!(letter, '-' | '{' | '}') {
            continue;
        }
        let digit = u8::try_from(letter.to_digit(16)?).ok()?;
        let byte = bytes.get_mut(digits / 2)?;
        *byte = *byte << 4 | digit;
        digits += 1;
    }
    (digits == 2 * N).then_some(bytes)
}

/// Bytes as hexadecimal digits in lower case.
pub(super) fn digits(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from(b"0123456789abcdef"[usize::from(half & 15)]);
    let both = |byte: &u8| [digit(byte >> 4), digit(*byte)];
    bytes.iter().flat_map(both).collect()
}
