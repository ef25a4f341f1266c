//! The median against a sort, numpy's recorded answers, and itself at other places.

#![cfg(not(target_arch = "wasm32"))]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::float_cmp,
    reason = "a test may stop at once, and means exact values"
)]

mod median_vectors;

use median_vectors::{
    KINDS, Random, check_f32, check_f64, column, median_f32, oracle_f32, oracle_f64, same_f32,
    same_f64, stack, wide_stack,
};
use proptest::prelude::{ProptestConfig, Strategy, any, prop, prop_oneof, proptest};
use sectile::error::Error;
use sectile::fits::pixel::{Bitpix, Encoding};
use sectile::stack::median::{Kernel, MOST_EXPOSURES, Samples, nanmedian};

#[test]
fn every_kind_of_stack_at_every_size_equals_a_sort() {
    assert_eq!(median_vectors::digest(4096), median_vectors::DIGEST_ALL);
}

#[test]
fn the_part_that_wasm_runs_has_the_same_bits() {
    assert_eq!(median_vectors::digest(257), median_vectors::DIGEST_257);
}

#[test]
fn every_width_equals_a_sort() {
    for width in 1..=70 {
        for n in [1, 2, 5, 12, 40, 65, 130] {
            for kind in ["one in ten missing", "any bits", "cosmic rays"] {
                check_f32(kind, n, width, &stack(kind, n, width));
                check_f64(kind, n, width, &wide_stack(kind, n, width));
            }
        }
    }
}

/// The place of a pixel in its block, and its neighbours, must not show in its bits.
#[test]
fn a_pixel_has_the_same_bits_wherever_it_lies() {
    let width = 101;
    for n in [1, 2, 7, 20, 41, 64, 65, 100, 257] {
        for kind in KINDS {
            let values = stack(kind, n, width);
            let (whole, counts) = median_f32(n, width, &values);
            for start in [1, 3, 17, 31, 32, 33, 64, 100] {
                let part: Vec<f32> = values
                    .chunks(width)
                    .flat_map(|row| &row[start..])
                    .copied()
                    .collect();
                let (medians, part_counts) = median_f32(n, width - start, &part);
                let bits = |values: &[f32]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(&medians), bits(&whole[start..]), "{kind}, n = {n}");
                assert_eq!(part_counts, counts[start..], "{kind}, n = {n}");
            }
        }
    }
}

/// A kernel is used for section after section: nothing of one may show in the next.
#[test]
fn a_kernel_remembers_nothing() {
    for n in [3, 33, 80] {
        let mut kernel = Kernel::new(n).unwrap();
        for kind in KINDS {
            let width = 45;
            let values = stack(kind, n, width);
            let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_be_bytes()).collect();
            let rows = samples(&bytes, width, Encoding::plain(Bitpix::F32));
            let (mut out, mut count) = (vec![0.0; width], vec![0; width]);
            kernel.median_f32(&rows, &mut out, &mut count).unwrap();
            let (fresh, fresh_count) = median_f32(n, width, &values);
            let bits = |values: &[f32]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&out), bits(&fresh), "{kind}, n = {n}");
            assert_eq!(count, fresh_count, "{kind}, n = {n}");
        }
    }
}

/// Splits the bytes of a stack into its exposures.
fn samples(bytes: &[u8], width: usize, encoding: Encoding) -> Vec<Samples<'_>> {
    bytes
        .chunks(width * encoding.bitpix.size())
        .map(|bytes| Samples { bytes, encoding })
        .collect()
}

/// What a stored pixel means, written down independently of the decoder.
fn meaning(encoding: &Encoding, pixel: &[u8]) -> f64 {
    let mut wide = [if pixel[0] & 0x80 == 0 { 0 } else { 0xff }; 16];
    wide[16 - pixel.len()..].copy_from_slice(pixel);
    let integer = match encoding.bitpix {
        Bitpix::U8 => i128::from(pixel[0]),
        Bitpix::F32 => {
            let stored = f32::from_be_bytes(pixel.try_into().unwrap());
            return f64::from(stored) * encoding.bscale + encoding.bzero;
        }
        Bitpix::F64 => {
            let stored = f64::from_be_bytes(pixel.try_into().unwrap());
            return stored * encoding.bscale + encoding.bzero;
        }
        _ => i128::from_be_bytes(wide),
    };
    if encoding
        .blank
        .is_some_and(|blank| i128::from(blank) == integer)
    {
        f64::NAN
    } else if encoding.bscale == 1.0 && encoding.bzero.fract() == 0.0 {
        (integer + encoding.bzero as i128) as f64
    } else {
        integer as f64 * encoding.bscale + encoding.bzero
    }
}

/// Every type of pixel, plain, scaled, unsigned by BZERO and with BLANK, by both paths.
#[test]
fn every_encoding_equals_a_sort() {
    let mut random = Random(7);
    let cards = [
        (1.0, 0.0),
        (1.0, 128.0),
        (1.0, -128.0),
        (1.0, 32768.0),
        (1.0, 2_147_483_648.0),
        (1.0, 9_223_372_036_854_775_808.0),
        (0.25, 0.0),
        (-3.0, 0.1),
        (1.0, 0.5),
    ];
    for bitpix in [
        Bitpix::U8,
        Bitpix::I16,
        Bitpix::I32,
        Bitpix::I64,
        Bitpix::F32,
        Bitpix::F64,
    ] {
        let float = matches!(bitpix, Bitpix::F32 | Bitpix::F64);
        for (bscale, bzero) in cards {
            for blank in [None, Some(0), Some(3), Some(-32768)] {
                if float && blank.is_some() {
                    continue;
                }
                let encoding = Encoding {
                    bitpix,
                    bscale,
                    bzero,
                    blank,
                };
                for (n, width) in [(1, 33), (4, 70), (9, 32), (70, 50)] {
                    let bytes: Vec<u8> = (0..n * width)
                        .flat_map(|i| pixel(bitpix, i, &mut random))
                        .collect();
                    check_encoding(&encoding, n, width, &bytes);
                }
            }
        }
    }
}

/// A stored pixel: anything, or one of few small values, so that BLANK and ties come up.
fn pixel(bitpix: Bitpix, i: usize, random: &mut Random) -> Vec<u8> {
    let bits = random.bits();
    let few = (bits % 5).cast_signed();
    match bitpix {
        _ if i.is_multiple_of(2) => bits.to_be_bytes()[..bitpix.size()].to_vec(),
        Bitpix::F32 => (few as f32).to_be_bytes().to_vec(),
        Bitpix::F64 => (few as f64).to_be_bytes().to_vec(),
        _ => few.to_be_bytes()[8 - bitpix.size()..].to_vec(),
    }
}

fn check_encoding(encoding: &Encoding, n: usize, width: usize, bytes: &[u8]) {
    let values: Vec<f64> = bytes
        .chunks(encoding.bitpix.size())
        .map(|pixel| meaning(encoding, pixel))
        .collect();
    let rows = samples(bytes, width, *encoding);
    let mut kernel = Kernel::new(n).unwrap();
    let (mut out, mut count) = (vec![0.0; width], vec![0; width]);
    kernel.median_f32(&rows, &mut out, &mut count).unwrap();
    let (mut wide, mut wide_count) = (vec![0.0; width], vec![0; width]);
    kernel
        .median_f64(&rows, &mut wide, &mut wide_count)
        .unwrap();
    for x in 0..width {
        let (want, contributing) = oracle_f32(column(&values, width, x).map(|value| value as f32));
        assert!(
            same_f32(out[x], want),
            "{encoding:?}, n = {n}: {} is not {want}",
            out[x]
        );
        assert_eq!(count[x], contributing, "{encoding:?}, n = {n}");
        let (want, contributing) = oracle_f64(column(&values, width, x));
        assert!(
            same_f64(wide[x], want),
            "{encoding:?}, n = {n}: {} is not {want}",
            wide[x]
        );
        assert_eq!(wide_count[x], contributing, "{encoding:?}, n = {n}");
    }
}

/// Exposures of one stack need not be stored alike.
#[test]
fn mixed_encodings_equal_a_sort() {
    let floats: Vec<u8> = [1.5_f32, f32::NAN, 3.0]
        .iter()
        .flat_map(|v| v.to_be_bytes())
        .collect();
    let shorts: Vec<u8> = [1_i16, -7, 0]
        .iter()
        .flat_map(|v| v.to_be_bytes())
        .collect();
    let blank = Encoding {
        blank: Some(0),
        bzero: 10.0,
        ..Encoding::plain(Bitpix::I16)
    };
    let rows = [
        Samples {
            bytes: &floats,
            encoding: Encoding::plain(Bitpix::F32),
        },
        Samples {
            bytes: &shorts,
            encoding: blank,
        },
        Samples {
            bytes: &[200, 2, 9, 77],
            encoding: Encoding::plain(Bitpix::U8),
        },
    ];
    let (mut out, mut count) = ([0.0; 3], [0; 3]);
    Kernel::new(3)
        .unwrap()
        .median_f32(&rows, &mut out, &mut count)
        .unwrap();
    assert_eq!((out, count), ([11.0, 2.5, 6.0], [3, 2, 2]));
}

/// The median cases that stcal and numpy were asked for: tests/golden/astronomy/median.json.
#[test]
fn recorded_answers_of_numpy_hold() {
    let text = include_str!("golden/astronomy/median.json");
    let cases: serde_json::Map<String, serde_json::Value> = serde_json::from_str(text).unwrap();
    assert_eq!(cases.len(), 16);
    let number = |value: &serde_json::Value| match value.as_str() {
        Some(word) => word.parse::<f32>().unwrap(),
        None => value.as_f64().unwrap() as f32,
    };
    for (name, case) in &cases {
        let values: Vec<f32> = case["in"].as_array().unwrap().iter().map(number).collect();
        let want = number(&case["np"]);
        let (out, count) = median_f32(values.len(), 1, &values);
        assert!(same_f32(out[0], want), "{name}: {} is not {want}", out[0]);
        let valid = values.iter().filter(|value| !value.is_nan()).count();
        assert_eq!(usize::from(count[0]), valid, "{name}");
    }
}

#[test]
fn huge_values_are_given_as_they_are_and_overflow_only_in_a_sum() {
    for (values, want) in [
        (vec![3e38], 3e38),
        (vec![3e38; 3], 3e38),
        (vec![3e38, f32::NAN], 3e38),
        (vec![f32::MAX, f32::INFINITY, 1.0], f32::MAX),
        (vec![3e38, 3.2e38], f32::INFINITY),
        (vec![-3e38, -3.2e38], f32::NEG_INFINITY),
        (vec![f32::MAX, -f32::MAX], 0.0),
    ] {
        let (out, _) = median_f32(values.len(), 1, &values);
        assert_eq!(out[0].to_bits(), f32::to_bits(want), "{values:?}");
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    for exposures in [0, MOST_EXPOSURES + 1, usize::MAX] {
        assert!(matches!(
            Kernel::new(exposures),
            Err(Error::Parameter {
                name: "exposures",
                ..
            })
        ));
    }
    let mut kernel = Kernel::new(2).unwrap();
    let row = |bytes| Samples {
        bytes,
        encoding: Encoding::plain(Bitpix::F32),
    };
    let (mut out, mut count) = ([7.0; 2], [9; 2]);
    for rows in [
        vec![row(&[0; 8])],
        vec![row(&[0; 8]); 3],
        vec![row(&[0; 8]), row(&[0; 7])],
    ] {
        let refused = kernel.median_f32(&rows, &mut out, &mut count).unwrap_err();
        assert_eq!(refused.code(), "parameter", "{refused}");
    }
    let rows = [row(&[0; 8]), row(&[0; 8])];
    assert!(kernel.median_f32(&rows, &mut out, &mut count[..1]).is_err());
    assert!(
        kernel
            .median_f64(&rows, &mut [0.0; 3], &mut [0; 3])
            .is_err()
    );
    assert!(nanmedian(&[&[1.0], &[1.0, 2.0]], &mut out, &mut count).is_err());
    assert!(nanmedian(&[], &mut out, &mut count).is_err());
    assert_eq!(
        (out, count),
        ([7.0; 2], [9; 2]),
        "nothing is written where something is refused"
    );
    kernel.median_f32(&rows, &mut out, &mut count).unwrap();
    assert_eq!((out, count), ([0.0; 2], [2; 2]));
}

#[test]
fn no_pixels_are_no_trouble() {
    let rows = [Samples {
        bytes: &[],
        encoding: Encoding::plain(Bitpix::F32),
    }];
    Kernel::new(1)
        .unwrap()
        .median_f32(&rows, &mut [], &mut [])
        .unwrap();
}

/// The plan counts on it.
#[test]
fn scratch_stays_below_half_a_mebibyte_and_a_bit() {
    for exposures in 1..=MOST_EXPOSURES {
        let bytes = Kernel::scratch_bytes(exposures);
        let least = (exposures * (32 * 4 + 16 * 8)) as u64;
        assert!(bytes >= least, "{exposures}: {bytes}");
        assert!(
            bytes <= least.max(64 * (80 * 4 + 16 * 8) + 128),
            "{exposures}: {bytes}"
        );
    }
}

/// Any float by its bits, with those that matter more often.
fn floats() -> impl Strategy<Value = f32> {
    let special = [
        0.0,
        -0.0,
        f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::MAX,
        1.0,
        -1.0,
    ];
    prop_oneof![
        any::<u32>().prop_map(f32::from_bits),
        prop::sample::select(special.to_vec()),
        -100.0_f32..100.0,
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_stack_equals_a_sort(
        (width, values) in (1_usize..150, 1_usize..40).prop_flat_map(|(n, width)| {
            prop::collection::vec(floats(), n * width).prop_map(move |values| (width, values))
        }),
    ) {
        check_f32("proptest", values.len() / width, width, &values);
    }
}
