//! Images as FITS files: header blocks, big-endian pixels, padding.
//!
//! Nothing here writes: each part gives bytes, and whoever holds the file puts them in order:
//! [`ImageHeader::to_bytes`], pixels by [`put_f32`] and its like, [`padding`] zeros, the next HDU.
//! FITS 4.0 §3 (structure), §4 (headers), §7.1 (IMAGE extensions).

mod card;

pub use card::Cards;

use super::pixel::Bitpix;
use crate::error::{Error, Result};

/// Bytes of a FITS block: headers and data are whole numbers of these (FITS 4.0 §3.1).
pub const BLOCK: u64 = 2880;

/// The highest count that a 16-bit FITS image holds.
const MOST: u16 = i16::MAX.unsigned_abs();

/// The header of a two-dimensional image.
#[derive(Debug, Clone, PartialEq)]
pub struct ImageHeader {
    /// EXTNAME of an IMAGE extension; `None` for the primary image of a file.
    pub name: Option<String>,
    /// Type of the stored pixels.
    pub bitpix: Bitpix,
    /// NAXIS1: pixels a row.
    pub width: u32,
    /// NAXIS2: rows.
    pub height: u32,
    /// First column and first row within the image that the carried cards describe: `CRPIXja` move
    /// by as much. `[0, 0]` for a whole image.
    pub origin: [u32; 2],
    /// Cards of 80 characters to carry over, WCS above all. Those that describe the structure of
    /// the file they come from are left out, as are repeated keywords and cards that are no FITS.
    pub carried: Vec<String>,
    /// BUNIT; where it is given, a carried one is left out.
    pub unit: Option<String>,
    /// NCOMBINE: exposures combined.
    pub combined: Option<u32>,
    /// HISTORY: one entry a line or several, wrapped.
    pub history: Vec<String>,
}

impl ImageHeader {
    /// A primary image with nothing but its shape.
    #[must_use]
    pub fn primary(bitpix: Bitpix, width: u32, height: u32) -> Self {
        Self {
            name: None,
            bitpix,
            width,
            height,
            origin: [0, 0],
            carried: Vec::new(),
            unit: None,
            combined: None,
            history: Vec::new(),
        }
    }

    /// An IMAGE extension with nothing but its name and shape.
    #[must_use]
    pub fn extension(name: &str, bitpix: Bitpix, width: u32, height: u32) -> Self {
        Self {
            name: Some(name.to_owned()),
            ..Self::primary(bitpix, width, height)
        }
    }

    /// The IMAGE extension `COUNT`: how many exposures contributed to each pixel, as 16-bit
    /// integers for [`put_u16`].
    #[must_use]
    pub fn count(width: u32, height: u32) -> Self {
        Self::extension("COUNT", Bitpix::I16, width, height)
    }

    /// The header's bytes: whole blocks, END and blanks at the end.
    ///
    /// The same header gives the same bytes; there is no date in it.
    ///
    /// # Errors
    /// [`Error::Parameter`] if a side is 0.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        if self.width == 0 || self.height == 0 {
            return Err(Error::Parameter {
                name: "shape",
                what: format!("{} x {} pixels make no image", self.width, self.height),
            });
        }
        let mut cards = Cards::new();
        self.structure(&mut cards)?;
        if let Some(unit) = &self.unit {
            cards.text("BUNIT", unit, "unit of the pixel values")?;
        }
        if let Some(combined) = self.combined {
            cards.integer("NCOMBINE", i64::from(combined), "exposures combined")?;
        }
        cards.carry(&self.carried, self.origin);
        for entry in &self.history {
            cards.history(entry);
        }
        Ok(cards.into_blocks())
    }

    /// The mandatory cards in their order (FITS 4.0 Tables 7 and 10).
    fn structure(&self, cards: &mut Cards) -> Result<()> {
        match self.name {
            None => cards.logical("SIMPLE", true, "conforms to the FITS standard")?,
            Some(_) => cards.text("XTENSION", "IMAGE", "image extension")?,
        }
        cards.integer("BITPIX", self.bitpix.card(), "type of the pixels")?;
        cards.integer("NAXIS", 2, "number of axes")?;
        cards.integer("NAXIS1", i64::from(self.width), "pixels a row")?;
        cards.integer("NAXIS2", i64::from(self.height), "rows")?;
        if let Some(name) = &self.name {
            cards.integer("PCOUNT", 0, "no parameters")?;
            cards.integer("GCOUNT", 1, "one group")?;
            cards.text("EXTNAME", name, "name of this extension")?;
        } else {
            cards.logical("EXTEND", true, "extensions may follow")?;
        }
        Ok(())
    }

    /// Bytes of the pixels, without padding.
    #[must_use]
    pub fn data_bytes(&self) -> u64 {
        (u64::from(self.width) * u64::from(self.height)).saturating_mul(self.bitpix.size() as u64)
    }
}

/// Zero bytes that must follow `len` bytes of pixels to fill the last block (FITS 4.0 §3.3.2).
#[must_use]
pub fn padding(len: u64) -> usize {
    // At most 2,879, so it fits whatever usize is.
    usize::try_from((BLOCK - len % BLOCK) % BLOCK).unwrap_or(0)
}

/// Appends f32 pixels, BITPIX −32. NaN keeps its bits.
pub fn put_f32(values: &[f32], out: &mut Vec<u8>) {
    out.extend(values.iter().flat_map(|value| value.to_be_bytes()));
}

/// Appends f64 pixels, BITPIX −64. NaN keeps its bits.
pub fn put_f64(values: &[f64], out: &mut Vec<u8>) {
    out.extend(values.iter().flat_map(|value| value.to_be_bytes()));
}

/// Appends counts as 16-bit integers, BITPIX 16 without BZERO.
///
/// # Errors
/// [`Error::Parameter`], and nothing is appended, for a count above 32,767, which BITPIX 16 would
/// read as a negative number.
pub fn put_u16(counts: &[u16], out: &mut Vec<u8>) -> Result<()> {
    if let Some(count) = counts.iter().find(|count| **count > MOST) {
        return Err(Error::Parameter {
            name: "count",
            what: format!("{count} does not fit a signed 16-bit image (at most {MOST})"),
        });
    }
    out.extend(counts.iter().flat_map(|count| count.to_be_bytes()));
    Ok(())
}
