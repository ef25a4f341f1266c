//! The levels that chaos cuts an image at, and how many of them a value exceeds.

use super::lanes::largest;

/// The most levels there may be: the reference's own limit.
pub(super) const MOST: u8 = 32;

/// Between these maxima no level is subnormal, none overflows on the way, and a guess is off by one at most.
const PLAIN: std::ops::Range<f32> = 1e-30..1e36;

/// Adding it leaves the nearest integer in the lowest bits of an f32.
const ROUND: f32 = 8_388_608.0;

/// Equally spaced levels from 0 to below the maximum: level i is `max·i / count`, in f32 both times.
#[derive(Debug, Clone, Copy)]
pub(super) struct Levels {
    max: f32,
    count: f32,
    /// Levels a unit of intensity, about.
    scale: f32,
    table: [f32; MOST as usize],
    len: usize,
}

impl Levels {
    /// `count` levels, 1 to [`MOST`], below a positive, finite maximum.
    pub(super) fn new(max: f32, count: u8) -> Self {
        let len = usize::from(count.clamp(1, MOST));
        let count = f32::from(count.clamp(1, MOST));
        // A power of two, so that the product does not overflow and no bit of the levels changes.
        let room = if max < PLAIN.end { 1.0 } else { 256.0 };
        let mut level = 0.0;
        let table = [(); MOST as usize].map(|()| {
            let value = max / room * level / count * room;
            level += 1.0;
            value
        });
        Self {
            max,
            count,
            scale: count / max,
            table,
            len,
        }
    }

    /// Levels below the largest of these values; none if no value is positive.
    pub(super) fn below(values: &[f32], count: u8) -> Option<Self> {
        let max = largest(values);
        (max > 0.0).then(|| Self::new(max.min(f32::MAX), count))
    }

    /// Writes for each value how many levels it exceeds. NaN exceeds none.
    pub(super) fn codes(&self, values: &[f32], codes: &mut [u8]) {
        if PLAIN.contains(&self.max) {
            // Guess the nearest level, then compare with it as it is in the table: all others are far enough away.
            let Self {
                max, count, scale, ..
            } = *self;
            let last = count - 1.0;
            for (code, value) in codes.iter_mut().zip(values) {
                let place = value * scale;
                let place = if place > 0.0 { place } else { 0.0 };
                let guess = if place < last { place } else { last } + ROUND;
                let level = max * (guess - ROUND) / count;
                *code = guess.to_bits().to_le_bytes()[0] + u8::from(*value > level);
            }
        } else {
            for (code, value) in codes.iter_mut().zip(values) {
                let exceeded = self.table[..self.len].iter().filter(|level| value > level);
                *code = exceeded.fold(0, |code, _| code + 1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A value and those next to it.
    fn around(value: f32) -> [f32; 5] {
        let bits = value.to_bits();
        [-2_i32, -1, 0, 1, 2].map(|step| f32::from_bits(bits.saturating_add_signed(step)))
    }

    #[test]
    fn codes_are_comparisons_with_every_level() {
        let mut max = 1e-32_f32;
        while max < 1e38 {
            max *= 1.711;
            for count in 1..=MOST {
                let levels = Levels::new(max, count);
                for i in 0..count {
                    let level = levels.table[usize::from(i)];
                    let mut values = around(level).to_vec();
                    values.extend([0.0, -1.0, f32::NAN, max, level * 1.01 + max * 0.011]);
                    values.retain(|value| value.is_nan() || *value <= max);
                    let mut codes = vec![0; values.len()];
                    levels.codes(&values, &mut codes);
                    for (value, code) in values.iter().zip(codes) {
                        let expected =
                            (0..count).filter(|i| *value > levels.table[usize::from(*i)]);
                        assert_eq!(
                            usize::from(code),
                            expected.count(),
                            "{value} of {max}, {count} levels"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn levels_of_extreme_maxima_ascend_below_them() {
        for max in [f32::MIN_POSITIVE, 1e-20, 3.0, 1e36, f32::MAX] {
            let levels = Levels::new(max, 30);
            assert!(levels.table[..30].is_sorted(), "{max}");
            assert!(levels.table[29] < max && levels.table[0] == 0.0);
        }
    }
}
