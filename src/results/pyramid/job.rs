//! The pyramid as a job: rows of parts in, the file's bytes out, from the first to the last.

use super::cubes::Cubes;
use super::planes::Planes;
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::job::slot::Slot;
use crate::job::{Fetch, Job, Read};
use crate::results::stack::layout::Layout;
use crate::results::stack::part::{Identity, Sum, Sums};
use crate::stack::plan::{BASE, CHUNK, EXPOSURE};

/// Bytes that are read at once, as far as rows are not longer.
const READ: u64 = 512 << 10;

/// Rows of a median that lie in one file: those of a shard's part, or all of a finished FITS file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Band {
    /// The file's name, for errors.
    pub name: String,
    /// Rows.
    pub rows: u32,
    /// Where the values begin, the lowest row first.
    pub values_at: u64,
    /// Where the counts begin.
    pub counts_at: u64,
    /// Checksums of both; none are known of a FITS file.
    pub sums: Option<Sums>,
}

impl Band {
    /// The rows of a part.
    #[must_use]
    pub fn of_part(name: &str, part: &Identity, sums: Sums) -> Self {
        Self {
            name: name.to_owned(),
            rows: part.rows.end - part.rows.start,
            values_at: part.values().start,
            counts_at: part.counts().start,
            sums: Some(sums),
        }
    }

    /// All rows of a finished FITS file.
    #[must_use]
    pub fn of_file(name: &str, layout: &Layout) -> Self {
        Self {
            name: name.to_owned(),
            rows: layout.height,
            values_at: layout.value_at(0, 0),
            counts_at: layout.count_at(0, 0),
            sums: None,
        }
    }
}

/// Which rows come next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct At {
    cube: Cube,
    band: usize,
    row: u32,
    /// Counts the reads.
    turn: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cube {
    Medians,
    Counts,
    /// Neither is left.
    End,
}

/// What is handed out next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Head,
    Tiles,
    /// The filling of the medians, and the header of the counts.
    Between,
    CountTiles,
    Filling,
    Nothing,
}

/// Makes the file while the rows pass by: first all values of all bands, then all counts, **bottom up**: band 0, which
/// has the lowest rows, first, as the shards are counted.
///
/// Its items are the bytes of the file in their order, a tile or a header each: whoever can append can write it. It
/// reads every value and every count once; the sources are the files of the bands. A damaged part is noticed by its
/// checksum when its last row has come, so that what was written until then is to be thrown away after an error.
///
/// Holds O(width · tile), whatever the height: [`bytes`](Self::bytes), of which the budget is told before a byte is
/// asked for.
#[derive(Debug)]
pub struct PyramidJob {
    cubes: Cubes,
    bands: Vec<Band>,
    head: Vec<u8>,
    budget: Budget,
    slots: Vec<Slot>,
    free: Vec<u32>,
    asked: At,
    current: At,
    /// Bytes of the current slot that have been taken.
    taken: usize,
    sum: Sum,
    next: Next,
    planes: Planes,
    /// What is given back when the planes are done with.
    planes_bytes: u64,
    out: Vec<u8>,
}

impl PyramidJob {
    /// The job of the file of this shape, which begins with `head`, of bands that together are its rows.
    ///
    /// # Errors
    /// [`Error::Parameter`] for bands of another number of rows, an empty one, or no read in flight;
    /// [`Error::Budget`] if `memory` is less than [`bytes`](Self::bytes), which it names.
    pub fn new(
        (cubes, head): (Cubes, Vec<u8>),
        bands: Vec<Band>,
        memory: u64,
        in_flight: u32,
    ) -> Result<Self> {
        let rows: u64 = bands.iter().map(|band| u64::from(band.rows)).sum();
        if rows != u64::from(cubes.height) || bands.iter().any(|band| band.rows == 0) {
            return Err(Error::Parameter {
                name: "bands",
                what: format!("{rows} rows in bands, for an image of {}", cubes.height),
            });
        }
        if !(1..=1024).contains(&in_flight) {
            return Err(Error::Parameter {
                name: "in_flight",
                what: format!("{in_flight} is not between 1 and 1024"),
            });
        }
        let mut budget = Budget::new(memory);
        let need = Self::bytes(&cubes, bands.len(), in_flight);
        Budget::new(memory).reserve(need, "the pyramid of so wide an image")?;
        budget.reserve(fixed(bands.len(), in_flight), "the program")?;
        let count = in_flight + 1;
        let slot_bytes = usize::try_from(slot_bytes(&cubes)).unwrap_or(usize::MAX);
        let mut slots = Vec::new();
        for _ in 0..count {
            slots.push(Slot::new(budget.allocate(slot_bytes, "a slot")?));
        }
        let tile = usize::try_from(tile_bytes(&cubes)).unwrap_or(usize::MAX);
        let mut out: Vec<u8> = budget.allocate(tile, "a tile")?;
        out.clear();
        let held = budget.held();
        let planes = Planes::medians(cubes.wide, cubes.pyramid, cubes.width, &mut budget)?;
        let start = At {
            cube: Cube::Medians,
            band: 0,
            row: 0,
            turn: 0,
        };
        Ok(Self {
            planes_bytes: budget.held() - held,
            cubes,
            bands,
            head,
            budget,
            slots,
            free: (0..count).rev().collect(),
            asked: start,
            current: start,
            taken: 0,
            sum: Sum::default(),
            next: Next::Head,
            planes,
            out,
        })
    }

    /// Most bytes that the job holds at one time.
    #[must_use]
    pub fn bytes(cubes: &Cubes, bands: usize, in_flight: u32) -> u64 {
        fixed(bands, in_flight)
            + (u64::from(in_flight) + 1) * slot_bytes(cubes)
            + tile_bytes(cubes)
            + Planes::bytes(cubes.wide, &cubes.pyramid, cubes.width)
    }

    /// Feeds part of a read: byte `offset` of read `read` of the fetch that fills `slot`, as
    /// [`MedianJob::feed`](crate::stack::job::MedianJob::feed).
    ///
    /// # Errors
    /// [`Error::Unexpected`] for bytes that were not asked for.
    pub fn feed(
        &mut self,
        slot: u32,
        read: usize,
        offset: u64,
        len: usize,
        write: impl FnOnce(&mut [u8]),
    ) -> Result<()> {
        let Some(lent) = self.slots.get_mut(slot as usize) else {
            return Err(no_slot(slot));
        };
        let name = &self.bands[lent.source as usize].name;
        lent.feed(name, read, offset, len, write)
    }

    /// Says that every read of a fetch has been fed whole.
    ///
    /// # Errors
    /// [`Error::Unexpected`] naming the first read that lacks bytes.
    pub fn complete(&mut self, slot: u32) -> Result<()> {
        let Some(filled) = self.slots.get_mut(slot as usize) else {
            return Err(no_slot(slot));
        };
        filled.complete(&self.bands[filled.source as usize].name)
    }

    /// Bytes of a row as it is stored.
    fn row_bytes(&self, cube: Cube) -> u64 {
        let size = match cube {
            Cube::Medians if self.cubes.wide => 8,
            Cube::Medians => 4,
            Cube::Counts | Cube::End => 2,
        };
        u64::from(self.cubes.width) * size
    }

    /// How many rows the read at this place has.
    fn rows(&self, at: At) -> u32 {
        let most = slot_bytes(&self.cubes) / self.row_bytes(at.cube);
        let left = self.bands[at.band].rows - at.row;
        u32::try_from(most)
            .unwrap_or(u32::MAX)
            .clamp(1, left.max(1))
    }

    /// The place behind the read at this one.
    fn behind(&self, at: At) -> At {
        let mut next = At {
            row: at.row + self.rows(at),
            turn: at.turn + 1,
            ..at
        };
        if next.row == self.bands[next.band].rows {
            (next.row, next.band) = (0, next.band + 1);
        }
        if next.band == self.bands.len() {
            next.band = 0;
            next.cube = match next.cube {
                Cube::Medians => Cube::Counts,
                Cube::Counts | Cube::End => Cube::End,
            };
        }
        next
    }

    fn read(&self, at: At, slot: u32) -> Read {
        let band = &self.bands[at.band];
        let first = match at.cube {
            Cube::Medians => band.values_at,
            Cube::Counts | Cube::End => band.counts_at,
        };
        let bytes = self.row_bytes(at.cube);
        let start = first + u64::from(at.row) * bytes;
        Read {
            // As many as there are shards.
            source: u32::try_from(at.band).unwrap_or(u32::MAX),
            range: start..start + u64::from(self.rows(at)) * bytes,
            slot,
            at: 0,
        }
    }

    /// Puts the next tile into `out`; false if more rows are needed first, or all tiles are out.
    fn tile(&mut self, cube: Cube) -> Result<bool> {
        self.out.clear();
        loop {
            if self.planes.next(&mut self.out) {
                return Ok(true);
            }
            if self.current.cube != cube || !self.row()? {
                return Ok(false);
            }
        }
    }

    /// Takes the next row out of the slot at hand; false if it has not come.
    fn row(&mut self) -> Result<bool> {
        let turn = self.current.turn;
        let slots = (0_u32..).zip(&self.slots);
        let mut here = slots.filter(|(_, slot)| slot.full && slot.turn == turn);
        let Some((index, slot)) = here.next() else {
            return Ok(false);
        };
        let row = usize::try_from(self.row_bytes(self.current.cube)).unwrap_or(usize::MAX);
        let end = self.taken.saturating_add(row).min(slot.buffer.len());
        let stored = &slot.buffer[self.taken..end];
        self.sum.update(stored);
        self.planes.push(stored)?;
        self.taken = end;
        if end == slot.buffer.len() {
            self.slots[index as usize].full = false;
            self.free.push(index);
            self.close()?;
        }
        Ok(true)
    }

    /// Goes on behind a read all of whose rows were taken; at the end of a band its checksum must agree.
    fn close(&mut self) -> Result<()> {
        let (at, next) = (self.current, self.behind(self.current));
        self.taken = 0;
        if (next.cube, next.band) != (at.cube, at.band) {
            let band = &self.bands[at.band];
            let sum = std::mem::take(&mut self.sum);
            if let Some(sums) = band.sums {
                match at.cube {
                    Cube::Medians => sum.check(sums.values, &band.name, band.values_at)?,
                    Cube::Counts | Cube::End => {
                        sum.check(sums.counts, &band.name, band.counts_at)?;
                    }
                }
            }
        }
        self.current = next;
        Ok(())
    }

    /// The planes of the counts in place of those of the medians.
    fn turn_to_counts(&mut self) -> Result<()> {
        // The old ones go before the new ones come.
        self.planes = Planes::None;
        self.budget.release(self.planes_bytes);
        self.planes = Planes::counts(self.cubes.pyramid, self.cubes.width, &mut self.budget)?;
        Ok(())
    }

    fn fill(&mut self, bytes: u64) {
        let len = self.out.len() + usize::try_from(bytes).unwrap_or(0);
        self.out.resize(len, 0);
    }
}

fn fixed(bands: usize, in_flight: u32) -> u64 {
    BASE + bands as u64 * EXPOSURE + u64::from(in_flight) * CHUNK
}

fn slot_bytes(cubes: &Cubes) -> u64 {
    let size = if cubes.wide { 8 } else { 4 };
    let row = u64::from(cubes.width) * size;
    let all = row.saturating_mul(u64::from(cubes.height));
    (READ - READ % row.min(READ)).max(row).min(all)
}

/// Bytes of the largest item: a tile, or a filling and the header of the counts.
fn tile_bytes(cubes: &Cubes) -> u64 {
    let size = if cubes.wide { 8 } else { 4 };
    (u64::from(cubes.pyramid.tile()).pow(2) * size).max(2 * crate::fits::write::BLOCK)
}

fn no_slot(slot: u32) -> Error {
    Error::Parameter {
        name: "slot",
        what: format!("there is no slot {slot}"),
    }
}

impl Job for PyramidJob {
    type Item<'a> = &'a [u8];

    fn next(&mut self) -> Option<Fetch> {
        let at = self.asked;
        if at.cube == Cube::End {
            return None;
        }
        let slot = self.free.pop()?;
        let read = self.read(at, slot);
        let fetch = Fetch {
            slot,
            source: read.source,
            reads: vec![read],
        };
        self.slots[slot as usize].take(at.turn, &fetch);
        self.asked = self.behind(at);
        Some(fetch)
    }

    fn lend(&mut self, fetch: &Fetch) -> Vec<u8> {
        self.slots[fetch.slot as usize].lend()
    }

    fn filled(&mut self, fetch: &Fetch, buffer: Vec<u8>) -> Result<()> {
        let name = &self.bands[fetch.source as usize].name;
        self.slots[fetch.slot as usize].put(name, buffer)?;
        self.complete(fetch.slot)
    }

    fn ready(&mut self) -> Result<Option<&[u8]>> {
        let [behind_medians, behind_counts] = self.cubes.fillings();
        loop {
            match self.next {
                Next::Head => {
                    self.next = Next::Tiles;
                    return Ok(Some(&self.head));
                }
                Next::Tiles | Next::CountTiles => {
                    let (cube, behind) = match self.next {
                        Next::Tiles => (Cube::Medians, Next::Between),
                        _ => (Cube::Counts, Next::Filling),
                    };
                    if self.tile(cube)? {
                        return Ok(Some(&self.out));
                    }
                    if self.current.cube == cube {
                        return Ok(None);
                    }
                    self.next = behind;
                }
                Next::Between => {
                    self.turn_to_counts()?;
                    self.next = Next::CountTiles;
                    self.out.clear();
                    self.fill(behind_medians);
                    self.out.extend_from_slice(&self.cubes.count_head()?);
                    return Ok(Some(&self.out));
                }
                Next::Filling => {
                    self.next = Next::Nothing;
                    self.out.clear();
                    self.fill(behind_counts);
                    if !self.out.is_empty() {
                        return Ok(Some(&self.out));
                    }
                }
                Next::Nothing => return Ok(None),
            }
        }
    }

    fn is_done(&self) -> bool {
        self.next == Next::Nothing
    }

    fn peak(&self) -> u64 {
        self.budget.peak()
    }
}
