//! Answers about stores of ions, against the core's own calls and against scans of all peaks.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::float_cmp,
    dead_code,
    reason = "a test may stop at the first surprise; exact numbers are meant; shared cases are used in part"
)]

mod api_answer_cases;
mod ion_cases;

use api_answer_cases::{Feeding, Files, Sample, WHOLE, open};
use ion_cases::Sample as Peaks;
use sectile::api::Limits;
use sectile::api::layer::{Given, Layer};
use sectile::budget::Budget;
use sectile::fits::pixel::{Bitpix, Encoding};
use sectile::ion::isotope::{Analyzer, Generation, Instrument, Patterns};
use sectile::ion::normalise::{Normalise, Norms};
use sectile::ion::window::Window;
use sectile::png;
use sectile::raster::plane::{Range, flip};
use sectile::raster::pyramid::Pyramid;
use sectile::store::head::Real;
use sectile::store::{BinTable, PixelTable};

const ENTRY: &str =
    r#"{"type":"ions","store":"tissue.sectile","analyzer":"tof","resolving_power":70000}"#;

fn dataset(size: [u32; 3], per_pixel: usize) -> (Peaks, Sample) {
    let peaks = Peaks::random(7, size, per_pixel, [Real::F64, Real::F32]);
    let files = Files {
        names: vec!["tissue.sectile".to_owned()],
        bytes: vec![peaks.store()],
    };
    (peaks, open(ENTRY, files))
}

/// An image by a scan over all peaks.
fn scanned(peaks: &Peaks, mz: f64, tol: f64) -> Vec<f32> {
    let (bits, _) = peaks.scan(Window::ppm(mz, tol).unwrap(), 0);
    bits.into_iter().map(f32::from_bits).collect()
}

fn bits(values: &[f32]) -> Vec<u32> {
    ion_cases::bits(values)
}

/// The values of a FITS file.
fn values(file: &[u8], count: usize) -> Vec<f32> {
    let end = file
        .chunks(80)
        .position(|card| card.starts_with(b"END "))
        .unwrap();
    let data = ((end + 1) * 80).next_multiple_of(2880);
    let mut values = vec![0.0; count];
    let encoding = Encoding::plain(Bitpix::F32);
    assert_eq!(encoding.decode_f32(&file[data..], &mut values), count);
    values
}

/// A tile of rows that come from the top, by way of the pyramid's own rendering.
fn tile(image: &[f32], size: (u32, u32), at: (u32, u32, u32), edge: u32) -> Vec<u16> {
    let pyramid = Pyramid::new(size.0, size.1, edge).unwrap();
    let rect = pyramid.tile_rect(at.0, at.1, at.2).unwrap();
    let mut fits = image.to_vec();
    flip(&mut fits, size.0 as usize);
    let part: Vec<f32> = (rect.y0..rect.y1)
        .flat_map(|y| {
            fits[(y * size.0 + rect.x0) as usize..(y * size.0 + rect.x1) as usize].to_vec()
        })
        .collect();
    // The scale is that of the shrunk values: found by rendering, and checked against the picture's own.
    let shrunk = shrunk(&part, rect.width(), pyramid.levels() - 1 - at.0);
    let mut range = Range::new();
    range.see(&shrunk);
    pyramid.render(at, &part, &range.scale()).unwrap()
}

fn shrunk(part: &[f32], width: u32, halvings: u32) -> Vec<f32> {
    let mut rows = part.to_vec();
    flip(&mut rows, width as usize);
    let mut width = width as usize;
    for _ in 0..halvings {
        let height = rows.len() / width;
        let mut out = Vec::new();
        for (y, x) in (0..height)
            .step_by(2)
            .flat_map(|y| (0..width).step_by(2).map(move |x| (y, x)))
        {
            let square = [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(dx, dy)| (x + dx, y + dy));
            let inside = square.iter().filter(|(x, y)| *x < width && *y < height);
            let all: Vec<f64> = inside
                .map(|(x, y)| f64::from(rows[y * width + x]))
                .filter(|v| !v.is_nan())
                .collect();
            out.push((all.iter().sum::<f64>() / all.len() as f64) as f32);
        }
        (rows, width) = (out, width.div_ceil(2));
    }
    rows
}

#[test]
fn images_are_those_of_a_scan() {
    let size = (300, 270);
    let (peaks, sample) = dataset([size.0, size.1, 1], 3);
    let image = scanned(&peaks, 500.0, 400.0);
    let layer = "mz-500.0000";
    let query = "tol=400ppm";
    let pyramid = Pyramid::new(size.0, size.1, 256).unwrap();
    for z in 0..pyramid.levels() {
        let (columns, rows) = pyramid.tiles(z).unwrap();
        for (x, y) in (0..columns).flat_map(|x| (0..rows).map(move |y| (x, y))) {
            let got = sample.get(&format!("{layer}/{z}/{x}/{y}.png?{query}"));
            let picture = png::decode(&got.reply.body, 1 << 24).unwrap();
            assert!(
                picture.codes == tile(&image, size, (z, x, y), 256),
                "{z}/{x}/{y}"
            );
            assert!(got.requests <= 1);
        }
    }
    let got = sample.get(&format!("{layer}.fits?bbox=10,20,200,251&{query}"));
    let wanted: Vec<f32> = (20..251)
        .flat_map(|y| image[y * 300 + 10..y * 300 + 200].to_vec())
        .collect();
    assert_eq!(bits(&values(&got.reply.body, wanted.len())), bits(&wanted));
    let header = String::from_utf8_lossy(&got.reply.body[..5760.min(got.reply.body.len())]);
    assert!(header.contains("the first row of this file is the TOP one"));
    let got = sample.get(&format!("{layer}.png?{query}"));
    let picture = png::decode(&got.reply.body, 1 << 24).unwrap();
    let mut range = Range::new();
    range.see(&image);
    let codes: Vec<u16> = image
        .iter()
        .map(|v| range.scale().code(f64::from(*v)))
        .collect();
    assert!(picture.codes == codes);
    for (x, y) in [(0, 0), (299, 269), (10, 200), (250, 3)] {
        let json = sample.get(&format!("{layer}/point/{x},{y}?{query}")).json();
        let value = image[y * 300 + x];
        assert_eq!(
            json["value"].as_f64(),
            (!value.is_nan()).then(|| f64::from(value))
        );
        assert_eq!(
            (json["mz"].as_f64(), json["unit"].is_null()),
            (Some(500.0), true)
        );
        assert!(json.get("count").is_none());
    }
    let json = sample.get(&format!("{layer}/statistics?{query}")).json();
    let nan = image.iter().filter(|value| value.is_nan()).count();
    assert_eq!(json["nodata"], nan);
    assert_eq!(
        json["sum"].as_f64().unwrap(),
        image
            .iter()
            .filter(|v| !v.is_nan())
            .map(|v| f64::from(*v))
            .sum::<f64>()
    );
}

#[test]
fn norms_take_one_read_more() {
    let (peaks, sample) = dataset([60, 50, 2], 20);
    let file = &sample.files.bytes[0];
    let head = ion_cases::head(file);
    let range = head.layout.pixel_table();
    let bytes = &file[range.start as usize..range.end as usize];
    for kind in [Normalise::Tic, Normalise::Rms] {
        let table = PixelTable::parse(&head, bytes, &mut Budget::new(u64::MAX)).unwrap();
        let norms = Norms::of(table, kind).unwrap().unwrap();
        let mut image = scanned(&peaks, 300.0, 900.0);
        norms.apply(0, &mut image).unwrap();
        let got = sample.get(&format!("mz-300.fits?tol=900ppm&norm={kind}"));
        assert_eq!(bits(&values(&got.reply.body, image.len())), bits(&image));
        assert_eq!(got.requests, 2);
        let part = sample.get(&format!(
            "mz-300.fits?tol=900ppm&norm={kind}&bbox=7,9,31,10"
        ));
        assert_eq!(
            bits(&values(&part.reply.body, 24)),
            bits(&image[9 * 60 + 7..9 * 60 + 31])
        );
        assert_eq!(
            (got.bytes, got.requests),
            (got.ticket.cost.bytes, got.ticket.cost.requests)
        );
    }
}

#[test]
fn an_ion_is_drawn_at_the_peaks_of_its_pattern() {
    let (_, sample) = dataset([20, 20, 1], 30);
    let instrument = Instrument::new(Analyzer::Tof, 70_000.0).unwrap();
    for (name, charge, whole) in [("C6H12O6+Na", 1, "C6H12O6Na"), ("C6H12O6-H", -1, "C6H11O6")] {
        let mut patterns = Patterns::new(instrument, Generation::Current, charge).unwrap();
        let pattern = patterns
            .pattern(&sectile::ion::formula::Composition::parse(whole).unwrap())
            .unwrap();
        for isotope in 0..usize::from(pattern.peaks) {
            let json = sample
                .get(&format!("{name}/point/3,3?isotope={isotope}"))
                .json();
            assert_eq!(json["mz"].as_f64(), Some(pattern.mz[isotope]));
        }
    }
    let problem = sample
        .ticket("H+H/0/0/0.png?isotope=3", &Limits::default())
        .unwrap_err();
    assert_eq!((problem.status, problem.code), (404, "layer"));
    let problem = sample
        .ticket("median/0/0/0.png", &Limits::default())
        .unwrap_err();
    assert_eq!(problem.status, 404);
    assert!(problem.detail.contains("mz-"), "{problem}");
    assert!(Layer::parse("median", &Given::default()).is_ok());
}

#[test]
fn spectra_are_those_of_the_dataset() {
    let (peaks, sample) = dataset([12, 9, 1], 40);
    for (x, y) in [(0, 0), (11, 8), (9, 1), (4, 4)] {
        let got = sample.get(&format!("spectrum?x={x}&y={y}"));
        let json = got.json();
        let here: Vec<_> = peaks
            .peaks
            .iter()
            .filter(|peak| peak.pixel == y * 12 + x)
            .collect();
        let list = |name: &str| -> Vec<f64> {
            json[name]
                .as_array()
                .unwrap()
                .iter()
                .map(|v| v.as_f64().unwrap())
                .collect()
        };
        assert_eq!(
            list("mz"),
            here.iter().map(|peak| peak.mz).collect::<Vec<_>>()
        );
        assert_eq!(
            list("intensity"),
            here.iter().map(|peak| peak.intensity).collect::<Vec<_>>()
        );
        assert_eq!(json["acquired"], peaks.acquired[(y * 12 + x) as usize]);
        assert_eq!(got.bytes, got.ticket.cost.bytes);
    }
    let got = sample.get("spectrum");
    let file = &sample.files.bytes[0];
    let head = ion_cases::head(file);
    let bins = &head.layout.bins;
    let bytes = &file[bins.range().start as usize..bins.range().end as usize];
    let table = BinTable::parse(&head, bytes, &mut Budget::new(u64::MAX)).unwrap();
    let json = got.json();
    for (at, (mz, mean, max)) in table.filled(bins).enumerate() {
        assert_eq!(json["mz"][at].as_f64(), Some(mz));
        assert_eq!(json["mean"][at].as_f64(), Some(f64::from(mean)));
        assert_eq!(json["max"][at].as_f64(), Some(f64::from(max)));
    }
    assert_eq!(
        json["mz"].as_array().unwrap().len(),
        table.filled(bins).count()
    );
    assert_eq!((got.requests, got.bytes), (1, bytes.len() as u64));
    assert!(got.peak <= got.ticket.cost.peak_bytes);
}

#[test]
fn any_memory_and_any_pieces_give_the_same_bytes() {
    let (_, sample) = dataset([100, 100, 1], 40);
    for target in [
        "mz-400/0/0/0.png?tol=1000ppm",
        "mz-400.fits?tol=1000ppm&norm=tic",
        "mz-400/statistics?norm=rms&tol=1000ppm",
        "spectrum?x=1&y=99",
        "spectrum",
    ] {
        let usual = sample.get(target);
        let least = Limits {
            memory: 0,
            ..Limits::default()
        };
        let least = sample
            .ticket(target, &least)
            .unwrap()
            .unwrap()
            .cost
            .peak_bytes;
        for (memory, piece) in [
            (least, usize::MAX),
            (least + (256 << 10), 1),
            (64 << 20, 4099),
        ] {
            if target.starts_with("spectrum?") && memory == least {
                // The peaks of a pixel are not known before.
                continue;
            }
            let limits = Limits {
                memory,
                ..Limits::default()
            };
            let got = sample.get_within(
                target,
                &limits,
                Feeding {
                    piece,
                    shuffled: false,
                },
            );
            assert!(got.reply == usual.reply, "{target} in {memory}");
            assert!(got.peak <= memory, "{target}: {} of {memory}", got.peak);
            assert_eq!(got.bytes, got.ticket.cost.bytes);
        }
        let shuffled = Feeding {
            piece: usize::MAX,
            shuffled: true,
        };
        assert_eq!(
            sample
                .get_within(target, &Limits::default(), shuffled)
                .reply,
            usual.reply
        );
    }
}

#[test]
fn too_much_is_said_before_a_byte_is_read() {
    let (_, sample) = dataset([50, 50, 1], 40);
    let whole = sample.files.bytes[0].len() as u64;
    let few = Limits {
        bytes: whole / 8,
        ..Limits::default()
    };
    let ticket = sample.ticket("spectrum?x=1&y=49", &few).unwrap().unwrap();
    let problem = few.check(&ticket.cost).unwrap_err();
    assert_eq!(
        (problem.status, &problem.extra["plan"]["bytes"]),
        (413, &ticket.cost.bytes.into())
    );
    assert!(
        few.check(
            &sample
                .ticket("mz-400/0/0/0.png", &few)
                .unwrap()
                .unwrap()
                .cost
        )
        .is_ok()
    );
    assert_eq!(sample.get("mz-4000/0/0/0.png").requests, 0);
    assert_eq!(sample.cost.0, 1);
    let _ = WHOLE;
}

#[test]
fn a_damaged_block_is_an_error_that_names_the_store() {
    let (_, mut sample) = dataset([30, 30, 1], 40);
    let head = ion_cases::head(&sample.files.bytes[0]);
    let at = head.block_range(0).start as usize + 40;
    sample.files.bytes[0][at] ^= 0x10;
    let ticket = sample
        .ticket("mz-150/0/0/0.png?tol=1000ppm", &Limits::default())
        .unwrap()
        .unwrap();
    let mut answer = ticket.start(&sample.opened, 16 << 20).unwrap();
    let error = api_answer_cases::drive(&mut answer, &sample.files, WHOLE).unwrap_err();
    assert!(error.to_string().contains("tissue.sectile"), "{error}");
    assert_eq!(sectile::api::Problem::from(error).status, 500);
}
