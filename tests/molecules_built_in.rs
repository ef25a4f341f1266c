//! The molecule list that comes with the page: sound, and its lipids are what their names say.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test says what failed by failing"
)]

use std::collections::{BTreeMap, BTreeSet};

use sectile::ion::database::{Molecules, Reader, Separator};
use sectile::ion::formula::Composition;
use sectile::ion::formula::modifier::Modifier;

const LIST: &str = include_str!("../www/ions/molecules.csv");

/// What lipids of a class are made of without their chains, and how many chains condense with it.
///
/// `Cer` stands for a ceramide, which is sphinganine with one chain.
const CLASSES: [(&str, &str, u32); 24] = [
    ("FA", "H2O", 1),
    ("CAR", "C7H15NO3", 1),
    ("MG", "C3H8O3", 1),
    ("DG", "C3H8O3", 2),
    ("TG", "C3H8O3", 3),
    ("CE", "C27H46O", 1),
    ("LPC", "C8H20NO6P", 1),
    ("LPE", "C5H14NO6P", 1),
    ("LPA", "C3H9O6P", 1),
    ("LPI", "C9H19O11P", 1),
    ("PC", "C8H20NO6P", 2),
    ("PE", "C5H14NO6P", 2),
    ("PS", "C6H14NO8P", 2),
    ("PI", "C9H19O11P", 2),
    ("PG", "C6H15O8P", 2),
    ("PA", "C3H9O6P", 2),
    ("CL", "C9H22O13P2", 4),
    ("Cer", "", 1),
    ("CerP", "H3PO4", 1),
    ("SM", "C5H14NO4P", 1),
    ("HexCer", "C6H12O6", 1),
    ("Hex2Cer", "C12H22O11", 1),
    ("SHexCer", "C6H12O9S", 1),
    ("GM3", "C23H39NO19", 1),
];

fn list() -> Molecules {
    let mut reader = Reader::new("molecules.csv", 1 << 20);
    reader.push(LIST.as_bytes()).unwrap();
    reader.finish().unwrap()
}

fn formula(text: &str) -> Composition {
    Composition::parse(text).unwrap_or_else(|fault| panic!("{text}: {fault}"))
}

/// Names and formulas.
fn rows(list: &Molecules) -> Vec<(&str, &Composition)> {
    let formulas = list.formulas.iter().enumerate();
    let rows = formulas.flat_map(|(at, formula)| {
        let molecules = list.of(at).iter();
        molecules.map(|molecule| (molecule.name.as_deref().unwrap(), &formula.composition))
    });
    rows.collect()
}

#[test]
fn every_row_is_read() {
    let list = list();
    assert_eq!(list.separator, Separator::Comma);
    assert_eq!(list.columns, ["id", "name", "formula"]);
    assert_eq!(
        (list.rejected_rows, list.warnings.len()),
        (0, 0),
        "{:?}",
        list.rejected
    );
    assert_eq!(list.rows, LIST.lines().count() as u64 - 1);
    assert!((250..=400).contains(&list.rows), "{}", list.rows);
    let molecules = list.molecules.iter();
    let ids: BTreeSet<&str> = molecules.map(|one| one.id.as_deref().unwrap()).collect();
    assert_eq!(ids.len() as u64, list.rows);
    let plain = |id: &&str| {
        id.bytes()
            .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
    };
    assert!(ids.iter().all(plain), "{ids:?}");
    let names: BTreeSet<&str> = rows(&list).iter().map(|(name, _)| *name).collect();
    assert_eq!(names.len() as u64, list.rows);
    for formula in &list.formulas {
        assert_eq!(formula.text, formula.composition.hill());
        let mass = formula.composition.mass();
        assert!((50.0..1600.0).contains(&mass), "{} {mass}", formula.text);
    }
}

#[test]
fn lipids_are_what_their_names_say() {
    let list = list();
    let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
    for (name, composition) in rows(&list) {
        let Some(expected) = lipid(name) else {
            continue;
        };
        assert_eq!(*composition, expected, "{name}");
        *seen.entry(name.split(' ').next().unwrap()).or_default() += 1;
    }
    for (class, _, _) in CLASSES {
        assert!(
            seen.get(class).is_some_and(|count| *count > 1),
            "{class}: {seen:?}"
        );
    }
    assert!(seen.values().sum::<u32>() > 150, "{seen:?}");
}

/// What a lipid of a name such as `PC O-34:1` or `Cer 36:1;O2` is made of, by condensing its parts.
fn lipid(name: &str) -> Option<Composition> {
    let (class, chains) = name.split_once(' ')?;
    let (_, head, count) = *CLASSES.iter().find(|(known, _, _)| *known == class)?;
    let ceramide = chains.strip_suffix(";O2");
    let chains = ceramide.unwrap_or(chains);
    let ether = chains.strip_prefix("O-");
    let (carbons, bonds) = ether.unwrap_or(chains).split_once(':').unwrap();
    let [mut carbons, bonds] = [carbons, bonds].map(|number| number.parse::<u32>().unwrap());
    let mut parts = Vec::new();
    let mut waters = count;
    if ceramide.is_some() {
        parts.push("C18H39NO2".to_owned());
        carbons -= 18;
        waters += u32::from(!head.is_empty());
    }
    if !head.is_empty() {
        parts.push(head.to_owned());
    }
    // Chains as acids, one after another: their hydrogens depend on the sum only.
    parts.push(format!(
        "C{carbons}H{}O{}",
        2 * carbons - 2 * bonds,
        2 * count
    ));
    let sum = formula(&parts.join("."));
    let water = format!("-(H2O){waters}");
    let condensed = Modifier::parse(&water).unwrap().apply(&sum)?;
    let ethers = if ether.is_some() { "-O+H2" } else { "" };
    Modifier::parse(ethers).unwrap().apply(&condensed)
}

#[test]
fn known_lipids_and_metabolites_have_their_masses() {
    let list = list();
    let rows: BTreeMap<&str, &Composition> = rows(&list).into_iter().collect();
    // LIPID MAPS and HMDB: formula and monoisotopic mass.
    for (name, text, mass) in [
        ("PC 34:1", "C42H82NO8P", 759.5778),
        ("PE 38:4", "C43H78NO8P", 767.5465),
        ("PI 38:4", "C47H83O13P", 886.5571),
        ("SM 34:1;O2", "C39H79N2O6P", 702.5676),
        ("SHexCer 42:2;O2", "C48H91NO11S", 889.6313),
        ("TG 52:2", "C55H102O6", 858.7676),
        ("glutathione", "C10H17N3O6S", 307.0838),
        ("adenosine triphosphate", "C10H16N5O13P3", 506.9957),
        ("heme", "C34H32FeN4O4", 616.1773),
        ("cholesterol", "C27H46O", 386.3549),
    ] {
        let found = rows[name];
        assert_eq!(*found, formula(text), "{name}");
        assert!(
            (found.mass() - mass).abs() < 1e-4,
            "{name} {}",
            found.mass()
        );
    }
}

#[test]
fn the_demo_tissue_is_in_the_list() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/src/cli/demo/ions/molecules.rs"
    );
    let source = std::fs::read_to_string(path).unwrap();
    let table = source.split_once("const MOLECULES").unwrap().1;
    let table = table.split_once("\n];").unwrap().0;
    let quoted = table.split('"').skip(1).step_by(2);
    let demo: Vec<Composition> = quoted
        .filter_map(|text| Composition::parse(text).ok())
        .collect();
    assert_eq!(demo.len(), 40);
    let list = list();
    for one in demo {
        let known = list
            .formulas
            .iter()
            .any(|formula| formula.composition == one);
        assert!(known, "{one}");
    }
}
