//! The file of all resolutions against its definition, tile by tile.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    dead_code,
    reason = "a test; the shared modules serve several files"
)]

mod shard_cases;
mod stack_cases;

use proptest::prelude::*;
use sectile::error::{Error, Result};
use sectile::fits::pixel::{Bitpix, Encoding};
use sectile::fits::write::ImageHeader;
use sectile::job::{Fetch, Job, Machine, Step};
use sectile::raster::plane::{Range, Sample, Scale};
use sectile::raster::pyramid::Pyramid;
use sectile::raster::tiles::{AsValues, Builder, Order};
use sectile::results::pyramid::{Band, Cubes, HEAD_READ, LARGEST, Open, PyramidJob};
use sectile::results::stack::Layout;
use shard_cases::{assembled, described, parts};
use stack_cases::{Dice, Files, files, memory, plain};

const BUDGET: u64 = 64 << 20;
const WIDE: Encoding = Encoding {
    bitpix: Bitpix::F64,
    bscale: 1.0,
    bzero: 0.0,
    blank: None,
};

fn layout(width: u32, height: u32, wide: bool) -> Layout {
    let bitpix = if wide { Bitpix::F64 } else { Bitpix::F32 };
    let mut primary = ImageHeader::primary(bitpix, width, height);
    primary.history = vec!["made of nothing".to_owned()];
    Layout::new(&primary, &ImageHeader::count(width, height)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn tiles_lie_in_the_order_in_which_rows_finish_them(
        width in 1_u32..200,
        height in 1_u32..200,
        tile in 2_u32..40,
    ) {
        let (cubes, _) = Cubes::new(&layout(width, height, false), tile).unwrap();
        let pyramid = cubes.pyramid;
        let scale = Scale::fit(0.0, 1.0);
        let mut builder = Builder::<f32>::new(pyramid, scale, Order::BottomUp);
        let mut order = Vec::new();
        let row = vec![0.5; width as usize];
        for _ in 0..height {
            builder.rows(&row, &mut |tile| {
                order.push((tile.z, tile.x, tile.y));
                Ok::<(), Error>(())
            }).unwrap();
        }
        let places: Vec<u64> = order.iter().map(|(z, x, y)| cubes.place(*z, *x, *y).unwrap()).collect();
        prop_assert_eq!(places, (0..cubes.planes()).collect::<Vec<u64>>());
        for (z, x, y) in [(pyramid.levels(), 0, 0), (0, 1, 0), (0, 0, 1)] {
            prop_assert_eq!(cubes.place(z, x, y), None);
            prop_assert_eq!(cubes.median(z, x, y), None);
        }
    }

    #[test]
    fn values_of_tiles_have_the_codes_that_the_pyramid_renders(
        (width, height) in (1_u32..90, 1_u32..90),
        tile in 2_u32..20,
        seed in 1_u64..1000,
        top_down: bool,
    ) {
        let mut dice = Dice(seed);
        let values: Vec<f32> = (0..width * height).map(|_| match dice.below(9) {
            0 => f32::NAN,
            _ => dice.below(1_000_000) as f32 * 0.37 - 99.5,
        }).collect();
        let mut seen = Range::new();
        seen.see(&values);
        let scale = seen.scale();
        let pyramid = Pyramid::new(width, height, tile).unwrap();
        let order = if top_down { Order::TopDown } else { Order::BottomUp };
        let mut budget = sectile::budget::Budget::new(BUDGET);
        let mut builder = Builder::<f32, AsValues>::within(pyramid, AsValues, order, &mut budget).unwrap();
        let mut count = 0;
        let wide = width as usize;
        for row in 0..height as usize {
            let at = if top_down { height as usize - 1 - row } else { row };
            builder.rows(&values[at * wide..][..wide], &mut |tile| {
                let rect = pyramid.tile_rect(tile.z, tile.x, tile.y).unwrap();
                let part: Vec<f32> = (rect.y0..rect.y1)
                    .flat_map(|y| &values[(y * width + rect.x0) as usize..(y * width + rect.x1) as usize])
                    .copied()
                    .collect();
                let codes = pyramid.render((tile.z, tile.x, tile.y), &part, &scale).unwrap();
                let mut ours = vec![0; codes.len()];
                sectile::raster::plane::quantise(tile.codes, &scale, &mut ours);
                assert_eq!(ours, codes);
                count += 1;
                Ok::<(), Error>(())
            }).unwrap();
        }
        builder.finish().unwrap();
        let (cubes, _) = Cubes::new(&layout(width, height, false), tile).unwrap();
        prop_assert_eq!(count, cubes.planes());
    }
}

/// All that is handed out, from files in memory; fetches come in any order.
fn run(mut job: PyramidJob, files: &[Vec<u8>], dice: &mut Dice) -> Result<Vec<u8>> {
    let mut file = Vec::new();
    let mut waiting: Vec<Fetch> = Vec::new();
    loop {
        while let Some(fetch) = job.next() {
            waiting.push(fetch);
        }
        while let Some(bytes) = job.ready()? {
            file.extend_from_slice(bytes);
        }
        if job.is_done() {
            assert!(waiting.is_empty() && job.next().is_none());
            return Ok(file);
        }
        if waiting.is_empty() {
            continue;
        }
        let fetch = waiting.remove(dice.below(waiting.len()));
        let body = |read: &sectile::job::Read| {
            &files[read.source as usize][read.range.start as usize..read.range.end as usize]
        };
        if dice.below(2) == 0 {
            let mut buffer = job.lend(&fetch);
            buffer.copy_from_slice(body(&fetch.reads[0]));
            job.filled(&fetch, buffer)?;
        } else {
            for (at, piece) in body(&fetch.reads[0]).chunks(11).enumerate() {
                job.feed(fetch.slot, 0, at as u64 * 11, piece.len(), |place| {
                    place.copy_from_slice(piece);
                })?;
            }
            job.complete(fetch.slot)?;
        }
    }
}

/// A median as a FITS file, its layout, and parts with their bands.
struct Scene {
    layout: Layout,
    whole: Vec<u8>,
    parts: Vec<Vec<u8>>,
    bands: Vec<Band>,
}

fn scene(files: &Files, shards: u32) -> Scene {
    let job = described(files, &memory(BUDGET), shards);
    let (parts, sums) = parts(files, &memory(BUDGET), &job);
    let identities = job.parts().unwrap();
    let bands = identities.iter().zip(&sums);
    Scene {
        layout: job.layout(),
        whole: assembled(&job, &parts, &sums),
        bands: bands
            .map(|(part, sums)| Band::of_part(&part.name(), part, *sums))
            .collect(),
        parts,
    }
}

/// A plane of values, read out of a FITS file.
fn plane<const N: usize>(
    file: &[u8],
    at: u64,
    pixels: u32,
    value: impl Fn([u8; N]) -> f64,
) -> Vec<f64> {
    let bytes = &file[at as usize..][..pixels as usize * N];
    bytes
        .as_chunks::<N>()
        .0
        .iter()
        .map(|bytes| value(*bytes))
        .collect()
}

/// A level, top row first, and its width: means of squares of the finer one, as the rule says.
fn halved<T: Sample>(values: &[f64], width: usize) -> (Vec<f64>, usize) {
    let height = values.len() / width;
    let mut out = Vec::new();
    for y in (0..height).step_by(2) {
        for x in (0..width).step_by(2) {
            let (mut sum, mut count) = (0.0, 0.0);
            for (x, y) in [(x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1)] {
                if x < width && y < height && !values[y * width + x].is_nan() {
                    sum += values[y * width + x];
                    count += 1.0;
                }
            }
            out.push(T::narrow(sum / count).wide());
        }
    }
    (out, width.div_ceil(2))
}

/// Compares every tile of a cube with the definition.
fn compare<T: Sample, const N: usize>(
    file: &[u8],
    cubes: &Cubes,
    fits_order: &[f64],
    range: impl Fn(u32, u32, u32) -> Option<std::ops::Range<u64>>,
    value: impl Fn([u8; N]) -> f64,
) {
    let (width, pyramid) = (cubes.width as usize, cubes.pyramid);
    let edge = pyramid.tile() as usize;
    let mut level: Vec<f64> = fits_order.chunks(width).rev().flatten().copied().collect();
    let mut columns_of_level = width;
    for z in (0..pyramid.levels()).rev() {
        let rows_of_level = level.len() / columns_of_level;
        let (columns, rows) = pyramid.tiles(z).unwrap();
        for (x, y) in (0..rows).flat_map(|y| (0..columns).map(move |x| (x, y))) {
            let range = range(z, x, y).unwrap();
            let tile = &file[range.start as usize..range.end as usize];
            for (i, bytes) in tile.as_chunks::<N>().0.iter().enumerate() {
                // The lowest row of a plane comes first.
                let at_x = x as usize * edge + i % edge;
                let at_y = y as usize * edge + edge - 1 - i / edge;
                let expected = if at_x < columns_of_level && at_y < rows_of_level {
                    level[at_y * columns_of_level + at_x]
                } else {
                    f64::NAN
                };
                let found = value(*bytes);
                assert!(
                    found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan(),
                    "{z}/{x}/{y}, pixel {i}: {found} for {expected}"
                );
            }
        }
        if z > 0 {
            (level, columns_of_level) = halved::<T>(&level, columns_of_level);
        }
    }
}

#[test]
fn every_tile_is_what_the_definition_says_at_any_division() {
    for (kinds, (width, height), tile) in [
        (&[plain()][..], (37, 29), 8),
        (&[plain(), WIDE][..], (50, 33), 16),
        (&[plain()][..], (1, 40), 4),
        (&[plain()][..], (40, 1), 4),
        (&[plain()][..], (7, 7), 256),
    ] {
        let files = files(4, width, height, kinds);
        let mut dice = Dice(u64::from(width * height));
        let mut before: Option<Vec<u8>> = None;
        for shards in [1, 3.min(height), height] {
            let scene = scene(&files, shards);
            let shape = Cubes::new(&scene.layout, tile).unwrap();
            let cubes = shape.0;
            for in_flight in [1, 4] {
                let need = PyramidJob::bytes(&cubes, scene.bands.len(), in_flight);
                let job =
                    |memory| PyramidJob::new(shape.clone(), scene.bands.clone(), memory, in_flight);
                let error = job(need - 1).unwrap_err();
                assert!(
                    matches!(error, Error::Budget { need: told, .. } if told == need),
                    "{error}"
                );
                let made = run(job(need).unwrap(), &scene.parts, &mut dice).unwrap();
                assert_eq!(made.len() as u64, cubes.total());
                let same = before.get_or_insert_with(|| made.clone());
                assert!(*same == made, "{shards} shards, {in_flight} in flight");
            }
            // Out of the finished file as well.
            let band = Band::of_file("whole", &scene.layout);
            let job = PyramidJob::new(shape.clone(), vec![band], BUDGET, 2).unwrap();
            let made = run(job, std::slice::from_ref(&scene.whole), &mut dice).unwrap();
            assert!(before.as_ref() == Some(&made));
            let (pixels, at) = (width * height, scene.layout.value_at(0, 0));
            if cubes.wide {
                let values = plane(&scene.whole, at, pixels, f64::from_be_bytes);
                compare::<f64, 8>(
                    &made,
                    &cubes,
                    &values,
                    |z, x, y| cubes.median(z, x, y),
                    f64::from_be_bytes,
                );
            } else {
                let value = |bytes| f64::from(f32::from_be_bytes(bytes));
                let values = plane(&scene.whole, at, pixels, value);
                compare::<f32, 4>(
                    &made,
                    &cubes,
                    &values,
                    |z, x, y| cubes.median(z, x, y),
                    value,
                );
            }
            let at = scene.layout.count_at(0, 0);
            let counts = plane(&scene.whole, at, pixels, |bytes| {
                f64::from(u16::from_be_bytes(bytes))
            });
            let value = |bytes| f64::from(f32::from_be_bytes(bytes));
            compare::<f32, 4>(
                &made,
                &cubes,
                &counts,
                |z, x, y| cubes.count(z, x, y),
                value,
            );
        }
    }
}

#[test]
fn memory_does_not_grow_with_the_height() {
    let need = |height| {
        let (cubes, _) = Cubes::new(&layout(500, height, true), 64).unwrap();
        PyramidJob::bytes(&cubes, 12, 4)
    };
    // Levels above are narrow.
    assert!(need(1_000_000) < need(1000) + (1 << 20));
}

#[test]
fn a_damaged_part_is_named_with_its_byte() {
    let files = files(3, 20, 18, &[plain()]);
    let scene = scene(&files, 3);
    let shape = Cubes::new(&scene.layout, 8).unwrap();
    for (part, at, from) in [(1, 100, 96), (2, 96 + 6 * 20 * 4 + 3, 96 + 6 * 20 * 4)] {
        let mut parts = scene.parts.clone();
        parts[part][at] ^= 1;
        let job = PyramidJob::new(shape.clone(), scene.bands.clone(), BUDGET, 2).unwrap();
        let error = run(job, &parts, &mut Dice(5)).unwrap_err();
        let Error::Format { file, at, .. } = &error else {
            panic!("{error}")
        };
        assert_eq!(
            (file.as_str(), *at),
            (format!("{}/3", part + 1).as_str(), from)
        );
    }
    let short = scene.bands[..2].to_vec();
    assert!(PyramidJob::new(shape.clone(), short, BUDGET, 2).is_err());
    assert!(PyramidJob::new(shape, scene.bands, BUDGET, 0).is_err());
}

/// Opens a file in memory as a driver does.
fn open(file: &[u8], reads: &mut u32) -> Result<Cubes> {
    let mut open = Open::new("p", BUDGET);
    loop {
        match open.step()? {
            Step::Need(range) => {
                *reads += 1;
                let end = (range.end as usize).min(file.len());
                let start = (range.start as usize).min(end);
                open.feed(range.start, &file[start..end], Some(file.len() as u64))?;
            }
            Step::Ready(()) => {}
            Step::Done => return open.into_cubes(),
        }
    }
}

#[test]
fn a_file_is_opened_by_its_header_and_only_then() {
    let files = files(3, 20, 18, &[plain()]);
    let scene = scene(&files, 2);
    let (cubes, head) = Cubes::new(&scene.layout, 8).unwrap();
    let job = PyramidJob::new((cubes, head.clone()), scene.bands, BUDGET, 2).unwrap();
    let file = run(job, &scene.parts, &mut Dice(9)).unwrap();
    let mut reads = 0;
    assert_eq!(open(&file, &mut reads).unwrap(), cubes);
    assert_eq!(reads, 1);
    for (from, to) in [
        (
            "BITPIX  =                  -32",
            "BITPIX  =                   16",
        ),
        (
            "NAXIS   =                    3",
            "NAXIS   =                    2",
        ),
        (
            "NAXIS2  =                    8",
            "NAXIS2  =                    9",
        ),
        (
            "TILE    =                    8",
            "TILE    =                    1",
        ),
        (
            "TILE    =                    8",
            "TILE    =           4294967296",
        ),
        (
            "WIDTH   =                   20",
            "WIDTH   =                   -1",
        ),
        (
            "WIDTH   =                   20",
            "WIDTH   =           4294967295",
        ),
        (
            "HEIGHT  =                   18",
            "HEIGHT  =                  180",
        ),
        (
            "LEVELS  =                    3",
            "LEVELS  =                    4",
        ),
        ("LEVELS  =", "LEVEL   ="),
    ] {
        let text = String::from_utf8(file[..head.len()].to_vec()).unwrap();
        let wrong = text.replacen(from, to, 1);
        assert_ne!(wrong, text, "{from}");
        let wrong = [wrong.as_bytes(), &file[head.len()..]].concat();
        let error = open(&wrong, &mut reads).unwrap_err();
        assert!(matches!(error, Error::Format { .. }), "{from}: {error}");
    }
    for short in [0, 79, 2879, 2880, file.len() - 1] {
        assert!(open(&file[..short], &mut reads).is_err(), "{short}");
    }
    let endless = vec![b' '; 20 << 20];
    let error = open(&endless, &mut reads).unwrap_err();
    assert!(error.to_string().contains("does not end"), "{error}");
}

#[test]
fn a_long_history_takes_more_than_one_read() {
    let mut primary = ImageHeader::primary(Bitpix::F32, 5, 4);
    primary.history = (0..2000).map(|i| format!("exposure {i}")).collect();
    let layout = Layout::new(&primary, &ImageHeader::count(5, 4)).unwrap();
    let (cubes, head) = Cubes::new(&layout, 4).unwrap();
    assert!(head.len() as u64 > HEAD_READ);
    let mut file = head;
    file.resize(cubes.total() as usize, 0);
    let mut reads = 0;
    assert_eq!(open(&file, &mut reads).unwrap(), cubes);
    assert!(reads > 1);
}

#[test]
fn tiles_and_images_beyond_reason_are_refused() {
    for tile in [0, 1, LARGEST + 1] {
        assert!(Cubes::new(&layout(10, 10, false), tile).is_err());
    }
    // Where tiles lie follows from the header's length.
    let (cubes, head) = Cubes::new(&layout(10, 10, false), 4).unwrap();
    assert_eq!(Cubes::read("a", &head).unwrap(), cubes);
    let longer = [&head[..], &[b' '; 2880]].concat();
    for wrong in [&head[..head.len() - 80], &head[..0], &longer] {
        let error = Cubes::read("a", wrong).unwrap_err().to_string();
        assert!(error.contains("whole blocks"), "{error}");
    }
    let vast = layout(u32::MAX, u32::MAX, true);
    assert!(Cubes::new(&vast, 2).is_err());
}
