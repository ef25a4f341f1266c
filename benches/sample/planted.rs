//! A synthetic dataset for benches of annotation: every target of a list, and peaks of nothing between them.

use std::rc::Rc;

use sectile::budget::Budget;
use sectile::error::Result;
use sectile::ion::annotate::{Ions, Request};
use sectile::ion::database::Reader;
use sectile::ion::formula::modifier::Modifier;
use sectile::ion::isotope::{Analyzer, Instrument, Patterns};
use sectile::store::head::{Contents, Layout, Mask, Meta, Real};
use sectile::store::write::{Peaks, Writer};

use crate::lines::Dice;

/// Pixels that an ion is found in, of 100×100.
const PIXELS: u64 = 470;

/// A store in memory, and the list whose targets are in it.
pub(crate) struct Planted {
    /// Its bytes.
    pub(crate) file: Vec<u8>,
    /// Targets and decoys.
    pub(crate) ions: Rc<Ions>,
}

impl Planted {
    /// `peaks` peaks on 100×100 pixels, among them those of `formulas` made-up formulas with `+H`, four isotope peaks
    /// each in 470 pixels of a disc; and `decoys` decoys of each, which are not there.
    pub(crate) fn new(peaks: usize, formulas: u32, decoys: u8) -> Result<Self> {
        let instrument = Instrument::new(Analyzer::Orbitrap, 140_000.0)?;
        let adduct = Modifier::parse("+H").unwrap_or_else(|fault| panic!("{fault:?}"));
        let request = Request {
            decoys,
            ..Request::new(vec![adduct], instrument, 1)
        };
        let mut list = Reader::new("list", 1 << 30);
        for n in 0..formulas {
            let (carbon, oxygen, nitrogen) = (5 + n * 17 % 53, 1 + n / 53 % 12, n / 636);
            let hydrogen = 2 * carbon + nitrogen - 2 * (n % 4);
            let nitrogen = if nitrogen > 0 {
                format!("N{nitrogen}")
            } else {
                String::new()
            };
            list.push(format!("C{carbon}H{hydrogen}{nitrogen}O{oxygen}\n").as_bytes())?;
        }
        let ions = Rc::new(Ions::new(Rc::new(list.finish()?), request, 1 << 30)?);
        let mut drawn = Vec::with_capacity(peaks);
        draw(&ions, &mut drawn)?;
        let mut dice = Dice(77);
        while drawn.len() < peaks {
            let mz = 100.0 + 900.0 * f64::from(dice.part()) + 1e-4 * f64::from(dice.part());
            drawn.push((mz, 200.0 * dice.part(), (dice.next() % 10_000) as u32));
        }
        drawn.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        Ok(Self {
            file: store(&drawn)?,
            ions,
        })
    }
}

/// Draws the peaks of all targets.
fn draw(ions: &Ions, into: &mut Vec<(f64, f32, u32)>) -> Result<()> {
    let request = ions.request();
    let mut patterns = Patterns::new(request.instrument, request.scoring.generation(), 1)?;
    let mut dice = Dice(2026);
    let targets = (0..ions.len()).filter_map(|at| ions.ion(at));
    for ion in targets.filter(|ion| ions.is_target(*ion)) {
        let formula = &ions.molecules().formulas[ion.formula as usize].composition;
        let Some(composition) = request.targets[0].apply(formula) else {
            continue;
        };
        let pattern = patterns.pattern(&composition)?;
        let centre = [dice.next() % 80 + 10, dice.next() % 80 + 10].map(|at| at as f32);
        for _ in 0..PIXELS {
            // A disc of radius 20, brightest in the middle.
            let [x, y] = centre.map(|at| (at + 40.0 * (dice.part() - 0.5)).clamp(0.0, 99.0));
            let off = [x - centre[0], y - centre[1]];
            let height = 1e5 / (10.0 + off[0] * off[0] + off[1] * off[1]);
            let pixel = y as u32 * 100 + x as u32;
            for (mz, theory) in pattern.mz.iter().zip(pattern.intensity) {
                let intensity = height * theory as f32 * (0.8 + 0.4 * dice.part());
                let off = 2e-6 * (f64::from(dice.part()) - 0.5);
                if intensity > 0.0 {
                    into.push((mz * (1.0 + off), intensity, pixel));
                }
            }
        }
    }
    Ok(())
}

fn store(peaks: &[(f64, f32, u32)]) -> Result<Vec<u8>> {
    let mut budget = Budget::new(u64::MAX);
    let meta = Meta::default();
    let end = |peak: Option<&(f64, f32, u32)>| peak.map_or(0.0, |peak| peak.0);
    let contents = Contents {
        mz: Real::F64,
        intensity: Real::F32,
        width: 100,
        height: 100,
        slices: 1,
        peaks: peaks.len() as u64,
        spectra: 10_000,
        first_mz: end(peaks.first()),
        last_mz: end(peaks.last()),
        meta_bytes: meta.room(),
    };
    let layout = Layout::new("planted.sectile", contents)?;
    let mut mask = Mask::new(layout.pixels)?;
    (0..layout.pixels).for_each(|pixel| mask.set(pixel));
    let mut writer = Writer::new(layout, &mut budget)?;
    let mut file = vec![0; layout.blocks_at as usize];
    for part in peaks.chunks(1 << 16) {
        let mz: Vec<f64> = part.iter().map(|peak| peak.0).collect();
        let intensity: Vec<f64> = part.iter().map(|peak| f64::from(peak.1)).collect();
        let pixel: Vec<u32> = part.iter().map(|peak| peak.2).collect();
        let mut rest = Peaks {
            mz: &mz,
            intensity: &intensity,
            pixel: &pixel,
        };
        while !rest.is_empty() {
            rest = rest.from(writer.feed(rest)?);
            while let Some(block) = writer.block() {
                file.extend_from_slice(block.bytes);
            }
        }
    }
    let tables = writer.finish(&mask, &meta, &mut budget)?;
    let at = tables.bins_at as usize;
    file[..tables.head.len()].copy_from_slice(&tables.head);
    file[at..at + tables.bins.len()].copy_from_slice(&tables.bins);
    Ok(file)
}
