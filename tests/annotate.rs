//! Annotation: every score equals that of a scan of all peaks, at any budget, in any shards, in any order of arrival.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::float_cmp,
    dead_code,
    reason = "a test; each file uses a part of the cases"
)]

mod annotate_cases;
mod ion_cases;

use annotate_cases::whole::{F32, F64, MIXED, all, minimum, windows, wish};
use annotate_cases::{
    Found, annotate, composition, formulas, ions, modifiers, oracle, patterns, planted, request,
};
use ion_cases::{Dice, Feeding, Peak, Sample, WHOLE, head};
use sectile::error::Error;
use sectile::ion::annotate::{Request, Wish, plan};
use sectile::ion::isotope::{Analyzer, Instrument};
use sectile::ion::scoring::Scoring;

fn of(scoring: Scoring, hotspot: bool, ppm: f64) -> Request {
    Request {
        scoring,
        hotspot,
        ppm,
        ..request()
    }
}

#[test]
fn every_score_and_image_equals_those_of_a_scan_of_all_peaks() {
    let cases = [
        (1, [12, 9, 1], 900, F32, of(Scoring::V3, false, 60.0)),
        (2, [9, 8, 1], 800, MIXED, of(Scoring::V3, true, 200.0)),
        (3, [8, 7, 1], 700, F64, of(Scoring::V1, false, 3.0)),
        (4, [8, 7, 1], 700, F64, of(Scoring::V2, false, 90.0)),
    ];
    let mut decoys = 0;
    for (seed, size, per_pixel, reals, request) in cases {
        let ions = ions(&formulas(10), &request);
        let sample = planted(seed, size, per_pixel, reals, &ions);
        let expected = oracle(&sample, &ions);
        assert!(expected.targets.len() > 5, "{}", expected.targets.len());
        decoys += expected.decoys.len();
        let file = sample.store();
        assert!(head(&file).blocks.len() > 4);
        let outcome = all(&file, &ions, &wish(256 << 20), WHOLE);
        assert_eq!(outcome.found, expected);
    }
    assert!(decoys > 20, "{decoys}");
}

#[test]
fn nothing_depends_on_budget_arrival_or_shards() {
    let ions = ions(&formulas(120), &request());
    let sample = planted(5, [16, 12, 1], 700, F32, &ions);
    let file = sample.store();
    let head = head(&file);
    let expected = oracle(&sample, &ions);
    let least = minimum(&head, &ions, &Wish::default());
    for memory in [least, least + 300_000, 32 << 20, 128 << 20, 512 << 20] {
        for in_flight in [1, 3] {
            let wish = Wish {
                in_flight,
                ..wish(memory)
            };
            let least = minimum(&head, &ions, &wish);
            let wish = Wish {
                memory: wish.memory.max(least),
                ..wish
            };
            let outcome = all(&file, &ions, &wish, WHOLE);
            assert_eq!(outcome.found, expected, "{memory}");
        }
    }
    let feedings = [
        Feeding {
            piece: 1,
            shuffled: false,
        },
        Feeding {
            piece: 999,
            shuffled: true,
        },
    ];
    for feeding in feedings {
        assert_eq!(all(&file, &ions, &wish(64 << 20), feeding).found, expected);
    }
    for count in [1, 7] {
        let shards = ions.shards(count);
        assert_eq!(shards.len(), count as usize);
        assert_eq!(shards[0].start, 0);
        assert!(shards.windows(2).all(|two| two[0].end == two[1].start));
        assert_eq!(shards[shards.len() - 1].end, ions.len());
        let mut found = Found::default();
        for shard in shards {
            let wish = wish(least + (1 << 20));
            let outcome = annotate(
                &file,
                &head,
                &ions,
                shard.clone(),
                shard.start,
                &wish,
                WHOLE,
            )
            .unwrap();
            found.join(outcome.found);
        }
        assert_eq!(found, expected);
    }
}

#[test]
fn isotope_peaks_in_other_blocks_and_groups_score_as_in_one_block() {
    let ions = ions(&formulas(0), &request());
    // Alone, all peaks lie in few blocks.
    let alone = planted(10, [8, 8, 1], 1, MIXED, &ions);
    let file = alone.store();
    let expected = all(&file, &ions, &wish(64 << 20), WHOLE).found;
    let found: Vec<_> = (expected
        .targets
        .keys()
        .filter_map(|ion| expected.scored(*ion)))
    .collect();
    assert!(found.len() > 3);
    // A block full of peaks between any two isotope peaks, outside of all windows.
    let windows = windows(&ions);
    let mut dice = Dice(10);
    let mut peaks = alone.peaks.clone();
    for scored in &found {
        for k in 1..4 {
            let gap = scored.mz[k] - scored.mz[k - 1];
            for _ in 0..if gap > 0.5 { 4200 } else { 0 } {
                let mz = scored.mz[k - 1] + gap * (0.1 + 0.8 * dice.unit());
                if !windows.iter().any(|(lo, hi)| *lo <= mz && mz <= *hi) {
                    peaks.push(Peak {
                        mz,
                        intensity: 7.0,
                        pixel: alone.peaks[0].pixel,
                    });
                }
            }
        }
    }
    let crowded = Sample::new([8, 8, 1], alone.acquired.clone(), peaks, MIXED).store();
    let head = head(&crowded);
    for scored in &found {
        let blocks = (0..4).map(|k| head.blocks_of(scored.mz[k], scored.mz[k]).start);
        let mut blocks: Vec<_> = blocks.collect();
        blocks.dedup();
        assert!(blocks.len() > 1, "{scored:?}");
    }
    let least = minimum(&head, &ions, &Wish::default());
    let mut groups = Vec::new();
    for memory in [least, least + 100_000, 64 << 20] {
        let planned = plan(&head, &ions, 0..ions.len(), &wish(memory)).unwrap();
        groups.push(planned.groups);
        let outcome = all(&crowded, &ions, &wish(memory), WHOLE);
        assert_eq!(outcome.found, expected, "{memory}");
    }
    // At the least budget no ion's blocks are there at one time; at the largest all are.
    assert!(
        groups[0] > u64::from(ions.targets()) && groups[2] == 1,
        "{groups:?}"
    );
}

#[test]
fn one_slice_of_several_is_annotated() {
    for slice in 0..3 {
        let request = Request { slice, ..request() };
        let ions = ions(&formulas(0), &request);
        let sample = planted(13, [7, 6, 3], 500, F32, &ions);
        let expected = oracle(&sample, &ions);
        assert!(!expected.targets.is_empty());
        let outcome = all(&sample.store(), &ions, &wish(64 << 20), WHOLE);
        assert_eq!(outcome.found, expected);
    }
    let request = Request {
        slice: 3,
        ..request()
    };
    let ions = ions(&formulas(0), &request);
    let file = Sample::random(1, [7, 6, 3], 5, F32).store();
    let refused = plan(&head(&file), &ions, 0..ions.len(), &wish(64 << 20)).unwrap_err();
    assert!(
        matches!(refused, Error::Parameter { name: "slice", .. }),
        "{refused:?}"
    );
}

#[test]
fn nothing_is_found_in_an_empty_store_by_an_empty_list_or_outside_of_the_range() {
    let acquired = vec![true; 6];
    let empty = Sample::new([3, 2, 1], acquired.clone(), Vec::new(), F32).store();
    let some = ions(&formulas(120), &request());
    let outcome = all(&empty, &some, &wish(64 << 20), WHOLE);
    assert_eq!((outcome.found, outcome.run.requests), (Found::default(), 0));

    let none = ions(&[], &request());
    assert!(none.is_empty() && none.shards(4).is_empty());
    let file = planted(14, [8, 8, 1], 50, F32, &some).store();
    let outcome = all(&file, &none, &wish(64 << 20), WHOLE);
    assert_eq!((outcome.found, outcome.run.requests), (Found::default(), 0));
    assert_eq!(outcome.positions, [0]);

    // All peaks far above every window.
    let far = Peak {
        mz: 5000.0,
        intensity: 1.0,
        pixel: 0,
    };
    let far = Sample::new([3, 2, 1], acquired, vec![far], F32).store();
    let outcome = all(&far, &some, &wish(64 << 20), WHOLE);
    assert_eq!((outcome.found, outcome.run.requests), (Found::default(), 0));
}

/// A peak between two isotope peaks that are closer than a window is wide counts for both, and the ion is marked: at
/// a resolving power of a million 730.5267 and 730.5292 are two peaks of an ion.
#[test]
fn an_ion_whose_own_windows_overlap_is_marked() {
    let texts = ["C40H74NO8P".to_owned()];
    for (power, close) in [(1e6, true), (140_000.0, false)] {
        let request = Request {
            instrument: Instrument::new(Analyzer::Tof, power).unwrap(),
            ..request()
        };
        let ions = ions(&texts, &request);
        let of = modifiers(&["+H"]);
        let position = (0..ions.len()).find(|at| {
            let ion = ions.ion(*at).unwrap();
            ions.decoys_chosen().modifiers()[usize::from(ion.modifier)] == of[0]
        });
        let position = position.unwrap();
        let mut patterns = patterns(&request);
        let pattern = patterns.pattern(&composition(&ions, position)).unwrap();
        let neighbours = [730.5267, 730.5292];
        let is_there = |mz: f64| pattern.mz.iter().any(|at| (at - mz).abs() < 2e-4);
        assert_eq!(neighbours.map(is_there), [close, close], "{pattern:?}");
        // Each isotope peak everywhere in a corner, and one peak between the two.
        let pixels = [0, 1, 2, 8, 9, 10, 16, 17, 18];
        let mut peaks = Vec::new();
        for (pixel, scale) in pixels.into_iter().zip(1..) {
            for (mz, theory) in pattern.mz.iter().zip(pattern.intensity) {
                peaks.push(Peak {
                    mz: *mz,
                    intensity: theory * f64::from(scale),
                    pixel,
                });
            }
        }
        let between = 730.528;
        peaks.push(Peak {
            mz: between,
            intensity: 0.5,
            pixel: 40,
        });
        let sample = Sample::new([8, 8, 1], vec![true; 64], peaks, F64);
        let outcome = all(&sample.store(), &ions, &wish(64 << 20), WHOLE);
        assert_eq!(outcome.found, oracle(&sample, &ions));
        let scored = outcome.found.scored(position).unwrap();
        assert_eq!(scored.overlap, close);
        let counted = outcome.found.images[&position].iter().flatten();
        let counted = counted.filter(|(pixels, ..)| pixels.contains(&40)).count();
        // At the lower resolving power one window lies about both.
        assert_eq!(counted, if close { 2 } else { 1 });
    }
}
