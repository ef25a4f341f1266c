//! A spectrum from an imzML pair: the arrays of just the spectra in the region.

use std::ops::Range;

use super::gather::Gather;
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::imzml::dataset::{Array, Dataset, Spectrum};
use crate::imzml::spectrum::{check_intensity, check_lengths, check_mz, decode};
use crate::ion::images::Wish;
use crate::ion::reads::Reads;
use crate::ion::region::Chosen;
use crate::range;

/// Bytes between two wanted arrays that are read rather than asked around.
pub(super) const GAP: u64 = 64 << 10;

/// One spectrum of the region: its place in the index, and the reads that hold its arrays.
#[derive(Debug, Clone, Copy)]
struct Wanted {
    index: u32,
    spectrum: Spectrum,
    /// Read of the m/z and of the intensities, counted from the first of the batch.
    homes: [u32; 2],
    pixel: u32,
    /// Whether it turned out that it cannot be read.
    bad: bool,
}

/// Spectra whose arrays are held at one time.
#[derive(Debug)]
struct Batch {
    spectra: Range<usize>,
    /// First of its reads.
    read: usize,
}

/// The spectra of a region, in batches.
#[derive(Debug)]
pub(super) struct Pair {
    ibd: String,
    wanted: Vec<Wanted>,
    batches: Vec<Batch>,
    /// Whether all spectra of the region have one m/z array, which is read once.
    one_axis: bool,
    /// What is wrong with that array.
    axis: Option<Error>,
    mz: Vec<f64>,
    intensity: Vec<f64>,
    /// Pixels of the region that have a spectrum.
    pub(super) pixels: u64,
    /// Those of them whose spectra could be read.
    good: Chosen,
    skip_bad: bool,
    bad: u64,
    first_bad: Option<u32>,
    /// Values of all intensity arrays together.
    pub(super) values: u64,
}

/// The reads of all batches.
#[derive(Debug, Default)]
pub(super) struct Ranges {
    pub(super) ranges: Vec<Range<u64>>,
    /// The end of each batch among the ranges.
    pub(super) ends: Vec<usize>,
}

impl Pair {
    /// Bytes of book-keeping for each spectrum of the region.
    pub(super) const SPECTRUM: u64 =
        (size_of::<Wanted>() + 2 * size_of::<Range<u64>>() + 32) as u64;

    /// Finds the spectra of a region of the slice that is wished; in the order of the file if `ordered`,
    /// otherwise in that of their arrays.
    pub(super) fn new(
        dataset: &Dataset,
        ibd: &str,
        wish: &Wish,
        chosen: &Chosen,
        ordered: bool,
        budget: &mut Budget,
    ) -> Result<Self> {
        let area = dataset
            .grid
            .width
            .saturating_mul(dataset.grid.height)
            .max(1);
        let place = |spectrum: &Spectrum| {
            let pixel = dataset.grid.pixel(spectrum);
            (pixel / area == wish.slice && chosen.has(pixel % area)).then_some(pixel % area)
        };
        let mut seen = Chosen::none(area, budget)?;
        let mut count = 0;
        for pixel in dataset.spectra.iter().filter_map(place) {
            seen.insert(pixel);
            count += 1;
        }
        let bytes = Self::SPECTRUM * count as u64;
        budget.reserve(bytes, "the spectra of the region")?;
        let mut wanted = Vec::new();
        wanted.try_reserve_exact(count).map_err(|_| Error::Budget {
            need: bytes,
            have: 0,
            what: "the spectra of the region".to_owned(),
        })?;
        wanted.extend(
            ((0_u32..).zip(&dataset.spectra)).filter_map(|(index, spectrum)| {
                place(spectrum).map(|pixel| Wanted {
                    index,
                    spectrum: *spectrum,
                    homes: [0; 2],
                    pixel,
                    bad: false,
                })
            }),
        );
        let mut pair = Self {
            ibd: ibd.to_owned(),
            wanted,
            batches: Vec::new(),
            one_axis: false,
            axis: None,
            mz: Vec::new(),
            intensity: Vec::new(),
            pixels: seen.count(),
            values: 0,
            good: Chosen::none(area, budget)?,
            skip_bad: wish.skip_bad,
            bad: 0,
            first_bad: None,
        };
        pair.check(dataset)?;
        pair.values = pair
            .arrays()
            .map(|[_, intensity]| u64::from(intensity.len))
            .sum();
        let good = &mut pair.good;
        pair.wanted.retain(|one| {
            let empty = one.spectrum.mz().len == 0;
            if empty {
                good.insert(one.pixel);
            }
            !empty
        });
        let first = pair.wanted.first().map(|one| one.spectrum.mz());
        pair.one_axis = pair.wanted.len() > 1 && pair.arrays().all(|[mz, _]| Some(mz) == first);
        if !ordered {
            (pair.wanted).sort_unstable_by_key(|one| (one.spectrum.intensity().at, one.index));
        }
        Ok(pair)
    }

    /// Holds the spectra to what is known before they are read.
    fn check(&mut self, dataset: &Dataset) -> Result<()> {
        let end = dataset.ibd.as_ref().map_or(u64::MAX, |ibd| ibd.bytes);
        let mut wanted = std::mem::take(&mut self.wanted);
        let mut refused = Ok(());
        wanted.retain(|one| {
            let [mz, intensity] = [one.spectrum.mz(), one.spectrum.intensity()];
            let sound = check_lengths(&one.spectrum, &self.ibd, u64::from(one.index));
            let inside = [mz, intensity].iter().all(|array| array.end() <= end);
            match sound {
                // What lies outside was found when the index was held against the file.
                Ok(()) if inside || !self.skip_bad => return true,
                Err(error) if !self.skip_bad => {
                    if refused.is_ok() {
                        refused = Err(error);
                    }
                }
                _ => self.leave_out(one.index),
            }
            false
        });
        self.wanted = wanted;
        refused
    }

    fn leave_out(&mut self, index: u32) {
        self.bad += 1;
        let first = self.first_bad.get_or_insert(index);
        *first = (*first).min(index);
    }

    /// How many spectra were left out so far, and the first of them in the index.
    pub(super) fn bad(&self) -> (u64, Option<u32>) {
        (self.bad, self.first_bad)
    }

    /// Pixels whose spectra have been read.
    pub(super) fn acquired(&self) -> u64 {
        self.good.count()
    }

    fn arrays(&self) -> impl Iterator<Item = [Array; 2]> {
        let spectra = self.wanted.iter().map(|one| one.spectrum);
        spectra.map(|spectrum| [spectrum.mz(), spectrum.intensity()])
    }

    /// Most bytes of the arrays of one spectrum.
    pub(super) fn largest(&self) -> u64 {
        let bytes = |[mz, intensity]: [Array; 2]| u64::from(mz.bytes) + u64::from(intensity.bytes);
        self.arrays().map(bytes).max().unwrap_or(0)
    }

    /// Bytes of the values of one spectrum, decoded, and of an array that is inflated.
    pub(super) fn scratch(&self) -> u64 {
        let longest = self.arrays().map(|[mz, _]| mz.len).max().unwrap_or(0);
        3 * u64::from(longest) * size_of::<f64>() as u64
    }

    /// Allocates the scratch and cuts the spectra into batches whose arrays take at most `piece` bytes, which is
    /// [`Pair::largest`] at least.
    pub(super) fn cut(&mut self, piece: u64, budget: &mut Budget) -> Result<Ranges> {
        let longest = self.arrays().map(|[mz, _]| mz.len).max().unwrap_or(0);
        self.mz = budget.allocate(longest as usize, "a spectrum")?;
        self.intensity = budget.allocate(longest as usize, "a spectrum")?;
        let mut out = Ranges::default();
        let mut start = 0;
        while start < self.wanted.len() {
            let end = self.batch_end(start, piece);
            let read = out.ranges.len();
            self.place(start..end, piece, &mut out.ranges);
            self.batches.push(Batch {
                spectra: start..end,
                read,
            });
            out.ends.push(out.ranges.len());
            start = end;
        }
        Ok(out)
    }

    /// Where a batch from `start` on ends, when gaps are counted as they are met.
    fn batch_end(&self, start: usize, piece: u64) -> usize {
        let (mut bytes, mut end) = (0, start);
        let mut ends = [None::<u64>; 2];
        while let Some(one) = self.wanted.get(end) {
            let mut more = 0;
            for (which, array) in self.needed(one, end == 0).into_iter().enumerate() {
                let Some(array) = array else { continue };
                let gap = ends
                    .into_iter()
                    .flatten()
                    .filter_map(|end| array.at.checked_sub(end))
                    .min();
                more += gap.filter(|gap| *gap <= GAP).unwrap_or(0) + u64::from(array.bytes);
                ends[which] = Some(array.end());
            }
            if end > start && bytes + more > piece {
                break;
            }
            bytes += more;
            end += 1;
        }
        end
    }

    /// The arrays of a spectrum that have to be read for it.
    fn needed(&self, one: &Wanted, first: bool) -> [Option<Array>; 2] {
        let mz = (!self.one_axis || first).then(|| one.spectrum.mz());
        [mz, Some(one.spectrum.intensity())]
    }

    /// Adds the reads of a batch, and tells each of its arrays which one it is in.
    fn place(&mut self, spectra: Range<usize>, piece: u64, ranges: &mut Vec<Range<u64>>) {
        let mut arrays = Vec::new();
        let mut owners = Vec::new();
        for at in spectra {
            let needed = self.needed(&self.wanted[at], at == 0);
            for (which, array) in needed.into_iter().enumerate() {
                if let Some(array) = array {
                    arrays.push(array.at..array.end());
                    owners.push((at, which));
                }
            }
        }
        let total = |merged: &[Range<u64>]| merged.iter().map(|r| r.end - r.start).sum::<u64>();
        let (mut merged, mut homes) = range::coalesce(&arrays, GAP, piece);
        if total(&merged) > piece {
            // Arrays in an unusual order: their gaps were not all counted.
            (merged, homes) = range::coalesce(&arrays, 0, piece);
        }
        for ((at, which), home) in owners.into_iter().zip(homes) {
            self.wanted[at].homes[which] = u32::try_from(home).unwrap_or(u32::MAX);
        }
        ranges.extend(merged);
    }

    /// Goes through the spectra of a batch that has arrived; `first_read` is the first read of this pass.
    pub(super) fn take(
        &mut self,
        batch: usize,
        first_read: usize,
        reads: &Reads,
        gather: &mut Gather,
        budget: &mut Budget,
    ) -> Result<()> {
        let Batch { spectra, read } = &self.batches[batch];
        let (spectra, read) = (spectra.clone(), *read);
        for at in spectra {
            let one = self.wanted[at];
            if one.bad {
                continue;
            }
            match self.load(at, first_read + read, reads) {
                Ok(()) => {}
                Err(Error::Format { .. } | Error::Unsupported { .. }) if self.skip_bad => {
                    self.wanted[at].bad = true;
                    self.leave_out(one.index);
                    continue;
                }
                Err(error) => return Err(error),
            }
            self.good.insert(one.pixel);
            for (mz, intensity) in self.mz.iter().zip(&self.intensity) {
                // As in a store, which holds no peak of intensity 0.
                if *intensity != 0.0 {
                    gather.add(*mz, *intensity, budget)?;
                }
            }
        }
        Ok(())
    }

    /// Decodes the arrays of a spectrum; `base` is the first read of its batch.
    fn load(&mut self, at: usize, base: usize, reads: &Reads) -> Result<()> {
        let one = self.wanted[at];
        let part = |which: usize, array: Array| {
            let read = base + one.homes[which] as usize;
            let start = reads.ranges().get(read).map_or(0, |range| range.start);
            let place = |at: u64| usize::try_from(at.saturating_sub(start)).unwrap_or(usize::MAX);
            let bytes = reads.bytes(read).get(place(array.at)..place(array.end()));
            bytes.unwrap_or_default()
        };
        let index = u64::from(one.index);
        let [mz, intensity] = self.needed(&one, at == 0);
        if let Some(mz) = mz {
            self.axis = None;
            self.mz.clear();
            let axis = decode(mz, part(0, mz), &self.ibd, index, &mut self.mz)
                .and_then(|()| check_mz(&self.mz, mz, &self.ibd, index));
            if self.one_axis {
                self.axis = axis.clone().err();
            }
            axis?;
        }
        if let Some(error) = &self.axis {
            // All of them have this one.
            return Err(error.clone());
        }
        if let Some(array) = intensity {
            self.intensity.clear();
            decode(array, part(1, array), &self.ibd, index, &mut self.intensity)?;
            check_intensity(&self.intensity, array, &self.ibd, index)?;
        }
        Ok(())
    }
}
