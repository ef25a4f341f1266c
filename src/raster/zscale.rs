//! Limits that show the sky: IRAF's zscale.
//!
//! The samples are sorted and a line is fitted to them; what lies far from it, stars and bad pixels,
//! is left out, and the line's slope says how wide the limits around the median are. The rules, with
//! all their constants, are those of astropy's `ZScaleInterval`.

use super::plane::Sample;
use super::stretch::Limits;

/// Fewest samples that a fit stands on.
const FEWEST: usize = 5;
/// Rounds of rejection, at most.
const ROUNDS: usize = 5;
/// Rejected: what is further from the line than this many standard deviations.
const SIGMAS: f64 = 2.5;

/// Which pixels of an image stand for all: every `step`-th column of every `line_step`-th row.
///
/// IRAF's choice for the display: about 120 pixels a line, of as many lines as 600 pixels take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    width: usize,
    height: usize,
    step: usize,
    line_step: usize,
}

impl Grid {
    /// Pixels a line, about.
    const LINE: usize = 120;

    /// A grid of at most about `samples` pixels over an image; every pixel of a small one.
    #[must_use]
    pub fn new(width: usize, height: usize, samples: usize) -> Self {
        let step = width.div_ceil(Self::LINE.min(samples).max(1)).max(1);
        let across = width.div_ceil(step).max(1);
        let lines = samples.div_ceil(across).clamp(1, height.max(1));
        Self {
            width,
            height,
            step,
            line_step: (height / lines).max(1),
        }
    }

    /// Columns and rows of the grid's pixels, row by row, from the middle of the first steps on.
    pub fn pixels(self) -> impl Iterator<Item = (usize, usize)> {
        let rows = (self.line_step / 2..self.height).step_by(self.line_step);
        rows.flat_map(move |y| {
            (self.step / 2..self.width)
                .step_by(self.step)
                .map(move |x| (x, y))
        })
    }

    /// The finite values at the grid's pixels, of an image that is stored row by row.
    #[must_use]
    pub fn pick<T: Sample>(self, values: &[T]) -> Vec<f64> {
        self.pixels()
            .filter_map(|(x, y)| Some(values.get(y * self.width + x)?.wide()))
            .filter(|value| value.is_finite())
            .collect()
    }
}

/// The zscale limits of values; `None` if none is finite.
///
/// All finite values given are used: thin them first ([`thin`](super::stretch::thin), [`Grid`]).
/// `contrast` widens the limits as it shrinks; 0.25 is usual, and 0 or less counts as 1.
///
/// # Cost
/// O(n), 18 bytes a value.
#[must_use]
pub fn zscale<T: Sample>(values: &[T], contrast: f64) -> Option<Limits> {
    let wide = values.iter().map(|value| value.wide());
    let mut sorted: Vec<f64> = wide.filter(|value| value.is_finite()).collect();
    sort(&mut sorted);
    let (&low, &high) = sorted.first().zip(sorted.last())?;
    let all = Limits { low, high };
    let slope = fit(&sorted);
    let Some(slope) = slope.filter(|slope| slope.is_finite()) else {
        return Some(all);
    };
    let slope = if contrast > 0.0 {
        slope / contrast
    } else {
        slope
    };
    let count = sorted.len();
    let middle = (count - 1) / 2;
    let median = if count.is_multiple_of(2) {
        f64::midpoint(sorted[middle], sorted[middle + 1])
    } else {
        sorted[middle]
    };
    Some(Limits {
        low: low.max(median - (place(middle) - 1.0) * slope),
        high: high.min(median + place(count - middle) * slope),
    })
}

/// Sorts finite values, a byte of their bits at a time from the lowest on.
///
/// The standard library's sort of numbers weighs 5 KB in wasm.
fn sort(values: &mut Vec<f64>) {
    let mut other = vec![0.0; values.len()];
    // Negative numbers are larger the smaller their bits are; all of them come before the positive ones.
    let key = |value: f64| {
        let bits = value.to_bits();
        let negative = (bits.cast_signed() >> 63).cast_unsigned();
        bits ^ (negative | 1 << 63)
    };
    for byte in 0..8 {
        let digit = |value: f64| usize::from(key(value).to_le_bytes()[byte]);
        let mut starts = [0_usize; 257];
        for value in values.iter() {
            starts[digit(*value) + 1] += 1;
        }
        for i in 0..256 {
            starts[i + 1] += starts[i];
        }
        for value in values.iter() {
            let start = &mut starts[digit(*value)];
            other[*start] = *value;
            *start += 1;
        }
        std::mem::swap(values, &mut other);
    }
}

/// The slope of the line through what is not rejected; `None` if that is too little.
fn fit(sorted: &[f64]) -> Option<f64> {
    let count = sorted.len();
    let least = FEWEST.max(count / 2);
    let grow = (count / 100).max(1);
    let mut bad = vec![false; count];
    let (mut good, mut before) = (count, count + 1);
    let mut slope = None;
    for _ in 0..ROUNDS {
        if good >= before || good < least {
            break;
        }
        let line = Line::through(sorted, &bad);
        let threshold = SIGMAS * line.deviation(sorted, &bad);
        for (i, value) in sorted.iter().enumerate() {
            bad[i] |= (value - line.at(i)).abs() > threshold;
        }
        bad = widened(&bad, grow);
        before = good;
        good = bad.iter().filter(|bad| !**bad).count();
        slope = Some(line.slope);
    }
    slope.filter(|_| good >= least)
}

/// y = slope · (x − x̄) + ȳ.
struct Line {
    slope: f64,
    centre: f64,
    mean: f64,
}

impl Line {
    /// The line of least squares through the good ones of values at 0, 1, 2, …
    fn through(values: &[f64], bad: &[bool]) -> Self {
        let good = || (0..values.len()).filter(|i| !bad[*i]);
        let count = place(good().count());
        let centre = good().map(place).sum::<f64>() / count;
        let mean = good().map(|i| values[i]).sum::<f64>() / count;
        let (mut across, mut along) = (0.0, 0.0);
        for i in good() {
            let x = place(i) - centre;
            across += x * (values[i] - mean);
            along += x * x;
        }
        Self {
            slope: across / along,
            centre,
            mean,
        }
    }

    fn at(&self, i: usize) -> f64 {
        self.slope * (place(i) - self.centre) + self.mean
    }

    /// Standard deviation (of the whole, not of a sample) of the good ones from the line.
    fn deviation(&self, values: &[f64], bad: &[bool]) -> f64 {
        let rest = || {
            let good = (0..values.len()).filter(|i| !bad[*i]);
            good.map(|i| values[i] - self.at(i))
        };
        let count = place(rest().count());
        let mean = rest().sum::<f64>() / count;
        (rest().map(|r| (r - mean) * (r - mean)).sum::<f64>() / count).sqrt()
    }
}

/// Marks also what lies within a window of `size` around a mark, one more to the left where the size
/// is even: as `numpy.convolve(…, mode="same")` does.
fn widened(bad: &[bool], size: usize) -> Vec<bool> {
    let (left, right) = (size / 2, size - size / 2 - 1);
    let mut marks: usize = bad.iter().take(right).filter(|bad| **bad).count();
    (0..bad.len())
        .map(|i| {
            marks += usize::from(bad.get(i + right).copied().unwrap_or(false));
            if i > left {
                marks -= usize::from(bad[i - left - 1]);
            }
            marks > 0
        })
        .collect()
}

#[expect(clippy::cast_precision_loss, reason = "places in a slice in memory")]
fn place(i: usize) -> f64 {
    i as f64
}

#[cfg(test)]
mod tests {
    use super::sort;

    #[test]
    fn values_come_in_the_order_of_the_standard_library() {
        let mut state = 0x2545_F491_4F6C_DD1D_u64;
        let mut values = vec![
            0.0,
            -0.0,
            f64::MAX,
            f64::MIN,
            f64::MIN_POSITIVE,
            5e-324,
            -5e-324,
        ];
        for _ in 0..1000 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            values.push(f64::from_bits(state));
        }
        values.retain(|value| value.is_finite());
        let mut wanted = values.clone();
        wanted.sort_by(f64::total_cmp);
        sort(&mut values);
        let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&values), bits(&wanted));
        sort(&mut Vec::new());
    }
}
