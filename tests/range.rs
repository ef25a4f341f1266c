//! Merging ranges.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    clippy::single_range_in_vec_init,
    reason = "lists of one range are meant"
)]

use proptest::prelude::*;
use sectile::range::coalesce;

#[test]
fn neighbours_within_the_gap_become_one_up_to_the_longest() {
    let (merged, home) = coalesce(&[8..10, 0..2, 3..6], 1, 100);
    assert_eq!((merged, home), (vec![0..6, 8..10], vec![1, 0, 0]));
    let (merged, _) = coalesce(&[0..2, 2..4, 4..6], 0, 4);
    assert_eq!(merged, [0..4, 4..6]);
    let (merged, home) = coalesce(&[0..9, 2..4], 0, 1);
    assert_eq!(
        (merged, home),
        (vec![0..9], vec![0, 0]),
        "what lies within costs nothing"
    );
    assert_eq!(coalesce(&[], 5, 5), (vec![], vec![]));
    let far = u64::MAX - 3..u64::MAX;
    assert_eq!(
        coalesce(&[far.clone(), 0..1], u64::MAX, u64::MAX).0,
        [0..u64::MAX]
    );
}

proptest! {
    #[test]
    fn every_range_lies_in_its_home(
        ranges in prop::collection::vec((0_u64..1000, 0_u64..50), 0..40),
        gap in 0_u64..30,
        most in 1_u64..200,
    ) {
        let ranges: Vec<_> = ranges.into_iter().map(|(start, len)| start..start + len).collect();
        let (merged, home) = coalesce(&ranges, gap, most);
        for (range, home) in ranges.iter().zip(&home) {
            prop_assert!(merged[*home].start <= range.start && range.end <= merged[*home].end);
        }
        for pair in merged.windows(2) {
            prop_assert!(pair[0].start <= pair[1].start);
        }
        for one in &merged {
            let longest = ranges.iter().map(|range| range.end - range.start).max().unwrap_or(0);
            prop_assert!(one.end - one.start <= most.max(longest));
        }
    }
}
