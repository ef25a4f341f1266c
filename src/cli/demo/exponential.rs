//! The exponential function with the same bits on every machine: C libraries differ in the last.

use std::f64::consts::{LN_2, LOG2_E};

/// e to the power of `x`, to within a few units in the last place; `x` within ±700.
pub fn exp(x: f64) -> f64 {
    let whole = (x * LOG2_E).round();
    let rest = x - whole * LN_2;
    // Taylor, innermost term first: |rest| ≤ 0.35, so that the first term left out is below 1e-17.
    let part = (1..=14)
        .rev()
        .fold(1.0, |sum, n| 1.0 + sum * rest / f64::from(n));
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the biased exponent is between 0 and 2,047 for |x| ≤ 700"
    )]
    let exponent = (whole as i64 + 1023) as u64;
    part * f64::from_bits(exponent << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_exponential_function() {
        for step in -7000..=7000 {
            let x = f64::from(step) * 0.1;
            let (ours, theirs) = (exp(x), x.exp());
            // What is rounded in `rest` grows with |x|.
            assert!((ours / theirs - 1.0).abs() < 2e-13, "{x}: {ours}, {theirs}");
        }
    }
}
