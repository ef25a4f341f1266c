//! A set on its way from XML to images, all in memory: what is timed natively and in WebAssembly.
//!
//! Nothing here waits for a disk or a network, so that what a clock of the processor tells is the work.

use std::ops::Range;
use std::rc::Rc;

use sectile::error::Result;
use sectile::imzml::dataset::Dataset;
use sectile::imzml::reader::Reader as Xml;
use sectile::ion::images::{Reader, Wish};
use sectile::ion::pack::job::{File, IBD, PackJob};
use sectile::ion::pack::plan::{self, Plan};
use sectile::ion::window::Window;
use sectile::job::{Fetch, Job, Machine, Step};
use sectile::store::read::Open;

use super::set::Set;

/// The budget of packing: 64 MiB.
const MEMORY: u64 = 64 << 20;

/// A pair of files, and what was made of it so far.
pub struct Packed {
    imzml: Vec<u8>,
    ibd: Vec<u8>,
    /// The spill and the store.
    spill: Vec<u8>,
    store: Vec<u8>,
    windows: Vec<Window>,
    images: Option<Reader>,
    /// Most bytes that packing held, by its own account.
    pub peak: u64,
}

impl Packed {
    /// Only the pair yet.
    pub fn new(set: &Set) -> Result<Self> {
        let (mut imzml, mut ibd) = (Vec::new(), Vec::new());
        // Writing to memory does not fail.
        let _ = set.write(&mut ibd, &mut imzml);
        let windows = set.windows(3.0, 500)?;
        Ok(Self {
            imzml,
            ibd,
            spill: Vec::new(),
            store: Vec::new(),
            windows,
            images: None,
            peak: 0,
        })
    }

    /// Reads the XML in pieces of 64 KiB, as from a network; gives the index.
    pub fn read(&self) -> Result<Dataset> {
        let mut reader = Xml::new("memory.imzML", MEMORY);
        for piece in self.imzml.chunks(64 << 10) {
            reader.push(piece)?;
        }
        reader.finish()
    }

    /// Packs, without the XML; gives the number of peaks.
    pub fn pack(&mut self, mut dataset: Dataset) -> Result<u64> {
        dataset.settle("memory.ibd", self.ibd.len() as u64, &self.ibd[..16])?;
        let wish = plan::Wish {
            memory: MEMORY,
            ibd_bytes: Some(self.ibd.len() as u64),
            ..plan::Wish::default()
        };
        let plan = Plan::new(&dataset, &wish)?;
        let mut job = PackJob::new(dataset, plan, None)?;
        while !job.is_done() {
            while let Some(fetch) = job.next() {
                let sources = if fetch.source == IBD {
                    &self.ibd
                } else {
                    &self.spill
                };
                fill(&mut job, &fetch, sources)?;
            }
            while let Some(put) = job.ready()? {
                let file = match put.file {
                    File::Spill => &mut self.spill,
                    File::Store => &mut self.store,
                    File::State => continue,
                };
                let place = span(&(put.at..put.at + put.bytes.len() as u64));
                if file.len() < place.end {
                    file.resize(place.end, 0);
                }
                file[place].copy_from_slice(put.bytes);
            }
        }
        self.peak = job.peak();
        self.spill.clear();
        Ok(job.report().map_or(0, |report| report.peaks))
    }

    /// Bytes of the store.
    pub fn bytes(&self) -> usize {
        self.store.len()
    }

    /// Opens the store and fetches all of its blocks, so that images need nothing more.
    pub fn open(&mut self) -> Result<()> {
        let total = self.store.len() as u64;
        let mut open = Open::new("memory.sectile", MEMORY);
        while let Step::Need(range) = open.step()? {
            let range = range.start..range.end.min(total);
            open.feed(range.start, &self.store[span(&range)], Some(total))?;
        }
        self.images = Some(Reader::new(Rc::new(open.into_head()?), 2 * total));
        // All at once: each block is read once, and stays.
        self.draw(&[Window { lo: 0.0, hi: 1e5 }])?;
        Ok(())
    }

    /// Takes one image of every window, one at a time; gives the number of peaks in them.
    pub fn images(&self) -> Result<u64> {
        let one = |window: &Window| self.draw(std::slice::from_ref(window));
        self.windows.iter().map(one).sum()
    }

    /// How many windows there are.
    pub fn windows(&self) -> usize {
        self.windows.len()
    }

    fn draw(&self, windows: &[Window]) -> Result<u64> {
        let Some(reader) = &self.images else {
            return Ok(0);
        };
        let wish = Wish {
            memory: u64::MAX / 4,
            ..Wish::default()
        };
        let mut job = reader.images(windows, &wish)?;
        let mut hits = 0;
        while !job.is_done() {
            while let Some(fetch) = job.next() {
                fill(&mut job, &fetch, &self.store)?;
            }
            while let Some(image) = job.ready()? {
                hits += image.hits;
                std::hint::black_box(image.values);
            }
        }
        Ok(hits)
    }
}

/// Does what a driver does, out of memory.
fn fill(job: &mut impl Job, fetch: &Fetch, source: &[u8]) -> Result<()> {
    let mut buffer = job.lend(fetch);
    for read in &fetch.reads {
        let bytes = &source[span(&read.range)];
        buffer[read.at..][..bytes.len()].copy_from_slice(bytes);
    }
    job.filled(fetch, buffer)
}

fn span(range: &Range<u64>) -> Range<usize> {
    range.start as usize..range.end as usize
}
