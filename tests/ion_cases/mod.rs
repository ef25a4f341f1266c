//! Datasets as plain peaks, their stores, scans of them that know nothing of blocks, and a driver of jobs.

use std::ops::Range;
use std::path::PathBuf;
use std::rc::Rc;

use sectile::budget::Budget;
use sectile::error::Result;
use sectile::imzml::Dataset;
use sectile::imzml::dataset::Number;
use sectile::imzml::reader::Reader as XmlReader;
use sectile::imzml::spectrum::decode;
use sectile::ion::images::{Image, ImagesJob, Reader, Wish};
use sectile::ion::spectrum::SpectrumJob;
use sectile::ion::window::Window;
use sectile::job::{Fetch, Job};
use sectile::store::PixelSums;
use sectile::store::head::{Contents, Head, Layout, Mask, Meta, Real};
use sectile::store::write::{Peaks, Writer};

/// A small deterministic stream of random numbers (xorshift64*).
pub(crate) struct Dice(pub u64);

impl Dice {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    /// In [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// One peak.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Peak {
    pub(crate) mz: f64,
    pub(crate) intensity: f64,
    pub(crate) pixel: u32,
}

/// A dataset, its peaks stably sorted by m/z.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) slices: u32,
    pub(crate) acquired: Vec<bool>,
    pub(crate) peaks: Vec<Peak>,
    pub(crate) spectra: u64,
    pub(crate) reals: [Real; 2],
}

impl Sample {
    /// A sample of peaks in the order of their spectra.
    pub(crate) fn new(
        size: [u32; 3],
        acquired: Vec<bool>,
        mut peaks: Vec<Peak>,
        reals: [Real; 2],
    ) -> Self {
        peaks.retain(|peak| peak.intensity != 0.0);
        peaks.sort_by(|a, b| a.mz.total_cmp(&b.mz));
        Self {
            width: size[0],
            height: size[1],
            slices: size[2],
            spectra: acquired.iter().filter(|a| **a).count() as u64,
            acquired,
            peaks,
            reals,
        }
    }

    /// Random spectra on a grid of which a corner was not acquired: an L.
    pub(crate) fn random(seed: u64, size: [u32; 3], per_pixel: usize, reals: [Real; 2]) -> Self {
        let mut dice = Dice(seed * 2 + 1);
        let [width, height, slices] = size;
        let mut acquired = Vec::new();
        let mut peaks = Vec::new();
        for pixel in 0..width * height * slices {
            let (x, y) = (pixel % width, pixel / width % height);
            let here =
                width == 1 || height == 1 || x < width.div_ceil(2) || y >= height.div_ceil(2);
            acquired.push(here);
            let count = if here { per_pixel + dice.below(3) } else { 0 };
            for _ in 0..count {
                // A quarter of the peaks on a coarse grid, so that m/z repeat.
                let mz = match dice.below(4) {
                    0 => 100.0 + dice.below(1800) as f64 * 0.5,
                    _ => 100.0 + 900.0 * dice.unit(),
                };
                let intensity = match dice.below(20) {
                    0 => 0.0,
                    1 => -dice.unit(),
                    _ => (dice.unit() * 12.0).exp(),
                };
                peaks.push(Peak {
                    mz: reals[0].nearest(mz),
                    intensity: reals[1].nearest(intensity),
                    pixel,
                });
            }
        }
        Self::new(size, acquired, peaks, reals)
    }

    pub(crate) fn area(&self) -> u32 {
        self.width * self.height
    }

    /// The sample's store.
    pub(crate) fn store(&self) -> Vec<u8> {
        let meta = Meta {
            source: "sample".to_owned(),
            slices: (1..).take(self.slices as usize).collect(),
            ..Meta::default()
        };
        let ends = [self.peaks.first(), self.peaks.last()];
        let [first_mz, last_mz] = ends.map(|peak| peak.map_or(0.0, |peak| peak.mz));
        let contents = Contents {
            mz: self.reals[0],
            intensity: self.reals[1],
            width: self.width,
            height: self.height,
            slices: self.slices,
            peaks: self.peaks.len() as u64,
            spectra: self.spectra,
            first_mz,
            last_mz,
            meta_bytes: meta.room(),
        };
        let layout = Layout::new("sample.sectile", contents).unwrap();
        let mut budget = Budget::new(u64::MAX);
        let mut sums = PixelSums::new(layout.pixels, &mut budget).unwrap();
        let mut mask = Mask::new(layout.pixels).unwrap();
        for (pixel, acquired) in (0..).zip(&self.acquired) {
            if *acquired {
                mask.set(pixel);
            }
        }
        for peak in &self.peaks {
            sums.add(
                peak.pixel,
                1,
                peak.intensity,
                peak.intensity * peak.intensity,
            );
        }
        let mz: Vec<f64> = self.peaks.iter().map(|peak| peak.mz).collect();
        let intensity: Vec<f64> = self.peaks.iter().map(|peak| peak.intensity).collect();
        let pixel: Vec<u32> = self.peaks.iter().map(|peak| peak.pixel).collect();
        let peaks = Peaks {
            mz: &mz,
            intensity: &intensity,
            pixel: &pixel,
        };
        let mut writer = Writer::new(layout, &mut budget).unwrap();
        let mut file = vec![0; layout.blocks_at as usize];
        let mut at = 0;
        while at < mz.len() {
            at += writer.feed(peaks.from(at)).unwrap();
            while let Some(block) = writer.block() {
                assert_eq!(block.at, file.len() as u64);
                file.extend_from_slice(block.bytes);
            }
        }
        let tables = writer.finish(&mask, &meta, &mut budget).unwrap();
        let table: Vec<u8> = sums.table().flatten().collect();
        let mut put = |at: u64, bytes: &[u8]| {
            file[at as usize..at as usize + bytes.len()].copy_from_slice(bytes);
        };
        put(0, &tables.head);
        put(layout.pixel_table().start, &table);
        put(tables.bins_at, &tables.bins);
        assert_eq!(tables.file_bytes, file.len() as u64);
        file
    }

    /// The image of a window by looking at every peak, as bits; and the number of its peaks.
    pub(crate) fn scan(&self, window: Window, slice: u32) -> (Vec<u32>, u64) {
        let area = self.area();
        let mut sums = vec![0.0_f64; area as usize];
        let mut hits = 0;
        for peak in &self.peaks {
            if peak.mz >= window.lo && peak.mz <= window.hi && peak.pixel / area == slice {
                sums[(peak.pixel % area) as usize] += peak.intensity;
                hits += 1;
            }
        }
        let acquired = &self.acquired[(slice * area) as usize..];
        let values = sums.iter().zip(acquired);
        let values = values.map(|(sum, acquired)| if *acquired { *sum as f32 } else { f32::NAN });
        (bits(&values.collect::<Vec<_>>()), hits)
    }
}

/// The head of a store.
pub(crate) fn head(file: &[u8]) -> Rc<Head> {
    Rc::new(Head::parse("sample.sectile", file).unwrap())
}

/// A reader with a cache of so many bytes.
pub(crate) fn reader(file: &[u8], cache: u64) -> Reader {
    Reader::new(head(file), cache)
}

/// All NaN alike.
pub(crate) fn bits(values: &[f32]) -> Vec<u32> {
    let plain = |value: &f32| if value.is_nan() { f32::NAN } else { *value };
    values.iter().map(|value| plain(value).to_bits()).collect()
}

/// How bytes arrive.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Feeding {
    pub(crate) piece: usize,
    pub(crate) shuffled: bool,
}

pub(crate) const WHOLE: Feeding = Feeding {
    piece: usize::MAX,
    shuffled: false,
};

/// An image that was handed out.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Drawn {
    pub(crate) index: usize,
    pub(crate) bits: Vec<u32>,
    pub(crate) hits: u64,
    pub(crate) max: f32,
    pub(crate) requests: u64,
    pub(crate) bytes: u64,
}

/// What a run brought and cost.
#[derive(Debug, Default)]
pub(crate) struct Run {
    /// By index.
    pub(crate) images: Vec<Drawn>,
    pub(crate) requests: u64,
    pub(crate) bytes: u64,
    pub(crate) reads: Vec<Range<u64>>,
    pub(crate) peak: u64,
}

/// A job that is fed piece by piece.
pub(crate) trait Fed: Job {
    fn piece(&mut self, slot: u32, offset: u64, bytes: &[u8]) -> Result<()>;
    fn whole(&mut self, slot: u32) -> Result<()>;
}

impl Fed for ImagesJob {
    fn piece(&mut self, slot: u32, offset: u64, bytes: &[u8]) -> Result<()> {
        self.feed(slot, 0, offset, bytes.len(), |place| {
            place.copy_from_slice(bytes);
        })
    }

    fn whole(&mut self, slot: u32) -> Result<()> {
        self.complete(slot)
    }
}

impl Fed for SpectrumJob {
    fn piece(&mut self, slot: u32, offset: u64, bytes: &[u8]) -> Result<()> {
        self.feed(slot, 0, offset, bytes.len(), |place| {
            place.copy_from_slice(bytes);
        })
    }

    fn whole(&mut self, slot: u32) -> Result<()> {
        self.complete(slot)
    }
}

/// Runs a job over a source in memory, showing each item.
pub(crate) fn drive<J: Fed>(
    job: &mut J,
    source: &[u8],
    feeding: Feeding,
    mut show: impl FnMut(J::Item<'_>),
) -> Result<Run> {
    let mut dice = Dice(99);
    let mut run = Run::default();
    let mut pending: Vec<Fetch> = Vec::new();
    loop {
        if let Some(item) = job.ready()? {
            show(item);
            continue;
        }
        if job.is_done() {
            break;
        }
        pending.extend(std::iter::from_fn(|| job.next()));
        assert!(!pending.is_empty(), "not done, but asks for nothing");
        let at = if feeding.shuffled {
            dice.below(pending.len())
        } else {
            0
        };
        let fetch = pending.remove(at);
        assert_eq!(fetch.reads.len(), 1);
        let range = fetch.reads[0].range.clone();
        let bytes = &source[range.start as usize..range.end as usize];
        let mut offset = 0;
        for piece in bytes.chunks(feeding.piece) {
            job.piece(fetch.slot, offset, piece)?;
            offset += piece.len() as u64;
        }
        job.whole(fetch.slot)?;
        run.requests += 1;
        run.bytes += bytes.len() as u64;
        run.reads.push(range);
    }
    assert!(pending.is_empty(), "asked for more than was needed");
    run.peak = job.peak();
    Ok(run)
}

/// Takes the images of windows.
pub(crate) fn images(
    reader: &Reader,
    file: &[u8],
    windows: &[Window],
    wish: &Wish,
    feeding: Feeding,
) -> Result<Run> {
    let mut job = reader.images(windows, wish)?;
    let plan = job.plan().clone();
    let mut drawn = Vec::new();
    let mut run = drive(&mut job, file, feeding, |image: Image<'_>| {
        drawn.push(Drawn {
            index: image.index,
            bits: bits(image.values),
            hits: image.hits,
            max: image.max,
            requests: image.requests,
            bytes: image.bytes,
        });
    })?;
    assert_eq!((plan.requests, plan.bytes), (run.requests, run.bytes));
    assert!(
        run.peak <= plan.peak_bytes && plan.peak_bytes <= plan.memory,
        "{plan:?} {}",
        run.peak
    );
    drawn.sort_by_key(|image| image.index);
    assert!(drawn.iter().map(|image| image.index).eq(0..windows.len()));
    run.images = drawn;
    Ok(run)
}

/// Where real files are, if they are.
pub(crate) fn shared() -> Option<PathBuf> {
    let root = std::env::var_os("SECTILE_SHARED").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared"),
        PathBuf::from,
    );
    root.is_dir().then_some(root)
}

/// A pair from the folder of real files.
pub(crate) struct Pair {
    pub(crate) dataset: Dataset,
    pub(crate) ibd: Vec<u8>,
}

impl Pair {
    pub(crate) fn open(imzml: &std::path::Path) -> Self {
        let xml = std::fs::read(imzml).unwrap();
        Self::parse(&xml, std::fs::read(imzml.with_extension("ibd")).unwrap())
    }

    pub(crate) fn parse(xml: &[u8], ibd: Vec<u8>) -> Self {
        let mut reader = XmlReader::new("sample.imzML", 1 << 30);
        reader.push(xml).unwrap();
        let mut dataset = reader.finish().unwrap();
        dataset
            .settle("sample.ibd", ibd.len() as u64, &ibd[..16])
            .unwrap();
        Self { dataset, ibd }
    }

    /// Its peaks, spectrum by spectrum.
    pub(crate) fn sample(&self) -> Sample {
        let grid = &self.dataset.grid;
        let mut acquired = vec![false; grid.pixels() as usize];
        let mut peaks = Vec::new();
        for (index, spectrum) in self.dataset.spectra.iter().enumerate() {
            let pixel = grid.pixel(spectrum);
            acquired[pixel as usize] = true;
            let [mz, intensity] = [spectrum.mz(), spectrum.intensity()].map(|array| {
                let mut values = Vec::new();
                let bytes = &self.ibd[array.at as usize..array.end() as usize];
                decode(array, bytes, "sample.ibd", index as u64, &mut values).unwrap();
                values
            });
            assert_eq!(mz.len(), intensity.len());
            let both = mz.into_iter().zip(intensity);
            peaks.extend(both.map(|(mz, intensity)| Peak {
                mz,
                intensity,
                pixel,
            }));
        }
        let real = |number| match number {
            Number::F32 => Real::F32,
            _ => Real::F64,
        };
        let numbers = [self.dataset.mz_number(), self.dataset.intensity_number()];
        let size = [grid.width, grid.height, grid.slices.len() as u32];
        let mut sample = Sample::new(size, acquired, peaks, numbers.map(real));
        sample.spectra = self.dataset.spectra.len() as u64;
        sample
    }
}

/// All pairs below a folder.
pub(crate) fn pairs(folder: &std::path::Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(pairs(&path));
        } else if path.extension().is_some_and(|end| end == "imzML") {
            found.push(path);
        }
    }
    found.sort();
    found
}
