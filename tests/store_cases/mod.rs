//! Stores made in memory, and readers as plain as they can be.

use sectile::budget::Budget;
use sectile::error::Result;
use sectile::job::{Machine, Step};
use sectile::store::PixelSums;
use sectile::store::block::Block;
use sectile::store::head::{Contents, Head, Layout, Mask, Meta, Real};
use sectile::store::read::Open;
use sectile::store::write::{Peaks, Writer};

/// m/z, intensity, pixel.
pub(crate) type Peak = (f64, f64, u32);

/// A dataset small enough to be looked at whole.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) mz: Real,
    pub(crate) intensity: Real,
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// Ascending in m/z.
    pub(crate) peaks: Vec<Peak>,
    pub(crate) meta: Meta,
}

impl Case {
    /// The peaks, sorted stably and rounded to the precision of their columns.
    pub(crate) fn new(mz: Real, intensity: Real, mut peaks: Vec<Peak>) -> Self {
        for peak in &mut peaks {
            peak.0 = mz.nearest(peak.0);
            peak.1 = intensity.nearest(peak.1);
        }
        peaks.sort_by(|a, b| a.0.total_cmp(&b.0));
        let width = peaks.iter().map(|peak| peak.2 + 1).max().unwrap_or(1);
        let meta = Meta {
            source: "case.imzML".to_owned(),
            writer: "tests".to_owned(),
            polarity: "positive".to_owned(),
            representation: "centroid".to_owned(),
            slices: vec![1],
            ..Meta::default()
        };
        Self {
            mz,
            intensity,
            width,
            height: 1,
            peaks,
            meta,
        }
    }

    pub(crate) fn layout(&self) -> Layout {
        let edge = |peak: Option<&Peak>| peak.map_or(0.0, |peak| peak.0);
        let contents = Contents {
            mz: self.mz,
            intensity: self.intensity,
            width: self.width,
            height: self.height,
            slices: 1,
            peaks: self.peaks.len() as u64,
            spectra: u64::from(self.width) * u64::from(self.height),
            first_mz: edge(self.peaks.first()),
            last_mz: edge(self.peaks.last()),
            meta_bytes: self.meta.room(),
        };
        Layout::new("case.sectile", contents).unwrap()
    }

    /// The file, its peaks fed in batches of `batch`.
    pub(crate) fn file(&self, batch: usize) -> Vec<u8> {
        let mut budget = Budget::new(64 << 20);
        let layout = self.layout();
        let mut file = vec![0; usize::try_from(layout.blocks_at).unwrap()];
        let mut writer = Writer::new(layout, &mut budget).unwrap();
        for peaks in self.peaks.chunks(batch.max(1)) {
            feed(&mut writer, peaks, &mut file);
        }
        self.end(&mut writer, &mut file);
        file
    }

    /// Writes what a file has besides blocks.
    pub(crate) fn end(&self, writer: &mut Writer, file: &mut Vec<u8>) {
        let mut budget = Budget::new(64 << 20);
        let layout = self.layout();
        let tables = writer
            .finish(&self.mask(), &self.meta, &mut budget)
            .unwrap();
        let mut sums = PixelSums::new(layout.pixels, &mut budget).unwrap();
        for (_, intensity, pixel) in &self.peaks {
            sums.add(*pixel, 1, *intensity, intensity * intensity);
        }
        put(file, 0, &tables.head);
        put(
            file,
            layout.pixel_table_at,
            &sums.table().flatten().collect::<Vec<u8>>(),
        );
        put(file, tables.bins_at, &tables.bins);
        assert_eq!(file.len() as u64, tables.file_bytes);
        assert!(tables.file_bytes <= layout.most_bytes());
    }

    /// Every third pixel was not acquired.
    pub(crate) fn mask(&self) -> Mask {
        let pixels = self.layout().pixels;
        let mut mask = Mask::new(pixels).unwrap();
        (0..pixels)
            .filter(|pixel| pixel % 3 != 1)
            .for_each(|pixel| mask.set(pixel));
        mask
    }
}

/// Feeds one batch and puts the blocks that it finishes into the file.
pub(crate) fn feed(writer: &mut Writer, peaks: &[Peak], file: &mut Vec<u8>) {
    let mz: Vec<f64> = peaks.iter().map(|peak| peak.0).collect();
    let intensity: Vec<f64> = peaks.iter().map(|peak| peak.1).collect();
    let pixel: Vec<u32> = peaks.iter().map(|peak| peak.2).collect();
    let mut rest = Peaks {
        mz: &mz,
        intensity: &intensity,
        pixel: &pixel,
    };
    while !rest.is_empty() {
        let taken = writer.feed(rest).unwrap();
        rest = rest.from(taken);
        if let Some(block) = writer.block() {
            put(file, block.at, block.bytes);
        }
    }
}

fn put(file: &mut Vec<u8>, at: u64, bytes: &[u8]) {
    let at = usize::try_from(at).unwrap();
    file.resize(file.len().max(at + bytes.len()), 0);
    file[at..at + bytes.len()].copy_from_slice(bytes);
}

/// Opens a file in memory, answers cut to `part` bytes; also the number of reads.
pub(crate) fn open(file: &[u8], part: usize, total: bool) -> Result<(Head, u32)> {
    let mut open = Open::new("case.sectile", 64 << 20);
    let size = total.then_some(file.len() as u64);
    let mut reads = 0;
    loop {
        match open.step()? {
            Step::Need(range) => {
                assert!(range.start < range.end, "an empty read is asked for");
                let from = usize::try_from(range.start).unwrap().min(file.len());
                let to = usize::try_from(range.end)
                    .unwrap()
                    .min(file.len())
                    .min(from.saturating_add(part));
                open.feed(range.start, &file[from..to], size)?;
                reads += 1;
            }
            Step::Ready(()) => {}
            Step::Done => return Ok((open.into_head()?, reads)),
        }
    }
}

/// The bytes of one block.
pub(crate) fn block_bytes<'a>(file: &'a [u8], head: &Head, n: usize) -> &'a [u8] {
    let range = head.block_range(n);
    let [from, to] = [range.start, range.end]
        .map(|at| usize::try_from(at).unwrap_or(usize::MAX).min(file.len()));
    &file[from..to]
}

/// All peaks of a window, as a reader of ranges finds them.
pub(crate) fn window(file: &[u8], head: &Head, lo: f64, hi: f64) -> Result<Vec<Peak>> {
    let mut found = Vec::new();
    for n in head.blocks_of(lo, hi) {
        let block = Block::open(head, n, block_bytes(file, head, n))?;
        let range = block.find(lo, hi)?;
        let mut mz = vec![0.0; range.len()];
        block.decode_mz(range.clone(), &mut mz)?;
        let mut mz = mz.into_iter();
        block.visit(range, |pixel, intensity| {
            found.push((mz.next().unwrap(), intensity, pixel));
        })?;
        assert_eq!(mz.next(), None);
    }
    Ok(found)
}
