//! Floating-point numbers as integers in the same order.

/// The precision in which a column of the store holds its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Real {
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    F64,
}

impl Real {
    /// Bytes of one value: 4 or 8.
    #[must_use]
    pub fn bytes(self) -> u8 {
        match self {
            Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    /// The precision of values of so many bytes.
    pub(super) fn of_bytes(bytes: u8) -> Option<Self> {
        match bytes {
            4 => Some(Self::F32),
            8 => Some(Self::F64),
            _ => None,
        }
    }

    /// Whether the value is finite and this precision holds it exactly.
    #[must_use]
    pub fn holds(self, value: f64) -> bool {
        value.is_finite() && self.nearest(value).to_bits() == value.to_bits()
    }

    /// The value rounded to this precision.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "that is the rounding")]
    pub fn nearest(self, value: f64) -> f64 {
        match self {
            Self::F32 => f64::from(value as f32),
            Self::F64 => value,
        }
    }

    /// The key of an m/z, which is not negative: the bits of the float, in the order of the values.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "callers ask for values that are held"
    )]
    pub fn key(self, mz: f64) -> u64 {
        match self {
            Self::F32 => u64::from((mz as f32).to_bits()),
            Self::F64 => mz.to_bits(),
        }
    }

    /// The m/z of a key.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "such keys have 32 bits")]
    pub fn mz(self, key: u64) -> f64 {
        match self {
            Self::F32 => f64::from(f32::from_bits(key as u32)),
            Self::F64 => f64::from_bits(key),
        }
    }

    /// The greatest key of a finite m/z.
    pub(super) fn last_key(self) -> u64 {
        match self {
            Self::F32 => u64::from(f32::MAX.to_bits()),
            Self::F64 => f64::MAX.to_bits(),
        }
    }

    /// The least key whose m/z is not below `lo`, or `None` if there is none or `lo` is not a number.
    pub(super) fn at_least(self, lo: f64) -> Option<u64> {
        if lo.is_nan() || lo == f64::INFINITY {
            return None;
        }
        if lo <= 0.0 {
            return Some(0);
        }
        let key = self.key(lo);
        let key = if self.mz(key) < lo { key + 1 } else { key };
        (key <= self.last_key()).then_some(key)
    }

    /// The greatest key whose m/z is not above `hi`, or `None` if there is none or `hi` is not a
    /// number.
    pub(super) fn at_most(self, hi: f64) -> Option<u64> {
        if hi.is_nan() || hi < 0.0 {
            return None;
        }
        let key = self.key(hi.abs());
        let key = if self.mz(key) > hi { key - 1 } else { key };
        Some(key.min(self.last_key()))
    }

    /// The order of an intensity: an integer, greater where the value is greater. −0 comes before +0.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "callers ask for values that are held"
    )]
    pub fn order(self, intensity: f64) -> u64 {
        match self {
            Self::F32 => {
                let bits = (intensity as f32).to_bits();
                u64::from(if bits >> 31 == 0 {
                    bits | 1 << 31
                } else {
                    !bits
                })
            }
            Self::F64 => {
                let bits = intensity.to_bits();
                if bits >> 63 == 0 {
                    bits | 1 << 63
                } else {
                    !bits
                }
            }
        }
    }

    /// The intensity of an order.
    #[must_use]
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "such orders have 32 bits")]
    pub fn intensity(self, order: u64) -> f64 {
        match self {
            Self::F32 => {
                let order = order as u32;
                let bits = if order >> 31 == 0 {
                    !order
                } else {
                    order & !(1 << 31)
                };
                f64::from(f32::from_bits(bits))
            }
            Self::F64 => {
                let bits = if order >> 63 == 0 {
                    !order
                } else {
                    order & !(1 << 63)
                };
                f64::from_bits(bits)
            }
        }
    }
}
