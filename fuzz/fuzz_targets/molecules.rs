//! Whatever the bytes, a molecule list is read or refused, the same however it is cut and within its
//! memory; formulas and adducts are read or refused, and what is read is shown as what is read again.
//!
//! `cargo fuzz run molecules fuzz/corpus/molecules tests/data/formulas -- -dict=fuzz/molecules.dict`
//! (on a stable toolchain with `RUSTC_BOOTSTRAP=1` in the environment).

#![no_main]

use libfuzzer_sys::fuzz_target;
use sectile::error::Result;
use sectile::ion::database::{Molecules, Reader};
use sectile::ion::formula::modifier::Modifier;
use sectile::ion::formula::{Composition, MOST_ATOMS};

const MEMORY: u64 = 1 << 20;

/// Reads a list in pieces whose lengths follow from `seed`; without one, whole.
fn read(list: &[u8], memory: u64, seed: Option<u64>) -> Result<Molecules> {
    let mut reader = Reader::new("fuzz.csv", memory);
    sectile_fuzz::push(list, seed, |part| {
        reader.push(part)?;
        assert!(reader.peak() <= memory);
        Ok(())
    });
    reader.finish()
}

fn check(molecules: &Molecules) {
    let kept = molecules.molecules.len() as u64;
    assert!(kept > 0 && kept + molecules.rejected_rows == molecules.rows);
    assert!(molecules.rejected.len() as u64 <= molecules.rejected_rows);
    assert!(molecules.formulas.is_sorted_by(|a, b| a.text < b.text));
    let mut next = 0;
    for formula in &molecules.formulas {
        assert!(formula.molecules.start == next && formula.molecules.end > next);
        next = formula.molecules.end;
        assert!(Composition::parse(&formula.text).as_ref() == Ok(&formula.composition));
    }
    assert!(u64::from(next) == kept);
}

fn formula(text: &str) {
    match Composition::parse(text) {
        Err(fault) => assert!(fault.at <= text.chars().count() && !fault.what.is_empty()),
        Ok(found) => {
            let sound = |count: u32| (1..=MOST_ATOMS).contains(&count);
            assert!(!found.atoms().is_empty());
            assert!(found.atoms().iter().all(|(_, count)| sound(*count)));
            assert!(found.mass() > 1.0);
            for shown in [found.to_string(), found.hill()] {
                assert!(Composition::parse(&shown).as_ref() == Ok(&found));
            }
        }
    }
}

fn modifier(text: &str, molecule: &str) {
    let Ok(found) = Modifier::parse(text) else {
        return;
    };
    let shown = found.to_string();
    let again = Modifier::parse(&shown).expect("what is shown is read");
    assert!(again.to_string() == shown);
    assert!(Modifier::join(&found.loss(), &found.adduct()) == found);
    if let Ok(molecule) = Composition::parse(molecule) {
        let ion = found.apply(&molecule);
        assert!(again.apply(&molecule) == ion);
        let in_turn = found.loss().apply(&molecule);
        let in_turn = in_turn.and_then(|part| found.adduct().apply(&part));
        assert!(in_turn.is_none() || in_turn == ion);
    }
}

fuzz_target!(|bytes: &[u8]| {
    let seed = sectile_fuzz::seed(bytes);
    let whole = read(bytes, MEMORY, None);
    assert!(read(bytes, MEMORY, Some(seed)) == whole);
    if let Ok(molecules) = &whole {
        check(molecules);
    }
    // So little that some lists do not fit.
    let small = seed % 16_384;
    assert!(read(bytes, small, None) == read(bytes, small, Some(seed)));
    let text = String::from_utf8_lossy(bytes);
    for line in text.lines() {
        formula(line);
        let (molecule, adduct) = line.split_once(' ').unwrap_or((line, line));
        modifier(adduct, molecule);
    }
});
