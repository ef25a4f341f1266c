//! Sorted peaks in, blocks and tables out.

use super::encode::{Columns, encode};
use super::format::{DIGEST, HEADER};
use super::head::{Entry, Header, Layout, Mask, Meta, digest};
use super::spectrum::BinSums;
use crate::budget::Budget;
use crate::crc::checksum;
use crate::error::{Error, Result};

/// Peaks in three columns of equal length, ascending in m/z.
///
/// Where several have the same m/z, they come in the order of their spectra.
#[derive(Debug, Clone, Copy, Default)]
pub struct Peaks<'a> {
    /// m/z, not negative.
    pub mz: &'a [f64],
    /// Intensities.
    pub intensity: &'a [f64],
    /// Pixels, `slice·width·height + row·width + column`.
    pub pixel: &'a [u32],
}

impl<'a> Peaks<'a> {
    /// Peaks.
    #[must_use]
    pub fn len(&self) -> usize {
        self.mz.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.mz.is_empty()
    }

    /// The peaks from `start` on; none behind the last.
    #[must_use]
    pub fn from(&self, start: usize) -> Peaks<'a> {
        Peaks {
            mz: self.mz.get(start..).unwrap_or_default(),
            intensity: self.intensity.get(start..).unwrap_or_default(),
            pixel: self.pixel.get(start..).unwrap_or_default(),
        }
    }
}

/// A finished block, and where in the file it goes.
#[derive(Debug, Clone, Copy)]
pub struct Finished<'a> {
    /// Offset in the file.
    pub at: u64,
    /// All its bytes.
    pub bytes: &'a [u8],
}

/// What is written last: the parts of the file that depend on every peak.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tables {
    /// The head, for the file's first byte. Written last, so that a store which was not finished is
    /// none.
    pub head: Vec<u8>,
    /// The table of spectrum bins, and zeros up to the first block.
    pub bins: Vec<u8>,
    /// Where it goes.
    pub bins_at: u64,
    /// Bytes of the whole file.
    pub file_bytes: u64,
}

/// Makes the blocks and tables of a store of sorted peaks.
///
/// [`feed`](Self::feed) takes peaks up to the end of a block, [`block`](Self::block) hands the block
/// out, [`finish`](Self::finish) the rest. The bytes depend on the peaks and the layout alone, not on
/// how they are cut into batches.
#[derive(Debug)]
pub struct Writer {
    pub(super) layout: Layout,
    pub(super) keys: Vec<u64>,
    pub(super) orders: Vec<u64>,
    pub(super) pixels: Vec<u32>,
    /// The last block.
    out: Vec<u8>,
    pub(super) entries: Vec<Entry>,
    pub(super) bins: BinSums,
    /// Key of the last peak.
    pub(super) last: u64,
    /// Where the next block goes.
    pub(super) at: u64,
}

impl Writer {
    /// A writer of a store of this layout.
    ///
    /// # Errors
    /// [`Error::Budget`] if what [`Writer::bytes`] says is more than is left.
    pub fn new(layout: Layout, budget: &mut Budget) -> Result<Self> {
        let peaks = layout.peaks_of(0);
        let (most, blocks) = (layout.most_bytes_of(0), layout.blocks as usize);
        let block = "the block that is being written";
        let mut writer = Self {
            layout,
            keys: budget.allocate(peaks, block)?,
            orders: budget.allocate(peaks, block)?,
            pixels: budget.allocate(peaks, block)?,
            out: budget.allocate(most, block)?,
            entries: Vec::new(),
            bins: BinSums::new(&layout.bins, layout.contents.spectra, budget)?,
            last: 0,
            at: layout.blocks_at,
        };
        budget.reserve(
            (blocks * size_of::<Entry>()) as u64,
            "the directory of blocks",
        )?;
        writer
            .entries
            .try_reserve_exact(blocks)
            .map_err(|_| Error::Budget {
                need: (blocks * size_of::<Entry>()) as u64,
                have: budget.limit() - budget.held(),
                what: "the directory of blocks".to_owned(),
            })?;
        writer.clear();
        Ok(writer)
    }

    /// Bytes of memory that a writer of this layout holds, without those of [`Tables`].
    #[must_use]
    pub fn bytes(layout: &Layout) -> u64 {
        let block = layout.peaks_of(0) * 20 + layout.most_bytes_of(0);
        let entries = layout.blocks as usize * size_of::<Entry>();
        (block + entries) as u64 + 12 * u64::from(layout.bins.count)
    }

    /// Takes peaks up to the end of the current block and says how many.
    ///
    /// Fewer than were given mean that [`block`](Self::block) has one to hand out.
    ///
    /// # Errors
    /// [`Error::Parameter`] if a peak is out of order or out of the layout's range, has a pixel
    /// outside of the image, or a value that the column's precision does not hold exactly; if there
    /// are more peaks than the layout says.
    pub fn feed(&mut self, peaks: Peaks<'_>) -> Result<usize> {
        if peaks.intensity.len() != peaks.len() || peaks.pixel.len() != peaks.len() {
            return Err(wrong("columns of different lengths".to_owned()));
        }
        let room = self.layout.peaks_of(self.entries.len()) - self.keys.len();
        if room == 0 && self.keys.is_empty() && !peaks.is_empty() {
            return Err(wrong(format!(
                "more peaks than the {} announced",
                self.layout.contents.peaks
            )));
        }
        let taken = room.min(peaks.len());
        let rows = peaks.mz.iter().zip(peaks.intensity).zip(peaks.pixel);
        for ((mz, intensity), pixel) in rows.take(taken) {
            self.add(*mz, *intensity, *pixel)?;
        }
        Ok(taken)
    }

    fn add(&mut self, mz: f64, intensity: f64, pixel: u32) -> Result<()> {
        let contents = &self.layout.contents;
        let key = contents.mz.key(mz);
        let sound = contents.mz.holds(mz)
            && contents.intensity.holds(intensity)
            && mz.is_sign_positive()
            && pixel < self.layout.pixels
            && key >= self.last
            && mz <= contents.last_mz
            && (!self.is_first() || key == contents.mz.key(contents.first_mz));
        if !sound {
            return Err(self.refuse(mz, intensity, pixel));
        }
        self.last = key;
        self.keys.push(key);
        self.orders.push(contents.intensity.order(intensity));
        self.pixels.push(pixel);
        self.bins.add(mz, intensity);
        Ok(())
    }

    fn is_first(&self) -> bool {
        self.entries.is_empty() && self.keys.is_empty()
    }

    fn refuse(&self, mz: f64, intensity: f64, pixel: u32) -> Error {
        let contents = &self.layout.contents;
        wrong(format!(
            "peak {} (m/z {mz}, intensity {intensity}, pixel {pixel}) cannot be stored: m/z ascend from \
             {} to {}, the one before was {}; values are finite numbers of {} and {} bytes; there are \
             {} pixels",
            self.peaks(),
            contents.first_mz,
            contents.last_mz,
            contents.mz.mz(self.last),
            contents.mz.bytes(),
            contents.intensity.bytes(),
            self.layout.pixels,
        ))
    }

    /// The block that is full, or the last one when all peaks are there.
    ///
    /// The next block is begun; so each is handed out once.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "blocks are far below 4 GiB"
    )]
    pub fn block(&mut self) -> Option<Finished<'_>> {
        let full = self.layout.peaks_of(self.entries.len());
        if self.keys.is_empty() || self.keys.len() < full {
            return None;
        }
        let contents = &self.layout.contents;
        let columns = Columns {
            keys: &self.keys,
            orders: &self.orders,
            pixels: &self.pixels,
        };
        self.out.clear();
        encode(contents.mz, contents.intensity, columns, &mut self.out);
        let at = self.at;
        self.entries.push(Entry {
            first: contents.mz.mz(self.keys[0]),
            last: contents.mz.mz(self.last),
            at,
            bytes: self.out.len() as u32,
            crc: checksum(&self.out),
        });
        self.at += self.out.len() as u64;
        self.clear();
        Some(Finished {
            at,
            bytes: &self.out,
        })
    }

    fn clear(&mut self) {
        self.keys.clear();
        self.orders.clear();
        self.pixels.clear();
    }

    /// Bytes of the file so far, its tables included: the next block's offset.
    #[must_use]
    pub fn written(&self) -> u64 {
        self.at
    }

    /// Peaks taken so far.
    #[must_use]
    pub fn peaks(&self) -> u64 {
        let blocks = self.entries.len() as u64 * u64::from(self.layout.block_peaks);
        blocks.min(self.layout.contents.peaks) + self.keys.len() as u64
    }

    /// The tables, when all peaks were fed and all blocks handed out.
    ///
    /// # Errors
    /// [`Error::Parameter`] if peaks are missing, the last m/z is not the one announced or the mask
    /// is of another image; [`Error::Budget`] if the tables are more than is left.
    pub fn finish(&mut self, mask: &Mask, meta: &Meta, budget: &mut Budget) -> Result<Tables> {
        let contents = &self.layout.contents;
        let all = self.entries.len() == self.layout.blocks as usize && self.keys.is_empty();
        if !all || self.last != contents.mz.key(contents.last_mz) {
            return Err(wrong(format!(
                "{} of {} peaks were fed up to m/z {} of {}",
                self.peaks(),
                contents.peaks,
                contents.mz.mz(self.last),
                contents.last_mz
            )));
        }
        if mask.pixels() != self.layout.pixels {
            return Err(wrong(format!(
                "a mask of {} pixels for an image of {}",
                mask.pixels(),
                self.layout.pixels
            )));
        }
        let header = Header {
            layout: self.layout,
            file_bytes: self.at,
            digest: [0; 32],
        };
        let mut head: Vec<u8> =
            budget.allocate(self.layout.head_bytes as usize, "the store's head")?;
        head.clear();
        head.extend_from_slice(&header.to_bytes());
        head.extend_from_slice(&meta.fill(contents.meta_bytes as usize));
        head.extend_from_slice(mask.bytes());
        for entry in &self.entries {
            head.extend_from_slice(&entry.to_bytes());
        }
        let header = Header {
            digest: digest(&head, DIGEST),
            ..header
        };
        head[..HEADER].copy_from_slice(&header.to_bytes());
        let bins_at = self.layout.bins.at;
        // Zeros fill the last eight bytes.
        let len = (12 * self.layout.bins.count as usize).next_multiple_of(8);
        let mut bins: Vec<u8> = budget.allocate(len, "the bin table")?;
        bins.clear();
        self.bins.finish(&mut bins);
        bins.resize(len, 0);
        Ok(Tables {
            head,
            bins,
            bins_at,
            file_bytes: self.at,
        })
    }
}

fn wrong(what: String) -> Error {
    Error::Parameter {
        name: "peaks",
        what,
    }
}
