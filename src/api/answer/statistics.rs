//! Numbers about a plane of values: its extent, moments, exact percentiles, limits to show it by, a histogram.

use std::fmt::Write as _;

use super::gather::Frame;
use super::number::{put, put_text};
use crate::error::Result;
use crate::raster::plane::{Range, Sample};
use crate::raster::stretch::{CONTRAST, Grid, Limits, SAMPLES, histogram, percentile_of, zscale};

/// Bytes of the document and of what is held to make it: samples for zscale, bins, text.
pub(super) const BYTES: u64 = 64 << 10;

/// The percentiles that are told.
const PERCENTS: [f64; 7] = [1.0, 5.0, 25.0, 50.0, 75.0, 95.0, 99.0];

/// Parts of the histogram, from the least to the greatest value.
const BINS: usize = 256;

/// The members of the document that depend on values; leaves the values in another order.
///
/// Sums are f64, in the order of the rows. The standard deviation is that of the whole, not of a sample.
pub(super) fn members<T: Sample>(values: &mut [T], frame: &Frame, text: &mut String) -> Result<()> {
    let mut range = Range::new();
    range.see(values);
    let finite = || values.iter().map(|v| v.wide()).filter(|v| v.is_finite());
    let sum: f64 = finite().sum();
    #[expect(clippy::cast_precision_loss, reason = "a number of values in memory")]
    let count = range.finite() as f64;
    let mean = sum / count;
    let squares: f64 = finite().map(|value| (value - mean) * (value - mean)).sum();
    let (min, max) = range.limits().unwrap_or((f64::NAN, f64::NAN));
    // NaN, where there is nothing, is null.
    let empty = range.finite() == 0;
    let numbers = [
        ("max", max),
        ("mean", mean),
        ("min", min),
        ("std", (squares / count).sqrt()),
        ("sum", if empty { f64::NAN } else { sum }),
    ];
    for (name, value) in numbers {
        let _ = write!(text, ",\"{name}\":");
        put(value, text);
    }
    let _ = write!(
        text,
        ",\"infinite\":{},\"nodata\":{},\"valid\":{}",
        range.infinite(),
        range.nan(),
        range.finite()
    );
    let (width, height) = frame.size();
    let samples = Grid::new(width as usize, height as usize, SAMPLES).pick(values);
    put_limits("zscale", zscale(&samples, CONTRAST), text);
    put_histogram(values, range.limits(), text)?;
    text.push_str(",\"percentiles\":{");
    for (at, percent) in PERCENTS.into_iter().enumerate() {
        let comma = if at > 0 { "," } else { "" };
        let _ = write!(text, "{comma}\"{percent}\":");
        put(percentile_of(values, percent)?.unwrap_or(f64::NAN), text);
    }
    text.push('}');
    Ok(())
}

fn put_limits(name: &str, limits: Option<Limits>, text: &mut String) {
    let limits = limits.unwrap_or(Limits {
        low: f64::NAN,
        high: f64::NAN,
    });
    let _ = write!(text, ",\"{name}\":{{");
    for (name, value) in [("high", limits.high), ("low", limits.low)] {
        put_text(name, text);
        text.push(':');
        put(value, text);
        text.push_str(if name == "high" { "," } else { "}" });
    }
}

fn put_histogram<T: Sample>(
    values: &[T],
    limits: Option<(f64, f64)>,
    text: &mut String,
) -> Result<()> {
    let Some((low, high)) = limits else {
        text.push_str(",\"histogram\":null");
        return Ok(());
    };
    let found = histogram(values, Limits { low, high }, BINS)?;
    text.push_str(",\"histogram\":{\"bins\":[");
    for (at, count) in found.bins.iter().enumerate() {
        let comma = if at > 0 { "," } else { "" };
        let _ = write!(text, "{comma}{count}");
    }
    text.push(']');
    for (name, value) in [("high", high), ("low", low)] {
        let _ = write!(text, ",\"{name}\":");
        put(value, text);
    }
    text.push('}');
    Ok(())
}
