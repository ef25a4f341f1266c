//! Answers about stacks, against the core's own calls and against their definitions.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    clippy::float_cmp,
    dead_code,
    reason = "a test may stop at the first surprise; exact numbers are meant; shared cases are used in part"
)]

mod api_answer_cases;

use api_answer_cases::{Dice, Feeding, Got, Sample, WHOLE, stack};
use sectile::api::Limits;
use sectile::api::opened::Opened;
use sectile::error::Result;
use sectile::fits::pixel::{Bitpix, Encoding};
use sectile::fits::walk::Walk;
use sectile::fits::{Image, hdu::Selection};
use sectile::job::{Machine, Step};
use sectile::png;
use sectile::raster::plane::{Range, Scale};
use sectile::raster::pyramid::Pyramid;
use sectile::raster::stretch::{self, Grid};

const F32: Encoding = Encoding {
    bitpix: Bitpix::F32,
    bscale: 1.0,
    bzero: 0.0,
    blank: None,
};
const F64: Encoding = Encoding {
    bitpix: Bitpix::F64,
    ..F32
};
const I16: Encoding = Encoding {
    bitpix: Bitpix::I16,
    bzero: 32_768.0,
    ..F32
};

/// Every exposure's values, row 0 first.
fn planes(sample: &Sample) -> Vec<Vec<f64>> {
    let Opened::Stack { images, .. } = &sample.opened else {
        panic!("no stack");
    };
    let planes = images.iter().zip(&sample.files.bytes);
    planes
        .map(|(image, file)| {
            let mut values = vec![0.0; (image.width * image.height) as usize];
            let data = &file[image.data_at as usize..];
            image.encoding.decode_f64(data, &mut values);
            values
        })
        .collect()
}

/// The median of a pixel and the number of values, by their definition; f32 where `narrow`.
fn median(mut values: Vec<f64>, narrow: bool) -> (f64, u16) {
    values.retain(|value| !value.is_nan());
    values.sort_by(f64::total_cmp);
    let count = values.len();
    let middle = match count {
        0 => f64::NAN,
        _ if count % 2 == 1 => values[count / 2],
        _ if narrow => f64::from((values[count / 2 - 1] as f32 + values[count / 2] as f32) * 0.5),
        _ => (values[count / 2 - 1] + values[count / 2]) * 0.5,
    };
    (middle + 0.0, count as u16)
}

/// Medians and counts of the whole image.
fn medians(sample: &Sample, narrow: bool) -> (Vec<f64>, Vec<f64>) {
    let planes = planes(sample);
    (0..planes[0].len())
        .map(|pixel| {
            let values = planes.iter().map(|plane| plane[pixel]).collect();
            let (value, count) = median(values, narrow);
            (value, f64::from(count))
        })
        .unzip()
}

/// The root mean square deviations from the mean, by their definition; f32 where `narrow`.
fn scatter(sample: &Sample, narrow: bool) -> Vec<f64> {
    let planes = planes(sample);
    let stored = |value: f64| {
        if narrow {
            f64::from(value as f32)
        } else {
            value
        }
    };
    let rms = |pixel: usize| {
        let values = planes.iter().map(|plane| stored(plane[pixel]));
        let values: Vec<f64> = values.filter(|value| !value.is_nan()).collect();
        let number = values.len() as f64;
        let mean = values.iter().fold(0.0, |sum, value| sum + value) / number;
        let squares = values.iter().map(|value| (value - mean) * (value - mean));
        stored((squares.fold(0.0, |sum, square| sum + square) / number).sqrt())
    };
    (0..planes[0].len()).map(rms).collect()
}

fn bits(values: &[f64]) -> Vec<u64> {
    let plain = |value: &f64| if value.is_nan() { f64::NAN } else { *value };
    values.iter().map(|value| plain(value).to_bits()).collect()
}

/// The values of a rectangle of a plane.
fn part(plane: &[f64], width: usize, [x0, y0, x1, y1]: [usize; 4]) -> Vec<f64> {
    (y0..y1)
        .flat_map(|y| plane[y * width + x0..y * width + x1].to_vec())
        .collect()
}

/// Halves rows that come from the top, by the definition.
fn halved(plane: &[f64], width: usize, narrow: bool) -> (Vec<f64>, usize) {
    let height = plane.len() / width;
    let mut out = Vec::new();
    for y in (0..height).step_by(2) {
        for x in (0..width).step_by(2) {
            let square = [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(dx, dy)| (x + dx, y + dy));
            let inside = square.iter().filter(|(x, y)| *x < width && *y < height);
            let values = inside.map(|(x, y)| plane[y * width + x]);
            let values: Vec<f64> = values.filter(|value| !value.is_nan()).collect();
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            out.push(if narrow { f64::from(mean as f32) } else { mean });
        }
    }
    (out, width.div_ceil(2))
}

/// A tile by its definition, as a picture with its scale.
fn tile(
    plane: &[f64],
    (width, height): (u32, u32),
    at: (u32, u32, u32),
    edge: u32,
    narrow: bool,
) -> (Vec<u16>, Scale) {
    let pyramid = Pyramid::new(width, height, edge).unwrap();
    let rect = pyramid.tile_rect(at.0, at.1, at.2).unwrap();
    let rect = [rect.x0, rect.y0, rect.x1, rect.y1].map(|n| n as usize);
    let values = part(plane, width as usize, rect);
    let mut rows: Vec<&[f64]> = values.chunks(rect[2] - rect[0]).collect();
    rows.reverse();
    let (mut level, mut side) = (rows.concat(), rect[2] - rect[0]);
    for _ in at.0 + 1..pyramid.levels() {
        (level, side) = halved(&level, side, narrow);
    }
    let mut range = Range::new();
    range.see(&level);
    let scale = range.scale();
    let mut codes = vec![0; (edge * edge) as usize];
    for (at, value) in level.iter().enumerate() {
        codes[at / side * edge as usize + at % side] = scale.code(*value);
    }
    (codes, scale)
}

fn check_picture(got: &Got, size: (u32, u32), codes: &[u16], scale: Scale, unit: &str) {
    let picture = png::decode(&got.reply.body, 1 << 24).unwrap();
    assert_eq!((picture.width, picture.height), size);
    assert!(picture.codes == codes, "codes differ");
    assert_eq!(got.header("Content-Type"), "image/png");
    assert_eq!(got.header("X-BZERO").parse(), Ok(scale.bzero));
    assert_eq!(got.header("X-BSCALE").parse(), Ok(scale.bscale));
    assert_eq!(got.header("X-BLANK"), "0");
    assert_eq!(got.header("X-BUNIT"), unit);
    let text = |name: &str| {
        let mut text = picture.text.iter();
        text.find(|(key, _)| key == name)
            .map_or("", |(_, value)| value.as_str())
            .to_owned()
    };
    assert_eq!(text("BZERO").parse(), Ok(scale.bzero));
    assert_eq!(text("BSCALE").parse(), Ok(scale.bscale));
    assert_eq!(text("BUNIT"), unit);
    assert_eq!(got.header("ETag"), got.ticket.etag);
}

#[test]
fn tiles_of_every_level_are_those_of_the_definition() {
    for (kinds, narrow) in [(&[F32, I16][..], true), (&[F32, F64], false)] {
        let size = (700, 530);
        let sample = stack(5, size, kinds);
        let (values, counts) = medians(&sample, narrow);
        let scatter = scatter(&sample, narrow);
        for (edge, query) in [(256, ""), (512, "?tile=512")] {
            let pyramid = Pyramid::new(size.0, size.1, edge).unwrap();
            for z in 0..pyramid.levels() {
                let (columns, rows) = pyramid.tiles(z).unwrap();
                for (x, y) in (0..columns).flat_map(|x| (0..rows).map(move |y| (x, y))) {
                    let got = sample.get(&format!("median/{z}/{x}/{y}.png{query}"));
                    let (codes, scale) = tile(&values, size, (z, x, y), edge, narrow);
                    check_picture(&got, (edge, edge), &codes, scale, "DN/s");
                    assert_eq!(got.requests, 5);
                }
                let got = sample.get(&format!("rms/{z}/0/0.png{query}"));
                let (codes, scale) = tile(&scatter, size, (z, 0, 0), edge, narrow);
                check_picture(&got, (edge, edge), &codes, scale, "DN/s");
                assert_eq!(got.requests, 5);
                let got = sample.get(&format!("count/{z}/0/0.png{query}"));
                let (codes, scale) = tile(&counts, size, (z, 0, 0), edge, true);
                check_picture(&got, (edge, edge), &codes, scale, "");
            }
        }
    }
}

#[test]
fn alpha_says_where_data_are() {
    let sample = stack(3, (40, 30), &[F32]);
    let plain = png::decode(&sample.get("median/0/0/0.png").reply.body, 1 << 24).unwrap();
    let got = sample.get("median/0/0/0.png?alpha=1");
    let picture = png::decode(&got.reply.body, 1 << 24).unwrap();
    assert_eq!(picture.codes, plain.codes);
    let alpha = picture.alpha.unwrap();
    assert!(
        alpha
            .iter()
            .zip(&picture.codes)
            .all(|(alpha, code)| (*alpha == 0) == (*code == 0))
    );
    assert_ne!(got.ticket.etag, sample.get("median/0/0/0.png").ticket.etag);
}

#[test]
fn a_frame_is_its_exposure_and_reads_nothing_else() {
    let sample = stack(3, (60, 40), &[F32, F64, I16]);
    let planes = planes(&sample);
    for (index, narrow) in [true, false, true].into_iter().enumerate() {
        let got = sample.get(&format!("frame-{}/0/0/0.png", index + 1));
        let (codes, scale) = tile(&planes[index], (60, 40), (0, 0, 0), 256, narrow);
        check_picture(&got, (256, 256), &codes, scale, "DN/s");
        assert_eq!(got.requests, 1);
        let file = image_of(&sample.get(&format!("frame-{}.fits", index + 1)).reply.body);
        assert_eq!(bits(&file.1), bits(&planes[index]));
        assert_eq!(file.0.encoding.bitpix == Bitpix::F64, !narrow);
    }
}

/// The image of a FITS file in memory, and its values.
fn image_of(file: &[u8]) -> (Image, Vec<f64>) {
    let image = walked(file).unwrap();
    let mut values = vec![0.0; (image.width * image.height) as usize];
    let decoded = image
        .encoding
        .decode_f64(&file[image.data_at as usize..], &mut values);
    assert_eq!(decoded, values.len());
    (image, values)
}

fn walked(file: &[u8]) -> Result<Image> {
    let mut walk = Walk::new("cutout.fits", Selection::Default, 0);
    loop {
        match walk.step()? {
            Step::Need(range) => {
                let end = (range.end as usize).min(file.len());
                walk.feed(
                    range.start,
                    &file[range.start as usize..end],
                    Some(file.len() as u64),
                )?;
            }
            Step::Ready(_) => {}
            Step::Done => return walk.into_image(),
        }
    }
}

fn card(file: &[u8], key: &str) -> Option<String> {
    let cards = file
        .chunks(80)
        .map(|card| String::from_utf8_lossy(card).into_owned());
    let mut found = cards
        .take_while(|card| !card.starts_with("END "))
        .filter(|card| card.starts_with(&format!("{key:8}")));
    found
        .next()
        .map(|card| card[10..].split('/').next().unwrap().trim().to_owned())
}

#[test]
fn a_cutout_is_a_fits_file_with_its_place_on_the_sky() {
    let size = (90, 50);
    let sample = stack(4, size, &[F32]);
    let (values, counts) = medians(&sample, true);
    let scatter = scatter(&sample, true);
    for [x0, y0, x1, y1] in [
        [0, 0, 90, 50],
        [7, 11, 50, 12],
        [89, 49, 90, 50],
        [3, 0, 4, 50],
    ] {
        let query = format!("?bbox={x0},{y0},{x1},{y1}");
        let got = sample.get(&format!("median.fits{query}"));
        let file = &got.reply.body;
        let (image, found) = image_of(file);
        assert_eq!((image.width, image.height), (x1 - x0, y1 - y0));
        let rect = [x0, y0, x1, y1].map(|n| n as usize);
        assert_eq!(bits(&found), bits(&part(&values, 90, rect)));
        assert_eq!(image.unit.as_deref(), Some("DN/s"));
        assert_eq!(card(file, "NCOMBINE").as_deref(), Some("4"));
        assert_eq!(
            card(file, "CRPIX1").unwrap().parse(),
            Ok(10.5 - f64::from(x0))
        );
        assert_eq!(
            card(file, "CRPIX2").unwrap().parse(),
            Ok(7.0 - f64::from(y0))
        );
        // The same pixel is the same place of the sky.
        let Opened::Stack { stack, .. } = &sample.opened else {
            panic!()
        };
        let sky = stack
            .wcs
            .as_ref()
            .unwrap()
            .pixel_to_sky(f64::from(x0), f64::from(y0))
            .unwrap();
        let there = image.wcs.unwrap().pixel_to_sky(0.0, 0.0).unwrap();
        assert!(sky.iter().zip(there).all(|(a, b)| (a - b).abs() < 1e-9));
        assert!(String::from_utf8_lossy(&file[..8640.min(file.len())]).contains("HISTORY sectile"));
        assert_eq!(got.header("Content-Type"), "image/fits");
        assert_eq!(file.len() % 2880, 0);

        let file = sample.get(&format!("rms.fits{query}")).reply.body;
        let (image, found) = image_of(&file);
        assert_eq!(bits(&found), bits(&part(&scatter, 90, rect)));
        assert_eq!(image.unit.as_deref(), Some("DN/s"));
        assert_eq!(card(&file, "NCOMBINE").as_deref(), Some("4"));

        let (image, found) = image_of(&sample.get(&format!("count.fits{query}")).reply.body);
        assert_eq!(bits(&found), bits(&part(&counts, 90, rect)));
        assert_eq!((image.encoding.bitpix, image.unit), (Bitpix::I16, None));

        let got = sample.get(&format!("median.png{query}"));
        let mut rows = part(&values, 90, rect);
        sectile::raster::plane::flip(&mut rows, (x1 - x0) as usize);
        let mut range = Range::new();
        range.see(&rows);
        let codes: Vec<u16> = rows
            .iter()
            .map(|value| range.scale().code(*value))
            .collect();
        check_picture(&got, (x1 - x0, y1 - y0), &codes, range.scale(), "DN/s");
    }
}

#[test]
fn a_point_and_a_spectrum_are_the_pixels_values() {
    for (kinds, narrow) in [(&[F32, I16][..], true), (&[F32, F64], false)] {
        let sample = stack(6, (31, 17), kinds);
        let planes = planes(&sample);
        let (values, counts) = medians(&sample, narrow);
        let scatter = scatter(&sample, narrow);
        for (x, y) in [(0, 0), (30, 16), (12, 9), (5, 16)] {
            let pixel = y * 31 + x;
            let got = sample.get(&format!("median/point/{x},{y}"));
            let json = got.json();
            assert_eq!(
                json["value"].as_f64().unwrap_or(f64::NAN).to_bits(),
                bits(&values[pixel..=pixel])[0]
            );
            assert_eq!(json["count"].as_f64(), Some(counts[pixel]));
            assert_eq!((&json["x"], &json["y"]), (&x.into(), &y.into()));
            assert_eq!(json["unit"], "DN/s");
            assert_eq!(json["sky"].as_array().unwrap().len(), 2);
            assert_eq!(got.requests, 6);
            let wanted = bits(&scatter[pixel..=pixel])[0];
            let bits_of = |json: &serde_json::Value| json.as_f64().unwrap_or(f64::NAN).to_bits();
            let json = sample.get(&format!("rms/point/{x},{y}")).json();
            assert_eq!(bits_of(&json["value"]), wanted);
            assert_eq!(json["count"].as_f64(), Some(counts[pixel]));
            let json = sample.get(&format!("spectrum?x={x}&y={y}")).json();
            assert_eq!(bits_of(&json["rms"]), wanted);
            let json = sample.get(&format!("count/point/{x},{y}")).json();
            assert_eq!(json["value"].as_f64(), Some(counts[pixel]));
            let json = sample.get(&format!("frame-2/point/{x},{y}")).json();
            assert_eq!(
                json["value"].as_f64().unwrap_or(f64::NAN).to_bits(),
                bits(&planes[1][pixel..=pixel])[0]
            );

            let got = sample.get(&format!("spectrum?x={x}&y={y}"));
            let json = got.json();
            let listed = json["values"].as_array().unwrap();
            let listed: Vec<f64> = listed
                .iter()
                .map(|v| v.as_f64().unwrap_or(f64::NAN))
                .collect();
            let wanted: Vec<f64> = planes.iter().map(|plane| plane[pixel]).collect();
            assert_eq!(bits(&listed), bits(&wanted));
            assert_eq!(
                json["median"].as_f64().unwrap_or(f64::NAN).to_bits(),
                bits(&values[pixel..=pixel])[0]
            );
            assert_eq!(json["count"].as_f64(), Some(counts[pixel]));
            assert_eq!(
                (got.requests, got.peak <= got.ticket.cost.peak_bytes),
                (6, true)
            );
        }
    }
}

#[test]
fn statistics_are_exact() {
    let size = (130, 70);
    let sample = stack(5, size, &[F32]);
    let (values, _) = medians(&sample, true);
    for [x0, y0, x1, y1] in [[0, 0, 130, 70], [2, 1, 90, 60], [5, 5, 6, 6], [0, 0, 3, 2]] {
        let got = sample.get(&format!("median/statistics?bbox={x0},{y0},{x1},{y1}"));
        let json = got.json();
        let part = part(&values, 130, [x0, y0, x1, y1]);
        let finite: Vec<f64> = part
            .iter()
            .copied()
            .filter(|value| value.is_finite())
            .collect();
        let number = |name: &str| json[name].as_f64().unwrap_or(f64::NAN);
        assert_eq!(json["valid"], finite.len());
        assert_eq!(json["nodata"], part.len() - finite.len());
        assert_eq!(json["bbox"], serde_json::json!([x0, y0, x1, y1]));
        let sum: f64 = finite.iter().sum();
        let mean = sum / finite.len() as f64;
        let square: f64 = finite.iter().map(|value| (value - mean).powi(2)).sum();
        if finite.is_empty() {
            for name in ["min", "max", "mean", "std", "sum"] {
                assert!(json[name].is_null(), "{name}");
            }
            assert!(json["percentiles"]["50"].is_null() && json["histogram"].is_null());
            assert!(json["zscale"]["low"].is_null());
            continue;
        }
        assert_eq!(number("sum"), sum);
        assert_eq!(number("mean"), mean);
        assert!((number("std") - (square / finite.len() as f64).sqrt()).abs() < 1e-9);
        let limits = stretch::min_max(&part).unwrap();
        assert_eq!((number("min"), number("max")), (limits.low, limits.high));
        for percent in [1.0, 5.0, 25.0, 50.0, 75.0, 95.0, 99.0] {
            let wanted = stretch::percentile(&part, percent).unwrap();
            assert_eq!(json["percentiles"][format!("{percent}")].as_f64(), wanted);
        }
        let grid = Grid::new(x1 - x0, y1 - y0, stretch::SAMPLES).pick(&part);
        let zscale = stretch::zscale(&grid, stretch::CONTRAST).unwrap();
        assert_eq!(json["zscale"]["low"].as_f64(), Some(zscale.low));
        assert_eq!(json["zscale"]["high"].as_f64(), Some(zscale.high));
        let bins = stretch::histogram(&part, limits, 256).unwrap().bins;
        assert_eq!(json["histogram"]["bins"], serde_json::json!(bins));
    }
}

#[test]
fn any_memory_and_any_order_of_arrival_give_the_same_bytes() {
    let sample = stack(12, (900, 700), &[F32]);
    let targets = [
        "median/0/0/0.png",
        "median/2/1/1.png",
        "count/1/0/1.png",
        "rms/1/0/1.png",
        "rms.fits?bbox=10,20,700,600",
        "median.fits?bbox=10,20,700,600",
        "median.png",
        "median/statistics",
        "median/point/77,66",
    ];
    for target in targets {
        let usual = sample.get(target);
        let mut peaks = Vec::new();
        let least = Limits {
            memory: 0,
            requests: 1 << 20,
            ..Limits::default()
        };
        let least = sample
            .ticket(target, &least)
            .unwrap()
            .unwrap()
            .cost
            .peak_bytes;
        for memory in [least, least + (least >> 2), 8 << 20, 64 << 20] {
            if memory < least {
                continue;
            }
            let limits = Limits {
                memory,
                requests: 1 << 20,
                ..Limits::default()
            };
            let shuffled = Feeding {
                piece: usize::MAX,
                shuffled: true,
            };
            let got = sample.get_within(target, &limits, shuffled);
            assert!(got.reply == usual.reply, "{target} in {memory}");
            assert!(got.peak <= memory, "{target}: {} of {memory}", got.peak);
            // The length of a header is not known before.
            let planned = got.ticket.cost.peak_bytes;
            assert!(
                got.peak <= planned && planned - got.peak < 80_000,
                "{target} in {memory}: {} of {planned}",
                got.peak
            );
            assert_eq!(
                (got.requests, got.bytes),
                (got.ticket.cost.requests, got.ticket.cost.bytes)
            );
            assert!(got.reply.body.len() as u64 <= got.ticket.cost.answer_bytes);
            peaks.push(got.peak);
        }
        assert!(peaks.len() >= 3);
        let sparing = Limits {
            memory: least - 1,
            requests: 1 << 20,
            ..Limits::default()
        };
        let ticket = sample.ticket(target, &sparing).unwrap().unwrap();
        assert_eq!(sparing.check(&ticket.cost).unwrap_err().status, 413);
        assert_eq!(
            ticket.start(&sample.opened, least / 2).unwrap_err().status,
            413
        );
    }
}

#[test]
fn a_byte_at_a_time_is_enough() {
    let sample = stack(3, (40, 30), &[F32, I16]);
    for target in [
        "median/0/0/0.png",
        "count.fits",
        "rms.fits",
        "spectrum?x=3&y=4",
        "median/statistics",
    ] {
        let drops = Feeding {
            piece: 1,
            shuffled: false,
        };
        let got = sample.get_within(target, &Limits::default(), drops);
        assert_eq!(got.reply, sample.get(target).reply);
    }
}

#[test]
fn requests_and_bytes_are_few() {
    // 12 exposures of 1000 x 800 f32: a row has 4,000 bytes.
    let sample = stack(12, (1000, 800), &[F32]);
    assert_eq!(sample.cost.0, 12);
    let pinned = [
        ("median/2/0/0.png", 12, 12 * (255 * 4000 + 256 * 4)),
        ("median/2/3/3.png", 12, 12 * (31 * 4000 + 232 * 4)),
        ("median/1/0/0.png", 12, 12 * (511 * 4000 + 512 * 4)),
        ("frame-3/2/1/1.png", 1, 255 * 4000 + 256 * 4),
        ("rms/2/0/0.png", 12, 12 * (255 * 4000 + 256 * 4)),
        ("median/point/5,6", 12, 12 * 4),
        ("spectrum?x=5&y=6", 12, 12 * 4),
        ("median.fits?bbox=0,100,1000,200", 12, 12 * 100 * 4000),
    ];
    for (target, requests, bytes) in pinned {
        let got = sample.get(target);
        assert_eq!((got.requests, got.bytes), (requests, bytes), "{target}");
    }
}

#[test]
fn a_wide_image_is_read_as_the_limits_allow() {
    // A row of 80,000 bytes: from the first row of a tile to its last are 20 MB, of which 262 KB are wanted.
    let sample = stack(2, (20_000, 260), &[F32]);
    let target = "median/7/3/0.png";
    let usual = sample.get(target);
    let span = 2 * (255 * 80_000 + 256 * 4);
    assert_eq!((usual.requests, usual.bytes), (2, span));
    let few_bytes = Limits {
        bytes: span - 1,
        ..Limits::default()
    };
    let rows = sample.get_within(target, &few_bytes, WHOLE);
    assert_eq!((rows.requests, rows.bytes), (512, 512 * 1024));
    assert_eq!(rows.reply, usual.reply);
    let neither = Limits {
        bytes: span - 1,
        requests: 511,
        ..Limits::default()
    };
    let ticket = sample.ticket(target, &neither).unwrap().unwrap();
    let problem = neither.check(&ticket.cost).unwrap_err();
    assert_eq!((problem.status, problem.code), (413, "budget"));
    assert_eq!(problem.extra["plan"]["bytes"], span);
    assert_eq!(problem.extra["limits"]["requests"], 511);
    // Where the rows take less time, they are taken unasked.
    let far = Limits {
        requests: 2,
        ..Limits::default()
    };
    assert_eq!(sample.get_within(target, &far, WHOLE).reply, usual.reply);
}

#[test]
fn what_is_not_there_is_said_to_be_not_there() {
    let sample = stack(2, (300, 200), &[F32]);
    let limits = Limits::default();
    for beside in [
        "median/0/1/0.png",
        "median/1/2/0.png",
        "median/1/0/1.png",
        "median/9/0/0.png",
        "count/4294967295/0/0.png",
    ] {
        assert_eq!(sample.ticket(beside, &limits).unwrap(), None, "{beside}");
    }
    let refused = [
        ("frame-3/0/0/0.png", 404, "layer"),
        ("mz-500/0/0/0.png", 404, "layer"),
        ("median.fits?bbox=0,0,301,200", 404, "outside"),
        ("median/statistics?bbox=300,0,301,1", 404, "outside"),
        ("median/point/300,0", 404, "outside"),
        ("median/point/4294967295,4294967295", 404, "outside"),
        ("spectrum?x=0&y=200", 404, "outside"),
        ("spectrum", 400, "parameter"),
        ("info", 404, "route"),
    ];
    for (target, status, code) in refused {
        let problem = sample.ticket(target, &limits).unwrap_err();
        assert_eq!(
            (problem.status, problem.code),
            (status, code),
            "{target}: {problem}"
        );
    }
    let listed = sample.ticket("frame-3.png", &limits).unwrap_err();
    assert!(listed.detail.contains("frame-1 to frame-2"), "{listed}");
}

#[test]
fn one_pixel_and_no_data_at_all_have_answers() {
    let sample = stack(1, (1, 1), &[I16]);
    let picture = png::decode(&sample.get("median/0/0/0.png").reply.body, 1 << 24).unwrap();
    assert_ne!(picture.codes[0], 0);
    assert!(picture.codes[1..].iter().all(|code| *code == 0));
    assert_eq!(image_of(&sample.get("median.fits").reply.body).1.len(), 1);
    assert_eq!(sample.get("median/statistics").json()["valid"], 1);

    let blank = api_answer_cases::fits(F32, (20, 10), None, &f32::NAN.to_be_bytes().repeat(200));
    let files = api_answer_cases::Files {
        names: vec!["a.fits".to_owned(), "b.fits".to_owned()],
        bytes: vec![blank.clone(), blank],
    };
    let sample = api_answer_cases::of_files(files);
    for target in ["median/0/0/0.png", "median.png"] {
        let got = sample.get(target);
        let picture = png::decode(&got.reply.body, 1 << 24).unwrap();
        assert!(picture.codes.iter().all(|code| *code == 0));
        assert_eq!((got.header("X-BZERO"), got.header("X-BUNIT")), ("0.0", ""));
    }
    let json = sample.get("median/statistics").json();
    assert_eq!((&json["valid"], &json["nodata"]), (&0.into(), &200.into()));
    assert!(json["mean"].is_null() && json["sum"].is_null());
    let json = sample.get("median/point/3,3").json();
    assert!(json["value"].is_null() && json["unit"].is_null());
    assert_eq!(json["count"], 0);
    let (_, counts) = image_of(&sample.get("count.fits").reply.body);
    assert!(counts.iter().all(|count| *count == 0.0));
}

#[test]
fn a_file_that_is_cut_short_is_an_error_and_no_picture() {
    let mut sample = stack(3, (64, 64), &[F32]);
    let length = sample.files.bytes[1].len();
    sample.files.bytes[1].truncate(length / 2);
    for (target, shuffled) in [
        ("median/0/0/0.png", false),
        ("spectrum?x=9&y=60", false),
        ("median.fits", false),
    ] {
        let ticket = sample.ticket(target, &Limits::default()).unwrap().unwrap();
        let mut answer = ticket.start(&sample.opened, 16 << 20).unwrap();
        let feeding = Feeding {
            piece: usize::MAX,
            shuffled,
        };
        let error = api_answer_cases::drive(&mut answer, &sample.files, feeding).unwrap_err();
        assert!(error.to_string().contains("e/1.fits"), "{error}");
        assert_eq!(sectile::api::Problem::from(error).status, 502);
        assert!(answer.into_reply().is_err());
    }
    let mut dice = Dice(3);
    assert_ne!(dice.next(), dice.next());
}
