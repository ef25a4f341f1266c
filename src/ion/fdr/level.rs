//! The levels that rates are shown at.

/// FDR levels, ascending: 5, 10, 20 and 50 %.
pub const LEVELS: [f64; 4] = [0.05, 0.1, 0.2, 0.5];

/// The greatest rate that rounds to each of [`LEVELS`] or below. Of 0.055, 0.105, 0.205 and 0.505 none is an f64; the
/// nearest ones of the first and the last lie above them.
const GREATEST: [f64; 4] = [0.055_f64.next_down(), 0.105, 0.205, 0.505_f64.next_down()];

/// The least level that a rate does not exceed when it is rounded to two decimals; 1 beyond the last one and for NaN.
///
/// The rule of METASPACE's `nearest_fdr_level`: 0.0549 is at 5 %, 0.055 at 10 %. Rounding is Python's, of the exact
/// value.
///
/// ```
/// # use sectile::ion::fdr::level::nearest;
/// assert_eq!([0.0549, 0.055, 0.51].map(nearest), [0.05, 0.1, 1.0]);
/// ```
#[must_use]
pub fn nearest(fdr: f64) -> f64 {
    let fits = GREATEST.iter().position(|greatest| fdr <= *greatest);
    fits.map_or(1.0, |at| LEVELS[at])
}

/// How many of the rates are at each of [`LEVELS`] or below it.
pub fn counts(rates: impl IntoIterator<Item = f64>) -> [u64; 4] {
    let mut counts = [0; 4];
    for rate in rates {
        let level = nearest(rate);
        for (count, limit) in counts.iter_mut().zip(LEVELS) {
            *count += u64::from(level <= limit);
        }
    }
    counts
}
