//! A synthetic dataset for benches: lines of a constant relative distance, each with peaks in some hundred pixels.

use sectile::budget::Budget;
use sectile::error::Result;
use sectile::store::head::{Contents, Layout, Mask, Meta, Real};
use sectile::store::write::{Peaks, Writer};

/// m/z of the first line.
const FIRST: f64 = 100.0;
/// Distance of two lines, relative.
const STEP: f64 = 113e-6;
/// Standard deviation of the peaks of a line, relative.
const WIDTH: f64 = 1.5e-6;
/// Peaks of a line at the mean, of which about 470 lie within 3 ppm.
pub(crate) const A_LINE: u64 = 494;

/// A store in memory.
pub(crate) struct Lines {
    /// Its bytes.
    pub(crate) file: Vec<u8>,
    /// How many lines it has.
    pub(crate) lines: u32,
}

impl Lines {
    /// The m/z of a line.
    pub(crate) fn mz(line: u32) -> f64 {
        FIRST * (1.0 + STEP).powi(line as i32)
    }

    /// A store of about `peaks` peaks on `width`×`width` pixels, all of them acquired.
    pub(crate) fn new(peaks: u64, width: u32, reals: [Real; 2]) -> Result<Self> {
        let lines = (peaks / A_LINE) as u32;
        let mut budget = Budget::new(u64::MAX);
        let meta = Meta::default();
        // Drawn twice: the layout has to know how many there are, and the first and the last.
        let (mut count, mut first, mut last) = (0, f64::INFINITY, 0.0_f64);
        draw(lines, width, reals, |mz, _, _| {
            count += mz.len() as u64;
            first = first.min(mz[0]);
            last = last.max(mz[mz.len() - 1]);
            Ok(())
        })?;
        let contents = Contents {
            mz: reals[0],
            intensity: reals[1],
            width,
            height: width,
            slices: 1,
            peaks: count,
            spectra: u64::from(width * width),
            first_mz: first,
            last_mz: last,
            meta_bytes: meta.room(),
        };
        let layout = Layout::new("lines.sectile", contents)?;
        let mut mask = Mask::new(layout.pixels)?;
        (0..layout.pixels).for_each(|pixel| mask.set(pixel));
        let mut writer = Writer::new(layout, &mut budget)?;
        let mut file = vec![0; layout.blocks_at as usize];
        draw(lines, width, reals, |mz, intensity, pixel| {
            let mut rest = Peaks {
                mz,
                intensity,
                pixel,
            };
            while !rest.is_empty() {
                rest = rest.from(writer.feed(rest)?);
                while let Some(block) = writer.block() {
                    file.extend_from_slice(block.bytes);
                }
            }
            Ok(())
        })?;
        let tables = writer.finish(&mask, &meta, &mut budget)?;
        let at = tables.bins_at as usize;
        file[..tables.head.len()].copy_from_slice(&tables.head);
        file[at..at + tables.bins.len()].copy_from_slice(&tables.bins);
        Ok(Self { file, lines })
    }
}

/// Shows the peaks of one line after another, in order of m/z.
fn draw(
    lines: u32,
    width: u32,
    reals: [Real; 2],
    mut show: impl FnMut(&[f64], &[f64], &[u32]) -> Result<()>,
) -> Result<()> {
    let mut dice = Dice(2026);
    let (mut mz, mut intensity, mut pixel) = (Vec::new(), Vec::new(), Vec::new());
    for line in 0..lines {
        let centre = Lines::mz(line);
        let count = A_LINE / 2 + dice.next() % (A_LINE + 1);
        mz.clear();
        mz.extend((0..count).map(|_| {
            // Never as far as halfway to the next line.
            let off = (dice.bell() * WIDTH).clamp(-STEP / 2.1, STEP / 2.1);
            reals[0].nearest(centre * (1.0 + off))
        }));
        mz.sort_by(f64::total_cmp);
        intensity.clear();
        intensity.extend((0..count).map(|_| reals[1].nearest((6.0 + 1.5 * dice.bell()).exp())));
        pixel.clear();
        pixel.extend((0..count).map(|_| (dice.next() % u64::from(width * width)) as u32));
        show(&mz, &intensity, &pixel)?;
    }
    Ok(())
}

/// A deterministic stream of random numbers (xorshift64*).
pub(crate) struct Dice(pub u64);

impl Dice {
    /// The next 64 bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// 0 to below 1.
    pub(crate) fn part(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1_u64 << 24) as f32
    }

    /// Nearly normal: the sum of eight uniform numbers, with mean 0 and variance 1.
    fn bell(&mut self) -> f64 {
        let sum: f64 = (0..8)
            .map(|_| (self.next() >> 11) as f64 / (1_u64 << 53) as f64)
            .sum();
        (sum - 4.0) * (12.0_f64 / 8.0).sqrt()
    }
}
