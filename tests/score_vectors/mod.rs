//! Scores against slow ones and against the reference programs': the same natively and in a browser.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    clippy::float_cmp,
    reason = "a test; each file uses a part of the cases"
)]

pub(crate) mod golden;

use sectile::budget::Budget;
use sectile::ion::score::{Area, Options, Scorer, Sparse, chaos};

/// Random numbers that are the same everywhere.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// 0 to below 1.
    pub(crate) fn part(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1_u64 << 24) as f32
    }
}

/// The measure of chaos by one labelling for each level, straight from its description.
pub(crate) fn labelled(values: &[f32], width: usize, height: usize, levels: usize) -> f64 {
    let max = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let positive = values.iter().filter(|value| **value > 0.0).count();
    if positive == 0 {
        return f64::NAN;
    }
    let at = |x: isize, y: isize| {
        let inside = (0..width as isize).contains(&x) && (0..height as isize).contains(&y);
        inside.then(|| y as usize * width + x as usize)
    };
    let everywhere =
        || (0..height as isize).flat_map(move |y| (0..width as isize).map(move |x| (x, y)));
    const CROSS: [(isize, isize); 5] = [(0, 0), (-1, 0), (1, 0), (0, -1), (0, 1)];
    let mut count = 0;
    for level in 0..levels {
        let level = max * level as f32 / levels as f32;
        let set: Vec<bool> = values.iter().map(|value| *value > level).collect();
        let dilated: Vec<bool> = everywhere()
            .map(|(x, y)| {
                let mut near = CROSS.iter().filter_map(|(dx, dy)| at(x + dx, y + dy));
                near.any(|pixel| set[pixel])
            })
            .collect();
        let mut closed: Vec<bool> = everywhere()
            .map(|(x, y)| {
                let near = (-1..=1).flat_map(|dy| (-1..=1).map(move |dx| (dx, dy)));
                let mut near = near.filter_map(|(dx, dy)| at(x + dx, y + dy));
                near.all(|pixel| dilated[pixel])
            })
            .collect();
        for (x, y) in everywhere() {
            let mut stack = vec![(x, y)];
            let mut part = false;
            while let Some((x, y)) = stack.pop() {
                let Some(pixel) = at(x, y).filter(|pixel| closed[*pixel]) else {
                    continue;
                };
                closed[pixel] = false;
                part = true;
                stack.extend(CROSS.map(|(dx, dy)| (x + dx, y + dy)));
            }
            count += u32::from(part);
        }
    }
    1.0 - f64::from(count) / levels as f64 / positive as f64
}

/// Images of many kinds: noise that is sparse or dense, coarse or fine; blots, stripes, spirals, constants.
pub(crate) fn images(
    dice: &mut Dice,
    width: usize,
    height: usize,
) -> Vec<(&'static str, Vec<f32>)> {
    let pixels = width * height;
    let mut all = vec![
        ("zero", vec![0.0; pixels]),
        ("constant", vec![3.7; pixels]),
        ("negative", (0..pixels).map(|_| -dice.part()).collect()),
        ("noise", (0..pixels).map(|_| dice.part()).collect()),
        (
            "both signs",
            (0..pixels).map(|_| dice.part() - 0.5).collect(),
        ),
    ];
    for (name, density, steps) in [
        ("sparse", 0.02, 1000.0),
        ("spread", 0.1, 1000.0),
        ("half", 0.5, 1000.0),
        ("plateaus", 0.9, 4.0),
        ("binary", 0.6, 1.0),
        ("dense", 0.95, 30.0),
    ] {
        let mut value = || {
            if dice.part() < density {
                (dice.part() * steps).ceil()
            } else {
                0.0
            }
        };
        all.push((name, (0..pixels).map(|_| value()).collect()));
    }
    let mut blots = vec![0.0; pixels];
    for _ in 0..=pixels / 60 {
        let (x, y) = (dice.part() * width as f32, dice.part() * height as f32);
        let (size, top) = (1.0 + 4.0 * dice.part(), dice.part());
        for (pixel, value) in blots.iter_mut().enumerate() {
            let (dx, dy) = ((pixel % width) as f32 - x, (pixel / width) as f32 - y);
            *value += (top * (1.0 - (dx * dx + dy * dy) / (size * size))).max(0.0);
        }
    }
    all.push(("blots", blots));
    let ring = |pixel: usize| {
        let (x, y) = (pixel % width, pixel / width);
        x.min(y).min(width - 1 - x).min(height - 1 - y)
    };
    all.push((
        "rings",
        (0..pixels)
            .map(|pixel| (ring(pixel) % 4 / 2 * ring(pixel)) as f32)
            .collect(),
    ));
    let spiral = |pixel: usize| {
        let (x, y) = (pixel % width, pixel / width);
        let open = y > 0 && x == ring(pixel) + 2 && y == ring(pixel) + 1;
        if ring(pixel) % 6 < 3 || open {
            1.0 + (pixel % 97) as f32
        } else {
            0.0
        }
    };
    all.push(("spiral", (0..pixels).map(spiral).collect()));
    all.push((
        "stripes",
        (0..pixels)
            .map(|pixel| ((pixel % width) % 5) as f32)
            .collect(),
    ));
    all
}

/// Images of these sizes have as much chaos as one labelling for each level finds.
pub(crate) fn chaos_is_labelled(sizes: &[(usize, usize)]) {
    let mut dice = Dice(11);
    for (width, height) in sizes.iter().copied() {
        for (name, image) in images(&mut dice, width, height) {
            for levels in [1, 2, 5, 30, 32] {
                let expected = labelled(&image, width, height, levels);
                let found = chaos::measure(&image, width as u32, height as u32, levels as u8);
                let found = found.unwrap();
                assert!(
                    (found - expected).abs() < 1e-12 || found.is_nan() && expected.is_nan(),
                    "{name} of {width}×{height} at {levels} levels: {found}, not {expected}"
                );
            }
        }
    }
}

/// A scorer gives an image's chaos as the function on arrays does, whatever image it had before.
pub(crate) fn lists_have_the_chaos_of_arrays(sizes: &[(usize, usize)]) {
    let mut dice = Dice(23);
    for (width, height) in sizes.iter().copied() {
        let (wide, high) = (width as u32, height as u32);
        let mut scorer = scorer(wide, high);
        for (name, image) in images(&mut dice, width, height) {
            let mut touched: Vec<u32> = (0..wide * high).collect();
            touched.retain(|pixel| image[*pixel as usize] != 0.0);
            // In any order.
            for at in (1..touched.len()).rev() {
                touched.swap(at, dice.below(at as u64 + 1) as usize);
            }
            let values: Vec<f32> = touched.iter().map(|pixel| image[*pixel as usize]).collect();
            let first = Sparse {
                pixels: &touched,
                values: &values,
            };
            let lists = [first, first, Sparse::default(), Sparse::default()];
            let found = scorer.score(&[4.0, 3.0, 0.0, 0.0], &lists, true).unwrap();
            let expected = chaos(&image, wide, high, 30).unwrap();
            assert_eq!(found.chaos, expected, "{name} of {width}×{height}");
        }
    }
}

/// A scorer of images in which every pixel was acquired.
pub(crate) fn scorer(width: u32, height: u32) -> Scorer {
    let area = Area {
        width,
        height,
        acquired: u64::from(width) * u64::from(height),
    };
    let options = Options::default();
    Scorer::new(
        area,
        options,
        &mut Budget::new(Scorer::bytes(area, options)),
    )
    .unwrap()
}

/// A number that the bits of many scores make: what a browser and a machine must agree about.
pub(crate) const BITS: u64 = 14_020_978_721_728_353_373;

/// That number.
pub(crate) fn bits() -> u64 {
    let mut dice = Dice(5);
    let mut all = 0xcbf2_9ce4_8422_2325_u64;
    let area = Area {
        width: 70,
        height: 50,
        acquired: 3300,
    };
    for hotspot in [false, true] {
        let options = Options {
            hotspot,
            ..Options::default()
        };
        let mut scorer = Scorer::new(area, options, &mut Budget::new(1 << 20)).unwrap();
        for _ in 0..20 {
            for (_, image) in images(&mut dice, 70, 50) {
                let mut lists = [(); 4].map(|()| (Vec::new(), Vec::new()));
                for (pixel, value) in (0_u32..3300).zip(image) {
                    for (k, (pixels, values)) in lists.iter_mut().enumerate() {
                        if value != 0.0 && dice.below(4) >= k as u64 {
                            pixels.push(pixel);
                            values.push(value * dice.part());
                        }
                    }
                }
                let images = lists
                    .each_ref()
                    .map(|(pixels, values)| Sparse { pixels, values });
                let metrics = scorer
                    .score(&[100.0, 31.3, 7.7, 1.9], &images, true)
                    .unwrap();
                let scores = [
                    metrics.chaos,
                    metrics.spatial,
                    metrics.spectral,
                    metrics.msm,
                ];
                for score in scores.into_iter().chain(metrics.total) {
                    all = (all ^ score.to_bits()).wrapping_mul(0x0100_0000_01b3);
                }
            }
        }
    }
    all
}
