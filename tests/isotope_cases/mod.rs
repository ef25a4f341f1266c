//! Isotope patterns as the rules say, step by step and with the standard library's `exp` and `ln`; and random ions.

use sectile::ion::formula::element::{ELECTRON, Element, Isotope};
use sectile::ion::formula::{Atom, Composition};
use sectile::ion::isotope::{Analyzer, Generation, Instrument, Isotopologue};

const FWHM: f64 = 2.3548200450309493;

/// A small deterministic stream of random numbers (xorshift64*).
pub(crate) struct Dice(pub u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// From `range.0` to `range.1`, both inside.
    pub(crate) fn number(&mut self, range: (u32, u32)) -> u32 {
        let size = u64::from(range.1 - range.0 + 1);
        range.0 + u32::try_from(self.next() % size).unwrap()
    }

    pub(crate) fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.number((0, u32::try_from(all.len() - 1).unwrap())) as usize]
    }

    /// An organic ion, with some atoms of other elements in two of three.
    pub(crate) fn ion(&mut self) -> Composition {
        const OTHERS: [&str; 16] = [
            "Na", "K", "Cl", "Br", "Sn", "Se", "Hg", "Xe", "Fe", "B", "W", "He", "Cl2", "Br3",
            "Sn2", "Se2",
        ];
        let carbon = self.number((1, 90));
        let mut text = format!("C{carbon}H{}", self.number((1, 2 * carbon + 3)));
        for (symbol, most) in [("N", 6), ("O", 20), ("P", 3), ("S", 3)] {
            let count = self.number((0, most));
            if count > 0 {
                text.push_str(symbol);
                text.push_str(&count.to_string());
            }
        }
        if self.number((0, 2)) > 0 {
            text += self.of(&OTHERS);
        }
        Composition::parse(&text).unwrap()
    }

    pub(crate) fn instrument(&mut self) -> Instrument {
        let power = self.of(&[
            70_000.0, 100_000.0, 140_000.0, 250_000.0, 280_000.0, 500_000.0,
        ]);
        Instrument::new(self.of(&Analyzer::ALL), power).unwrap()
    }
}

/// All ways to put isotopes on `count` atoms, as (mass, logarithm of the probability).
fn ways(isotopes: &[Isotope], count: u32) -> Vec<(f64, f64)> {
    let factorial = |n: u32| (2..=n).map(|n| f64::from(n).ln()).sum::<f64>();
    if let [only] = isotopes {
        let n = f64::from(count);
        return vec![(only.mass * n, n * only.abundance.ln() - factorial(count))];
    }
    let mut all = Vec::new();
    for first in 0..=count {
        let n = f64::from(first);
        let (mass, log) = (
            isotopes[0].mass * n,
            n * isotopes[0].abundance.ln() - factorial(first),
        );
        for (others, rest) in ways(&isotopes[1..], count - first) {
            all.push((mass + others, log + rest));
        }
    }
    all
}

/// The isotopologues of an ion by m/z: every one there is, and of these the probable ones.
pub(crate) fn isotopologues(ion: &Composition, charge: i8) -> Vec<Isotopologue> {
    let mut product = vec![(-f64::from(charge) * ELECTRON, 0.0)];
    for (atom, count) in ion.atoms() {
        let mut next = Vec::new();
        let mut ways = ways(atom.isotopes(), *count);
        let most = ways
            .iter()
            .fold(f64::NEG_INFINITY, |most, way| most.max(way.1));
        // No product with less can be probable enough.
        ways.retain(|way| way.1 - most > -9.5);
        for (mass, log) in &product {
            next.extend(ways.iter().map(|way| (mass + way.0, log + way.1 - most)));
        }
        product = next;
    }
    product.retain(|(_, log)| *log >= 1e-4_f64.ln());
    let listed = product.iter().map(|(mz, log)| Isotopologue {
        mz: *mz,
        share: log.exp(),
    });
    let mut listed: Vec<Isotopologue> = listed.collect();
    listed.sort_by(|a, b| a.mz.total_cmp(&b.mz));
    listed
}

/// How wide a peak is, and how far an envelope is drawn.
struct Rules {
    analyzer: Analyzer,
    base: f64,
    width: f64,
}

impl Rules {
    fn sigma(&self, mz: f64) -> f64 {
        let power = match self.analyzer {
            Analyzer::Tof => self.base,
            Analyzer::Orbitrap => self.base * (200.0 / mz).sqrt(),
            Analyzer::Fticr => self.base * 200.0 / mz,
        };
        mz / power / FWHM
    }
}

/// The envelope at ascending m/z.
struct Envelope<'a> {
    list: &'a [Isotopologue],
    rules: Rules,
    at: usize,
    sigma: f64,
    empty: bool,
}

impl Envelope<'_> {
    fn height(&mut self, mz: f64) -> f64 {
        let width = self.rules.width;
        if mz > self.list[self.at].mz + width * self.sigma {
            self.empty = true;
        }
        let next = self.list.get(self.at + 1);
        if let Some(next) = next.filter(|next| self.empty && mz >= next.mz - width * self.sigma) {
            self.empty = false;
            self.at += 1;
            self.sigma = self.rules.sigma(next.mz);
        }
        if self.empty {
            return 0.0;
        }
        let reach = width * self.sigma;
        let gauss =
            |one: &Isotopologue| one.share * (-0.5 * ((one.mz - mz) / self.sigma).powi(2)).exp();
        let behind = self.list[..self.at].iter().rev();
        let behind: f64 = behind
            .take_while(|one| mz - one.mz < reach)
            .map(gauss)
            .sum();
        let ahead = self.list[self.at..].iter();
        behind
            + ahead
                .take_while(|one| one.mz - mz <= reach)
                .map(gauss)
                .sum::<f64>()
    }
}

/// The four highest peaks as (m/z, height 0 to 100), by m/z: one point of the grid after the other.
pub(crate) fn pattern(
    ion: &Composition,
    instrument: Instrument,
    generation: Generation,
    charge: i8,
) -> Vec<(f64, f64)> {
    let list = isotopologues(ion, charge);
    if list.len() == 1 {
        return vec![(list[0].mz, 100.0)];
    }
    let fwhm = instrument.sigma() * FWHM;
    let most = list
        .iter()
        .max_by(|a, b| a.share.total_cmp(&b.share))
        .unwrap()
        .mz;
    let rules = match generation {
        Generation::Current => Rules {
            analyzer: instrument.analyzer(),
            base: 200.0 / fwhm,
            width: 6.0,
        },
        Generation::Older => Rules {
            analyzer: Analyzer::Tof,
            base: most / fwhm,
            width: 12.0,
        },
    };
    let width = rules.width;
    let sigma = rules.sigma(list[0].mz);
    let mut envelope = Envelope {
        list: &list,
        rules,
        at: 0,
        sigma,
        empty: false,
    };
    let step = |sigma: f64| sigma * FWHM / 25.0;
    let first = list[0].mz - width * sigma;
    let start = (0..15).map(|place| first + (f64::from(place) - 7.0) * step(sigma));
    let mut points: Vec<(f64, f64)> = start.map(|mz| (mz, envelope.height(mz))).collect();
    let mut peaks: Vec<(f64, f64)> = Vec::new();
    let last = list[list.len() - 1].mz;
    loop {
        let next = points[14].0 + step(envelope.sigma);
        if next > last + width * envelope.sigma {
            break;
        }
        points.remove(0);
        points.push((next, envelope.height(next)));
        let height = |place: usize| points[place].1;
        if height(6) < height(7) && height(7) >= height(8) && height(7) >= 1e-4 {
            let left = (1..=7)
                .rev()
                .find(|place| height(place - 1) >= height(*place))
                .unwrap_or(0);
            let right = (8..14)
                .find(|place| height(place + 1) > height(*place))
                .unwrap_or(15);
            let range = &points[left..right];
            let total: f64 = range.iter().map(|point| point.1).sum();
            let moment: f64 = range.iter().map(|point| point.0 * point.1).sum();
            peaks.push((moment / total, height(7)));
        }
    }
    let highest = peaks.iter().fold(0.0, |most: f64, peak| most.max(peak.1));
    peaks.retain(|peak| peak.1 / highest >= 1e-4);
    peaks.sort_by(|a, b| b.1.total_cmp(&a.1));
    peaks.truncate(4);
    peaks.sort_by(|a, b| a.0.total_cmp(&b.0));
    peaks
        .iter()
        .map(|peak| (peak.0, peak.1 / highest * 100.0))
        .collect()
}

/// `count` atoms of an element.
pub(crate) fn atoms(symbol: &str, count: u32) -> Composition {
    let atom = Atom::natural(Element::of(symbol).unwrap());
    Composition::parse(&format!("{atom}{count}")).unwrap()
}
