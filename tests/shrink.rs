//! One coarse tile out of rows that pass by, against the tiles of a plane in memory.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "a test may stop at the first surprise"
)]

use proptest::prelude::*;
use sectile::budget::Budget;
use sectile::error::Error;
use sectile::raster::plane::{Range, Sample, quantise};
use sectile::raster::pyramid::Pyramid;
use sectile::raster::shrink::Shrink;
use sectile::raster::tiles::Order;

/// Values with NaN, infinities and a wide range of sizes.
fn values(count: usize, mut state: u64) -> Vec<f64> {
    state |= 1;
    (0..count)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            match state % 16 {
                0..=3 => f64::NAN,
                4 if state & 0x1000 == 0 => f64::INFINITY,
                5 if state & 0x1000 == 0 => f64::NEG_INFINITY,
                _ => (state % 1_000_003) as f64 / 7.0 - 50_000.0,
            }
        })
        .collect()
}

/// The values of a tile, top row first, and its size.
fn shrunk<T: Sample>(
    plane: &[T],
    (width, height): (u32, u32),
    halvings: u32,
    order: Order,
) -> (Vec<T>, u32) {
    let mut budget = Budget::new(Shrink::<T>::bytes(width, halvings));
    let mut shrink = Shrink::new((width, height), halvings, order, &mut budget).unwrap();
    let (columns, rows) = shrink.size();
    let mut out = vec![T::default(); columns as usize * rows as usize];
    let mut seen = vec![0; rows as usize];
    let mut take = |row: &[T]| {
        shrink
            .row(row, |at, values| {
                seen[at as usize] += 1;
                out[at as usize * columns as usize..][..columns as usize].copy_from_slice(values);
            })
            .unwrap();
    };
    let lines = plane.chunks_exact(width as usize);
    match order {
        // A plane in FITS order has its lowest row first.
        Order::BottomUp => lines.for_each(&mut take),
        Order::TopDown => lines.rev().for_each(&mut take),
    }
    assert!(shrink.is_done());
    assert!(seen.iter().all(|times| *times == 1));
    let wrong = shrink.row(&plane[..width as usize], |_, _| {});
    assert!(matches!(wrong, Err(Error::Parameter { name: "rows", .. })));
    (out, columns)
}

/// The mean of what is not NaN of each square, by its definition, from the top left corner on.
fn halved_by_definition<T: Sample>(plane: &[T], width: usize) -> (Vec<T>, usize) {
    let height = plane.len() / width;
    let mut out = Vec::new();
    for (y, x) in (0..height)
        .step_by(2)
        .flat_map(|y| (0..width).step_by(2).map(move |x| (y, x)))
    {
        let square = [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(dx, dy)| (x + dx, y + dy));
        let inside = square.iter().filter(|(x, y)| *x < width && *y < height);
        let all = inside.map(|(x, y)| plane[y * width + x].wide());
        let all: Vec<f64> = all.filter(|value| !value.is_nan()).collect();
        out.push(T::narrow(all.iter().sum::<f64>() / all.len() as f64));
    }
    (out, width.div_ceil(2))
}

fn bits<T: Sample>(values: &[T]) -> Vec<u64> {
    let bits = |value: f64| {
        if value.is_nan() {
            u64::MAX
        } else {
            value.to_bits()
        }
    };
    values.iter().map(|value| bits(value.wide())).collect()
}

fn compare<T: Sample>(plane: &[T], width: u32, height: u32, tile: u32) {
    let pyramid = Pyramid::new(width, height, tile).unwrap();
    for z in 0..pyramid.levels() {
        let (columns, rows) = pyramid.tiles(z).unwrap();
        for (x, y) in (0..columns).flat_map(|x| (0..rows).map(move |y| (x, y))) {
            let rect = pyramid.tile_rect(z, x, y).unwrap();
            let part: Vec<T> = (rect.y0..rect.y1)
                .flat_map(|row| {
                    let start = (row * width + rect.x0) as usize;
                    plane[start..][..rect.width() as usize].iter().copied()
                })
                .collect();
            let halvings = pyramid.levels() - 1 - z;
            let size = (rect.width(), rect.height());
            let (low, side) = shrunk(&part, size, halvings, Order::BottomUp);
            let (high, _) = shrunk(&part, size, halvings, Order::TopDown);
            assert_eq!(bits(&low), bits(&high));
            let mut lines: Vec<&[T]> = part.chunks(rect.width() as usize).collect();
            lines.reverse();
            let mut wanted = (lines.concat(), rect.width() as usize);
            for _ in 0..halvings {
                wanted = halved_by_definition(&wanted.0, wanted.1);
            }
            assert_eq!(bits(&low), bits(&wanted.0));
            let mut range = Range::new();
            range.see(&low);
            let scale = range.scale();
            let mut codes = vec![0; (tile * tile) as usize];
            for (line, row) in codes
                .chunks_exact_mut(tile as usize)
                .zip(low.chunks(side as usize))
            {
                quantise(row, &scale, &mut line[..side as usize]);
            }
            assert_eq!(codes, pyramid.render((z, x, y), &part, &scale).unwrap());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn a_tile_of_rows_that_pass_by_is_the_tile_of_the_plane(
        width in 1_u32..70, height in 1_u32..70, tile in 2_u32..20, seed: u64,
    ) {
        let plane = values((width * height) as usize, seed);
        compare(&plane, width, height, tile);
        let narrow: Vec<f32> = plane.iter().map(|value| *value as f32).collect();
        compare(&narrow, width, height, tile);
    }
}

#[test]
fn a_pixel_a_row_and_a_column_shrink_too() {
    for (width, height) in [(1, 1), (1, 37), (37, 1), (2, 3)] {
        compare(
            &values(width as usize * height as usize, 5),
            width,
            height,
            4,
        );
    }
    let (all_blank, side) = shrunk(&[f32::NAN; 35], (7, 5), 2, Order::BottomUp);
    assert_eq!((all_blank.len(), side), (4, 2));
    assert!(all_blank.iter().all(|value| value.is_nan()));
}

#[test]
fn what_makes_no_plane_is_refused() {
    let mut budget = Budget::new(1000);
    for shape in [(0, 1), (1, 0)] {
        let refused = Shrink::<f32>::new(shape, 1, Order::TopDown, &mut budget);
        assert!(matches!(
            refused,
            Err(Error::Parameter { name: "shape", .. })
        ));
    }
    let refused = Shrink::<f32>::new((1 << 20, 4), 3, Order::TopDown, &mut budget);
    assert!(matches!(refused, Err(Error::Budget { .. })));
    let mut shrink = Shrink::<f32>::new((3, 2), 1, Order::TopDown, &mut budget).unwrap();
    assert!(shrink.row(&[1.0; 2], |_, _| {}).is_err());
    assert!(!shrink.is_done());
}
