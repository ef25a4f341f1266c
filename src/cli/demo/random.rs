//! Random numbers that are the same on every machine and in every version.

/// `SplitMix64` (Steele, Lea & Flood 2014): one 64-bit word of state, any seed will do.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// The sequence that belongs to a seed and a path of numbers (exposure, row, …), so that parts
    /// can be made in any order.
    pub fn new(seed: u64, path: &[u64]) -> Self {
        let mut random = Self(seed);
        for step in path {
            random.0 = random.next() ^ step.wrapping_mul(0xd134_2543_de82_ef95);
        }
        random
    }

    /// The next 64 bits.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in `[0, 1)`.
    pub fn unit(&mut self) -> f64 {
        // 32 bits: exact in f64, and fine enough for a picture.
        f64::from((self.next() >> 32) as u32) / 4_294_967_296.0
    }

    /// Uniform in `[low, high)`.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Nearly normal, with mean 0 and variance 1: eight uniforms, so never beyond ±4.9.
    ///
    /// No logarithm and no cosine: those differ in their last bit from one C library to the next.
    pub fn normal(&mut self) -> f64 {
        let mut sum = 0_u32;
        for _ in 0..2 {
            let bits = self.next();
            for shift in [0, 16, 32, 48] {
                let uniform = (bits >> shift & 0xffff) as u32;
                sum += uniform;
            }
        }
        // Eight uniforms on 0..=65535 have mean 262,140 and variance 8·(65,536² − 1)/12.
        (f64::from(sum) - 262_140.0) / 53_509.920_53
    }
}

/// A direction on the circle: a uniform point of the disc, brought to length one.
pub fn direction(random: &mut Random) -> [f64; 2] {
    loop {
        let (x, y) = (random.between(-1.0, 1.0), random.between(-1.0, 1.0));
        let square = x * x + y * y;
        if square > 0.01 && square <= 1.0 {
            let length = square.sqrt();
            return [x / length, y / length];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_words_are_those_of_the_paper() {
        // Reference values of SplitMix64 with seed 1234567.
        let mut random = Random::new(1_234_567, &[]);
        assert_eq!(random.next(), 6_457_827_717_110_365_317);
        assert_eq!(random.next(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn normal_has_mean_zero_and_variance_one() {
        let mut random = Random::new(3, &[]);
        let n = 200_000;
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..n {
            let value = random.normal();
            sum += value;
            squares += value * value;
        }
        let n = f64::from(n);
        assert!((sum / n).abs() < 0.01, "{}", sum / n);
        assert!((squares / n - 1.0).abs() < 0.01, "{}", squares / n);
    }
}
