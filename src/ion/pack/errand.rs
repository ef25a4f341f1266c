//! Which spectra are fetched together.

use std::ops::Range;

use crate::imzml::dataset::{Array, Spectrum};
use crate::range;

/// Bytes between two arrays that are rather read and thrown away than asked around.
const GAP: u64 = 64 << 10;

/// Most ranges of one fetch.
const READS: usize = 64;

/// Consecutive spectra, and the ranges of the `.ibd` that hold what they need.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Errand {
    /// Indices of the spectra.
    pub(super) spectra: Range<usize>,
    /// Ascending, apart from each other; none where the spectra have no peaks.
    pub(super) reads: Vec<Range<u64>>,
}

impl Errand {
    /// Bytes of all reads: how much of the slot is filled.
    pub(super) fn bytes(&self) -> u64 {
        self.reads.iter().map(|read| read.end - read.start).sum()
    }

    /// The bytes of an array in the filled slot.
    pub(super) fn array<'a>(&self, array: Array, slot: &'a [u8]) -> &'a [u8] {
        if array.len == 0 {
            return &[];
        }
        let mut before = 0;
        for read in &self.reads {
            if read.start <= array.at && array.end() <= read.end {
                let start = before + (array.at - read.start);
                let start = usize::try_from(start).unwrap_or(usize::MAX);
                let end = start.saturating_add(array.bytes as usize);
                return slot.get(start..end).unwrap_or_default();
            }
            before += read.end - read.start;
        }
        &[]
    }
}

/// Cuts an index into errands that fit a slot, in the order of the file.
///
/// An m/z array that is the one of the spectrum before is not fetched again, whatever mode the file
/// declares.
#[derive(Debug, Clone)]
pub(super) struct Errands {
    slot: u64,
    /// Where the `.ibd` ends, if that is known; spectra that do not lie inside need nothing.
    ibd_bytes: Option<u64>,
    next: usize,
    /// The m/z array of the last spectrum that had one.
    kept: Option<Array>,
}

impl Errands {
    /// From spectrum `first` on, with nothing kept.
    pub(super) fn new(slot: u64, ibd_bytes: Option<u64>, first: usize) -> Self {
        Self {
            slot,
            ibd_bytes,
            next: first,
            kept: None,
        }
    }

    /// Whether there is no further one.
    pub(super) fn is_done(&self, spectra: &[Spectrum]) -> bool {
        self.next >= spectra.len()
    }

    /// The next errand; it holds one spectrum at least. `spectra` is the whole index.
    pub(super) fn next(&mut self, spectra: &[Spectrum]) -> Option<Errand> {
        let first = self.next;
        let mut reads: Vec<Range<u64>> = Vec::new();
        let mut bytes = 0;
        while let Some(spectrum) = spectra.get(self.next) {
            if !lies_inside(spectrum, self.ibd_bytes) {
                self.next += 1;
                continue;
            }
            let wanted = needs(spectrum, self.kept);
            let mut more = reads.clone();
            let added: u64 = wanted.iter().flatten().map(|w| join(&mut more, w)).sum();
            let fits = bytes + added <= self.slot && more.len() <= READS;
            if !fits && self.next > first {
                break;
            }
            reads = more;
            bytes += added;
            if spectrum.mz().len > 0 {
                self.kept = Some(spectrum.mz());
            }
            self.next += 1;
        }
        if self.next == first {
            return None;
        }
        // Ranges that grew into each other; merging these never adds a byte.
        let (reads, _) = range::coalesce(&reads, 0, u64::MAX);
        Some(Errand {
            spectra: first..self.next,
            reads,
        })
    }
}

/// The byte behind a spectrum's last one.
pub(super) fn end(spectrum: &Spectrum) -> u64 {
    spectrum.mz().end().max(spectrum.intensity().end())
}

/// Whether a spectrum lies in an `.ibd` of so many bytes.
pub(super) fn lies_inside(spectrum: &Spectrum, ibd_bytes: Option<u64>) -> bool {
    ibd_bytes.is_none_or(|bytes| end(spectrum) <= bytes)
}

/// The ranges that a spectrum needs: its m/z unless they are `kept`, and its intensities.
fn needs(spectrum: &Spectrum, kept: Option<Array>) -> [Option<Range<u64>>; 2] {
    let range = |array: Array| (array.len > 0).then(|| array.at..array.end());
    let mz = spectrum.mz();
    let mz = if kept == Some(mz) { None } else { range(mz) };
    [mz, range(spectrum.intensity())]
}

/// Bytes that a slot must have for a spectrum alone.
pub(super) fn alone(spectrum: &Spectrum) -> u64 {
    let mut reads = Vec::new();
    let wanted = needs(spectrum, None);
    wanted.iter().flatten().map(|w| join(&mut reads, w)).sum()
}

/// Lets a read grow over a range near it, or adds one; the answer is how many bytes that takes.
fn join(reads: &mut Vec<Range<u64>>, wanted: &Range<u64>) -> u64 {
    for read in reads.iter_mut().rev() {
        if wanted.start >= read.start && wanted.start <= read.end.saturating_add(GAP) {
            let added = wanted.end.saturating_sub(read.end);
            read.end = read.end.max(wanted.end);
            return added;
        }
    }
    reads.push(wanted.clone());
    wanted.end - wanted.start
}
