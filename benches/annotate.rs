//! Whole annotations of a store in memory: formulas a second. Prints one JSON object a line.
//!
//! `cargo bench --no-default-features --bench annotate [-- PEAKS]`. 15 million peaks on 100×100 pixels unless another
//! number is given, in which every ion of a list was measured, with about 470 peaks in each isotope's window. A formula
//! is one ion: its isotope pattern, four images out of blocks that are checked and unpacked, all scores, and its images
//! kept if it is a target that scores. A second row has 20 decoys of each target, which find little. On Linux it is the
//! thread's time on the processor, elsewhere the clock's; the least of three runs.
//!
//! `-- --export DIR` writes peaks, windows and scores for `benches/annotate.py`, which lets numpy and scipy do the same.
//! `benches/wasm/annotate.mjs` times it in WebAssembly.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::should_implement_trait,
    dead_code,
    missing_docs,
    reason = "a bench prints, and stops at the first surprise"
)]

#[path = "sample/lines.rs"]
mod lines;
#[path = "sample/planted.rs"]
mod planted;

use std::path::Path;
use std::time::{Duration, Instant};

use planted::{Outcome, Planted, measured, patterns};
use sectile::error::Result;
use sectile::ion::annotate::Ions;

const RUNS: usize = 3;

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let peaks = words.iter().find_map(|word| word.parse().ok());
    let planted = Planted::new(peaks.unwrap_or(15_000_000)).unwrap();
    if let Some(at) = words.iter().position(|word| word == "--export") {
        return export(&planted, Path::new(&words[at + 1]));
    }
    say("ions that were all measured", &planted, &planted.ions);
    let decoys = planted.with_decoys(20).unwrap();
    say(
        "the same list with 20 decoys of each target",
        &planted,
        &decoys,
    );
    let (seconds, count) = least(|| patterns(&planted.ions).map(|all| all.len()));
    println!(
        r#"{{"bench":"isotope patterns alone","target":"native","ions":{count},"ions_per_second":{:.0}}}"#,
        count as f64 / seconds
    );
}

fn say(what: &str, planted: &Planted, ions: &std::rc::Rc<Ions>) {
    let (seconds, outcome): (f64, Outcome) = least(|| planted.annotate(ions, |_, _| {}));
    println!(
        r#"{{"bench":"{what}","target":"native","peaks":{},"store_bytes":{},"ions":{},"scored":{},"peaks_an_image":{:.0},"msm":{:.6},"ions_per_second":{:.0}}}"#,
        planted.head.layout.contents.peaks,
        planted.file.len(),
        outcome.ions,
        outcome.targets,
        outcome.hits as f64 / outcome.targets as f64 / 4.0,
        outcome.msm,
        outcome.ions as f64 / seconds
    );
}

/// The least seconds of a run, and what it led to.
fn least<T>(mut work: impl FnMut() -> Result<T>) -> (f64, T) {
    let mut best = f64::INFINITY;
    let mut outcome = None;
    for _ in 0..RUNS {
        let (wall, before) = (Instant::now(), on_processor());
        outcome = Some(work().unwrap());
        let spent = match (before, on_processor()) {
            (Some(before), Some(after)) => after.saturating_sub(before),
            _ => wall.elapsed(),
        };
        best = best.min(spent.as_secs_f64());
    }
    (best, outcome.unwrap())
}

/// Time that this thread has had a processor, where the system tells.
fn on_processor() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds = text.split_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(nanoseconds))
}

/// Columns of peaks (`mz.f32`, `intensity.f32`, `pixel.u32`); of each ion four m/z, four half widths and four
/// intensities (`theory.f64`), and its MSM (`msm.f64`).
fn export(planted: &Planted, folder: &Path) {
    let peaks = measured(&planted.ions).unwrap();
    let column = |name: &str, bytes: Vec<u8>| std::fs::write(folder.join(name), bytes).unwrap();
    let four = |of: &dyn Fn(&planted::Peak) -> [u8; 4]| peaks.iter().flat_map(of).collect();
    column("mz.f32", four(&|peak| (peak.mz as f32).to_le_bytes()));
    column("intensity.f32", four(&|peak| peak.intensity.to_le_bytes()));
    column("pixel.u32", four(&|peak| peak.pixel.to_le_bytes()));
    let request = planted.ions.request();
    let theory = patterns(&planted.ions)
        .unwrap()
        .into_iter()
        .flat_map(|(mz, intensity)| {
            let widths = mz.map(|mz| request.half_width(mz));
            [mz, widths, intensity].concat()
        });
    column("theory.f64", theory.flat_map(f64::to_le_bytes).collect());
    let mut msm = vec![0.0_f64; planted.ions.len() as usize];
    let scores = planted.annotate(&planted.ions, |ion, score| msm[ion as usize] = score);
    scores.unwrap();
    column(
        "msm.f64",
        msm.into_iter().flat_map(f64::to_le_bytes).collect(),
    );
}
