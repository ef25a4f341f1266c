//! Annotation: what is read and when it is saved, stopped, resumed; limits and damage.
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

use annotate_cases::whole::{F32, MIXED, all, minimum, wanted, wish};
use annotate_cases::{Found, Outcome, annotate, drive, formulas, ions, oracle, planted, request};
use ion_cases::{WHOLE, head};
use sectile::error::Error;
use sectile::ion::annotate::{AnnotateJob, BATCH, Keep, Output, Policy, Wish, plan};
use sectile::job::{Fetch, Job};

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
                let fetch: Fetch = pending.remove(0);
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
