//! CPU time of imaging mass spectrometry, natively, one JSON object a line: `cargo bench --bench dataset`.
//!
//! "xml" reads the XML of a set, "pack" makes a store of it within 64 MiB, "image" takes images of 3 ppm
//! from blocks that are in memory, one at a time. The set is made in memory: 100×100 pixels with 1,500
//! peaks, once with f32 and once with f64 m/z, as `generate/set.rs` says. On Linux it is the thread's
//! time on the processor, elsewhere the clock's.

#![allow(
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    unreachable_pub,
    reason = "a bench may stop at once, and its figures are rounded anyway; modules are shared"
)]

#[path = "generate/packed.rs"]
mod packed;
#[path = "generate/set.rs"]
mod set;

use std::time::{Duration, Instant};

use packed::Packed;
use set::Set;

const ROUNDS: usize = 5;

fn main() {
    for mz_bytes in [4, 8] {
        let set = Set {
            size: [100, 100],
            peaks: 1500,
            mz_bytes,
            ions: 22_000,
            seed: 1,
        };
        measure(&set);
    }
}

fn measure(set: &Set) {
    let mz = if set.mz_bytes == 4 { "f32" } else { "f64" };
    let mut packed = Packed::new(set).unwrap();
    let xml = least(|| drop(packed.read().unwrap()));
    let each = set.pixels() as f64 / xml.as_secs_f64();
    println!(r#"{{"target":"native","bench":"xml","mz":"{mz}","spectra_per_second":{each:.0}}}"#);

    let dataset = packed.read().unwrap();
    let (peaks, time) = timed(|| packed.pack(dataset).unwrap());
    let rate = peaks as f64 / time.as_secs_f64() / 1e6;
    let bytes = packed.bytes() as f64 / peaks as f64;
    let peak = packed.peak;
    println!(
        r#"{{"target":"native","bench":"pack","mz":"{mz}","peaks":{peaks},"million_peaks_per_second":{rate:.2},"peak_bytes":{peak},"bytes_per_peak":{bytes:.3}}}"#
    );

    packed.open().unwrap();
    let hits = packed.images().unwrap() as f64 / packed.windows() as f64;
    let time = least(|| drop(packed.images()));
    let each = time.as_secs_f64() * 1e6 / packed.windows() as f64;
    println!(
        r#"{{"target":"native","bench":"image","mz":"{mz}","peaks_per_image":{hits:.0},"us_per_image":{each:.2}}}"#
    );
}

/// The least time of a few runs, none of which is short beside the system's ticks.
fn least(mut work: impl FnMut()) -> Duration {
    work();
    (0..ROUNDS)
        .map(|_| {
            let mut runs = 0;
            let ((), time) = timed(|| {
                let start = Instant::now();
                while runs == 0 || start.elapsed() < Duration::from_millis(200) {
                    work();
                    runs += 1;
                }
            });
            time / runs
        })
        .min()
        .unwrap()
}

/// What `work` gives, and the time on the processor that it took.
fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let (wall, cpu) = (Instant::now(), on_processor());
    let result = work();
    let spent = match (cpu, on_processor()) {
        (Some(before), Some(after)) => after.saturating_sub(before),
        _ => wall.elapsed(),
    };
    (result, spent)
}

/// Time that this thread has had a processor, where the system tells.
fn on_processor() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds = text.split_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(nanoseconds))
}
