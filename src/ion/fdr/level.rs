//! The levels that rates are shown at.

/// FDR levels, ascending: 5, 10, 20 and 50 %.
pub const LEVELS: [f64; 4] = [0.05, 0.1, 0.2, 0.5];

/// [`LEVELS`] in hundredths, which compare exactly.
const HUNDREDTHS: [f64; 4] = [5.0, 10.0, 20.0, 50.0];

/// The least level that a rate does not exceed when it is rounded to hundredths, halves up; 1 beyond the last one and
/// for NaN.
///
/// The rule of METASPACE's `nearest_fdr_level`: 0.0549 is at 5 %, 0.055 at 10 %.
#[must_use]
pub fn nearest(fdr: f64) -> f64 {
    let rounded = (fdr * 100.0 + 0.5).floor();
    let fits = HUNDREDTHS.iter().position(|level| rounded <= *level);
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
