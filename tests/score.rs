//! Scores: chaos, spatial, spectral and MSM, against slow ones and the reference programs'.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::float_cmp,
    clippy::cast_possible_truncation,
    reason = "a test says what failed by failing"
)]

mod score_vectors;

use proptest::prelude::*;
use score_vectors::{golden, labelled};
use sectile::budget::Budget;
use sectile::error::Error;
use sectile::ion::score::{Area, Options, Scorer, Sparse, chaos, hotspot, spatial, spectral};

const SIZES: [(usize, usize); 16] = [
    (1, 1),
    (1, 40),
    (40, 1),
    (2, 2),
    (3, 3),
    (2, 30),
    (30, 2),
    (16, 20),
    (31, 17),
    (62, 9),
    (63, 9),
    (64, 9),
    (65, 9),
    (127, 11),
    (128, 12),
    (130, 70),
];

#[test]
fn chaos_counts_what_a_labelling_of_each_level_counts() {
    score_vectors::chaos_is_labelled(&SIZES);
}

#[test]
fn image_sets_have_the_scores_of_the_references() {
    golden::sets_score_as_the_references();
}

#[test]
fn arrays_have_the_scores_of_lists() {
    golden::arrays_score_as_lists();
}

#[test]
fn formulas_of_a_dataset_have_the_scores_of_the_references() {
    golden::formulas_score_as_the_references();
}

#[test]
fn scores_have_the_bits_that_they_have_in_a_browser() {
    assert_eq!(score_vectors::bits(), score_vectors::BITS);
}

#[test]
fn lists_have_the_chaos_of_arrays_whatever_came_before() {
    score_vectors::lists_have_the_chaos_of_arrays(&SIZES);
    // Rows and tiles that nothing touches.
    score_vectors::lists_have_the_chaos_of_arrays(&[(700, 90)]);
}

#[test]
fn images_that_do_not_vary_correlate_with_nothing() {
    let cases: [(&[f32], &[f32]); 4] = [
        (&[5.0], &[3.0]),
        (&[1.0, 1.0, 1.0], &[0.0, 2.0, 4.0]),
        (&[0.0, 0.0, 0.0], &[0.0, 0.0, 0.0]),
        (
            &[0.1, 0.1, 0.1, 0.1, 0.1, 0.1],
            &[0.3, 0.1, 0.3, 0.2, 0.3, 0.3],
        ),
    ];
    for (one, other) in cases {
        for (first, second) in [(one, other), (other, one)] {
            assert_eq!(
                spatial(&[first, second], &[100.0, 30.0]).unwrap(),
                0.0,
                "{first:?}"
            );
        }
    }
}

/// The cases of the class that scores belong to, where they are at hand.
#[test]
fn undefined_correlations_of_the_numeric_cases_are_0() {
    let shared = std::env::var_os("SECTILE_SHARED").unwrap_or_else(|| "../shared".into());
    let path = std::path::Path::new(&shared).join("cases/numeric/expected.json");
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("skipped: {} is not here", path.display());
        return;
    };
    let cases: serde_json::Value = serde_json::from_str(&text).unwrap();
    let image = |value: &serde_json::Value| -> Vec<f32> {
        let pixels = value.as_array().unwrap().iter();
        pixels
            .map(|pixel| pixel.as_f64().map_or(f32::NAN, |value| value as f32))
            .collect()
    };
    let case = &cases["F14"];
    let more = case["more"].as_array().unwrap();
    assert!(!more.is_empty());
    for case in std::iter::once(case).chain(more) {
        let [one, other] = [image(&case["images"][0]), image(&case["images"][1])];
        let found = spatial(&[&one, &other], &[100.0, 30.0]).unwrap();
        let expected = case["correlation"].as_f64().unwrap();
        assert!((found - expected.max(0.0)).abs() < 1e-12, "{case}");
    }
    // Eight of twelve pixels were acquired: what is taken of an image is taken of them.
    let case = &cases["F40"];
    let pixels: Vec<f32> = case["rows"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(image)
        .collect();
    let threshold = hotspot::threshold(&pixels).unwrap();
    assert!((f64::from(threshold) - case["q99"].as_f64().unwrap()).abs() < 1e-6);
}

#[test]
fn pixels_that_were_not_acquired_count_for_nothing() {
    let (nan, first, second) = (f32::NAN, [4.0, 0.0, 2.0, 1.0], [1.0, 1.0, 2.0, 1.0]);
    let spread = |image: [f32; 4]| [nan, image[0], image[1], nan, nan, image[2], image[3], nan];
    let theory = [100.0, 60.0];
    assert_eq!(
        spatial(&[&spread(first), &spread(second)], &theory).unwrap(),
        spatial(&[&first, &second], &theory).unwrap()
    );
    assert_eq!(
        spectral(&[&spread(first), &spread(second)], &theory).unwrap(),
        spectral(&[&first, &second], &theory).unwrap()
    );
    // With a larger area of the same image the correlation is another: zeros that were acquired do count.
    let wide = |image: [f32; 4]| [image[0], image[1], image[2], image[3], 0.0, 0.0, 0.0, 0.0];
    let found = spatial(&[&wide(first), &wide(second)], &theory).unwrap();
    assert!(found > spatial(&[&first, &second], &theory).unwrap() + 0.1);
}

#[test]
fn an_ion_of_one_peak_has_no_spectral_score() {
    assert_eq!(spectral(&[&[3.0, 5.0]], &[100.0]).unwrap(), 0.0);
    assert_eq!(
        spectral(&[&[3.0, 5.0], &[0.0, 0.0]], &[100.0, 0.0]).unwrap(),
        0.0
    );
    assert_eq!(
        spectral(&[&[0.0, 0.0], &[3.0, 5.0]], &[100.0, 10.0]).unwrap(),
        0.0
    );
    assert_eq!(spectral(&[&[3.0], &[3.0]], &[0.0, 0.0]).unwrap(), 0.0);
    // Just the right proportion is as good as it gets.
    assert!(spectral(&[&[300.0], &[30.0], &[9.0]], &[100.0, 10.0, 3.0]).unwrap() > 0.999_999_9);
}

#[test]
fn infinite_values_count_as_the_largest_finite_one() {
    let mut image = vec![1.0_f32; 35];
    (image[3], image[17]) = (f32::INFINITY, f32::MAX);
    let finite: Vec<f32> = image.iter().map(|value| value.min(f32::MAX)).collect();
    let chaos = |image: &[f32]| chaos(image, 7, 5, 30).unwrap();
    assert_eq!(chaos(&image), chaos(&finite));
    let theory = [100.0, 50.0];
    let second: Vec<f32> = (0..35_u8).map(f32::from).collect();
    for score in [spatial, spectral] {
        let found = score(&[&image, &second], &theory).unwrap();
        assert_eq!(found, score(&[&finite, &second], &theory).unwrap());
        assert!((0.0..=1.0).contains(&found));
    }
}

/// The parameter and the text of a refusal.
fn refusal<T: std::fmt::Debug>(result: Result<T, Error>) -> (&'static str, String) {
    match result {
        Err(Error::Parameter { name, what }) => (name, what),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_cannot_be_scored_is_refused() {
    let area = |width, height, acquired| Area {
        width,
        height,
        acquired,
    };
    let new = |area, levels| {
        let options = Options {
            hotspot: true,
            levels,
        };
        Scorer::new(area, options, &mut Budget::new(1 << 20)).map(|_| ())
    };
    for (area, levels, name) in [
        (area(0, 5, 0), 30, "area"),
        (area(5, 0, 0), 30, "area"),
        (area(5, 5, 26), 30, "area"),
        (area(u32::MAX, u32::MAX, 1), 30, "area"),
        (area(5, 5, 25), 0, "levels"),
        (area(5, 5, 25), 33, "levels"),
    ] {
        assert_eq!(refusal(new(area, levels)).0, name);
    }
    let square = area(30, 30, 900);
    let options = Options::default();
    let mut budget = Budget::new(Scorer::bytes(square, options) - 1);
    assert!(matches!(
        Scorer::new(square, options, &mut budget),
        Err(Error::Budget { .. })
    ));

    let mut scorer = Scorer::new(area(3, 3, 2), options, &mut Budget::new(1 << 20)).unwrap();
    let mut score = |pixels: &[u32], values: &[f32]| {
        let none = Sparse::default();
        let images = [none, none, Sparse { pixels, values }, none];
        scorer.score(&[1.0, 1.0, 1.0, 0.0], &images, false)
    };
    assert!(score(&[8, 0], &[1.0, 2.0]).is_ok());
    for (pixels, values, what) in [
        (&[0_u32, 1][..], &[1.0_f32][..], "2 pixels and 1 values"),
        (
            &[0, 1, 2],
            &[1.0, 1.0, 1.0],
            "3 pixels have a peak, but 2 were acquired",
        ),
        (&[9], &[1.0], "pixel 9 is not one of 9"),
        (&[1], &[f32::NAN], "not a number"),
    ] {
        let (name, said) = refusal(score(pixels, values));
        assert_eq!(name, "image");
        assert!(said.contains("image 2") && said.contains(what), "{said}");
    }

    assert!(
        refusal(chaos(&[1.0; 5], 2, 3, 30))
            .1
            .contains("5 values are not 2×3 pixels")
    );
    assert_eq!(refusal(chaos(&[1.0; 6], 2, 3, 40)).0, "levels");
    let refused = |images: &[&[f32]], theory: &[f64]| refusal(spatial(images, theory)).1;
    assert!(refused(&[], &[]).contains("none are given"));
    assert!(refused(&[&[1.0]], &[1.0, 2.0]).contains("1 images and 2 intensities"));
    assert!(refused(&[&[1.0], &[1.0, 2.0]], &[1.0, 2.0]).contains("image 1 has 2 pixels"));
    assert!(refused(&[&[1.0, 2.0], &[1.0, f32::NAN]], &[1.0, 2.0]).contains("pixel 1 is NaN"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn chaos_of_any_image_is_the_labelled_one(
        (width, values) in (1..90_usize).prop_flat_map(|width| {
            let value = prop_oneof![
                3 => Just(0.0_f32),
                4 => (0..8_u8).prop_map(f32::from),
                1 => -3.0..1e3_f32,
            ];
            (Just(width), prop::collection::vec(value, width..30 * width))
        })
    ) {
        let height = values.len() / width;
        let values = &values[..width * height];
        let expected = labelled(values, width, height, 30);
        let found = chaos::measure(values, width as u32, height as u32, 30).unwrap();
        prop_assert!((found - expected).abs() < 1e-12 || found.is_nan() && expected.is_nan());
    }
}
