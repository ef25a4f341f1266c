//! Ion images out of blocks in memory: CPU-bound time of one image. Prints one JSON object a line.
//!
//! `cargo bench --no-default-features --bench ion [-- PEAKS]`. 15 million synthetic peaks on 100×100 pixels (fixed seed) unless another number
//! is given; the images are of 1,000 random lines at 3 ppm. Times are the smallest of several rounds on one thread, by the wall clock: run it
//! on a quiet machine. `benches/wasm/ion.mjs` times the same in WebAssembly.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::should_implement_trait,
    missing_docs,
    reason = "a bench prints, and stops at the first surprise"
)]

#[allow(dead_code, reason = "other benches throw other dice")]
#[path = "sample/lines.rs"]
mod lines;

use std::hint::black_box;
use std::rc::Rc;
use std::time::Instant;

use lines::{Dice, Lines};
use sectile::budget::Budget;
use sectile::ion::image::Canvas;
use sectile::ion::images::{Reader, Wish};
use sectile::ion::window::Window;
use sectile::job::Job;
use sectile::store::block::Block;
use sectile::store::head::{Head, Real};

const ROUNDS: usize = 15;
const IMAGES: usize = 1000;

fn main() {
    let peaks = std::env::args()
        .find_map(|word| word.parse().ok())
        .unwrap_or(15_000_000);
    for (name, mz) in [("f32", Real::F32), ("f64", Real::F64)] {
        let sample = Lines::new(peaks, 100, [mz, Real::F32]).unwrap();
        let head = Rc::new(Head::parse("lines", &sample.file).unwrap());
        let mut dice = Dice(7);
        let windows: Vec<Window> = (0..IMAGES)
            .map(|_| (dice.next() % u64::from(sample.lines)) as u32)
            .map(|line| Window::ppm(Lines::mz(line), 3.0).unwrap())
            .collect();
        let block = |n: usize| {
            let range = head.block_range(n);
            &sample.file[range.start as usize..range.end as usize]
        };
        let mut canvas = Canvas::new(10_000, &mut Budget::new(1 << 20)).unwrap();
        canvas.lay(0, |_| true);
        let mut hits = 0;
        let mut draw = |window: &Window, checked: bool| {
            canvas.clear();
            for n in head.blocks_of(window.lo, window.hi) {
                let block = if checked {
                    Block::open(&head, n, block(n)).unwrap()
                } else {
                    Block::again(&head, n, block(n)).unwrap()
                };
                let range = block.find(window.lo, window.hi).unwrap();
                block
                    .visit_groups(range, |pixels, values| canvas.add_group(pixels, values))
                    .unwrap();
            }
            hits += canvas.finish().unwrap().hits;
            black_box(canvas.values()[5]);
        };
        for window in &windows {
            draw(window, true);
        }
        let blocks = best(|| windows.iter().for_each(|window| draw(window, false)));
        let checked = best(|| windows.iter().for_each(|window| draw(window, true)));
        let hits = hits as f64 / (2 * ROUNDS + 1) as f64 / IMAGES as f64;
        let say = |what: &str, micros: f64| {
            println!(
                r#"{{"bench":"{what}","target":"native","mz":"{name}","peaks":{},"store_bytes_a_peak":{:.3},"hits":{hits:.0},"us":{micros:.2}}}"#,
                head.layout.contents.peaks,
                sample.file.len() as f64 / head.layout.contents.peaks as f64,
            );
        };
        say("image from checked blocks", blocks);
        say("image from blocks that are checked first", checked);
        // A job each, with everything that a caller of the library pays, out of the cache.
        let reader = Reader::new(head.clone(), 1 << 30);
        let wish = Wish {
            memory: 2 << 30,
            ..Wish::default()
        };
        let few = &windows[..100];
        for window in few {
            let mut job = reader.images(&[*window], &wish).unwrap();
            while let Some(fetch) = job.next() {
                let range = fetch.reads[0].range.clone();
                let mut buffer = job.lend(&fetch);
                buffer.copy_from_slice(&sample.file[range.start as usize..range.end as usize]);
                job.filled(&fetch, buffer).unwrap();
            }
            job.ready().unwrap().unwrap();
        }
        let job = best(|| {
            for window in few.iter().cycle().take(IMAGES) {
                let mut job = reader.images(&[*window], &wish).unwrap();
                black_box(job.ready().unwrap().unwrap().max);
            }
        });
        say("image as a job of its own, blocks in the cache", job);
    }
}

/// Least microseconds of one image.
fn best(mut round: impl FnMut()) -> f64 {
    let time = |_| {
        let start = Instant::now();
        round();
        start.elapsed().as_secs_f64()
    };
    let least = (0..ROUNDS).map(time).fold(f64::INFINITY, f64::min);
    least / IMAGES as f64 * 1e6
}
