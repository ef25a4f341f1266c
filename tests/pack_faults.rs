//! Packing what is not as it should be: each fault has its answer, and nothing is lost in silence.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::float_cmp,
    reason = "a test"
)]

mod packing;

use packing::{Arrival, Make, Packed, crowd, minimum, naive, norms, pack, unpack, wish};
use sectile::error::Error;
use sectile::imzml::Dataset;
use sectile::ion::pack::plan::{Plan, Wish};
use sectile::store::head::Real;

const NAN: f64 = f64::NAN;

fn made() -> Make {
    Make::new(Real::F64, Real::F32)
}

fn packed(make: &Make) -> Packed {
    pack(
        &make.dataset(),
        &make.ibd,
        &wish(16 << 20),
        Arrival::InOrder,
    )
    .unwrap()
}

/// What a packing is refused with, and what it comes to when bad spectra are left out.
fn bad(make: &Make) -> (String, Packed) {
    let dataset = make.dataset();
    let refused = pack(&dataset, &make.ibd, &wish(16 << 20), Arrival::InOrder);
    let Err(error @ Error::Format { .. }) = refused.map(|packed| packed.report) else {
        panic!("it was packed, or refused for another reason")
    };
    let skip = Wish {
        skip_bad: true,
        ..wish(16 << 20)
    };
    let packed = pack(&dataset, &make.ibd, &skip, Arrival::InOrder).unwrap();
    (error.to_string(), packed)
}

#[test]
fn bad_values_name_their_spectrum_and_can_be_left_out() {
    let bad_mz = [NAN, f64::INFINITY, -1.5];
    for value in bad_mz
        .into_iter()
        .chain([NAN, f64::NEG_INFINITY])
        .enumerate()
    {
        let mut make = made();
        make.add([3, 5, 1], &[100.0, 200.0], &[1.0, 2.0]);
        match value {
            (n, mz) if n < bad_mz.len() => make.add([4, 5, 1], &[150.0, mz], &[3.0, 4.0]),
            (_, intensity) => make.add([4, 5, 1], &[150.0, 160.0], &[3.0, intensity]),
        };
        make.add([5, 5, 1], &[300.0], &[5.0]);
        let (error, packed) = bad(&make);
        assert!(error.starts_with("made.ibd: byte "), "{error}");
        assert!(
            error.contains("spectrum 1") && error.contains("x=4 y=5"),
            "{error}"
        );
        let (head, peaks) = unpack(&packed.disk.store);
        assert_eq!(peaks.mz, [100.0, 200.0, 300.0]);
        assert_eq!(packed.report.counts.bad_spectra, 1);
        assert!(packed.report.warnings[0].contains("the first is spectrum 1"));
        assert_eq!(
            (head.mask.acquired(0), head.mask.acquired(1)),
            (true, false)
        );
        assert_eq!(
            (head.layout.contents.spectra, head.meta.counts.bad_spectra),
            (2, 1)
        );
    }
}

#[test]
fn arrays_of_unequal_lengths() {
    let mut make = made();
    make.add([1, 1, 1], &[100.0, 200.0], &[1.0]);
    make.add([2, 1, 1], &[], &[2.0]);
    make.add([3, 1, 1], &[150.0], &[4.0]);
    let (error, packed) = bad(&make);
    assert!(
        error.contains("spectrum 0") && error.contains("x=1 y=1"),
        "{error}"
    );
    assert_eq!(unpack(&packed.disk.store).1.mz, [150.0]);
    assert_eq!(packed.report.counts.bad_spectra, 2);
}

#[test]
fn a_shared_mz_array_that_is_bad_takes_all_its_spectra_along() {
    let mut make = made();
    let mz = make.array(Real::F64, &[100.0, NAN]);
    for n in 0..3 {
        let intensity = make.array(Real::F32, &[1.0, 2.0]);
        make.add_arrays([n, 0, 1], mz, intensity);
    }
    make.add([3, 0, 1], &[100.0], &[9.0]);
    let (_, packed) = bad(&make);
    assert_eq!(packed.report.counts.bad_spectra, 3);
    assert_eq!(unpack(&packed.disk.store).1.intensity, [9.0]);
}

#[test]
fn a_truncated_ibd() {
    let mut make = made();
    for n in 0..4 {
        make.add([n, 0, 1], &[100.0 + f64::from(n), 200.0], &[1.0, 2.0]);
    }
    let dataset = make.dataset();
    let ibd = &make.ibd[..make.ibd.len() - 30];
    let cut = Wish {
        ibd_bytes: Some(ibd.len() as u64),
        ..wish(16 << 20)
    };
    let error = Plan::new(&dataset, &cut).unwrap_err().to_string();
    assert!(error.contains("spectrum 2 (x=2 y=0)"), "{error}");
    let skip = Wish {
        skip_bad: true,
        ..cut
    };
    let packed = pack(&dataset, ibd, &skip, Arrival::InOrder).unwrap();
    assert_eq!(packed.report.counts.bad_spectra, 2);
    assert_eq!(
        unpack(&packed.disk.store).1.mz,
        [100.0, 101.0, 200.0, 200.0]
    );
}

#[test]
fn unsorted_spectra_are_sorted_stably_and_counted() {
    let mut make = made();
    make.add(
        [0, 0, 1],
        &[300.0, 100.0, 200.0, 100.0],
        &[1.0, 2.0, 3.0, 4.0],
    );
    make.add([1, 0, 1], &[100.0, 100.0], &[5.0, 6.0]);
    let packed = packed(&make);
    let (_, peaks) = unpack(&packed.disk.store);
    assert_eq!(peaks.mz, [100.0, 100.0, 100.0, 100.0, 200.0, 300.0]);
    assert_eq!(peaks.intensity, [2.0, 4.0, 5.0, 6.0, 3.0, 1.0]);
    assert_eq!(packed.report.counts.unsorted_spectra, 1);
    assert!(packed.report.warnings[0].contains("did not ascend"));
}

#[test]
fn zeros_are_dropped_and_negatives_kept() {
    let mut make = made();
    make.add(
        [0, 0, 1],
        &[100.0, 200.0, 300.0, 400.0],
        &[0.0, -2.0, -0.0, 3.0],
    );
    let packed = packed(&make);
    let (_, peaks) = unpack(&packed.disk.store);
    assert_eq!(
        (peaks.mz, peaks.intensity),
        (vec![200.0, 400.0], vec![-2.0, 3.0])
    );
    let counts = packed.report.counts;
    assert_eq!(
        (
            counts.peaks_read,
            counts.zeros_dropped,
            counts.negative_intensities
        ),
        (4, 2, 1)
    );
    let norms = norms(&packed.disk.store);
    assert_eq!(norms.tic, [1.0]);
    // All four points count, as they were acquired.
    assert_eq!(norms.rms, [(13.0_f64 / 4.0).sqrt() as f32]);
}

#[test]
fn duplicates_add_up_and_slices_stay_apart() {
    let mut make = made();
    make.add([5, 5, 1], &[100.0], &[1.0]);
    make.add([5, 5, 1], &[100.0, 101.0], &[2.0, 5.0]);
    make.add([5, 5, 3], &[100.0], &[4.0]);
    make.add([6, 5, 3], &[], &[]);
    let packed = packed(&make);
    let (head, peaks) = unpack(&packed.disk.store);
    assert_eq!(
        (peaks.pixel, peaks.intensity),
        (vec![0, 0, 2, 0], vec![1.0, 2.0, 4.0, 5.0])
    );
    assert_eq!(
        (head.layout.contents.slices, head.meta.slices.clone()),
        (2, vec![1, 3])
    );
    let acquired: Vec<bool> = (0..4).map(|pixel| head.mask.acquired(pixel)).collect();
    assert_eq!(acquired, [true, false, true, true]);
    let norms = norms(&packed.disk.store);
    assert_eq!(norms.tic, [8.0, 0.0, 4.0, 0.0]);
    assert_eq!(norms.rms[0], (30.0_f64 / 3.0).sqrt() as f32);
    let counts = packed.report.counts;
    assert_eq!((counts.duplicate_pixels, counts.empty_spectra), (1, 1));
}

#[test]
fn no_peaks_at_all() {
    let mut empty = made();
    empty.add([0, 0, 1], &[], &[]).add([1, 0, 1], &[], &[]);
    let mut zeros = made();
    zeros
        .add([0, 0, 1], &[100.0], &[0.0])
        .add([1, 0, 1], &[], &[]);
    for make in [empty, zeros] {
        let packed = packed(&make);
        let (head, peaks) = unpack(&packed.disk.store);
        assert_eq!(
            (peaks.mz.len(), head.mask.count(), packed.report.peaks),
            (0, 2, 0)
        );
        assert_eq!(norms(&packed.disk.store).tic, [0.0, 0.0]);
    }
}

#[test]
fn arrays_that_lie_about_are_each_read_once() {
    // Intensities first, arrays of others and gaps between.
    let mut make = made();
    let mut spectra = Vec::new();
    for n in 0..50 {
        let intensity = make.array(Real::F32, &[f64::from(n + 1), 2.0]);
        let gap = if n % 7 == 0 { 100_000 } else { 13 };
        make.ibd.resize(make.ibd.len() + gap, 0xff);
        spectra.push(intensity);
    }
    for (n, intensity) in (0..).zip(spectra) {
        let mz = make.array(Real::F64, &[100.0 + f64::from(n), 500.0]);
        make.add_arrays([n, 0, 1], mz, intensity);
    }
    let dataset = make.dataset();
    for memory in [minimum(&dataset, 6), 64 << 20] {
        let packed = pack(&dataset, &make.ibd, &wish(memory), Arrival::Shuffled(1)).unwrap();
        assert!(unpack(&packed.disk.store).1 == naive(&dataset, &make.ibd));
        assert!(packed.plan.payload_bytes <= make.ibd.len() as u64);
    }
}

#[test]
fn a_budget_that_is_too_small_is_refused_with_the_least_that_works() {
    let (dataset, ibd) = crowd(4000, 60, (Real::F64, Real::F64), 1);
    let least = minimum(&dataset, 6);
    for memory in [0, 1 << 20, least - 1] {
        let error = Plan::new(&dataset, &wish(memory)).unwrap_err();
        assert!(
            matches!(error, Error::Budget { need, .. } if need == least),
            "{error}"
        );
    }
    let packed = pack(&dataset, &ibd, &wish(least), Arrival::InOrder).unwrap();
    assert!(packed.peak <= least);
}

/// A dataset of so many spectra whose arrays nobody reads.
fn claimed(spectra: i32, points: u32) -> Dataset {
    let mut make = made();
    let (mut mz, mut intensity) = (make.array(Real::F64, &[1.0]), make.array(Real::F32, &[1.0]));
    for n in 0..spectra {
        (mz.len, mz.bytes, mz.at) = (points, points * 8, 16 + n as u64 * u64::from(points) * 12);
        (intensity.len, intensity.bytes) = (points, points * 4);
        intensity.at = mz.at + u64::from(mz.bytes);
        make.add_arrays([n % 500, n / 500, 1], mz, intensity);
    }
    make.dataset()
}

#[test]
fn sixteen_mebibytes_are_enough() {
    for (spectra, points) in [
        (10_000, 2700),
        (200_000, 20),
        (200_000, 135),
        (2_000, 200_000 / 16),
    ] {
        let dataset = claimed(spectra, points);
        let plan = Plan::new(&dataset, &wish(16 << 20)).unwrap();
        assert!(plan.peak_bytes <= 16 << 20, "{plan:?}");
        assert_eq!(plan.payload_bytes, spectra as u64 * u64::from(points) * 12);
        println!("{plan:?}");
    }
}
