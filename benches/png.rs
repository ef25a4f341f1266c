//! PNG tiles: CPU time and size, by image, tile edge and form. Prints one JSON object a line.
//!
//! `cargo bench --bench png`. Times are the smallest of several rounds on one thread, by the wall
//! clock: run it on a quiet machine.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a bench prints, and stops at the first surprise"
)]

use std::hint::black_box;
use std::time::Instant;

use sectile::error::Error;
use sectile::png::{self, Form, Meta, Writer};
use sectile::raster::plane::{self, Range, Scale};
use sectile::raster::pyramid::Pyramid;
use sectile::raster::tiles::{Builder, Order, Tile};

const ROUNDS: usize = 25;

fn main() {
    pyramid();
    for edge in [256_u32, 512] {
        for (image, values) in images(edge) {
            let mut seen = Range::new();
            line(
                "range",
                image,
                edge,
                best(|| seen.see(black_box(&values))),
                values.len() * 2,
            );
            let scale = seen.scale();
            let mut codes = vec![0; values.len()];
            let quantise = best(|| plane::quantise(black_box(&values), &scale, &mut codes));
            line("quantise", image, edge, quantise, values.len() * 2);
            let meta = Meta::new(scale);
            let size = png::encode(edge, edge, &codes, &meta).unwrap().len();
            let encode = best(|| png::encode(edge, edge, black_box(&codes), &meta).unwrap());
            line("encode", image, edge, encode, size);
            let size = png::encode_alpha(edge, edge, &codes, &meta).unwrap().len();
            let alpha = best(|| png::encode_alpha(edge, edge, black_box(&codes), &meta).unwrap());
            line("encode_alpha", image, edge, alpha, size);
            let stream = || {
                let mut writer = Writer::new(Vec::new(), edge, edge, Form::Grey, &meta).unwrap();
                writer.rows(black_box(&codes)).unwrap();
                writer.finish().unwrap()
            };
            line("stream", image, edge, best(stream), stream().len());
            let bytes = png::encode(edge, edge, &codes, &meta).unwrap();
            let decode = best(|| png::decode(black_box(&bytes), 1 << 30).unwrap());
            line("decode", image, edge, decode, bytes.len());
        }
    }
}

/// All levels of a 2048² plane of f32, rows from the bottom: CPU time a source pixel and bytes held.
fn pyramid() {
    let edge = 2048;
    let [(_, noisy), ..] = images(edge);
    let pyramid = Pyramid::new(edge, edge, 256).unwrap();
    let scale = Scale::fit(0.0, 400.0);
    let build = || {
        let mut builder = Builder::new(pyramid, scale, Order::BottomUp);
        let mut tiles = 0;
        let mut count = |_: Tile<'_>| -> Result<(), Error> {
            tiles += 1;
            Ok(())
        };
        builder.rows(black_box(&noisy), &mut count).unwrap();
        builder.finish().unwrap();
        tiles
    };
    println!(
        "{{\"bench\":\"png\",\"what\":\"pyramid\",\"edge\":{edge},\"tiles\":{},\
         \"ns_a_pixel\":{:.3},\"bytes\":{}}}",
        build(),
        best(build) * 1e9 / noisy.len() as f64,
        Builder::<f32>::bytes(&pyramid)
    );
}

fn line(what: &str, image: &str, edge: u32, seconds: f64, bytes: usize) {
    let raw = f64::from(edge) * f64::from(edge) * 2.0;
    println!(
        "{{\"bench\":\"png\",\"what\":\"{what}\",\"image\":\"{image}\",\"edge\":{edge},\
         \"ms\":{:.4},\"bytes\":{bytes},\"ratio\":{:.3}}}",
        seconds * 1e3,
        bytes as f64 / raw
    );
}

fn best<T>(mut run: impl FnMut() -> T) -> f64 {
    let mut least = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        black_box(run());
        least = least.min(start.elapsed().as_secs_f64());
    }
    least
}

/// A noisy star field, the same after smoothing, counts of exposures, and a mostly empty image.
fn images(edge: u32) -> [(&'static str, Vec<f32>); 4] {
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1 << 24) as f32
    };
    let size = (edge * edge) as usize;
    let stars: Vec<[f32; 3]> = (0..edge)
        .map(|_| [random(), random(), random()])
        .map(|[x, y, flux]| [x * edge as f32, y * edge as f32, 3.0 / (0.01 + flux)])
        .collect();
    let mut smooth = vec![0.0_f32; size];
    for (i, value) in smooth.iter_mut().enumerate() {
        *value = (i as f32 / size as f32) * 20.0;
    }
    for [x, y, flux] in stars {
        let (x0, y0) = ((x as u32).saturating_sub(8), (y as u32).saturating_sub(8));
        for row in y0..(y0 + 17).min(edge) {
            for column in x0..(x0 + 17).min(edge) {
                let (dx, dy) = (column as f32 - x, row as f32 - y);
                smooth[(row * edge + column) as usize] += flux * (-(dx * dx + dy * dy) / 8.0).exp();
            }
        }
    }
    let mut normal = || (0..6).map(|_| random() - 0.5).sum::<f32>();
    let noisy = smooth.iter().map(|value| value + 3.0 * normal()).collect();
    let sparse = (0..size)
        .map(|_| normal())
        .map(|value| if value > 0.8 { value } else { 0.0 })
        .collect();
    let counts = (0..size)
        .map(|_| (40.0 - normal().abs() * 3.0).floor())
        .collect();
    [
        ("noisy", noisy),
        ("smooth", smooth),
        ("counts", counts),
        ("sparse", sparse),
    ]
}
