//! CPU time of packing, one JSON object a line: `cargo bench --bench pack -- [peaks per spectrum] [MiB,MiB,…]`.
//!
//! 100×100 spectra of f64 m/z and f32 intensities, made by a generator with a fixed seed; all files are in
//! memory. Times are those of the job alone, by phase; "bring" is what it takes to copy the bytes that
//! it asks for, and to keep what it puts. On Linux it is the thread's time on the processor, elsewhere
//! the clock's.

#![allow(
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::unchecked_time_subtraction,
    reason = "a bench may stop at once, and its figures are rounded anyway"
)]

use std::time::{Duration, Instant};

use sectile::imzml::Dataset;
use sectile::imzml::dataset::{
    Array, Compression, Grid, Number, Polarity, Representation, Spectrum,
};
use sectile::ion::pack::job::{File, PackJob};
use sectile::ion::pack::plan::{Plan, Wish};
use sectile::ion::pack::report::Phase;
use sectile::job::Job;

const SIDE: u32 = 100;
const LINES: usize = 500;

fn main() {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with('-'))
        .collect();
    let points = arguments.first().map_or(2000, |text| text.parse().unwrap());
    let budgets = arguments.get(1).map_or("64", String::as_str);
    let (dataset, ibd) = generate(points);
    for budget in budgets.split(',') {
        measure(&dataset, &ibd, budget.parse::<u64>().unwrap() << 20);
    }
}

fn measure(dataset: &Dataset, ibd: &[u8], memory: u64) {
    let wish = Wish {
        memory,
        ..Wish::default()
    };
    let plan = Plan::new(dataset, &wish).unwrap();
    let mut job = PackJob::new(dataset.clone(), plan.clone(), None).unwrap();
    let (mut spill, mut store) = (Vec::new(), Vec::new());
    let (mut reading, mut sorting, mut bringing) = (Duration::ZERO, Duration::ZERO, Duration::ZERO);
    let mut puts = 0;
    while !job.is_done() {
        let start = now();
        while let Some(fetch) = job.next() {
            let mut buffer = job.lend(&fetch);
            let source: &[u8] = if fetch.source == 0 { ibd } else { &spill };
            for read in &fetch.reads {
                let range = read.range.start as usize..read.range.end as usize;
                let to = read.at..read.at + read.len() as usize;
                buffer[to].copy_from_slice(&source[range]);
            }
            job.filled(&fetch, buffer).unwrap();
        }
        let brought = now();
        bringing += brought - start;
        let phase = job.progress().phase;
        let put = job.ready().unwrap();
        let worked = now();
        if let Some(put) = put {
            puts += 1;
            let to = match put.file {
                File::Spill => &mut spill,
                File::Store => &mut store,
                File::State => continue,
            };
            let (at, end) = (put.at as usize, put.at as usize + put.bytes.len());
            to.resize(to.len().max(end), 0);
            to[at..end].copy_from_slice(put.bytes);
        }
        bringing += now() - worked;
        match phase {
            Phase::Read => reading += worked - brought,
            Phase::Sort | Phase::Done => sorting += worked - brought,
        }
    }
    let report = job.report().unwrap();
    let each = |time: Duration| time.as_nanos() as f64 / report.peaks as f64;
    println!(
        r#"{{"target":"native","bench":"pack","mib":{},"peaks":{},"partitions":{},"puts":{puts},"read_ns":{:.1},"sort_ns":{:.1},"bring_ns":{:.1},"ns_per_peak":{:.1},"m_peaks_per_s":{:.2},"peak_bytes":{},"store_bytes_per_peak":{:.3}}}"#,
        memory >> 20,
        report.peaks,
        plan.partitions,
        each(reading),
        each(sorting),
        each(bringing),
        each(reading + sorting),
        1e3 / each(reading + sorting),
        job.peak(),
        report.store_bytes as f64 / report.peaks as f64,
    );
}

/// Time that this thread has had a processor, where the system tells; else the clock's.
fn now() -> Duration {
    let tell = || {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        let nanoseconds = text.split_whitespace().next()?.parse().ok()?;
        Some(Duration::from_nanos(nanoseconds))
    };
    tell().unwrap_or_else(|| {
        static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
        START.get_or_init(Instant::now).elapsed()
    })
}

/// Spectra of `points` peaks: two thirds near one of the lines, with an error of 1 ppm, the rest
/// anywhere.
fn generate(points: usize) -> (Dataset, Vec<u8>) {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut share = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let lines: Vec<f64> = (0..LINES).map(|_| 100.0 + 900.0 * share()).collect();
    let mut ibd = vec![0; 16];
    let mut spectra = Vec::new();
    let mut mz = vec![0.0; points];
    for n in 0..SIDE * SIDE {
        for value in &mut mz {
            let line = lines[(share() * LINES as f64) as usize];
            let bell = share() + share() + share() - 1.5;
            *value = if share() < 2.0 / 3.0 {
                line * (1.0 + 2e-6 * bell)
            } else {
                100.0 + 900.0 * share()
            };
        }
        mz.sort_unstable_by(f64::total_cmp);
        let array = |at: usize, number: Number| Array {
            at: at as u64,
            bytes: (points as u64 * number.size()) as u32,
            len: points as u32,
            number,
            compression: Compression::None,
        };
        let own = array(ibd.len(), Number::F64);
        ibd.extend(mz.iter().flat_map(|value| value.to_le_bytes()));
        let intensities = array(ibd.len(), Number::F32);
        for _ in 0..points {
            let bell: f64 = (0..6).map(|_| share()).sum::<f64>() - 3.0;
            ibd.extend(((6.0 + 1.5 * bell).exp() as f32).to_le_bytes());
        }
        let position = [(n % SIDE) as i32 + 1, (n / SIDE) as i32 + 1, 1];
        let (polarity, kind) = (Polarity::Positive, Representation::Centroid);
        spectra.push(Spectrum::new(own, intensities, position, polarity, kind));
    }
    let dataset = Dataset {
        file: "generated.imzML".to_owned(),
        ibd: None,
        spectra,
        grid: Grid {
            x0: 1,
            y0: 1,
            width: SIDE,
            height: SIDE,
            slices: vec![1],
        },
        pixel_size: [Some(50.0); 2],
        polarity: Polarity::Positive,
        representation: Representation::Centroid,
        mode: None,
        uuid: None,
        checksum: None,
        instrument: None,
        duplicates: 0,
        warnings: Vec::new(),
    };
    (dataset, ibd)
}
