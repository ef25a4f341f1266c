//! Molecule lists: what is read, what is left out, and what is refused.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test; each file uses a part of the cases"
)]

mod formula_vectors;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use formula_vectors::{LISTS, composition, read, shown};
use proptest::prelude::{ProptestConfig, Strategy, prop, proptest};
use sectile::error::Error;
use sectile::ion::database::{Molecules, Reader, Separator};

#[test]
fn lists_are_read_however_they_come() {
    formula_vectors::lists_are_read_however_they_come();
}

fn whole(text: impl AsRef<[u8]>) -> Result<Molecules, Error> {
    read(text.as_ref(), usize::MAX)
}

fn texts(molecules: &Molecules) -> Vec<&str> {
    let formulas = molecules.formulas.iter();
    formulas.map(|formula| formula.text.as_str()).collect()
}

#[test]
fn columns_go_by_many_names() {
    for (header, separator, name, id) in [
        ("id,name,formula", Separator::Comma, true, true),
        (
            "mol_id\tmol_name\tformula\tinchi",
            Separator::Tab,
            true,
            true,
        ),
        ("SF;ID", Separator::Semicolon, false, true),
        (
            "\"Molecular Formula\";\"Common Name\"",
            Separator::Semicolon,
            true,
            false,
        ),
        (
            "InChIKey,compound,MOL FORMULA",
            Separator::Comma,
            true,
            true,
        ),
        ("Formula [M],HMDB ID", Separator::Comma, false, true),
        ("# id\tname\tsum_formula", Separator::Tab, true, true),
        ("formula", Separator::None, false, false),
        ("name,sf,formula", Separator::Comma, true, false),
        (
            "datasetId,formula,adduct,ionFormula,moleculeNames,moleculeIds",
            Separator::Comma,
            true,
            true,
        ),
        ("a, b;c,formula,name\t", Separator::Comma, true, false),
    ] {
        let byte = match separator {
            Separator::Tab => "\t",
            Separator::Semicolon => ";",
            Separator::Comma | Separator::None => ",",
        };
        let plain = |name: &str| name.replace(['"', '#'], "").trim().to_owned();
        let columns: Vec<String> = header.split(byte).map(plain).collect();
        let cells = columns
            .iter()
            .map(|column| match column.to_lowercase().as_str() {
                "formula" | "sf" | "formula [m]" | "mol formula" | "molecular formula"
                | "sum_formula" => "C6H12O6",
                "name" | "mol_name" | "common name" | "compound" | "moleculenames" => "glucose",
                "id" | "mol_id" | "inchikey" | "hmdb id" | "moleculeids" => "X1",
                _ => "other",
            });
        let row: Vec<&str> = cells.collect();
        let molecules = whole(format!("{header}\n{}\n", row.join(byte))).unwrap();
        assert_eq!(molecules.separator, separator, "{header}");
        assert_eq!(texts(&molecules), ["C6H12O6"], "{header}");
        let molecule = &molecules.of(0)[0];
        assert_eq!(
            molecule.name.as_deref(),
            name.then_some("glucose"),
            "{header}"
        );
        assert_eq!(molecule.id.as_deref(), id.then_some("X1"), "{header}");
        assert_eq!(molecules.columns.len(), columns.len());
    }
    let two = whole("sf,formula\nH2O,CH4\n").unwrap();
    assert_eq!(texts(&two), ["CH4"]);
    assert_eq!(
        two.warnings,
        ["formulas are taken from the column \"formula\", not from \"sf\""]
    );
}

#[test]
fn a_list_without_formulas_is_refused() {
    let expected = "Name one of them formula, sf or molecular formula in the first line, and part columns by \
                    tabs, commas or semicolons; or give one formula a line and nothing else";
    for (list, at, what) in [
        ("", 0, "the molecule list is empty"),
        ("\n\r\n ,,\n", 0, "the molecule list is empty"),
        ("# only a remark\n", 0, "the molecule list is empty"),
        ("formula,name\n", 0, "the list has a header, but no row"),
        ("formula,name", 0, "the list has a header, but no row"),
        (
            "id,name,inchi\nX,glucose,InChI=1S/C6H12O6\n",
            0,
            &format!(
                "no column of formulas; the columns are \"id\", \"name\", \"inchi\". {expected}"
            ),
        ),
        (
            "\u{feff}# remark\nid|name;inchi\nX|C6H12O6;y\n",
            12,
            &format!("no column of formulas; the columns are \"id|name\", \"inchi\". {expected}"),
        ),
        (
            "id,ion formula\n1,H2O\n",
            0,
            &format!("no column of formulas; the columns are \"id\", \"ion formula\". {expected}"),
        ),
        (
            "formula,name\nXx,one\nYy,two\n",
            0,
            "no formula can be read in any row (2 in all); the first, line 2, \"Xx\": character 1: \"Xx\" is not an element",
        ),
        (
            "id|formula\n1|H2O\n",
            0,
            "no formula can be read in any row (1 in all); the first, line 2, \"1|H2O\": character 1: a number with \
             nothing to count before it; isotopes are written as [13C]6",
        ),
        (
            "id name\n1 H2O\n",
            0,
            "no formula can be read in any row (2 in all); the first, line 1, \"id name\": character 1: no element begins \
             with a small letter ('i'); it was read as one formula a line, because its first line names no column \
             formula, sf or molecular formula",
        ),
    ] {
        for size in [1, usize::MAX] {
            let Err(error) = read(list.as_bytes(), size) else {
                panic!("{list:?} was read");
            };
            let file = "list".to_owned();
            let what = what.to_owned();
            assert_eq!(error, Error::Format { file, at, what }, "{list:?}");
        }
    }
    let many: Vec<String> = (0..20).map(|n| format!("column{n}")).collect();
    let error = whole(many.join(",")).unwrap_err().to_string();
    assert!(error.contains("\"column11\", and 8 more."), "{error}");
}

#[test]
fn what_is_no_text_is_refused() {
    let wide = |text: &str, big: bool| -> Vec<u8> {
        let pairs = text.encode_utf16().map(|unit| {
            if big {
                unit.to_be_bytes()
            } else {
                unit.to_le_bytes()
            }
        });
        pairs.flatten().collect()
    };
    let utf_16 = "text in UTF-16: save it as UTF-8 (in Excel: \"CSV UTF-8\")";
    let workbook = [b"PK\x03\x04".as_slice(), &vec![7; 100_000]].concat();
    for (bytes, what) in [
        (wide("\u{feff}formula\nH2O\n", false), utf_16),
        (wide("\u{feff}formula\nH2O\n", true), utf_16),
        (wide("formula\nH2O\n", false), utf_16),
        (wide("formula\nH2O\n", true), utf_16),
        (b"form\0ula\n".to_vec(), "no text: it has bytes of 0"),
        (
            workbook,
            "a zip archive or an Excel workbook: save the sheet as CSV",
        ),
        (
            b"\x1f\x8b\x08\n".to_vec(),
            "packed with gzip: unpack it first",
        ),
        (
            b"<html>\n<p>formula".to_vec(),
            "a web page or XML, perhaps an error page of the server",
        ),
    ] {
        for size in [1, 5, usize::MAX] {
            let error = read(&bytes, size).unwrap_err();
            let what = format!("a molecule list is text, but the file is {what}");
            let file = "list".to_owned();
            assert_eq!(error, Error::Unsupported { file, what });
        }
    }
    let error = whole(vec![b'C'; 70_000]).unwrap_err().to_string();
    assert!(error.contains("does not end within 65536 bytes"), "{error}");
}

#[test]
fn rows_left_out_are_counted_and_the_first_noted() {
    let mut list = "name;formula\n".to_owned();
    for n in 0..1000 {
        writeln!(list, "\"bad\n{n}\";C{n}Q").unwrap();
    }
    list.push_str("good;H2O\n");
    let molecules = whole(&list).unwrap();
    assert_eq!((molecules.rows, molecules.rejected_rows), (1001, 1000));
    assert_eq!(molecules.rejected.len(), Molecules::MOST_SHOWN);
    for (n, rejected) in (0..).zip(&molecules.rejected) {
        assert_eq!(rejected.line, 2 + 2 * n);
        assert_eq!(rejected.text, format!("C{n}Q"));
    }
    let long = format!("formula\nH2O\n{}", "Q".repeat(1000));
    let molecules = whole(long).unwrap();
    assert_eq!(molecules.rejected[0].text, format!("{}…", "Q".repeat(60)));
    assert_eq!(
        molecules.rejected[0].what,
        "character 1: \"Q\" is not an element"
    );
}

/// A quote that nothing closes, in a list too long to keep what it takes.
#[test]
fn an_open_quote_is_told() {
    let mut list = "formula,name\nH2O,water\nCH4,\"methane\n".to_owned();
    for n in 0..5000 {
        writeln!(list, "C{n}H2,other").unwrap();
    }
    for size in [1, 999, usize::MAX] {
        let molecules = read(list.as_bytes(), size).unwrap();
        assert_eq!(texts(&molecules), ["H2O"]);
        let [rejected] = molecules.rejected.as_slice() else {
            panic!("{:?}", molecules.rejected);
        };
        assert_eq!((rejected.line, rejected.text.as_str()), (3, "CH4"));
        let what =
            "a quote is opened in this row and never closed; lines after it that are lost: 5001";
        assert_eq!(rejected.what, what);
    }
    let closed = format!("{list}\",\nC2H6,ethane\n");
    let molecules = whole(closed).unwrap();
    assert_eq!(texts(&molecules), ["C2H6", "H2O"]);
    assert!(
        molecules.rejected[0]
            .what
            .starts_with("a field of more than 16384 bytes")
    );
}

#[test]
fn the_budget_is_kept_at_every_size() {
    let mut list = "id,name,formula\n".to_owned();
    for n in 1..2000 {
        writeln!(list, "id{n},a name of molecule {n},C{}H{n}", n % 40 + 1).unwrap();
    }
    let outcome = |memory: u64| {
        let mut reader = Reader::new("list", memory);
        for piece in list.as_bytes().chunks(100) {
            if reader.push(piece).is_err() {
                break;
            }
            assert!(reader.held() <= memory);
        }
        let peak = reader.peak();
        assert!(peak <= memory);
        (reader.finish(), peak)
    };
    let (plenty, peak) = outcome(1 << 22);
    let plenty = plenty.unwrap();
    assert!(
        peak > 200_000 && plenty.bytes() < 1 << 20,
        "{peak} {}",
        plenty.bytes()
    );
    let mut fits = 0;
    for memory in (0..1 << 20).step_by(50_000) {
        match outcome(memory).0 {
            Ok(molecules) => {
                assert_eq!(molecules, plenty);
                fits += 1;
            }
            Err(Error::Budget { need, have, .. }) => assert!(need > have && have <= memory),
            Err(error) => panic!("{error}"),
        }
    }
    assert!((1..20).contains(&fits), "{fits}");
}

#[test]
fn an_error_is_given_again() {
    let mut reader = Reader::new("list", 1 << 20);
    let error = reader.push(b"a,b\n").unwrap_err();
    assert_eq!(reader.push(b"formula\n"), Err(error.clone()));
    assert_eq!(reader.finish(), Err(error));
}

#[test]
fn formulas_are_sorted_and_each_is_there_once() {
    let molecules = whole("formula,name\nH2O,c\nCH4,b\nOH2,d\nC2H6,a\nH2O,e\nH4C,f\n").unwrap();
    assert_eq!(texts(&molecules), ["C2H6", "CH4", "H2O"]);
    let names = |at: usize| -> Vec<&str> {
        let molecules = molecules.of(at).iter();
        molecules
            .map(|molecule| molecule.name.as_deref().unwrap())
            .collect()
    };
    assert_eq!(
        [names(0), names(1), names(2)],
        [vec!["a"], vec!["b", "f"], vec!["c", "d", "e"]]
    );
    assert_eq!(molecules.of(3), []);
    assert_eq!(molecules.molecules.len(), 6);
    assert_eq!(
        molecules.warnings,
        ["formulas written in several ways, each of which is looked for once: 2"]
    );
}

fn shared() -> Option<PathBuf> {
    let shared = std::env::var_os("SECTILE_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"),
        PathBuf::from,
    );
    let lists = shared.join("data/molecules");
    if !lists.is_dir() {
        println!("skipped: {} is not there", lists.display());
        return None;
    }
    Some(lists)
}

fn real(path: &Path, size: usize) -> Result<Molecules, Error> {
    let mut reader = Reader::new("list", 64 << 20);
    for piece in std::fs::read(path).unwrap().chunks(size) {
        reader.push(piece)?;
    }
    reader.finish()
}

#[test]
fn real_lists_are_read_whole() {
    let Some(lists) = shared() else {
        return;
    };
    for (name, separator, rows, formulas) in [
        ("CoreMetabolome-v3.csv", Separator::Comma, 11_363, 2386),
        ("lipidmaps_2017-12-12-v2.tsv", Separator::Tab, 42_021, 7354),
    ] {
        let molecules = real(&lists.join(name), 65_536).unwrap();
        assert_eq!(molecules.separator, separator);
        assert_eq!(
            (molecules.rows, molecules.rejected_rows),
            (rows, 0),
            "{:?}",
            molecules.rejected
        );
        assert_eq!(molecules.formulas.len(), formulas);
        assert_eq!(molecules.molecules.len() as u64, rows);
        assert!(
            molecules
                .molecules
                .iter()
                .all(|molecule| molecule.id.is_some() && molecule.name.is_some())
        );
        assert_eq!(molecules.warnings, [""; 0]);
        assert!(
            molecules
                .formulas
                .iter()
                .all(|formula| formula.text == formula.composition.hill())
        );
        assert!(real(&lists.join(name), 1).unwrap() == molecules);
    }
}

#[test]
fn real_faulty_lists_tell_what_is_wrong() {
    let Some(lists) = shared() else {
        return;
    };
    let lists = lists.join("moldbs");
    let read = |name: &str| real(&lists.join(name), 100);
    let sound = read("moldb.csv").unwrap();
    assert_eq!(
        (sound.rows, sound.rejected_rows, sound.separator),
        (3, 0, Separator::Tab)
    );
    // Commas where tabs are usual: all is found nevertheless.
    let commas = read("db-wrong-sep.csv").unwrap();
    assert_eq!(
        (commas.rows, commas.rejected_rows, commas.separator),
        (3, 0, Separator::Comma)
    );
    let empty = read("db-empty-values.csv").unwrap();
    assert_eq!(empty.rows, 3);
    let wrong = read("db-wrong-formulas.csv").unwrap();
    assert_eq!(wrong.rejected[0].line, 2);
    assert_eq!(wrong.rejected[0].text, "C54H102O6XYZ");
    assert_eq!(
        wrong.rejected[0].what,
        "character 10: \"X\" is not an element"
    );
    let error = read("db-missing-columns.csv").unwrap_err().to_string();
    assert!(
        error.contains("the columns are \"id\", \"name\", \"inchi\""),
        "{error}"
    );
    for list in [empty, wrong] {
        println!("{}", shown(&list));
    }
}

fn field() -> impl Strategy<Value = String> {
    "[A-Za-z0-9 ,;\"\n\r\té()#']{0,12}"
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn quoted_fields_come_back_whole(
        rows in prop::collection::vec((field(), field(), "(C[1-9])?H[1-9]"), 1..12),
        separator in prop::sample::select(vec![',', ';', '\t']),
        end in prop::sample::select(vec!["\n", "\r\n", "\r"]),
        size in 1..40_usize,
    ) {
        let mut list = format!("name{separator}formula{separator}id{end}");
        for (name, id, formula) in &rows {
            let [name, id] = [name, id].map(|text| quoted(text));
            write!(list, "{name}{separator}{formula}{separator}{id}{end}").unwrap();
        }
        let molecules = read(list.as_bytes(), size).unwrap();
        assert_eq!((molecules.rows, molecules.rejected_rows), (rows.len() as u64, 0));
        for (at, formula) in molecules.formulas.iter().enumerate() {
            let expected = rows.iter().filter(|row| composition(&row.2) == formula.composition);
            let found = molecules.of(at).iter();
            for (found, expected) in found.zip(expected) {
                let text = |text: &Option<String>| text.clone().unwrap_or_default();
                assert_eq!((text(&found.name).as_str(), text(&found.id).as_str()), (expected.0.trim(), expected.1.trim()));
            }
        }
    }

    #[test]
    fn pieces_make_no_difference(
        head in prop::sample::select(vec!["", "formula,name\n", "# x\nid;sf\n", "\u{feff}name\tformula\r\n"]),
        body in prop::collection::vec(prop::sample::select(vec![
            "H2O", "C6H12O6", "Xx", ",", ";", "\t", "\"", "\n", "\r\n", "\r", " ", "#", "\u{e9}", "(", "é\"\"",
        ]), 0..60),
        latin in prop::bool::ANY,
        cuts in prop::collection::vec(1..20_usize, 1..20),
    ) {
        let text = format!("{head}{}", body.concat());
        let bytes: Vec<u8> = if latin {
            text.chars().map(|letter| u8::try_from(u32::from(letter)).unwrap_or(b'?')).collect()
        } else {
            text.into_bytes()
        };
        let expected = read(&bytes, usize::MAX);
        assert_eq!(read(&bytes, 1), expected);
        let mut reader = Reader::new("list", 1 << 20);
        let mut rest = bytes.as_slice();
        for cut in cuts.iter().cycle() {
            let (piece, after) = rest.split_at(rest.len().min(*cut));
            // After an error the rest makes no difference.
            let _ = reader.push(piece);
            rest = after;
            if rest.is_empty() {
                break;
            }
        }
        assert_eq!(reader.finish(), expected);
        if let Ok(molecules) = &expected {
            let kept = molecules.molecules.len() as u64;
            assert_eq!(kept + molecules.rejected_rows, molecules.rows);
            assert!(molecules.formulas.is_sorted_by(|a, b| a.text < b.text));
            for formula in &molecules.formulas {
                assert_eq!(composition(&formula.text), formula.composition);
            }
        }
    }
}

#[test]
fn the_lists_of_the_vectors_have_every_kind_of_row() {
    let all: String = LISTS.iter().map(|(_, expected)| *expected).collect();
    for part in [
        "comma",
        "semicolon",
        "none",
        "Latin-1",
        "rejected",
        "several ways",
        "never closed",
    ] {
        assert!(all.contains(part), "{part}");
    }
}
