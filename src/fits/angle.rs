//! Sine and cosine, the same bits on every machine.
//!
//! The standard library leaves them to the system natively and brings its own for wasm, so that the last
//! digits of a position would depend on where it was computed; and most of what it brings is for angles
//! that no sky has.

use std::f64::consts::{FRAC_2_PI, TAU};

/// π/2 in two parts: the first has 33 bits, so that small multiples of it are exact.
const QUARTER: [f64; 2] = [1.570_796_326_734_125_6, 6.077_100_506_506_192e-11];

/// Sine and cosine of an angle in radians, to about one unit in the last place up to a few turns.
///
/// The angle is brought to within an eighth of a turn of a multiple of π/2 (Cody and Waite), and the two
/// are polynomials there, with the coefficients of FDLIBM. NaN for what is not finite.
#[must_use]
pub(super) fn sin_cos(angle: f64) -> (f64, f64) {
    let angle = if angle.abs() > 1e4 {
        angle % TAU
    } else {
        angle
    };
    let quarters = (angle * FRAC_2_PI).round_ties_even();
    let rest = (angle - quarters * QUARTER[0]) - quarters * QUARTER[1];
    let (sin, cos) = (sine(rest), cosine(rest));
    #[expect(
        clippy::cast_possible_truncation,
        reason = "below ten thousand; NaN becomes 0, and the polynomials stay NaN"
    )]
    match (quarters as i64) & 3 {
        0 => (sin, cos),
        1 => (cos, -sin),
        2 => (-sin, -cos),
        _ => (-cos, sin),
    }
}

/// The sine within ±π/4.
fn sine(x: f64) -> f64 {
    let z = x * x;
    let low =
        8.333_333_333_322_49e-3 + z * (-1.984_126_982_985_795e-4 + z * 2.755_731_370_707_006_8e-6);
    let high = -2.505_076_025_340_686_3e-8 + z * 1.589_690_995_211_55e-10;
    x + x * z * (-1.666_666_666_666_663_2e-1 + z * (low + z * z * z * high))
}

/// The cosine within ±π/4.
fn cosine(x: f64) -> f64 {
    let z = x * x;
    let low =
        4.166_666_666_666_66e-2 + z * (-1.388_888_888_887_411e-3 + z * 2.480_158_728_947_673e-5);
    let high = -2.755_731_435_139_066_3e-7
        + z * (2.087_572_321_298_175e-9 + z * -1.135_964_755_778_819_5e-11);
    let half = 0.5 * z;
    let rounded = 1.0 - half;
    // What the subtraction lost is added again.
    rounded + ((1.0 - rounded - half) + z * (z * low + z * z * z * z * high))
}

#[cfg(test)]
mod tests {
    use super::sin_cos;
    use std::f64::consts::PI;

    #[test]
    fn agrees_with_the_standard_library() {
        let mut state = 0x1234_5678_9ABC_DEF1_u64;
        for round in 0..200_000 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            #[expect(clippy::cast_precision_loss, reason = "a random number")]
            let unit = (state >> 11) as f64 / (1_u64 << 53) as f64;
            let turns = if round % 2 == 0 { 1.0 } else { 100.0 };
            let angle = (unit - 0.5) * 4.0 * PI * turns;
            let (sin, cos) = sin_cos(angle);
            let near = |a: f64, b: f64| (a - b).abs() <= 2.3e-16;
            assert!(near(sin, angle.sin()) && near(cos, angle.cos()), "{angle}");
        }
    }

    #[test]
    fn edges() {
        assert_eq!(sin_cos(0.0), (0.0, 1.0));
        for eighths in -40..40 {
            let angle = f64::from(eighths) * PI / 4.0;
            let (sin, cos) = sin_cos(angle);
            assert!((sin - angle.sin()).abs() <= 2.3e-16 && (cos - angle.cos()).abs() <= 2.3e-16);
        }
        for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(sin_cos(odd).0.is_nan() && sin_cos(odd).1.is_nan());
        }
        let (sin, cos) = sin_cos(1e300);
        assert!((sin * sin + cos * cos - 1.0).abs() < 1e-15);
    }
}
