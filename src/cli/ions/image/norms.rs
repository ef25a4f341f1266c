//! The norms of a store's pixels, read from its pixel table.

use std::ops::Range;
use std::sync::atomic::AtomicBool;

use sectile::budget::Budget;
use sectile::drive::native::follow;
use sectile::error::{Error, Result as Read};
use sectile::ion::normalise::{Normalise, Norms};
use sectile::job::{Machine, Step};
use sectile::store::PixelTable;

use crate::cli::arguments::Reading;
use crate::cli::failure::Result;
use crate::cli::ions::store::Opened;

/// Longest piece that is asked for at once.
const PIECE: u64 = 1 << 20;

/// Reads the norms; `None` if images are not normalised. What they hold stays reserved, and what
/// reading them held besides is given back.
pub fn read(
    opened: &mut Opened,
    kind: Normalise,
    reading: &Reading,
    cancel: &AtomicBool,
    budget: &mut Budget,
) -> Result<Option<Norms>> {
    if kind == Normalise::None {
        return Ok(None);
    }
    let range = opened.head.layout.pixel_table();
    let length = range.end - range.start;
    let before = budget.held();
    let what = "the totals of the store's pixels";
    budget.reserve(PIECE.min(length), what)?;
    let mut table = Table {
        file: opened.source.name().to_owned(),
        bytes: budget.allocate(usize::try_from(length).unwrap_or(usize::MAX), what)?,
        done: 0,
        range,
    };
    let run = reading.run(cancel);
    follow(&opened.source, &mut table, &run, &mut opened.tally, |_| {})?;
    let pixels = PixelTable::parse(&opened.head, &table.bytes, budget)?;
    let norms = match kind {
        Normalise::Rms => pixels.rms,
        _ => pixels.tic,
    };
    let kept = 4 * norms.len() as u64;
    budget.release(budget.held() - before - kept);
    Ok(Some(Norms::new(norms)?))
}

/// Reads one part of a file, piece by piece.
struct Table {
    file: String,
    range: Range<u64>,
    bytes: Vec<u8>,
    done: usize,
}

impl Machine for Table {
    type Item = ();

    fn step(&mut self) -> Read<Step<()>> {
        let start = self.range.start + self.done as u64;
        Ok(if start < self.range.end {
            Step::Need(start..self.range.end.min(start + PIECE))
        } else {
            Step::Done
        })
    }

    fn feed(&mut self, at: u64, bytes: &[u8], _: Option<u64>) -> Read<()> {
        let start = self.range.start + self.done as u64;
        let end = self.range.end.min(start + PIECE);
        let asked = end - start;
        let place = self.bytes.get_mut(self.done..self.done + bytes.len());
        match place {
            Some(place) if at == start && bytes.len() as u64 == asked => {
                place.copy_from_slice(bytes);
                self.done += bytes.len();
                Ok(())
            }
            _ => Err(Error::Unexpected {
                file: self.file.clone(),
                at,
                asked,
                got: bytes.len() as u64,
            }),
        }
    }
}
