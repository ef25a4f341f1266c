//! Annotation: every score equals that of a scan of all peaks, at any budget, in any shards, in any order of arrival,
//! stopped and resumed; and no more is read than must be.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::float_cmp,
    reason = "a test"
)]
#![allow(dead_code, reason = "other tests use the rest of the cases")]

mod annotate_cases;
mod ion_cases;

use std::rc::Rc;

use annotate_cases::{
    Found, Outcome, annotate, drive, formulas, ions, modifiers, oracle, planted, request,
};
use ion_cases::{Dice, Feeding, Peak, Sample, WHOLE, head};
use sectile::error::Error;
use sectile::ion::annotate::{
    AnnotateJob, BATCH, Ion, Ions, Keep, Output, Policy, Request, Scored, Wish, plan,
};
use sectile::ion::isotope::{Analyzer, Instrument};
use sectile::ion::scoring::Scoring;
use sectile::job::Job;
use sectile::store::head::{Head, Real};

const F32: [Real; 2] = [Real::F32, Real::F32];
const MIXED: [Real; 2] = [Real::F64, Real::F32];
const F64: [Real; 2] = [Real::F64, Real::F64];

fn wish(memory: u64) -> Wish {
    Wish {
        memory,
        ..Wish::default()
    }
}

/// The budget that plan and job need at least.
fn minimum(head: &Rc<Head>, ions: &Rc<Ions>, wish: &Wish) -> u64 {
    let wish = Wish {
        memory: 1,
        ..wish.clone()
    };
    let planned = plan(head, ions, 0..ions.len(), &wish);
    match (
        planned,
        AnnotateJob::new(head.clone(), ions.clone(), 0..ions.len(), 0, &wish),
    ) {
        (Err(Error::Budget { need, have: 1, .. }), Err(Error::Budget { need: same, .. })) => {
            assert_eq!(need, same);
            need
        }
        other => panic!("{other:?}"),
    }
}

/// Annotates a whole list, and holds the plan to it.
fn all(file: &[u8], ions: &Rc<Ions>, wish: &Wish, feeding: Feeding) -> Outcome {
    let head = head(file);
    let planned = plan(&head, ions, 0..ions.len(), wish).unwrap();
    let outcome = annotate(file, &head, ions, 0..ions.len(), 0, wish, feeding).unwrap();
    assert_eq!(
        (outcome.run.requests, outcome.run.bytes),
        (planned.requests, planned.bytes)
    );
    assert!(
        outcome.run.peak <= planned.peak_bytes,
        "{} {planned:?}",
        outcome.run.peak
    );
    assert!(planned.peak_bytes <= wish.memory, "{planned:?}");
    assert_eq!(outcome.told, u64::from(ions.len()));
    assert_eq!(outcome.stopped, None);
    assert_eq!(outcome.positions.last(), Some(&ions.len()));
    assert!(outcome.positions.is_sorted());
    outcome
}

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
fn each_block_is_read_once_and_at_the_least_budget_that_works_all_the_same_is_found() {
    let ions = ions(&formulas(120), &request());
    let sample = planted(6, [16, 16, 1], 600, MIXED, &ions);
    let file = sample.store();
    let head = head(&file);
    let usual = plan(&head, &ions, 0..ions.len(), &wish(256 << 20)).unwrap();
    let outcome = all(&file, &ions, &wish(256 << 20), WHOLE);
    assert_eq!((usual.refetched, usual.groups), (0, usual.batches));
    assert_eq!(usual.batches, u64::from(ions.len().div_ceil(BATCH)));
    let mut reads = outcome.run.reads.clone();
    reads.sort_unstable_by_key(|read| read.start);
    assert!(
        reads.windows(2).all(|two| two[0].end <= two[1].start),
        "a block was read twice"
    );
    // Only blocks that some window touches, and neighbours in one request.
    let wanted = wanted(&ions, &head);
    let bytes: u64 = wanted
        .iter()
        .map(|n| u64::from(head.blocks[*n].bytes))
        .sum();
    assert_eq!((usual.blocks, usual.bytes), (wanted.len() as u64, bytes));
    assert!(usual.requests < usual.blocks / 2, "{usual:?}");
    let least = minimum(&head, &ions, &Wish::default());
    assert_eq!(usual.minimum_bytes, least);
    let tight = all(&file, &ions, &wish(least), WHOLE);
    assert!(tight.run.requests > usual.requests);
    assert_eq!(tight.found, outcome.found);
}

/// The blocks that the windows of all ions touch.
fn wanted(ions: &Ions, head: &Head) -> Vec<usize> {
    let mut patterns = annotate_cases::patterns(ions.request());
    let mut wanted = Vec::new();
    for position in 0..ions.len() {
        let ion = ions.ion(position).unwrap();
        let modifier = &ions.decoys_chosen().modifiers()[usize::from(ion.modifier)];
        let formula = &ions.molecules().formulas[ion.formula as usize].composition;
        let pattern = patterns.pattern(&modifier.apply(formula).unwrap()).unwrap();
        let bound = ions.lowest(position).unwrap();
        assert!(bound <= pattern.mz[0], "{bound} {pattern:?}");
        for mz in &pattern.mz[..usize::from(pattern.peaks)] {
            let half = ions.request().half_width(*mz);
            wanted.extend(head.blocks_of(mz - half, mz + half));
        }
    }
    wanted.sort_unstable();
    wanted.dedup();
    wanted
}

#[test]
fn a_stopped_shard_goes_on_where_it_stopped() {
    let ions = ions(&formulas(120), &request());
    let sample = planted(7, [48, 40, 1], 40, F32, &ions);
    let file = sample.store();
    let head = head(&file);
    let expected = oracle(&sample, &ions);
    let shard = 0..ions.len();
    let wish = wish(64 << 20);
    // Stopped in every batch in turn: after so many things handed out.
    let mut stops = 0;
    for after in 0.. {
        let mut found = Found::default();
        let mut job =
            AnnotateJob::new(head.clone(), ions.clone(), shard.clone(), 0, &wish).unwrap();
        let position = stop(&mut job, &file, after, &mut found);
        let Some(position) = position else { break };
        stops += 1;
        assert!(position % BATCH == 0 && position < ions.len(), "{position}");
        let rest = annotate(&file, &head, &ions, shard.clone(), position, &wish, WHOLE).unwrap();
        assert!(found.targets.keys().all(|ion| *ion < position));
        found.join(rest.found);
        assert_eq!(found, expected, "stopped after {after}");
    }
    assert!(stops > 3, "{stops}");
}

/// Runs a job, asks it to stop after so many outputs, and says where it did.
fn stop(job: &mut AnnotateJob, file: &[u8], after: usize, found: &mut Found) -> Option<u32> {
    let mut seen = 0;
    let mut pending = Vec::new();
    loop {
        if seen == after {
            job.stop_soon();
        }
        match job.ready().unwrap() {
            Some(Output::Save(save)) => found.take(&save),
            Some(Output::Progress { .. }) => {}
            None => {
                if job.is_done() {
                    return job.stopped();
                }
                pending.extend(std::iter::from_fn(|| job.next()));
                let fetch: sectile::job::Fetch = pending.remove(0);
                let range = fetch.reads[0].range.clone();
                let bytes = &file[range.start as usize..range.end as usize];
                job.lend(&fetch);
                job.filled(&fetch, bytes.to_vec()).unwrap();
                continue;
            }
        }
        seen += 1;
    }
}

#[test]
fn a_save_can_be_asked_for_at_any_time_and_its_position_is_where_to_resume() {
    let ions = ions(&formulas(120), &request());
    let sample = planted(8, [64, 60, 1], 20, F32, &ions);
    let file = sample.store();
    let head = head(&file);
    let expected = oracle(&sample, &ions);
    let shard = 0..ions.len();
    let wish = wish(64 << 20);
    let mut job = AnnotateJob::new(head.clone(), ions.clone(), shard.clone(), 0, &wish).unwrap();
    let mut saved = Found::default();
    let mut kills = Vec::new();
    loop {
        job.save_soon();
        match job.ready().unwrap() {
            Some(Output::Save(save)) => {
                saved.take(&save);
                kills.push((saved.clone(), save.position));
            }
            Some(Output::Progress { .. }) => {}
            None => {
                if job.is_done() {
                    break;
                }
                let fetch = job.next().unwrap();
                let range = fetch.reads[0].range.clone();
                job.lend(&fetch);
                job.filled(
                    &fetch,
                    file[range.start as usize..range.end as usize].to_vec(),
                )
                .unwrap();
            }
        }
    }
    assert_eq!(saved, expected);
    // Some of them in the middle of a batch: at a position that an earlier save has too.
    let middle = kills.windows(2).filter(|two| two[0].1 == two[1].1);
    assert!(kills.len() > 6 && middle.count() > 2, "{}", kills.len());
    for (mut found, position) in kills {
        let rest = annotate(&file, &head, &ions, shard.clone(), position, &wish, WHOLE).unwrap();
        found.join(rest.found);
        assert_eq!(found, expected, "killed at {position}");
    }
}

#[test]
fn a_job_ends_before_its_requests_are_too_many() {
    let ions = ions(&formulas(120), &request());
    let sample = planted(9, [16, 16, 1], 500, MIXED, &ions);
    let file = sample.store();
    let head = head(&file);
    let expected = oracle(&sample, &ions);
    let total = plan(&head, &ions, 0..ions.len(), &wish(64 << 20))
        .unwrap()
        .requests;
    let limited = |max_requests| Wish {
        max_requests: Some(max_requests),
        ..wish(64 << 20)
    };
    let (mut found, mut from, mut runs) = (Found::default(), 0, 0);
    let most = total.div_ceil(2);
    while from < ions.len() {
        let wish = limited(most);
        let outcome = annotate(&file, &head, &ions, 0..ions.len(), from, &wish, WHOLE).unwrap();
        assert!(outcome.run.requests <= most);
        found.join(outcome.found);
        runs += 1;
        let next = outcome.stopped.unwrap_or(ions.len());
        assert!(next > from);
        from = next;
    }
    assert!(runs >= 2);
    assert_eq!(found, expected);
    let refused = annotate(&file, &head, &ions, 0..ions.len(), 0, &limited(0), WHOLE);
    let Err(Error::Parameter { name, what }) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(name, "--max-requests");
    assert!(what.contains("allow at least"), "{what}");
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

/// The windows of all ions.
fn windows(ions: &Ions) -> Vec<(f64, f64)> {
    let mut patterns = annotate_cases::patterns(ions.request());
    let mut windows = Vec::new();
    for position in 0..ions.len() {
        let ion = ions.ion(position).unwrap();
        let modifier = &ions.decoys_chosen().modifiers()[usize::from(ion.modifier)];
        let formula = &ions.molecules().formulas[ion.formula as usize].composition;
        let pattern = patterns.pattern(&modifier.apply(formula).unwrap()).unwrap();
        for mz in &pattern.mz[..usize::from(pattern.peaks)] {
            let half = ions.request().half_width(*mz);
            windows.push((mz - half, mz + half));
        }
    }
    windows
}

#[test]
fn a_damaged_block_is_named_and_what_was_finished_before_is_saved() {
    let ions = ions(&formulas(120), &request());
    let sample = planted(12, [16, 16, 1], 500, MIXED, &ions);
    let mut file = sample.store();
    let head = head(&file);
    let expected = oracle(&sample, &ions);
    let wanted = wanted(&ions, &head);
    let damaged = wanted[wanted.len() * 3 / 4];
    let range = head.block_range(damaged);
    file[range.start as usize + 100] ^= 8;
    let wish = wish(64 << 20);
    let mut job = AnnotateJob::new(head.clone(), ions.clone(), 0..ions.len(), 0, &wish).unwrap();
    let mut outcome = Outcome::default();
    let see = |output: Output<'_>| outcome.see(&output);
    let error = drive(&mut job, &file, WHOLE, 6, see).unwrap_err();
    let Error::Format {
        file: name,
        at,
        what,
    } = &error
    else {
        panic!("{error:?}");
    };
    assert_eq!((name.as_str(), *at), ("sample.sectile", range.start));
    assert!(what.contains("CRC"), "{what}");
    assert!(!outcome.found.targets.is_empty());
    for (ion, bytes) in &outcome.found.targets {
        assert_eq!(expected.targets.get(ion), Some(bytes));
    }
    // It stays so.
    assert_eq!(job.ready().unwrap_err(), error);
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

#[test]
fn images_are_saved_when_the_buffer_says_so() {
    let ions = ions(&formulas(120), &request());
    let sample = planted(15, [12, 10, 1], 500, F32, &ions);
    let file = sample.store();
    let whole = all(&file, &ions, &wish(64 << 20), WHOLE);
    let sizes: Vec<u64> = whole.flushes.iter().map(|(_, bytes)| *bytes).collect();
    assert_eq!(sizes.len(), 1);
    let limit = sizes[0] / 5;
    for policy in [Policy::FlushBefore, Policy::FlushAfter] {
        let images = Keep::Buffer {
            bytes: Some(limit),
            policy,
        };
        let wish = Wish {
            images,
            ..wish(64 << 20)
        };
        let outcome = all(&file, &ions, &wish, WHOLE);
        assert_eq!(outcome.found, whole.found);
        assert!(outcome.flushes.len() > 3);
        let (last, before) = outcome.flushes.split_last().unwrap();
        assert!(last.1 > 0);
        match policy {
            Policy::FlushBefore => {
                assert!(outcome.flushes.iter().all(|(_, bytes)| *bytes <= limit));
            }
            Policy::FlushAfter => assert!(before.iter().all(|(_, bytes)| *bytes > limit)),
        }
    }
    let none = Wish {
        images: Keep::None,
        ..wish(64 << 20)
    };
    let outcome = all(&file, &ions, &none, WHOLE);
    assert_eq!(outcome.found.targets, whole.found.targets);
    assert!(outcome.found.images.is_empty());
}

#[test]
fn requests_that_make_no_sense_are_refused() {
    let refused = |request: Request| {
        let made = Ions::new(annotate_cases::molecules(&formulas(120)), request, 1 << 30);
        match made.unwrap_err() {
            Error::Parameter { name, what } => (name, what),
            other => panic!("{other:?}"),
        }
    };
    let with = |texts: &[&str]| Request {
        targets: modifiers(texts),
        ..request()
    };
    assert_eq!(refused(with(&[])).0, "adducts");
    assert!(refused(with(&["+H", "+Na", "+H"])).1.contains("twice"));
    assert!(refused(with(&["[M-H]-"])).1.contains("charge"));
    let of = |charge, ppm, decoys| Request {
        charge,
        ppm,
        decoys,
        ..request()
    };
    assert_eq!(refused(of(2, 3.0, 20)).0, "charge");
    for ppm in [0.0, -1.0, f64::NAN, f64::INFINITY, 1001.0] {
        assert_eq!(refused(of(1, ppm, 20)).0, "ppm");
    }
    assert_eq!(refused(of(1, 3.0, 0)).0, "decoys");
    let small = Ions::new(annotate_cases::molecules(&formulas(120)), request(), 1000);
    assert!(matches!(small.unwrap_err(), Error::Budget { .. }));

    let file = Sample::random(1, [7, 6, 1], 5, F32).store();
    let head = head(&file);
    let ions = ions(&formulas(120), &request());
    let usual = Wish::default();
    let job = |shard, from, wish: &Wish| {
        let made = AnnotateJob::new(head.clone(), ions.clone(), shard, from, wish);
        match made.unwrap_err() {
            Error::Parameter { name, .. } => name,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(job(0..ions.len() + 1, 0, &usual), "shard");
    assert_eq!(job(10..20, 9, &usual), "from");
    assert_eq!(job(10..20, 21, &usual), "from");
    let none = Wish {
        in_flight: 0,
        ..usual
    };
    assert_eq!(job(0..ions.len(), 0, &none), "--in-flight");
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
        let mut patterns = annotate_cases::patterns(&request);
        let pattern = patterns
            .pattern(&annotate_cases::composition(&ions, position))
            .unwrap();
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

#[test]
fn ions_are_each_there_once_by_their_lowest_mz_and_impossible_ones_are_counted() {
    for scoring in Scoring::ALL {
        let request = Request {
            scoring,
            targets: modifiers(&["+H", "-H2O+H", "-NH3+H"]),
            ..request()
        };
        let texts: Vec<String> = ["C6H6", "C6H12O6", "C5H11NO2"].map(str::to_owned).into();
        let ions = ions(&texts, &request);
        let all: Vec<_> = (0..ions.len()).map(|at| ions.ion(at).unwrap()).collect();
        let mut distinct = all.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), all.len());
        let lowest: Vec<f64> = (0..ions.len()).map(|at| ions.lowest(at).unwrap()).collect();
        assert!(lowest.is_sorted());
        assert_eq!(
            (ions.ion(ions.len()), ions.lowest(ions.len())),
            (None, None)
        );
        // Benzene has neither water nor ammonia, and glucose no ammonia: these, and all of their decoys.
        let of = |text: &str, target: bool| {
            let formulas = &ions.molecules().formulas;
            let own = |ion: &&Ion| formulas[ion.formula as usize].text == text;
            let own = all.iter().filter(own);
            own.filter(|ion| ions.is_target(**ion) == target).count()
        };
        assert_eq!(
            ["C6H6", "C6H12O6", "C5H11NO2"].map(|text| of(text, true)),
            [1, 2, 3]
        );
        assert_eq!(
            ["C6H6", "C6H12O6", "C5H11NO2"].map(|text| of(text, false)),
            [20, 40, 60]
        );
        assert_eq!(
            (ions.targets(), ions.decoys(), ions.impossible()),
            (6, 120, 3 * 21)
        );
        assert!(
            ions.warnings()
                .iter()
                .any(|warning| warning.starts_with("63 ions cannot be"))
        );
    }
}

#[test]
fn all_that_decides_a_result_is_in_the_fingerprint() {
    let texts = formulas(3);
    let usual = request();
    let mut changed = vec![
        usual.clone(),
        Request {
            decoys: 19,
            ..usual.clone()
        },
        Request {
            ppm: 3.5,
            ..usual.clone()
        },
        Request {
            hotspot: true,
            ..usual.clone()
        },
        Request {
            slice: 1,
            ..usual.clone()
        },
        Request {
            scoring: Scoring::V2,
            ..usual.clone()
        },
        Request {
            charge: -1,
            ..usual.clone()
        },
        Request {
            targets: modifiers(&["+Na", "+H"]),
            ..usual.clone()
        },
    ];
    for (analyzer, power) in [(Analyzer::Tof, 140_000.0), (Analyzer::Orbitrap, 70_000.0)] {
        let instrument = Instrument::new(analyzer, power).unwrap();
        changed.push(Request {
            instrument,
            ..usual.clone()
        });
    }
    let mut found: Vec<_> = (changed.iter())
        .map(|request| ions(&texts, request).fingerprint())
        .collect();
    found.push(ions(&texts[1..], &usual).fingerprint());
    assert_eq!(found[0], ions(&texts, &usual).fingerprint());
    let all = found.len();
    found.sort_unstable();
    found.dedup();
    assert_eq!(found.len(), all);
}

#[test]
fn a_record_with_flags_that_mean_nothing_is_none() {
    let mut bytes = [0; Scored::BYTES];
    assert!(Scored::from_bytes(&bytes).is_some_and(|scored| !scored.overlap));
    bytes[4] = 2;
    assert_eq!(Scored::from_bytes(&bytes), None);
}
