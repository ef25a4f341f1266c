//! Images of an ion's isotopes for benches: scattered peaks, a tissue, and noise in every pixel.

use sectile::ion::score::Sparse;

use super::lines::Dice;

/// The images of four isotopes as lists.
pub(crate) struct Images {
    pub(crate) name: &'static str,
    lists: [(Vec<u32>, Vec<f32>); 4],
}

/// What the isotopes should have.
pub(crate) const THEORY: [f64; 4] = [100.0, 34.1, 8.3, 1.4];

impl Images {
    /// Some of each kind, of `side`×`side` pixels.
    pub(crate) fn all(side: u32, each: usize) -> Vec<Vec<Self>> {
        let mut dice = Dice(4);
        let scattered = |dice: &mut Dice, _| (dice.part() < 0.05).then(|| dice.part() + 0.01);
        let tissue = |dice: &mut Dice, pixel: u32| {
            let (x, y) = ((pixel % side) as f32, (pixel / side) as f32);
            let half = side as f32 / 2.0;
            let (dx, dy) = ((x - half) / half, (y - half) / half);
            let inside = 1.0 - dx * dx - dy * dy + 0.3 * (9.0 * dx).sin() * (7.0 * dy).cos();
            (inside > 0.2).then(|| inside * (0.7 + 0.6 * dice.part()))
        };
        let noise = |dice: &mut Dice, _| Some(dice.part() + 0.01);
        vec![
            (0..each)
                .map(|_| Self::of("5 % of the pixels", side, &mut dice, scattered))
                .collect(),
            (0..each)
                .map(|_| Self::of("a tissue", side, &mut dice, tissue))
                .collect(),
            (0..each)
                .map(|_| Self::of("noise in all pixels", side, &mut dice, noise))
                .collect(),
        ]
    }

    fn of(
        name: &'static str,
        side: u32,
        dice: &mut Dice,
        value: impl Fn(&mut Dice, u32) -> Option<f32>,
    ) -> Self {
        let mut lists = [(); 4].map(|()| (Vec::new(), Vec::new()));
        for pixel in 0..side * side {
            let Some(value) = value(dice, pixel) else {
                continue;
            };
            for ((pixels, values), theory) in lists.iter_mut().zip(THEORY) {
                pixels.push(pixel);
                values.push(value * theory as f32 * (0.8 + 0.4 * dice.part()));
            }
        }
        Self { name, lists }
    }

    pub(crate) fn lists(&self) -> [Sparse<'_>; 4] {
        self.lists
            .each_ref()
            .map(|(pixels, values)| Sparse { pixels, values })
    }

    /// The first image with a value for every pixel.
    pub(crate) fn dense(&self, side: u32) -> Vec<f32> {
        let mut image = vec![0.0; (side * side) as usize];
        for (pixel, value) in self.lists[0].0.iter().zip(&self.lists[0].1) {
            image[*pixel as usize] = *value;
        }
        image
    }
}

/// The chaos of a dense image the plain way: at each of 30 levels dilate, erode and label. Two passes and a union-find
/// for each labelling, which is no slow way to do it.
pub(crate) fn labelled(image: &[f32], side: usize) -> f64 {
    let max = image.iter().copied().fold(0.0, f32::max);
    let wide = side + 2;
    let (mut set, mut dilated, mut closed) = (
        vec![0_u8; wide * wide],
        vec![1_u8; wide * wide],
        vec![0_u8; wide * wide],
    );
    let mut labels = vec![0_u32; wide * wide];
    let mut above: Vec<u32> = Vec::new();
    let mut count = 0;
    for level in 0..30_u8 {
        let level = max * f32::from(level) / 30.0;
        for y in 0..side {
            for x in 0..side {
                set[(y + 1) * wide + x + 1] = u8::from(image[y * side + x] > level);
            }
        }
        let inside = || (1..=side).flat_map(|y| (1..=side).map(move |x| y * wide + x));
        for at in inside() {
            dilated[at] = set[at] | set[at - 1] | set[at + 1] | set[at - wide] | set[at + wide];
        }
        for at in inside() {
            let rows = [at - wide, at, at + wide];
            closed[at] = rows.iter().fold(1, |all, at| {
                all & dilated[at - 1] & dilated[*at] & dilated[at + 1]
            });
        }
        above.clear();
        above.push(0);
        for at in inside().filter(|at| closed[*at] == 1) {
            let (left, up) = (closed[at - 1] == 1, closed[at - wide] == 1);
            labels[at] = match (left, up) {
                (false, false) => {
                    above.push(above.len() as u32);
                    count += 1;
                    above.len() as u32 - 1
                }
                (true, false) => labels[at - 1],
                (false, true) => labels[at - wide],
                (true, true) => {
                    let one = root(&mut above, labels[at - 1]);
                    let other = root(&mut above, labels[at - wide]);
                    if one != other {
                        above[one.max(other) as usize] = one.min(other);
                        count -= 1;
                    }
                    one.min(other)
                }
            };
        }
    }
    let positive = image.iter().filter(|value| **value > 0.0).count();
    1.0 - f64::from(count) / 30.0 / positive as f64
}

fn root(above: &mut [u32], mut node: u32) -> u32 {
    while above[node as usize] != node {
        above[node as usize] = above[above[node as usize] as usize];
        node = above[node as usize];
    }
    node
}
