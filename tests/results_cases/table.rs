//! Tables: rates by hand, a total order, CSV and JSON that parse back.

use std::rc::Rc;

use proptest::prelude::*;
use sectile::error::Error;
use sectile::ion::annotate::{Decoy, Scored};
use sectile::ion::fdr::estimate::{self, Rule, estimate};
use sectile::ion::scoring::Scoring;
use sectile::results::{Annotations, Table};
use serde_json::Value;

use crate::results_vectors::{FORMULAS, HASH, all, hash, ions, place, provenance, scored, table};

#[test]
fn bytes_are_those_of_a_browser() {
    assert_eq!(hash(), HASH);
}

#[test]
fn rates_are_those_of_each_modifiers_own_decoys() {
    for scoring in Scoring::ALL {
        let ions = ions(&FORMULAS, &["+H", "-H2O+Na", "+K"], 5, scoring);
        let (targets, decoys) = all(&ions);
        let found = table(&ions, &targets, &decoys).unwrap();
        assert_eq!(found.rows().len(), targets.len());
        assert_eq!(found.decoys(), decoys.len() as u64);
        let chosen = ions.decoys_chosen();
        let msm = |formula: usize, modifier: u16| {
            decoys.iter().find_map(|decoy| {
                let ion = ions.ion(decoy.ion).unwrap();
                (ion.formula as usize == formula && ion.modifier == modifier).then_some(decoy.msm)
            })
        };
        for target in 0..3 {
            let rows: Vec<_> = found
                .rows()
                .iter()
                .filter(|row| usize::from(row.modifier) == target)
                .collect();
            let scores: Vec<f64> = rows.iter().map(|row| row.scored.metrics.msm).collect();
            let mut hits = Vec::new();
            for formula in 0..FORMULAS.len() {
                for (ranking, modifier) in (0..).zip(chosen.of(formula, target)) {
                    hits.extend(
                        msm(formula, modifier).map(|score| estimate::Decoy { ranking, score }),
                    );
                }
            }
            assert!(!hits.is_empty() || scoring != Scoring::V3);
            let rates = estimate(Rule::from(scoring), &scores, &hits, 5).unwrap();
            assert_eq!(
                rows.iter().map(|row| row.fdr).collect::<Vec<f64>>(),
                rates,
                "{scoring}"
            );
        }
        let keys: Vec<(f64, f64, &str, &str)> = found
            .rows()
            .iter()
            .map(|row| {
                (
                    row.fdr,
                    -row.scored.metrics.msm,
                    found.formula(row),
                    found.modifier(row),
                )
            })
            .collect();
        assert!(keys.is_sorted());
        assert!(found.levels().is_sorted());
        assert!(found.levels()[3] <= found.rows().len() as u64);
    }
}

#[test]
fn isomeric_ions_are_a_row_each() {
    let ions = ions(&FORMULAS, &["+H", "-H2O+H"], 5, Scoring::V3);
    let targets = [
        scored(place(&ions, "C6H12O6", "-H2O+H"), 0.5),
        scored(place(&ions, "C6H10O5", "+H"), 0.5),
    ];
    let found = table(&ions, &targets, &[]).unwrap();
    let rows: Vec<(&str, &str, &str, String)> = found
        .rows()
        .iter()
        .map(|row| {
            (
                found.formula(row),
                found.loss(row),
                found.adduct(row),
                found.ion_formula(row),
            )
        })
        .collect();
    assert_eq!(rows[0], ("C6H10O5", "", "+H", "C6H11O5".to_owned()));
    assert_eq!(rows[1], ("C6H12O6", "-H2O", "+H", "C6H11O5".to_owned()));
    assert_eq!(found.modifier(&found.rows()[1]), "-H2O+H");
    let subjects = found.subjects();
    assert_eq!(
        (subjects[1].formula, subjects[1].modifier),
        ("C6H12O6", "-H2O+H")
    );
    assert_eq!(
        (subjects[1].ion, subjects[1].mz),
        (targets[0].ion, targets[0].mz)
    );
}

#[test]
fn few_targets_and_few_decoys_are_told() {
    let ions = ions(&FORMULAS, &["+H", "+K"], 5, Scoring::V3);
    let found = table(&ions, &[scored(place(&ions, "C2H4", "+K"), 0.5)], &[]).unwrap();
    let warnings = found.warnings().join("\n");
    assert!(warnings.contains("a \"list\""), "{warnings}");
    assert!(warnings.contains("5 decoys"), "{warnings}");
    assert!(warnings.contains("5 formulas"), "{warnings}");
    assert!(warnings.contains("\"+K\": 1 ion scores"), "{warnings}");
    assert!(!warnings.contains("\"+H\":"), "{warnings}");
}

#[test]
fn what_is_no_score_of_these_ions_is_refused() {
    let ions = ions(&FORMULAS, &["+H"], 5, Scoring::V3);
    let target = place(&ions, "C2H4", "+H");
    let decoy = (0..ions.len())
        .find(|place| !ions.is_target(ions.ion(*place).unwrap()))
        .unwrap();
    for (ion, msm) in [
        (ions.len(), 0.5),
        (decoy, 0.5),
        (target, 0.0),
        (target, f64::NAN),
        (target, 1.5),
    ] {
        let error = table(&ions, &[scored(ion, msm)], &[]).unwrap_err();
        assert!(
            matches!(error, Error::Parameter { name: "scores", .. }),
            "{ion} {msm}"
        );
    }
    for (ion, msm) in [(target, 0.5), (decoy, -0.5), (decoy, f64::NAN)] {
        let error = table(&ions, &[], &[Decoy { ion, msm }]).unwrap_err();
        assert!(
            matches!(error, Error::Parameter { name: "scores", .. }),
            "{ion} {msm}"
        );
    }
    let twice = [scored(target, 0.5), scored(target, 0.25)];
    let error = table(&ions, &twice, &[]).unwrap_err();
    assert!(
        matches!(&error, Error::Mismatch { what, .. } if what.contains("C2H4 +H")),
        "{error}"
    );
    let twice = [0.5, 0.25].map(|msm| Decoy { ion: decoy, msm });
    assert!(matches!(
        table(&ions, &[], &twice),
        Err(Error::Mismatch { .. })
    ));
    let mut small = Table::new(Rc::clone(&ions), 500);
    let many = [scored(target, 0.5); 3];
    assert!(matches!(
        small.take_targets(&many),
        Err(Error::Budget { have: 500, .. })
    ));
}

/// Fields of CSV by RFC 4180.
fn fields(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut field, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.next_if_eq(&'"').is_some() => field.push('"'),
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut field)),
            '\n' if !quoted => {
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
            }
            _ => field.push(letter),
        }
    }
    assert!(
        field.is_empty() && row.is_empty() && !quoted,
        "the last line has no end"
    );
    rows
}

#[test]
fn csv_parses_back() {
    let ions = ions(&FORMULAS, &["+H", "-H2O+Na"], 20, Scoring::V3);
    let (targets, decoys) = all(&ions);
    let found = table(&ions, &targets, &decoys).unwrap();
    let count = found.rows().len();
    let text = found.csv_head().to_owned() + &found.csv_rows(0..count);
    let mut pieces = found.csv_head().to_owned();
    (0..=count).for_each(|n| pieces += &found.csv_rows(n..n + 1));
    assert_eq!(pieces, text);
    let rows = fields(&text);
    let header: Vec<&str> = rows[0].iter().map(String::as_str).collect();
    assert_eq!(
        header[..8],
        [
            "formula", "adduct", "mz", "chaos", "spatial", "spectral", "msm", "fdr"
        ]
    );
    assert_eq!(rows.len(), count + 1);
    let column = |name: &str| header.iter().position(|other| *other == name).unwrap();
    for (fields, row) in rows[1..].iter().zip(found.rows()) {
        assert_eq!(fields.len(), header.len());
        let text = |name: &str| fields[column(name)].as_str();
        let float = |name: &str| text(name).parse::<f64>().unwrap();
        assert_eq!(text("formula"), found.formula(row));
        assert_eq!(text("adduct"), found.adduct(row));
        assert_eq!(text("neutral_loss"), found.loss(row));
        assert_eq!(text("ion_formula"), found.ion_formula(row));
        let scored = &row.scored;
        assert_eq!(float("mz"), scored.mz[0]);
        assert_eq!(float("chaos"), scored.metrics.chaos);
        assert_eq!(float("spatial"), scored.metrics.spatial);
        assert_eq!(float("spectral"), scored.metrics.spectral);
        assert_eq!(float("msm"), scored.metrics.msm);
        assert_eq!(float("fdr"), row.fdr);
        assert_eq!(float("mz_err_abs"), scored.mz_err_abs);
        assert_eq!(float("mz_err_rel"), scored.mz_err_rel);
        assert_eq!(text("overlap"), scored.overlap.to_string());
        let list = |name: &str| -> Vec<f64> {
            let inside = text(name)
                .strip_prefix('[')
                .unwrap()
                .strip_suffix(']')
                .unwrap();
            inside
                .split(',')
                .map(|number| number.parse().unwrap())
                .collect()
        };
        assert_eq!(list("iso_mz"), scored.mz);
        assert_eq!(list("iso_theory"), scored.theory);
        assert_eq!(list("total_iso_ints"), scored.metrics.total);
        assert_eq!(list("min_iso_ints"), scored.metrics.min);
        assert_eq!(list("max_iso_ints"), scored.metrics.max);
        let molecules = found.molecules(row);
        let names: Vec<&str> = molecules
            .iter()
            .filter_map(|molecule| molecule.name.as_deref())
            .collect();
        let ids: Vec<&str> = molecules
            .iter()
            .filter_map(|molecule| molecule.id.as_deref())
            .collect();
        assert_eq!(text("molecule_names"), names.join("; "));
        assert_eq!(text("molecule_ids"), ids.join("; "));
    }
    assert!(text.contains("\"D-Glucose, \"\"dextrose\"\"\""));
    assert!(!text.contains("-0,") && !text.contains("NaN"));
}

#[test]
fn json_parses_back() {
    let ions = ions(&FORMULAS, &["+H", "-H2O+Na"], 20, Scoring::V3);
    let (targets, decoys) = all(&ions);
    let found = table(&ions, &targets, &decoys).unwrap();
    let count = found.rows().len();
    let text = found.json_head(&provenance()) + &found.json_rows(0..count) + found.json_tail();
    let mut pieces = found.json_head(&provenance());
    (0..=count).for_each(|n| pieces += &found.json_rows(n..n + 1));
    assert_eq!(pieces + found.json_tail(), text);
    let json: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["version"], 1);
    assert_eq!(json["store"]["file"], "https://host/a \"b\".sectile");
    assert_eq!(json["store"]["sha256"], "ab".repeat(32));
    assert_eq!(json["store"]["source"], "a\\b.imzML");
    assert_eq!(
        (&json["store"]["width"], &json["store"]["height"]),
        (&6.into(), &5.into())
    );
    assert_eq!(json["store"]["instrument"], Value::Null);
    assert_eq!(json["list"]["file"], "list\u{2028}.csv");
    assert_eq!(json["options"]["scoring"], "metaspace-v3");
    assert_eq!(
        json["options"]["adducts"],
        serde_json::json!(["+H", "-H2O+Na"])
    );
    assert_eq!(json["options"]["charge"], 1);
    assert_eq!(json["options"]["ppm"], 3);
    assert_eq!(
        json["options"]["resolving_power"], 140_000,
        "as it was asked for"
    );
    assert_eq!(json["counts"]["formulas"], 5);
    assert_eq!(json["counts"]["targets"], u64::from(ions.targets()));
    assert_eq!(json["counts"]["decoys"], u64::from(ions.decoys()));
    assert_eq!(json["levels"].as_array().unwrap().len(), 4);
    assert_eq!(json["warnings"][0], "a \"list\"");
    let rows = json["rows"].as_array().unwrap();
    assert_eq!(rows.len(), count);
    for (json, row) in rows.iter().zip(found.rows()) {
        let near = |value: &Value, expected: f64| {
            let value = value.as_f64().unwrap();
            assert!(
                (value - expected).abs() <= expected.abs() * 1e-15,
                "{value} {expected}"
            );
        };
        assert_eq!(json["formula"], found.formula(row));
        assert_eq!(json["modifier"], found.modifier(row));
        assert_eq!(json["overlap"], row.scored.overlap);
        near(&json["msm"], row.scored.metrics.msm);
        near(&json["fdr"], row.fdr);
        let peaks = json["peaks"].as_array().unwrap();
        assert_eq!(peaks.len(), 3);
        near(&peaks[1]["mz"], row.scored.mz[1]);
        near(&peaks[2]["total"], row.scored.metrics.total[2]);
        let molecules = json["molecules"].as_array().unwrap();
        assert_eq!(molecules.len(), found.molecules(row).len());
        for (json, molecule) in molecules.iter().zip(found.molecules(row)) {
            assert_eq!(json["name"].as_str(), molecule.name.as_deref());
            assert_eq!(json["id"].as_str(), molecule.id.as_deref());
        }
    }
}

#[test]
fn nothing_found_is_a_table_too() {
    let ions = ions(&FORMULAS, &["+H"], 20, Scoring::V3);
    let found = table(&ions, &[], &[]).unwrap();
    assert_eq!(found.csv_rows(0..10), "");
    let text = found.json_head(&provenance()) + &found.json_rows(0..10) + found.json_tail();
    let json: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["rows"], serde_json::json!([]));
    assert_eq!(found.levels(), [0; 4]);
    assert!(found.subjects().is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// However scores are dealt out, and however often they come: the same bytes.
    #[test]
    fn neither_order_nor_repetition_shows(seed in 0_usize..1000, pieces in 1_usize..7, again in 0_usize..20) {
        let ions = ions(&FORMULAS, &["+H", "-H2O+Na", "+K"], 5, Scoring::V1);
        let (mut targets, mut decoys) = all(&ions);
        let write = |found: &Annotations| found.csv_rows(0..1000) + &found.json_rows(0..1000);
        let expected = write(&table(&ions, &targets, &decoys).unwrap());
        let more: Vec<Scored> = targets.iter().copied().cycle().skip(seed).take(again).collect();
        targets.extend(more);
        let more: Vec<Decoy> = decoys.iter().copied().cycle().skip(seed).take(again).collect();
        decoys.extend(more);
        let by = seed % targets.len();
        targets.rotate_left(by);
        decoys.reverse();
        let mut table = Table::new(Rc::clone(&ions), 1 << 20);
        for piece in targets.chunks(targets.len().div_ceil(pieces)) {
            table.take_targets(piece).unwrap();
        }
        for piece in decoys.chunks(decoys.len().div_ceil(pieces)) {
            table.take_decoys(piece).unwrap();
        }
        prop_assert_eq!(write(&table.finish().unwrap()), expected);
    }
}

#[test]
fn a_row_has_the_bytes_that_are_stated() {
    assert!(size_of::<sectile::results::Row>() <= 264);
}
