//! Bisection on the ordered bits of a float: any number of rows, no code but one short loop.

use std::cmp::Ordering;

use super::real::Real;

/// The two middle ranks of each lane of at least two rows, none of whose values may be NaN.
///
/// Looks for a pivot that exactly `rows / 2` values do not exceed, within the bits of the type at
/// most; where equal values straddle the middle there is none, and the search closes on the value.
#[inline(never)]
pub(in crate::stack) fn middle<T: Real, const L: usize>(
    rows: &[[T; L]],
    lower: &mut [T; L],
    upper: &mut [T; L],
) {
    #[expect(clippy::cast_possible_truncation, reason = "at most 4096 rows")]
    let target = (rows.len() / 2) as u32;
    let (least, most) = extremes(rows);
    let mut below = least.map(|value| value.key() - 1);
    let mut above = most.map(Real::key);
    let mut pivot = most;
    let mut exact = [false; L];
    loop {
        let mut open = false;
        for i in 0..L {
            // The distance of two keys fits 64 bits unsigned only.
            let gap = above[i].wrapping_sub(below[i]).cast_unsigned();
            if exact[i] || gap <= 1 {
                continue;
            }
            open = true;
            pivot[i] = T::from_key(below[i].wrapping_add((gap / 2).cast_signed()));
        }
        if !open {
            break;
        }
        let counts = count(rows, &pivot);
        for i in 0..L {
            if exact[i] || above[i].wrapping_sub(below[i]).cast_unsigned() <= 1 {
                continue;
            }
            match counts[i].cmp(&target) {
                Ordering::Equal => exact[i] = true,
                Ordering::Less => below[i] = pivot[i].key(),
                Ordering::Greater => above[i] = pivot[i].key(),
            }
        }
    }
    for i in 0..L {
        if !exact[i] {
            pivot[i] = T::from_key(above[i]);
        }
    }
    split(rows, &pivot, lower, upper);
    for i in 0..L {
        if !exact[i] {
            upper[i] = lower[i];
        }
    }
}

fn extremes<T: Real, const L: usize>(rows: &[[T; L]]) -> ([T; L], [T; L]) {
    let mut least = [T::INFINITY; L];
    let mut most = [T::NEG_INFINITY; L];
    for row in rows {
        for i in 0..L {
            least[i] = if row[i] < least[i] { row[i] } else { least[i] };
            most[i] = if most[i] < row[i] { row[i] } else { most[i] };
        }
    }
    (least, most)
}

/// How many values of each lane do not exceed its pivot.
#[inline(never)]
fn count<T: Real, const L: usize>(rows: &[[T; L]], pivot: &[T; L]) -> [u32; L] {
    let mut counts = [0; L];
    for row in rows {
        for i in 0..L {
            counts[i] += u32::from(row[i] <= pivot[i]);
        }
    }
    counts
}

/// The largest value that does not exceed the pivot, and the smallest that does.
#[inline(never)]
fn split<T: Real, const L: usize>(
    rows: &[[T; L]],
    pivot: &[T; L],
    lower: &mut [T; L],
    upper: &mut [T; L],
) {
    let mut most = [T::NEG_INFINITY; L];
    let mut least = [T::INFINITY; L];
    for row in rows {
        for i in 0..L {
            let value = row[i];
            let inside = value <= pivot[i];
            let low = if inside { value } else { T::NEG_INFINITY };
            let high = if inside { T::INFINITY } else { value };
            most[i] = if most[i] < low { low } else { most[i] };
            least[i] = if high < least[i] { high } else { least[i] };
        }
    }
    *lower = most;
    *upper = least;
}
