//! Decimal numbers as cards write them, rounded to the nearest f64.
//!
//! The standard library reads numbers just as exactly, but by a table of 10 KB that does not compress
//! and would be a tenth of the wasm module. Here long division does it: a header has few numbers.

use std::cmp::Ordering;

/// Digits of the longest mantissa: more than any card holds.
const DIGITS: usize = 1_000;

/// Reads a decimal number: digits, with or without sign, point, and an exponent after E or D (FITS 4.0
/// §4.2.4), rounded to nearest, ties to even.
///
/// Too large a number gives an infinity, too small a one zero. `None` for anything else, words like
/// `inf` too, and for more than 1,000 digits.
#[must_use]
pub(super) fn parse(text: &str) -> Option<f64> {
    let (negative, text) = sign(text);
    let (mantissa, exponent) = match text.split_once(['E', 'e', 'D', 'd']) {
        Some((mantissa, exponent)) => (mantissa, power(exponent)?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = || whole.bytes().chain(fraction.bytes());
    let count = whole.len() + fraction.len();
    if count == 0 || count > DIGITS || !digits().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let mut number = Big(vec![0]);
    for digit in digits() {
        number.scale(10, u32::from(digit - b'0'));
    }
    let exponent = exponent - i32::try_from(fraction.len()).ok()?;
    let size = rounded(number, exponent);
    Some(if negative { -size } else { size })
}

fn sign(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

/// An exponent; beyond ten thousand, where every number is zero or infinite, it stays there.
fn power(text: &str) -> Option<i32> {
    let (negative, digits) = sign(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let add = |sum: i32, b: u8| (sum * 10 + i32::from(b - b'0')).min(10_000);
    let size = digits.bytes().fold(0, add);
    Some(if negative { -size } else { size })
}

/// `number · 10^exponent` as the nearest f64.
fn rounded(mut number: Big, exponent: i32) -> f64 {
    let bits = number.bits();
    // 2^bits > number: a decimal digit has less than 10/3 bits, and more than 3.
    if bits == 0 || i64::from(bits) + i64::from(exponent) * 3 < -1_080 && exponent < 0 {
        return 0.0;
    }
    if exponent > 310 {
        return f64::INFINITY;
    }
    let mut divisor = Big(vec![1]);
    let scaled = if exponent < 0 {
        &mut divisor
    } else {
        &mut number
    };
    for _ in 0..exponent.unsigned_abs() {
        scaled.scale(10, 0);
    }
    // number / divisor = 2^k · q with 1 <= q < 2.
    let mut k = number.bits() - divisor.bits();
    if k > 0 {
        divisor.shift(k.unsigned_abs());
    } else {
        number.shift(k.unsigned_abs());
    }
    if number.cmp(&divisor) == Ordering::Less {
        number.shift(1);
        k -= 1;
    }
    if k > 1_023 {
        return f64::INFINITY;
    }
    // Bits of the mantissa: 53, fewer below the smallest normal number.
    let precision = (k + 1_075).min(53);
    if precision < 0 {
        return 0.0;
    }
    let mut mantissa = 0_u64;
    for _ in 0..precision {
        mantissa *= 2;
        if number.cmp(&divisor) != Ordering::Less {
            number.subtract(&divisor);
            mantissa += 1;
        }
        number.shift(1);
    }
    // What is left is twice the remainder.
    let up = match number.cmp(&divisor) {
        Ordering::Less => false,
        Ordering::Equal => mantissa % 2 == 1,
        Ordering::Greater => true,
    };
    // A mantissa that overflows carries into the exponent, as it should.
    let scale = u64::from((k + 1_022).max(0).unsigned_abs());
    f64::from_bits((scale << 52) + mantissa + u64::from(up))
}

/// A natural number, 32 bits a limb, the lowest first.
struct Big(Vec<u32>);

impl Big {
    /// Times a factor, plus a number.
    #[expect(clippy::cast_possible_truncation, reason = "the lower half is meant")]
    fn scale(&mut self, factor: u32, plus: u32) {
        let mut carry = u64::from(plus);
        for limb in &mut self.0 {
            carry += u64::from(*limb) * u64::from(factor);
            *limb = carry as u32;
            carry >>= 32;
        }
        if carry > 0 {
            self.0.push(carry as u32);
        }
    }

    fn shift(&mut self, bits: u32) {
        let limbs = bits / 32;
        self.scale(1 << (bits % 32), 0);
        self.0.splice(0..0, (0..limbs).map(|_| 0));
    }

    /// Less a number that is not larger.
    fn subtract(&mut self, other: &Self) {
        let mut borrow = false;
        for (i, limb) in self.0.iter_mut().enumerate() {
            let (less, first) = limb.overflowing_sub(other.0.get(i).copied().unwrap_or(0));
            let (less, second) = less.overflowing_sub(u32::from(borrow));
            (*limb, borrow) = (less, first || second);
        }
    }

    fn cmp(&self, other: &Self) -> Ordering {
        let limb = |big: &Self, i: usize| big.0.get(i).copied().unwrap_or(0);
        let top = self.0.len().max(other.0.len());
        let differs = (0..top).rev().find(|&i| limb(self, i) != limb(other, i));
        differs.map_or(Ordering::Equal, |i| limb(self, i).cmp(&limb(other, i)))
    }

    /// Bits up to the highest that is set; at most some ten thousand.
    fn bits(&self) -> i32 {
        let top = self.0.iter().rposition(|limb| *limb != 0);
        top.map_or(0, |top| {
            let below = i32::try_from(top * 32).unwrap_or(i32::MAX / 2);
            below + self.0[top].ilog2().cast_signed() + 1
        })
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    fn same(text: &str) {
        let std: Option<f64> = text.parse().ok();
        assert_eq!(
            parse(text).map(f64::to_bits),
            std.map(f64::to_bits),
            "{text}"
        );
    }

    #[test]
    fn the_edges_are_those_of_the_standard_library() {
        for text in [
            "0",
            "-0",
            "0.0E300",
            "1",
            "1.",
            ".5",
            "-.5e-3",
            "+7",
            "00012.5000",
            "4.9E-324",
            "2.4E-324",
            "2.5E-324",
            "2.470328229206232720E-324",
            "2.4703282292062328E-324",
            "1E-400",
            "1E-99999999999",
            "2.2250738585072011E-308",
            "2.2250738585072014E-308",
            "1.7976931348623157E308",
            "1.7976931348623158E308",
            "1.7976931348623159E308",
            "1E309",
            "1E99999999999",
            "9007199254740993",
            "9007199254740992.99999999999999999",
            "9007199254740993.0000000000000000001",
            "9007199254740995",
            "",
            ".",
            "E5",
            "1E",
            "1E+",
            "--1",
            "1.2.3",
            "1 ",
            "0x1",
            "1E5.0",
        ] {
            same(text);
        }
        let mut long = "0.".to_owned() + &"0".repeat(400) + "123456789";
        same(&long);
        long.push_str("E410");
        same(&long);
        same(&("1".repeat(500) + "E-480"));
        assert_eq!(parse("1.5D3"), Some(1500.0));
        assert_eq!(parse("-1d-1"), Some(-0.1));
        assert_eq!(parse("inf"), None);
        assert_eq!(parse("NaN"), None);
        assert_eq!(parse(&"1".repeat(1001)), None);
    }

    #[test]
    fn any_number_comes_back_and_halves_round_to_even() {
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        for _ in 0..20_000 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let value = f64::from_bits(state);
            if !value.is_finite() {
                continue;
            }
            same(&format!("{value:e}"));
            same(&format!("{value:.17e}"));
            same(&format!("{value:.3e}"));
            // Exactly between two neighbours.
            let whole = 9_007_199_254_740_992_u64 + (state >> 12);
            same(&format!("{whole}E{}", state % 23));
            same(&format!("{whole}.5E-{}", state % 40));
        }
    }
}
