//! Scales and limits against plain definitions and against astropy and numpy.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::float_cmp,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "a test may stop at the first surprise, and exact numbers are meant"
)]

use proptest::prelude::*;
use sectile::error::Error;
use sectile::raster::plane::{self, Range, Scale};
use sectile::raster::stretch::{self, Grid, Limits, Stretch};
use serde_json::Value;

#[test]
fn a_scale_spans_all_codes() {
    let scale = Scale::fit(-3.0, 9.5);
    assert_eq!((scale.code(-3.0), scale.code(9.5)), (1, 65_535));
    assert_eq!(scale, Scale::fit(9.5, -3.0));
    assert!((scale.value(1).unwrap() + 3.0).abs() < 1e-12);
    assert!((scale.value(65_535).unwrap() - 9.5).abs() < 1e-9);
    assert_eq!(scale.value(0), None);
    assert_eq!(scale.code(f64::NAN), 0);
    assert_eq!(scale.code(f64::INFINITY), 65_535);
    assert_eq!(scale.code(f64::NEG_INFINITY), 1);
    assert_eq!((scale.code(-1e300), scale.code(1e300)), (1, 65_535));
}

#[test]
fn ties_go_to_the_even_code() {
    let scale = Scale {
        bzero: 0.0,
        bscale: 1.0,
    };
    for (value, code) in [
        (1.5, 2),
        (2.5, 2),
        (3.5, 4),
        (65_534.5, 65_534),
        (0.4, 1),
        (2.51, 3),
    ] {
        assert_eq!(scale.code(value), code, "{value}");
    }
}

#[test]
fn a_constant_image_keeps_its_value() {
    let f32s = [0.1_f32, 1.5, -7.3e-39, 3.4e38, -1e-45, 16_777_217.0].map(f64::from);
    let f64s = [0.0, -0.0, 1.0, -4.0, 1e-310, 8e15, -1.0 / 3.0, 4e307];
    for value in f32s.into_iter().chain(f64s) {
        let scale = Scale::fit(value, value);
        assert!(scale.is_valid(), "{value}: {scale:?}");
        assert_eq!(scale.code(value), 1, "{value}");
        let back = scale.value(1).unwrap();
        assert!((back - value).abs() <= scale.bscale / 2.0, "{value} {back}");
        if value == f64::from(value as f32) {
            assert_eq!(back, value);
        }
    }
}

#[test]
fn the_widest_ranges_stay_finite() {
    let max = f64::from(f32::MAX);
    let tiny = f64::from_bits(1);
    for (low, high) in [
        (-max, max),
        (-f64::MAX, f64::MAX),
        (f64::NEG_INFINITY, f64::INFINITY),
        (0.0, tiny),
        (1.0, 1.0 + f64::EPSILON),
        (f64::NAN, 4.0),
        (f64::NAN, f64::NAN),
    ] {
        let scale = Scale::fit(low, high);
        assert!(scale.is_valid(), "{low} {high}: {scale:?}");
        assert!((scale.bscale * 65_535.0).is_finite());
        assert!(scale.value(65_535).unwrap().is_finite());
    }
    let scale = Scale::fit(-max, max);
    assert_eq!((scale.code(-max), scale.code(max)), (1, 65_535));
}

proptest! {
    #[test]
    fn codes_are_within_half_a_step(a in -1e30_f64..1e30, b in -1e3_f64..1e3, t in 0.0_f64..=1.0) {
        for (low, high) in [(a, -a), (b, b + 1.0), (a, b)] {
            let (low, high) = (low.min(high), low.max(high));
            let scale = Scale::fit(low, high);
            let value = low + (high - low) * t;
            let back = scale.value(scale.code(value)).unwrap();
            let rounding = 4.0 * f64::EPSILON * low.abs().max(high.abs());
            prop_assert!((back - value).abs() <= scale.bscale / 2.0 * (1.0 + 1e-9) + rounding);
        }
    }

    #[test]
    fn slices_and_single_values_agree(bits in prop::collection::vec(any::<u32>(), 0..50)) {
        let values: Vec<f32> = bits.iter().map(|b| f32::from_bits(*b)).collect();
        let mut seen = Range::new();
        seen.see(&values);
        let scale = seen.scale();
        let mut codes = vec![7; values.len()];
        plane::quantise(&values, &scale, &mut codes);
        let one = |v: &f32| scale.code(f64::from(*v));
        prop_assert_eq!(codes, values.iter().map(one).collect::<Vec<_>>());
        let finite = || values.iter().copied().filter(|v| v.is_finite());
        let limits = finite().reduce(f32::min).zip(finite().reduce(f32::max));
        prop_assert_eq!(plane::range(&values), limits);
        prop_assert_eq!(seen.limits(), limits.map(|(a, b)| (f64::from(a), f64::from(b))));
        prop_assert_eq!(seen.finite(), finite().count() as u64);
        let nan = values.iter().filter(|v| v.is_nan()).count() as u64;
        prop_assert_eq!((seen.nan(), seen.infinite()), (nan, values.len() as u64 - nan - seen.finite()));
    }
}

#[test]
fn every_code_comes_back() {
    for scale in [
        Scale::fit(0.0, 1.0),
        Scale::fit(-1e-30, 3e38),
        Scale::fit(1e6, 1e6 + 1.0),
        Scale {
            bzero: -0.5,
            bscale: 0.5,
        },
    ] {
        for code in 1..=u16::MAX {
            assert_eq!(scale.code(scale.value(code).unwrap()), code, "{scale:?}");
        }
    }
}

#[test]
fn camera_data_and_their_medians_lose_nothing() {
    let scale_of = |pieces: &[&[f32]]| {
        let mut seen = Range::new();
        for piece in pieces {
            seen.see(piece);
        }
        let mut apart = Range::new();
        for piece in pieces {
            let mut one = Range::new();
            one.see(piece);
            apart.merge(&one);
        }
        assert_eq!(seen, apart);
        Scale::exact(&seen).unwrap()
    };
    let exact = |bzero, bscale| Scale { bzero, bscale };
    assert_eq!(scale_of(&[&[1.0, 65_535.0], &[f32::NAN]]), exact(0.0, 1.0));
    assert_eq!(scale_of(&[&[0.0, 65_534.0]]), exact(-1.0, 1.0));
    assert_eq!(
        scale_of(&[&[-40_000.0], &[20_000.0]]),
        exact(-40_001.0, 1.0)
    );
    assert_eq!(scale_of(&[&[0.0, 7.5, f32::INFINITY]]), exact(-0.5, 0.5));
    assert_eq!(scale_of(&[&[5.0]]), exact(0.0, 1.0));
    // One more than fits, and quarters: the fitted scale.
    assert_eq!(scale_of(&[&[0.0, 65_535.0]]), Scale::fit(0.0, 65_535.0));
    assert_eq!(scale_of(&[&[0.0, 40_000.5]]), Scale::fit(0.0, 40_000.5));
    assert_eq!(scale_of(&[&[0.0, 0.25]]), Scale::fit(0.0, 0.25));
    let mut seen = Range::new();
    seen.see(&[2_f64.powi(60), 2_f64.powi(60) + 512.0]);
    assert_eq!(
        seen.scale(),
        Scale::fit(2_f64.powi(60), 2_f64.powi(60) + 512.0)
    );
    assert!(!seen.is_whole());
    assert_eq!(Scale::exact(&Range::new()), None);
    let scale = scale_of(&[&[0.0, 7.5]]);
    for half in 0..=15 {
        let value = f64::from(half) / 2.0;
        assert_eq!(scale.value(scale.code(value)), Some(value));
    }
}

#[test]
fn flipping_turns_rows_over() {
    let mut values = vec![1, 2, 3, 4, 5, 6];
    plane::flip(&mut values, 2);
    assert_eq!(values, [5, 6, 3, 4, 1, 2]);
    plane::flip(&mut values, 3);
    assert_eq!(values, [4, 1, 2, 5, 6, 3]);
    plane::flip(&mut values, 0);
    plane::flip::<u16>(&mut [], 4);
    assert_eq!(values, [4, 1, 2, 5, 6, 3]);
}

fn golden() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/raster/limits.json");
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn close(ours: f64, theirs: &Value, span: f64, what: &str) {
    let theirs = theirs.as_f64().unwrap();
    let bound = 1e-6 * span + 1e-12 * theirs.abs();
    assert!(
        (ours - theirs).abs() <= bound,
        "{what}: {ours} for {theirs}"
    );
}

#[test]
fn limits_agree_with_astropy_and_numpy() {
    for (name, case) in golden()["limits"].as_object().unwrap() {
        let values: Vec<f64> = serde_json::from_value(case["values"].clone()).unwrap();
        let all = stretch::min_max(&values).unwrap();
        let span = all.high - all.low;
        let samples = stretch::thin(&values, stretch::SAMPLES);
        for (contrast, key) in [
            (stretch::CONTRAST, "zscale"),
            (1.0, "zscale_contrast_1"),
            (0.0, "zscale_contrast_0"),
        ] {
            let limits = stretch::zscale(&samples, contrast).unwrap();
            close(
                limits.low,
                &case[key][0],
                span,
                &format!("{name}, {key}, low"),
            );
            close(
                limits.high,
                &case[key][1],
                span,
                &format!("{name}, {key}, high"),
            );
        }
        for (percent, theirs) in case["percentiles"].as_object().unwrap() {
            let ours = stretch::percentile(&values, percent.parse().unwrap()).unwrap();
            close(ours.unwrap(), theirs, 0.0, &format!("{name}, {percent} %"));
        }
        let ours = stretch::hotspot(&values).unwrap();
        close(ours, &case["hotspot"], 0.0, &format!("{name}, hot spot"));
        if span > 0.0 {
            let bins: Vec<u64> = serde_json::from_value(case["histogram"].clone()).unwrap();
            assert_eq!(
                stretch::histogram(&values, all, 8).unwrap().bins,
                bins,
                "{name}"
            );
        }
    }
}

#[test]
fn stretches_agree_with_astropy() {
    let golden = golden();
    let shares: Vec<f64> = serde_json::from_value(golden["stretches"]["x"].clone()).unwrap();
    for stretch in Stretch::ALL {
        assert_eq!(stretch.name().parse::<Stretch>().unwrap(), stretch);
        for (x, y) in shares
            .iter()
            .zip(golden["stretches"][stretch.name()].as_array().unwrap())
        {
            close(stretch.apply(*x), y, 1e-6, stretch.name());
        }
        assert_eq!((stretch.apply(-1.0), stretch.apply(2.0)), (0.0, 1.0));
        assert!(stretch.apply(f64::NAN).is_nan());
    }
    assert_eq!("power".parse::<Stretch>().unwrap_err().code(), "parameter");
}

#[test]
fn limits_look_past_what_is_not_finite() {
    let odd = [
        f32::NAN,
        f32::INFINITY,
        3.0,
        f32::NEG_INFINITY,
        1.0,
        f32::NAN,
        2.0,
    ];
    let clean = [3.0_f32, 1.0, 2.0];
    assert_eq!(
        stretch::min_max(&odd),
        Some(Limits {
            low: 1.0,
            high: 3.0
        })
    );
    assert_eq!(stretch::percentile(&odd, 50.0).unwrap(), Some(2.0));
    assert_eq!(
        stretch::percentiles(&odd, 100.0, 0.0).unwrap(),
        stretch::min_max(&clean)
    );
    assert_eq!(stretch::zscale(&odd, 0.25), stretch::zscale(&clean, 0.25));
    let nothing = [f32::NAN; 3];
    assert_eq!(stretch::min_max(&nothing), None);
    assert_eq!(stretch::percentile(&nothing, 5.0).unwrap(), None);
    assert_eq!(stretch::zscale(&nothing, 0.25), None);
    assert_eq!(stretch::hotspot(&[0.0_f32, f32::NAN, -0.0]), None);
    for percent in [-0.1, 100.1, f64::NAN] {
        assert!(matches!(
            stretch::percentile(&clean, percent),
            Err(Error::Parameter { .. })
        ));
    }
    let found = stretch::histogram(
        &odd,
        Limits {
            low: 1.0,
            high: 2.0,
        },
        2,
    )
    .unwrap();
    assert_eq!(
        (found.bins, found.below, found.above, found.blank),
        (vec![1, 1], 1, 2, 2)
    );
    assert!(
        stretch::histogram(
            &odd,
            Limits {
                low: 2.0,
                high: 1.0
            },
            2
        )
        .is_err()
    );
    assert!(
        stretch::histogram(
            &odd,
            Limits {
                low: 1.0,
                high: 2.0
            },
            0
        )
        .is_err()
    );
}

#[test]
fn shares_are_clipped_and_equal_limits_part_the_values() {
    let limits = Limits {
        low: 2.0,
        high: 4.0,
    };
    assert_eq!(
        [1.0, 2.0, 2.5, 4.0, 9.0].map(|v| limits.share(v)),
        [0.0, 0.0, 0.25, 1.0, 1.0]
    );
    assert!(limits.share(f64::NAN).is_nan());
    let equal = Limits {
        low: 2.0,
        high: 2.0,
    };
    assert_eq!([1.0, 2.0, 3.0].map(|v| equal.share(v)), [0.0, 0.0, 1.0]);
}

#[test]
fn a_grid_covers_the_image_evenly() {
    for (width, height) in [
        (2048, 2048),
        (100, 3),
        (1, 1),
        (13, 5000),
        (9000, 1),
        (20, 30),
    ] {
        let grid = Grid::new(width, height, 600);
        let pixels: Vec<_> = grid.pixels().collect();
        assert!(pixels.iter().all(|(x, y)| *x < width && *y < height));
        assert!(
            !pixels.is_empty() && pixels.len() <= 1200,
            "{}",
            pixels.len()
        );
        assert!(
            pixels.len() >= 100.min(width * height),
            "{width} x {height}: {}",
            pixels.len()
        );
    }
    assert_eq!(Grid::new(20, 30, 600).pixels().count(), 600);
    let values: Vec<f32> = (0..600).map(|i| i as f32).collect();
    assert_eq!(Grid::new(20, 30, 600).pick(&values).len(), 600);
    assert_eq!(Grid::new(20, 30, 600).pick(&values[..10]).len(), 10);
}
