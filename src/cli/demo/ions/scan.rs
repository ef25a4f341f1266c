//! What the instrument tells of one pixel: ions with their isotopes, the background, and errors.

use super::molecules::{Ion, ions};
use super::tissue::{Pattern, Place, Tissue};
use crate::cli::demo::noise::Noise;
use crate::cli::demo::random::Random;

/// What is weaker than that is not told.
const LIMIT: f64 = 150.0;

/// Standard deviation of the noise that is the same for all peaks.
const NOISE: f64 = 45.0;

/// Standard deviation of the error of an m/z value, as a fraction: 1 ppm.
const SCATTER: f64 = 1e-6;

/// No m/z value is off by more than that many standard deviations: one that would be is drawn again.
const FARTHEST: f64 = 2.5;

/// How many kinds of background ions there are, from the matrix and the solvent.
const BACKGROUND: usize = 130;

/// Random peaks in each spectrum: electronic noise that looks like an ion.
const SPIKES: usize = 40;

/// No background ion is closer than that fraction to what is to be found.
const CLEAR: f64 = 12e-6;

/// One ion of the background, which has no isotopes.
#[derive(Debug)]
struct Background {
    mz: f64,
    level: f64,
    /// The share of pixels that show it.
    chance: f64,
    pattern: Pattern,
}

/// Everything there is to be measured.
#[derive(Debug)]
pub struct Sample {
    seed: u64,
    tissue: Tissue,
    ions: Vec<Ion>,
    background: Vec<Background>,
    /// How well molecules become ions here and there.
    crystals: Noise,
}

impl Sample {
    /// The sample that belongs to a seed.
    pub fn new(seed: u64) -> Self {
        let ions = ions();
        Self {
            seed,
            tissue: Tissue::new(seed),
            background: background(seed, &ions),
            ions,
            crystals: Noise::new(seed, &[35]),
        }
    }

    /// The ions that are to be found.
    pub fn ions(&self) -> &[Ion] {
        &self.ions
    }

    /// The peaks of a pixel by m/z, or nothing where no tissue is.
    pub fn peaks(&self, column: u32, row: u32) -> Option<Vec<(f64, f32)>> {
        let place = self.tissue.place(column, row)?;
        let mut random = Random::new(self.seed, &[36, u64::from(row), u64::from(column)]);
        let crystals = self
            .crystals
            .cloud(f64::from(column) / 4.0, f64::from(row) / 4.0, 3);
        let mut scan = Scan {
            gain: 0.7 + 0.6 * crystals,
            peaks: Vec::new(),
        };
        for (at, ion) in self.ions.iter().enumerate() {
            let amount = self.abundance(at, ion, column, row, place);
            scan.ion(ion, amount, &mut random);
        }
        for ion in &self.background {
            if random.unit() < ion.chance {
                let amount = 0.3 + 0.7 * self.tissue.amount(ion.pattern, place);
                scan.peak(ion.mz, ion.level * amount, &mut random);
            }
        }
        for _ in 0..SPIKES {
            let mz = random.between(85.0, 950.0);
            let height = LIMIT + NOISE * random.unit() / (random.unit() + 0.1);
            scan.push(mz, height);
        }
        scan.peaks.sort_by(|a, b| a.0.total_cmp(&b.0));
        Some(scan.peaks)
    }

    /// The height that an ion's first peak should have at a place.
    fn abundance(&self, at: usize, ion: &Ion, column: u32, row: u32, place: Place) -> f64 {
        // Each ion has clouds of its own: no two images are alike.
        let clouds = Noise::new(self.seed, &[37, at as u64]);
        let (x, y) = (f64::from(column) / 8.0, f64::from(row) / 8.0);
        let texture = 0.75 + 0.5 * clouds.cloud(x, y, 2);
        ion.level * texture * (0.012 + 0.988 * self.tissue.amount(ion.pattern, place))
    }
}

/// A spectrum while it is made.
struct Scan {
    gain: f64,
    peaks: Vec<(f64, f32)>,
}

impl Scan {
    /// All isotopes of an ion, which rise and fall together from pixel to pixel.
    fn ion(&mut self, ion: &Ion, amount: f64, random: &mut Random) {
        let amount = amount * (1.0 + 0.1 * random.normal()).max(0.2);
        for peak in &ion.peaks {
            self.peak(peak.mz, amount * peak.height, random);
        }
    }

    /// A peak with the instrument's errors, unless it is too weak.
    fn peak(&mut self, mz: f64, height: f64, random: &mut Random) {
        let height = height * self.gain;
        // Ions are counted: the spread of a count is the root of it, here with 8 units an ion.
        let spread = (NOISE * NOISE + 8.0 * height).sqrt();
        let told = height + spread * random.normal();
        let error = loop {
            let error = random.normal();
            if error.abs() <= FARTHEST {
                break error;
            }
        };
        if told > LIMIT {
            self.push(mz * (1.0 + SCATTER * error), told);
        }
    }

    fn push(&mut self, mz: f64, height: f64) {
        #[expect(clippy::cast_possible_truncation, reason = "the file holds f32")]
        self.peaks.push((mz, height as f32));
    }
}

/// Ions of matrix and solvent: where nobody looks for them, some faint, some in all pixels.
fn background(seed: u64, ions: &[Ion]) -> Vec<Background> {
    let mut random = Random::new(seed, &[38]);
    let wanted: Vec<f64> = ions
        .iter()
        .flat_map(|ion| &ion.peaks)
        .map(|peak| peak.mz)
        .collect();
    let mut found = Vec::new();
    while found.len() < BACKGROUND {
        let whole = random.between(86.0, 940.0).floor();
        // Where molecules of these elements lie.
        let mz = whole * 1.0005 + random.between(-0.09, 0.11);
        let clear = wanted.iter().all(|other| (mz / other - 1.0).abs() > CLEAR);
        let level = 250.0 / (random.unit() + 0.04);
        let chance = random.between(0.35, 1.0);
        let pattern = match random.next() % 4 {
            0 => Pattern::Rim,
            1 => Pattern::TopToBottom,
            2 => Pattern::LeftToRight,
            _ => Pattern::Everywhere,
        };
        if clear {
            found.push(Background {
                mz,
                level,
                chance,
                pattern,
            });
        }
    }
    found
}
