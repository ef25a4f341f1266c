//! The FITS file of a median out of the parts of its shards: what is copied from where, in the order of the file.
//!
//! ```text
//! header · values of part 0 · of part 1 · … · zeros · header of counts · counts of part 0 · … · zeros
//! ```
//!
//! A host that can only append writes the pieces one after the other; one that can write anywhere may take them in
//! any order. What is copied is checked against the part's own checksum.

use std::ops::Range;

use super::job::Description;
use super::part::{Identity, Sum, Sums};
use crate::error::{Error, Result};

/// One piece of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// These bytes.
    Bytes(Vec<u8>),
    /// Bytes of a part, as they are.
    Copy {
        /// Which part, from 0 on.
        part: u32,
        /// Which of its bytes.
        range: Range<u64>,
        /// CRC-32 of them.
        sum: u32,
    },
}

impl Piece {
    /// How many bytes it has.
    #[must_use]
    pub fn len(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Copy { range, .. } => range.end - range.start,
        }
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Checks the sum of what was copied; `file` is the part's name. Bytes need no check.
    ///
    /// # Errors
    /// [`Error::Format`] naming file and byte.
    pub fn check(&self, copied: Sum, file: &str) -> Result<()> {
        match self {
            Self::Bytes(_) => Ok(()),
            Self::Copy { range, sum, .. } => copied.check(*sum, file, range.start),
        }
    }
}

/// The pieces of the file, in its order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assembly {
    /// Bytes and ranges of parts.
    pub pieces: Vec<Piece>,
    /// Bytes of the whole file.
    pub total: u64,
}

impl Assembly {
    /// The file of a job, whose parts have these checksums: those that [`Identity::open`] gives, from shard 0 on.
    ///
    /// # Errors
    /// [`Error::Parameter`] for another number of sums than there are shards; those of [`Description::parts`].
    pub fn new(job: &Description, sums: &[Sums]) -> Result<Self> {
        let parts = job.parts()?;
        if parts.len() != sums.len() {
            return Err(Error::Parameter {
                name: "parts",
                what: format!("{} of them for {} shards", sums.len(), parts.len()),
            });
        }
        let layout = job.layout();
        let [(_, head), (count_at, count_head)] = layout.headers();
        let mut pieces = vec![Piece::Bytes(head.to_vec())];
        copies(
            &parts,
            sums,
            Identity::values,
            |sums| sums.values,
            &mut pieces,
        );
        let filling = count_at - layout.value_at(0, layout.height);
        pieces.push(zeros(filling));
        pieces.push(Piece::Bytes(count_head.to_vec()));
        copies(
            &parts,
            sums,
            Identity::counts,
            |sums| sums.counts,
            &mut pieces,
        );
        pieces.push(zeros(layout.total() - layout.count_at(0, layout.height)));
        pieces.retain(|piece| !piece.is_empty());
        Ok(Self {
            pieces,
            total: layout.total(),
        })
    }
}

fn copies(
    parts: &[Identity],
    sums: &[Sums],
    range: impl Fn(&Identity) -> Range<u64>,
    sum: impl Fn(&Sums) -> u32,
    pieces: &mut Vec<Piece>,
) {
    pieces.extend(parts.iter().zip(sums).map(|(part, sums)| Piece::Copy {
        part: part.shard,
        range: range(part),
        sum: sum(sums),
    }));
}

/// The filling of a last block, which is shorter than one.
fn zeros(len: u64) -> Piece {
    Piece::Bytes(vec![0; usize::try_from(len).unwrap_or(0)])
}
