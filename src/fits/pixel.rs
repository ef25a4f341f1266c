//! How a FITS image stores a pixel, and what it means.
//!
//! FITS 4.0 §4.4.1.1 (BITPIX), §4.4.2.5 (BSCALE, BZERO, BLANK), §5 (representation).

use serde::Serialize;

/// The type of a stored pixel: FITS 4.0 Table 8. All are big-endian; integers are two's complement,
/// except that 8-bit ones are unsigned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Bitpix {
    U8,
    I16,
    I32,
    I64,
    F32,
    F64,
}

impl Bitpix {
    /// The type that a BITPIX card names, or `None` if the standard knows no such type.
    #[must_use]
    pub fn from_card(value: i64) -> Option<Self> {
        Some(match value {
            8 => Self::U8,
            16 => Self::I16,
            32 => Self::I32,
            64 => Self::I64,
            -32 => Self::F32,
            -64 => Self::F64,
            _ => return None,
        })
    }

    /// The value of the BITPIX card.
    #[must_use]
    pub fn card(self) -> i64 {
        match self {
            Self::U8 => 8,
            Self::I16 => 16,
            Self::I32 => 32,
            Self::I64 => 64,
            Self::F32 => -32,
            Self::F64 => -64,
        }
    }

    /// Bytes a pixel.
    #[must_use]
    pub fn size(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::I16 => 2,
            Self::I32 | Self::F32 => 4,
            Self::I64 | Self::F64 => 8,
        }
    }
}

/// Stored bytes to physical values: `value = BZERO + BSCALE · stored`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Encoding {
    /// Type of a stored pixel.
    pub bitpix: Bitpix,
    /// BSCALE, 1 if there is no card.
    pub bscale: f64,
    /// BZERO, 0 if there is no card.
    pub bzero: f64,
    /// BLANK: the stored integer that means "no value". Always `None` for floating-point pixels.
    pub blank: Option<i64>,
}

impl Encoding {
    /// Pixels of this type that are stored as they are meant.
    #[must_use]
    pub fn plain(bitpix: Bitpix) -> Self {
        Self {
            bitpix,
            bscale: 1.0,
            bzero: 0.0,
            blank: None,
        }
    }

    /// Whether stored values are the physical ones.
    #[must_use]
    #[expect(clippy::float_cmp, reason = "the cards' exact values are meant")]
    pub fn is_plain(&self) -> bool {
        self.bscale == 1.0 && self.bzero == 0.0 && self.blank.is_none()
    }

    /// Whether f32 cannot hold the values without loss: BITPIX 32, 64 and −64.
    #[must_use]
    pub fn is_wide(&self) -> bool {
        matches!(self.bitpix, Bitpix::I32 | Bitpix::I64 | Bitpix::F64)
    }

    /// Decodes whole pixels into f32; BLANK becomes NaN.
    ///
    /// Scaling is computed in f64 and rounded once, to nearest, ties to even. Decodes
    /// `min(bytes.len() / size, out.len())` pixels and gives that number.
    pub fn decode_f32(&self, bytes: &[u8], out: &mut [f32]) -> usize {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the one rounding that is documented"
        )]
        let narrow = |value: f64| value as f32;
        if self.bitpix == Bitpix::F32 && self.is_plain() {
            return each(bytes, out, |b: [u8; 4]| f32::from_be_bytes(b));
        }
        match self.bitpix {
            Bitpix::U8 => each(bytes, out, |b: [u8; 1]| {
                narrow(self.integer(i64::from(b[0])))
            }),
            Bitpix::I16 => each(bytes, out, |b| {
                narrow(self.integer(i64::from(i16::from_be_bytes(b))))
            }),
            Bitpix::I32 => self.each_i32(bytes, out, narrow),
            Bitpix::I64 => each(bytes, out, |b| narrow(self.integer(i64::from_be_bytes(b)))),
            Bitpix::F32 => each(bytes, out, |b| {
                narrow(self.scaled(f64::from(f32::from_be_bytes(b))))
            }),
            Bitpix::F64 => each(bytes, out, |b| narrow(self.scaled(f64::from_be_bytes(b)))),
        }
    }

    /// Decodes whole pixels into f64; BLANK becomes NaN.
    ///
    /// 64-bit integers beyond 2⁵³ are rounded to the nearest f64. Decodes
    /// `min(bytes.len() / size, out.len())` pixels and gives that number.
    pub fn decode_f64(&self, bytes: &[u8], out: &mut [f64]) -> usize {
        match self.bitpix {
            Bitpix::U8 => each(bytes, out, |b: [u8; 1]| self.integer(i64::from(b[0]))),
            Bitpix::I16 => each(bytes, out, |b| {
                self.integer(i64::from(i16::from_be_bytes(b)))
            }),
            Bitpix::I32 => self.each_i32(bytes, out, |value| value),
            Bitpix::I64 => each(bytes, out, |b| self.integer(i64::from_be_bytes(b))),
            Bitpix::F32 => each(bytes, out, |b| {
                self.scaled(f64::from(f32::from_be_bytes(b)))
            }),
            Bitpix::F64 => each(bytes, out, |b| self.scaled(f64::from_be_bytes(b))),
        }
    }

    fn scaled(&self, stored: f64) -> f64 {
        let value = stored * self.bscale;
        // Adding 0 would take the sign off a negative zero.
        if self.bzero == 0.0 {
            value
        } else {
            value + self.bzero
        }
    }

    /// 32-bit integers, in a loop without branches: f64 holds them, and the sums of most BZEROs,
    /// exactly.
    fn each_i32<T>(&self, bytes: &[u8], out: &mut [T], cast: impl Fn(f64) -> T) -> usize {
        let stored = i32::from_be_bytes;
        let zero = self.bzero;
        // Beyond 2⁵², a sum would be rounded before it is narrowed.
        let exact = self.is_shifted() && zero.abs() < 4_503_599_627_370_496.0;
        let blank = self.blank.map(i32::try_from);
        match blank {
            // No integer of 32 bits equals such a BLANK.
            None | Some(Err(_)) if exact => each(bytes, out, |b| cast(f64::from(stored(b)) + zero)),
            Some(Ok(blank)) if exact => each(bytes, out, |b| {
                let (stored, value) = (stored(b), f64::from(stored(b)) + zero);
                cast(if stored == blank { f64::NAN } else { value })
            }),
            _ => each(bytes, out, |b| cast(self.integer(i64::from(stored(b))))),
        }
    }

    /// Whether values are stored integers and an integer more.
    #[expect(clippy::float_cmp, reason = "exact cards")]
    fn is_shifted(&self) -> bool {
        self.bscale == 1.0 && self.bzero.fract() == 0.0 && self.bzero.abs() < 1e30
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "bounded, and rounded once, as documented"
    )]
    fn integer(&self, stored: i64) -> f64 {
        if self.blank == Some(stored) {
            return f64::NAN;
        }
        if !self.is_shifted() {
            return self.scaled(stored as f64);
        }
        // Unsigned 64-bit integers (BZERO = 2⁶³) keep their last bits only if they are added as
        // integers: one rounding, not two. Few sums need more than 64 bits for that.
        let zero = self.bzero as i64;
        match stored.checked_add(zero) {
            Some(sum) if self.bzero.abs() < 9e18 => sum as f64,
            _ => (i128::from(stored) + self.bzero as i128) as f64,
        }
    }
}

fn each<const N: usize, T>(bytes: &[u8], out: &mut [T], decode: impl Fn([u8; N]) -> T) -> usize {
    let (pixels, _) = bytes.as_chunks::<N>();
    for (value, pixel) in out.iter_mut().zip(pixels) {
        *value = decode(*pixel);
    }
    pixels.len().min(out.len())
}
