//! A spectrum from a store: all its blocks, piece by piece.

use std::ops::Range;
use std::rc::Rc;

use super::gather::Gather;
use crate::budget::Budget;
use crate::error::Result;
use crate::ion::reads::Reads;
use crate::ion::region::Chosen;
use crate::store::block::Block;
use crate::store::head::Head;

/// A pass over all blocks.
#[derive(Debug)]
pub(super) struct Pass {
    head: Rc<Head>,
    /// Number of the slice's first pixel.
    first: u32,
    chosen: Chosen,
    /// The blocks of each read.
    pieces: Vec<Range<usize>>,
    /// Peaks of the region in one block: place and intensity.
    hits: Vec<(u32, f64)>,
    mz: Vec<f64>,
}

impl Pass {
    /// Bytes of scratch for one block.
    pub(super) fn scratch(head: &Head) -> u64 {
        let peaks = head.peaks_of(0) as u64;
        peaks * (size_of::<(u32, f64)>() + size_of::<f64>()) as u64
    }

    /// Cuts all blocks into pieces of at most `piece` bytes, one block at least.
    pub(super) fn new(
        head: &Rc<Head>,
        first: u32,
        chosen: Chosen,
        piece: u64,
        budget: &mut Budget,
    ) -> Result<(Self, Vec<Range<u64>>)> {
        let (mut pieces, mut ranges) = (Vec::<Range<usize>>::new(), Vec::<Range<u64>>::new());
        for n in 0..head.blocks.len() {
            let range = head.block_range(n);
            match (pieces.last_mut(), ranges.last_mut()) {
                (Some(blocks), Some(bytes)) if range.end - bytes.start <= piece => {
                    blocks.end = n + 1;
                    bytes.end = range.end;
                }
                _ => {
                    pieces.push(n..n + 1);
                    ranges.push(range);
                }
            }
        }
        let peaks = head.peaks_of(0);
        let mut hits = budget.allocate(peaks, "the peaks of a block")?;
        hits.clear();
        let pass = Self {
            head: head.clone(),
            first,
            chosen,
            pieces,
            hits,
            mz: budget.allocate(peaks, "the peaks of a block")?,
        };
        Ok((pass, ranges))
    }

    /// Goes through the blocks of a read that has arrived.
    pub(super) fn take(
        &mut self,
        read: usize,
        reads: &Reads,
        gather: &mut Gather,
        budget: &mut Budget,
    ) -> Result<()> {
        let bytes = reads.bytes(read);
        let start = reads.ranges()[read].start;
        for n in self.pieces[read].clone() {
            let range = self.head.block_range(n);
            let place = |at: u64| usize::try_from(at - start).unwrap_or(usize::MAX);
            let bytes = bytes
                .get(place(range.start)..place(range.end))
                .unwrap_or_default();
            let block = Block::open(&self.head, n, bytes)?;
            let (hits, first, chosen) = (&mut self.hits, self.first, &self.chosen);
            hits.clear();
            let mut at = 0;
            block.visit(0..block.len(), |pixel, intensity| {
                // A pixel of a slice before wraps around and lies in none.
                if chosen.has(pixel.wrapping_sub(first)) {
                    hits.push((at, intensity));
                }
                at += 1;
            })?;
            if hits.is_empty() {
                continue;
            }
            block.decode_mz(0..block.len(), &mut self.mz)?;
            for (at, intensity) in hits {
                gather.add(self.mz[*at as usize], *intensity, budget)?;
            }
        }
        Ok(())
    }
}
