//! Which pixels were acquired.

use crate::error::{Error, Result};

/// One bit a pixel, set where a spectrum was acquired.
///
/// A pixel that was not acquired has no data; one that was, and has no peak in a window, has 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mask {
    /// Least significant bit first, filled to whole 8 bytes with zeros.
    bytes: Vec<u8>,
    pixels: u32,
}

impl Mask {
    /// A mask without an acquired pixel.
    ///
    /// # Errors
    /// [`Error::Budget`] if the allocator has not enough left. The caller reserves
    /// [`Mask::bytes`]`().len()` in its budget, an eighth of the pixels.
    pub fn new(pixels: u32) -> Result<Self> {
        let len = (pixels as usize).div_ceil(64) * 8;
        let mut bytes = Vec::new();
        let budget = |_| Error::Budget {
            need: len as u64,
            have: 0,
            what: "the acquisition mask".to_owned(),
        };
        bytes.try_reserve_exact(len).map_err(budget)?;
        bytes.resize(len, 0);
        Ok(Self { bytes, pixels })
    }

    /// Marks a pixel as acquired. A pixel outside of the image is ignored.
    pub fn set(&mut self, pixel: u32) {
        if pixel < self.pixels {
            self.bytes[(pixel / 8) as usize] |= 1 << (pixel % 8);
        }
    }

    /// Whether the pixel was acquired; `false` outside of the image.
    #[must_use]
    pub fn acquired(&self, pixel: u32) -> bool {
        pixel < self.pixels && self.bytes[(pixel / 8) as usize] >> (pixel % 8) & 1 == 1
    }

    /// Pixels that were acquired.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.bytes
            .iter()
            .map(|byte| u64::from(byte.count_ones()))
            .sum()
    }

    /// Pixels of the image.
    #[must_use]
    pub fn pixels(&self) -> u32 {
        self.pixels
    }

    /// The bits: least significant first, filled to whole 8 bytes with zeros.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn parse(file: &str, at: u64, pixels: u32, bytes: &[u8]) -> Result<Self> {
        let mut mask = Self::new(pixels)?;
        mask.bytes.copy_from_slice(bytes);
        let filling = mask
            .bytes
            .iter()
            .enumerate()
            .skip(pixels as usize / 8)
            .any(|(n, byte)| {
                let used = (pixels as usize).saturating_sub(8 * n).min(8);
                u16::from(*byte) >> used != 0
            });
        if filling {
            return Err(Error::Format {
                file: file.to_owned(),
                at,
                what: format!("the acquisition mask has bits behind its {pixels} pixels"),
            });
        }
        Ok(mask)
    }
}
