//! Scores of ions in memory: CPU-bound time of one. Prints one JSON object a line.
//!
//! `cargo bench --no-default-features --bench score [-- SIDE]`. Images of 100×100 pixels unless another side is given,
//! in which one pixel in twenty, a tissue or every pixel has a peak. Beside them chaos the plain way, as 30 labellings.
//! Times are the smallest of several rounds on one thread, by the wall clock: run it on a quiet machine.
//! `benches/wasm/score.mjs` times the same in WebAssembly.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::should_implement_trait,
    clippy::float_cmp,
    dead_code,
    missing_docs,
    reason = "a bench prints, and stops at the first surprise"
)]

#[path = "sample/images.rs"]
mod images;
#[path = "sample/lines.rs"]
mod lines;

use std::hint::black_box;
use std::time::Instant;

use images::{Images, THEORY, labelled};
use sectile::budget::Budget;
use sectile::ion::score::{Area, Options, Scorer, Sparse, chaos};

const EACH: usize = 16;
const ROUNDS: usize = 60;

fn main() {
    let side: u32 = std::env::args()
        .find_map(|word| word.parse().ok())
        .unwrap_or(100);
    let area = Area {
        width: side,
        height: side,
        acquired: u64::from(side * side),
    };
    let scorer = |hotspot| {
        let options = Options {
            hotspot,
            ..Options::default()
        };
        Scorer::new(area, options, &mut Budget::new(1 << 30)).unwrap()
    };
    let (mut plain, mut hotspot) = (scorer(false), scorer(true));
    for images in Images::all(side, EACH) {
        let dense: Vec<_> = images.iter().map(|image| image.dense(side)).collect();
        for image in &dense {
            let found = chaos::measure(image, side, side, 30).unwrap();
            assert!((found - labelled(image, side as usize)).abs() < 1e-12);
        }
        let say = |what: &str, us: f64| {
            println!(
                r#"{{"bench":"{what}","target":"native","images":"{}","side":{side},"us":{us:.2}}}"#,
                images[0].name
            );
        };
        let of = |scorer: &mut Scorer, work: &dyn Fn(&mut Scorer, [Sparse<'_>; 4])| {
            least(|| images.iter().for_each(|image| work(scorer, image.lists())))
        };
        say(
            "all scores",
            of(&mut plain, &|scorer, lists| {
                black_box(scorer.score(&THEORY, &lists, true).unwrap());
            }),
        );
        say(
            "all scores, hotspot removal",
            of(&mut hotspot, &|scorer, lists| {
                black_box(scorer.score(&THEORY, &lists, true).unwrap());
            }),
        );
        say(
            "chaos alone, and the sums of one image",
            of(&mut plain, &|scorer, lists| {
                let none = Sparse::default();
                black_box(
                    scorer
                        .score(&THEORY, &[lists[0], none, none, none], true)
                        .unwrap(),
                );
            }),
        );
        let array = least(|| {
            for image in &dense {
                black_box(chaos(image, side, side, 30).unwrap());
            }
        });
        say("chaos of an array", array);
        let plain = least(|| {
            for image in &dense {
                black_box(labelled(image, side as usize));
            }
        });
        say("chaos by 30 labellings", plain);
    }
}

/// Least microseconds of one ion.
fn least(mut round: impl FnMut()) -> f64 {
    let time = |_| {
        let start = Instant::now();
        round();
        start.elapsed().as_secs_f64()
    };
    let least = (0..ROUNDS).map(time).fold(f64::INFINITY, f64::min);
    least / EACH as f64 * 1e6
}
