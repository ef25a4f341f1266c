//! Formulas, isotopes and adducts.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::panic,
    clippy::float_cmp,
    reason = "a test; each file uses a part of the cases"
)]

mod formula_vectors;

use formula_vectors::{composition, modifier};
use proptest::prelude::{ProptestConfig, Strategy, prop, proptest};
use sectile::ion::formula::element::{ELECTRON, Element};
use sectile::ion::formula::modifier::Modifier;
use sectile::ion::formula::{Atom, Composition, MOST_ATOMS};

#[test]
fn isotopes_are_the_golden_ones() {
    formula_vectors::isotopes_are_the_golden_ones();
}

#[test]
fn charges_have_their_electrons() {
    formula_vectors::charges_have_their_electrons();
}

#[test]
fn formulas_have_their_atoms() {
    formula_vectors::formulas_have_their_atoms();
}

#[test]
fn bad_formulas_are_refused() {
    formula_vectors::bad_formulas_are_refused();
}

#[test]
fn ions_are_the_golden_ones() {
    formula_vectors::ions_are_the_golden_ones();
}

#[test]
fn elements_are_found_by_their_symbols_only() {
    assert_eq!(Element::of("Co").unwrap().index(), 26);
    for unknown in ["", "co", "CO", "D", "T", "Xx", "é"] {
        assert_eq!(Element::of(unknown), None, "{unknown}");
    }
    assert_eq!(Element::at(Element::COUNT), None);
    for index in 0..Element::COUNT {
        let element = Element::at(index).unwrap();
        assert_eq!(Element::of(element.symbol()), Some(element));
        let atom = Atom::natural(element);
        assert_eq!((atom.element(), atom.number()), (element, None));
        assert_eq!(atom.isotopes(), element.isotopes());
        let sum: f64 = atom.isotopes().iter().map(|one| one.abundance).sum();
        assert!((sum - 1.0).abs() < 1e-3, "{element:?} {sum}");
        for isotope in element.isotopes() {
            let stated = Atom::stated(element, isotope.number()).unwrap();
            assert_eq!(stated.isotopes(), [*isotope]);
            assert_eq!(stated.number(), Some(isotope.number()));
            assert_eq!(stated.mass(), isotope.mass);
            assert!(stated > atom && stated.element() == element);
        }
    }
}

#[test]
fn a_repeated_element_is_added() {
    for (text, sum) in [
        ("CH3CH2OH", "C2H6O"),
        ("HOCH2CH2OH", "C2H6O2"),
        ("C6.H12=O6", "C6H12O6"),
        ("CuSO4.5H2O", "H10O9SCu"),
        ("CuSO4·5H2O", "H10O9SCu"),
        ("[Fe(CN)6]K4", "C6N6FeK4"),
        (" NaCl\t", "ClNa"),
        ("C₆H₁₂O₆", "C6H12O6"),
    ] {
        assert_eq!(composition(text).to_string(), sum, "{text}");
    }
}

#[test]
fn stated_isotopes_are_kinds_of_their_own() {
    for (text, shown) in [
        ("[13C]6H12O6", "[13C]6H12O6"),
        ("[13C6]H12O6", "[13C]6H12O6"),
        ("C[13C2]3C2", "C3[13C]6"),
        ("CD3OD", "C[2H]4O"),
        ("([13C]H3)2Dy", "[13C]2H6Dy"),
        ("[12C]", "[12C]"),
    ] {
        assert_eq!(composition(text).to_string(), shown, "{text}");
    }
    let labelled = composition("[13C]6H12O6");
    assert!((labelled.mass() - composition("C6H12O6").mass() - 6.0 * 1.003_354_84).abs() < 1e-9);
    assert_ne!(composition("[12C]"), composition("C"));
}

#[test]
fn a_fault_says_where_and_why() {
    for (text, shown) in [
        ("C6H12Ox6", "character 6: \"Ox\" is not an element"),
        ("  C6H12Ox6", "character 8: \"Ox\" is not an element"),
        ("é", "character 1: 'é' is not part of a formula"),
        ("CÉ", "character 2: 'É' is not part of a formula"),
        ("CHé2", "character 3: 'é' is not part of a formula"),
        (
            "[14C]2",
            "character 4: the isotopes of C are 12, 13; there is no 14",
        ),
        (
            "[13C2H]",
            "character 1: a bracket that begins with a number holds one isotope, as [13C]6 or [13C6]",
        ),
        (
            "[13]",
            "character 4: an isotope's symbol is missing; write for instance [13C]6",
        ),
        ("[0C]", "character 2: a count of 0"),
        (
            "13C",
            "character 1: a number with nothing to count before it; isotopes are written as [13C]6",
        ),
        (
            "(13C)6",
            "character 2: a number with nothing to count before it; isotopes are written as [13C]6",
        ),
        ("C(H]2", "character 4: ']' where ')' has to come"),
        ("C()2", "character 2: a group without atoms"),
        ("C(H.O)", "character 2: a group that ')' does not close"),
        (".C", "character 1: '.' with nothing before it"),
        ("C..H", "character 3: no atoms between two \".\""),
        ("C.2", "character 4: no atoms after the last \".\""),
        ("C=", ""),
        ("==", "character 3: there are no atoms"),
        (
            "C-2",
            "character 2: a charge; leave it out, and state it by the adduct ([M]+, [M]-)",
        ),
        (
            "C6H12O6−",
            "character 8: a charge; leave it out, and state it by the adduct ([M]+, [M]-)",
        ),
        (
            "NH4+Cl",
            "character 4: '+' is not part of a formula; adducts are given separately",
        ),
        ("C100001", "character 2: more than 100000 atoms of one kind"),
        (
            "(C50001)2",
            "character 9: more than 100000 atoms of one kind",
        ),
        ("C60000H2C60000", "character 1: more than 100000 atoms of C"),
        ("C*", "character 2: '*' is not part of a formula"),
        ("[M+H]+", "character 2: \"M\" is not an element"),
    ] {
        let found =
            Composition::parse(text).map_or_else(|fault| fault.to_string(), |_| String::new());
        assert_eq!(found, shown, "{text}");
    }
    let deep = |depth: usize| format!("{}C{}", "(".repeat(depth), ")".repeat(depth));
    assert_eq!(composition(&deep(32)).to_string(), "C");
    let fault = Composition::parse(&deep(33)).unwrap_err();
    assert_eq!(
        fault.to_string(),
        "character 33: groups are nested more than 32 deep"
    );
    // Counts that multiply on and on are refused where they pass the limit.
    let many = format!("{}C{}", "(".repeat(20), ")9".repeat(20));
    assert_eq!(
        Composition::parse(&many).unwrap_err().at,
        20 + 1 + 2 * 5 + 1
    );
}

#[test]
fn modifiers_are_shown_without_brackets() {
    for (text, shown, charge, loss, adduct) in [
        ("", "", None, "", ""),
        ("+H", "+H", None, "", "+H"),
        ("-H", "-H", None, "", "-H"),
        ("-H2O+H", "-H2O+H", None, "-H2O", "+H"),
        ("-H2O-H", "-H2O-H", None, "-H2O", "-H"),
        ("-H2O-NH3+Na", "-H2O-NH3+Na", None, "-H2O-NH3", "+Na"),
        ("+K-H", "+K-H", None, "", "+K-H"),
        ("+2Na-H", "+2Na-H", None, "", "+2Na-H"),
        ("[M]+", "[M]+", Some(1), "", "[M]+"),
        ("[M]-", "[M]-", Some(-1), "", "[M]-"),
        ("[M+Na]+", "+Na", Some(1), "", "+Na"),
        ("[M-H]-", "-H", Some(-1), "", "-H"),
        (" [M−H]− ", "-H", Some(-1), "", "-H"),
        ("[M-H2O+H]1+", "-H2O+H", Some(1), "-H2O", "+H"),
        ("-H2O[M]+", "-H2O[M]+", Some(1), "-H2O", "[M]+"),
        ("+NH4", "+NH4", None, "", "+NH4"),
        ("+[13C]-C", "+[13C]-C", None, "", "+[13C]-C"),
        ("+ H - H2O", "+H-H2O", None, "", "+H-H2O"),
    ] {
        let found = modifier(text);
        assert_eq!(found.to_string(), shown, "{text}");
        assert_eq!(found.charge(), charge, "{text}");
        assert_eq!(found.loss().to_string(), loss, "{text}");
        assert_eq!(found.adduct().to_string(), adduct, "{text}");
        let joined = Modifier::join(&found.loss(), &found.adduct());
        assert_eq!(joined, found, "{text}");
        assert_eq!(modifier(shown).to_string(), shown, "{text}");
        let glucose = composition("C6H12N2O6K");
        assert_eq!(
            modifier(shown).apply(&glucose),
            found.apply(&glucose),
            "{text}"
        );
    }
}

#[test]
fn modifiers_are_refused_with_the_place() {
    for (text, shown) in [
        (
            "H",
            "character 1: 'H' where + or - has to come, as in +Na or -H2O+H",
        ),
        (
            "+h",
            "character 2: no element begins with a small letter ('h')",
        ),
        ("+Cx2", "character 2: \"Cx\" is not an element"),
        ("+", "character 2: there is no formula"),
        ("+H-", "character 4: there is no formula"),
        ("+2", "character 3: there are no atoms"),
        ("+H--H", "character 4: there is no formula"),
        ("-H2O+Xx", "character 6: \"Xx\" is not an element"),
        ("[M+Xx]+", "character 4: \"Xx\" is not an element"),
        ("[M+H", "character 1: a bracket that \"]\" does not close"),
        (
            "[M+H]",
            "character 6: the charge is missing after the bracket, as in [M+Na]+",
        ),
        (
            "[M+2H]2+",
            "character 7: \"2+\" is not a charge of 1 or -1, written + or -",
        ),
        (
            "[2M+H]+",
            "character 2: one molecule M has to come first, as in [M+Na]+",
        ),
        (
            "+13C",
            "character 2: a number above 9 in front; an isotope is written as [13C]",
        ),
        ("+H+", "character 4: there is no formula"),
        (
            "M+H",
            "character 1: 'M' where + or - has to come, as in +Na or -H2O+H",
        ),
    ] {
        let found = Modifier::parse(text)
            .map_or_else(|fault| fault.to_string(), |found| format!("{found:?}"));
        assert_eq!(found, shown, "{text}");
    }
}

#[test]
fn parts_are_applied_in_their_order() {
    let ethanol = composition("C2H6O");
    let apply = |text: &str, to: &str| {
        let ion = modifier(text).apply(&composition(to));
        ion.map(|ion| ion.to_string())
    };
    assert_eq!(apply("-H10+H10", "C2H6O"), None);
    assert_eq!(apply("+H10-H10", "C2H6O").unwrap(), "C2H6O");
    assert_eq!(apply("-H2O+H", "H2O").unwrap(), "H");
    assert_eq!(apply("-H2O", "H2O"), None);
    assert_eq!(apply("-Na", "C2H6O"), None);
    assert_eq!(apply("-H", "CD4"), None);
    assert_eq!(apply("-D", "CD4").unwrap(), "C[2H]3");
    assert_eq!(apply("-2H2O+H", "C6H12O6").unwrap(), "C6H9O4");
    assert_eq!(modifier("").apply(&ethanol), Some(ethanol.clone()));
    assert_eq!(modifier("[M]+").apply(&ethanol), Some(ethanol.clone()));
    assert_eq!(
        modifier("+H").apply(&composition(&format!("H{MOST_ATOMS}"))),
        None
    );
    // Adduct ions are told apart from molecules by their charge alone.
    assert!((composition("H").mass() - ELECTRON - 1.007_276_452).abs() < 1e-8);
}

fn atoms() -> impl Strategy<Value = Vec<(usize, u32, bool)>> {
    prop::collection::vec(
        (0..Element::COUNT, 1..40_u32, prop::bool::weighted(0.2)),
        1..12,
    )
}

/// A formula as it may be written, with kinds repeated.
fn written(atoms: &[(usize, u32, bool)]) -> String {
    let texts = atoms.iter().map(|(index, count, stated)| {
        let element = Element::at(*index).unwrap();
        let atom = if *stated {
            Atom::stated(element, element.isotopes()[0].number()).unwrap()
        } else {
            Atom::natural(element)
        };
        format!("{atom}{count}")
    });
    texts.collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_shown_is_read_again(atoms in atoms()) {
        let text = written(&atoms);
        let found = composition(&text);
        let counts: u32 = found.atoms().iter().map(|(_, count)| count).sum();
        assert_eq!(counts, atoms.iter().map(|(_, count, _)| count).sum::<u32>());
        assert!(found.atoms().is_sorted_by(|a, b| a.0 < b.0));
        assert_eq!(composition(&found.to_string()), found);
        assert_eq!(composition(&found.hill()), found);
    }

    #[test]
    fn compositions_add_up(one in atoms(), other in atoms(), times in 1..9_u32) {
        let [a, b] = [&one, &other].map(|atoms| written(atoms));
        let sum = composition(&a).plus(&composition(&b)).unwrap();
        assert_eq!(composition(&format!("{a}{b}")), sum);
        assert_eq!(composition(&format!("{b}.{a}")), sum);
        let nested = composition(&format!("({a}[{b}]){times}"));
        let dotted = composition(&format!("H.{times}{a}{b}"));
        assert_eq!(composition("H").plus(&nested).unwrap(), dotted);
        for (atom, count) in sum.atoms() {
            assert_eq!(nested.count(*atom), count * times);
        }
        assert!((nested.mass() - f64::from(times) * sum.mass()).abs() < 1e-6);
        assert_eq!(modifier(&format!("+{b}-{a}")).apply(&composition(&a)), Some(composition(&b)));
    }

    #[test]
    fn no_text_makes_a_panic(text in "[A-Zac-o0-9()\\[\\].=+\\- é−₂]{0,24}") {
        let faults = [Composition::parse(&text).err(), Modifier::parse(&text).err()];
        for fault in faults.into_iter().flatten() {
            assert!(fault.at <= text.chars().count(), "{text:?} {fault}");
        }
        if let Ok(found) = Modifier::parse(&text) {
            let again = modifier(&found.to_string());
            assert_eq!(again.to_string(), found.to_string());
            let molecule = composition("C60H60N60O60");
            assert_eq!(again.apply(&molecule), found.apply(&molecule));
        }
    }
}
