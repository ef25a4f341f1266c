//! Annotation: which ions there are and in which order, and what is refused.
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

use annotate_cases::whole::F32;
use annotate_cases::{formulas, ions, modifiers, molecules, request};
use ion_cases::{Sample, head};
use sectile::error::Error;
use sectile::ion::annotate::{AnnotateJob, Ion, Ions, Request, Scored, Wish};
use sectile::ion::isotope::{Analyzer, Instrument};
use sectile::ion::scoring::Scoring;

#[test]
fn requests_that_make_no_sense_are_refused() {
    let refused = |request: Request| {
        let made = Ions::new(molecules(&formulas(120)), request, 1 << 30);
        match made.unwrap_err() {
            Error::Parameter { name, what } => (name, what),
            other => panic!("{other:?}"),
        }
    };
    let with = |texts: &[&str]| Request {
        targets: modifiers(texts),
        ..request()
    };
    assert_eq!(refused(with(&[])).0, "adducts");
    assert!(refused(with(&["+H", "+Na", "+H"])).1.contains("twice"));
    assert!(refused(with(&["[M-H]-"])).1.contains("charge"));
    let of = |charge, ppm, decoys| Request {
        charge,
        ppm,
        decoys,
        ..request()
    };
    assert_eq!(refused(of(2, 3.0, 20)).0, "charge");
    for ppm in [0.0, -1.0, f64::NAN, f64::INFINITY, 1001.0] {
        assert_eq!(refused(of(1, ppm, 20)).0, "ppm");
    }
    assert_eq!(refused(of(1, 3.0, 0)).0, "decoys");
    let small = Ions::new(molecules(&formulas(120)), request(), 1000);
    assert!(matches!(small.unwrap_err(), Error::Budget { .. }));

    let file = Sample::random(1, [7, 6, 1], 5, F32).store();
    let head = head(&file);
    let ions = ions(&formulas(120), &request());
    let usual = Wish::default();
    let job = |shard, from, wish: &Wish| {
        let made = AnnotateJob::new(head.clone(), ions.clone(), shard, from, wish);
        match made.unwrap_err() {
            Error::Parameter { name, .. } => name,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(job(0..ions.len() + 1, 0, &usual), "shard");
    assert_eq!(job(10..20, 9, &usual), "from");
    assert_eq!(job(10..20, 21, &usual), "from");
    let none = Wish {
        in_flight: 0,
        ..usual
    };
    assert_eq!(job(0..ions.len(), 0, &none), "--in-flight");
}

#[test]
fn ions_are_each_there_once_by_their_lowest_mz_and_impossible_ones_are_counted() {
    for scoring in Scoring::ALL {
        let request = Request {
            scoring,
            targets: modifiers(&["+H", "-H2O+H", "-NH3+H"]),
            ..request()
        };
        let texts: Vec<String> = ["C6H6", "C6H12O6", "C5H11NO2"].map(str::to_owned).into();
        let ions = ions(&texts, &request);
        let all: Vec<_> = (0..ions.len()).map(|at| ions.ion(at).unwrap()).collect();
        let mut distinct = all.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), all.len());
        let lowest: Vec<f64> = (0..ions.len()).map(|at| ions.lowest(at).unwrap()).collect();
        assert!(lowest.is_sorted());
        assert_eq!(
            (ions.ion(ions.len()), ions.lowest(ions.len())),
            (None, None)
        );
        // Benzene has neither water nor ammonia, and glucose no ammonia: these, and all of their decoys.
        let of = |text: &str, target: bool| {
            let formulas = &ions.molecules().formulas;
            let own = |ion: &&Ion| formulas[ion.formula as usize].text == text;
            let own = all.iter().filter(own);
            own.filter(|ion| ions.is_target(**ion) == target).count()
        };
        assert_eq!(
            ["C6H6", "C6H12O6", "C5H11NO2"].map(|text| of(text, true)),
            [1, 2, 3]
        );
        assert_eq!(
            ["C6H6", "C6H12O6", "C5H11NO2"].map(|text| of(text, false)),
            [20, 40, 60]
        );
        assert_eq!(
            (ions.targets(), ions.decoys(), ions.impossible()),
            (6, 120, 3 * 21)
        );
        assert!(
            ions.warnings()
                .iter()
                .any(|warning| warning.starts_with("63 ions cannot be"))
        );
    }
}

#[test]
fn all_that_decides_a_result_is_in_the_fingerprint() {
    let texts = formulas(3);
    let usual = request();
    let mut changed = vec![
        usual.clone(),
        Request {
            decoys: 19,
            ..usual.clone()
        },
        Request {
            ppm: 3.5,
            ..usual.clone()
        },
        Request {
            hotspot: true,
            ..usual.clone()
        },
        Request {
            slice: 1,
            ..usual.clone()
        },
        Request {
            scoring: Scoring::V2,
            ..usual.clone()
        },
        Request {
            charge: -1,
            ..usual.clone()
        },
        Request {
            targets: modifiers(&["+Na", "+H"]),
            ..usual.clone()
        },
    ];
    for (analyzer, power) in [(Analyzer::Tof, 140_000.0), (Analyzer::Orbitrap, 70_000.0)] {
        let instrument = Instrument::new(analyzer, power).unwrap();
        changed.push(Request {
            instrument,
            ..usual.clone()
        });
    }
    let mut found: Vec<_> = (changed.iter())
        .map(|request| ions(&texts, request).fingerprint())
        .collect();
    found.push(ions(&texts[1..], &usual).fingerprint());
    assert_eq!(found[0], ions(&texts, &usual).fingerprint());
    let all = found.len();
    found.sort_unstable();
    found.dedup();
    assert_eq!(found.len(), all);
}

#[test]
fn a_record_with_flags_that_mean_nothing_is_none() {
    let mut bytes = [0; Scored::BYTES];
    assert!(Scored::from_bytes(&bytes).is_some_and(|scored| !scored.overlap));
    bytes[4] = 2;
    assert_eq!(Scored::from_bytes(&bytes), None);
}
