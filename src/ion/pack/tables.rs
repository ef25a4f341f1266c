//! What is kept of each pixel while its spectra pass by: whether it was acquired, TIC and RMS.

use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::store::head::Mask;

/// The tables of all pixels.
#[derive(Debug)]
pub(super) struct Tables {
    pub(super) mask: Mask,
    norms: Norms,
}

/// Where no pixel has more than one spectrum, what the store holds is known at once; otherwise the
/// sums are kept.
#[derive(Debug)]
enum Norms {
    Single { tic: Vec<f32>, rms: Vec<f32> },
    Summed(Vec<Sums>),
}

/// Sums over the spectra of one pixel.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    tic: f64,
    squares: f64,
    points: f64,
}

/// Bytes of the tables.
pub(super) fn bytes(pixels: u64, summed: bool) -> u64 {
    mask_bytes(pixels) + pixels * norm_bytes(summed)
}

/// Bytes of a mask.
pub(super) fn mask_bytes(pixels: u64) -> u64 {
    pixels.div_ceil(64) * 8
}

/// Bytes that the norms of a pixel take, here and in a checkpoint.
fn norm_bytes(summed: bool) -> u64 {
    if summed { size_of::<Sums>() as u64 } else { 8 }
}

impl Tables {
    pub(super) fn new(pixels: u32, summed: bool, budget: &mut Budget) -> Result<Self> {
        budget.reserve(mask_bytes(u64::from(pixels)), "the acquisition mask")?;
        let mask = Mask::new(pixels)?;
        let len = pixels as usize;
        let norms = if summed {
            Norms::Summed(budget.allocate(len, "the sums of the pixels")?)
        } else {
            Norms::Single {
                tic: budget.allocate(len, "the total of each pixel")?,
                rms: budget.allocate(len, "the RMS of each pixel")?,
            }
        };
        Ok(Self { mask, norms })
    }

    /// Takes a spectrum of these intensities, in the order of their array.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "sums are rounded once, and there are fewer points than 2^53"
    )]
    pub(super) fn add(&mut self, pixel: u32, intensities: &[f64]) {
        self.mask.set(pixel);
        let (mut tic, mut squares) = (0.0, 0.0);
        for value in intensities {
            tic += value;
            squares += value * value;
        }
        let points = intensities.len() as f64;
        let at = pixel as usize;
        match &mut self.norms {
            Norms::Single { tic: tics, rms } => {
                if let (Some(to), Some(rms)) = (tics.get_mut(at), rms.get_mut(at)) {
                    *to = tic as f32;
                    *rms = root_mean(squares, points) as f32;
                }
            }
            Norms::Summed(sums) => {
                if let Some(sums) = sums.get_mut(at) {
                    sums.tic += tic;
                    sums.squares += squares;
                    sums.points += points;
                }
            }
        }
    }

    /// The norm `which` (0 TIC, 1 RMS) of a pixel as the store holds it.
    #[expect(clippy::cast_possible_truncation, reason = "sums are rounded once")]
    pub(super) fn norm(&self, which: usize, pixel: usize) -> f32 {
        match &self.norms {
            Norms::Single { tic, rms } => [tic, rms][which & 1].get(pixel).copied().unwrap_or(0.0),
            Norms::Summed(sums) => {
                let sums = sums.get(pixel).copied().unwrap_or_default();
                let both = [sums.tic, root_mean(sums.squares, sums.points)];
                both[which & 1] as f32
            }
        }
    }

    /// Frees all but the mask; the answer is how many bytes that were.
    pub(super) fn forget(&mut self) -> u64 {
        let pixels = u64::from(self.mask.pixels());
        let summed = matches!(self.norms, Norms::Summed(_));
        let held = match &self.norms {
            Norms::Single { tic, .. } => !tic.is_empty(),
            Norms::Summed(sums) => !sums.is_empty(),
        };
        self.norms = Norms::Single {
            tic: Vec::new(),
            rms: Vec::new(),
        };
        if held { pixels * norm_bytes(summed) } else { 0 }
    }

    /// Writes the norms so that [`Tables::restore`] has every bit again.
    pub(super) fn save(&self, put: &mut impl FnMut(&[u8])) {
        match &self.norms {
            Norms::Single { tic, rms } => {
                for (tic, rms) in tic.iter().zip(rms) {
                    put(&tic.to_le_bytes());
                    put(&rms.to_le_bytes());
                }
            }
            Norms::Summed(sums) => {
                for sums in sums {
                    for value in [sums.tic, sums.squares, sums.points] {
                        put(&value.to_le_bytes());
                    }
                }
            }
        }
    }

    /// Bytes that [`Tables::save`] writes.
    pub(super) fn saved_bytes(&self) -> usize {
        match &self.norms {
            Norms::Single { tic, .. } => tic.len() * 8,
            Norms::Summed(sums) => sums.len() * size_of::<Sums>(),
        }
    }

    /// Takes what [`Tables::save`] wrote of tables of the same kind.
    pub(super) fn restore(&mut self, bytes: &[u8]) -> Result<()> {
        if bytes.len() != self.saved_bytes() {
            return Err(Error::Parameter {
                name: "state",
                what: "its tables have another size".to_owned(),
            });
        }
        match &mut self.norms {
            Norms::Single { tic, rms } => {
                let (pairs, _) = bytes.as_chunks::<8>();
                for (at, [a, b, c, d, e, f, g, h]) in pairs.iter().copied().enumerate() {
                    tic[at] = f32::from_le_bytes([a, b, c, d]);
                    rms[at] = f32::from_le_bytes([e, f, g, h]);
                }
            }
            Norms::Summed(sums) => {
                let (values, _) = bytes.as_chunks::<8>();
                for (sums, three) in sums.iter_mut().zip(values.chunks_exact(3)) {
                    sums.tic = f64::from_le_bytes(three[0]);
                    sums.squares = f64::from_le_bytes(three[1]);
                    sums.points = f64::from_le_bytes(three[2]);
                }
            }
        }
        Ok(())
    }
}

/// √(squares / points); 0 where there are no points.
fn root_mean(squares: f64, points: f64) -> f64 {
    if points > 0.0 {
        (squares / points).sqrt()
    } else {
        0.0
    }
}
