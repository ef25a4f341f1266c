//! Isotope patterns of many ions.

use sectile::ion::formula::Composition;
use sectile::ion::isotope::{Generation, Instrument, Patterns};
use wasm_bindgen::prelude::*;

use crate::ions;

/// The ions of `benches/isotope.rs`, and what computes their patterns.
#[wasm_bindgen]
pub struct TimedPatterns {
    patterns: Patterns,
    ions: Vec<Composition>,
}

#[wasm_bindgen]
impl TimedPatterns {
    /// Those with the adducts of decoys, or those with usual ones, at a resolving power of 140,000.
    #[wasm_bindgen(constructor)]
    pub fn new(analyzer: &str, older: bool, decoys: bool) -> Result<TimedPatterns, JsError> {
        let generation = if older { Generation::Older } else { Generation::Current };
        let instrument = Instrument::new(analyzer.parse()?, 140_000.0)?;
        Ok(TimedPatterns {
            patterns: Patterns::new(instrument, generation, 1)?,
            ions: if decoys { ions::decoys()? } else { ions::targets()? },
        })
    }

    /// How many ions there are.
    pub fn ions(&self) -> usize {
        self.ions.len()
    }

    /// Computes the patterns of `count` ions from `start`; gives the sum of their first m/z.
    pub fn patterns(&mut self, start: usize, count: usize) -> Result<f64, JsError> {
        let mut sum = 0.0;
        for ion in self.ions.iter().skip(start).take(count) {
            sum += self.patterns.pattern(ion)?.mz[0];
        }
        Ok(sum)
    }

    /// Computes their lower bounds only.
    pub fn lowest(&mut self, start: usize, count: usize) -> f64 {
        let ions = self.ions.iter().skip(start).take(count);
        ions.map(|ion| self.patterns.lowest(ion)).sum()
    }
}
