//! Spectra: of one pixel, its peaks as they are; of a region, the mean and the maximum in bins.
//!
//! From the imzML pair, where it is there, only the arrays of the region's spectra are read. A store is sorted by
//! m/z, so that a spectrum is spread over all of it: it is read from beginning to end, and the plan says so.

mod gather;
mod made;
mod pair;
mod pass;

use std::rc::Rc;

use serde::Serialize;

use self::gather::{Binned, Exact, Filled, Gather};
use self::made::{Made, Step, base, bins_of, piece, room};
use self::pair::Pair;
use self::pass::Pass;
use super::draft::check_wish;
use super::images::Wish;
use super::reads::Reads;
use super::region::{Chosen, Region};
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::imzml::dataset::Dataset;
use crate::job::{Fetch, Job};
use crate::store::head::{Bins, Contents, Head};

/// Where a spectrum is read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum From {
    /// The imzML pair: just the spectra that are wanted.
    Pair,
    /// The store: all of its blocks.
    Store,
}

/// What a spectrum will read, and how much memory that takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// Where it is read from.
    pub from: From,
    /// Pixels of the region that were acquired.
    pub pixels: u64,
    /// Times that the region's bytes are read: twice from a pair where the bins have to be chosen first.
    pub passes: u32,
    /// Requests.
    pub requests: u64,
    /// Bytes that are asked for.
    pub bytes: u64,
    /// Most bytes held at one time. From a store the peaks of a pixel, whose number is not known before, come on
    /// top, within the budget.
    pub peak_bytes: u64,
    /// The smallest budget that works. For a pixel from a store: with up to 1024 peaks; where there are
    /// more than the budget holds they are counted to the end, and the error names what does.
    pub minimum_bytes: u64,
    /// The budget given.
    pub memory: u64,
}

/// A finished spectrum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spectrum<'a> {
    /// m/z, ascending: of each peak, or of each bin that has peaks the mean m/z weighted by intensity.
    pub mz: &'a [f64],
    /// Intensity of each peak, or of each bin the sum over the number of pixels.
    pub intensity: &'a [f64],
    /// Of each bin the greatest intensity of one peak; empty for one pixel.
    pub max: &'a [f32],
    /// Pixels of the region that were acquired; 0 if the spectrum is empty because there was none.
    pub pixels: u64,
    /// Spectra of a pair that could not be read and were left out; their pixels count as not acquired.
    pub bad: u64,
    /// The number of the first of them in the index.
    pub first_bad: Option<u32>,
}

/// A spectrum that waits for its bytes; it hands out one item.
///
/// Of one pixel ([`Region::Pixel`]): every peak, exact, in the order of m/z; those of several spectra at the pixel
/// together, in the order of the spectra where m/z are equal. Of any other region: mean and maximum in bins. Peaks
/// of intensity 0 are left out. Sums are f64, in the order of the file's bytes.
#[derive(Debug)]
pub struct SpectrumJob {
    plan: Plan,
    source: Source,
    reads: Reads,
    steps: Vec<Step>,
    at: usize,
    budget: Budget,
    /// Bytes held besides reads and growing lists.
    fixed: u64,
    gather: Gather,
    filled: Filled,
    done: bool,
}

#[derive(Debug)]
enum Source {
    Store(Pass),
    Pair(Pair),
}

impl SpectrumJob {
    /// The spectrum of a region of a store, by a pass over all its blocks. A region without an acquired pixel
    /// costs nothing.
    ///
    /// The bins are the store's own, so that the result can be laid over its mean spectrum.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a slice that does not exist, no request in
    /// flight, or as [`Region::on`];
    /// [`Error::Budget`] naming the smallest budget that works.
    pub fn of_store(head: &Rc<Head>, region: &Region, wish: &Wish) -> Result<Self> {
        let Contents {
            width,
            height,
            slices,
            ..
        } = head.layout.contents;
        check_wish(slices, wish.slice, wish.in_flight)?;
        let mut free = Budget::new(u64::MAX);
        let chosen = region.on(width, height, &mut free)?;
        let area = width * height;
        let first = wish.slice * area;
        let acquired = chosen
            .pixels()
            .filter(|pixel| head.mask.acquired(first + pixel));
        let pixels = acquired.count() as u64;
        let exact = matches!(region, Region::Pixel { .. });
        let sink = if exact {
            Exact::grown(0)
        } else {
            Binned::bytes(&head.layout.bins)
        };
        let fixed = base(wish)
            + head.held_bytes()
            + Chosen::bytes(u64::from(area))
            + Pass::scratch(head)
            + if exact { 0 } else { sink };
        let largest = head
            .blocks
            .iter()
            .map(|entry| u64::from(entry.bytes))
            .max()
            .unwrap_or(0);
        let minimum = fixed + largest + if exact { sink } else { 0 };
        let room = room(wish, fixed, minimum)?;
        // What is not for blocks is for the peaks of the pixel, however many they will be.
        let room = if exact { (room / 2).max(largest) } else { room };
        let piece = piece(room, wish).max(largest);
        let (pass, ranges) = Pass::new(head, first, chosen, piece, &mut free)?;
        let ranges = if pixels == 0 { Vec::new() } else { ranges };
        let ends: Vec<usize> = (1..=ranges.len()).collect();
        let gather = if exact {
            Gather::Exact(Exact::default())
        } else {
            Gather::Binned(Binned::new(&head.layout.bins)?)
        };
        let made = Made {
            source: Source::Store(pass),
            from: From::Store,
            name: &head.file,
            ranges,
            ends,
            passes: 1,
            pixels,
            fixed,
            minimum,
            room,
        };
        made.job(gather, wish)
    }

    /// The spectrum of a region of an imzML pair, by the arrays of the spectra in it; `ibd` is the name of the
    /// file with the arrays, for messages.
    ///
    /// The `bins` are those of the pair's store, where there is one. Otherwise they are chosen by the rule for
    /// stores from the least and the greatest m/z of the region, which takes a pass of its own.
    ///
    /// # Errors
    /// As [`SpectrumJob::of_store`]; [`Error::Format`] naming the spectrum whose
    /// arrays are of unequal length, unless bad ones are skipped.
    pub fn of_pair(
        dataset: &Dataset,
        ibd: &str,
        region: &Region,
        bins: Option<Bins>,
        wish: &Wish,
    ) -> Result<Self> {
        let grid = &dataset.grid;
        let slices = u32::try_from(grid.slices.len()).unwrap_or(u32::MAX);
        check_wish(slices, wish.slice, wish.in_flight)?;
        let mut free = Budget::new(u64::MAX);
        let chosen = region.on(grid.width, grid.height, &mut free)?;
        let exact = matches!(region, Region::Pixel { .. });
        let mut pair = Pair::new(dataset, ibd, wish, &chosen, exact, &mut free)?;
        let sink = match (exact, &bins) {
            (true, _) => Exact::bytes(pair.values),
            (false, Some(bins)) => Binned::bytes(bins),
            (false, None) => Binned::most_bytes(),
        };
        let index = size_of_val(dataset.spectra.as_slice()) as u64;
        let fixed = base(wish) + index + free.held() + pair.scratch() + sink;
        let minimum = fixed + pair.largest();
        let room = room(wish, fixed, minimum)?;
        let piece = piece(room, wish).max(pair.largest());
        let cut = pair.cut(piece, &mut free)?;
        let gather = match (exact, &bins) {
            (true, _) => Gather::Exact(Exact::with_room(pair.values)?),
            (false, Some(bins)) => Gather::Binned(Binned::new(bins)?),
            (false, None) => Gather::Extent {
                lo: f64::INFINITY,
                hi: f64::NEG_INFINITY,
            },
        };
        let passes = if matches!(gather, Gather::Extent { .. }) && !cut.ends.is_empty() {
            2
        } else {
            1
        };
        let made = Made {
            from: From::Pair,
            name: ibd,
            pixels: pair.pixels,
            source: Source::Pair(pair),
            ranges: cut.ranges,
            ends: cut.ends,
            passes,
            fixed,
            minimum,
            room,
        };
        made.job(gather, wish)
    }

    /// The plan that is carried out.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Feeds part of a read: byte `offset` of read `read` of the fetch that fills `slot`. A fetch has one read.
    ///
    /// `write` is given the place in the slot and fills all of it. Bytes may come in pieces of any size; a piece
    /// may begin anywhere up to the first byte that is still missing (a driver may start a read over).
    ///
    /// # Errors
    /// [`Error::Unexpected`] and
    /// [`Error::Parameter`] for bytes that were not asked for.
    pub fn feed(
        &mut self,
        slot: u32,
        read: usize,
        offset: u64,
        len: usize,
        write: impl FnOnce(&mut [u8]),
    ) -> Result<()> {
        self.reads.feed(slot, read, offset, len, write)
    }

    /// Says that the read of a fetch has been fed whole.
    ///
    /// # Errors
    /// [`Error::Unexpected`] if bytes are missing.
    pub fn complete(&mut self, slot: u32) -> Result<()> {
        self.reads.complete(slot)
    }

    /// Shares of the reads that were worked on, for progress: done, all.
    #[must_use]
    pub fn progress(&self) -> (usize, usize) {
        (self.at, self.steps.len())
    }

    /// The spectrum, once it is finished.
    #[must_use]
    pub fn last(&self) -> Option<Spectrum<'_>> {
        if !self.done {
            return None;
        }
        let (mz, intensity, max) = match &self.gather {
            Gather::Exact(exact) => (&exact.mz, &exact.intensity, &[][..]),
            _ => (&self.filled.mz, &self.filled.mean, &self.filled.max[..]),
        };
        let (bad, first_bad) = match &self.source {
            Source::Pair(pair) => pair.bad(),
            Source::Store(_) => (0, None),
        };
        Some(Spectrum {
            mz,
            intensity,
            max,
            pixels: self.pixels(),
            bad,
            first_bad,
        })
    }

    /// Pixels that have data: of a pair they are known when its spectra have been read.
    fn pixels(&self) -> u64 {
        match &self.source {
            Source::Pair(pair) => pair.acquired(),
            Source::Store(_) => self.plan.pixels,
        }
    }

    fn work(&mut self, step: Step) -> Result<()> {
        match &mut self.source {
            Source::Store(pass) => {
                pass.take(step.part, &self.reads, &mut self.gather, &mut self.budget)?;
            }
            Source::Pair(pair) => pair.take(
                step.part,
                step.first,
                &self.reads,
                &mut self.gather,
                &mut self.budget,
            )?,
        }
        self.reads.release(step.end, &mut self.budget);
        Ok(())
    }

    /// Chooses the bins once the extent is known: before the second pass, or at the end of an empty one.
    fn choose_bins(&mut self) -> Result<()> {
        if let Gather::Extent { lo, hi } = self.gather {
            let bins = bins_of(self.reads.name(), lo, hi)?;
            self.gather = Gather::Binned(Binned::new(&bins)?);
        }
        Ok(())
    }

    /// The error for a pixel of so many peaks. Of what a budget leaves, blocks get half, or one block.
    fn needs(&self, peaks: u64) -> Error {
        let peaks_take = Exact::grown(peaks);
        let block = self.plan.minimum_bytes - self.fixed - Exact::grown(0);
        Error::Budget {
            need: self.fixed + peaks_take + block.max(peaks_take),
            have: self.plan.memory,
            what: format!("a pixel of {peaks} peaks"),
        }
    }

    fn finish(&mut self) -> Result<()> {
        self.choose_bins()?;
        let pixels = self.pixels();
        match &mut self.gather {
            Gather::Exact(exact) => {
                if let Some(peaks) = exact.too_many() {
                    return Err(self.needs(peaks));
                }
                exact.sort()?;
            }
            Gather::Binned(binned) => self.filled = binned.finish(pixels)?,
            Gather::Extent { .. } => {}
        }
        self.done = true;
        Ok(())
    }
}

impl Job for SpectrumJob {
    type Item<'a> = Spectrum<'a>;

    fn next(&mut self) -> Option<Fetch> {
        let until = self.steps.get(self.at)?.until;
        self.reads.next(until, &mut self.budget)
    }

    fn lend(&mut self, fetch: &Fetch) -> Vec<u8> {
        self.reads.lend(fetch)
    }

    fn filled(&mut self, fetch: &Fetch, buffer: Vec<u8>) -> Result<()> {
        self.reads.filled(fetch, buffer)
    }

    fn ready(&mut self) -> Result<Option<Spectrum<'_>>> {
        if self.done {
            return Ok(None);
        }
        while let Some(step) = self.steps.get(self.at).copied() {
            if !self.reads.arrived(step.end)? {
                return Ok(None);
            }
            if step.first > 0 {
                self.choose_bins()?;
            }
            self.work(step)?;
            self.at += 1;
        }
        self.finish()?;
        Ok(self.last())
    }

    fn is_done(&self) -> bool {
        self.done
    }

    fn peak(&self) -> u64 {
        self.budget.peak()
    }
}
