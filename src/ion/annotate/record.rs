//! What comes out: scores of targets and of decoys, as records of fixed length.

use crate::ion::isotope::PEAKS;
use crate::ion::score::Metrics;
use crate::little::{f64_at, u32_at};

/// A target that was found: its MSM is greater than 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scored {
    /// Its place in the order of [`Ions`](super::Ions).
    pub ion: u32,
    /// m/z of its isotope peaks, ascending; 0 where there are fewer than four.
    pub mz: [f64; PEAKS],
    /// Their heights by theory, 100 for the highest.
    pub theory: [f64; PEAKS],
    /// Scores, and the totals and extremes of its images.
    pub metrics: Metrics,
    /// How far the intensity-weighted mean m/z of its first peak lies from theory, in units of m/z.
    pub mz_err_abs: f64,
    /// The same of the later peaks beyond `mz_err_abs`, their mean weighted by theory.
    pub mz_err_rel: f64,
    /// Whether the windows of two of its peaks overlap, so that one measured peak may count for both: the quotient
    /// of these images says little.
    pub overlap: bool,
}

/// A decoy whose MSM is greater than 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Decoy {
    /// Its place in the order of [`Ions`](super::Ions).
    pub ion: u32,
    /// Its score.
    pub msm: f64,
}

/// Numbers of a [`Scored`] behind its index and its flags.
const NUMBERS: usize = 6 + 5 * PEAKS;

impl Scored {
    /// Bytes of a record.
    pub const BYTES: usize = 8 + 8 * NUMBERS;

    /// The record: u32 `ion`; u32, 1 if `overlap`, else 0; then f64: `mz`, `theory`, chaos, spatial, spectral, msm,
    /// `total`, `min`, `max`, `mz_err_abs`, `mz_err_rel`. All little-endian.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let Metrics {
            chaos,
            spatial,
            spectral,
            msm,
            total,
            min,
            max,
        } = self.metrics;
        let numbers = (self.mz.iter().chain(&self.theory))
            .chain([&chaos, &spatial, &spectral, &msm])
            .chain(total.iter().chain(&min).chain(&max))
            .chain([&self.mz_err_abs, &self.mz_err_rel]);
        let mut bytes = [0; Self::BYTES];
        bytes[..4].copy_from_slice(&self.ion.to_le_bytes());
        bytes[4..8].copy_from_slice(&u32::from(self.overlap).to_le_bytes());
        for (place, number) in bytes[8..].chunks_exact_mut(8).zip(numbers) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        bytes
    }

    /// Reads a record; `None` if its flags are neither 0 nor 1, so that it is none.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; Self::BYTES]) -> Option<Self> {
        let mut places = (8..).step_by(8);
        let mut number = || places.next().map_or(0.0, |at| f64_at(bytes, at));
        let mut four = || [number(), number(), number(), number()];
        let (mz, theory) = (four(), four());
        let [chaos, spatial, spectral, msm] = four();
        let metrics = Metrics {
            chaos,
            spatial,
            spectral,
            msm,
            total: four(),
            min: four(),
            max: four(),
        };
        let (mz_err_abs, mz_err_rel) = (number(), number());
        let overlap = match u32_at(bytes, 4) {
            0 => false,
            1 => true,
            _ => return None,
        };
        Some(Self {
            ion: u32_at(bytes, 0),
            mz,
            theory,
            metrics,
            mz_err_abs,
            mz_err_rel,
            overlap,
        })
    }
}

impl Decoy {
    /// Bytes of a record.
    pub const BYTES: usize = 12;

    /// The record: u32 `ion`, f64 `msm`, little-endian.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..4].copy_from_slice(&self.ion.to_le_bytes());
        bytes[4..].copy_from_slice(&self.msm.to_le_bytes());
        bytes
    }

    /// Reads a record.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; Self::BYTES]) -> Self {
        Self {
            ion: u32_at(bytes, 0),
            msm: f64_at(bytes, 4),
        }
    }
}
