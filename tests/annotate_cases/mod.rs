//! Stores with molecules in them, a scan that annotates them without blocks, and a driver that collects saves.

pub(crate) mod whole;

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use sectile::budget::Budget;
use sectile::error::Result;
use sectile::ion::annotate::{
    AnnotateJob, Decoy, Ions, Kept, KeptImage, Output, Request, Save, Scored, Wish,
};
use sectile::ion::database::{Formula, Molecule, Molecules, Separator};
use sectile::ion::formula::Composition;
use sectile::ion::formula::modifier::Modifier;
use sectile::ion::isotope::{Analyzer, Instrument, Patterns};
use sectile::ion::score::{Area, Options, Scorer, Sparse};
use sectile::job::{Fetch, Job};
use sectile::store::head::{Head, Real};

use crate::ion_cases::{Dice, Feeding, Peak, Run, Sample};

/// Formulas from m/z 89 to 900: some of metabolites and lipids, and `more` that are made up.
pub(crate) fn formulas(more: usize) -> Vec<String> {
    let known = [
        "C3H7NO2",
        "C5H9NO4",
        "C6H12O6",
        "C6H13NO2",
        "C9H11NO2",
        "C10H13N5O4",
        "C10H16N2O3S",
        "C12H22O11",
        "C16H32O2",
        "C18H34O2",
        "C20H37NO2",
        "C27H46O",
        "C24H50NO7P",
        "C35H66O13",
        "C40H80NO8P",
        "C42H82NO8P",
    ];
    let made = (0..more).map(|n| {
        let (carbon, oxygen, nitrogen) = (5 + n * 7 % 31, 1 + n % 5, n / 31);
        let hydrogen = 2 * carbon + nitrogen - 2 * (n % 3);
        let nitrogen = if nitrogen == 0 {
            String::new()
        } else {
            format!("N{nitrogen}")
        };
        format!("C{carbon}H{hydrogen}{nitrogen}O{oxygen}")
    });
    known.map(str::to_owned).into_iter().chain(made).collect()
}

/// A list of formulas, one molecule each.
pub(crate) fn molecules(texts: &[String]) -> Rc<Molecules> {
    let mut texts = texts.to_vec();
    texts.sort_unstable();
    texts.dedup();
    let formulas = texts.iter().zip(0..).map(|(text, at)| Formula {
        text: text.clone(),
        composition: Composition::parse(text).unwrap(),
        molecules: at..at + 1,
    });
    let named = texts.iter().map(|text| Molecule {
        id: None,
        name: Some(format!("a molecule of {text}")),
    });
    Rc::new(Molecules {
        formulas: formulas.collect(),
        molecules: named.collect(),
        rejected: Vec::new(),
        rejected_rows: 0,
        rows: texts.len() as u64,
        separator: Separator::None,
        columns: Vec::new(),
        warnings: Vec::new(),
    })
}

pub(crate) fn modifiers(texts: &[&str]) -> Vec<Modifier> {
    let parsed = texts.iter().map(|text| Modifier::parse(text).unwrap());
    parsed.collect()
}

/// Two adducts and 20 decoys on an Orbitrap.
pub(crate) fn request() -> Request {
    let instrument = Instrument::new(Analyzer::Orbitrap, 140_000.0).unwrap();
    Request::new(modifiers(&["+H", "+Na"]), instrument, 1)
}

pub(crate) fn ions(texts: &[String], request: &Request) -> Rc<Ions> {
    Rc::new(Ions::new(molecules(texts), request.clone(), 1 << 30).unwrap())
}

pub(crate) fn patterns(request: &Request) -> Patterns {
    let generation = request.scoring.generation();
    Patterns::new(request.instrument, generation, request.charge).unwrap()
}

/// A random sample with every second target of a list in it: a blob each, somewhere else.
pub(crate) fn planted(
    seed: u64,
    size: [u32; 3],
    per_pixel: usize,
    reals: [Real; 2],
    ions: &Ions,
) -> Sample {
    let ground = Sample::random(seed, size, per_pixel, reals);
    let mut dice = Dice(seed + 77);
    let mut peaks = ground.peaks.clone();
    let mut patterns = patterns(ions.request());
    for position in 0..ions.len() {
        let ion = ions.ion(position).unwrap();
        if !ions.is_target(ion) || dice.below(2) == 0 {
            continue;
        }
        let pattern = patterns.pattern(&composition(ions, position)).unwrap();
        let centre = [
            dice.unit() * f64::from(size[0]),
            dice.unit() * f64::from(size[1]),
        ];
        for (pixel, acquired) in (0..).zip(&ground.acquired) {
            let x = f64::from(pixel % size[0]) - centre[0];
            let y = f64::from(pixel / size[0] % size[1]) - centre[1];
            let height = 1e5 / (1.0 + x * x + y * y) - 300.0;
            if !acquired || height <= 0.0 {
                continue;
            }
            for (mz, theory) in pattern.mz.iter().zip(pattern.intensity) {
                let intensity = height * theory / 100.0 * (0.9 + 0.2 * dice.unit());
                if intensity > 20.0 {
                    peaks.push(Peak {
                        mz: reals[0].nearest(mz * (1.0 + (dice.unit() - 0.5) * 3e-6)),
                        intensity: reals[1].nearest(intensity),
                        pixel,
                    });
                }
            }
        }
    }
    Sample::new(size, ground.acquired, peaks, reals)
}

pub(crate) fn composition(ions: &Ions, position: u32) -> Composition {
    let ion = ions.ion(position).unwrap();
    let modifier = &ions.decoys_chosen().modifiers()[usize::from(ion.modifier)];
    let formula = &ions.molecules().formulas[ion.formula as usize];
    modifier.apply(&formula.composition).unwrap()
}

/// All that is found, by ion.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Found {
    /// Records.
    pub(crate) targets: BTreeMap<u32, Vec<u8>>,
    /// Bits of the MSM.
    pub(crate) decoys: BTreeMap<u32, u64>,
    pub(crate) images: BTreeMap<u32, Vec<Option<Plain>>>,
}

/// Pixels, bits of their values, and bits of minimum and maximum.
pub(crate) type Plain = (Vec<u32>, Vec<u32>, [u32; 2]);

fn plain(image: &KeptImage) -> Plain {
    let values = image.values.iter().map(|value| value.to_bits());
    let ends = [image.min.to_bits(), image.max.to_bits()];
    (image.pixels.clone(), values.collect(), ends)
}

impl Found {
    /// Takes a save; what came before must be the same.
    pub(crate) fn take(&mut self, save: &Save<'_>) {
        let put = |before: Option<Vec<u8>>, now: &[u8]| {
            assert!(before.is_none_or(|before| before == now));
        };
        for scored in save.targets {
            let bytes = scored.to_bytes();
            assert_eq!(Scored::from_bytes(&bytes).as_ref(), Some(scored));
            put(self.targets.insert(scored.ion, bytes.to_vec()), &bytes);
        }
        for decoy in save.decoys {
            assert_eq!(&Decoy::from_bytes(&decoy.to_bytes()), decoy);
            let before = self.decoys.insert(decoy.ion, decoy.msm.to_bits());
            assert!(before.is_none_or(|before| before == decoy.msm.to_bits()));
        }
        for kept in save.images {
            let images: Vec<_> = kept
                .peaks
                .iter()
                .map(|image| image.as_ref().map(plain))
                .collect();
            let before = self.images.insert(kept.ion, images.clone());
            assert!(before.is_none_or(|before| before == images));
        }
    }

    pub(crate) fn join(&mut self, other: Self) {
        for (ion, bytes) in other.targets {
            assert!(
                self.targets
                    .insert(ion, bytes.clone())
                    .is_none_or(|before| before == bytes)
            );
        }
        self.decoys.extend(other.decoys);
        self.images.extend(other.images);
    }

    pub(crate) fn scored(&self, ion: u32) -> Option<Scored> {
        let bytes = self.targets.get(&ion)?;
        Scored::from_bytes(bytes.as_slice().try_into().unwrap())
    }
}

/// The peaks of a closed window, of all by m/z.
fn within(peaks: &[Peak], lo: f64, hi: f64) -> &[Peak] {
    let start = peaks.partition_point(|peak| peak.mz < lo);
    let end = peaks.partition_point(|peak| peak.mz <= hi);
    &peaks[start..end]
}

/// Annotates out of a plain list of all peaks, which knows nothing of blocks.
pub(crate) fn oracle(sample: &Sample, ions: &Ions) -> Found {
    let request = ions.request();
    let mut patterns = patterns(request);
    let area = sample.area();
    let first = request.slice * area;
    let acquired = &sample.acquired[first as usize..(first + area) as usize];
    let options = Options {
        hotspot: request.hotspot,
        ..Options::default()
    };
    let size = Area {
        width: sample.width,
        height: sample.height,
        acquired: acquired.iter().filter(|here| **here).count() as u64,
    };
    let mut scorer = Scorer::new(size, options, &mut Budget::new(u64::MAX)).unwrap();
    let mut found = Found::default();
    for position in 0..ions.len() {
        let pattern = patterns.pattern(&composition(ions, position)).unwrap();
        let (mut images, mut errors) = (Vec::new(), Vec::new());
        let mut windows = Vec::new();
        for mz in &pattern.mz[..usize::from(pattern.peaks)] {
            let half = request.half_width(*mz);
            let (lo, hi) = (mz - half, mz + half);
            windows.push((lo, hi));
            let hits = within(&sample.peaks, lo, hi).iter();
            let (mut sums, mut order) = (vec![None; area as usize], Vec::new());
            let (mut weight, mut moment) = (0.0, 0.0);
            for hit in hits.filter(|hit| hit.pixel / area == request.slice) {
                let at = hit.pixel % area;
                let sum = &mut sums[at as usize];
                if sum.is_none() {
                    order.push(at);
                }
                *sum = Some(sum.unwrap_or(0.0) + hit.intensity);
                weight += hit.intensity;
                moment += hit.intensity * (hit.mz - mz);
            }
            let values = order.iter().map(|at| sums[*at as usize].unwrap() as f32);
            errors.push(if weight == 0.0 { 0.0 } else { moment / weight });
            images.push((order.clone(), values.collect::<Vec<f32>>()));
        }
        images.resize(4, (Vec::new(), Vec::new()));
        errors.resize(4, 0.0);
        let sparse: Vec<Sparse<'_>> = (images.iter())
            .map(|(pixels, values)| Sparse { pixels, values })
            .collect();
        let sparse: [Sparse<'_>; 4] = sparse.try_into().unwrap();
        let target = ions.is_target(ions.ion(position).unwrap());
        let metrics = scorer.score(&pattern.intensity, &sparse, true).unwrap();
        if metrics.msm <= 0.0 {
            continue;
        }
        if !target {
            found.decoys.insert(position, metrics.msm.to_bits());
            continue;
        }
        let weights: f64 = pattern.intensity[1..].iter().sum();
        let later = (1..4).map(|k| pattern.intensity[k] * (errors[k] - errors[0]));
        let scored = Scored {
            ion: position,
            mz: pattern.mz,
            theory: pattern.intensity,
            metrics,
            mz_err_abs: errors[0],
            mz_err_rel: later.sum::<f64>() / weights,
            overlap: windows.windows(2).any(|two| two[0].1 >= two[1].0),
        };
        found.targets.insert(position, scored.to_bytes().to_vec());
        let kept = images.iter().enumerate().map(|(peak, (pixels, values))| {
            (!pixels.is_empty()).then(|| {
                let bits = values.iter().map(|value| value.to_bits()).collect();
                let min = values.iter().copied().fold(0.0, f32::min);
                let max = values.iter().copied().fold(0.0, f32::max);
                assert_eq!(
                    [min, max].map(f64::from),
                    [metrics.min[peak], metrics.max[peak]]
                );
                (pixels.clone(), bits, [min.to_bits(), max.to_bits()])
            })
        });
        found.images.insert(position, kept.collect());
    }
    found
}

/// What a job brought.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) found: Found,
    pub(crate) run: Run,
    /// The ions of the images of each save with any, and their bytes.
    pub(crate) flushes: Vec<(Vec<u32>, u64)>,
    /// `position` of each save.
    pub(crate) positions: Vec<u32>,
    /// Ions that were told of.
    pub(crate) told: u64,
    pub(crate) stopped: Option<u32>,
}

/// Runs a job to its end.
pub(crate) fn annotate(
    file: &[u8],
    head: &Rc<Head>,
    ions: &Rc<Ions>,
    shard: Range<u32>,
    from: u32,
    wish: &Wish,
    feeding: Feeding,
) -> Result<Outcome> {
    let mut job = AnnotateJob::new(head.clone(), ions.clone(), shard, from, wish)?;
    let mut outcome = Outcome::default();
    let mut last = false;
    let run = drive(&mut job, file, feeding, wish.in_flight, |output| {
        outcome.see(&output);
        last = matches!(output, Output::Save(save) if save.last);
    })?;
    assert!(last, "it must end with its last save");
    assert!(run.peak <= wish.memory);
    outcome.run = run;
    outcome.stopped = job.stopped();
    assert_eq!(job.requests(), outcome.run.requests);
    Ok(outcome)
}

/// Runs a job over a source in memory with so many requests in flight, showing what it hands out.
pub(crate) fn drive(
    job: &mut AnnotateJob,
    source: &[u8],
    feeding: Feeding,
    in_flight: u32,
    mut show: impl FnMut(Output<'_>),
) -> Result<Run> {
    let mut dice = Dice(99);
    let mut run = Run::default();
    let mut pending: Vec<Fetch> = Vec::new();
    loop {
        while pending.len() < in_flight as usize
            && let Some(fetch) = job.next()
        {
            pending.push(fetch);
        }
        if let Some(output) = job.ready()? {
            show(output);
            continue;
        }
        if job.is_done() {
            break;
        }
        while pending.len() < in_flight as usize
            && let Some(fetch) = job.next()
        {
            pending.push(fetch);
        }
        assert!(!pending.is_empty(), "not done, but asks for nothing");
        let at = if feeding.shuffled {
            dice.below(pending.len())
        } else {
            0
        };
        let fetch = pending.remove(at);
        assert_eq!(fetch.reads.len(), 1);
        let range = fetch.reads[0].range.clone();
        let bytes = &source[range.start as usize..range.end as usize];
        if feeding.piece == usize::MAX {
            let mut buffer = job.lend(&fetch);
            buffer.copy_from_slice(bytes);
            job.filled(&fetch, buffer)?;
        } else {
            let mut offset = 0;
            for piece in bytes.chunks(feeding.piece) {
                job.feed(fetch.slot, 0, offset, piece.len(), |place| {
                    place.copy_from_slice(piece);
                })?;
                offset += piece.len() as u64;
            }
            job.complete(fetch.slot)?;
        }
        run.requests += 1;
        run.bytes += bytes.len() as u64;
        run.reads.push(range);
    }
    assert!(pending.is_empty(), "asked for more than was needed");
    run.peak = job.peak();
    Ok(run)
}

impl Outcome {
    pub(crate) fn see(&mut self, output: &Output<'_>) {
        match output {
            Output::Progress { ions } => self.told += u64::from(*ions),
            Output::Save(save) => {
                self.found.take(save);
                self.positions.push(save.position);
                let ions: Vec<u32> = save.images.iter().map(|Kept { ion, .. }| *ion).collect();
                if !ions.is_empty() {
                    self.flushes.push((ions, save.image_bytes));
                }
            }
        }
    }
}
