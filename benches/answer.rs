//! What answers cost the processor: planned, begun, fed and encoded, with everything in memory.
//!
//! `cargo bench --no-default-features --bench answer`
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    dead_code,
    reason = "a measurement may stop at the first surprise; shared cases are used in part"
)]

#[path = "../tests/api_answer_cases/mod.rs"]
mod api_answer_cases;
#[path = "../tests/ion_cases/mod.rs"]
mod ion_cases;

use std::time::Instant;

use api_answer_cases::{Files, Sample, WHOLE, drive, open, stack};
use sectile::api::Limits;
use sectile::fits::pixel::{Bitpix, Encoding};
use sectile::store::head::Real;

/// Rounds; the fastest and the middle one are told.
const ROUNDS: usize = 21;

fn main() {
    let peaks = ion_cases::Sample::random(3, [100, 100, 1], 150, [Real::F64, Real::F32]);
    let files = Files {
        names: vec!["a.sectile".to_owned()],
        bytes: vec![peaks.store()],
    };
    let ions = open(r#"{"type":"ions","store":"a.sectile"}"#, files);
    println!("ions: 100 x 100 pixels, {} peaks", peaks.peaks.len());
    for target in [
        "mz-500.0000/0/0/0.png",
        "mz-500.0000/0/0/0.png?norm=tic",
        "C39H78NO8P+Na/0/0/0.png",
        "mz-500.0000.fits",
        "mz-500.0000/statistics",
        "spectrum",
        "spectrum?x=50&y=99",
    ] {
        tell(&ions, target);
    }
    let encoding = Encoding::plain(Bitpix::F32);
    let exposures = stack(12, (1024, 1024), &[encoding]);
    println!("stack: 12 exposures of 1024 x 1024 f32");
    for target in [
        "median/2/1/1.png",
        "median/2/1/1.png?alpha=1",
        "median/0/0/0.png",
        "median.fits?bbox=0,0,512,512",
        "median/statistics?bbox=0,0,512,512",
        "spectrum?x=5&y=6",
    ] {
        tell(&exposures, target);
    }
}

fn tell(sample: &Sample, target: &str) {
    let limits = Limits::default();
    let mut times = Vec::new();
    let mut told = (0, 0, 0, 0);
    for _ in 0..ROUNDS {
        let started = Instant::now();
        let ticket = sample.ticket(target, &limits).unwrap().unwrap();
        let mut answer = ticket.start(&sample.opened, limits.memory).unwrap();
        let (requests, bytes) = drive(&mut answer, &sample.files, WHOLE).unwrap();
        let reply = answer.into_reply().unwrap();
        times.push(started.elapsed().as_secs_f64() * 1e3);
        told = (requests, bytes, reply.body.len(), ticket.cost.cpu_ms);
    }
    times.sort_by(f64::total_cmp);
    let (requests, bytes, length, estimate) = told;
    println!(
        "{target:38} {:7.2} ms, middle {:7.2}; planned {estimate} ms; {requests} requests, {bytes} bytes, answer {length}",
        times[0],
        times[ROUNDS / 2]
    );
}
