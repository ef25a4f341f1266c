//! What to show of a plane: limits, stretches, histograms.
//!
//! Everything here looks at finite values only. The limits take any values: a whole plane, or the
//! samples that [`thin`] or [`Grid::pick`] leave of it.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use super::plane::Sample;
pub use super::zscale::{Grid, zscale};
use crate::error::{Error, Result};

/// Contrast of [`zscale`] unless another is asked for.
pub const CONTRAST: f64 = 0.25;
/// Samples that limits are found from unless more are asked for.
pub const SAMPLES: usize = 600;
/// The percentile at which hot spots are cut.
const HOTSPOT: f64 = 99.0;

/// The values shown as the darkest and the brightest.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Limits {
    /// Shown as 0.
    pub low: f64,
    /// Shown as 1.
    pub high: f64,
}

impl Limits {
    /// Where a value lies between the limits: 0 to 1, clipped; NaN for NaN.
    ///
    /// With equal limits a value above them is 1 and any other 0.
    #[must_use]
    pub fn share(&self, value: f64) -> f64 {
        if value.is_nan() {
            return f64::NAN;
        }
        if value <= self.low {
            return 0.0;
        }
        if value >= self.high {
            return 1.0;
        }
        (value - self.low) / (self.high - self.low)
    }
}

/// The smallest and the largest finite value, `None` if there is none.
#[must_use]
pub fn min_max<T: Sample>(values: &[T]) -> Option<Limits> {
    let mut limits = Limits {
        low: f64::INFINITY,
        high: f64::NEG_INFINITY,
    };
    for value in values.iter().map(|value| value.wide()) {
        if value.is_finite() {
            limits.low = limits.low.min(value);
            limits.high = limits.high.max(value);
        }
    }
    (limits.low <= limits.high).then_some(limits)
}

/// At most `samples` finite values, evenly apart: every k-th, k = ⌊finite / samples⌋, from the first.
///
/// The rule by which astropy's `ZScaleInterval` thins an array.
#[must_use]
pub fn thin<T: Sample>(values: &[T], samples: usize) -> Vec<f64> {
    let finite = || values.iter().map(|v| v.wide()).filter(|v| v.is_finite());
    let step = (finite().count() / samples.max(1)).max(1);
    finite().step_by(step).take(samples).collect()
}

/// A percentile of the finite values, interpolated linearly between neighbours as
/// `numpy.percentile` does by default. `None` if there is no finite value.
///
/// # Cost
/// O(n), and a copy of the finite values as f64.
///
/// # Errors
/// [`Error::Parameter`] for a percentage outside 0 to 100.
pub fn percentile<T: Sample>(values: &[T], percent: f64) -> Result<Option<f64>> {
    let percent = check(percent)?;
    Ok(pick(&mut finite(values), percent))
}

/// The same of values that may be put in another order, which takes no memory.
///
/// # Errors
/// As [`percentile`].
pub fn percentile_of<T: Sample>(values: &mut [T], percent: f64) -> Result<Option<f64>> {
    let percent = check(percent)?;
    let mut finite = 0;
    for at in 0..values.len() {
        if values[at].wide().is_finite() {
            values.swap(at, finite);
            finite += 1;
        }
    }
    Ok(pick(&mut values[..finite], percent))
}

/// Limits at two percentiles, in either order; see [`percentile`].
///
/// # Errors
/// [`Error::Parameter`] for a percentage outside 0 to 100.
pub fn percentiles<T: Sample>(values: &[T], low: f64, high: f64) -> Result<Option<Limits>> {
    let (low, high) = (check(low)?, check(high)?);
    let mut finite = finite(values);
    let lower = pick(&mut finite, low.min(high));
    let upper = pick(&mut finite, low.max(high));
    Ok(lower.zip(upper).map(|(low, high)| Limits { low, high }))
}

/// The value at which hot spots are cut: the 99th percentile of the values that are not 0.
///
/// Zeros are left out because most of an ion image is 0. `None` if nothing else is there.
#[must_use]
pub fn hotspot<T: Sample>(values: &[T]) -> Option<f64> {
    let mut finite = finite(values);
    finite.retain(|value| *value != 0.0);
    pick(&mut finite, HOTSPOT)
}

fn finite<T: Sample>(values: &[T]) -> Vec<f64> {
    let wide = values.iter().map(|value| value.wide());
    wide.filter(|value| value.is_finite()).collect()
}

fn check(percent: f64) -> Result<f64> {
    if (0.0..=100.0).contains(&percent) {
        return Ok(percent);
    }
    Err(Error::Parameter {
        name: "percentile",
        what: format!("{percent} is not between 0 and 100"),
    })
}

/// Numbers in any order; leaves them in another.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a place in a slice, at most its length"
)]
fn pick<T: Sample>(values: &mut [T], percent: f64) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let last = values.len() - 1;
    let place = percent / 100.0 * last as f64;
    let below = (place.floor() as usize).min(last);
    let part = place - below as f64;
    let (_, lower, above) =
        values.select_nth_unstable_by(below, |a, b| a.wide().total_cmp(&b.wide()));
    let lower = lower.wide();
    let above = above.iter().map(|value| value.wide());
    let upper = above.min_by(f64::total_cmp).unwrap_or(lower);
    // From the nearer end, so that both ends are met exactly and nothing lies outside them.
    let step = upper - lower;
    Some(if step.is_infinite() {
        lower * (1.0 - part) + upper * part
    } else if part < 0.5 {
        lower + step * part
    } else {
        upper - step * (1.0 - part)
    })
}

/// How shares between the limits become brightness: the formulas of astropy's `visualization`, with
/// its defaults; DS9 has the same curves under the same names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Stretch {
    /// y = x.
    #[default]
    Linear,
    /// y = √x.
    Sqrt,
    /// y = ln(1000 x + 1) / ln 1001.
    Log,
    /// y = asinh(10 x) / asinh 10.
    Asinh,
}

impl Stretch {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Linear, Self::Sqrt, Self::Log, Self::Asinh];

    /// Brightness, 0 to 1, of a share; shares are clipped to 0 to 1, NaN stays NaN.
    #[must_use]
    pub fn apply(self, share: f64) -> f64 {
        let x = share.clamp(0.0, 1.0);
        match self {
            Self::Linear => x,
            Self::Sqrt => x.sqrt(),
            Self::Log => (1000.0 * x).ln_1p() / 1000_f64.ln_1p(),
            Self::Asinh => (10.0 * x).asinh() / 10_f64.asinh(),
        }
    }

    /// Its name, as users write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Sqrt => "sqrt",
            Self::Log => "log",
            Self::Asinh => "asinh",
        }
    }
}

impl fmt::Display for Stretch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Stretch {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|stretch| stretch.name() == text)
            .ok_or_else(|| Error::Parameter {
                name: "stretch",
                what: format!("{text:?} is none of linear, sqrt, log, asinh"),
            })
    }
}

/// How many values lie where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Histogram {
    /// Counts of equal parts of the range; each holds its lower edge, the last its upper one too.
    pub bins: Vec<u64>,
    /// Values below the limits, −∞ among them.
    pub below: u64,
    /// Values above the limits, +∞ among them.
    pub above: u64,
    /// NaNs.
    pub blank: u64,
}

/// Counts values in `bins` equal parts of the limits; values that hit both limits at once, when these
/// are equal, lie in the last part.
///
/// # Errors
/// [`Error::Parameter`] for no bins, or more than 65,536, or limits that are not finite or not in
/// order.
pub fn histogram<T: Sample>(values: &[T], limits: Limits, bins: usize) -> Result<Histogram> {
    let wrong = |what: String| Error::Parameter {
        name: "histogram",
        what,
    };
    if !(1..=65_536).contains(&bins) {
        return Err(wrong(format!("{bins} bins; ask for 1 to 65536")));
    }
    let Limits { low, high } = limits;
    if !(low.is_finite() && high.is_finite() && low <= high) {
        return Err(wrong(format!(
            "the limits {low} and {high} enclose nothing"
        )));
    }
    let mut found = Histogram {
        bins: vec![0; bins],
        below: 0,
        above: 0,
        blank: 0,
    };
    for value in values.iter().map(|value| value.wide()) {
        if value.is_nan() {
            found.blank += 1;
        } else if value < low {
            found.below += 1;
        } else if value > high {
            found.above += 1;
        } else {
            found.bins[bin(limits, value, bins)] += 1;
        }
    }
    Ok(found)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "bins are few, and a share is between 0 and 1"
)]
fn bin(limits: Limits, value: f64, bins: usize) -> usize {
    if value >= limits.high {
        return bins - 1;
    }
    ((limits.share(value) * bins as f64) as usize).min(bins - 1)
}
