//! Scores of ions, and what they are written as: the same bytes natively and in a browser.
#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "a test says what failed by failing"
)]

use std::rc::Rc;

use sectile::budget::Budget;
use sectile::error::Result;
use sectile::ion::annotate::{Decoy, Ions, Request, Scored};
use sectile::ion::database::{Formula, Molecule, Molecules, Separator};
use sectile::ion::formula::Composition;
use sectile::ion::formula::modifier::Modifier;
use sectile::ion::isotope::{Analyzer, Instrument};
use sectile::ion::score::Metrics;
use sectile::ion::scoring::Scoring;
use sectile::results::images::{Easel, Frame, Merge};
use sectile::results::part::Identity;
use sectile::results::part::images::{self, Scan};
use sectile::results::{Annotations, Provenance, Table};
use sectile::store::head::Mask;
use sha2::{Digest as _, Sha256};

/// Names that a table has to survive.
const NAMES: [Option<&str>; 4] = [
    Some("D-Glucose, \"dextrose\""),
    None,
    Some("Übermensch\tβ-D\u{1}\r\nline"),
    Some("plain"),
];

pub(crate) fn list(formulas: &[&str]) -> Rc<Molecules> {
    let mut texts = formulas.to_vec();
    texts.sort_unstable();
    let molecules = texts.iter().enumerate().flat_map(|(n, _)| {
        let twice = (n % 2 == 0).then(|| Molecule {
            id: Some(format!("X{n}")),
            name: None,
        });
        let one = Molecule {
            id: (n % 3 != 0).then(|| format!("HMDB{n};\\")),
            name: NAMES[n % 4].map(str::to_owned),
        };
        [Some(one), twice]
    });
    let mut at = 0;
    let formulas = texts.iter().enumerate().map(|(n, text)| {
        let from = at;
        at += 1 + u32::from(n % 2 == 0);
        Formula {
            text: (*text).to_owned(),
            composition: Composition::parse(text).unwrap(),
            molecules: from..at,
        }
    });
    Rc::new(Molecules {
        formulas: formulas.collect(),
        molecules: molecules.flatten().collect(),
        rejected: vec![],
        rejected_rows: 0,
        rows: texts.len() as u64,
        separator: Separator::None,
        columns: vec![],
        warnings: vec!["a \"list\"".to_owned()],
    })
}

pub(crate) fn ions(formulas: &[&str], targets: &[&str], decoys: u8, scoring: Scoring) -> Rc<Ions> {
    let targets = targets
        .iter()
        .map(|text| Modifier::parse(text).unwrap())
        .collect();
    let instrument = Instrument::new(Analyzer::Orbitrap, 140_000.0).unwrap();
    let request = Request {
        decoys,
        scoring,
        ..Request::new(targets, instrument, 1)
    };
    Rc::new(Ions::new(list(formulas), request, 64 << 20).unwrap())
}

/// The place of an ion in the order.
pub(crate) fn place(ions: &Ions, formula: &str, modifier: &str) -> u32 {
    let molecules = ions.molecules();
    let places = (0..ions.len()).find(|place| {
        let ion = ions.ion(*place).unwrap();
        let modifiers = ions.decoys_chosen().modifiers();
        molecules.formulas[ion.formula as usize].text == formula
            && modifiers[usize::from(ion.modifier)].to_string() == modifier
    });
    places.unwrap()
}

pub(crate) fn scored(ion: u32, msm: f64) -> Scored {
    let n = f64::from(ion);
    Scored {
        ion,
        mz: [180.063_388_1 + n, 181.066_7 + n, 182.07 + n, 0.0],
        theory: [100.0, 6.5, 1.0 / 3.0, 0.0],
        metrics: Metrics {
            chaos: 0.9,
            spatial: 0.8,
            spectral: msm / 0.72,
            msm,
            total: [1.234_567_890_123e15, 1.5e20, 0.1 + 0.2, 0.0],
            min: [0.0, -0.0, 1e-9, 0.0],
            max: [17.0, 2.5, 1e-5, 0.0],
        },
        mz_err_abs: -0.000_123,
        mz_err_rel: 4.5e-7,
        overlap: ion.is_multiple_of(2),
    }
}

pub(crate) const FORMULAS: [&str; 5] = ["C6H12O6", "C6H10O5", "C10H20O2", "C2H4", "H2O"];

/// All targets and decoys with scores that few of them share.
pub(crate) fn all(ions: &Ions) -> (Vec<Scored>, Vec<Decoy>) {
    let (mut targets, mut decoys) = (Vec::new(), Vec::new());
    for place in 0..ions.len() {
        let msm = f64::from(1 + place * 7 % 10) / 11.0;
        if ions.is_target(ions.ion(place).unwrap()) {
            targets.push(scored(place, msm));
        } else if place % 3 == 0 {
            decoys.push(Decoy {
                ion: place,
                msm: msm / 2.0,
            });
        }
    }
    (targets, decoys)
}

pub(crate) fn table(ions: &Rc<Ions>, targets: &[Scored], decoys: &[Decoy]) -> Result<Annotations> {
    let mut table = Table::new(Rc::clone(ions), 1 << 20);
    table.take_targets(targets)?;
    table.take_decoys(decoys)?;
    table.finish()
}

pub(crate) fn provenance() -> Provenance {
    Provenance {
        program: "sectile 0".to_owned(),
        store: "https://host/a \"b\".sectile".to_owned(),
        store_sha256: [0xAB; 32],
        source: "a\\b.imzML".to_owned(),
        width: 6,
        height: 5,
        spectra: 27,
        polarity: "positive".to_owned(),
        instrument: None,
        list: "list\u{2028}.csv".to_owned(),
        list_sha256: Some([1; 32]),
    }
}

/// SHA-256 of CSV, JSON rows and images of all targets.
pub(crate) const HASH: &str = "6ff26bdd8eadf052844b24010d82cf21135fb7d90210b4590b22b39de9ccb412";

/// Rows and images that are written of one annotation, as one hash.
pub(crate) fn hash() -> String {
    let ions = ions(&FORMULAS, &["+H", "-H2O+Na", "+K"], 20, Scoring::V1);
    let (targets, decoys) = all(&ions);
    let found = table(&ions, &targets, &decoys).unwrap();
    let mut sha = Sha256::new();
    sha.update(found.csv_head());
    sha.update(found.csv_rows(0..found.rows().len()));
    sha.update(found.json_rows(0..found.rows().len()));
    sha.update(file(&ions, &found));
    let digest = sha.finalize();
    digest
        .iter()
        .fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

/// The images file of all rows, with one picture each that its place decides.
fn file(ions: &Ions, found: &Annotations) -> Vec<u8> {
    const SIZE: (u32, u32) = (40, 30);
    let mut mask = Mask::new(SIZE.0 * SIZE.1).unwrap();
    (0..SIZE.0 * SIZE.1)
        .filter(|pixel| pixel % 11 != 0)
        .for_each(|pixel| mask.set(pixel));
    let mut budget = Budget::new(1 << 20);
    let mut easel = Easel::new(SIZE.0, SIZE.1, &mask, 0, &mut budget).unwrap();
    let identity = Identity {
        width: SIZE.0,
        height: SIZE.1,
        shard: 0..ions.len(),
        ions: ions.fingerprint(),
        store: [5; 32],
    };
    let mut part = images::begin(&identity).to_vec();
    for row in found.rows() {
        let ion = row.scored.ion;
        let pixels: Vec<u32> = (0..SIZE.0 * SIZE.1)
            .filter(|pixel| (pixel + ion) % 3 == 0)
            .collect();
        let values = pixels
            .iter()
            .map(|pixel| ((pixel * 97 + ion) % 1013) as f32 * 1.37);
        let picture = easel.draw(&pixels, &values.collect::<Vec<f32>>()).unwrap();
        images::put(ion, 0, &picture, &mut part).unwrap();
    }
    let mut scan = Scan::new("part", &identity, 1 << 20);
    scan.push(&part).unwrap();
    let pictures = scan.finish(part.len() as u64).unwrap();
    let frame = Frame {
        width: SIZE.0,
        height: SIZE.1,
        store: [5; 32],
    };
    let merge = Merge::new(frame, found.subjects(), &[pictures], 1 << 20).unwrap();
    let mut file = merge.head;
    for copy in merge.copies {
        file.extend_from_slice(&part[copy.range.start as usize..copy.range.end as usize]);
    }
    file
}
