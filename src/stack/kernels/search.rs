//! Search for the middle of many rows: count below a pivot, move the pivot, again.
//!
//! A sample of 16 rows says where to begin. Then counts are interpolated until, in every lane, a
//! pivot is found that all but a few of the lower half stay below: three or four passes over a block
//! in the first-level cache. One last pass picks the few values above it. What this does not settle
//! (many equal values in the middle, values of many magnitudes) is bisected on the ordered bits, with
//! a step to the next value that there is in between: at most as many rounds as the type has bits,
//! and few for few values.

use super::network;
use super::real::Real;

/// Rows of the sample.
const SAMPLE: usize = 16;

/// Passes after which interpolation gives up.
const INTERPOLATIONS: usize = 5;

/// Bisections, every other of which is weighted, between two steps to the next value.
const BISECTIONS: usize = 6;

/// Values that the last pass picks in each lane.
const PICKED: usize = 5;

/// The two middle ranks of each lane of 2 rows or more, none of whose values may be NaN.
///
/// Works on halves of `H` lanes: pivots and counts of more do not fit the registers.
pub(super) fn middle<T: Real, const L: usize, const H: usize>(
    rows: &[[T; L]],
    lower: &mut [T; L],
    upper: &mut [T; L],
) {
    const { assert!(L == 2 * H) };
    half::<T, L, H, 0>(rows, lower, upper);
    half::<T, L, H, 1>(rows, lower, upper);
}

fn half<T: Real, const L: usize, const H: usize, const I: usize>(
    rows: &[[T; L]],
    lower: &mut [T; L],
    upper: &mut [T; L],
) {
    let (lower, _) = lower.as_chunks_mut::<H>();
    let (upper, _) = upper.as_chunks_mut::<H>();
    let mut search = Search::<T, H>::new(rows.len());
    if search.interpolate::<L, I>(rows) {
        search.pick::<L, I>(rows, &mut lower[I], &mut upper[I]);
    } else {
        let tied = search.bisect::<L, I>(rows);
        search.pick::<L, I>(rows, &mut lower[I], &mut upper[I]);
        for (i, tie) in tied.into_iter().enumerate() {
            if let Some(tie) = tie {
                // The first value above the tie was picked.
                upper[I][i] = if tie.to_upper { tie.value } else { lower[I][i] };
                lower[I][i] = tie.value;
            }
        }
    }
}

/// A value that the middle falls into, with its equals.
#[derive(Clone, Copy)]
struct Tie<T> {
    value: T,
    /// Whether it is the upper of the middle ranks, too.
    to_upper: bool,
}

/// Half `I` of a row.
fn lanes<T, const L: usize, const H: usize, const I: usize>(row: &[T; L]) -> &[T; H] {
    let (halves, _) = row.as_chunks::<H>();
    &halves[I]
}

/// What is known of each lane.
struct Search<T, const H: usize> {
    /// Values in the lower half.
    target: T,
    pivot: [T; H],
    /// Values that do not exceed the pivot. A float, which the compiler keeps one a lane; integers
    /// it would rather sum up row-wise.
    count: [T; H],
    /// A pivot with too few values: NaN, which no value equals or undercuts, until there is one.
    below: [T; H],
    /// How few.
    below_count: [T; H],
    /// A pivot with too many values, or just all of the lower half.
    above: [T; H],
    /// How many.
    above_count: [T; H],
}

impl<T: Real, const H: usize> Search<T, H> {
    fn new(rows: usize) -> Self {
        Self {
            target: T::from_count(rows / 2),
            pivot: [T::ZERO; H],
            count: [T::ZERO; H],
            below: [T::NAN; H],
            below_count: [T::ZERO; H],
            above: [T::INFINITY; H],
            above_count: [T::from_count(rows); H],
        }
    }

    /// Moves pivots until the last pass can settle all lanes; false if it cannot.
    ///
    /// A pivot goes to where the count that is aimed at lies between two points whose counts are
    /// known or, at first, estimated from a sample.
    fn interpolate<const L: usize, const I: usize>(&mut self, rows: &[[T; L]]) -> bool {
        if self.within_reach() {
            return true;
        }
        let (mut low, mut high) = ([T::ZERO; H], [T::ZERO; H]);
        bracket::<T, L, H, I>(rows, &mut low, &mut high);
        // Twice as far on either side, along the same line: the middle half of a sample misses the
        // median too often. Nothing but speed hangs on it.
        let all = self.target + self.target;
        let inner = all - all * T::FIRST_QUANTILE - all * T::FIRST_QUANTILE;
        let mut low_count = [all * T::FIRST_QUANTILE - inner; H];
        let mut high_count = [all - all * T::FIRST_QUANTILE + inner; H];
        for i in 0..H {
            let (first, last) = (low[i], high[i]);
            low[i] = first - (last - first);
            high[i] = last + (last - first);
        }
        let aim = self.target - T::from_count(PICKED / 2);
        let mut last = [T::ZERO; H];
        for _ in 0..INTERPOLATIONS {
            for i in 0..H {
                let part = (aim - low_count[i]) / (high_count[i] - low_count[i]);
                self.pivot[i] = low[i] + (high[i] - low[i]) * part;
            }
            self.tally::<L, I>(rows);
            self.narrow();
            if self.within_reach() {
                return true;
            }
            move_end(&self.count, aim, &self.pivot, &mut low, &mut high);
            weigh(&self.count, aim, &mut last, &mut low_count, &mut high_count);
        }
        false
    }

    /// Whether the middle of each lane is among the values that the last pass picks.
    fn within_reach(&self) -> bool {
        let least = self.target - T::from_count(PICKED - 1);
        let mut reach = true;
        for count in self.below_count {
            reach &= count >= least;
        }
        reach
    }

    /// [`Search::within_reach`] for one lane.
    fn reaches(&self, lane: usize) -> bool {
        self.below_count[lane] >= self.target - T::from_count(PICKED - 1)
    }

    /// Takes pivots whose count is wrong, but less so than that of the bounds, for bounds.
    fn narrow(&mut self) {
        let target = self.target;
        let few = self.count.map(|count| {
            if count < target {
                count
            } else {
                T::NEG_INFINITY
            }
        });
        for (i, &few) in few.iter().enumerate() {
            let (pivot, below) = (self.pivot[i], self.below[i]);
            self.below[i] = if self.below_count[i] <= few {
                pivot
            } else {
                below
            };
        }
        for (below, few) in self.below_count.iter_mut().zip(few) {
            *below = if *below <= few { few } else { *below };
        }
        for i in 0..H {
            let (pivot, above) = (self.pivot[i], self.above[i]);
            self.above[i] = if self.count[i] < target { above } else { pivot };
        }
        for (above, &count) in self.above_count.iter_mut().zip(&self.count) {
            *above = if count < target { *above } else { count };
        }
    }

    /// Brings the lanes within reach that interpolation left out, and gives those where equal values
    /// keep the middle out of it.
    #[inline(never)]
    fn bisect<const L: usize, const I: usize>(&mut self, rows: &[[T; L]]) -> [Option<Tie<T>>; H] {
        let mut tied = [None; H];
        loop {
            let next = self.next::<L, I>(rows);
            self.pivot = next;
            self.tally::<L, I>(rows);
            for (i, tie) in tied.iter_mut().enumerate() {
                if !self.reaches(i) && self.count[i] >= self.target {
                    *tie = Some(Tie {
                        value: next[i],
                        to_upper: self.count[i] > self.target,
                    });
                    self.below[i] = next[i];
                    self.below_count[i] = self.target;
                }
            }
            self.narrow();
            for pass in 0..BISECTIONS {
                if self.within_reach() {
                    return tied;
                }
                self.divide(pass % 3 < 2);
                self.tally::<L, I>(rows);
                self.narrow();
            }
        }
    }

    /// Moves pivots between their bounds: half-way in the order of the bits, or as far as the middle
    /// is by the counts.
    #[inline(never)]
    fn divide(&mut self, weighted: bool) {
        let aim = self.target - T::from_count(PICKED / 2);
        let (least, most) = (T::LEAST_SHARE, T::ONE - T::LEAST_SHARE);
        let mut part = [T::HALF; H];
        if weighted {
            for (i, part) in part.iter_mut().enumerate() {
                let below = self.below_count[i];
                let share = (aim - below) / (self.above_count[i] - below);
                let share = if share < least { least } else { share };
                *part = if most < share { most } else { share };
            }
        }
        let mut pivot = [T::ZERO; H];
        for i in 0..H {
            pivot[i] = T::between(self.below[i], self.above[i], part[i]);
        }
        self.pivot = pivot;
    }

    /// Counts the values that do not exceed the pivots.
    #[inline(never)]
    fn tally<const L: usize, const I: usize>(&mut self, rows: &[[T; L]]) {
        let pivot = self.pivot;
        let mut count = [T::ZERO; H];
        for row in rows {
            let row = lanes::<T, L, H, I>(row);
            for i in 0..H {
                let one = if row[i] <= pivot[i] { T::ONE } else { T::ZERO };
                count[i] = count[i] + one;
            }
        }
        self.count = count;
    }

    /// The least value that exceeds the lower bound.
    #[inline(never)]
    fn next<const L: usize, const I: usize>(&self, rows: &[[T; L]]) -> [T; H] {
        let below = self.below;
        let mut next = [T::INFINITY; H];
        for row in rows {
            let row = lanes::<T, L, H, I>(row);
            for i in 0..H {
                let value = if row[i] <= below[i] {
                    T::INFINITY
                } else {
                    row[i]
                };
                next[i] = if value < next[i] { value } else { next[i] };
            }
        }
        next
    }

    /// The middle ranks of lanes that are within reach: the values after the lower bound in order.
    fn pick<const L: usize, const I: usize>(
        &self,
        rows: &[[T; L]],
        lower: &mut [T; H],
        upper: &mut [T; H],
    ) {
        let mut picked = [[T::INFINITY; H]; PICKED];
        self.collect::<L, I>(rows, &mut picked);
        for i in 0..H {
            // 1 for the first value above the bound.
            let rank = self.target - self.below_count[i];
            let (mut low, mut high) = (picked[0][i], picked[1][i]);
            for (before, pair) in picked.windows(2).enumerate() {
                let here = rank > T::from_count(before);
                low = if here { pair[0][i] } else { low };
                high = if here { pair[1][i] } else { high };
            }
            (lower[i], upper[i]) = (low, high);
        }
    }

    /// The least values that exceed the lower bounds, in order.
    #[inline(never)]
    fn collect<const L: usize, const I: usize>(
        &self,
        rows: &[[T; L]],
        picked: &mut [[T; H]; PICKED],
    ) {
        for (group, below) in self.below.as_chunks::<4>().0.iter().enumerate() {
            let at = group * 4;
            let mut least = [[T::INFINITY; 4]; PICKED];
            for row in rows {
                let row = lanes::<T, L, H, I>(row);
                let Some(values) = row.get(at..).and_then(<[T]>::first_chunk::<4>) else {
                    continue;
                };
                let mut value = [T::INFINITY; 4];
                for i in 0..4 {
                    value[i] = if values[i] <= below[i] {
                        T::INFINITY
                    } else {
                        values[i]
                    };
                }
                for least in &mut least {
                    for i in 0..4 {
                        let (a, b) = (least[i], value[i]);
                        least[i] = if b < a { b } else { a };
                        value[i] = if b < a { a } else { b };
                    }
                }
            }
            for (picked, least) in picked.iter_mut().zip(&least) {
                picked[at..at + 4].copy_from_slice(least);
            }
        }
    }
}

/// Moves one end of each interval to a point: the lower one if the point's count falls short.
fn move_end<T: Real, const H: usize>(
    count: &[T; H],
    aim: T,
    point: &[T; H],
    low: &mut [T; H],
    high: &mut [T; H],
) {
    for i in 0..H {
        let (point, low_point) = (point[i], low[i]);
        low[i] = if count[i] < aim { point } else { low_point };
    }
    for i in 0..H {
        let (point, high_point) = (point[i], high[i]);
        high[i] = if count[i] < aim { high_point } else { point };
    }
}

/// The counts at the ends after [`move_end`]; an end that stays twice running is drawn half-way to
/// the aim, lest the other creeps towards it (the Illinois rule).
fn weigh<T: Real, const H: usize>(
    count: &[T; H],
    aim: T,
    last: &mut [T; H],
    low_count: &mut [T; H],
    high_count: &mut [T; H],
) {
    for i in 0..H {
        let (count, low) = (count[i], low_count[i]);
        let kept = if last[i] < T::ZERO {
            (low + aim) * T::HALF
        } else {
            low
        };
        low_count[i] = if count < aim { count } else { kept };
    }
    for i in 0..H {
        let (count, high) = (count[i], high_count[i]);
        let kept = if T::ZERO < last[i] {
            (high + aim) * T::HALF
        } else {
            high
        };
        high_count[i] = if count < aim { kept } else { count };
    }
    for (last, count) in last.iter_mut().zip(count) {
        *last = if *count < aim {
            T::ONE
        } else {
            T::ZERO - T::ONE
        };
    }
}

/// The middle half of a sample of each lane.
#[inline(never)]
fn bracket<T: Real, const L: usize, const H: usize, const I: usize>(
    rows: &[[T; L]],
    low: &mut [T; H],
    high: &mut [T; H],
) {
    let mut sample = [[T::ZERO; H]; SAMPLE];
    for (index, sampled) in sample.iter_mut().enumerate() {
        *sampled = *lanes::<T, L, H, I>(&rows[index * rows.len() / SAMPLE]);
    }
    network::quartiles(&sample, low, high);
}
