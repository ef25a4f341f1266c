//! Writes a large imzML pair to measure with: centroids of thousands of ions, and noise between them.
//!
//! ```sh
//! cargo run --release --no-default-features --example generate_ions -- big.imzML --pixels 100x100 --peaks 2000 --mz f64
//! ```
//!
//! | option | default | |
//! |---|---|---|
//! | `--pixels WxH` | 100x100 | all of them acquired |
//! | `--peaks N` | 2000 | in each spectrum, exactly |
//! | `--mz f32` or `f64` | f64 | full precision either way |
//! | `--ions N` | 22000 | how many ions the 70 % of peaks that are not noise belong to |
//! | `--seed N` | 1 | |
//!
//! m/z lies in 100 to 1,000. An ion is found in a part of the pixels, rare ones being many, and its
//! peaks scatter with a standard deviation of 1 ppm. Intensities are lognormal with full mantissas:
//! about the hardest that there is to compress. The same options give the same bytes on every machine.
//! Prints one line of JSON. Holds one spectrum at a time.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a tool for measuring may stop at once, and its numbers are small"
)]
#![allow(unreachable_pub, reason = "modules that are also the program's")]

use std::collections::BTreeMap;
use std::env;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

#[path = "../../src/cli/demo/ions/document.rs"]
mod document;
#[path = "../../src/cli/demo/exponential.rs"]
mod exponential;
#[expect(dead_code, reason = "the demo uses more of it")]
#[path = "../../src/cli/demo/random.rs"]
mod random;

use document::{Document, Spectrum};
use exponential::exp;
use random::Random;
use sha1::{Digest, Sha1};

const LOWEST: f64 = 100.0;
const HIGHEST: f64 = 1000.0;

/// The share of peaks that belong to ions.
const SHARE: f64 = 0.7;

/// Standard deviation of an ion's m/z, as a fraction.
const SCATTER: f64 = 1e-6;

fn main() {
    let options = Options::parse();
    let path = &options.path;
    let arrays = path.with_extension("ibd");
    let (spectra, uuid, sha1) = write_arrays(&options, &arrays);
    let document = Document {
        writer: "generate_ions",
        instrument: "none: made for measuring",
        size: options.size,
        pixel: 20,
        spectra: spectra.len(),
        mz_bytes: options.mz_bytes,
        uuid,
        sha1,
    };
    let mut out = create(path);
    document.write(&mut out, spectra.into_iter()).unwrap();
    out.flush().unwrap();
    let bytes = |path: &Path| std::fs::metadata(path).unwrap().len();
    println!(
        r#"{{"bench":"generate_ions","imzml":"{}","spectra":{},"peaks":{},"imzml_bytes":{},"ibd_bytes":{}}}"#,
        path.display(),
        options.pixels(),
        options.pixels() * options.peaks,
        bytes(path),
        bytes(&arrays),
    );
}

struct Options {
    path: PathBuf,
    size: [u32; 2],
    peaks: usize,
    mz_bytes: u64,
    ions: usize,
    seed: u64,
}

impl Options {
    fn parse() -> Self {
        let (mut named, mut path) = (BTreeMap::new(), None);
        let mut words = env::args().skip(1);
        while let Some(word) = words.next() {
            if let Some(name) = word.strip_prefix("--") {
                let value = words.next();
                let value = value.unwrap_or_else(|| panic!("--{name} needs a value"));
                named.insert(name.to_owned(), value);
            } else {
                path = Some(PathBuf::from(word));
            }
        }
        let mut take = |name: &str, default: &str| {
            let value = named.remove(name);
            value.unwrap_or_else(|| default.to_owned())
        };
        let size = take("pixels", "100x100");
        let (width, height) = size.split_once('x').unwrap_or((&size, ""));
        let options = Self {
            path: path.unwrap_or_else(|| panic!("needs the name of the imzML file to write")),
            size: [number(width), number(height)],
            peaks: number(&take("peaks", "2000")),
            mz_bytes: match take("mz", "f64").as_str() {
                "f32" => 4,
                "f64" => 8,
                other => panic!("--mz is f32 or f64, not {other}"),
            },
            ions: number(&take("ions", "22000")),
            seed: number(&take("seed", "1")),
        };
        assert!(named.is_empty(), "unknown options: {named:?}");
        options
    }

    /// An m/z value as the file holds it.
    fn stored(&self, mz: f64) -> f64 {
        match self.mz_bytes {
            4 => f64::from(mz as f32),
            _ => mz,
        }
    }

    fn pixels(&self) -> usize {
        self.size[0] as usize * self.size[1] as usize
    }
}

fn number<T: FromStr>(text: &str) -> T {
    text.parse()
        .unwrap_or_else(|_| panic!("{text} is not a number that fits here"))
}

fn create(path: &Path) -> BufWriter<File> {
    let file = File::create(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    BufWriter::with_capacity(1 << 20, file)
}

/// Writes all spectra, row by row; gives what the other file says of them.
fn write_arrays(options: &Options, path: &Path) -> (Vec<Spectrum>, [u8; 16], [u8; 20]) {
    let mut out = create(path);
    let mut sha1 = Sha1::new();
    let mut random = Random::new(options.seed, &[1]);
    let uuid = (u128::from(random.next()) << 64 | u128::from(random.next())).to_be_bytes();
    out.write_all(&uuid).unwrap();
    sha1.update(uuid);

    let ions = ions(options);
    let (mut peaks, mut bytes, mut at) = (Vec::new(), Vec::new(), uuid.len() as u64);
    let spectra = (0..options.pixels()).map(|index| {
        let place = [
            index as u32 % options.size[0],
            index as u32 / options.size[0],
        ];
        let mut random = Random::new(options.seed, &[2, index as u64]);
        draw(&mut peaks, &ions, place, options, &mut random);
        bytes.clear();
        match options.mz_bytes {
            4 => bytes.extend(peaks.iter().flat_map(|(mz, _)| (*mz as f32).to_le_bytes())),
            _ => bytes.extend(peaks.iter().flat_map(|(mz, _)| mz.to_le_bytes())),
        }
        bytes.extend(peaks.iter().flat_map(|(_, value)| value.to_le_bytes()));
        out.write_all(&bytes).unwrap();
        sha1.update(&bytes);
        let spectrum = Spectrum {
            index,
            place: place.map(|at| at + 1),
            at,
            peaks: peaks.len() as u64,
            range: [peaks[0].0, peaks[peaks.len() - 1].0].map(|mz| options.stored(mz)),
            total: peaks.iter().map(|(_, value)| f64::from(*value)).sum(),
        };
        at += bytes.len() as u64;
        spectrum
    });
    let spectra = spectra.collect();
    out.flush().unwrap();
    (spectra, uuid, sha1.finalize().into())
}

/// What is seen of one m/z, here and there.
struct Ion {
    mz: f64,
    /// The share of its disc's pixels that it is found in.
    chance: f64,
    centre: [f64; 2],
    /// Square of the disc's radius, in pixels.
    reach: f64,
    /// Logarithm of its usual intensity.
    level: f64,
}

impl Ion {
    /// Whether a pixel lies in its disc.
    fn is_about(&self, [x, y]: [u32; 2]) -> bool {
        let (dx, dy) = (f64::from(x) - self.centre[0], f64::from(y) - self.centre[1]);
        dx * dx + dy * dy < self.reach
    }
}

/// All ions by m/z, so common that a spectrum has about `SHARE` of its peaks from them.
fn ions(options: &Options) -> Vec<Ion> {
    let mut random = Random::new(options.seed, &[3]);
    let [width, height] = options.size.map(f64::from);
    let mut ions: Vec<Ion> = (0..options.ions)
        .map(|_| {
            let radius = random.between(0.2, 1.0) * width.max(height);
            let common = exp(1.2 * random.normal());
            Ion {
                mz: random.between(LOWEST, HIGHEST),
                chance: common,
                centre: [random.unit() * width, random.unit() * height],
                reach: radius * radius,
                level: 7.0 + 0.5 * random.normal(),
            }
        })
        .collect();
    ions.sort_by(|a, b| a.mz.total_cmp(&b.mz));
    let seen: Vec<f64> = ions.iter().map(|ion| share(ion, options.size)).collect();
    let wanted = SHARE * options.peaks as f64;
    let expected = |scale: f64| -> f64 {
        let one = |(ion, share): (&Ion, &f64)| share * (scale * ion.chance).min(1.0);
        ions.iter().zip(&seen).map(one).sum()
    };
    let (mut low, mut high) = (0.0, 1e6);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if expected(middle) < wanted {
            low = middle;
        } else {
            high = middle;
        }
    }
    for ion in &mut ions {
        ion.chance = (low * ion.chance).min(1.0);
    }
    ions
}

/// The share of pixels that lie in an ion's disc, by a raster of 16 × 16 of them.
fn share(ion: &Ion, size: [u32; 2]) -> f64 {
    let at = |step: u32, length: u32| step * length / 16;
    let inside = (0..256_u32)
        .filter(|step| ion.is_about([at(step % 16, size[0]), at(step / 16, size[1])]))
        .count();
    inside as f64 / 256.0
}

/// One spectrum by m/z: the ions that are found here, filled up with noise.
fn draw(
    peaks: &mut Vec<(f64, f32)>,
    ions: &[Ion],
    place: [u32; 2],
    options: &Options,
    random: &mut Random,
) {
    peaks.clear();
    for ion in ions {
        if random.unit() < ion.chance && ion.is_about(place) {
            let mz = ion.mz * (1.0 + SCATTER * random.normal());
            peaks.push((mz, exp(ion.level + random.normal()) as f32));
        }
    }
    peaks.truncate(options.peaks);
    while peaks.len() < options.peaks {
        // 32 bits of `unit` would leave a pattern in the low digits.
        let unit = random.unit() + random.unit() / 4_294_967_296.0;
        let mz = LOWEST + (HIGHEST - LOWEST) * unit;
        peaks.push((mz, exp(5.5 + 0.8 * random.normal()) as f32));
    }
    peaks.sort_by(|a, b| a.0.total_cmp(&b.0));
}
