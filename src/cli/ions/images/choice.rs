//! Which images of a file are meant.

use sectile::ion::formula::Composition;
use sectile::results::images::Index;

use crate::cli::arguments::{Images, Isotope};
use crate::cli::failure::{Failure, Result};
use crate::cli::ions::typed;

/// What was asked for.
#[derive(Debug)]
pub struct Wanted {
    /// The formula as it was typed, and its atoms.
    formula: Option<(String, Composition)>,
    adduct: Option<String>,
    fdr: Option<f64>,
    isotope: Isotope,
}

/// An image that is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chosen {
    /// The ion's place in the index.
    pub ion: usize,
    /// The isotope peak, from 0.
    pub peak: usize,
    /// Where its bytes begin in the file.
    pub at: u64,
    /// How many they are.
    pub bytes: u64,
}

impl Wanted {
    /// Reads the options.
    pub fn of(arguments: &Images) -> Result<Self> {
        let formula = arguments.formula.as_ref();
        let formula = formula.map(|text| typed::formula(text).map(|atoms| (text.clone(), atoms)));
        let adduct = arguments.adduct.as_ref();
        let adduct = adduct.map(|text| typed::modifier("--adduct", text));
        Ok(Self {
            formula: formula.transpose()?,
            adduct: adduct.transpose()?.map(|adduct| adduct.to_string()),
            fdr: arguments.fdr,
            isotope: arguments.isotope,
        })
    }

    /// Finds the images, in the order of the file.
    ///
    /// # Errors
    /// A failure that says what there is, if none is meant.
    pub fn choose(&self, index: &Index) -> Result<Vec<Chosen>> {
        let ions: Vec<usize> = (0..index.entries.len())
            .filter(|ion| self.is_meant(index, *ion))
            .collect();
        let images: Vec<Chosen> = (ions.iter().copied())
            .flat_map(|ion| {
                let peaks = self.isotope.peaks().map(move |peak| (ion, peak));
                peaks.filter_map(|(ion, peak)| {
                    let found = index.entries[ion].peaks[peak];
                    (found.bytes > 0).then_some(Chosen {
                        ion,
                        peak,
                        at: found.at,
                        bytes: found.bytes.into(),
                    })
                })
            })
            .collect();
        if images.is_empty() {
            return Err(self.nothing(index, &ions));
        }
        Ok(images)
    }

    fn is_meant(&self, index: &Index, ion: usize) -> bool {
        let (formula, modifier) = index.name(ion);
        let of_formula = self.formula.as_ref().is_none_or(|(text, atoms)| {
            text == formula || Composition::parse(formula).is_ok_and(|other| other == *atoms)
        });
        of_formula
            && self.adduct.as_ref().is_none_or(|adduct| adduct == modifier)
            && self.fdr.is_none_or(|fdr| index.entries[ion].fdr <= fdr)
    }

    fn nothing(&self, index: &Index, ions: &[usize]) -> Failure {
        let file = &index.file;
        let what = match (ions.is_empty(), &self.formula) {
            (false, _) => "has no image of this isotope peak; choose another --isotope".to_owned(),
            (true, Some((text, atoms))) => {
                let same = |ion: &usize| {
                    Composition::parse(index.name(*ion).0).is_ok_and(|other| other == *atoms)
                };
                let there: Vec<String> = (0..index.entries.len())
                    .filter(same)
                    .map(|ion| {
                        let (name, fdr) = (index.name(ion).1, index.entries[ion].fdr);
                        format!("{name} at an FDR of {:.1} %", fdr * 100.0)
                    })
                    .collect();
                if there.is_empty() {
                    format!("has no image of {text}; it was not found, or not looked for")
                } else {
                    format!("has {text} with {} only", there.join(", "))
                }
            }
            (true, None) => {
                let best = index.entries.iter().map(|entry| entry.fdr);
                match best.min_by(f64::total_cmp) {
                    Some(best) => format!("has no ion at this FDR; the lowest is {best}"),
                    None => "has no image: nothing was found".to_owned(),
                }
            }
        };
        Failure::input("missing", format!("{file}: {what}"))
    }
}

impl Chosen {
    /// A picture's name as METASPACE gives it: formula, loss and adduct; later isotope peaks with their number.
    pub fn file_name(&self, index: &Index) -> String {
        let (formula, modifier) = index.name(self.ion);
        let name: String = format!("{formula}{modifier}")
            .chars()
            .map(|c| match c {
                // Brackets are fine; what separates folders is not.
                '/' | '\\' | ':' | '\0' => '_',
                other => other,
            })
            .collect();
        match self.peak {
            0 => format!("{name}.png"),
            peak => format!("{name}_{peak}.png"),
        }
    }
}
