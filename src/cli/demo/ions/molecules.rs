//! What the demo tissue is made of: common metabolites and lipids of animals.

use sectile::ion::formula::Composition;
use sectile::ion::formula::modifier::Modifier;
use sectile::ion::isotope::{Analyzer, Generation, Instrument, Patterns};

use super::isotopes::{self, Peak};
use super::tissue::Pattern::{
    self, Cortex, Everywhere, GreyMatter, Hippocampus, Hypothalamus, LeftToRight, Lesion,
    LesionRim, Rim, Spots, Thalamus, TopToBottom, Ventricles, WhiteMatter,
};
use Adduct::{H, K, Na};

/// What a neutral molecule becomes an ion by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Adduct {
    /// `+H`
    H,
    /// `+Na`
    Na,
    /// `+K`
    K,
}

impl Adduct {
    /// As METASPACE writes it.
    fn text(self) -> &'static str {
        match self {
            H => "+H",
            Na => "+Na",
            K => "+K",
        }
    }
}

/// Name, formula, where it is, its usual intensity there, and the ions it is seen as.
type Molecule = (&'static str, &'static str, Pattern, f64, &'static [Adduct]);

/// Of the instrument, at m/z 200.
const RESOLVING_POWER: f64 = 140_000.0;

/// Forty formulas. Ions within 8 ppm of one another, which no image could tell apart, are avoided.
const MOLECULES: [Molecule; 40] = [
    (
        "gamma-aminobutyric acid",
        "C4H9NO2",
        Hypothalamus,
        4.4e4,
        &[H],
    ),
    ("taurine", "C2H7NO3S", GreyMatter, 6.0e4, &[H, Na, K]),
    ("creatine", "C4H9N3O2", GreyMatter, 1.6e5, &[H, Na, K]),
    ("adenine", "C5H5N5", Hippocampus, 3.0e4, &[H]),
    ("spermidine", "C7H19N3", WhiteMatter, 2.6e4, &[H]),
    ("glutamine", "C5H10N2O3", Cortex, 7.0e4, &[H, Na]),
    ("glutamic acid", "C5H9NO4", GreyMatter, 9.0e4, &[H, K]),
    ("dopamine", "C8H11NO2", Hypothalamus, 2.8e4, &[H]),
    ("histidine", "C6H9N3O2", Everywhere, 5.2e4, &[H]),
    ("carnitine", "C7H15NO3", TopToBottom, 1.1e5, &[H]),
    ("phenylalanine", "C9H11NO2", Everywhere, 6.4e4, &[H]),
    ("arginine", "C6H14N4O2", LeftToRight, 5.2e4, &[H]),
    (
        "N-acetylaspartic acid",
        "C6H9NO5",
        Thalamus,
        4.4e4,
        &[Na, K],
    ),
    ("serotonin", "C10H12N2O", Hypothalamus, 2.6e4, &[H]),
    ("glucose", "C6H12O6", Rim, 1.3e5, &[Na, K]),
    ("tyrosine", "C9H11NO3", LeftToRight, 3.0e4, &[H]),
    ("acetylcarnitine", "C9H17NO4", TopToBottom, 1.2e5, &[H]),
    ("tryptophan", "C11H12N2O2", Lesion, 3.2e4, &[H]),
    (
        "glycerophosphocholine",
        "C8H20NO6P",
        Ventricles,
        9.0e4,
        &[H, Na, K],
    ),
    ("adenosine", "C10H13N5O4", Lesion, 6.0e4, &[H]),
    ("inosine", "C10H12N4O5", Lesion, 4.0e4, &[Na]),
    ("glutathione", "C10H17N3O6S", GreyMatter, 5.0e4, &[H, K]),
    ("sucrose", "C12H22O11", Spots, 8.0e4, &[Na, K]),
    (
        "adenosine monophosphate",
        "C10H14N5O7P",
        Cortex,
        7.0e4,
        &[H],
    ),
    ("palmitoylcarnitine", "C23H45NO4", LesionRim, 5.0e4, &[H]),
    ("LPC 16:0", "C24H50NO7P", LesionRim, 8.0e4, &[H, Na]),
    ("LPC 18:1", "C26H52NO7P", Ventricles, 5.4e4, &[H]),
    ("Cer 36:1;O2", "C36H71NO3", Spots, 5.0e4, &[H, Na]),
    ("SM 34:1;O2", "C39H79N2O6P", Ventricles, 7.0e4, &[H, Na]),
    ("HexCer 36:1;O2", "C42H81NO8", WhiteMatter, 6.0e4, &[Na, K]),
    ("SM 36:1;O2", "C41H83N2O6P", GreyMatter, 1.0e5, &[H, Na]),
    ("PC 32:0", "C40H80NO8P", Cortex, 2.2e5, &[H, K]),
    ("PC 34:1", "C42H82NO8P", Everywhere, 2.6e5, &[H, Na, K]),
    ("PE 38:4", "C43H78NO8P", GreyMatter, 6.0e4, &[H]),
    ("PC 36:1", "C44H86NO8P", WhiteMatter, 1.8e5, &[H, Na, K]),
    ("PE 40:6", "C45H78NO8P", Hippocampus, 6.0e4, &[H]),
    ("PC 38:6", "C46H80NO8P", Thalamus, 9.0e4, &[H]),
    ("HexCer 42:2;O2", "C48H91NO8", WhiteMatter, 1.2e5, &[Na, K]),
    ("PC 40:6", "C48H84NO8P", Hippocampus, 9.0e4, &[H, K]),
    ("TG 52:2", "C55H102O6", Rim, 1.0e5, &[Na, K]),
];

/// A molecule with an adduct, and what it looks like.
#[derive(Debug, Clone)]
pub struct Ion {
    /// The molecule's name.
    pub name: &'static str,
    /// The molecule's formula, without the adduct.
    pub formula: &'static str,
    /// What it is an ion by.
    pub adduct: Adduct,
    /// Where it is.
    pub pattern: Pattern,
    /// Intensity of the first peak where it is most abundant.
    pub level: f64,
    /// The isotopes, the first one highest, as 1.
    pub peaks: Vec<Peak>,
}

impl Ion {
    /// As METASPACE writes it, for instance `+Na`.
    pub fn adduct(&self) -> String {
        self.adduct.text().to_owned()
    }
}

/// All ions, in the order of the molecules.
pub fn ions() -> Vec<Ion> {
    let instrument = Instrument::new(Analyzer::Orbitrap, RESOLVING_POWER);
    let patterns = instrument.and_then(|known| Patterns::new(known, Generation::Current, 1));
    let Ok(mut patterns) = patterns else {
        return Vec::new();
    };
    let mut ions = Vec::new();
    for (name, formula, pattern, level, adducts) in &MOLECULES {
        // The adduct named first is the most common one.
        for (adduct, share) in adducts.iter().zip([1.0, 0.6, 0.45]) {
            ions.extend(peaks(&mut patterns, formula, *adduct).map(|peaks| Ion {
                name,
                formula,
                adduct: *adduct,
                pattern: *pattern,
                level: level * share,
                peaks,
            }));
        }
    }
    ions
}

/// The isotopes of an ion; all of [`MOLECULES`] have some.
fn peaks(patterns: &mut Patterns, formula: &str, adduct: Adduct) -> Option<Vec<Peak>> {
    let adduct = Modifier::parse(adduct.text()).ok()?;
    let ion = adduct.apply(&Composition::parse(formula).ok()?)?;
    isotopes::pattern(patterns, &ion)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn there_are_forty_formulas_and_each_is_an_ion() {
        let formulas: BTreeSet<&str> = MOLECULES.iter().map(|molecule| molecule.1).collect();
        assert_eq!(formulas.len(), 40);
        let adducts: usize = MOLECULES.iter().map(|molecule| molecule.4.len()).sum();
        assert_eq!(ions().len(), adducts);
        assert!(ions().iter().all(|ion| ion.peaks.len() == 4));
    }

    #[test]
    fn no_image_holds_two_ions() {
        let ions = ions();
        for (at, one) in ions.iter().enumerate() {
            for other in &ions[..at] {
                for (a, b) in one
                    .peaks
                    .iter()
                    .flat_map(|a| other.peaks.iter().map(move |b| (a, b)))
                {
                    // The rarest isotopes matter to nobody.
                    let matter = a.height * one.level > 500.0 && b.height * other.level > 500.0;
                    let apart = (a.mz / b.mz - 1.0).abs();
                    assert!(!matter || apart > 8e-6, "{one:?}\n{other:?}\n{apart}");
                }
            }
        }
    }
}
