//! Merging byte ranges, pure.

use std::ops::Range;

/// Merges ranges that lie at most `gap` bytes apart, as long as the merged range stays within `max`
/// bytes.
///
/// The answer holds the merged ranges in ascending order and, for each input range, the index of
/// the merged one that covers it.
///
/// # Cost
/// O(n log n).
#[must_use]
pub fn coalesce(ranges: &[Range<u64>], gap: u64, max: u64) -> (Vec<Range<u64>>, Vec<usize>) {
    let mut order: Vec<usize> = (0..ranges.len()).collect();
    order.sort_by_key(|&i| (ranges[i].start, ranges[i].end));
    let mut merged: Vec<Range<u64>> = Vec::new();
    let mut home = vec![0; ranges.len()];
    for i in order {
        let range = &ranges[i];
        if let Some(last) = merged.last_mut() {
            let end = last.end.max(range.end);
            if range.start <= last.end.saturating_add(gap)
                && (end == last.end || end - last.start <= max)
            {
                last.end = end;
                home[i] = merged.len() - 1;
                continue;
            }
        }
        merged.push(range.clone());
        home[i] = merged.len() - 1;
    }
    (merged, home)
}
