//! One exposure of the demo sky: shifted detector, dead columns, noise, cosmic rays.

use std::collections::BTreeMap;

use super::random::{Random, direction};
use super::sky::{Sky, count};

/// What one exposure adds to the sky, and takes from it.
#[derive(Debug)]
pub struct Exposure {
    seed: u64,
    number: u64,
    size: usize,
    /// Where the detector's first pixel lies on the common grid.
    offset: [i64; 2],
    dead: Dead,
    /// Charge by pixel index, in MJy/sr.
    hits: BTreeMap<usize, f64>,
}

impl Exposure {
    /// The exposure of that number, counted from 0.
    pub fn new(size: usize, seed: u64, number: u32) -> Self {
        let number = u64::from(number);
        let mut random = Random::new(seed, &[20, number]);
        #[expect(clippy::cast_precision_loss, reason = "a few pixels")]
        let reach = (size / 40).max(2) as f64;
        #[expect(clippy::cast_possible_truncation, reason = "a few pixels")]
        let mut shift = || random.between(-reach, reach) as i64;
        let offset = if number == 0 {
            [0, 0]
        } else {
            [shift(), shift()]
        };
        Self {
            seed,
            number,
            size,
            offset,
            dead: Dead::new(size, seed),
            hits: hits(size, &mut Random::new(seed, &[21, number])),
        }
    }

    /// One row of the exposure, in MJy/sr; NaN where there is no data.
    pub fn row(&self, sky: &Sky, y: usize) -> Vec<f32> {
        let mut noise = Random::new(self.seed, &[22, self.number, y as u64]);
        let mut hits = self
            .hits
            .range(y * self.size..(y + 1) * self.size)
            .peekable();
        let values = sky.row(y).iter().enumerate().map(|(x, value)| {
            let charge = hits
                .next_if(|(at, _)| **at == y * self.size + x)
                .map_or(0.0, |(_, charge)| *charge);
            let signal = f64::from(*value);
            // Read noise, and shot noise of the signal.
            let spread = (0.0009 + 0.0012 * signal).sqrt();
            let value = signal + charge + spread * noise.normal();
            if self.is_blind(x, y) {
                return f32::NAN;
            }
            #[expect(clippy::cast_possible_truncation, reason = "the file holds f32")]
            let value = value as f32;
            value
        });
        values.collect()
    }

    /// One row of the cosmic rays' mask: 1 where one was added and there is data.
    pub fn mask_row(&self, y: usize) -> Vec<u8> {
        let mut mask = vec![0; self.size];
        for at in self
            .hits
            .range(y * self.size..(y + 1) * self.size)
            .map(|(at, _)| at % self.size)
        {
            mask[at] = u8::from(!self.is_blind(at, y));
        }
        mask
    }

    /// Outside of the shifted detector, or on one of its dead pixels.
    fn is_blind(&self, x: usize, y: usize) -> bool {
        let on_detector = |at: usize, offset: i64| {
            i64::try_from(at)
                .ok()
                .and_then(|at| usize::try_from(at - offset).ok())
                .filter(|at| *at < self.size)
        };
        match (
            on_detector(x, self.offset[0]),
            on_detector(y, self.offset[1]),
        ) {
            (Some(x), Some(y)) => self.dead.contains(x, y),
            _ => true,
        }
    }
}

/// The detector's dead columns: from the row given on upwards, as a broken readout leaves them.
#[derive(Debug)]
struct Dead(Vec<(usize, usize)>);

impl Dead {
    fn new(size: usize, seed: u64) -> Self {
        let mut random = Random::new(seed, &[23]);
        let mut place = |share: f64| {
            #[expect(clippy::cast_precision_loss, reason = "a width in pixels")]
            let length = size as f64;
            count(random.unit() * length * share)
        };
        let mut columns = vec![(size / 3, 0), (size / 3 + 1, 0)];
        for _ in 0..4 {
            columns.push((place(1.0), place(0.8)));
        }
        Self(columns)
    }

    fn contains(&self, x: usize, y: usize) -> bool {
        self.0
            .iter()
            .any(|(column, from)| x == *column && y >= *from)
    }
}

/// Points and streaks of charge.
fn hits(size: usize, random: &mut Random) -> BTreeMap<usize, f64> {
    #[expect(clippy::cast_precision_loss, reason = "a width in pixels")]
    let length = size as f64;
    let frames = length * length / (1024.0 * 1024.0);
    let mut hits = BTreeMap::new();
    let mut add = |x: f64, y: f64, charge: f64| {
        if x >= 0.0 && y >= 0.0 && x < length && y < length {
            *hits.entry(count(y) * size + count(x)).or_insert(0.0) += charge;
        }
    };
    for _ in 0..count(260.0 * frames) {
        let (x, y) = (random.unit() * length, random.unit() * length);
        let charge = 1.5 / (random.unit() + 0.02);
        add(x, y, charge);
        for (dx, dy) in [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)] {
            if random.unit() < 0.4 {
                add(x + dx, y + dy, charge * random.between(0.1, 0.5));
            }
        }
    }
    for _ in 0..count(30.0 * frames).max(1) {
        let (x, y) = (random.unit() * length, random.unit() * length);
        let [dx, dy] = direction(random);
        let charge = 0.8 / (random.unit() + 0.04);
        // Half a pixel a step: no pixel on the way is left out.
        for step in 0..count(random.between(12.0, 120.0)) {
            #[expect(clippy::cast_precision_loss, reason = "a hundred steps")]
            let way = 0.5 * step as f64;
            add(
                x + dx * way,
                y + dy * way,
                charge * random.between(0.3, 0.7),
            );
        }
    }
    hits
}
