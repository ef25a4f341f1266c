//! Decoys and rates: METASPACE's choices and numbers, and what holds for any scores.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::float_cmp,
    clippy::cast_possible_truncation,
    reason = "a test may stop at the first surprise"
)]

mod fdr_vectors;

use fdr_vectors::modifiers;
use proptest::prelude::*;
use sectile::error::Error;
use sectile::ion::fdr::decoys::DECOY_ADDUCTS;
use sectile::ion::fdr::estimate::{Decoy, Rule, estimate, score_map};
use sectile::ion::fdr::{Decoys, level};
use sectile::ion::scoring::Scoring;

#[test]
fn random_numbers_are_numpys() {
    fdr_vectors::random_numbers_are_numpys();
}

#[test]
fn decoys_are_metaspaces() {
    fdr_vectors::decoys_are_metaspaces();
}

#[test]
fn decoys_keep_losses() {
    fdr_vectors::decoys_keep_losses();
}

#[test]
fn rates_are_metaspaces() {
    fdr_vectors::rates_are_metaspaces();
}

#[test]
fn score_maps_are_metaspaces() {
    fdr_vectors::score_maps_are_metaspaces();
}

#[test]
fn levels_are_metaspaces() {
    fdr_vectors::levels_are_metaspaces();
}

#[test]
fn fewer_decoys_are_the_first_ones() {
    fdr_vectors::fewer_decoys_are_the_first_ones();
}

/// Ties count as above, rates never rise with the score, and the order of the input says nothing
/// (<https://github.com/cwenger/Morpheus/issues/20>).
#[test]
fn ties_and_order_do_not_matter() {
    let targets = [0.9, 0.8, 0.8, 0.5, 0.3];
    let decoys = [0.8, 0.4, 0.3, 0.3, 0.1, 0.05, 0.0, 0.0, 0.0, 0.0];
    let expected = [0.0, 0.125, 0.125, 0.125, 0.4];
    let rates = |targets: &[f64], decoys: &[f64]| {
        let map = score_map(targets, decoys, 2.0, false, true).unwrap();
        let rate = |score: &f64| map.iter().find(|(other, _)| other == score).unwrap().1;
        targets.iter().map(rate).collect::<Vec<f64>>()
    };
    assert_eq!(rates(&targets, &decoys), expected);
    let mut turned = (targets, decoys);
    turned.0.reverse();
    turned.1.rotate_left(3);
    let mut found = rates(&turned.0, &turned.1);
    found.reverse();
    assert_eq!(found, expected);
}

#[test]
fn a_target_is_no_decoy() {
    for scoring in Scoring::ALL {
        let targets = modifiers(&["+Cl", "-H", "-H2O+Br"]);
        let decoys = Decoys::choose(50, &targets, 78, scoring).unwrap();
        let shown: Vec<String> = decoys.modifiers().iter().map(ToString::to_string).collect();
        assert_eq!(shown[..3], ["+Cl", "-H", "-H2O+Br"]);
        // 78 without a loss, which +Cl and -H share, and as many with it.
        assert_eq!(shown.len(), 3 + 78 + 78);
        assert!(
            !shown[3..]
                .iter()
                .any(|decoy| decoy.ends_with("Cl") || decoy.ends_with("Br"))
        );
        let mut once = shown.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), shown.len());
        let error = Decoys::choose(50, &targets, 79, scoring).unwrap_err();
        assert!(
            matches!(&error, Error::Parameter { name: "decoys", what } if what.contains("1 to 78")),
            "{error}"
        );
    }
}

#[test]
fn decoys_of_a_formula_are_each_once() {
    let targets = modifiers(&["+H", "+Na", "+K", "-H2O+H"]);
    for scoring in Scoring::ALL {
        let decoys = Decoys::choose(30, &targets, 20, scoring).unwrap();
        let mut all = Vec::new();
        for formula in 0..30 {
            decoys.modifiers_of(formula, &mut all);
            assert_eq!(all[..4], [0, 1, 2, 3]);
            assert!(all.is_sorted_by(|a, b| a < b));
            for target in 0..4 {
                let of: Vec<u16> = decoys.of(formula, target).collect();
                assert_eq!(of.len(), 20);
                assert!(of.iter().all(|decoy| all.contains(decoy)));
                let with_loss = of.iter().all(|decoy| {
                    let decoy = decoys.modifiers()[usize::from(*decoy)].to_string();
                    decoy.starts_with("-H2O") == (target == 3)
                });
                assert!(with_loss);
            }
        }
        let shared = scoring == Scoring::V3;
        let same = (0..30).all(|f| decoys.of(f, 0).eq(decoys.of(f, 1)));
        assert_eq!(same, shared, "{scoring}");
        assert_eq!(decoys.of(30, 0).len() + decoys.of(0, 4).len(), 0);
        decoys.modifiers_of(30, &mut all);
        assert!(all.is_empty());
        assert_eq!(
            Decoys::need(30, 4, 20, scoring),
            640 + if shared { 600 } else { 2400 }
        );
        assert!(decoys.held_bytes() > Decoys::need(30, 4, 20, scoring));
    }
}

#[test]
fn refusals_say_what_to_give() {
    let scoring = Scoring::V3;
    let wrong = [
        (Decoys::choose(1, &[], 20, scoring), "none is given"),
        (
            Decoys::choose(1, &modifiers(&["+H", "+H"]), 20, scoring),
            "\"+H\" is given twice",
        ),
        (
            Decoys::choose(1, &modifiers(&["+H"]), 0, scoring),
            "1 to 80",
        ),
        (
            Decoys::choose(1, &modifiers(&["+H"]), 81, scoring),
            "1 to 80",
        ),
    ];
    for (result, part) in wrong {
        let error = result.unwrap_err();
        assert!(error.to_string().contains(part), "{error}");
    }
    let decoy = Decoy {
        ranking: 0,
        score: 0.5,
    };
    let wrong = [
        estimate(Rule::Succession, &[f64::NAN], &[], 20),
        estimate(
            Rule::Succession,
            &[0.5],
            &[Decoy {
                score: f64::NAN,
                ..decoy
            }],
            20,
        ),
        estimate(
            Rule::Rankings,
            &[0.5],
            &[Decoy {
                ranking: 20,
                ..decoy
            }],
            20,
        ),
        estimate(Rule::Rankings, &[0.5], &[decoy], 0),
    ];
    for result in wrong {
        assert!(matches!(
            result,
            Err(Error::Parameter { name: "decoys", .. })
        ));
    }
    assert!(score_map(&[0.5], &[], 0.0, false, true).is_err());
    assert!(score_map(&[0.5], &[], f64::NAN, false, true).is_err());
}

#[test]
fn doubts_are_spoken() {
    let of = |formulas: usize, count: u8| {
        Decoys::choose(formulas, &modifiers(&["+H"]), count, Scoring::V3)
            .unwrap()
            .doubts()
    };
    assert!(of(20, 20).is_empty());
    assert!(of(20, 19)[0].contains("19 decoys"));
    assert!(of(19, 20)[0].contains("19 formulas"));
    assert_eq!(of(1, 1).len(), 2);
}

#[test]
fn nothing_found_has_no_rates() {
    for rule in [Rule::Rankings, Rule::Succession] {
        assert!(
            estimate(
                rule,
                &[],
                &[Decoy {
                    ranking: 0,
                    score: 0.1
                }],
                20
            )
            .unwrap()
            .is_empty()
        );
    }
    // One target and no decoy: the rule of succession does not say 0.
    assert_eq!(
        estimate(Rule::Succession, &[0.9], &[], 20).unwrap(),
        [1.0 / 20.0 / 2.0]
    );
    assert_eq!(estimate(Rule::Rankings, &[0.9], &[], 20).unwrap(), [0.05]);
}

/// Counts by comparing everything with everything.
fn naive(targets: &[f64], decoys: &[f64], score: f64) -> f64 {
    let above = |scores: &[f64]| scores.iter().filter(|other| **other >= score).count() as u32;
    f64::from(above(decoys) + 1) / 20.0 / f64::from(above(targets) + 1)
}

fn scores(most: usize) -> impl Strategy<Value = Vec<f64>> {
    // Few distinct scores, so that many are equal.
    prop::collection::vec((1_u32..40).prop_map(|n| f64::from(n) / 40.0), 0..most)
}

proptest! {
    #[test]
    fn rates_are_the_least_of_worse_scores(targets in scores(60), decoys in scores(200)) {
        let hits: Vec<Decoy> = decoys.iter().map(|score| Decoy { ranking: 0, score: *score }).collect();
        let rates = estimate(Rule::Succession, &targets, &hits, 20).unwrap();
        for (score, rate) in targets.iter().zip(&rates) {
            let worse = targets.iter().filter(|other| *other <= score);
            let least = worse.map(|other| naive(&targets, &decoys, *other)).fold(1.0, f64::min);
            prop_assert_eq!(*rate, least);
            prop_assert!(*rate > 0.0 && *rate <= 1.0);
        }
        let mut order: Vec<usize> = (0..targets.len()).collect();
        order.sort_by(|a, b| targets[*a].total_cmp(&targets[*b]));
        prop_assert!(order.windows(2).all(|pair| rates[pair[0]] >= rates[pair[1]]));
    }

    #[test]
    fn input_order_does_not_matter(targets in scores(40), decoys in scores(100), turn in 0_usize..100) {
        for rule in [Rule::Rankings, Rule::Succession] {
            let mut hits: Vec<Decoy> = decoys
                .iter()
                .zip(0_u32..)
                .map(|(score, n)| Decoy { ranking: (n % 5) as u8, score: *score })
                .collect();
            let before = estimate(rule, &targets, &hits, 5).unwrap();
            hits.reverse();
            let mut turned = targets.clone();
            let by = turn % targets.len().max(1);
            turned.rotate_left(by);
            let mut after = estimate(rule, &turned, &hits, 5).unwrap();
            after.rotate_right(by);
            prop_assert_eq!(before, after);
        }
    }

    #[test]
    fn levels_do_not_fall(rate in 0.0_f64..2.0, more in 0.0_f64..1.0) {
        let (low, high) = (level::nearest(rate), level::nearest(rate + more));
        prop_assert!(low <= high);
        prop_assert!(low >= rate - 0.005 || low == 1.0);
        let counts = level::counts([rate, rate + more]);
        prop_assert!(counts.is_sorted());
    }
}

#[test]
fn there_are_eighty_adducts() {
    let mut once = DECOY_ADDUCTS.to_vec();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), 80);
    assert_eq!(level::nearest(f64::NAN), 1.0);
}
