//! Smooth noise: clouds, dust, and what makes an outline look grown.

use super::random::Random;

/// Smooth noise in `[0, 1)` on a lattice of hashed numbers.
#[derive(Debug)]
pub struct Noise(u64);

impl Noise {
    /// The noise that belongs to a seed and a path of numbers.
    pub fn new(seed: u64, path: &[u64]) -> Self {
        Self(Random::new(seed, path).next())
    }

    /// Several octaves, each half as strong and twice as fine as the last; normalised to `[0, 1)`.
    pub fn cloud(&self, x: f64, y: f64, octaves: u32) -> f64 {
        let (mut sum, mut weight, mut total, mut scale) = (0.0, 1.0, 0.0, 1.0);
        for octave in 0..octaves {
            // The offset keeps the octaves' lattice points apart.
            let shift = 31.7 * f64::from(octave);
            sum += weight * self.value(x * scale + shift + 64.0, y * scale + 2.0 * shift + 64.0);
            total += weight;
            weight *= 0.5;
            scale *= 2.0;
        }
        sum / total
    }

    fn value(&self, x: f64, y: f64) -> f64 {
        let (column, row) = (x.floor(), y.floor());
        let (fx, fy) = (ease(x - column), ease(y - row));
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "places are positive and small"
        )]
        let (column, row) = (column as u64, row as u64);
        let at = |dx: u64, dy: u64| Random::new(self.0, &[(column + dx) << 32 | (row + dy)]).unit();
        let low = at(0, 0) + (at(1, 0) - at(0, 0)) * fx;
        let high = at(0, 1) + (at(1, 1) - at(0, 1)) * fx;
        low + (high - low) * fy
    }
}

/// Perlin's quintic, from 0 to 1 with `t`: no crease where lattice cells meet.
pub fn ease(t: f64) -> f64 {
    t * t * t * (t * (t * 6.0 - 15.0) + 10.0)
}
