//! Packing that was killed goes on, and ends with the same bytes.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "a test"
)]

mod packing;

use packing::{Arrival, Disk, Noise, crowd, drift, minimum, pack, same, wish};
use sectile::error::Error;
use sectile::imzml::Dataset;
use sectile::ion::pack::job::{File, PackJob};
use sectile::ion::pack::plan::{Plan, Wish};
use sectile::ion::pack::report::Phase;
use sectile::job::Job;
use sectile::store::head::Real;

/// Kills a packing before every checkpoint, goes on from the one before, and compares.
///
/// That is as good as killing it after every put: what lies between was put, and is put again.
fn killed_anywhere(dataset: &Dataset, ibd: &[u8], memory: u64) {
    let wish = Wish {
        memory,
        in_flight: 3,
        ..Wish::default()
    };
    let whole = pack(dataset, ibd, &wish, Arrival::InOrder).unwrap();
    let (puts, states) = (whole.disk.puts, whole.disk.states);
    assert!(states > 4, "{states} checkpoints in {puts} puts");
    let is_state = |n: &usize| whole.disk.kinds[*n] == File::State;
    let before = (0..puts).filter(is_state).chain([puts - 1]);
    let mut resumed = 0;
    for stop in before {
        let mut disk = Disk::new(ibd);
        let mut job = PackJob::new(dataset.clone(), whole.plan.clone(), None).unwrap();
        assert!(!disk.run(&mut job, Arrival::InOrder, stop).unwrap());
        disk.waiting.clear();
        let state = disk.state.clone();
        resumed += usize::from(state.is_some());
        let mut job = PackJob::new(dataset.clone(), whole.plan.clone(), state.as_deref()).unwrap();
        assert!(
            disk.run(&mut job, Arrival::Shuffled(stop as u64), usize::MAX)
                .unwrap()
        );
        assert!(
            disk.store == whole.disk.store,
            "killed after put {stop} of {puts}"
        );
        let report = job.report().unwrap();
        assert_eq!(
            (report.counts, report.peaks),
            (whole.report.counts, whole.report.peaks)
        );
        assert!(job.peak() <= whole.plan.peak_bytes);
    }
    assert_eq!(resumed, states);
}

#[test]
fn killed_after_any_put() {
    let (dataset, ibd) = crowd(7000, 40, (Real::F64, Real::F32), 4);
    killed_anywhere(&dataset, &ibd, minimum(&dataset, 3));
}

#[test]
fn killed_while_partitions_are_split_again() {
    let (dataset, ibd) = drift(7000, 40, (Real::F32, Real::F32));
    killed_anywhere(&dataset, &ibd, minimum(&dataset, 3));
    let (dataset, ibd) = same(7000, 40);
    killed_anywhere(&dataset, &ibd, minimum(&dataset, 3));
}

#[test]
fn killed_more_than_once() {
    let (dataset, ibd) = crowd(7000, 40, (Real::F64, Real::F64), 8);
    let memory = minimum(&dataset, 6);
    let whole = pack(&dataset, &ibd, &wish(memory), Arrival::InOrder).unwrap();
    let mut noise = Noise(77);
    for _ in 0..3 {
        let mut disk = Disk::new(&ibd);
        let mut kills = 0;
        loop {
            let state = disk.state.clone();
            let mut job =
                PackJob::new(dataset.clone(), whole.plan.clone(), state.as_deref()).unwrap();
            let stop = disk.puts + 1 + noise.below(whole.disk.puts);
            disk.waiting.clear();
            if disk.run(&mut job, Arrival::InOrder, stop).unwrap() {
                break;
            }
            kills += 1;
            assert!(kills < 1000);
        }
        assert!(disk.store == whole.disk.store);
    }
}

#[test]
fn checkpoints_of_other_jobs_and_damaged_ones_are_refused() {
    let (dataset, ibd) = crowd(7000, 40, (Real::F64, Real::F32), 4);
    let memory = minimum(&dataset, 6);
    let plan = Plan::new(&dataset, &wish(memory)).unwrap();
    let mut disk = Disk::new(&ibd);
    let mut job = PackJob::new(dataset.clone(), plan.clone(), None).unwrap();
    while disk.states < 2 {
        let stop = disk.puts + 1;
        assert!(!disk.run(&mut job, Arrival::InOrder, stop).unwrap());
    }
    let state = disk.state.unwrap();
    let refused = |dataset: &Dataset, plan: &Plan, state: &[u8], why: &str| {
        let error = PackJob::new(dataset.clone(), plan.clone(), Some(state)).unwrap_err();
        let Error::Parameter {
            name: "state",
            what,
        } = &error
        else {
            panic!("{error:?}")
        };
        assert!(what.contains(why), "{what}");
    };
    for n in 0..200 {
        let mut damaged = state.clone();
        let at = n * state.len() / 200;
        damaged[at] ^= 1 << (n % 8);
        refused(&dataset, &plan, &damaged, "");
        refused(&dataset, &plan, &state[..at], "");
    }
    refused(&dataset, &plan, &[], "empty");
    refused(&dataset, &plan, b"SCTPACK\x02 and more", "another version");
    let (other, _) = crowd(7000, 40, (Real::F64, Real::F32), 5);
    let of_other = Plan::new(&other, &wish(minimum(&other, 6))).unwrap();
    refused(&other, &of_other, &state, "another dataset");
    let larger = Plan::new(&dataset, &wish(memory + (1 << 20))).unwrap();
    refused(&dataset, &larger, &state, "another budget");
    let skip = Wish {
        skip_bad: true,
        ..wish(memory)
    };
    refused(
        &dataset,
        &Plan::new(&dataset, &skip).unwrap(),
        &state,
        "other options",
    );
    PackJob::new(dataset, plan, Some(&state)).unwrap();
}

#[test]
fn progress_counts_up_in_each_phase() {
    let (dataset, ibd) = crowd(7000, 40, (Real::F64, Real::F32), 4);
    let plan = Plan::new(&dataset, &wish(minimum(&dataset, 6))).unwrap();
    let mut job = PackJob::new(dataset.clone(), plan.clone(), None).unwrap();
    let mut disk = Disk::new(&ibd);
    let mut before = job.progress();
    assert_eq!(
        (before.phase, before.done, before.total),
        (Phase::Read, 0, plan.rows)
    );
    loop {
        let stop = disk.puts + 1;
        let done = disk.run(&mut job, Arrival::InOrder, stop).unwrap();
        let now = job.progress();
        assert!(
            now.phase != before.phase || now.done >= before.done,
            "{before:?} {now:?}"
        );
        assert!(now.done <= now.total);
        before = now;
        if done {
            break;
        }
    }
    let report = job.report().unwrap();
    assert_eq!((before.phase, before.done), (Phase::Done, report.peaks));
}
