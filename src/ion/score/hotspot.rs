//! Hotspot removal: the brightest pixels of an image are clipped, so that a few of them do not decide.
//!
//! # Source
//! `hot_spot_removal` of pyImagingMSpec, which METASPACE and Lithops-METASPACE have as an option, off by default.

use crate::budget::Budget;
use crate::error::Result;

/// The value that an image is clipped at: the 99th percentile of its acquired pixels, zeros included.
///
/// NaN is a pixel that was not acquired. Between two pixels the percentile is interpolated linearly, as numpy does,
/// and rounded to f32. Without an acquired pixel it is 0.
///
/// ```
/// use sectile::ion::score::hotspot;
///
/// // The 99th percentile of 1 to 8 lies 93 % of the way from 7 to 8.
/// let image = [1.0, 2.0, f32::NAN, 3.0, 4.0, 5.0, 6.0, f32::NAN, 7.0, 8.0];
/// assert_eq!(hotspot::threshold(&image)?, 7.93);
/// # Ok::<(), sectile::error::Error>(())
/// ```
///
/// # Cost
/// A selection in linear time, of a copy.
///
/// # Errors
/// [`crate::error::Error::Budget`] if there is no memory for the copy.
pub fn threshold(image: &[f32]) -> Result<f32> {
    let mut scratch: Vec<f32> =
        Budget::new(u64::MAX).allocate(image.len(), "a copy of an image")?;
    let mut acquired = 0;
    for value in image.iter().filter(|value| !value.is_nan()) {
        scratch[acquired] = *value;
        acquired += 1;
    }
    Ok(selected(&mut scratch[..acquired], acquired as u64))
}

/// The percentile of some values, which are reordered, and of zeros besides, so that there are `acquired`.
pub(super) fn selected(values: &mut [f32], acquired: u64) -> f32 {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "ranks are pixels, fewer than 2^32"
    )]
    let (rank, part) = {
        let rank = 0.99 * acquired.saturating_sub(1) as f64;
        (rank as u64, rank - rank.floor())
    };
    let low = f64::from(ranked(values, acquired, rank));
    let high = f64::from(ranked(values, acquired, rank + 1));
    let step = high - low;
    // Numpy's two forms: from the nearer end.
    let between = if part < 0.5 {
        low + step * part
    } else {
        high - step * (1.0 - part)
    };
    #[expect(
        clippy::cast_possible_truncation,
        reason = "rounded to the nearest f32"
    )]
    let threshold = between as f32;
    threshold
}

/// The value of a rank, 0 for the least; beyond the last it is the largest.
fn ranked(values: &mut [f32], acquired: u64, rank: u64) -> f32 {
    let rank = rank.min(acquired.saturating_sub(1));
    let negative = values.iter().filter(|value| **value < 0.0).count() as u64;
    let positive = values.iter().filter(|value| **value > 0.0).count() as u64;
    let above = acquired - rank;
    let place = if rank < negative {
        rank
    } else if (1..=positive).contains(&above) {
        values.len() as u64 - above
    } else {
        return 0.0;
    };
    usize::try_from(place).map_or(0.0, |place| {
        *values.select_nth_unstable_by(place, f32::total_cmp).1
    })
}

#[cfg(test)]
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    clippy::float_cmp,
    reason = "small numbers, and values that are equal bit for bit"
)]
mod tests {
    use super::*;

    /// The percentile by sorting everything.
    fn sorted(values: &[f32], acquired: usize) -> f32 {
        let mut all: Vec<f64> = values.iter().map(|value| f64::from(*value)).collect();
        all.resize(acquired, 0.0);
        all.sort_by(f64::total_cmp);
        let rank = 0.99 * (acquired - 1) as f64;
        let low = rank as usize;
        let (one, other) = (all[low], all[(low + 1).min(acquired - 1)]);
        (one + (other - one) * (rank - low as f64)) as f32
    }

    #[test]
    fn the_percentile_is_that_of_all_pixels() {
        let mut seed = 1_u32;
        let mut next = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 8) as f32 / (1 << 24) as f32
        };
        for acquired in [1, 2, 3, 50, 99, 100, 101, 102, 199, 200, 201, 202, 1000] {
            for filled in [0, 1, 2, 3, acquired / 2, acquired - 1, acquired] {
                for shift in [0.0, 0.3, 0.999, 2.0] {
                    let len = filled.min(acquired);
                    let mut values: Vec<f32> = (0..len).map(|_| next() - shift).collect();
                    let expected = sorted(&values, acquired);
                    let found = selected(&mut values, acquired as u64);
                    assert!(
                        (found - expected).abs() < 1e-6,
                        "{len} of {acquired} pixels"
                    );
                }
            }
        }
    }

    #[test]
    fn of_twelve_pixels_eight_that_were_acquired_count() {
        let image = [
            1.0,
            2.0,
            f32::NAN,
            f32::NAN,
            3.0,
            4.0,
            f32::NAN,
            f32::NAN,
            5.0,
            6.0,
            7.0,
            8.0,
        ];
        assert_eq!(threshold(&image).unwrap(), 7.93);
        assert_eq!(threshold(&[]).unwrap(), 0.0);
        assert_eq!(threshold(&[f32::NAN]).unwrap(), 0.0);
    }
}
