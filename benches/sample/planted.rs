//! A store in which every ion of a list was measured, for benches of whole annotations.
//!
//! Formulas are made up, from m/z 80 to 900. Each isotope peak of each ion has about as many peaks as the lines of
//! the other benches, in random pixels, the same ones for all isotopes of an ion.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::rc::Rc;

use sectile::budget::Budget;
use sectile::error::Result;
use sectile::ion::annotate::{AnnotateJob, Ions, Output, Request, Wish};
use sectile::ion::database::Reader;
use sectile::ion::formula::modifier::Modifier;
use sectile::ion::isotope::{Analyzer, Instrument, Patterns};
use sectile::job::Job;
use sectile::store::head::{Contents, Head, Layout, Mask, Meta, Real};
use sectile::store::write::{Peaks, Writer};

use super::lines::Dice;

/// Rows and columns.
pub(crate) const SIDE: u32 = 100;

/// Peaks in the window of an isotope peak that other ions have none in.
const A_PEAK: u64 = 400;

/// What an annotation led to.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Outcome {
    /// Ions that were annotated, targets and decoys.
    pub(crate) ions: u64,
    /// Targets that score.
    pub(crate) targets: u64,
    /// Peaks in their images.
    pub(crate) hits: u64,
    /// The sum of MSM of targets.
    pub(crate) msm: f64,
}

/// A store in memory, and what is looked for in it.
pub(crate) struct Planted {
    pub(crate) file: Vec<u8>,
    pub(crate) head: Rc<Head>,
    /// The ions that were planted: two targets of each formula, with one decoy each.
    pub(crate) ions: Rc<Ions>,
    /// The formulas, one a line.
    list: String,
}

impl Planted {
    /// A store of about `peaks` peaks.
    pub(crate) fn new(peaks: u64) -> Result<Self> {
        // Two targets and mostly one decoy, which they share, of four peaks.
        let list = formulas((peaks / A_PEAK / 12) as usize);
        let ions = ions(&list, 1)?;
        let file = store(&measured(&ions)?)?;
        Ok(Self {
            head: Rc::new(Head::parse("planted", &file)?),
            file,
            ions,
            list,
        })
    }

    /// The same list with so many decoys of each target.
    pub(crate) fn with_decoys(&self, decoys: u8) -> Result<Rc<Ions>> {
        ions(&self.list, decoys)
    }

    /// Annotates all ions of an order in 256 MiB, and shows MSM of those that score by their place in it.
    pub(crate) fn annotate(
        &self,
        ions: &Rc<Ions>,
        mut show: impl FnMut(u32, f64),
    ) -> Result<Outcome> {
        let shard = 0..ions.len();
        let wish = Wish::default();
        let mut job = AnnotateJob::new(self.head.clone(), ions.clone(), shard, 0, &wish)?;
        let mut outcome = Outcome::default();
        loop {
            while let Some(fetch) = job.next() {
                let range = &fetch.reads[0].range;
                let mut buffer = job.lend(&fetch);
                buffer.copy_from_slice(&self.file[range.start as usize..range.end as usize]);
                job.filled(&fetch, buffer)?;
            }
            match job.ready()? {
                Some(Output::Save(save)) => {
                    outcome.targets += save.targets.len() as u64;
                    for target in save.targets {
                        outcome.msm += target.metrics.msm;
                        show(target.ion, target.metrics.msm);
                    }
                    for decoy in save.decoys {
                        show(decoy.ion, decoy.msm);
                    }
                    let images = save.images.iter().flat_map(|kept| &kept.peaks).flatten();
                    outcome.hits += images.map(|image| image.pixels.len() as u64).sum::<u64>();
                    continue;
                }
                Some(Output::Progress { .. }) => continue,
                None => {}
            }
            if job.is_done() {
                outcome.ions = u64::from(ions.len());
                return Ok(outcome);
            }
        }
    }
}

/// So many formulas, one a line.
fn formulas(count: usize) -> String {
    let mut dice = Dice(31);
    let mut found = BTreeSet::new();
    while found.len() < count {
        let mut below = |end: u64| dice.next() % end;
        let carbon = 5 + below(36);
        let (nitrogen, oxygen) = (below(5), 1 + below(11.min(carbon)));
        let (phosphorus, sulphur) = (below(6) / 5, below(8) / 7);
        let hydrogen = carbon / 2 + below(carbon * 3 / 2 + 3) + nitrogen;
        let mut text = format!("C{carbon}H{hydrogen}");
        for (symbol, count) in [
            ("N", nitrogen),
            ("O", oxygen),
            ("P", phosphorus),
            ("S", sulphur),
        ] {
            if count > 0 {
                let _ = write!(text, "{symbol}{count}");
            }
        }
        found.insert(text);
    }
    found
        .into_iter()
        .fold("formula\n".to_owned(), |list, formula| {
            list + &formula + "\n"
        })
}

/// The ions of a list with two adducts on an Orbitrap.
fn ions(list: &str, decoys: u8) -> Result<Rc<Ions>> {
    let mut reader = Reader::new("formulas.csv", 64 << 20);
    reader.push(list.as_bytes())?;
    let molecules = Rc::new(reader.finish()?);
    let targets = ["+H", "+Na"]
        .map(|text| Modifier::parse(text).unwrap())
        .to_vec();
    let mut request = Request::new(targets, Instrument::new(Analyzer::Orbitrap, 140_000.0)?, 1);
    request.decoys = decoys;
    Ok(Rc::new(Ions::new(molecules, request, 1 << 30)?))
}

/// One peak of the set.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peak {
    pub(crate) mz: f64,
    pub(crate) intensity: f32,
    pub(crate) pixel: u32,
}

/// The theoretical m/z and intensities of all ions, in their order.
pub(crate) fn patterns(ions: &Ions) -> Result<Vec<([f64; 4], [f64; 4])>> {
    let request = ions.request();
    let generation = request.scoring.generation();
    let mut patterns = Patterns::new(request.instrument, generation, request.charge)?;
    let mut all = Vec::new();
    for position in 0..ions.len() {
        let Some(ion) = ions.ion(position) else {
            continue;
        };
        let modifier = &ions.decoys_chosen().modifiers()[usize::from(ion.modifier)];
        let formula = &ions.molecules().formulas[ion.formula as usize];
        if let Some(composition) = modifier.apply(&formula.composition) {
            let pattern = patterns.pattern(&composition)?;
            all.push((pattern.mz, pattern.intensity));
        }
    }
    Ok(all)
}

/// All peaks, ascending in m/z.
pub(crate) fn measured(ions: &Ions) -> Result<Vec<Peak>> {
    let mut dice = Dice(2027);
    let mut peaks = Vec::new();
    for (mz, theory) in patterns(ions)? {
        let count = A_PEAK / 2 + dice.next() % (A_PEAK + 1);
        for _ in 0..count {
            let pixel = (dice.next() % u64::from(SIDE * SIDE)) as u32;
            let height = (6.0 + 1.5 * dice.bell()).exp();
            for (mz, theory) in mz.iter().zip(theory).filter(|(mz, _)| **mz > 0.0) {
                // Within 3 ppm, as nearly all of an instrument's are.
                let off = (dice.bell() * 1.2e-6).clamp(-2.9e-6, 2.9e-6);
                peaks.push(Peak {
                    mz: Real::F32.nearest(mz * (1.0 + off)),
                    intensity: (height * theory / 100.0 * (0.8 + 0.4 * f64::from(dice.part())))
                        as f32,
                    pixel,
                });
            }
        }
    }
    peaks.sort_unstable_by(|one, other| {
        one.mz
            .total_cmp(&other.mz)
            .then(one.pixel.cmp(&other.pixel))
    });
    Ok(peaks)
}

/// The store of some peaks.
fn store(peaks: &[Peak]) -> Result<Vec<u8>> {
    let mut budget = Budget::new(u64::MAX);
    let meta = Meta::default();
    let contents = Contents {
        mz: Real::F32,
        intensity: Real::F32,
        width: SIDE,
        height: SIDE,
        slices: 1,
        peaks: peaks.len() as u64,
        spectra: u64::from(SIDE * SIDE),
        first_mz: peaks[0].mz,
        last_mz: peaks[peaks.len() - 1].mz,
        meta_bytes: meta.room(),
    };
    let layout = Layout::new("planted.sectile", contents)?;
    let mut mask = Mask::new(layout.pixels)?;
    (0..layout.pixels).for_each(|pixel| mask.set(pixel));
    let mut writer = Writer::new(layout, &mut budget)?;
    let mut file = vec![0; layout.blocks_at as usize];
    for some in peaks.chunks(4096) {
        let mz: Vec<f64> = some.iter().map(|peak| peak.mz).collect();
        let intensity: Vec<f64> = some.iter().map(|peak| f64::from(peak.intensity)).collect();
        let pixel: Vec<u32> = some.iter().map(|peak| peak.pixel).collect();
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
