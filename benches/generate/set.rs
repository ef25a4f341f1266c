//! A large set of centroids: thousands of ions, and noise between them.
//!
//! m/z lies in 100 to 1,000. An ion is found in a part of the pixels, rare ones being many, and its
//! peaks scatter with a standard deviation of 1 ppm. Intensities are lognormal with full mantissas:
//! about the hardest that there is to compress. The same set has the same bytes on every machine.

use std::io::Write;

use sectile::ion::window::Window;
use sha1::{Digest, Sha1};

#[path = "../../src/cli/demo/ions/document.rs"]
mod document;
#[allow(unused_imports, reason = "its tests run with the program's")]
#[path = "../../src/cli/demo/exponential.rs"]
mod exponential;
#[allow(
    dead_code,
    unused_imports,
    reason = "the demo uses more of it; its tests run with the program's"
)]
#[path = "../../src/cli/demo/random.rs"]
mod random;

use document::{Document, Spectrum};
use exponential::exp;
use random::Random;

const LOWEST: f64 = 100.0;
const HIGHEST: f64 = 1000.0;

/// The share of peaks that belong to ions.
const SHARE: f64 = 0.7;

/// Standard deviation of an ion's m/z, as a fraction.
const SCATTER: f64 = 1e-6;

/// What is to be made.
#[derive(Debug, Clone, Copy)]
pub struct Set {
    /// Columns and rows; all pixels are acquired.
    pub size: [u32; 2],
    /// Peaks in each spectrum.
    pub peaks: usize,
    /// Bytes of an m/z value: 4 or 8.
    pub mz_bytes: u64,
    /// How many ions the peaks that are not noise belong to.
    pub ions: usize,
    /// Another number gives another set.
    pub seed: u64,
}

impl Set {
    /// Writes the arrays, row by row, then the XML; holds one spectrum at a time.
    pub fn write(&self, ibd: &mut impl Write, imzml: &mut impl Write) -> std::io::Result<()> {
        let (spectra, uuid, sha1) = write_arrays(self, ibd)?;
        let document = Document {
            writer: "generate_ions",
            instrument: "none: made for measuring",
            size: self.size,
            pixel: 20,
            spectra: spectra.len(),
            mz_bytes: self.mz_bytes,
            uuid,
            sha1,
        };
        document.write(imzml, spectra.into_iter())
    }

    /// Windows of `ppm` about some of the ions, spread over the range.
    #[allow(dead_code, reason = "only those who measure need it")]
    pub fn windows(&self, ppm: f64, count: usize) -> sectile::error::Result<Vec<Window>> {
        let ions = ions(self);
        let some = ions.iter().step_by((self.ions / count).max(1));
        some.map(|ion| Window::ppm(ion.mz, ppm)).collect()
    }

    /// How many there are.
    pub fn pixels(&self) -> usize {
        self.size[0] as usize * self.size[1] as usize
    }

    /// An m/z value as the file holds it.
    fn stored(&self, mz: f64) -> f64 {
        match self.mz_bytes {
            4 => f64::from(mz as f32),
            _ => mz,
        }
    }
}

/// What the XML says of the arrays: their places, the UUID and the SHA-1 of the file they are in.
type Arrays = (Vec<Spectrum>, [u8; 16], [u8; 20]);

fn write_arrays(set: &Set, out: &mut impl Write) -> std::io::Result<Arrays> {
    let mut sha1 = Sha1::new();
    let mut random = Random::new(set.seed, &[1]);
    let uuid = (u128::from(random.next()) << 64 | u128::from(random.next())).to_be_bytes();
    out.write_all(&uuid)?;
    sha1.update(uuid);

    let ions = ions(set);
    let (mut peaks, mut bytes, mut at) = (Vec::new(), Vec::new(), uuid.len() as u64);
    let mut spectra = Vec::with_capacity(set.pixels());
    for index in 0..set.pixels() {
        let place = [index as u32 % set.size[0], index as u32 / set.size[0]];
        let mut random = Random::new(set.seed, &[2, index as u64]);
        draw(&mut peaks, &ions, place, set, &mut random);
        bytes.clear();
        match set.mz_bytes {
            4 => bytes.extend(peaks.iter().flat_map(|(mz, _)| (*mz as f32).to_le_bytes())),
            _ => bytes.extend(peaks.iter().flat_map(|(mz, _)| mz.to_le_bytes())),
        }
        bytes.extend(peaks.iter().flat_map(|(_, value)| value.to_le_bytes()));
        out.write_all(&bytes)?;
        sha1.update(&bytes);
        spectra.push(Spectrum {
            index,
            place: place.map(|at| at + 1),
            at,
            peaks: peaks.len() as u64,
            range: [peaks[0].0, peaks[peaks.len() - 1].0].map(|mz| set.stored(mz)),
            total: peaks.iter().map(|(_, value)| f64::from(*value)).sum(),
        });
        at += bytes.len() as u64;
    }
    Ok((spectra, uuid, sha1.finalize().into()))
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
fn ions(set: &Set) -> Vec<Ion> {
    let mut random = Random::new(set.seed, &[3]);
    let [width, height] = set.size.map(f64::from);
    let mut ions: Vec<Ion> = (0..set.ions)
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
    let seen: Vec<f64> = ions.iter().map(|ion| share(ion, set.size)).collect();
    let wanted = SHARE * set.peaks as f64;
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
    set: &Set,
    random: &mut Random,
) {
    peaks.clear();
    for ion in ions {
        if random.unit() < ion.chance && ion.is_about(place) {
            let mz = ion.mz * (1.0 + SCATTER * random.normal());
            peaks.push((mz, exp(ion.level + random.normal()) as f32));
        }
    }
    peaks.truncate(set.peaks);
    while peaks.len() < set.peaks {
        // 32 bits of `unit` would leave a pattern in the low digits.
        let unit = random.unit() + random.unit() / 4_294_967_296.0;
        let mz = LOWEST + (HIGHEST - LOWEST) * unit;
        peaks.push((mz, exp(5.5 + 0.8 * random.normal()) as f32));
    }
    peaks.sort_by(|a, b| a.0.total_cmp(&b.0));
}
