//! CPU time of the native median, one JSON object a line: `cargo bench --bench median -- [n,n,…]`.
//!
//! The same measures as `benches/wasm/median.mjs`, of a million f32 values: "arrays" in one call, "stored
//! bytes" (big-endian) in calls of 1,024 pixels, and "masked bytes" with flags beside them; the least of a few batches. On Linux it is the thread's time on the processor, elsewhere the
//! clock's.

#![allow(
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "a bench may stop at once, and its figures are rounded anyway"
)]

use std::time::{Duration, Instant};

use sectile::fits::Image;
use sectile::fits::pixel::{Bitpix, Encoding};
use sectile::stack::mask::{Flags, Mask, Meaning};
use sectile::stack::median::{Kernel, Samples, nanmedian};
use sectile::stack::statistic::Statistic;

const ELEMENTS: usize = 1_000_000;
const CALL: usize = 1024;
const BATCHES: usize = 6;
const BATCH: Duration = Duration::from_millis(250);

fn main() {
    let sizes: Vec<usize> = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with('-'))
        .map_or_else(
            || vec![5, 10, 20, 40, 50, 100, 200, 400],
            |list| list.split(',').map(|n| n.parse().unwrap()).collect(),
        );
    for n in sizes {
        for nan in [0.0, 0.1] {
            let width = ELEMENTS / n;
            let bytes = stored(n * width, nan);
            let mut stack = Stack::new(n, width);
            let print = |bench, least: Duration| {
                let each = least.as_nanos() as f64 / (n * width) as f64;
                println!(
                    r#"{{"target":"native","bench":"{bench}","kind":"normal","bitpix":-32,"n":{n},"nan":{nan},"ns_per_element":{each:.3}}}"#
                );
            };
            let values = native(&bytes);
            print("arrays", least(|| stack.reduce_arrays(&values)));
            print("stored bytes", least(|| stack.reduce(&bytes, None)));
            let (mask, flags) = flagged(n * width);
            print(
                "masked bytes",
                least(|| stack.reduce(&bytes, Some((&mask, &flags)))),
            );
        }
    }
}

struct Stack {
    kernel: Kernel,
    width: usize,
    out: Vec<f32>,
    count: Vec<u16>,
}

impl Stack {
    fn new(n: usize, width: usize) -> Self {
        Self {
            kernel: Kernel::new(n).unwrap(),
            width,
            out: vec![0.0; width],
            count: vec![0; width],
        }
    }

    fn reduce(&mut self, bytes: &[u8], flagged: Option<(&Mask, &[u8])>) {
        let encoding = Encoding::plain(Bitpix::F32);
        for start in (0..self.width).step_by(CALL) {
            let end = self.width.min(start + CALL);
            let rows: Vec<Samples<'_>> = bytes
                .chunks(self.width * 4)
                .map(|row| Samples {
                    bytes: &row[start * 4..end * 4],
                    encoding,
                })
                .collect();
            let flags: Vec<Option<Flags<'_>>> = flagged.map_or_else(Vec::new, |(mask, flags)| {
                let runs = flags.chunks(self.width * 4);
                let bytes = runs.map(|run| &run[start * 4..end * 4]);
                bytes.map(|bytes| Some(Flags { bytes, mask })).collect()
            });
            let (out, count) = (&mut self.out[start..end], &mut self.count[start..end]);
            let kernel = &mut self.kernel;
            kernel.reduce_f32(&rows, &flags, out, count).unwrap();
        }
        std::hint::black_box(&self.out);
    }

    fn reduce_arrays(&mut self, values: &[f32]) {
        let rows: Vec<&[f32]> = values.chunks(self.width).collect();
        nanmedian(&rows, &mut self.out, &mut self.count).unwrap();
        std::hint::black_box(&self.out);
    }
}

/// Unsigned flags of 32 bits, of which one in a hundred leaves its pixel out.
fn flagged(pixels: usize) -> (Mask, Vec<u8>) {
    let plane = |bitpix, bzero, mask| Image {
        file: String::new(),
        hdu: 0,
        name: None,
        ver: 1,
        encoding: Encoding {
            bzero,
            ..Encoding::plain(bitpix)
        },
        width: 1,
        height: 1,
        planes: 1,
        plane: 0,
        data_at: 0,
        unit: None,
        wcs: None,
        cards: Vec::new(),
        notes: Vec::new(),
        mask,
    };
    let mask = plane(Bitpix::I32, 2_147_483_648.0, None);
    let image = plane(Bitpix::F32, 0.0, Some(Box::new(mask)));
    let mask = Mask::of(&image, Meaning::Bits(1)).unwrap().unwrap();
    let every = |of: usize, at: usize| u32::from(at.is_multiple_of(of));
    let flag = |at: usize| 1_u32 << 31 | every(101, at) | every(13, at) << 2;
    (
        mask,
        (0..pixels).flat_map(|at| flag(at).to_be_bytes()).collect(),
    )
}

fn native(bytes: &[u8]) -> Vec<f32> {
    let pixels = bytes.as_chunks().0.iter();
    pixels.map(|pixel| f32::from_be_bytes(*pixel)).collect()
}

/// Bell-shaped values about 100, of which the share `nan` is missing.
fn stored(values: usize, nan: f64) -> Vec<u8> {
    let mut state = 1_u64;
    let mut unit = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / f64::from(1 << 24)
    };
    (0..values)
        .flat_map(|_| {
            let bell: f64 = (0..12).map(|_| unit()).sum::<f64>() - 6.0;
            let missing = unit() < nan;
            let value = if missing {
                f32::NAN
            } else {
                (100.0 + 10.0 * bell) as f32
            };
            value.to_be_bytes()
        })
        .collect()
}

/// The least time of a run over a few batches of runs.
///
/// The system adds up a thread's time at its own ticks, every few milliseconds, so that a batch has
/// to be long beside them.
fn least(mut work: impl FnMut()) -> Duration {
    let mut best = Duration::MAX;
    for _ in 0..BATCHES {
        let (wall, cpu) = (Instant::now(), on_processor());
        let mut runs = 0;
        while wall.elapsed() < BATCH {
            work();
            runs += 1;
        }
        let spent = match (cpu, on_processor()) {
            (Some(before), Some(after)) => after.saturating_sub(before),
            _ => wall.elapsed(),
        };
        best = best.min(spent / runs);
    }
    best
}

/// Time that this thread has had a processor, where the system tells.
fn on_processor() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds = text.split_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(nanoseconds))
}
