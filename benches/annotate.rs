//! Annotation of a list out of blocks in memory: CPU time of a formula. Prints one JSON object a line.
//!
//! `cargo bench --no-default-features --bench annotate [-- PEAKS]`. 15 million synthetic peaks on 100×100 pixels (fixed
//! seed) unless another number is given, among them the isotope peaks of 2,000 targets, 470 each; all of them are found,
//! with patterns, four images, all scores and mean m/z, and their images are kept. `rate` is targets a second of CPU
//! time, the decoys' included; `patterns` is what their isotope patterns alone take. `benches/wasm/annotate.mjs` times
//! the same in WebAssembly.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
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

use std::rc::Rc;
use std::time::Instant;

use planted::Planted;
use sectile::ion::annotate::{AnnotateJob, Output, Wish, plan};
use sectile::job::Job;
use sectile::store::head::Head;

const ROUNDS: usize = 3;

fn main() {
    let peaks = std::env::args()
        .find_map(|word| word.parse().ok())
        .unwrap_or(15_000_000);
    for decoys in [1, 20] {
        let sample = Planted::new(peaks, 2000, decoys).unwrap();
        let head = Rc::new(Head::parse("planted", &sample.file).unwrap());
        let ions = &sample.ions;
        let wish = Wish::default();
        let (planned, _) = best(1, || plan(&head, ions, 0..ions.len(), &wish).unwrap());
        let ((found, beaten), seconds) = best(ROUNDS, || annotate(&sample, &head, &wish));
        println!(
            r#"{{"bench":"annotate","target":"native","peaks":{},"targets":{},"decoys":{},"found":{found},"decoys_found":{beaten},"requests":{},"us_an_ion":{:.1},"rate":{:.0}}}"#,
            head.layout.contents.peaks,
            ions.targets(),
            ions.decoys(),
            planned.requests,
            seconds * 1e6 / f64::from(ions.len()),
            f64::from(ions.targets()) / seconds,
        );
        let (_, seconds) = best(ROUNDS, || plan(&head, ions, 0..ions.len(), &wish).unwrap());
        println!(
            r#"{{"bench":"annotate-plan","target":"native","ions":{},"us_an_ion":{:.1}}}"#,
            ions.len(),
            seconds * 1e6 / f64::from(ions.len()),
        );
    }
}

/// Targets and decoys that score.
fn annotate(sample: &Planted, head: &Rc<Head>, wish: &Wish) -> (usize, usize) {
    let ions = &sample.ions;
    let mut job = AnnotateJob::new(head.clone(), ions.clone(), 0..ions.len(), 0, wish).unwrap();
    let mut found = (0, 0);
    while !job.is_done() {
        while let Some(fetch) = job.next() {
            let range = fetch.reads[0].range.clone();
            let mut buffer = job.lend(&fetch);
            buffer.copy_from_slice(&sample.file[range.start as usize..range.end as usize]);
            job.filled(&fetch, buffer).unwrap();
        }
        if let Some(Output::Save(save)) = job.ready().unwrap() {
            found.0 += save.targets.len();
            found.1 += save.decoys.len();
        }
    }
    found
}

/// The result, and the least CPU seconds of this thread, or of the clock where that is not told.
fn best<T>(rounds: usize, mut round: impl FnMut() -> T) -> (T, f64) {
    let mut time = || {
        let (start, before) = (Instant::now(), cpu());
        let result = round();
        let used = cpu().zip(before).map(|(after, before)| after - before);
        (
            result,
            used.unwrap_or_else(|| start.elapsed().as_secs_f64()),
        )
    };
    let (mut result, mut least) = time();
    for _ in 1..rounds {
        let (again, seconds) = time();
        (result, least) = (again, least.min(seconds));
    }
    (result, least)
}

/// CPU seconds of this thread, on Linux.
fn cpu() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = text.split(' ').next()?.parse().ok()?;
    Some(nanoseconds * 1e-9)
}
