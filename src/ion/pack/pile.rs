//! What lies in the spill: chunks of rows, by partition of m/z.

use std::ops::Range;

use crate::budget::Budget;
use crate::error::{Error, Result};

/// Rows of one partition that lie together in the spill.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Chunk {
    /// First byte in the spill. Of one partition, chunks further back hold later spectra.
    pub(super) at: u64,
    pub(super) rows: u32,
    /// Index of the partition.
    pub(super) part: u32,
}

/// One partition of m/z.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) rows: u64,
    /// Smallest and greatest key.
    pub(super) min: u64,
    pub(super) max: u64,
}

impl Part {
    /// A partition without rows.
    pub(super) const EMPTY: Self = Self {
        rows: 0,
        min: u64::MAX,
        max: 0,
    };
}

/// Bytes of an entry.
pub(super) const CHUNK_ENTRY: u64 = size_of::<Chunk>() as u64;
/// Bytes of an entry.
pub(super) const PART_ENTRY: u64 = size_of::<Part>() as u64;

/// All partitions that are not in the store yet: a stack whose top holds the smallest m/z.
#[derive(Debug)]
pub(super) struct Pile {
    pub(super) parts: Vec<Part>,
    /// Those of the top partition at the end.
    pub(super) chunks: Vec<Chunk>,
    /// Those of `chunks` that are being read; behind them, new ones are noted.
    taken: Range<usize>,
    /// Where the spill ends.
    pub(super) end: u64,
}

/// What is read back next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Partitions that fit together.
    Group,
    /// Rows of one m/z that are too many to be held; there is nothing to sort.
    Equal,
    /// A partition that is too large, and must be split.
    Large(Part),
    /// Nothing is left.
    Nothing,
}

impl Pile {
    pub(super) fn new(chunks: u64, parts: u64, budget: &mut Budget) -> Result<Self> {
        Ok(Self {
            parts: table(parts, PART_ENTRY, budget, "the table of partitions")?,
            chunks: table(chunks, CHUNK_ENTRY, budget, "the table of chunks")?,
            taken: 0..0,
            end: 0,
        })
    }

    /// Gives the tables up.
    pub(super) fn clear(&mut self) {
        self.parts = Vec::new();
        self.chunks = Vec::new();
    }

    /// Notes a chunk that is put at the end of the spill; the answer is where.
    pub(super) fn add(&mut self, part: u32, rows: usize, row_bytes: usize) -> Result<u64> {
        let at = self.end;
        self.end += (rows * row_bytes) as u64;
        if self.chunks.len() == self.chunks.capacity() {
            return Err(Error::Budget {
                need: (self.chunks.len() as u64 + 1) * 2 * CHUNK_ENTRY,
                have: self.chunks.len() as u64 * CHUNK_ENTRY,
                what: "the table of chunks, because the m/z crowd so much; it".to_owned(),
            });
        }
        let rows = u32::try_from(rows).unwrap_or(u32::MAX);
        self.chunks.push(Chunk { at, rows, part });
        Ok(at)
    }

    /// Puts the partitions of a finished spread on top, the one with the smallest m/z last.
    ///
    /// Partition `j` counted from the smallest must have noted its chunks under
    /// [`Pile::index`]`(j, of)`.
    pub(super) fn stack(&mut self, parts: &[Part]) -> Result<()> {
        let base = u32::try_from(self.parts.len()).unwrap_or(u32::MAX);
        if self.parts.len() + parts.len() > self.parts.capacity() {
            return Err(Error::Budget {
                need: (self.parts.len() + parts.len()) as u64 * PART_ENTRY,
                have: self.parts.capacity() as u64 * PART_ENTRY,
                what: "the table of partitions, because the m/z crowd so much; it".to_owned(),
            });
        }
        self.parts.extend(parts.iter().rev());
        let first = self.chunks.partition_point(|chunk| chunk.part < base);
        self.chunks[first..].sort_unstable_by_key(|chunk| (chunk.part, chunk.at));
        Ok(())
    }

    /// The index under which partition `j` of `of` new ones will lie.
    pub(super) fn index(&self, j: usize, of: usize) -> u32 {
        u32::try_from(self.parts.len() + of - 1 - j).unwrap_or(u32::MAX)
    }

    /// Takes what is to be read next from the top, at most `capacity` rows where they must be sorted.
    pub(super) fn take(&mut self, capacity: u64) -> Next {
        let mut rows = 0;
        let mut next = Next::Nothing;
        while let Some(part) = self.parts.last() {
            if rows + part.rows > capacity {
                if rows == 0 {
                    next = if part.min == part.max {
                        Next::Equal
                    } else {
                        Next::Large(*part)
                    };
                    self.parts.pop();
                }
                break;
            }
            rows += part.rows;
            self.parts.pop();
        }
        if rows > 0 {
            next = Next::Group;
        }
        let left = u32::try_from(self.parts.len()).unwrap_or(u32::MAX);
        let first = self.chunks.partition_point(|chunk| chunk.part < left);
        self.taken = first..self.chunks.len();
        // Equal keys lie in one partition, so the spill's own order is as good, and neighbours in it
        // are read at once.
        self.chunks[first..].sort_unstable_by_key(|chunk| chunk.at);
        next
    }

    /// Forgets the chunks that were taken.
    pub(super) fn forget(&mut self) {
        self.chunks.drain(std::mem::replace(&mut self.taken, 0..0));
    }

    /// The chunks that are being read.
    pub(super) fn taken(&self) -> &[Chunk] {
        self.chunks.get(self.taken.clone()).unwrap_or_default()
    }
}

/// Where reading back has come to.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cursor {
    chunk: usize,
    row: u32,
}

impl Cursor {
    /// Whether all rows of the chunks were asked for.
    pub(super) fn is_done(self, chunks: &[Chunk]) -> bool {
        self.chunk >= chunks.len()
    }

    /// The next ranges of the spill, of at most `rows` rows together; none at the end.
    pub(super) fn next(
        &mut self,
        chunks: &[Chunk],
        rows: usize,
        row_bytes: u64,
    ) -> Vec<Range<u64>> {
        const READS: usize = 256;
        let mut left = u32::try_from(rows).unwrap_or(u32::MAX);
        let mut ranges: Vec<Range<u64>> = Vec::new();
        while let Some(chunk) = chunks.get(self.chunk)
            && left > 0
        {
            let take = left.min(chunk.rows - self.row);
            let start = chunk.at + u64::from(self.row) * row_bytes;
            let end = start + u64::from(take) * row_bytes;
            let full = ranges.len() == READS;
            match ranges.last_mut() {
                Some(last) if last.end == start => last.end = end,
                _ if full => break,
                _ => ranges.push(start..end),
            }
            left -= take;
            self.row += take;
            if self.row == chunk.rows {
                *self = Self {
                    chunk: self.chunk + 1,
                    row: 0,
                };
            }
        }
        ranges
    }
}

fn table<T>(len: u64, entry: u64, budget: &mut Budget, what: &str) -> Result<Vec<T>> {
    budget.reserve(len * entry, what)?;
    let mut table = Vec::new();
    let room = usize::try_from(len).ok();
    if room.is_none_or(|len| table.try_reserve_exact(len).is_err()) {
        return Err(Error::Budget {
            need: len * entry,
            have: 0,
            what: what.to_owned(),
        });
    }
    Ok(table)
}
