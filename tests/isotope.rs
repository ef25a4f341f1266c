//! Isotope patterns: those of METASPACE's library, at every resolving power, and bounds that hold.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::unreadable_literal,
    clippy::float_cmp,
    reason = "a test"
)]

mod isotope_cases;
mod isotope_vectors;

use isotope_cases::Dice;
use isotope_vectors::{HASH, Worst, half_widths, hash, isotopologues, patterns};
use sectile::error::Error;
use sectile::ion::formula::Composition;
use sectile::ion::formula::modifier::Modifier;
use sectile::ion::isotope::{Analyzer, Generation, Instrument, MOST_ISOTOPOLOGUES, Patterns};
use sectile::ion::scoring::Scoring;

const GENERATIONS: [Generation; 2] = [Generation::Current, Generation::Older];

fn within(worst: Worst, count: u32, mz: f64, intensity: f64) {
    println!("{worst:?}");
    assert_eq!(worst.patterns, count);
    assert!(worst.mz <= mz && worst.intensity <= intensity, "{worst:?}");
}

fn orbitrap(generation: Generation, charge: i8) -> Patterns {
    let instrument = Instrument::new(Analyzer::Orbitrap, 140_000.0).unwrap();
    Patterns::new(instrument, generation, charge).unwrap()
}

#[test]
fn isotopologues_are_the_librarys() {
    for generation in GENERATIONS {
        within(isotopologues(generation), 26, 1e-12, 1e-12);
    }
}

#[test]
fn patterns_are_the_librarys() {
    within(patterns(Generation::Current), 26 * 15, 1e-10, 1e-6);
}

#[test]
fn patterns_of_the_older_generation_are_the_older_librarys() {
    within(patterns(Generation::Older), 26 * 5, 1e-11, 1e-8);
}

#[test]
fn half_widths_are_metaspaces() {
    assert_eq!(half_widths(), 45);
    for scoring in [Scoring::V1, Scoring::V3] {
        for analyzer in Analyzer::ALL {
            assert_eq!(
                scoring.half_width(analyzer, 885.5498, 3.0),
                885.5498 * 3.0 * 1e-6
            );
        }
    }
}

#[test]
fn the_same_bits_everywhere() {
    assert_eq!(hash(), HASH);
}

/// The walk that leaps over empty space and draws stretches at once, beside one that takes every step.
#[test]
fn random_ions_are_as_the_rules_say() {
    let mut dice = Dice(42);
    let mut most = 0;
    for round in 0..150 {
        let ion = dice.ion();
        let charge = dice.of(&[1, -1]);
        let expected = isotope_cases::isotopologues(&ion, charge);
        let instrument = dice.instrument();
        let generation = GENERATIONS[round % 2];
        let mut all = Patterns::new(instrument, generation, charge).unwrap();
        let found = all.isotopologues(&ion).unwrap();
        assert_eq!(found.len(), expected.len(), "{ion}");
        for (found, expected) in found.iter().zip(&expected) {
            assert!(
                (found.mz - expected.mz).abs() < 1e-10,
                "{ion}: {found:?} {expected:?}"
            );
        }
        most = most.max(found.len());
        let found = all.pattern(&ion).unwrap();
        let expected = isotope_cases::pattern(&ion, instrument, generation, charge);
        assert_eq!(
            usize::from(found.peaks),
            expected.len(),
            "{ion} {instrument:?}"
        );
        for (peak, (mz, intensity)) in expected.iter().enumerate() {
            let differ = [found.mz[peak] - mz, found.intensity[peak] - intensity];
            assert!(
                differ[0].abs() < 2e-10 && differ[1].abs() < 1e-7,
                "{ion} {instrument:?}: {differ:?}"
            );
        }
        assert!(found.mz[expected.len()..].iter().all(|mz| *mz == 0.0));
    }
    assert!(most > 300, "{most} isotopologues at most say little");
}

/// What decides on which ions share a batch: it must never be above a peak.
#[test]
fn no_peak_is_below_the_lower_bound() {
    let mut dice = Dice(7);
    let mut far: f64 = 0.0;
    for _ in 0..4000 {
        let ion = dice.ion();
        for generation in GENERATIONS {
            let charge = dice.of(&[1, -1]);
            let instrument = dice.instrument();
            let mut patterns = Patterns::new(instrument, generation, charge).unwrap();
            let pattern = patterns.pattern(&ion).unwrap();
            let lowest = patterns.lowest(&ion);
            assert!(
                lowest < pattern.mz[0],
                "{ion} {instrument:?} {generation:?}: {lowest} {pattern:?}"
            );
            far = far.max(pattern.mz[0] - lowest);
        }
    }
    // Of two tin atoms and many carbon atoms the lightest isotopologues are too rare to be among four peaks.
    assert!(far < 60.0, "{far} is a useless bound");
}

/// Caches that are dropped, and scratch that is used again, must not show.
#[test]
fn a_pattern_does_not_depend_on_those_before() {
    let mut dice = Dice(3);
    let mut used = orbitrap(Generation::Current, 1);
    for count in 1..6000 {
        assert!(used.lowest(&isotope_cases::atoms("C", count)) > 0.0);
    }
    for _ in 0..200 {
        let ion = dice.ion();
        let fresh = orbitrap(Generation::Current, 1).pattern(&ion).unwrap();
        assert_eq!(used.pattern(&ion).unwrap(), fresh, "{ion}");
    }
}

/// m/z is (mass - z electrons) / |z|: of eight ions with known m/z (rcdk once forgot the electron).
#[test]
fn an_ion_lacks_its_electron() {
    let known = [
        ("C6H12O6", "[M+Na]+", 1, 203.052609),
        ("C6H12O6", "[M+H]+", 1, 181.070665),
        ("C6H12O6", "[M+K]+", 1, 219.026546),
        ("C6H12O6", "[M-H]-", -1, 179.056112),
        ("C6H12O6", "[M+Cl]-", -1, 215.032789),
        ("C40H74NO8P", "[M+H]+", 1, 728.522482),
        ("C42H82NO8P", "[M+Na]+", 1, 782.567026),
        ("C18H34O2", "[M-H]-", -1, 281.248604),
    ];
    for (formula, adduct, charge, mz) in known {
        let modifier = Modifier::parse(adduct).unwrap();
        let ion = modifier
            .apply(&Composition::parse(formula).unwrap())
            .unwrap();
        let mut patterns = orbitrap(Generation::Current, charge);
        let isotopologues = patterns.isotopologues(&ion).unwrap();
        let most = isotopologues
            .iter()
            .find(|one| one.share == 1.0)
            .unwrap()
            .mz;
        assert!(
            (most - mz).abs() < 5e-6,
            "{formula} {adduct}: {most} for {mz}"
        );
        let lightest = patterns.pattern(&ion).unwrap().mz[0];
        assert!(
            (lightest - mz).abs() < 0.3e-6 * mz,
            "{formula} {adduct}: {lightest} for {mz}"
        );
    }
}

#[test]
fn one_isotopologue_is_one_peak() {
    for text in ["AuP3", "[13C]6[2H]12", "Na"] {
        let ion = Composition::parse(text).unwrap();
        let pattern = orbitrap(Generation::Current, 1).pattern(&ion).unwrap();
        let mass = ion.mass() - 0.00054857990924;
        assert_eq!(
            (pattern.peaks, pattern.intensity),
            (1, [100.0, 0.0, 0.0, 0.0]),
            "{text}"
        );
        assert!((pattern.mz[0] - mass).abs() < 1e-9, "{text}");
        assert_eq!(pattern.mz[1..], [0.0; 3]);
    }
}

/// A stated isotope spreads over nothing.
#[test]
fn labels_shift_a_pattern() {
    let mut patterns = orbitrap(Generation::Current, 1);
    let mut of = |text: &str| {
        let found = patterns
            .isotopologues(&Composition::parse(text).unwrap())
            .unwrap();
        found.to_vec()
    };
    let plain = of("C4H9O6");
    let labelled = of("C4[13C]2H9O6");
    assert_eq!(plain.len(), labelled.len());
    for (plain, labelled) in plain.iter().zip(labelled) {
        assert!((labelled.mz - plain.mz - 2.0 * 13.00335484).abs() < 1e-9);
        assert_eq!(labelled.share, plain.share);
    }
}

#[test]
fn many_isotopologues_are_refused_and_few_of_many_atoms_are_not() {
    let mut patterns = orbitrap(Generation::Current, 1);
    for text in [
        "C200H300Sn40Xe40",
        "Sn100000",
        "C60H80Sn9Xe9Mo9Cd9",
        "C100000H100000N60000",
    ] {
        let ion = Composition::parse(text).unwrap();
        let error = patterns.pattern(&ion).unwrap_err();
        let what = error.to_string();
        assert!(
            matches!(
                error,
                Error::Parameter {
                    name: "formula",
                    ..
                }
            ),
            "{what}"
        );
        assert!(
            what.contains(&MOST_ISOTOPOLOGUES.to_string()) && what.contains("leave it out"),
            "{what}"
        );
        // Still a bound, by which ions may be sorted: the lightest isotopes.
        let lightest: f64 = (ion.atoms().iter())
            .map(|(atom, count)| atom.isotopes()[0].mass * f64::from(*count))
            .sum();
        let lowest = patterns.lowest(&ion);
        assert!(
            lowest > 0.9 * lightest && lowest <= ion.mass(),
            "{lowest} {lightest}"
        );
    }
    for text in ["C100000", "Cl60000", "C2000H3000N300O600S20", "C10H12Sn6"] {
        let pattern = patterns
            .pattern(&Composition::parse(text).unwrap())
            .unwrap();
        assert!(pattern.peaks > 0 && pattern.mz[0] > 0.0, "{text}");
    }
}

#[test]
fn charges_other_than_one_are_refused() {
    let instrument = Instrument::new(Analyzer::Tof, 70_000.0).unwrap();
    for charge in [0, 2, -2, 127, -128] {
        let error = Patterns::new(instrument, Generation::Current, charge).unwrap_err();
        assert!(error.to_string().starts_with("charge: "), "{error}");
    }
}

#[test]
fn instruments_are_of_metaspaces_classes() {
    let sigma = |power: f64| Instrument::new(Analyzer::Orbitrap, power).unwrap().sigma();
    let classes = [
        (1.0, 0.002476),
        (70_000.0, 0.002476),
        (84_999.9, 0.002476),
        (85_000.0, 0.001733),
        (100_000.0, 0.001733),
        (120_000.0, 0.001238),
        (140_000.0, 0.001238),
        (194_999.0, 0.001238),
        (195_000.0, 0.000693),
        (200_000.0, 0.000693),
        (250_000.0, 0.000693),
        (265_000.0, 0.000619),
        (280_000.0, 0.000619),
        (390_000.0, 0.000347),
        (500_000.0, 0.000347),
        (625_000.0, 0.000231),
        (750_000.0, 0.000231),
        (875_000.0, 0.000173),
        (1e6, 0.000173),
        (1e9, 0.000173),
    ];
    for (power, expected) in classes {
        assert_eq!(sigma(power), expected, "{power}");
    }
    // 70,000 at m/z 800 are 140,000 at m/z 200 on an Orbitrap, 280,000 by FTICR.
    let at = |analyzer| Instrument::at(analyzer, 70_000.0, 800.0).unwrap().sigma();
    assert_eq!(Analyzer::ALL.map(at), [0.002476, 0.001238, 0.000619]);
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = Instrument::new(Analyzer::Tof, bad).unwrap_err();
        assert!(
            error.to_string().starts_with("resolving-power: "),
            "{error}"
        );
        assert!(Instrument::at(Analyzer::Tof, 1e5, bad).is_err());
        assert!(Instrument::of_sigma(Analyzer::Tof, bad).is_err());
    }
}

#[test]
fn resolving_powers_fall_as_the_analyzer_has_it() {
    let at = |analyzer, mz| {
        let instrument = Instrument::new(analyzer, 140_000.0).unwrap();
        instrument.resolving_power_at(mz) / instrument.resolving_power()
    };
    assert_eq!(at(Analyzer::Tof, 800.0), 1.0);
    assert!((at(Analyzer::Orbitrap, 800.0) - 0.5).abs() < 1e-12);
    assert!((at(Analyzer::Fticr, 800.0) - 0.25).abs() < 1e-12);
}

#[test]
fn names_of_instruments_tell_analyzers() {
    let known = [
        ("Q Exactive", Analyzer::Orbitrap),
        ("Orbitrap Fusion", Analyzer::Orbitrap),
        ("HF-X", Analyzer::Orbitrap),
        ("exploris 240", Analyzer::Orbitrap),
        ("UHMR", Analyzer::Orbitrap),
        ("solariX FT-ICR", Analyzer::Fticr),
        ("FTICR", Analyzer::Fticr),
        ("LTQ FTMS", Analyzer::Fticr),
        ("timsTOF fleX", Analyzer::Tof),
        ("Synapt G2", Analyzer::Tof),
        ("Xevo", Analyzer::Tof),
        ("SELECT SERIES MRT", Analyzer::Tof),
    ];
    for (name, analyzer) in known {
        assert_eq!(Analyzer::of_instrument(name), Some(analyzer), "{name}");
    }
    for analyzer in Analyzer::ALL {
        assert_eq!(analyzer.to_string().parse::<Analyzer>().unwrap(), analyzer);
    }
    let error = "quadrupole".parse::<Analyzer>().unwrap_err();
    assert!(
        error.to_string().contains("tof, orbitrap, fticr"),
        "{error}"
    );
}

#[test]
fn scorings_have_names() {
    for scoring in Scoring::ALL {
        assert_eq!(scoring.to_string().parse::<Scoring>().unwrap(), scoring);
    }
    assert_eq!(Scoring::default().to_string(), "metaspace-v3");
    assert_eq!(Scoring::V1.generation(), Generation::Older);
    assert_eq!(
        [Scoring::V2, Scoring::V3].map(Scoring::generation),
        [Generation::Current; 2]
    );
    let error = "v3".parse::<Scoring>().unwrap_err();
    assert!(error.to_string().contains("metaspace-v2"), "{error}");
}
