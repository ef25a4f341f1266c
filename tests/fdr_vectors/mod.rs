//! METASPACE's own decoys and rates: the same vectors natively and in a browser.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::float_cmp,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "a test says what failed by failing"
)]

use sectile::ion::fdr::decoys::DECOY_ADDUCTS;
use sectile::ion::fdr::estimate::{Decoy, estimate, score_map};
use sectile::ion::fdr::{Decoys, Twister, level};
use sectile::ion::formula::modifier::Modifier;
use sectile::ion::scoring::Scoring;
use serde_json::Value;

/// The golden file, its decimals as texts, for the JSON reader's own numbers are not always the nearest.
fn golden() -> Value {
    serde_json::from_str(include_str!("../golden/imaging-ms/fdr.json")).unwrap()
}

fn float(value: &Value) -> f64 {
    let whole = value.as_u64().map(|whole| whole as f64);
    whole.unwrap_or_else(|| value.as_str().unwrap().parse().unwrap())
}

fn numbers(value: &Value) -> Vec<u32> {
    let all = value.as_array().unwrap().iter();
    all.map(|number| number.as_u64().unwrap() as u32).collect()
}

pub(crate) fn modifiers(texts: &[&str]) -> Vec<Modifier> {
    texts
        .iter()
        .map(|text| Modifier::parse(text).unwrap())
        .collect()
}

/// Rows of a list with one text each.
fn rows(value: &Value) -> Vec<(String, String, String)> {
    let text = |row: &Value, at: usize| row[at].as_str().unwrap().to_owned();
    let all = value.as_array().unwrap().iter();
    all.map(|row| (text(row, 0), text(row, 1), text(row, 2)))
        .collect()
}

/// What is chosen for these formulas, as texts.
fn chosen(
    formulas: &[&str],
    targets: &[(&str, &str)],
    count: u8,
    scoring: Scoring,
) -> Vec<(String, String, String)> {
    let parsed: Vec<&str> = targets.iter().map(|(text, _)| *text).collect();
    let decoys = Decoys::choose(formulas.len(), &modifiers(&parsed), count, scoring).unwrap();
    let mut rows = Vec::new();
    for (f, formula) in formulas.iter().enumerate() {
        for (t, (_, name)) in targets.iter().enumerate() {
            for decoy in decoys.of(f, t) {
                let decoy = decoys.modifiers()[usize::from(decoy)].to_string();
                rows.push(((*formula).to_owned(), (*name).to_owned(), decoy));
            }
        }
    }
    rows
}

pub(crate) fn random_numbers_are_numpys() {
    let golden = golden();
    let mut twister = Twister::new(42);
    for name in ["first", "second"] {
        let mut items: Vec<u32> = (0..80).collect();
        twister.shuffle(&mut items);
        let expected = &golden[format!("numpy_seed42_shuffle_range80_{name}")];
        assert_eq!(items, numbers(expected), "{name}");
    }
    let mut twister = Twister::new(123);
    let expected = numbers(&golden["lithops_randomstate123_randint_0_76_incl"]);
    let drawn: Vec<u32> = expected.iter().map(|_| twister.up_to(76)).collect();
    assert_eq!(drawn, expected);
}

pub(crate) fn decoys_are_metaspaces() {
    let golden = golden();
    let formulas = ["C6H12O6", "C9H11NO2", "H2O"];
    let targets = ["+H", "+Na", "+K"].map(|text| (text, text));
    for (name, scoring) in [
        ("v1", Scoring::V1),
        ("v1", Scoring::V2),
        ("v3", Scoring::V3),
    ] {
        let expected = rows(&golden[format!("decoys_seed42_{name}")]);
        assert_eq!(
            chosen(&formulas, &targets, 20, scoring),
            expected,
            "{scoring}"
        );
    }
}

/// Chemical modifications and neutral losses, which decoys keep; `[M]+` has no adduct.
pub(crate) fn decoys_keep_losses() {
    let golden = golden();
    let table = golden["target_modifiers"].as_array().unwrap();
    let text = |row: &Value, at: usize| row[at].as_str().unwrap().to_owned();
    let expected = rows(&golden["decoys_modifiers_v3_size3"]);
    let mut found = Vec::new();
    // Our losses are negative parts; a chemical modification that adds is joined.
    let targets: Vec<Modifier> = table
        .iter()
        .map(|row| {
            let part = |text: String| Modifier::parse(&text).unwrap();
            Modifier::join(&part(text(row, 4)), &part(text(row, 3)))
        })
        .collect();
    let decoys = Decoys::choose(1, &targets, 3, Scoring::V3).unwrap();
    for (t, row) in table.iter().enumerate() {
        for decoy in decoys.of(0, t) {
            let decoy = decoys.modifiers()[usize::from(decoy)].to_string();
            found.push(("C6H12O6".to_owned(), text(row, 0), decoy));
        }
    }
    assert_eq!(found, expected);
}

/// One row of the golden estimates: formula, modifier, score, rate.
struct Row {
    formula: String,
    modifier: String,
    score: f64,
    fdr: f64,
}

fn scored(value: &Value) -> Vec<Row> {
    let all = value.as_array().unwrap().iter();
    all.map(|row| Row {
        formula: row[0].as_str().unwrap().to_owned(),
        modifier: row[1].as_str().unwrap().to_owned(),
        score: float(&row[2]),
        fdr: row.get(3).map_or(f64::NAN, float),
    })
    .collect()
}

pub(crate) fn rates_are_metaspaces() {
    let golden = golden();
    let formulas: Vec<String> = (1..=40).map(|n| format!("C{n}H{}O", 2 * n)).collect();
    let targets = ["+H", "+Na"];
    for (name, scoring) in [
        ("v1", Scoring::V1),
        ("v2", Scoring::V2),
        ("v3", Scoring::V3),
    ] {
        let case = &golden[format!("estimate_{name}")];
        let input = scored(&case["input"]);
        let output = scored(&case["output"]);
        let decoys = Decoys::choose(formulas.len(), &modifiers(&targets), 20, scoring).unwrap();
        let score = |formula: &str, modifier: &str| {
            let mut rows = input.iter();
            rows.find(|row| row.formula == formula && row.modifier == modifier)
                .map(|row| row.score)
        };
        let mut seen = 0;
        for (t, target) in targets.iter().enumerate() {
            let mut hits = Vec::new();
            for (f, formula) in formulas.iter().enumerate() {
                for (ranking, decoy) in (0..).zip(decoys.of(f, t)) {
                    let decoy = decoys.modifiers()[usize::from(decoy)].to_string();
                    let score = score(formula, &decoy);
                    hits.extend(score.map(|score| Decoy { ranking, score }));
                }
            }
            let rows: Vec<&Row> = output
                .iter()
                .filter(|row| row.modifier == *target)
                .collect();
            let scores: Vec<f64> = rows.iter().map(|row| row.score).collect();
            let rates = estimate(decoys.rule(), &scores, &hits, 20).unwrap();
            for (row, rate) in rows.iter().zip(rates) {
                assert_eq!(score(&row.formula, target), Some(row.score));
                assert_eq!(rate, row.fdr, "{name} {} {target}", row.formula);
                seen += 1;
            }
        }
        assert_eq!((seen, output.len()), (55, 55), "{name}");
    }
}

/// The scores that the golden maps were made of; every entry of the maps follows from them.
const MAPPED: ([f64; 11], [f64; 4]) = (
    [1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0],
    [0.8, 0.55, 0.2, 0.1],
);

pub(crate) fn score_maps_are_metaspaces() {
    let golden = golden();
    let cases = golden["score_to_fdr_map"].as_array().unwrap();
    for case in cases {
        let ratio = float(&case["ratio"]);
        let flag = |name: &str| case[name].as_bool().unwrap();
        let found = score_map(&MAPPED.0, &MAPPED.1, ratio, flag("ros"), flag("mono")).unwrap();
        let expected: Vec<(f64, f64)> = case["out"]
            .as_array()
            .unwrap()
            .iter()
            .map(|pair| (float(&pair[0]), float(&pair[1])))
            .collect();
        assert_eq!(found, expected, "{ratio} {} {}", flag("ros"), flag("mono"));
    }
    assert_eq!(cases.len(), 8);
}

pub(crate) fn levels_are_metaspaces() {
    let golden = golden();
    let cases = golden["nearest_fdr_level"].as_array().unwrap();
    for case in cases {
        let [fdr, expected] = [0, 1].map(|at| float(&case[at]));
        assert_eq!(level::nearest(fdr), expected, "{fdr}");
    }
    assert_eq!(cases.len(), 13);
}

/// Every distinct number of decoys up to all of them, for the same formula: the first ones are the same.
pub(crate) fn fewer_decoys_are_the_first_ones() {
    let targets = [("+H", "+H")];
    let all = chosen(&["C6H12O6"], &targets, 80, Scoring::V3);
    let mut sorted: Vec<&str> = all.iter().map(|(_, _, decoy)| decoy.as_str()).collect();
    sorted.sort_unstable();
    let mut known = DECOY_ADDUCTS.to_vec();
    known.sort_unstable();
    assert_eq!(sorted, known);
    for count in [1, 7, 20] {
        assert_eq!(
            chosen(&["C6H12O6"], &targets, count, Scoring::V3),
            all[..usize::from(count)]
        );
    }
}
