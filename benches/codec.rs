//! Block size and codec of the segment store, as rows of a table: `cargo bench --bench codec`.
//!
//! Bytes a peak and nanoseconds a peak (whole blocks decoded, all three columns) of: the store's bit
//! packing; the same with zstd on top; columns with m/z differences, byte shuffle and lz4 or zstd, which
//! is what people would take without thinking. The data are 15 million synthetic peaks of 100×100
//! pixels, 60 % of them in 20,000 lines 1 ppm wide, the others anywhere; intensities are log-normal.
//! `-- PEAKS` takes fewer. Then the imzML pairs below `$SECTILE_SHARED/data/imzml` (default `../shared`)
//! together, if there are any. On Linux it is the thread's time on
//! the processor, elsewhere the clock's; the least of three batches.

#![allow(
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a bench may stop at once, and its figures are rounded anyway"
)]

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ruzstd::decoding::FrameDecoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use sectile::imzml::dataset::{Array, Number};
use sectile::imzml::reader::Reader;
use sectile::imzml::spectrum::decode;
use sectile::store::block::{Block, Columns, encode};
use sectile::store::head::{Contents, Entry, Head, Layout, Mask, Meta, Real};

const SIDE: u32 = 100;

/// Peaks that are measured of a larger set, about.
const SAMPLE: usize = 500_000;

const BATCH: Duration = Duration::from_millis(40);

fn main() {
    let peaks = std::env::args().skip(1).find_map(|word| word.parse().ok());
    let peaks = peaks.unwrap_or(15_000_000);
    println!("| data | peaks a block | codec | bytes a peak | decode ns | encode ns |");
    println!("|---|---|---|---|---|---|");
    for mz in [Real::F32, Real::F64] {
        let name = format!("synthetic, m/z of {} bytes", mz.bytes());
        table(&name, &[synthetic(peaks, mz)]);
    }
    let shared = std::env::var_os("SECTILE_SHARED").unwrap_or_else(|| "../shared".into());
    let mut pairs = Vec::new();
    find(&Path::new(&shared).join("data/imzml"), &mut pairs);
    let sets: Vec<Set> = pairs.iter().filter_map(|path| pair(path)).collect();
    for mz in [Real::F32, Real::F64] {
        let (sets, peaks) = of_precision(&sets, mz);
        if !sets.is_empty() {
            let name = format!(
                "{} real pairs, {peaks} peaks, m/z of {} bytes",
                sets.len(),
                mz.bytes()
            );
            table(&name, &sets);
        }
    }
}

fn table(name: &str, sets: &[Set]) {
    let codecs = [
        Codec::Packed,
        Codec::PackedZstd,
        Codec::ShuffledLz4,
        Codec::ShuffledZstd,
    ];
    for peaks in [2048, 4096, 8192, 32_768] {
        for codec in codecs {
            let costs = sets.iter().map(|set| measure(set, peaks, codec));
            let all = costs.reduce(Cost::and).unwrap();
            let each = |time: Duration| time.as_nanos() as f64 / all.peaks as f64;
            println!(
                "| {name} | {peaks} | {codec:?} | {:.3} | {:.2} | {:.1} |",
                all.bytes as f64 / all.peaks as f64,
                each(all.decoding),
                each(all.encoding)
            );
        }
    }
}

fn of_precision(sets: &[Set], mz: Real) -> (Vec<Set>, usize) {
    let sets: Vec<Set> = sets.iter().filter(|set| set.mz == mz).cloned().collect();
    let peaks = sets.iter().map(|set| set.keys.len()).sum();
    (sets, peaks)
}

/// What blocks cost.
#[derive(Clone, Copy)]
struct Cost {
    peaks: usize,
    bytes: usize,
    decoding: Duration,
    encoding: Duration,
}

impl Cost {
    fn and(self, other: Self) -> Self {
        Self {
            peaks: self.peaks + other.peaks,
            bytes: self.bytes + other.bytes,
            decoding: self.decoding + other.decoding,
            encoding: self.encoding + other.encoding,
        }
    }
}

#[derive(Clone)]
struct Set {
    mz: Real,
    intensity: Real,
    pixel_count: u32,
    keys: Vec<u64>,
    orders: Vec<u64>,
    pixels: Vec<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Codec {
    Packed,
    PackedZstd,
    ShuffledLz4,
    ShuffledZstd,
}

/// The peaks of one dataset in the order of a store.
fn synthetic(peaks: usize, mz: Real) -> Set {
    let mut random = Random(0x5EC7_11E5);
    let lines: Vec<f64> = (0..20_000).map(|_| 100.0 + 900.0 * random.unit()).collect();
    let mut all: Vec<(u64, u32, u32)> = (0..peaks)
        .map(|_| {
            let value = if random.unit() < 0.6 {
                let line = lines[(random.unit() * lines.len() as f64) as usize];
                line * (1.0 + 1e-6 * random.normal())
            } else {
                100.0 + 900.0 * random.unit()
            };
            let pixel = (random.unit() * f64::from(SIDE * SIDE)) as u32;
            let intensity = (6.0 + 1.2 * random.normal()).exp() as f32;
            (mz.key(mz.nearest(value)), pixel, intensity.to_bits())
        })
        .collect();
    all.sort_unstable();
    Set {
        mz,
        intensity: Real::F32,
        pixel_count: SIDE * SIDE,
        keys: all.iter().map(|peak| peak.0).collect(),
        pixels: all.iter().map(|peak| peak.1).collect(),
        orders: all
            .iter()
            .map(|peak| Real::F32.order(f64::from(f32::from_bits(peak.2))))
            .collect(),
    }
}

/// Numbers that look random and are the same everywhere (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }
}

fn measure(set: &Set, block_peaks: usize, codec: Codec) -> Cost {
    let head = head(set, block_peaks);
    // Some of the blocks, spread over the whole range of m/z: general codecs take their time.
    let step = (set.keys.len() / SAMPLE).max(1);
    let chosen: Vec<usize> = (0..head.layout.blocks as usize).step_by(step).collect();
    let columns = |n: usize| {
        let range = n * block_peaks..set.keys.len().min((n + 1) * block_peaks);
        Columns {
            keys: &set.keys[range.clone()],
            orders: &set.orders[range.clone()],
            pixels: &set.pixels[range],
        }
    };
    let mut head = head;
    let mut stored: Vec<Vec<u8>> = Vec::new();
    let encoding = least(|| {
        stored.clear();
        for n in &chosen {
            stored.push(write(codec, set, columns(*n)));
        }
    });
    for n in &chosen {
        // Decoding asks the directory for the block's range.
        let mut bytes = Vec::new();
        encode(set.mz, set.intensity, columns(*n), &mut bytes);
        let entry = &mut head.blocks[*n];
        let range = columns(*n).keys;
        entry.bytes = bytes.len() as u32;
        (entry.first, entry.last) = (set.mz.mz(range[0]), set.mz.mz(range[range.len() - 1]));
    }
    let mut scratch = Scratch::default();
    let decoding = least(|| {
        for (n, bytes) in chosen.iter().zip(&stored) {
            read(codec, &head, *n, bytes, &mut scratch);
            black_box(&scratch.sum);
        }
    });
    let peaks: usize = chosen.iter().map(|n| columns(*n).keys.len()).sum();
    let bytes: usize = stored.iter().map(Vec::len).sum::<usize>() + 32 * stored.len();
    Cost {
        peaks,
        bytes,
        decoding,
        encoding,
    }
}

/// The head of the set in blocks of another size than the format's.
fn head(set: &Set, block_peaks: usize) -> Head {
    let contents = Contents {
        mz: set.mz,
        intensity: set.intensity,
        width: set.pixel_count,
        height: 1,
        slices: 1,
        peaks: set.keys.len() as u64,
        spectra: u64::from(set.pixel_count),
        first_mz: set.mz.mz(set.keys[0]),
        last_mz: set.mz.mz(set.keys[set.keys.len() - 1]),
        meta_bytes: 0,
    };
    let mut layout = Layout::new("bench", contents).unwrap();
    layout.block_peaks = block_peaks as u32;
    layout.blocks = set.keys.len().div_ceil(block_peaks) as u32;
    let entry = Entry {
        first: 0.0,
        last: 0.0,
        at: 0,
        bytes: 0,
        crc: 0,
    };
    Head {
        file: "bench".to_owned(),
        layout,
        file_bytes: 0,
        digest: [0; 32],
        blocks: vec![entry; layout.blocks as usize],
        mask: Mask::new(set.pixel_count).unwrap(),
        meta: Meta::default(),
    }
}

fn write(codec: Codec, set: &Set, columns: Columns<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    match codec {
        Codec::Packed | Codec::PackedZstd => encode(set.mz, set.intensity, columns, &mut bytes),
        Codec::ShuffledLz4 | Codec::ShuffledZstd => {
            let mut before = 0;
            let deltas = columns
                .keys
                .iter()
                .map(|key| key - std::mem::replace(&mut before, *key));
            shuffle(deltas, columns.keys.len(), set.mz.bytes(), &mut bytes);
            shuffle(
                columns.orders.iter().copied(),
                columns.keys.len(),
                set.intensity.bytes(),
                &mut bytes,
            );
            let pixels = columns.pixels.iter().map(|pixel| u64::from(*pixel));
            shuffle(pixels, columns.keys.len(), 4, &mut bytes);
        }
    }
    match codec {
        Codec::Packed => bytes,
        Codec::ShuffledLz4 => lz4_flex::block::compress(&bytes),
        Codec::PackedZstd | Codec::ShuffledZstd => {
            compress_to_vec(bytes.as_slice(), CompressionLevel::Fastest)
        }
    }
}

/// Appends the first bytes of all values, then the second ones, and so on.
fn shuffle(values: impl Iterator<Item = u64>, len: usize, width: u8, out: &mut Vec<u8>) {
    let from = out.len();
    out.resize(from + len * usize::from(width), 0);
    for (n, value) in values.enumerate() {
        for (plane, byte) in value.to_le_bytes()[..usize::from(width)].iter().enumerate() {
            out[from + plane * len + n] = *byte;
        }
    }
}

#[derive(Default)]
struct Scratch {
    bytes: Vec<u8>,
    mz: Vec<f64>,
    rest: Vec<(u32, f64)>,
    sum: f64,
}

fn read(codec: Codec, head: &Head, n: usize, stored: &[u8], scratch: &mut Scratch) {
    let len = head.peaks_of(n);
    let Contents {
        mz: real,
        intensity,
        ..
    } = head.layout.contents;
    scratch.bytes.resize(len * 21 + 65_536, 0);
    let bytes = match codec {
        Codec::Packed => stored,
        Codec::ShuffledLz4 => {
            let len = lz4_flex::block::decompress_into(stored, &mut scratch.bytes).unwrap();
            &scratch.bytes[..len]
        }
        Codec::PackedZstd | Codec::ShuffledZstd => {
            let len = FrameDecoder::new()
                .decode_all(stored, &mut scratch.bytes)
                .unwrap();
            &scratch.bytes[..len]
        }
    };
    scratch.mz.resize(len, 0.0);
    scratch.rest.clear();
    if matches!(codec, Codec::Packed | Codec::PackedZstd) {
        let block = Block::again(head, n, bytes).unwrap();
        block.decode_mz(0..len, &mut scratch.mz).unwrap();
        block
            .visit(0..len, |pixel, intensity| {
                scratch.rest.push((pixel, intensity));
            })
            .unwrap();
    } else {
        let (keys, rest) = bytes.split_at(len * usize::from(real.bytes()));
        let (orders, pixels) = rest.split_at(usize::from(intensity.bytes()) * len);
        let mut key = 0;
        for (n, mz) in scratch.mz.iter_mut().enumerate() {
            key += unshuffled(keys, len, n, real.bytes());
            *mz = real.mz(key);
        }
        scratch.rest.extend((0..len).map(|n| {
            let order = unshuffled(orders, len, n, intensity.bytes());
            (
                unshuffled(pixels, len, n, 4) as u32,
                intensity.intensity(order),
            )
        }));
    }
    scratch.sum += scratch.mz[len / 2] + scratch.rest[len / 2].1;
}

fn unshuffled(planes: &[u8], len: usize, n: usize, width: u8) -> u64 {
    (0..usize::from(width)).fold(0, |value, plane| {
        value | u64::from(planes[plane * len + n]) << (8 * plane)
    })
}

/// The imzML files below a folder, in the order of their names.
fn find(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            find(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "imzML") {
            found.push(path);
        }
    }
}

/// The peaks of a pair in the order of a store; none of one that is damaged or empty.
fn pair(path: &Path) -> Option<Set> {
    let mut reader = Reader::new("bench", 64 << 20);
    reader.push(&std::fs::read(path).ok()?).ok()?;
    let dataset = reader.finish().ok()?;
    let ibd = std::fs::read(path.with_extension("ibd")).ok()?;
    let real = |number| {
        if number == Number::F32 {
            Real::F32
        } else {
            Real::F64
        }
    };
    let (mz, intensity) = (real(dataset.mz_number()), real(dataset.intensity_number()));
    let mut all = Vec::new();
    for (n, spectrum) in dataset.spectra.iter().enumerate() {
        let decoded = |array: Array| {
            let mut values = Vec::new();
            let bytes = ibd.get(array.at as usize..array.end() as usize)?;
            decode(array, bytes, "bench", n as u64, &mut values).ok()?;
            Some(values)
        };
        let pixel = dataset.grid.pixel(spectrum);
        let (masses, values) = (decoded(spectrum.mz())?, decoded(spectrum.intensity())?);
        let rows = masses.iter().zip(values).filter(|(_, value)| *value != 0.0);
        all.extend(rows.map(|(mass, value)| (mz.key(*mass), intensity.order(value), pixel)));
    }
    all.sort_by_key(|peak| peak.0);
    (!all.is_empty()).then(|| Set {
        mz,
        intensity,
        pixel_count: dataset.grid.pixels() as u32,
        keys: all.iter().map(|peak| peak.0).collect(),
        orders: all.iter().map(|peak| peak.1).collect(),
        pixels: all.iter().map(|peak| peak.2).collect(),
    })
}

/// The least time of a run over a few batches of runs, each long beside the system's ticks.
fn least(mut work: impl FnMut()) -> Duration {
    let batch = |()| {
        let (wall, cpu) = (Instant::now(), on_processor());
        let mut runs = 0;
        while runs == 0 || wall.elapsed() < BATCH {
            work();
            runs += 1;
        }
        let spent = match (cpu, on_processor()) {
            (Some(before), Some(after)) => after.saturating_sub(before),
            _ => wall.elapsed(),
        };
        spent / runs
    };
    [(); 3].map(batch).into_iter().min().unwrap_or_default()
}

/// Time that this thread has had a processor, where the system tells.
fn on_processor() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds = text.split_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(nanoseconds))
}
