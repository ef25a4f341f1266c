//! Sorting rows by m/z: stable, without allocating.
//!
//! A radix sort from the most significant digit, whose digits are cut from the range of keys that a
//! part really has. So it goes as deep as the keys differ: peaks of one substance, whose keys agree in
//! most bits, are told apart in one more step, and equal keys in none.

use super::row::key;

/// Parts up to this long are sorted by insertion.
const SHORT: usize = 24;

/// Parts from this long on are cut into 2¹¹ buckets, so that the buckets fit into a cache.
const LONG: usize = 1 << 15;

/// Sorts `rows` by their keys; rows of equal keys stay in order.
///
/// # Cost
/// O(n) for keys that spread; O(n·64/8) for any. `scratch` has room for as many rows.
pub(super) fn sort<const K: usize, const W: usize>(rows: &mut [[u8; W]], scratch: &mut [[u8; W]]) {
    let len = rows.len();
    if let Some(scratch) = scratch.get_mut(..len) {
        sort_into::<K, W>(rows, scratch, false);
    } else {
        debug_assert!(false, "the scratch is as long as the rows");
    }
}

/// Sorts `rows` with `other` as scratch; the result is in `other` if `across`.
fn sort_into<const K: usize, const W: usize>(
    rows: &mut [[u8; W]],
    other: &mut [[u8; W]],
    across: bool,
) {
    if rows.len() <= SHORT {
        insert::<K, W>(rows);
        if across {
            other.copy_from_slice(rows);
        }
        return;
    }
    let (mut min, mut max) = (u64::MAX, 0);
    for row in rows.iter() {
        let key = key::<K, W>(row);
        min = min.min(key);
        max = max.max(key);
    }
    if min == max {
        if across {
            other.copy_from_slice(rows);
        }
        return;
    }
    let width = u64::BITS - (max - min).leading_zeros();
    if rows.len() >= LONG {
        scatter::<K, W, 2048>(rows, other, Digit::new(min, width, 11), across);
    } else {
        // About two rows a bucket: fewer cost comparisons, more cost counters.
        let bits = (rows.len().ilog2() - 1).min(8);
        scatter::<K, W, 256>(rows, other, Digit::new(min, width, bits), across);
    }
}

/// The digit by which a part is cut: `bits` bits of the distance from its smallest key.
#[derive(Clone, Copy)]
struct Digit {
    min: u64,
    shift: u32,
}

impl Digit {
    fn new(min: u64, width: u32, bits: u32) -> Self {
        Self {
            min,
            shift: width.saturating_sub(bits),
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "a digit has 11 bits at most"
    )]
    fn of(self, key: u64) -> usize {
        ((key - self.min) >> self.shift) as usize
    }
}

/// Moves `rows` to `other`, bucket by bucket, and sorts each bucket.
fn scatter<const K: usize, const W: usize, const BUCKETS: usize>(
    rows: &mut [[u8; W]],
    other: &mut [[u8; W]],
    digit: Digit,
    across: bool,
) {
    let mut ends = [0_u32; BUCKETS];
    for row in rows.iter() {
        ends[digit.of(key::<K, W>(row)) % BUCKETS] += 1;
    }
    let mut before = 0;
    for end in &mut ends {
        before += std::mem::replace(end, before);
    }
    for row in rows.iter() {
        let end = &mut ends[digit.of(key::<K, W>(row)) % BUCKETS];
        other[*end as usize] = *row;
        *end += 1;
    }
    let mut start = 0;
    for end in ends {
        let end = end as usize;
        if end > start {
            let (bucket, scratch) = (&mut other[start..end], &mut rows[start..end]);
            sort_into::<K, W>(bucket, scratch, !across);
            start = end;
        }
    }
}

fn insert<const K: usize, const W: usize>(rows: &mut [[u8; W]]) {
    for at in 1..rows.len() {
        let row = rows[at];
        let own = key::<K, W>(&row);
        let mut to = at;
        while to > 0 && key::<K, W>(&rows[to - 1]) > own {
            rows[to] = rows[to - 1];
            to -= 1;
        }
        rows[to] = row;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(keys: &[u64]) {
        let mut rows: Vec<[u8; 16]> = Vec::new();
        for (order, key) in (0_u32..).zip(keys) {
            let mut row = [0; 16];
            row[..8].copy_from_slice(&key.to_le_bytes());
            row[12..].copy_from_slice(&order.to_le_bytes());
            rows.push(row);
        }
        let mut wanted = rows.clone();
        wanted.sort_by_key(key::<8, 16>);
        let mut scratch = vec![[0; 16]; rows.len()];
        sort::<8, 16>(&mut rows, &mut scratch);
        assert!(rows == wanted, "{} keys", keys.len());
    }

    /// Numbers without a pattern (Marsaglia's xorshift).
    fn noise(count: usize) -> Vec<u64> {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        std::iter::repeat_with(|| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        })
        .take(count)
        .collect()
    }

    #[test]
    fn equals_a_stable_sort() {
        for count in [0, 1, 2, 23, 24, 25, 26, 100, 1000, 40_000, 100_000] {
            let noise = noise(count);
            check(&noise);
            check(&noise.iter().map(|k| k % 7).collect::<Vec<_>>());
            check(&noise.iter().map(|k| 1 << (k % 64)).collect::<Vec<_>>());
            check(
                &noise
                    .iter()
                    .map(|k| k % 900 * 1000 + (k >> 40) % 30)
                    .collect::<Vec<_>>(),
            );
            check(&vec![5; count]);
            let mut sorted = noise.clone();
            sorted.sort_unstable();
            check(&sorted);
            sorted.reverse();
            check(&sorted);
        }
        check(&[u64::MAX, 0, u64::MAX, 1, 0]);
    }
}
