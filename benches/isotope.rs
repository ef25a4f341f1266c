//! Isotope patterns: CPU-bound time of one. Prints one JSON object a line.
//!
//! `cargo bench --no-default-features --bench isotope`. Some 2,000 ions of metabolites and lipids (+H, +Na, +K), and some 14,000
//! with adducts of decoys, at a resolving power of 140,000. Times are the smallest of several rounds on one thread, by
//! the wall clock: run it on a quiet machine. `benches/wasm/isotope.mjs` times the same in WebAssembly.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    missing_docs,
    reason = "a bench prints, and stops at the first surprise"
)]

#[path = "sample/ions.rs"]
mod ions;

use std::hint::black_box;
use std::time::Instant;

use sectile::ion::formula::Composition;
use sectile::ion::isotope::{Analyzer, Generation, Instrument, Patterns};

const ROUNDS: usize = 9;
const FEW: usize = 64;

fn main() {
    let sets = [
        ("targets", ions::targets().unwrap()),
        ("decoys", ions::decoys().unwrap()),
    ];
    let kinds = Analyzer::ALL.map(|analyzer| (analyzer, Generation::Current));
    for (analyzer, generation) in kinds
        .into_iter()
        .chain([(Analyzer::Orbitrap, Generation::Older)])
    {
        let instrument = Instrument::new(analyzer, 140_000.0).unwrap();
        let mut patterns = Patterns::new(instrument, generation, 1).unwrap();
        for (set, ions) in &sets {
            let say = |bench: &str, micros: f64| {
                println!(
                    r#"{{"bench":"{bench}","target":"native","ions":"{set}","analyzer":"{analyzer}","generation":"{generation:?}","us":{micros:.2},"per_second":{:.0}}}"#,
                    1e6 / micros
                );
            };
            say(
                "pattern",
                best(ions, |ion| patterns.pattern(ion).unwrap().mz[0]),
            );
            say(
                "isotopologues",
                best(ions, |ion| patterns.isotopologues(ion).unwrap()[0].mz),
            );
            say("lowest", best(ions, |ion| patterns.lowest(ion)));
        }
    }
}

/// Least microseconds of one ion: the least of each few, so that a round is not lost to whatever else runs.
fn best(ions: &[Composition], mut one: impl FnMut(&Composition) -> f64) -> f64 {
    let mut least = vec![f64::INFINITY; ions.len().div_ceil(FEW)];
    for _ in 0..ROUNDS {
        for (few, least) in ions.chunks(FEW).zip(&mut least) {
            let start = Instant::now();
            for ion in few {
                black_box(one(ion));
            }
            *least = least.min(start.elapsed().as_secs_f64());
        }
    }
    least.iter().sum::<f64>() / ions.len() as f64 * 1e6
}
