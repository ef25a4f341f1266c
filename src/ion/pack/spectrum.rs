//! One spectrum at a time: its arrays decoded, checked, put in order, and made into rows.

use super::errand::{Errand, lies_inside};
use super::row::{Shape, row, with_shape};
use super::tables::Tables;
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::imzml::dataset::{Array, Dataset, Spectrum};
use crate::imzml::spectrum::decode;
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
pub(super) fn scratch(shape: Shape, zlib: bool) -> u64 {
    let inflated = if zlib { 8 } else { 0 };
    8 + 8 + 4 + shape.bytes() as u64 + inflated
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
        let points = |s: &Spectrum| s.mz().len.max(s.intensity().len);
        let longest = dataset.spectra.iter().map(points).max().unwrap_or(0) as usize;
        let what = "the longest spectrum";
        let mut intake = Self {
            shape,
            mz: budget.allocate(longest, what)?,
            intensity: budget.allocate(longest, what)?,
            order: budget.allocate(longest, what)?,
            rows: budget.allocate(longest * shape.bytes(), what)?,
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
        self.read(spectrum, index, place)?;
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
        let fault = |at: u64, what: &str| Error::Format {
            file: place.ibd.to_owned(),
            at,
            what: format!("spectrum {index} (x={} y={}): {what}", spectrum.x, spectrum.y),
        };
        if !lies_inside(spectrum, place.ibd_bytes) {
            let end = place.ibd_bytes.unwrap_or(0);
            return Err(fault(end, "the file ends before its arrays do; copy it again"));
        }
        let (mz, intensity) = (spectrum.mz(), spectrum.intensity());
        if mz.len > 0 && self.kept.as_ref().is_none_or(|(kept, _)| *kept != mz) {
            let bytes = place.errand.array(mz, place.slot);
            let outcome = decode(mz, bytes, place.ibd, index as u64, &mut self.mz);
            let bad = |value: &f64| !value.is_finite() || *value < 0.0;
            let outcome = outcome.and_then(|()| match self.mz.iter().position(bad) {
                Some(n) => Err(fault(mz.at, &format!("m/z {} (of point {n}) is no m/z", self.mz[n]))),
                None => Ok(()),
            });
            self.ascending = self.mz.is_sorted();
            self.kept = Some((mz, outcome.err()));
        }
        if mz.len == 0 {
            self.intensity.clear();
        } else if let Some((_, Some(error))) = &self.kept {
            return Err(error.clone());
        }
        if mz.len != intensity.len {
            return Err(fault(
                mz.at,
                &format!("{} m/z, but {} intensities", mz.len, intensity.len),
            ));
        }
        if mz.len == 0 {
            return Ok(());
        }
        let bytes = place.errand.array(intensity, place.slot);
        decode(intensity, bytes, place.ibd, index as u64, &mut self.intensity)?;
        if let Some(n) = self.intensity.iter().position(|value| !value.is_finite()) {
            let what = format!("the intensity of point {n} is {}", self.intensity[n]);
            return Err(fault(intensity.at, &what));
        }
        Ok(())
    }
}

/// What became rows.
struct Made {
    rows: usize,
    negative: u64,
}

/// Makes rows of the decoded arrays: ascending in m/z, those of equal m/z in the order of the array,
/// without zero intensities.
fn make<const K: usize, const W: usize>(intake: &mut Intake, pixel: u32) -> Made {
    let Intake { mz, intensity, order, rows, .. } = intake;
    let (rows, _) = rows.as_chunks_mut::<W>();
    let mut to = rows.iter_mut();
    let mut made = Made { rows: 0, negative: 0 };
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
