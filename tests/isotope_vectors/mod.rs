//! Patterns of METASPACE's library for 26 ions: the same vectors natively and in a browser.

use sectile::ion::formula::Composition;
use sectile::ion::isotope::{Analyzer, Generation, Instrument, Pattern, Patterns};
use sectile::ion::scoring::Scoring;
use serde_json::Value;

const HALF_WIDTHS: &str = include_str!("../golden/imaging-ms/mass_window_half_width.json");
const GOLDEN: &str = include_str!("../golden/imaging-ms/isotope_patterns.json");

/// How far from the golden pattern one is: the largest differences of m/z and of intensities (0 to 100).
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Worst {
    pub(crate) mz: f64,
    pub(crate) intensity: f64,
    pub(crate) patterns: u32,
}

impl Worst {
    fn add(&mut self, mz: f64, intensity: f64) {
        self.mz = self.mz.max(mz.abs());
        self.intensity = self.intensity.max(intensity.abs());
    }
}

/// The charge, and the ion.
fn ion(entry: &Value) -> (i8, Composition) {
    let formula = entry["ion_formula"].as_str().unwrap();
    let charge = entry["charge"].as_i64().unwrap();
    (
        i8::try_from(charge).unwrap(),
        Composition::parse(formula).unwrap(),
    )
}

fn numbers(value: &Value) -> Vec<f64> {
    let values = value.as_array().unwrap().iter();
    values.map(|value| value.as_f64().unwrap()).collect()
}

/// Compares all patterns of a generation.
pub(crate) fn patterns(generation: Generation) -> Worst {
    let golden: Value = serde_json::from_str(GOLDEN).unwrap();
    let mut worst = Worst::default();
    for entry in golden.as_array().unwrap() {
        let (charge, ion) = ion(entry);
        for expected in entry["centroids"].as_array().unwrap() {
            let older = expected["version"].as_str().unwrap().starts_with("v1");
            if older != (generation == Generation::Older) {
                continue;
            }
            let analyzer: Analyzer = expected["instrument"].as_str().unwrap().parse().unwrap();
            let sigma = expected["sigma"].as_f64().unwrap();
            let instrument = Instrument::of_sigma(analyzer, sigma).unwrap();
            let mut patterns = Patterns::new(instrument, generation, charge).unwrap();
            let pattern = patterns.pattern(&ion).unwrap();
            let (mz, intensity) = (numbers(&expected["mz"]), numbers(&expected["int"]));
            let name = format!("{ion} {analyzer} {sigma}");
            assert_eq!(
                mz.iter().filter(|mz| **mz > 0.0).count(),
                usize::from(pattern.peaks),
                "{name}"
            );
            for peak in 0..4 {
                let at = |list: &[f64]| list.get(peak).copied().unwrap_or(0.0);
                worst.add(
                    pattern.mz[peak] - at(&mz),
                    pattern.intensity[peak] - at(&intensity),
                );
            }
            let lowest = patterns.lowest(&ion);
            assert!(
                lowest <= pattern.mz[0],
                "{name}: {lowest} > {}",
                pattern.mz[0]
            );
            worst.patterns += 1;
        }
    }
    worst
}

/// Compares the isotopologues before centroiding; intensities are relative to 1 here.
pub(crate) fn isotopologues(generation: Generation) -> Worst {
    let golden: Value = serde_json::from_str(GOLDEN).unwrap();
    let instrument = Instrument::new(Analyzer::Orbitrap, 140_000.0).unwrap();
    let mut worst = Worst::default();
    for entry in golden.as_array().unwrap() {
        let (charge, ion) = ion(entry);
        let raw = &entry["raw_pattern_0_4_2_rel_thr_1e-4_charged"];
        let expected = numbers(&raw["mz"]).into_iter().zip(numbers(&raw["int"]));
        let mut expected: Vec<(f64, f64)> = expected.collect();
        expected.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut patterns = Patterns::new(instrument, generation, charge).unwrap();
        let found = patterns.isotopologues(&ion).unwrap();
        assert_eq!(found.len(), expected.len(), "{ion}");
        for (found, expected) in found.iter().zip(expected) {
            worst.add(found.mz - expected.0, found.share - expected.1);
        }
        worst.patterns += 1;
    }
    worst
}

/// What a browser and a machine must agree about: see [`hash`].
pub(crate) const HASH: u64 = 5_851_256_492_057_598_109;

/// One number out of the bits of many patterns, which a browser must find too.
pub(crate) fn hash() -> u64 {
    let golden: Value = serde_json::from_str(GOLDEN).unwrap();
    let mut hash = 0xCBF2_9CE4_8422_2325_u64;
    for generation in [Generation::Current, Generation::Older] {
        for analyzer in Analyzer::ALL {
            let instrument = Instrument::new(analyzer, 140_000.0).unwrap();
            for entry in golden.as_array().unwrap() {
                let (charge, ion) = ion(entry);
                let mut patterns = Patterns::new(instrument, generation, charge).unwrap();
                let Pattern { mz, intensity, .. } = patterns.pattern(&ion).unwrap();
                for value in mz
                    .into_iter()
                    .chain(intensity)
                    .chain([patterns.lowest(&ion)])
                {
                    hash = (hash ^ value.to_bits()).wrapping_mul(0x0100_0000_01B3);
                }
            }
        }
    }
    hash
}

/// Compares all half widths of windows, and says how many there were.
pub(crate) fn half_widths() -> usize {
    let golden: Value = serde_json::from_str(HALF_WIDTHS).unwrap();
    let golden = golden.as_array().unwrap();
    for entry in golden {
        let number = |name: &str| entry[name].as_f64().unwrap();
        let analyzer: Analyzer = entry["instrument"].as_str().unwrap().parse().unwrap();
        let found = Scoring::V2.half_width(analyzer, number("mz"), number("ppm"));
        let expected = number("half_width");
        assert!(
            (found - expected).abs() <= 4e-16 * expected,
            "{entry}: {found}"
        );
    }
    golden.len()
}
