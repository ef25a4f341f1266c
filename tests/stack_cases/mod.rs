//! Small stacks in memory, fed to jobs in every order: shared by native and wasm tests.

#[path = "../dice/mod.rs"]
mod dice;

pub(crate) use dice::Dice;

use sectile::fits::Image;
use sectile::fits::pixel::{Bitpix, Encoding};
use sectile::job::{Fetch, Job};
use sectile::stack::exposure::{Rules, Stack};
use sectile::stack::job::{StackJob, Values};
use sectile::stack::median::Kernel;
use sectile::stack::plan::{Plan, Rect, Wish};
use sectile::stack::statistic::Statistic;

/// Exposures with their bytes.
pub(crate) struct Files {
    pub(crate) stack: Stack,
    pub(crate) bytes: Vec<Vec<u8>>,
    pub(crate) pixels: Vec<Vec<f64>>,
}

/// `count` images of the given kinds in turn, behind headers of different lengths.
pub(crate) fn files(count: usize, width: u32, height: u32, kinds: &[Encoding]) -> Files {
    let mut dice = Dice(count as u64 * 7919 + u64::from(width) * 31 + u64::from(height));
    let mut images = Vec::new();
    let mut bytes = Vec::new();
    let mut pixels = Vec::new();
    for index in 0..count {
        let encoding = kinds[index % kinds.len()];
        let data_at = 2880 * (1 + index as u64 % 3);
        let mut file = vec![0xA5_u8; data_at as usize];
        let mut plane = Vec::new();
        for _ in 0..width * height {
            let raw = dice.next();
            let stored = match encoding.bitpix {
                Bitpix::F32 if raw.is_multiple_of(11) => f32::NAN.to_be_bytes().to_vec(),
                Bitpix::F32 => ((raw % 4001) as f32 * 0.25 - 300.0).to_be_bytes().to_vec(),
                Bitpix::F64 => ((raw % 4001) as f64 * 0.1 - 200.0).to_be_bytes().to_vec(),
                _ => raw.to_be_bytes()[..encoding.bitpix.size()].to_vec(),
            };
            let mut value = [0.0];
            encoding.decode_f64(&stored, &mut value);
            plane.push(value[0]);
            file.extend(stored);
        }
        images.push(image(
            &format!("exposure {index}"),
            width,
            height,
            encoding,
            data_at,
        ));
        bytes.push(file);
        pixels.push(plane);
    }
    let stack = Stack::open(images, Rules::default()).unwrap();
    Files {
        stack,
        bytes,
        pixels,
    }
}

pub(crate) fn image(
    name: &str,
    width: u32,
    height: u32,
    encoding: Encoding,
    data_at: u64,
) -> Image {
    Image {
        file: name.to_owned(),
        hdu: 0,
        name: None,
        ver: 1,
        encoding,
        width,
        height,
        planes: 1,
        plane: 0,
        data_at,
        unit: None,
        wcs: None,
        cards: Vec::new(),
        notes: Vec::new(),
        mask: None,
    }
}

/// How a driver behaves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Feeding {
    /// Bytes a piece.
    pub(crate) piece: usize,
    /// Whether fetches arrive in another order than they were asked for.
    pub(crate) shuffled: bool,
}

/// Result of a whole run: values as f64 (f32 ones widened exactly), counts, and what was read.
pub(crate) struct Outcome {
    pub(crate) values: Vec<f64>,
    pub(crate) count: Vec<u16>,
    pub(crate) requests: u64,
    pub(crate) payload: u64,
    pub(crate) peak: u64,
    pub(crate) read: Vec<(u32, u64, u64)>,
    pub(crate) plan: Plan,
}

/// Runs the median of a stack held in memory, as a driver would.
pub(crate) fn run(files: &Files, wish: &Wish, feeding: Feeding) -> Outcome {
    run_of::<Kernel>(files, wish, feeding)
}

/// [`run`] of whatever is made of the values of a pixel.
pub(crate) fn run_of<S: Statistic>(files: &Files, wish: &Wish, feeding: Feeding) -> Outcome {
    let plan = Plan::new(&files.stack, wish).unwrap();
    let mut job = StackJob::<S>::new(&files.stack, plan.clone()).unwrap();
    let (width, height) = (plan.width() as usize, plan.height() as usize);
    let mut out = Outcome {
        values: vec![f64::INFINITY; width * height],
        count: vec![u16::MAX; width * height],
        requests: 0,
        payload: 0,
        peak: 0,
        read: Vec::new(),
        plan,
    };
    let mut dice = Dice(0x5EED);
    let mut waiting: Vec<Fetch> = Vec::new();
    loop {
        while waiting.len() < wish.in_flight as usize {
            let Some(fetch) = job.next() else { break };
            waiting.push(fetch);
        }
        if let Some(section) = job.ready().unwrap() {
            let rect = out.plan.rect;
            for row in 0..section.rows as usize {
                let y = ((section.y0 - rect.y0) / section.step) as usize + row;
                let x = ((section.x0 - rect.x0) / section.step) as usize;
                for column in 0..section.width as usize {
                    let from = row * section.width as usize + column;
                    out.values[y * width + x + column] = match section.values {
                        Values::F32(values) => f64::from(values[from]),
                        Values::F64(values) => values[from],
                    };
                    out.count[y * width + x + column] = section.count[from];
                }
            }
            continue;
        }
        if job.is_done() {
            break;
        }
        assert!(
            !waiting.is_empty(),
            "the job waits for bytes that it did not ask for"
        );
        let index = if feeding.shuffled {
            dice.below(waiting.len())
        } else {
            0
        };
        let fetch = waiting.remove(index);
        feed(&mut job, files, &fetch, feeding, &mut out);
    }
    assert!(waiting.is_empty() && job.next().is_none());
    out.peak = job.peak();
    out
}

fn feed<S: Statistic>(
    job: &mut StackJob<S>,
    files: &Files,
    fetch: &Fetch,
    feeding: Feeding,
    out: &mut Outcome,
) {
    for (index, read) in fetch.reads.iter().enumerate() {
        out.requests += 1;
        out.payload += read.len();
        out.read
            .push((fetch.source, read.range.start, read.range.end));
        let file = &files.bytes[fetch.source as usize];
        let body = &file[read.range.start as usize..read.range.end as usize];
        if feeding.piece == usize::MAX {
            job.feed(fetch.slot, index, 0, body.len(), |place| {
                place.copy_from_slice(body);
            })
            .unwrap();
            continue;
        }
        for (at, piece) in body.chunks(feeding.piece).enumerate() {
            let at = (at * feeding.piece) as u64;
            job.feed(fetch.slot, index, at, piece.len(), |place| {
                place.copy_from_slice(piece);
            })
            .unwrap();
        }
    }
    job.complete(fetch.slot).unwrap();
}

/// The median by sorting, in f64 from values that f32 holds exactly, rounded as the result is.
pub(crate) fn naive(files: &Files, x: usize, y: usize) -> (f64, u16) {
    let at = y * files.stack.width as usize + x;
    let mut values: Vec<f64> = files
        .pixels
        .iter()
        .map(|plane| plane[at])
        .filter(|v| !v.is_nan())
        .collect();
    values.sort_by(f64::total_cmp);
    let k = values.len();
    let median = match k {
        0 => f64::NAN,
        _ if k % 2 == 1 => values[k / 2],
        _ if files.stack.wide => (values[k / 2 - 1] + values[k / 2]) * 0.5,
        _ => f64::from((values[k / 2 - 1] as f32 + values[k / 2] as f32) * 0.5),
    };
    (median, k as u16)
}

/// Bits of a result, so that two runs can be compared exactly.
pub(crate) fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// The oracle of the median for a whole plan.
pub(crate) fn expected(files: &Files, plan: &Plan) -> (Vec<u64>, Vec<u16>) {
    expected_of(files, plan, naive)
}

/// An oracle for a whole plan.
pub(crate) fn expected_of(
    files: &Files,
    plan: &Plan,
    oracle: impl Fn(&Files, usize, usize) -> (f64, u16),
) -> (Vec<u64>, Vec<u16>) {
    let step = plan.step as usize;
    let (mut values, mut count) = (Vec::new(), Vec::new());
    for y in (plan.rect.y0 as usize..plan.rect.y1 as usize).step_by(step) {
        for x in (plan.rect.x0 as usize..plan.rect.x1 as usize).step_by(step) {
            let (value, k) = oracle(files, x, y);
            // A zero is always positive and a NaN always the same.
            values.push(if value == 0.0 { 0.0_f64 } else { value }.to_bits());
            count.push(k);
        }
    }
    (values, count)
}

/// Plain f32 pixels.
pub(crate) fn plain() -> Encoding {
    Encoding::plain(Bitpix::F32)
}

/// A wish for every `step`-th pixel of a part of an image of 333 columns and 41 rows or more.
pub(crate) fn part_of(step: u32, latency: f64) -> Wish {
    Wish {
        step,
        latency,
        rect: Some(Rect {
            x0: 5,
            y0: 3,
            x1: 300,
            y1: 40,
        }),
        ..Wish::default()
    }
}

/// A wish with this budget.
pub(crate) fn memory(bytes: u64) -> Wish {
    Wish {
        memory: bytes,
        ..Wish::default()
    }
}
