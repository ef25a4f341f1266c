//! Total and root mean square of the intensities of each pixel.

use super::head::Head;
use crate::budget::Budget;
use crate::error::{Error, Result};

/// Sums of each pixel, while a dataset is packed.
///
/// Pixels in several spectra get the sum of all. Values are added in f64 and rounded to f32 once.
#[derive(Debug, Clone, PartialEq)]
pub struct PixelSums {
    sums: Vec<Sum>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Sum {
    total: f64,
    squares: f64,
    peaks: u64,
}

impl PixelSums {
    /// Bytes that sums of so many pixels take.
    #[must_use]
    pub fn bytes(pixels: u32) -> u64 {
        u64::from(pixels) * size_of::<Sum>() as u64
    }

    /// Sums of nothing.
    ///
    /// # Errors
    /// [`Error::Budget`] if 24 bytes a pixel are more than is left.
    pub fn new(pixels: u32, budget: &mut Budget) -> Result<Self> {
        let sums = budget.allocate(pixels as usize, "the sums of the pixels")?;
        Ok(Self { sums })
    }

    /// Adds a spectrum's stored peaks: their number, the sum of their intensities and of the squares
    /// of these. A pixel outside of the image is ignored.
    pub fn add(&mut self, pixel: u32, peaks: u64, total: f64, squares: f64) {
        if let Some(sum) = self.sums.get_mut(pixel as usize) {
            sum.total += total;
            sum.squares += squares;
            sum.peaks += peaks;
        }
    }

    /// The bytes of the file's pixel table in order: total of every pixel, then root mean square of
    /// every pixel.
    pub fn table(&self) -> impl Iterator<Item = [u8; 4]> {
        let totals = self.sums.iter().map(|sum| sum.total);
        let means = self.sums.iter().map(|sum| {
            if sum.peaks == 0 {
                return 0.0;
            }
            #[expect(clippy::cast_precision_loss, reason = "below 2^53 peaks")]
            let peaks = sum.peaks as f64;
            (sum.squares / peaks).sqrt()
        });
        totals
            .chain(means)
            .map(|value| rounded(value).to_le_bytes())
    }

    /// The state, to be given to [`PixelSums::restore`].
    pub fn save(&self, out: &mut Vec<u8>) {
        for Sum {
            total,
            squares,
            peaks,
        } in &self.sums
        {
            out.extend(total.to_le_bytes());
            out.extend(squares.to_le_bytes());
            out.extend(peaks.to_le_bytes());
        }
    }

    /// Takes a saved state of the same pixels: the first 24 bytes a pixel.
    ///
    /// # Errors
    /// [`Error::Unexpected`] naming `file` if there are fewer bytes.
    pub fn restore(&mut self, file: &str, bytes: &[u8]) -> Result<()> {
        let need = self.sums.len() * 24;
        if bytes.len() < need {
            return Err(Error::Unexpected {
                file: file.to_owned(),
                at: 0,
                asked: need as u64,
                got: bytes.len() as u64,
            });
        }
        for (sum, bytes) in self
            .sums
            .iter_mut()
            .zip(bytes.as_chunks::<8>().0.as_chunks::<3>().0)
        {
            sum.total = f64::from_le_bytes(bytes[0]);
            sum.squares = f64::from_le_bytes(bytes[1]);
            sum.peaks = u64::from_le_bytes(bytes[2]);
        }
        Ok(())
    }
}

/// The value in f32; what is too large becomes the largest number.
#[expect(clippy::cast_possible_truncation, reason = "that is the rounding")]
pub(super) fn rounded(value: f64) -> f32 {
    (value as f32).clamp(f32::MIN, f32::MAX)
}

/// The pixel table of a store.
#[derive(Debug, Clone, PartialEq)]
pub struct PixelTable {
    /// Sum of the intensities of each pixel (TIC, total ion current); 0 where there are no peaks.
    pub tic: Vec<f32>,
    /// Root mean square of them over the pixel's stored peaks; 0 where there are none.
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
