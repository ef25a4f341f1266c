//! The sky of the demo stack: a gradient, a nebula, small galaxies and stars with spikes.
//!
//! Only `+ − × ÷` and square roots are used, which IEEE 754 rounds the same everywhere.

use super::noise::Noise;
use super::random::{Random, direction};

/// Surface brightness of the empty sky in MJy/sr.
const BACKGROUND: f64 = 0.9;

/// What is fainter than this, in MJy/sr, is not drawn: a tenth of the noise of one exposure.
const FAINT: f64 = 0.004;

/// A square sky without noise, in MJy/sr, row 0 at the bottom.
#[derive(Debug)]
pub struct Sky {
    size: usize,
    values: Vec<f32>,
}

impl Sky {
    /// The sky that belongs to a seed.
    pub fn new(size: usize, seed: u64) -> Self {
        let mut canvas = Canvas {
            size,
            values: Vec::with_capacity(size * size),
        };
        canvas.nebula(seed);
        let frames = canvas.length() * canvas.length() / (1024.0 * 1024.0);
        let mut random = Random::new(seed, &[2]);
        for _ in 0..count(70.0 * frames) {
            canvas.galaxy(&mut random);
        }
        for _ in 0..count(900.0 * frames) {
            canvas.star(&mut random);
        }
        #[expect(clippy::cast_possible_truncation, reason = "the file holds f32")]
        let values = canvas.values.iter().map(|value| *value as f32).collect();
        Self { size, values }
    }

    /// One row.
    pub fn row(&self, y: usize) -> &[f32] {
        &self.values[y * self.size..][..self.size]
    }
}

struct Canvas {
    size: usize,
    values: Vec<f64>,
}

impl Canvas {
    #[expect(clippy::cast_precision_loss, reason = "a width in pixels")]
    fn length(&self) -> f64 {
        self.size as f64
    }

    /// Fills every pixel: a gradient and a cloud with bright rims and a dark lane.
    fn nebula(&mut self, seed: u64) {
        let rims = Noise::new(seed, &[10]);
        let warp = Noise::new(seed, &[11]);
        let dust = Noise::new(seed, &[12]);
        let size = self.length();
        for y in 0..self.size {
            for x in 0..self.size {
                #[expect(clippy::cast_precision_loss, reason = "pixel numbers")]
                let (u, v) = (x as f64 / size, y as f64 / size);
                let bend = warp.cloud(u * 2.5, v * 2.5, 3) - 0.5;
                let (p, q) = (u + 0.25 * bend, v - 0.2 * bend);
                let (along, across) = (
                    (p - 0.42) + 0.55 * (q - 0.55),
                    (q - 0.55) - 0.55 * (p - 0.42),
                );
                let shape = 1.0 + along * along / 0.09 + across * across / 0.018;
                let envelope = 1.0 / (shape * shape.sqrt());
                let cloud = rims.cloud(p * 5.0, q * 5.0, 5);
                let rim = 1.0 - (2.0 * cloud - 1.0).abs();
                let lane = (1.9 * dust.cloud(p * 4.0 + 7.0, q * 4.0, 4) - 0.35).clamp(0.15, 1.0);
                let glow = envelope * lane * (0.35 + 2.4 * rim * rim * rim * rim + 0.6 * cloud);
                self.values
                    .push(BACKGROUND * (1.0 + 0.12 * (u - 0.5) + 0.07 * (v - 0.5)) + 1.6 * glow);
            }
        }
    }

    /// Adds an elliptical blur, seen at some angle.
    fn galaxy(&mut self, random: &mut Random) {
        let centre = self.place(random);
        let [cos, sin] = direction(random);
        let (major, ratio) = (random.between(1.5, 7.0), random.between(0.25, 0.95));
        let peak = 0.25 / (0.08 + random.unit());
        self.add(centre, major * 9.0, |dx, dy| {
            let (along, across) = (
                (dx * cos + dy * sin) / major,
                (dy * cos - dx * sin) / (major * ratio),
            );
            let t = 1.0 + along * along + across * across;
            peak / (t * t)
        });
    }

    /// Adds a star: a Moffat profile, and eight spikes if it is bright.
    fn star(&mut self, random: &mut Random) {
        let centre = self.place(random);
        // N(>F) ∝ 1/F, as far as a picture wants it.
        let peak = 0.3 / (random.unit() + 0.000_25);
        let profile = |square: f64| {
            let t = 1.0 + square / 3.2;
            peak / (t * t * t.sqrt())
        };
        let mut radius = 3.0;
        while profile(radius * radius) > FAINT {
            radius *= 1.2;
        }
        self.add(centre, radius, |dx, dy| profile(dx * dx + dy * dy));
        if peak < 12.0 {
            return;
        }
        let (half, root) = (0.5, 0.866_025_403_784_438_6);
        for ([cos, sin], strength) in [
            ([0.0, 1.0], 1.0),
            ([root, half], 1.0),
            ([root, -half], 1.0),
            ([1.0, 0.0], 0.25),
        ] {
            let bright = 0.03 * strength * peak;
            let mut reach = 8.0;
            while bright / (1.0 + reach * reach / 90.0) > FAINT * 2.0 && reach < self.length() / 5.0
            {
                reach *= 1.2;
            }
            self.add(centre, reach, |dx, dy| {
                let (along, across) = ((dx * cos + dy * sin) / reach, dy * cos - dx * sin);
                let t = 1.0 + across * across / 0.7;
                let fade = (1.0 - along * along).max(0.0);
                bright * fade / ((1.0 + along * along * reach * reach / 90.0) * t * t)
            });
        }
    }

    fn place(&self, random: &mut Random) -> [f64; 2] {
        [random.unit() * self.length(), random.unit() * self.length()]
    }

    /// Adds `brightness(dx, dy)` to the pixels of a square about a place.
    fn add(&mut self, [x0, y0]: [f64; 2], radius: f64, brightness: impl Fn(f64, f64) -> f64) {
        let size = self.size;
        let span = |centre: f64| {
            let low = count((centre - radius).max(0.0));
            let high = count((centre + radius + 1.0).max(0.0)).min(size);
            low..high.max(low)
        };
        for y in span(y0) {
            for x in span(x0) {
                #[expect(clippy::cast_precision_loss, reason = "pixel numbers")]
                let (dx, dy) = (x as f64 - x0, y as f64 - y0);
                self.values[y * size + x] += brightness(dx, dy);
            }
        }
    }
}

/// The whole part of a number that is not negative.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "callers give small numbers that are not negative"
)]
pub fn count(number: f64) -> usize {
    number as usize
}
