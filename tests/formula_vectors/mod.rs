//! What formulas, adducts and molecule lists are read as: natively and in a browser.

use sectile::error::Result;
use sectile::ion::database::{Molecules, Reader};
use sectile::ion::formula::Composition;
use sectile::ion::formula::element::{ELECTRON, Element};
use sectile::ion::formula::modifier::Modifier;
use serde_json::Value;

const CASES: &str = include_str!("../data/formulas/cases.json");
const IONS: &str = include_str!("../golden/imaging-ms/ion_formulas.json");
const TABLE: &str = include_str!("../golden/imaging-ms/isotope_table.json");

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

pub(crate) fn composition(text: &str) -> Composition {
    Composition::parse(text).unwrap_or_else(|fault| panic!("{text}: {fault}"))
}

pub(crate) fn modifier(text: &str) -> Modifier {
    Modifier::parse(text).unwrap_or_else(|fault| panic!("{text}: {fault}"))
}

/// The table of isotopes is METASPACE's, to the bit.
pub(crate) fn isotopes_are_the_golden_ones() {
    let table = json(TABLE);
    let electron = table["electron_mass"].as_f64().unwrap();
    assert_eq!(electron.to_bits(), ELECTRON.to_bits());
    let elements = table["elements"].as_object().unwrap();
    assert_eq!(elements.len(), Element::COUNT);
    for (symbol, golden) in elements {
        let element = Element::of(symbol).unwrap();
        assert_eq!(element.symbol(), symbol);
        assert_eq!(golden["z"].as_u64().unwrap(), element.index() as u64 + 1);
        let numbers = |key: &str| -> Vec<f64> {
            let values = golden[key].as_array().unwrap().iter();
            values.map(|value| value.as_f64().unwrap()).collect()
        };
        let isotopes = element.isotopes();
        let masses: Vec<f64> = isotopes.iter().map(|isotope| isotope.mass).collect();
        let shares: Vec<f64> = isotopes.iter().map(|isotope| isotope.abundance).collect();
        assert_eq!((masses, shares), (numbers("mass"), numbers("abundance")));
    }
}

/// F03: m/z with the electron and the sign of the charge.
pub(crate) fn charges_have_their_electrons() {
    let case = json(CASES)["F03"].clone();
    let tolerance = case["tolerance"].as_f64().unwrap();
    for ion in case["ions"].as_array().unwrap() {
        let modifier = modifier(ion["adduct"].as_str().unwrap());
        let formula = composition(ion["formula"].as_str().unwrap());
        let charge = modifier.charge().unwrap();
        assert_eq!(i64::from(charge), ion["charge"].as_i64().unwrap());
        let mass = modifier.apply(&formula).unwrap().mass();
        let mz = (mass - f64::from(charge) * ELECTRON) / f64::from(charge.abs());
        assert!(
            (mz - ion["mz"].as_f64().unwrap()).abs() < tolerance,
            "{ion}"
        );
        let without = ion["mz_without_electron"].as_f64().unwrap();
        assert!((mass - without).abs() < tolerance, "{ion}");
    }
}

/// F07: symbols as long as they are, groups, and case.
pub(crate) fn formulas_have_their_atoms() {
    let case = json(CASES)["F07"].clone();
    for (text, expected) in case["formulas"].as_object().unwrap() {
        let found = composition(text);
        let counts = expected["counts"].as_object().unwrap();
        assert_eq!(found.atoms().len(), counts.len(), "{text}");
        for (atom, count) in found.atoms() {
            let count = u64::from(*count);
            assert_eq!(counts[&atom.to_string()].as_u64(), Some(count), "{text}");
        }
        let mass = expected["mass"].as_f64().unwrap();
        assert!(
            (found.mass() - mass).abs() < 1e-5,
            "{text} {}",
            found.mass()
        );
    }
    for pair in case["not_equal"].as_array().unwrap() {
        let [one, other] = [&pair[0], &pair[1]].map(|text| composition(text.as_str().unwrap()));
        assert_ne!(one, other);
    }
}

/// F09: what is refused, where and why; and the three that are read, to their whole mass.
pub(crate) fn bad_formulas_are_refused() {
    type Outcome = std::result::Result<&'static str, (usize, &'static str)>;
    let expected: [(&str, Outcome); 13] = [
        ("", Err((0, "no formula"))),
        ("Xx2", Err((0, "\"Xx\" is not an element"))),
        ("C6h12", Err((2, "small letter ('h')"))),
        ("C-1H4", Err((1, "negative"))),
        ("C0", Err((1, "count of 0"))),
        ("(CH3", Err((0, "')' does not close"))),
        ("CH3)", Err((3, "')' closes nothing"))),
        ("H 2 O", Err((1, "white space"))),
        ("C6H12O6.H2O", Ok("C6H14O7")),
        ("2H2O", Err((0, "a number"))),
        ("C6H12O6+", Err((7, "a charge"))),
        ("CH₄", Ok("CH4")),
        ("C99999999999999999999", Err((1, "more than 100000"))),
    ];
    let bad = json(CASES)["F09"]["bad"].clone();
    assert_eq!(bad.as_array().unwrap().len(), expected.len());
    for (text, (known, expected)) in bad.as_array().unwrap().iter().zip(expected) {
        assert_eq!(text, known);
        match (Composition::parse(known), expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found.to_string(), expected),
            (Err(fault), Err((at, what))) => {
                assert_eq!(fault.at, at, "{known}: {fault}");
                assert!(fault.what.contains(what), "{known}: {fault}");
            }
            (found, _) => panic!("{known}: {found:?}"),
        }
    }
}

/// METASPACE's ions, in its order and in Hill's.
///
/// The golden file has each formula with one or more modifiers. Two of its 17 are none here, by intent:
/// an element that there is not (METASPACE notices later), and `h` for hydrogen in the other program.
pub(crate) fn ions_are_the_golden_ones() {
    let all = json(IONS);
    assert_eq!(all.as_array().unwrap().len(), 17);
    let mut whole = 0;
    for case in all.as_array().unwrap() {
        let texts: Vec<&str> = case["in"]
            .as_array()
            .unwrap()
            .iter()
            .map(|text| text.as_str().unwrap())
            .collect();
        let golden = case["metaspace_chnops_order"].as_str().unwrap();
        let found = ion(&texts);
        if golden.starts_with("ERR") || golden.contains("Cx") {
            assert_eq!(found, None, "{case}");
            continue;
        }
        let found = found.unwrap_or_else(|| panic!("{case}"));
        assert_eq!(found.to_string(), golden, "{case}");
        let hill = case["lithops_hill_order"].as_str().unwrap();
        // That program applies the first part of a modifier only, and refuses [M]+.
        if !hill.starts_with("ERR") && !texts.contains(&"-H2O+H") && !texts.contains(&"+K-H") {
            assert_eq!(found.hill(), hill, "{case}");
            whole += 1;
        }
    }
    assert_eq!(whole, 8);
    assert_eq!(
        ion(&["C10H16N5O13P3", "+K-H"]).unwrap().hill(),
        "C10H15KN5O13P3"
    );
}

fn ion(texts: &[&str]) -> Option<Composition> {
    let mut found = composition(texts[0]);
    for text in &texts[1..] {
        found = Modifier::parse(text).ok()?.apply(&found)?;
    }
    Some(found)
}

/// A list in pieces of `size` bytes.
pub(crate) fn read(bytes: &[u8], size: usize) -> Result<Molecules> {
    let mut reader = Reader::new("list", 1 << 20);
    for piece in bytes.chunks(size) {
        reader.push(piece)?;
    }
    reader.finish()
}

/// A list as text: its formulas with their molecules, what was left out, and the warnings.
pub(crate) fn shown(molecules: &Molecules) -> String {
    use std::fmt::Write;
    let mut out = format!("{} {:?}\n", molecules.separator, molecules.columns);
    for (at, formula) in molecules.formulas.iter().enumerate() {
        write!(out, "{} = {}:", formula.text, formula.composition).unwrap();
        for molecule in molecules.of(at) {
            let [id, name] =
                [&molecule.id, &molecule.name].map(|text| text.as_deref().unwrap_or("-"));
            write!(out, " {id} {name:?}").unwrap();
        }
        out.push('\n');
    }
    for rejected in &molecules.rejected {
        writeln!(
            out,
            "line {} {:?}: {}",
            rejected.line, rejected.text, rejected.what
        )
        .unwrap();
    }
    for warning in &molecules.warnings {
        writeln!(out, "warning: {warning}").unwrap();
    }
    write!(
        out,
        "{} rows, {} rejected",
        molecules.rows, molecules.rejected_rows
    )
    .unwrap();
    out
}

/// Lists, and what they are read as.
pub(crate) const LISTS: [(&[u8], &str); 3] = [
    (
        b"\xef\xbb\xbfmol_id,mol_name,formula,inchi\r\n\
          1,\"creatine, \"\"free\"\"\",C4H9N3O2,\r\n\r\n\
          2,glucose,C6H12O6,\"a\r\nb\"\r\n\
          3,fructose,C6H12O6,\r\n\
          4,\"bad \r\none\",C6H12O6XYZ,\r\n\
          5,short\r\n\
          ,,,\r\n\
          6,none,,\r\n\
          7,ethanol,C2H6O,\r\n\
          8,,CH3CH2OH,\r\n\
          9,caf\xe9ine,C8H10N4O2,,,",
        "comma [\"mol_id\", \"mol_name\", \"formula\", \"inchi\"]\n\
         C2H6O = C2H6O: 7 \"ethanol\" 8 \"-\"\n\
         C4H9N3O2 = C4H9N3O2: 1 \"creatine, \\\"free\\\"\"\n\
         C6H12O6 = C6H12O6: 2 \"glucose\" 3 \"fructose\"\n\
         C8H10N4O2 = C8H10N4O2: 9 \"caféine\"\n\
         line 7 \"C6H12O6XYZ\": character 8: \"X\" is not an element\n\
         line 9 \"\": the row ends with column 2, the formula is number 3\n\
         line 11 \"\": character 1: there is no formula\n\
         warning: rows that are not UTF-8, whose names were read as Latin-1: 1\n\
         warning: rows with more columns than the header (is a name with a separator in it not quoted?): 1\n\
         warning: formulas written in several ways, each of which is looked for once: 1\n\
         9 rows, 3 rejected",
    ),
    (
        b"# a remark, with a formula\n\n\
          C6H12O6\n C2H6O\t\n\nwater\nNa(Cl",
        "none []\n\
         C2H6O = C2H6O: - \"-\"\n\
         C6H12O6 = C6H12O6: - \"-\"\n\
         line 6 \"water\": character 1: no element begins with a small letter ('w')\n\
         line 7 \"Na(Cl\": character 3: a group that ')' does not close\n\
         4 rows, 2 rejected",
    ),
    (
        b"Mol. Formula;Common Name;Database ID\r\
          H2O;water;w1\r\
          \"[13C]6H12O6\";\"labelled; glucose\";w2\r\
          C6H12O6+;\"never closed;w3\rH2O;heavy;w4\r",
        "semicolon [\"Mol. Formula\", \"Common Name\", \"Database ID\"]\n\
         H2O = H2O: w1 \"water\"\n\
         [13C]6H12O6 = [13C]6H12O6: w2 \"labelled; glucose\"\n\
         line 4 \"C6H12O6+\": a quote is opened in this row and never closed; lines after it that are lost: 2\n\
         3 rows, 1 rejected",
    ),
];

/// However a list's bytes come, it is read as the same.
pub(crate) fn lists_are_read_however_they_come() {
    for (bytes, expected) in LISTS {
        for size in [1, 2, 3, 7, bytes.len()] {
            let molecules = read(bytes, size).unwrap();
            assert_eq!(shown(&molecules), expected, "pieces of {size}");
        }
    }
}
