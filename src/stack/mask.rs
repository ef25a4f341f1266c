//! Masks: images that say which pixels of an exposure are left out.
//!
//! Calibrated exposures carry flags (JWST, Roman and HST: `DQ`, whose bit 0 means `DO_NOT_USE` in JWST and
//! Roman), drizzled ones a weight (`WHT`, 0 where there are no data). A pixel that is left out counts as NaN,
//! whatever its value; nothing else changes.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::error::{Error, Result};
use crate::fits::Image;
use crate::fits::pixel::{Bitpix, Encoding};

/// Which pixels a mask leaves out.
///
/// As text, in command lines, catalogs and JavaScript: `1`, `0x11` or `1+16` for bits, `any`, `zero`; in JSON
/// bits may be a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// Those whose flags have one of these bits. A flag is as wide as its stored pixel: that of a 16-bit
    /// mask has bits 0 to 15, whether the header calls it signed or unsigned.
    Bits(u64),
    /// Those whose flags are not 0.
    Any,
    /// Those whose weight is not above 0: 0, negative or NaN in a mask of floating-point numbers; 0 in one
    /// of integers, which may be sets of bits, such as the contributing exposures of `CON` and `CTX`.
    Zero,
}

impl Meaning {
    /// What a mask of this meaning has left out, as a history says it.
    pub(super) fn sentence(self, mask: &Image) -> String {
        let what = match self {
            Self::Bits(bits) => format!("has one of the bits {bits}"),
            Self::Any => "is not 0".to_owned(),
            Self::Zero => "is not above 0".to_owned(),
        };
        format!("left out: pixels whose mask, HDU {}, {what}", label(mask))
    }
}

impl Default for Meaning {
    /// Bit 0, `DO_NOT_USE`.
    fn default() -> Self {
        Self::Bits(1)
    }
}

impl fmt::Display for Meaning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bits(bits) => bits.fmt(f),
            Self::Any => f.write_str("any"),
            Self::Zero => f.write_str("zero"),
        }
    }
}

impl FromStr for Meaning {
    type Err = Error;

    /// Reads `1`, `0x11`, `1+16`, `any` or `zero`.
    ///
    /// # Errors
    /// [`Error::Parameter`] for anything else, and for 0, which leaves nothing out.
    fn from_str(text: &str) -> Result<Self> {
        let trimmed = text.trim();
        if trimmed.eq_ignore_ascii_case("any") {
            return Ok(Self::Any);
        }
        if trimmed.eq_ignore_ascii_case("zero") {
            return Ok(Self::Zero);
        }
        let mut bits = 0;
        for part in trimmed.split('+') {
            let part = part.trim();
            let hex = part.strip_prefix("0x").or_else(|| part.strip_prefix("0X"));
            let digits = hex.unwrap_or(part);
            let radix = if hex.is_some() { 16 } else { 10 };
            match u64::from_str_radix(digits, radix) {
                Ok(number) if !digits.starts_with('+') => bits |= number,
                _ => return Err(wrong(text, "is no set of bits")),
            }
        }
        if bits == 0 {
            return Err(wrong(text, "leaves nothing out"));
        }
        Ok(Self::Bits(bits))
    }
}

/// A number for bits, else a word.
impl Serialize for Meaning {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Bits(bits) => serializer.serialize_u64(*bits),
            other => serializer.collect_str(other),
        }
    }
}

/// A whole number, or text as [`FromStr`] reads it.
impl<'de> Deserialize<'de> for Meaning {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Written)
    }
}

/// Reads a [`Meaning`] as JSON has it.
struct Written;

impl de::Visitor<'_> for Written {
    type Value = Meaning;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bits as a whole number above 0, or \"any\", or \"zero\"")
    }

    fn visit_u64<E: de::Error>(self, bits: u64) -> Result<Meaning, E> {
        match bits {
            0 => Err(E::invalid_value(de::Unexpected::Unsigned(0), &self)),
            bits => Ok(Meaning::Bits(bits)),
        }
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Meaning, E> {
        text.parse()
            .map_err(|_| E::invalid_value(de::Unexpected::Str(text), &self))
    }
}

fn wrong(text: &str, why: &str) -> Error {
    Error::Parameter {
        name: "--mask-bits",
        what: format!("{text:?} {why}; write for instance 1, 0x11, 1+16, any or zero"),
    }
}

/// The mask of one exposure, reduced to what its pixels need.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Mask {
    /// Byte of the exposure's file where the mask's first pixel lies. Rows are as long as the exposure's.
    pub data_at: u64,
    /// How a pixel of the mask is stored.
    pub bitpix: Bitpix,
    /// What is left out.
    pub(super) test: Test,
}

/// What a stored pixel of a mask is held against.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) enum Test {
    /// Left out where `(stored ^ flip) & bits` is not 0, or where it is 0 if that is `clear`.
    Flags { flip: u64, bits: u64, clear: bool },
    /// Left out where it is not above 0.
    Weight,
}

impl Mask {
    /// The mask that `image` carries, if it carries one.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if its shape is not the image's; [`Error::Unsupported`] if it is scaled, or holds
    /// flags that are no integers; [`Error::Parameter`] if none of the bits can be set in it. All name file
    /// and HDU.
    pub fn of(image: &Image, meaning: Meaning) -> Result<Option<Self>> {
        let Some(mask) = image.mask.as_deref() else {
            return Ok(None);
        };
        agree(image, mask)?;
        Ok(Some(Self {
            data_at: mask.data_at,
            bitpix: mask.encoding.bitpix,
            test: test(mask, meaning)?,
        }))
    }
}

/// Refuses a mask of another shape than its image.
fn agree(image: &Image, mask: &Image) -> Result<()> {
    let what = if (mask.width, mask.height) != (image.width, image.height) {
        format!(
            "its mask, HDU {}, is {}×{} pixels, but the image {}×{}; a mask has one pixel for each of the image",
            label(mask),
            mask.width,
            mask.height,
            image.width,
            image.height
        )
    } else if mask.planes != 1 && mask.planes != image.planes {
        format!(
            "its mask, HDU {}, has {} planes, but the image {}; a mask has one plane, or one for each of the image",
            label(mask),
            mask.planes,
            image.planes
        )
    } else {
        return Ok(());
    };
    Err(Error::Mismatch {
        file: image.file.clone(),
        what,
    })
}

fn test(mask: &Image, meaning: Meaning) -> Result<Test> {
    let unsupported = |what: String| {
        Err(Error::Unsupported {
            file: mask.file.clone(),
            what,
        })
    };
    let bitpix = mask.encoding.bitpix;
    let float = matches!(bitpix, Bitpix::F32 | Bitpix::F64);
    if float && meaning != Meaning::Zero {
        return unsupported(format!(
            "the mask, HDU {}, has BITPIX = {}, but flags are whole numbers; choose another HDU with --mask, \
             or --mask-bits zero if it is a weight",
            label(mask),
            bitpix.card()
        ));
    }
    let Some(flip) = flip(&mask.encoding) else {
        return unsupported(format!(
            "the mask, HDU {}, is scaled (BZERO = {:?}, BSCALE = {:?}); only the BZERO that makes integers \
             unsigned is read in a mask",
            label(mask),
            mask.encoding.bzero,
            mask.encoding.bscale
        ));
    };
    if float {
        return Ok(Test::Weight);
    }
    let wide = u64::MAX >> (64 - 8 * bitpix.size());
    let (bits, clear) = match meaning {
        Meaning::Bits(bits) => (bits & wide, false),
        Meaning::Any => (wide, false),
        Meaning::Zero => (wide, true),
    };
    if bits == 0 {
        return Err(Error::Parameter {
            name: "--mask-bits",
            what: format!(
                "{}: no pixel of the mask, HDU {}, can have one of the bits {meaning}: it has {} bits a pixel",
                mask.file,
                label(mask),
                8 * bitpix.size()
            ),
        });
    }
    Ok(Test::Flags { flip, bits, clear })
}

/// The bit that a BZERO for unsigned integers flips (for 8 bits: signed; FITS 4.0 Table 11), if there is no
/// other scaling.
fn flip(encoding: &Encoding) -> Option<u64> {
    let plain = Encoding {
        blank: None,
        ..*encoding
    };
    if plain.is_plain() {
        return Some(0);
    }
    let (zero, bit) = match encoding.bitpix {
        Bitpix::U8 => (-128.0, 1 << 7),
        Bitpix::I16 => (32_768.0, 1 << 15),
        Bitpix::I32 => (2_147_483_648.0, 1 << 31),
        Bitpix::I64 => (9_223_372_036_854_775_808.0, 1 << 63),
        Bitpix::F32 | Bitpix::F64 => return None,
    };
    let unsigned = Encoding {
        bzero: zero,
        ..Encoding::plain(encoding.bitpix)
    };
    (plain == unsigned).then_some(bit)
}

/// Index, name and version of a mask's HDU.
fn label(mask: &Image) -> String {
    match &mask.name {
        Some(name) => format!("{} ({name},{})", mask.hdu, mask.ver),
        None => mask.hdu.to_string(),
    }
}

/// A run of one mask's pixels as they are stored, beside a run of the exposure's.
#[derive(Debug, Clone, Copy)]
pub struct Flags<'a> {
    /// Big-endian pixels; may be longer than the run that is asked for, never shorter.
    pub bytes: &'a [u8],
    /// How they are stored and what they mean.
    pub mask: &'a Mask,
}
