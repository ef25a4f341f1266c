//! The scatter of a stack against its definition and numpy's numbers, at any budget and in any order.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    clippy::unwrap_used,
    clippy::unreadable_literal,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    dead_code,
    reason = "a test; the shared modules serve several files"
)]

#[path = "stack_cases/masked.rs"]
mod masked;
#[path = "stack_cases/scatter.rs"]
mod scatter;
mod stack_cases;

use masked::{flags, mask};
use proptest::prelude::*;
use scatter::naive_rms;
use sectile::error::Error;
use sectile::fits::pixel::{Bitpix, Encoding};
use sectile::stack::mask::Meaning;
use sectile::stack::median::{Kernel, MOST_EXPOSURES, Samples};
use sectile::stack::plan::Plan;
use sectile::stack::rms::Rms;
use sectile::stack::statistic::Statistic;
use stack_cases::{Feeding, bits, expected_of, files, memory, part_of, plain, run_of};

const NAN: f64 = f64::NAN;

/// Values of a pixel and `numpy.nanstd` of them (numpy 2.4.6, f64).
const NUMPY: [(&str, &[f64], f64); 7] = [
    ("three apart", &[1.0, 2.0, 4.0], 1.247219128924647),
    (
        "far from zero",
        &[1e9 + 0.5, 1e9 + 0.25, 1e9 - 0.75, 1e9 + 1.0],
        0.6373774391990981,
    ),
    ("a missing one", &[NAN, 0.1, 0.2, 0.7], 0.262466929133727),
    ("one alone", &[NAN, 5.5], 0.0),
    (
        "a cosmic ray",
        &[12.5, 12.25, 13.0, 11.75, 4000.0],
        1595.0500509388412,
    ),
    ("tiny", &[1e-30, 3e-30, 2e-30], 8.164965809277258e-31),
    ("signs", &[-1.5, 1.5, -2.5, 2.5, 0.0], 1.8439088914585775),
];

fn stored<const N: usize>(values: &[f64], bytes: impl Fn(f64) -> [u8; N]) -> Vec<Vec<u8>> {
    values.iter().map(|value| bytes(*value).to_vec()).collect()
}

fn runs(rows: &[Vec<u8>], bitpix: Bitpix) -> Vec<Samples<'_>> {
    let encoding = Encoding::plain(bitpix);
    let run = rows.iter().map(|bytes| Samples { bytes, encoding });
    run.collect()
}

/// One pixel in f64 and in f32, and its count.
fn pixel(values: &[f64]) -> (f64, f32, u16) {
    let (mut wide, mut narrow, mut count, mut other) = ([9.0], [9.0], [9], [8]);
    let mut rms = Rms::new(values.len()).unwrap();
    let rows = stored(values, f64::to_be_bytes);
    rms.reduce_f64(&runs(&rows, Bitpix::F64), &[], &mut wide, &mut count)
        .unwrap();
    let rows = stored(values, |value| (value as f32).to_be_bytes());
    rms.reduce_f32(&runs(&rows, Bitpix::F32), &[], &mut narrow, &mut other)
        .unwrap();
    assert_eq!(count, other);
    (wide[0], narrow[0], count[0])
}

#[test]
fn it_is_the_standard_deviation_that_numpy_gives() {
    for (name, values, wanted) in NUMPY {
        let (wide, _, count) = pixel(values);
        // Numpy may sum in another order.
        assert!(
            (wide - wanted).abs() <= 4.0 * f64::EPSILON * wanted,
            "{name}: {wide:e}"
        );
        assert_eq!(
            count as usize,
            values.iter().filter(|v| !v.is_nan()).count()
        );
    }
}

#[test]
fn none_is_nan_one_is_zero_and_an_infinity_has_no_scatter() {
    let canonical = (f64::NAN.to_bits(), f32::NAN.to_bits());
    for (values, number) in [
        (&[NAN][..], 0),
        (&[NAN, -NAN], 0),
        (&[f64::INFINITY], 1),
        (&[f64::INFINITY, 1.0, NAN], 2),
        (&[f64::INFINITY, f64::NEG_INFINITY], 2),
    ] {
        let (wide, narrow, count) = pixel(values);
        assert_eq!((wide.to_bits(), narrow.to_bits()), canonical, "{values:?}");
        assert_eq!(count, number);
    }
    for values in [&[3.5][..], &[NAN, -7.25], &[-0.0, -0.0], &[0.0, -0.0]] {
        let (wide, narrow, _) = pixel(values);
        assert_eq!((wide.to_bits(), narrow.to_bits()), (0, 0), "{values:?}");
    }
    // The largest values of f32 have a scatter that f32 holds.
    let (_, narrow, _) = pixel(&[f64::from(f32::MAX), -f64::from(f32::MAX)]);
    assert_eq!(narrow.to_bits(), f32::MAX.to_bits());
}

#[test]
fn every_pixel_type_budget_and_order_gives_the_bits_of_the_definition() {
    let scaled = |bitpix, bscale, bzero, blank| Encoding {
        bitpix,
        bscale,
        bzero,
        blank,
    };
    for kind in [
        plain(),
        scaled(Bitpix::U8, 1.0, -128.0, None),
        scaled(Bitpix::I16, 1.0, 32768.0, None),
        scaled(Bitpix::I16, 0.1, 3.0, Some(77)),
        Encoding::plain(Bitpix::I32),
        scaled(Bitpix::I64, 1.0, 9_223_372_036_854_775_808.0, None),
        Encoding::plain(Bitpix::F64),
    ] {
        let files = files(9, 701, 67, &[kind, plain()]);
        let Err(Error::Budget { need, .. }) = Plan::new(&files.stack, &memory(1)) else {
            panic!("no plan fits a byte")
        };
        for (bytes, piece, shuffled) in [
            (need, 1000, true),
            (need + (64 << 10), usize::MAX, false),
            (64 << 20, 1, true),
        ] {
            let wish = memory(bytes);
            let out = run_of::<Rms>(&files, &wish, Feeding { piece, shuffled });
            let wanted = expected_of(&files, &out.plan, naive_rms);
            assert!((bits(&out.values), out.count) == wanted, "{kind:?} {bytes}");
            assert!(out.peak <= out.plan.peak_bytes && out.plan.peak_bytes <= bytes);
            assert_eq!(out.requests, out.plan.requests);
        }
    }
}

#[test]
fn parts_previews_and_masks_are_those_of_the_median() {
    let plain_files = files(5, 333, 41, &[plain()]);
    for (step, latency) in [(1, 0.0), (1, 0.05), (7, 0.0), (64, 0.05)] {
        let wish = part_of(step, latency);
        let feeding = Feeding {
            piece: usize::MAX,
            shuffled: true,
        };
        let out = run_of::<Rms>(&plain_files, &wish, feeding);
        let wanted = expected_of(&plain_files, &out.plan, naive_rms);
        assert!((bits(&out.values), out.count) == wanted, "{wish:?}");
        let median = run_of::<Kernel>(&plain_files, &wish, feeding);
        assert_eq!(median.read, out.read);
    }
    for kinds in [
        [Some(flags(Bitpix::I16, true)), None],
        [
            Some(flags(Bitpix::I32, false)),
            Some(flags(Bitpix::U8, false)),
        ],
    ] {
        let masked = mask(
            files(7, 150, 9, &[plain(), Encoding::plain(Bitpix::I16)]),
            &kinds,
            Meaning::Bits(0x41),
        );
        let feeding = Feeding {
            piece: 13,
            shuffled: true,
        };
        let out = run_of::<Rms>(&masked, &memory(4 << 20), feeding);
        let wanted = expected_of(&masked, &out.plan, naive_rms);
        assert!((bits(&out.values), out.count) == wanted, "{kinds:?}");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    for number in [0, MOST_EXPOSURES + 1] {
        assert_eq!(Rms::new(number).unwrap_err().code(), "parameter");
    }
    let rows = stored(&[1.0, 2.0], f64::to_be_bytes);
    let rows = runs(&rows, Bitpix::F64);
    let mut rms = Rms::new(2).unwrap();
    let (mut out, mut count) = ([0.0; 2], [0; 2]);
    for (rows, pixels, counts) in [(&rows[..1], 1, 1), (&rows[..], 2, 2), (&rows[..], 1, 2)] {
        let refused = rms.reduce_f64(rows, &[], &mut out[..pixels], &mut count[..counts]);
        assert_eq!(refused.unwrap_err().code(), "parameter");
    }
    for number in [1, 2, 12, 100, MOST_EXPOSURES] {
        assert!(<Rms as Statistic>::scratch_bytes(number) <= Kernel::scratch_bytes(number));
    }
}

proptest! {
    #[test]
    fn any_values_give_the_definition(
        values in prop::collection::vec(prop_oneof![
            Just(NAN), Just(0.0), -1e3..1e3, any::<f32>().prop_map(f64::from),
        ], 1..40),
    ) {
        let there: Vec<f64> = values.iter().copied().filter(|v| !v.is_nan()).collect();
        let number = there.len() as f64;
        let mean = there.iter().fold(0.0, |sum, v| sum + v) / number;
        let squares = there.iter().fold(0.0, |sum, v| sum + (v - mean) * (v - mean));
        let wanted = (squares / number).sqrt();
        let (wide, _, count) = pixel(&values);
        prop_assert_eq!(usize::from(count), there.len());
        let same = wide.to_bits() == wanted.to_bits() || (wide.is_nan() && wanted.is_nan());
        prop_assert!(same, "{} {}", wide, wanted);
    }
}
