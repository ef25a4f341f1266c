//! The demo tissue: an outline, and where what is found in it, somewhat like a section of a brain.

use crate::cli::demo::noise::{Noise, ease};
use crate::cli::demo::random::Random;

/// Columns and rows.
pub const SIZE: [u32; 2] = [60, 45];

/// Pixels to the unit that shapes are given in.
const UNIT: f64 = 22.0;

/// Where a molecule is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    /// In all of the tissue, in clouds.
    Everywhere,
    /// In the outer layer of the upper half.
    Cortex,
    /// In the cortex, the hippocampus and the thalamus.
    GreyMatter,
    /// In the band below the cortex.
    WhiteMatter,
    /// In a curved band on each side.
    Hippocampus,
    /// In the middle.
    Thalamus,
    /// At the bottom of the middle.
    Hypothalamus,
    /// In and around three thin clefts.
    Ventricles,
    /// Along the edge.
    Rim,
    /// Ever more from left to right.
    LeftToRight,
    /// Ever more from top to bottom.
    TopToBottom,
    /// In small spots.
    Spots,
    /// In a disc on the right side.
    Lesion,
    /// Around that disc.
    LesionRim,
}

impl Pattern {
    /// As the list of truths has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Everywhere => "everywhere",
            Self::Cortex => "cortex",
            Self::GreyMatter => "grey_matter",
            Self::WhiteMatter => "white_matter",
            Self::Hippocampus => "hippocampus",
            Self::Thalamus => "thalamus",
            Self::Hypothalamus => "hypothalamus",
            Self::Ventricles => "ventricles",
            Self::Rim => "rim",
            Self::LeftToRight => "left_to_right",
            Self::TopToBottom => "top_to_bottom",
            Self::Spots => "spots",
            Self::Lesion => "lesion",
            Self::LesionRim => "lesion_rim",
        }
    }
}

/// One section of tissue.
#[derive(Debug)]
pub struct Tissue {
    warp: [Noise; 2],
    cloud: Noise,
    /// Centres and squares of radii.
    spots: Vec<([f64; 2], f64)>,
}

/// A place in the tissue, bent as it has grown.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// To the right from the middle, and downwards.
    u: f64,
    v: f64,
    /// 0 at the edge, 1 in the middle, negative outside.
    depth: f64,
    /// Column and row over the size of the grid: for what is not bent.
    even: [f64; 2],
}

impl Tissue {
    /// The section that belongs to a seed.
    pub fn new(seed: u64) -> Self {
        let mut random = Random::new(seed, &[31]);
        let spots = (0..22).map(|_| {
            let centre = [random.between(-1.2, 1.2), random.between(-0.85, 0.85)];
            let radius = random.between(0.05, 0.1);
            (centre, radius * radius)
        });
        let spots = spots.collect();
        Self {
            warp: [Noise::new(seed, &[32]), Noise::new(seed, &[33])],
            cloud: Noise::new(seed, &[34]),
            spots,
        }
    }

    /// The place of a pixel, if there is tissue.
    pub fn place(&self, column: u32, row: u32) -> Option<Place> {
        let even = [
            (f64::from(column) + 0.5) / f64::from(SIZE[0]),
            (f64::from(row) + 0.5) / f64::from(SIZE[1]),
        ];
        let bend = self
            .warp
            .each_ref()
            .map(|noise| 0.22 * (noise.cloud(even[0] * 3.0, even[1] * 2.25, 3) - 0.5));
        let u = (even[0] - 0.5) * f64::from(SIZE[0]) / UNIT + bend[0];
        let v = (even[1] - 0.5) * f64::from(SIZE[1]) / UNIT + bend[1];
        // The two halves part at the top.
        let cleft = 0.3 / (1.0 + u * u / 0.004) * ease(((-v - 0.45) / 0.5).clamp(0.0, 1.0));
        // Between an ellipse and a rectangle.
        let (p, q) = (u * u / 1.85, v * v / 0.98);
        let depth = 1.0 - (p + q - 0.3 * p * q).sqrt() - cleft;
        let place = Place { u, v, depth, even };
        (depth > 0.0).then_some(place)
    }

    /// How much of what is found in that pattern there is at a place, from 0 to 1.
    pub fn amount(&self, pattern: Pattern, place: Place) -> f64 {
        let Place { u, v, depth, even } = place;
        let side = u.abs();
        let upper = 1.0 - step(v, 0.3, 0.12);
        match pattern {
            Pattern::Everywhere => 0.55 + 0.45 * self.cloud.cloud(even[0] * 5.0, even[1] * 4.0, 3),
            Pattern::Cortex => upper * band(depth, 0.19, 0.15, 0.04),
            Pattern::GreyMatter => [Pattern::Cortex, Pattern::Hippocampus, Pattern::Thalamus]
                .map(|part| self.amount(part, place))
                .into_iter()
                .fold(0.0, f64::max),
            Pattern::WhiteMatter => upper * band(depth, 0.42, 0.07, 0.035),
            Pattern::Hippocampus => {
                let (x, y) = (side - 0.5, (v + 0.02) * 1.3);
                let arc = 1.0 - step(v, 0.08, 0.1);
                arc * band((x * x + y * y).sqrt(), 0.26, 0.08, 0.04)
            }
            Pattern::Thalamus => disc(u, v - 0.22, [0.46, 0.26]),
            Pattern::Hypothalamus => disc(u, v - 0.7, [0.3, 0.2]),
            Pattern::Ventricles => {
                let third = disc(u, v - 0.5, [0.1, 0.3]);
                let lateral = disc(
                    side - 0.84 - 0.3 * (v - 0.2) * (v - 0.2),
                    v - 0.2,
                    [0.12, 0.34],
                );
                third.max(lateral)
            }
            Pattern::Rim => 1.0 - step(depth, 0.1, 0.05),
            Pattern::LeftToRight => 0.06 + 0.94 * even[0],
            Pattern::TopToBottom => 0.06 + 0.94 * even[1],
            Pattern::Spots => self.spots.iter().fold(0.0, |most, ([x, y], square)| {
                let (dx, dy) = (u - x, v - y);
                let ratio = (dx * dx + dy * dy) / square;
                f64::max(most, 1.0 / (1.0 + ratio * ratio))
            }),
            Pattern::Lesion => 1.0 - step(from_lesion(u, v), 0.27, 0.07),
            Pattern::LesionRim => band(from_lesion(u, v), 0.33, 0.08, 0.05),
        }
    }
}

fn from_lesion(u: f64, v: f64) -> f64 {
    let (x, y) = (u - 0.78, v + 0.3);
    (x * x + y * y).sqrt()
}

/// From 0 to 1 about `middle`.
fn step(value: f64, middle: f64, half: f64) -> f64 {
    ease(((value - middle) / (2.0 * half) + 0.5).clamp(0.0, 1.0))
}

/// 1 within `half` of `middle`, then falling to 0.
fn band(value: f64, middle: f64, half: f64, soft: f64) -> f64 {
    1.0 - step((value - middle).abs(), half, soft)
}

/// 1 inside an ellipse about the origin.
fn disc(x: f64, y: f64, [across, down]: [f64; 2]) -> f64 {
    let (x, y) = (x / across, y / down);
    1.0 - step((x * x + y * y).sqrt(), 0.9, 0.25)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Pattern; 14] = [
        Pattern::Everywhere,
        Pattern::Cortex,
        Pattern::GreyMatter,
        Pattern::WhiteMatter,
        Pattern::Hippocampus,
        Pattern::Thalamus,
        Pattern::Hypothalamus,
        Pattern::Ventricles,
        Pattern::Rim,
        Pattern::LeftToRight,
        Pattern::TopToBottom,
        Pattern::Spots,
        Pattern::Lesion,
        Pattern::LesionRim,
    ];

    fn places(tissue: &Tissue) -> Vec<Place> {
        let all = (0..SIZE[0] * SIZE[1]).map(|at| (at % SIZE[0], at / SIZE[0]));
        all.filter_map(|(column, row)| tissue.place(column, row))
            .collect()
    }

    #[test]
    fn the_outline_leaves_out_the_corners_and_touches_no_side_for_long() {
        for seed in 1..20 {
            let tissue = Tissue::new(seed);
            let count = places(&tissue).len();
            assert!((1700..2200).contains(&count), "{seed}: {count}");
            for corner in [(0, 0), (59, 0), (0, 44), (59, 44)] {
                assert!(tissue.place(corner.0, corner.1).is_none());
            }
            assert!(tissue.place(30, 22).is_some());
        }
    }

    #[test]
    fn every_pattern_is_somewhere_and_only_some_are_everywhere() {
        let tissue = Tissue::new(1);
        let places = places(&tissue);
        for pattern in ALL {
            let amounts: Vec<f64> = places
                .iter()
                .map(|place| tissue.amount(pattern, *place))
                .collect();
            assert!(
                amounts.iter().all(|amount| (0.0..=1.0).contains(amount)),
                "{pattern:?}"
            );
            let many = amounts.iter().filter(|amount| **amount > 0.5).count();
            assert!(many > 40, "{pattern:?}: {many}");
            assert!(
                pattern == Pattern::Everywhere || many < places.len() * 2 / 3,
                "{pattern:?}: {many}"
            );
        }
    }
}
