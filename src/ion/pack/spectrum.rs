//! One spectrum at a time: its arrays decoded, checked, put in order, and made into rows.

use super::errand::{Errand, lies_inside};
use super::row::{Shape, row, with_shape};
use super::tables::Tables;
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::imzml::dataset::{Array, Compression, Dataset, Spectrum};
use crate::imzml::spectrum::{check_intensity, check_lengths, check_mz, decode};
use crate::store::head::{Counts, Real};

/// Buffers for the longest spectrum, and the rows of the one at hand.
#[derive(Debug)]
pub(super) struct Intake {
    shape: Shape,
    mz: Vec<f64>,
    intensity: Vec<f64>,
    /// The order of m/z, where they do not ascend.
    order: Vec<u32>,
    rows: Vec<u8>,
    /// Rows of the spectrum at hand.
    len: usize,
    /// The array that `mz` was decoded from, and whether that went well.
    kept: Option<(Array, Option<Error>)>,
    ascending: bool,
}

/// Bytes of the buffers for each point of the longest spectrum.
pub(super) fn scratch(shape: Shape) -> u64 {
    8 + 8 + 4 + shape.bytes() as u64
}

/// Points of the longest spectrum.
pub(super) fn longest(dataset: &Dataset) -> u64 {
    let spectra = dataset.spectra.iter();
    let longest = spectra
        .map(|s| points(s.mz()).max(points(s.intensity())))
        .max();
    longest.unwrap_or(0)
}

/// Where the bytes of a spectrum are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    /// The name of the `.ibd`.
    pub(super) ibd: &'a str,
    /// Where it ends, if that is known.
    pub(super) ibd_bytes: Option<u64>,
    pub(super) errand: &'a Errand,
    pub(super) slot: &'a [u8],
}

impl Intake {
    pub(super) fn new(dataset: &Dataset, shape: Shape, budget: &mut Budget) -> Result<Self> {
        let longest = usize::try_from(longest(dataset)).unwrap_or(usize::MAX);
        let what = "the longest spectrum";
        let mut intake = Self {
            shape,
            mz: budget.allocate(longest, what)?,
            intensity: budget.allocate(longest, what)?,
            order: budget.allocate(longest, what)?,
            rows: budget.allocate(longest.saturating_mul(shape.bytes()), what)?,
            len: 0,
            kept: None,
            ascending: true,
        };
        intake.mz.clear();
        intake.intensity.clear();
        Ok(intake)
    }

    /// Rows of the spectrum at hand.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The rows of the spectrum at hand.
    pub(super) fn rows<const W: usize>(&self) -> &[[u8; W]] {
        let (rows, _) = self.rows.as_chunks::<W>();
        rows.get(..self.len).unwrap_or_default()
    }

    /// Makes the rows of spectrum `index`.
    ///
    /// # Errors
    /// [`Error::Format`] naming the spectrum and its position; it has no rows then, and is counted
    /// nowhere.
    pub(super) fn take(
        &mut self,
        dataset: &Dataset,
        index: usize,
        place: &Place<'_>,
        tables: &mut Tables,
        counts: &mut Counts,
    ) -> Result<()> {
        self.len = 0;
        let Some(spectrum) = dataset.spectra.get(index) else {
            return Ok(());
        };
        self.read(spectrum, index, place)
            .map_err(|error| located(error, spectrum))?;
        let pixel = dataset.grid.pixel(spectrum);
        tables.add(pixel, &self.intensity);
        counts.peaks_read += self.intensity.len() as u64;
        counts.empty_spectra += u64::from(self.intensity.is_empty());
        counts.unsorted_spectra += u64::from(!self.ascending && !self.intensity.is_empty());
        let made = with_shape!(self.shape, make(self, pixel));
        self.len = made.rows;
        counts.zeros_dropped += self.intensity.len() as u64 - made.rows as u64;
        counts.negative_intensities += made.negative;
        Ok(())
    }

    fn read(&mut self, spectrum: &Spectrum, index: usize, place: &Place<'_>) -> Result<()> {
        let (ibd, index) = (place.ibd, index as u64);
        if !lies_inside(spectrum, place.ibd_bytes) {
            return Err(Error::Format {
                file: ibd.to_owned(),
                at: place.ibd_bytes.unwrap_or(0),
                what: format!(
                    "the file ends before the arrays of spectrum {index} do; copy it again"
                ),
            });
        }
        let (mz, intensity) = (spectrum.mz(), spectrum.intensity());
        if mz.len > 0 && self.kept.as_ref().is_none_or(|(kept, _)| *kept != mz) {
            let bytes = place.errand.array(mz, place.slot);
            let outcome = decode(mz, bytes, ibd, index, &mut self.mz)
                .and_then(|()| check_mz(&self.mz, mz, ibd, index));
            self.ascending = self.mz.is_sorted();
            self.kept = Some((mz, outcome.err()));
        }
        if mz.len == 0 {
            self.intensity.clear();
        } else if let Some((_, Some(error))) = &self.kept {
            return Err(error.clone());
        }
        check_lengths(spectrum, ibd, index)?;
        if mz.len == 0 {
            return Ok(());
        }
        let bytes = place.errand.array(intensity, place.slot);
        decode(intensity, bytes, ibd, index, &mut self.intensity)?;
        check_intensity(&self.intensity, intensity, ibd, index)
    }
}

/// Adds a spectrum's position to what is wrong with it.
fn located(error: Error, spectrum: &Spectrum) -> Error {
    let position = format!("(x={} y={})", spectrum.x, spectrum.y);
    match error {
        Error::Format { file, at, what } if !what.contains(&position) => Error::Format {
            file,
            at,
            what: format!("{what} {position}"),
        },
        other => other,
    }
}

/// Points that an array can have at most: its bytes are there, whatever it claims.
pub(super) fn points(array: Array) -> u64 {
    let bytes = match array.compression {
        Compression::None => u64::from(array.bytes),
        // A byte of a deflate stream stands for 1,032 at most (RFC 1951).
        Compression::Zlib => u64::from(array.bytes) * 1032,
    };
    u64::from(array.len).min(bytes / array.number.size())
}

/// What became rows.
struct Made {
    rows: usize,
    negative: u64,
}

/// Makes rows of the decoded arrays: ascending in m/z, those of equal m/z in the order of the array,
/// without zero intensities.
fn make<const K: usize, const W: usize>(intake: &mut Intake, pixel: u32) -> Made {
    let Intake {
        mz,
        intensity,
        order,
        rows,
        ..
    } = intake;
    let (rows, _) = rows.as_chunks_mut::<W>();
    let mut to = rows.iter_mut();
    let mut made = Made {
        rows: 0,
        negative: 0,
    };
    let mut add = |mz: f64, intensity: f64| {
        if intensity != 0.0
            && let Some(to) = to.next()
        {
            made.rows += 1;
            made.negative += u64::from(intensity < 0.0);
            *to = row::<K, W>(mz_key::<K>(mz), intensity, pixel);
        }
    };
    if intake.ascending {
        for (mz, intensity) in mz.iter().zip(intensity.iter()) {
            add(*mz, *intensity);
        }
    } else {
        let order = &mut order[..mz.len().min(intensity.len())];
        for (own, index) in (0_u32..).zip(order.iter_mut()) {
            *index = own;
        }
        // The index makes it stable, without the memory that a stable sort takes.
        order.sort_unstable_by_key(|index| (mz_key::<K>(mz[*index as usize]), *index));
        for index in order.iter() {
            add(mz[*index as usize], intensity[*index as usize]);
        }
    }
    made
}

/// The key of an m/z; −0 is taken for 0.
#[inline]
fn mz_key<const K: usize>(mz: f64) -> u64 {
    let real = if K == 4 { Real::F32 } else { Real::F64 };
    real.key(mz + 0.0)
}
