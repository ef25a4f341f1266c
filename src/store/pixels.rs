//! Total and root mean square of the intensities of each pixel.

use super::head::Head;
use crate::budget::Budget;
use crate::error::{Error, Result};

/// The value in f32; what is too large becomes the largest number.
#[expect(clippy::cast_possible_truncation, reason = "that is the rounding")]
pub(crate) fn rounded(value: f64) -> f32 {
    (value as f32).clamp(f32::MIN, f32::MAX)
}

/// The pixel table of a store.
#[derive(Debug, Clone, PartialEq)]
pub struct PixelTable {
    /// Sum of the intensities of each pixel (TIC, total ion current); 0 where there are no peaks.
    pub tic: Vec<f32>,
    /// Their root mean square over the points as acquired, zeros included; 0 where there are none.
    pub rms: Vec<f32>,
}

impl PixelTable {
    /// Reads the bytes at [`Layout::pixel_table`](super::head::Layout::pixel_table).
    ///
    /// # Errors
    /// [`Error::Unexpected`] if their number is another; [`Error::Format`] if a value is not finite;
    /// [`Error::Budget`] if 8 bytes a pixel are more than is left.
    pub fn parse(head: &Head, bytes: &[u8], budget: &mut Budget) -> Result<Self> {
        let place = head.layout.pixel_table();
        let pixels = head.pixels() as usize;
        let mut columns = columns(head, place.start, bytes, 2, pixels, budget)?.into_iter();
        Ok(Self {
            tic: columns.next().unwrap_or_default(),
            rms: columns.next().unwrap_or_default(),
        })
    }
}

/// Columns of f32 that follow one another, each value finite.
pub(super) fn columns(
    head: &Head,
    at: u64,
    bytes: &[u8],
    columns: usize,
    len: usize,
    budget: &mut Budget,
) -> Result<Vec<Vec<f32>>> {
    if bytes.len() as u64 != 4 * len as u64 * columns as u64 {
        return Err(Error::Unexpected {
            file: head.file.clone(),
            at,
            asked: 4 * len as u64 * columns as u64,
            got: bytes.len() as u64,
        });
    }
    let mut all = Vec::new();
    let mut values = bytes.as_chunks::<4>().0.iter();
    for column in 0..columns {
        let mut out: Vec<f32> = budget.allocate(len, "a table of the store")?;
        let mut finite = true;
        for (value, bytes) in out.iter_mut().zip(&mut values) {
            *value = f32::from_le_bytes(*bytes);
            finite &= value.is_finite();
        }
        if !finite {
            return Err(Error::Format {
                file: head.file.clone(),
                at: at + (4 * column * len) as u64,
                what: "a value of this table is not a finite number; the store is damaged"
                    .to_owned(),
            });
        }
        all.push(out);
    }
    Ok(all)
}
