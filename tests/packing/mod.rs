//! A driver in memory, datasets made on the spot, and packing as plainly as it can be written.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "a test; each file uses a part"
)]

use std::path::{Path, PathBuf};

use sectile::error::Result;
use sectile::imzml::Dataset;
use sectile::imzml::dataset::{
    Array, Compression, Grid, Number, Polarity, Representation, Spectrum,
};
use sectile::imzml::reader::Reader;
use sectile::imzml::spectrum::decode;
use sectile::ion::pack::job::{File, PackJob};
use sectile::ion::pack::plan::{Plan, Wish};
use sectile::ion::pack::report::Report;
use sectile::job::{Fetch, Job};
use sectile::store::PixelTable;
use sectile::store::block::Block;
use sectile::store::head::{Head, Real};

/// Numbers without a pattern (Marsaglia's xorshift).
pub struct Noise(pub u64);

impl Noise {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// In 0..1.
    pub fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }
}

/// All files of a packing.
#[derive(Debug, Clone, Default)]
pub struct Disk {
    pub ibd: Vec<u8>,
    pub spill: Vec<u8>,
    pub store: Vec<u8>,
    pub state: Option<Vec<u8>>,
    pub puts: usize,
    /// Of each put, its file.
    pub kinds: Vec<File>,
    /// What the job waits for.
    pub waiting: Vec<Fetch>,
    pub states: usize,
    /// Bytes of each source that were read.
    pub read: [u64; 2],
    pub requests: u64,
}

/// How bytes arrive.
#[derive(Debug, Clone, Copy)]
pub enum Arrival {
    InOrder,
    Shuffled(u64),
    /// Each read in pieces of so many bytes, the slots in turn.
    Pieces(usize),
}

impl Disk {
    pub fn new(ibd: &[u8]) -> Self {
        Self {
            ibd: ibd.to_vec(),
            ..Self::default()
        }
    }

    /// Runs a job to its end, or until it has made `stop` puts: then the answer is `false`.
    pub fn run(&mut self, job: &mut PackJob, arrival: Arrival, stop: usize) -> Result<bool> {
        let mut noise = Noise(match arrival {
            Arrival::Shuffled(seed) => seed,
            _ => 1,
        });
        loop {
            while let Some(fetch) = job.next() {
                self.waiting.push(fetch);
            }
            if let Some(put) = job.ready()? {
                let bytes = put.bytes.to_vec();
                self.put(put.file, put.at, &bytes);
                assert_eq!(job.last().unwrap().bytes, bytes);
                if self.puts == stop {
                    return Ok(false);
                }
                continue;
            }
            if job.is_done() {
                return Ok(true);
            }
            while let Some(fetch) = job.next() {
                self.waiting.push(fetch);
            }
            assert!(!self.waiting.is_empty(), "it waits for nothing");
            let which = match arrival {
                Arrival::Shuffled(_) => noise.below(self.waiting.len()),
                _ => 0,
            };
            let fetch = self.waiting.remove(which);
            self.fill(job, &fetch, arrival)?;
        }
    }

    fn put(&mut self, file: File, at: u64, bytes: &[u8]) {
        self.puts += 1;
        self.kinds.push(file);
        let to = match file {
            File::Spill => &mut self.spill,
            File::Store => &mut self.store,
            File::State => {
                assert_eq!(at, 0);
                self.states += 1;
                self.state = Some(bytes.to_vec());
                return;
            }
        };
        let end = at as usize + bytes.len();
        to.resize(to.len().max(end), 0);
        to[at as usize..end].copy_from_slice(bytes);
    }

    fn fill(&mut self, job: &mut PackJob, fetch: &Fetch, arrival: Arrival) -> Result<()> {
        let source = [&self.ibd, &self.spill][fetch.source as usize];
        let body = |read: &sectile::job::Read| {
            source[read.range.start as usize..read.range.end as usize].to_vec()
        };
        self.requests += fetch.reads.len() as u64;
        for read in &fetch.reads {
            self.read[fetch.source as usize] += read.len();
        }
        if let Arrival::Pieces(size) = arrival {
            for (n, read) in fetch.reads.iter().enumerate() {
                for (k, piece) in body(read).chunks(size).enumerate() {
                    let at = (k * size) as u64;
                    job.feed(fetch.slot, n, at, piece.len(), |place| {
                        place.copy_from_slice(piece);
                    })?;
                }
            }
            return job.complete(fetch.slot);
        }
        let mut buffer = job.lend(fetch);
        for read in &fetch.reads {
            buffer[read.at..read.at + read.len() as usize].copy_from_slice(&body(read));
        }
        job.filled(fetch, buffer)
    }
}

/// A packing that went well.
pub struct Packed {
    pub disk: Disk,
    pub report: Report,
    pub plan: Plan,
    pub peak: u64,
}

/// Packs in one go.
pub fn pack(dataset: &Dataset, ibd: &[u8], wish: &Wish, arrival: Arrival) -> Result<Packed> {
    let plan = Plan::new(dataset, wish)?;
    let mut job = PackJob::new(dataset.clone(), plan.clone(), None)?;
    let mut disk = Disk::new(ibd);
    assert!(disk.run(&mut job, arrival, usize::MAX)?);
    assert!(job.peak() <= plan.peak_bytes, "{} {plan:?}", job.peak());
    assert!(plan.peak_bytes <= plan.memory);
    assert_eq!(disk.read[0], plan.payload_bytes);
    let report = job.report().unwrap().clone();
    assert_eq!(report.store_bytes, disk.store.len() as u64);
    Ok(Packed {
        peak: job.peak(),
        disk,
        report,
        plan,
    })
}

pub fn wish(memory: u64) -> Wish {
    Wish {
        memory,
        ..Wish::default()
    }
}

/// The smallest budget for a dataset.
pub fn minimum(dataset: &Dataset, in_flight: u32) -> u64 {
    let wish = Wish {
        memory: 1 << 40,
        in_flight,
        ..Wish::default()
    };
    Plan::new(dataset, &wish).unwrap().minimum_bytes
}

/// Peaks in three columns.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Columns {
    pub mz: Vec<f64>,
    pub intensity: Vec<f64>,
    pub pixel: Vec<u32>,
}

/// All peaks of a store, and its head.
pub fn unpack(store: &[u8]) -> (Head, Columns) {
    let head = Head::parse("store", store).unwrap();
    let mut all = Columns::default();
    for n in 0..head.blocks.len() {
        let range = head.block_range(n);
        let block =
            Block::open(&head, n, &store[range.start as usize..range.end as usize]).unwrap();
        let start = all.mz.len();
        all.mz.resize(start + block.len(), 0.0);
        block
            .decode_mz(0..block.len(), &mut all.mz[start..])
            .unwrap();
        block
            .visit(0..block.len(), |pixel, intensity| {
                all.pixel.push(pixel);
                all.intensity.push(intensity);
            })
            .unwrap();
    }
    (head, all)
}

/// The totals and root mean squares in a store.
pub fn norms(store: &[u8]) -> PixelTable {
    let head = Head::parse("store", store).unwrap();
    let table = head.layout.pixel_table();
    let bytes = &store[table.start as usize..table.end as usize];
    let mut budget = sectile::budget::Budget::new(1 << 30);
    PixelTable::parse(&head, bytes, &mut budget).unwrap()
}

/// What a store must hold, written plainly: read all, sort stably.
pub fn naive(dataset: &Dataset, ibd: &[u8]) -> Columns {
    let mut rows: Vec<(f64, f64, u32)> = Vec::new();
    for (index, spectrum) in dataset.spectra.iter().enumerate() {
        let values = |array: Array| {
            let mut out = Vec::new();
            let bytes = &ibd[array.at as usize..array.end() as usize];
            decode(array, bytes, "ibd", index as u64, &mut out).unwrap();
            out
        };
        let pixel = dataset.grid.pixel(spectrum);
        let mut own: Vec<(f64, f64, u32)> = values(spectrum.mz())
            .into_iter()
            .zip(values(spectrum.intensity()))
            .filter(|(_, intensity)| *intensity != 0.0)
            .map(|(mz, intensity)| (mz, intensity, pixel))
            .collect();
        own.sort_by(|a, b| a.0.total_cmp(&b.0));
        rows.extend(own);
    }
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    Columns {
        mz: rows.iter().map(|row| row.0).collect(),
        intensity: rows.iter().map(|row| row.1).collect(),
        pixel: rows.iter().map(|row| row.2).collect(),
    }
}

/// A pair of files.
pub fn open(imzml: &Path) -> Result<(Dataset, Vec<u8>)> {
    let name = imzml.to_string_lossy().into_owned();
    let mut reader = Reader::new(&name, 64 << 20);
    reader.push(&std::fs::read(imzml).unwrap())?;
    let mut dataset = reader.finish()?;
    let beside = std::fs::read_dir(imzml.parent().unwrap()).unwrap();
    let ibd = beside
        .map(|entry| entry.unwrap().path())
        .find(|path| sectile::imzml::pair::belong(&name, &path.to_string_lossy()))
        .unwrap();
    let bytes = std::fs::read(&ibd).unwrap();
    let first = &bytes[..bytes.len().min(16)];
    dataset.settle(&ibd.to_string_lossy(), bytes.len() as u64, first)?;
    Ok((dataset, bytes))
}

/// Where data that is not part of the project lies.
pub fn shared(below: &str) -> Option<PathBuf> {
    let root = std::env::var_os("SECTILE_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"),
        PathBuf::from,
    );
    let path = root.join(below);
    if path.exists() {
        return Some(path);
    }
    println!("skipped: {} is not there", path.display());
    None
}

/// Makes a dataset, spectrum by spectrum.
pub struct Make {
    pub ibd: Vec<u8>,
    spectra: Vec<Spectrum>,
    mz: Real,
    intensity: Real,
}

impl Make {
    pub fn new(mz: Real, intensity: Real) -> Self {
        Self {
            ibd: vec![7; 16],
            spectra: Vec::new(),
            mz,
            intensity,
        }
    }

    pub fn array(&mut self, real: Real, values: &[f64]) -> Array {
        let at = self.ibd.len() as u64;
        for value in values {
            match real {
                Real::F32 => self.ibd.extend((*value as f32).to_le_bytes()),
                Real::F64 => self.ibd.extend(value.to_le_bytes()),
            }
        }
        Array {
            at,
            bytes: (self.ibd.len() as u64 - at) as u32,
            len: values.len() as u32,
            number: match real {
                Real::F32 => Number::F32,
                Real::F64 => Number::F64,
            },
            compression: Compression::None,
        }
    }

    pub fn add(&mut self, position: [i32; 3], mz: &[f64], intensity: &[f64]) -> &mut Self {
        let (mz, intensity) = (
            self.array(self.mz, mz),
            self.array(self.intensity, intensity),
        );
        self.add_arrays(position, mz, intensity)
    }

    pub fn add_arrays(&mut self, position: [i32; 3], mz: Array, intensity: Array) -> &mut Self {
        let (polarity, kind) = (Polarity::Unknown, Representation::Unknown);
        let spectrum = Spectrum::new(mz, intensity, position, polarity, kind);
        self.spectra.push(spectrum);
        self
    }

    pub fn dataset(&self) -> Dataset {
        let range = |of: fn(&Spectrum) -> i32| {
            let values = || self.spectra.iter().map(of);
            (values().min().unwrap_or(0), values().max().unwrap_or(0))
        };
        let (x, y) = (range(|s| s.x), range(|s| s.y));
        let mut slices: Vec<i32> = self.spectra.iter().map(|s| s.z).collect();
        slices.sort_unstable();
        slices.dedup();
        let mut places: Vec<[i32; 3]> = self.spectra.iter().map(|s| [s.x, s.y, s.z]).collect();
        places.sort_unstable();
        let again = places.windows(2).filter(|pair| pair[0] == pair[1]);
        let duplicates = again.count() as u64;
        Dataset {
            file: "made.imzML".to_owned(),
            ibd: None,
            spectra: self.spectra.clone(),
            grid: Grid {
                x0: x.0,
                y0: y.0,
                width: (x.1 - x.0 + 1) as u32,
                height: (y.1 - y.0 + 1) as u32,
                slices,
            },
            pixel_size: [Some(50.0), None],
            polarity: Polarity::Positive,
            representation: Representation::Centroid,
            mode: None,
            uuid: Some([7; 16]),
            checksum: None,
            instrument: None,
            duplicates,
            warnings: Vec::new(),
        }
    }
}

/// `count` spectra of about `points` peaks each; most lie near one of a few lines of m/z.
pub fn crowd(count: usize, points: usize, shape: (Real, Real), seed: u64) -> (Dataset, Vec<u8>) {
    let mut noise = Noise(seed);
    let lines: Vec<f64> = (0..40).map(|_| 100.0 + 900.0 * noise.share()).collect();
    let mut make = Make::new(shape.0, shape.1);
    for n in 0..count {
        let own = points / 2 + noise.below(points + 1);
        let mut mz: Vec<f64> = (0..own)
            .map(|_| {
                let line = lines[noise.below(lines.len())];
                match noise.below(4) {
                    0 => 100.0 + 900.0 * noise.share(),
                    1 => line,
                    _ => line * (1.0 + 3e-6 * (noise.share() - 0.5)),
                }
            })
            .collect();
        mz.sort_by(f64::total_cmp);
        let intensity: Vec<f64> = mz.iter().map(|_| (noise.share() * 1e4).floor()).collect();
        make.add([(n % 100) as i32, (n / 100) as i32, 1], &mz, &intensity);
    }
    (make.dataset(), make.ibd)
}

/// Spectra whose m/z move on from one to the next, so that the first ones say nothing about the rest.
pub fn drift(count: usize, points: usize, shape: (Real, Real)) -> (Dataset, Vec<u8>) {
    let mut noise = Noise(11);
    let mut make = Make::new(shape.0, shape.1);
    for n in 0..count {
        let base = 100.0 + 900.0 * n as f64 / count as f64;
        let mut mz: Vec<f64> = (0..points).map(|_| base + 2.0 * noise.share()).collect();
        mz.sort_by(f64::total_cmp);
        let intensity = vec![n as f64 + 1.0; points];
        make.add([(n % 100) as i32, (n / 100) as i32, 1], &mz, &intensity);
    }
    (make.dataset(), make.ibd)
}

/// Spectra nearly all of whose peaks have one and the same m/z.
pub fn same(count: usize, points: usize) -> (Dataset, Vec<u8>) {
    let mut make = Make::new(Real::F64, Real::F32);
    for n in 0..count {
        let mut mz = vec![500.25; points];
        mz[0] = 100.0 + n as f64 * 0.01;
        if let Some(last) = mz.last_mut() {
            *last = 1000.0 - n as f64 * 0.01;
        }
        let intensity: Vec<f64> = (1..=points).map(|k| (n * 100 + k) as f64).collect();
        make.add([(n % 100) as i32, (n / 100) as i32, 1], &mz, &intensity);
    }
    (make.dataset(), make.ibd)
}
