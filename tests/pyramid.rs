//! Tiles against their definition, streamed and one by one.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "a test may stop at the first surprise"
)]

use std::collections::BTreeMap;

use sectile::error::Error;
use sectile::raster::plane::{Range, Scale};
use sectile::raster::pyramid::{Pyramid, Rect};
use sectile::raster::tiles::{Builder, Order};

#[test]
fn levels_and_rectangles() {
    let pyramid = Pyramid::new(1000, 600, 256).unwrap();
    assert_eq!(pyramid.levels(), 3);
    assert_eq!(pyramid.size(0), Some((250, 150)));
    assert_eq!(pyramid.tiles(0), Some((1, 1)));
    assert_eq!(pyramid.tiles(2), Some((4, 3)));
    assert_eq!(pyramid.step(0), Some(4));
    assert_eq!(pyramid.step(3), None);
    // The top left tile holds the highest FITS rows; the lower right one what is left.
    let rect = |x0, y0, x1, y1| Some(Rect { x0, y0, x1, y1 });
    assert_eq!(pyramid.tile_rect(2, 0, 0), rect(0, 344, 256, 600));
    assert_eq!(pyramid.tile_rect(2, 3, 2), rect(768, 0, 1000, 88));
    assert_eq!(pyramid.tile_rect(0, 0, 0), rect(0, 0, 1000, 600));
    for (z, x, y) in [(3, 0, 0), (2, 4, 0), (2, 0, 3), (0, 0, 1), (u32::MAX, 0, 0)] {
        assert_eq!(pyramid.tile_rect(z, x, y), None);
    }
    for (width, height, levels) in [(1, 1, 1), (256, 256, 1), (257, 1, 2), (512, 513, 3)] {
        assert_eq!(Pyramid::new(width, height, 256).unwrap().levels(), levels);
    }
    let vast = Pyramid::new(u32::MAX, 1, 256).unwrap();
    let (columns, _) = vast.tiles(vast.levels() - 1).unwrap();
    assert_eq!(
        vast.tile_rect(vast.levels() - 1, columns - 1, 0)
            .unwrap()
            .x1,
        u32::MAX
    );
    assert_eq!(
        vast.tile_rect(0, 0, 0),
        Some(Rect {
            x0: 0,
            y0: 0,
            x1: u32::MAX,
            y1: 1
        })
    );
    for (width, height, tile) in [(0, 1, 256), (1, 0, 256), (1, 1, 0), (1, 1, 1), (1, 1, 8193)] {
        assert!(matches!(
            Pyramid::new(width, height, tile),
            Err(Error::Parameter { .. })
        ));
    }
}

/// A plane in FITS order with NaN here and there.
fn plane_of(width: usize, height: usize) -> Vec<f64> {
    let mut state = 88_172_645_463_325_252_u64;
    (0..width * height)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            if state.is_multiple_of(3) {
                f64::NAN
            } else {
                (state % 100_003) as f64 / 7.0
            }
        })
        .collect()
}

/// All tiles by the definition: level by level, pixel by pixel.
fn tiles_by_definition(pyramid: &Pyramid, width: usize, values: &[f64], scale: &Scale) -> Tiles {
    let edge = pyramid.tile() as usize;
    let (mut level, mut width) = (
        values.chunks(width).rev().collect::<Vec<_>>().concat(),
        width,
    );
    let mut tiles = Tiles::new();
    for z in (0..pyramid.levels()).rev() {
        let height = level.len() / width;
        assert_eq!(pyramid.size(z), Some((width as u32, height as u32)));
        let (columns, rows) = pyramid.tiles(z).unwrap();
        for (x, y) in (0..columns).flat_map(|x| (0..rows).map(move |y| (x, y))) {
            let code = |i: usize| {
                let (px, py) = (x as usize * edge + i % edge, y as usize * edge + i / edge);
                let inside = px < width && py < height;
                if inside {
                    scale.code(level[py * width + px])
                } else {
                    0
                }
            };
            tiles.insert((z, x, y), (0..edge * edge).map(code).collect());
        }
        let mut halved = Vec::new();
        for (y, x) in (0..height)
            .step_by(2)
            .flat_map(|y| (0..width).step_by(2).map(move |x| (y, x)))
        {
            let square = [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(dx, dy)| (x + dx, y + dy));
            let inside = square.iter().filter(|(x, y)| *x < width && *y < height);
            let values: Vec<f64> = inside.map(|(x, y)| level[y * width + x]).collect();
            let values: Vec<f64> = values.into_iter().filter(|v| !v.is_nan()).collect();
            halved.push(values.iter().sum::<f64>() / values.len() as f64);
        }
        (level, width) = (halved, width.div_ceil(2));
    }
    tiles
}

type Tiles = BTreeMap<(u32, u32, u32), Vec<u16>>;

fn build(pyramid: Pyramid, scale: Scale, order: Order, band: usize, rows: &[f64]) -> Tiles {
    let (width, _) = pyramid.size(pyramid.levels() - 1).unwrap();
    let mut builder = Builder::new(pyramid, scale, order);
    let mut tiles = Tiles::new();
    for piece in rows.chunks(width as usize * band) {
        builder
            .rows::<Error>(piece, &mut |tile| {
                let before = tiles.insert((tile.z, tile.x, tile.y), tile.codes.to_vec());
                assert_eq!(before, None, "a tile came twice");
                Ok(())
            })
            .unwrap();
    }
    builder.finish().unwrap();
    tiles
}

#[test]
fn tiles_are_the_same_by_definition_by_stream_and_one_by_one() {
    for (width, height, tile) in [
        (37, 29, 4),
        (16, 16, 4),
        (1, 9, 2),
        (50, 1, 8),
        (5, 5, 8),
        (33, 64, 16),
    ] {
        let values = plane_of(width, height);
        let mut seen = Range::new();
        seen.see(&values);
        let scale = seen.scale();
        let pyramid = Pyramid::new(width as u32, height as u32, tile).unwrap();
        let want = tiles_by_definition(&pyramid, width, &values, &scale);
        let flipped: Vec<f64> = values.chunks(width).rev().collect::<Vec<_>>().concat();
        for band in [1, 3, height] {
            assert_eq!(build(pyramid, scale, Order::TopDown, band, &flipped), want);
            assert_eq!(build(pyramid, scale, Order::BottomUp, band, &values), want);
        }
        for (&(z, x, y), codes) in &want {
            let rect = pyramid.tile_rect(z, x, y).unwrap();
            let row = |y: u32| &values[y as usize * width..][rect.x0 as usize..rect.x1 as usize];
            let part: Vec<f64> = (rect.y0..rect.y1).flat_map(row).copied().collect();
            assert_eq!(
                &pyramid.render((z, x, y), &part, &scale).unwrap(),
                codes,
                "{z}/{x}/{y}"
            );
        }
    }
}

#[test]
fn a_builder_refuses_wrong_rows_and_passes_errors_on() {
    let pyramid = Pyramid::new(4, 3, 2).unwrap();
    let scale = Scale::fit(0.0, 1.0);
    let begin = || Builder::<f32>::new(pyramid, scale, Order::TopDown);
    let mut none = |_: sectile::raster::tiles::Tile<'_>| Ok::<(), Error>(());
    assert!(begin().rows(&[0.0; 3], &mut none).is_err());
    assert!(begin().rows(&[0.0; 16], &mut none).is_err());
    let mut builder = begin();
    builder.rows(&[0.0; 8], &mut none).unwrap();
    assert!(matches!(
        builder.finish(),
        Err(Error::Parameter { name: "rows", .. })
    ));
    let full = Error::Parameter {
        name: "disk",
        what: "full".to_owned(),
    };
    let got = begin().rows(&[0.0; 12], &mut |_| Err(full.clone()));
    assert_eq!(got, Err(full));
    assert!(pyramid.render((9, 0, 0), &[0.0_f32; 12], &scale).is_err());
    assert!(pyramid.render((0, 0, 0), &[0.0_f32; 11], &scale).is_err());
}

#[test]
fn a_builder_does_not_grow_with_the_height() {
    // 100,000 columns and four rows of tiles: the memory is that of one row of tiles and its
    // coarser ones, and does not know the height.
    let bytes = |height| Builder::<f32>::bytes(&Pyramid::new(100_000, height, 256).unwrap());
    assert_eq!(bytes(1_000), bytes(50_000));
    let band = 100_000 * 256 * 2;
    assert!(
        (band..band * 9 / 4).contains(&bytes(1_000)),
        "{}",
        bytes(1_000)
    );
}
