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
    let len = values.len() as u64;
    let negative = values.iter().filter(|value| **value < 0.0).count() as u64;
    let positive = values.iter().filter(|value| **value > 0.0).count() as u64;
    let above = acquired - rank;
    let place = if rank < negative {
        rank
    } else if above <= positive {
        len - above
    } else {
        return 0.0;
    };
    let Ok(place) = usize::try_from(place) else {
        return 0.0;
    };
    *values.select_nth_unstable_by(place, f32::total_cmp).1
}
