//! Opening datasets: which bytes are read, what is kept, what is refused; pyramids and masks.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    dead_code,
    reason = "a test may stop at the first surprise; shared cases are used in part"
)]

mod api_answer_cases;
mod ion_cases;

use api_answer_cases::{Dice, Files, Sample, declared, fits, open, opened, stack};
use sectile::api::catalog::{Allow, Catalog, image_to_json};
use sectile::api::opened::{Opened, Opening, saved};
use sectile::budget::Budget;
use sectile::error::Error;
use sectile::fits::pixel::{Bitpix, Encoding};
use sectile::fits::write::{ImageHeader, padding};
use sectile::raster::pyramid::Pyramid;
use sectile::raster::shrink::Shrink;
use sectile::raster::tiles::Order;
use sectile::results::pyramid::Cubes;
use sectile::results::stack::layout::Layout;
use sectile::store::head::Real;

const F32: Encoding = Encoding {
    bitpix: Bitpix::F32,
    bscale: 1.0,
    bzero: 0.0,
    blank: None,
};
const SCALED: Encoding = Encoding {
    bitpix: Bitpix::I16,
    bscale: 0.001_234_567_890_123_45,
    bzero: 1.1,
    blank: None,
};

#[test]
fn pieces_of_headers_are_enough() {
    let sample = stack(3, (40, 30), &[F32, SCALED]);
    let (found, cost) = opened(&sample.dataset, &sample.files, 977).unwrap();
    assert_eq!(found, sample.opened);
    assert_eq!(cost.0, 6);
    assert_eq!(sample.cost.0, 3);
    let size = found.sources()[1].size;
    assert_eq!(size, Some(sample.files.bytes[1].len() as u64));
    assert_eq!(found.sources()[2].etag.as_deref(), Some("\"2\""));
    assert_eq!((found.size(), found.digest()), ((40, 30), None));
    assert!(found.bytes() > 3 * 8 * 80);

    let peaks = ion_cases::Sample::random(3, [9, 8, 1], 20, [Real::F64, Real::F32]);
    let files = Files {
        names: vec!["a.sectile".to_owned()],
        bytes: vec![peaks.store()],
    };
    let dataset = declared(r#"{"type":"ions","store":"a.sectile"}"#);
    let (small, _) = opened(&dataset, &files, 611).unwrap();
    let (whole, cost) = opened(&dataset, &files, usize::MAX).unwrap();
    assert_eq!((&small, cost.0), (&whole, 1));
    assert!(whole.digest().is_some());
    assert_eq!(saved::to_bytes(&dataset, &whole), None);
}

/// The declaration of a stack with what its headers say.
fn with_images(sample: &Sample) -> String {
    let Opened::Stack { images, .. } = &sample.opened else {
        panic!();
    };
    let entries: Vec<String> = images
        .iter()
        .zip(&sample.files.bytes)
        .map(|(image, file)| {
            let value = serde_json::json!({"url": image.file, "size": file.len(), "image": image_to_json(image)});
            value.to_string()
        })
        .collect();
    format!(r#"{{"type":"stack","exposures":[{}]}}"#, entries.join(","))
}

#[test]
fn images_of_the_catalog_take_no_read() {
    let sample = stack(4, (50, 20), &[F32, SCALED]);
    let known = open(&with_images(&sample), sample.files.clone());
    assert_eq!(known.cost, (0, 0));
    for target in [
        "median/0/0/0.png",
        "median.fits?bbox=1,2,30,20",
        "spectrum?x=3&y=3",
    ] {
        assert_eq!(
            known.get(target).reply.body,
            sample.get(target).reply.body,
            "{target}"
        );
    }
    // One of another plane or HDU is not believed.
    for member in ["\"plane\":1", "\"hdu\":2", "\"hdu\":\"SCI\""] {
        let stack = format!("\"type\":\"stack\",{member}");
        let other = with_images(&sample).replace("\"type\":\"stack\"", &stack);
        let mut opening = Opening::new(&declared(&other), 1 << 20).unwrap();
        assert_eq!(opening.pending().count(), 4, "{member}");
        assert!(opening.need(0).unwrap().is_some());
        assert!(matches!(opening.need(4), Err(Error::Parameter { .. })));
    }
    for member in ["\"hdu\":0", "\"hdu\":\"primary\""] {
        let stack = format!("\"type\":\"stack\",{member}");
        let same = with_images(&sample).replace("\"type\":\"stack\"", &stack);
        let opening = Opening::new(&declared(&same), 1 << 20).unwrap();
        assert!(opening.is_done(), "{member}");
    }
}

#[test]
fn a_mask_of_the_catalog_is_that_of_the_declared_hdu() {
    let image = |ver: u32, mask: (u32, &str, u32)| {
        let at = |hdu: u32, name: &str, ver: u32, bitpix: i32| serde_json::json!({"hdu": hdu, "name": name, "ver": ver, "bitpix": bitpix, "width": 4, "height": 4, "data_at": 2880});
        let mut image = at(1, "SCI", ver, -32);
        image["mask"] = at(mask.0, mask.1, mask.2, 16);
        serde_json::json!({"url": "a.fits", "size": 5760, "image": image})
    };
    for (image, mask, serves) in [
        (image(1, (3, "DQ", 1)), serde_json::json!("DQ"), true),
        (image(2, (3, "DQ", 2)), serde_json::json!("dq"), true),
        (image(2, (3, "DQ", 1)), serde_json::json!("DQ"), false),
        (image(2, (3, "DQ", 1)), serde_json::json!("DQ,1"), true),
        (image(1, (3, "DQ", 1)), serde_json::json!(3), true),
        (image(1, (3, "DQ", 1)), serde_json::json!(2), false),
        (image(1, (3, "DQ", 1)), serde_json::json!("WHT"), false),
    ] {
        let stack = serde_json::json!({"type": "stack", "exposures": [image], "hdu": "SCI", "mask": {"hdu": mask}});
        let opening = Opening::new(&declared(&stack.to_string()), 1 << 20).unwrap();
        assert_eq!(opening.is_done(), serves, "{stack}");
    }
}

#[test]
fn queries_of_addresses_are_told_to_nobody() {
    let file = |name: &str, width: u32, unit: &str| {
        serde_json::json!({
            "url": format!("https://a.example.org/{name}?sig=SECRET"), "size": 5760, "etag": "\"1\"",
            "image": {"hdu": 0, "bitpix": -32, "width": width, "height": 4, "data_at": 2880, "unit": unit},
        })
    };
    let catalog = |exposures: serde_json::Value| {
        let document = serde_json::json!({"sectile": 1, "origins": ["https://a.example.org"], "datasets": {
            "d": {"type": "stack", "exposures": exposures, "ignore_units": true},
        }});
        Catalog::parse(document.to_string().as_bytes(), Allow::default()).unwrap()
    };
    let opened = |exposures| {
        let catalog = catalog(exposures);
        Opening::new(catalog.dataset("d").unwrap(), 1 << 20)
            .unwrap()
            .finish()
    };
    let error = opened(serde_json::json!([file("1", 4, "Jy"), file("2", 5, "Jy")])).unwrap_err();
    let told = error.to_string();
    assert!(told.starts_with("https://a.example.org/2: "), "{told}");
    assert!(!told.contains("SECRET"), "{told}");
    let found = opened(serde_json::json!([file("1", 4, "Jy"), file("2", 4, "mJy")])).unwrap();
    let Opened::Stack { stack, .. } = &found else {
        panic!();
    };
    let told = stack.warnings.join(" ");
    assert!(told.contains("org/2") && !told.contains("SECRET"), "{told}");
    for url in [
        "https://other.example.org/a?sig=SECRET",
        "https://a.example.org/a?sig=SECRET#x",
        "https://a.example.org?sig=SECRET",
        "https://a_b@a.example.org/?sig=SECRET",
    ] {
        let catalog = catalog(serde_json::json!([url]));
        let reason = &catalog.faulty[0].reason;
        assert!(!reason.contains("SECRET"), "{reason}");
    }
}

#[test]
fn a_saved_opening_is_the_opening() {
    let sample = stack(3, (50, 20), &[F32, SCALED]);
    let bytes = saved::to_bytes(&sample.dataset, &sample.opened).unwrap();
    let again = saved::restore(&sample.dataset, &bytes, 4 << 20).unwrap();
    assert_eq!(again, sample.opened);
    assert_eq!(saved::key(&sample.dataset).len(), "d-".len() + 8);

    let text = String::from_utf8(bytes.clone()).unwrap();
    let faults = [
        ("\"sectile_opened\":1", "\"sectile_opened\":2"),
        ("e/1.fits", "e/9.fits"),
        ("\"width\":50", "\"width\":500000"),
        ("\"data_at\":2880", "\"data_at\":28800000"),
        ("\"bitpix\":-32", "\"bitpix\":-33"),
        ("\"height\":20", "\"height\":0"),
        ("\"planes\":1", "\"planes\":0"),
        ("CTYPE1", "CTY\\nE1"),
        ("\"key\":\"d-", "\"key\":\"e-"),
        ("\"url\"", "\"uri\""),
    ];
    for (from, to) in faults {
        let changed = text.replace(from, to);
        assert_ne!(changed, text, "{from}");
        let error = saved::restore(&sample.dataset, changed.as_bytes(), 4 << 20).unwrap_err();
        assert!(
            matches!(error, Error::Format { .. } | Error::Mismatch { .. }),
            "{from}: {error}"
        );
    }
    let other = declared(
        r#"{"type":"stack","exposures":["e/0.fits","e/1.fits","e/2.fits"],"ignore_wcs":true}"#,
    );
    assert_ne!(saved::key(&other), saved::key(&sample.dataset));
    assert!(saved::restore(&other, &bytes, 4 << 20).is_err());
    assert!(matches!(
        saved::restore(&sample.dataset, &bytes, 10_000),
        Err(Error::Budget { .. })
    ));
    // Whatever stands there, it is an opening or an error.
    let mut dice = Dice(5);
    for _ in 0..400 {
        let mut torn = bytes.clone();
        let at = dice.below(torn.len());
        torn[at] = b" {}[]\",:0129-e."[dice.below(15)];
        torn.truncate(bytes.len() - dice.below(2) * dice.below(bytes.len()));
        if let Ok(found) = saved::restore(&sample.dataset, &torn, 4 << 20) {
            assert_eq!(found.sources().len(), 3);
        }
    }
}

#[test]
fn a_file_that_is_not_what_it_was_is_refused() {
    let sample = stack(2, (30, 20), &[F32]);
    let total = sample.files.bytes[0].len() as u64;
    let mut opening = Opening::new(&sample.dataset, 1 << 20).unwrap();
    let range = opening.need(0).unwrap().unwrap();
    assert_eq!(opening.need(0).unwrap(), Some(range));
    let head = &sample.files.bytes[0][..100];
    opening.feed(0, 0, head, Some(total)).unwrap();
    let range = opening.need(0).unwrap().unwrap();
    assert_eq!(range.start, 100);
    let more = &sample.files.bytes[0][100..200];
    let error = opening.feed(0, 100, more, Some(total + 1)).unwrap_err();
    assert!(
        matches!(error, Error::Mismatch { .. }) && error.to_string().contains("e/0.fits"),
        "{error}"
    );
    opening.identify(1, Some("\"a\""), None).unwrap();
    opening
        .identify(1, Some("W/\"a\""), Some("yesterday"))
        .unwrap();
    assert!(matches!(
        opening.identify(1, Some("\"b\""), None),
        Err(Error::Mismatch { .. })
    ));
    assert!(matches!(
        opening.feed(1, 7, more, None),
        Err(Error::Unexpected { .. })
    ));
    assert!(matches!(opening.finish(), Err(Error::Parameter { .. })));

    let text = format!(
        r#"{{"type":"stack","exposures":[{{"url":"e/0.fits","size":{}}}]}}"#,
        total + 1
    );
    let error = opened(&declared(&text), &sample.files, usize::MAX).unwrap_err();
    assert!(matches!(error, Error::Mismatch { .. }), "{error}");
    let mut cut = sample.files.clone();
    cut.bytes[1].truncate(3000);
    let error = opened(&sample.dataset, &cut, usize::MAX).unwrap_err();
    assert!(error.to_string().contains("e/1.fits"), "{error}");
    let mut opening = Opening::new(&sample.dataset, 5000).unwrap();
    assert!(opening.need(0).unwrap().is_some());
    let error = opening
        .feed(0, 0, &sample.files.bytes[0], Some(total))
        .unwrap_err();
    assert!(matches!(error, Error::Budget { .. }), "{error}");
}

/// Medians and counts of a stack, from its own answers.
fn planes(sample: &Sample, size: (u32, u32)) -> (Vec<f32>, Vec<f32>) {
    let plane = |layer: &str| -> Vec<f32> {
        let file = sample.get(&format!("{layer}.fits")).reply.body;
        let end = file
            .chunks(80)
            .position(|card| card.starts_with(b"END "))
            .unwrap();
        let data = ((end + 1) * 80).next_multiple_of(2880);
        let bitpix = if layer == "count" {
            Bitpix::I16
        } else {
            Bitpix::F32
        };
        let mut values = vec![0.0; (size.0 * size.1) as usize];
        Encoding::plain(bitpix).decode_f32(&file[data..], &mut values);
        values
    };
    (plane("median"), plane("count"))
}

/// A pyramid by its definition.
fn pyramid(size: (u32, u32), tile: u32, medians: &[f32], counts: &[f32]) -> Vec<u8> {
    let mut primary = ImageHeader::primary(Bitpix::F32, size.0, size.1);
    primary.unit = Some("DN/s".to_owned());
    let layout = Layout::new(&primary, &ImageHeader::count(size.0, size.1)).unwrap();
    let (cubes, head) = Cubes::new(&layout, tile).unwrap();
    let mut file = vec![0; cubes.total() as usize];
    file[..head.len()].copy_from_slice(&head);
    let plan = Pyramid::new(size.0, size.1, tile).unwrap();
    for z in 0..plan.levels() {
        let (columns, rows) = plan.tiles(z).unwrap();
        for (x, y) in (0..columns).flat_map(|x| (0..rows).map(move |y| (x, y))) {
            let rect = plan.tile_rect(z, x, y).unwrap();
            for (plane, range) in [
                (medians, cubes.median(z, x, y)),
                (counts, cubes.count(z, x, y)),
            ] {
                let range = range.unwrap();
                let halvings = plan.levels() - 1 - z;
                let mut budget = Budget::new(u64::MAX);
                let mut shrink = Shrink::new(
                    (rect.width(), rect.height()),
                    halvings,
                    Order::BottomUp,
                    &mut budget,
                )
                .unwrap();
                let mut values = vec![f32::NAN; (tile * tile) as usize];
                for row in rect.y0..rect.y1 {
                    let start = (row * size.0 + rect.x0) as usize;
                    shrink
                        .row(&plane[start..start + rect.width() as usize], |at, row| {
                            let at = (tile - 1 - at) as usize * tile as usize;
                            values[at..at + row.len()].copy_from_slice(row);
                        })
                        .unwrap();
                }
                let bytes: Vec<u8> = values
                    .iter()
                    .flat_map(|value| value.to_be_bytes())
                    .collect();
                file[range.start as usize..range.end as usize].copy_from_slice(&bytes);
            }
        }
    }
    file
}

#[test]
fn a_tile_out_of_a_pyramid_is_the_tile_that_would_be_computed() {
    let size = (700, 530);
    let sample = stack(5, size, &[F32]);
    let (medians, counts) = planes(&sample, size);
    let mut files = sample.files.clone();
    files.names.push("median-pyramid.fits".to_owned());
    files.bytes.push(pyramid(size, 256, &medians, &counts));
    let names: Vec<String> = files.names[..5]
        .iter()
        .map(|name| format!("{name:?}"))
        .collect();
    let entry = format!(
        r#"{{"type":"stack","exposures":[{}],"pyramid":"median-pyramid.fits"}}"#,
        names.join(",")
    );
    let with = open(&entry, files.clone());
    assert_eq!(with.opened.sources().len(), 6);
    let plan = Pyramid::new(size.0, size.1, 256).unwrap();
    for z in 0..plan.levels() {
        let (columns, rows) = plan.tiles(z).unwrap();
        for (x, y) in (0..columns).flat_map(|x| (0..rows).map(move |y| (x, y))) {
            for layer in ["median", "count"] {
                let target = format!("{layer}/{z}/{x}/{y}.png");
                let got = with.get(&target);
                assert!(got.reply == sample.get(&target).reply, "{target}");
                assert_eq!((got.requests, got.bytes), (1, 256 * 256 * 4));
                assert!(got.peak <= got.ticket.cost.peak_bytes);
            }
        }
    }
    // Tiles of another edge, other layers and other forms are computed as ever.
    for target in [
        "median/0/0/0.png?tile=512",
        "frame-2/0/0/0.png",
        "median/point/3,4",
    ] {
        assert_eq!(
            with.get(target).requests,
            sample.get(target).requests,
            "{target}"
        );
    }
    let bytes = saved::to_bytes(&with.dataset, &with.opened).unwrap();
    assert_eq!(
        saved::restore(&with.dataset, &bytes, 4 << 20).unwrap(),
        with.opened
    );
    let torn = String::from_utf8(bytes).unwrap().replace(
        "LEVELS  =                    3",
        "LEVELS  =                    4",
    );
    assert!(matches!(
        saved::restore(&with.dataset, torn.as_bytes(), 4 << 20),
        Err(Error::Format { .. })
    ));

    let small = (300, 200);
    let blank = vec![0.0; 60_000];
    files.bytes[5] = pyramid(small, 256, &blank, &blank);
    let error = opened(&with.dataset, &files, usize::MAX).unwrap_err();
    assert!(
        matches!(error, Error::Mismatch { .. })
            && error.to_string().contains("median-pyramid.fits"),
        "{error}"
    );
    files.bytes[5].truncate(100_000);
    assert!(opened(&with.dataset, &files, usize::MAX).is_err());
}

#[test]
fn masked_pixels_are_left_out_wherever_they_are_asked_for() {
    let size = (40, 30);
    let mut dice = Dice(11);
    let mut files = Files::default();
    let mut wanted: Vec<Vec<Option<f32>>> = Vec::new();
    for index in 0..4 {
        let mut file = fits(F32, size, None, &[]);
        let (mut data, mut flags, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..size.0 * size.1 {
            let value = (dice.next() % 1000) as f32;
            let flag = (dice.next() % 8) as i32;
            values.push((flag & 5 == 0).then_some(value));
            data.extend(value.to_be_bytes());
            flags.extend(flag.to_be_bytes());
        }
        file.extend(&data);
        file.resize(file.len() + padding(data.len() as u64), 0);
        file.extend(
            ImageHeader::extension("DQ", Bitpix::I32, size.0, size.1)
                .to_bytes()
                .unwrap(),
        );
        file.extend(&flags);
        file.resize(file.len() + padding(flags.len() as u64), 0);
        files.names.push(format!("{index}.fits"));
        files.bytes.push(file);
        wanted.push(values);
    }
    let entry = r#"{"type":"stack","exposures":["0.fits","1.fits","2.fits","3.fits"],"hdu":0,"mask":{"hdu":"DQ","bits":5}}"#;
    let sample = open(entry, files);
    for (x, y) in [(0, 0), (39, 29), (17, 5), (3, 22), (8, 8)] {
        let pixel = y * 40 + x;
        let values: Vec<Option<f32>> = wanted.iter().map(|plane| plane[pixel]).collect();
        let json = sample.get(&format!("spectrum?x={x}&y={y}")).json();
        let listed: Vec<Option<f64>> = json["values"]
            .as_array()
            .unwrap()
            .iter()
            .map(serde_json::Value::as_f64)
            .collect();
        assert_eq!(
            listed,
            values
                .iter()
                .map(|value| value.map(f64::from))
                .collect::<Vec<_>>()
        );
        let count = values.iter().flatten().count();
        assert_eq!(json["count"], count);
        let point = sample.get(&format!("median/point/{x},{y}")).json();
        assert_eq!(
            (&point["value"], &point["count"]),
            (&json["median"], &json["count"])
        );
        let frame = sample.get(&format!("frame-2/point/{x},{y}")).json();
        assert_eq!(frame["value"].as_f64(), values[1].map(f64::from));
    }
    let file = sample.get("median.fits").reply.body;
    assert!(String::from_utf8_lossy(&file[..5760.min(file.len())]).contains("DQ"));
    // An image of the catalog that knows nothing of the mask is not believed.
    let bytes = saved::to_bytes(&sample.dataset, &sample.opened).unwrap();
    assert_eq!(
        saved::restore(&sample.dataset, &bytes, 4 << 20).unwrap(),
        sample.opened
    );
    let text = String::from_utf8(bytes).unwrap();
    let at = text.find(r#""mask":{"#).unwrap();
    let end = at + text[at..].find('}').unwrap() + 1;
    let bare = format!("{}{}", &text[..at], text[end..].trim_start_matches(','));
    assert!(saved::restore(&sample.dataset, bare.as_bytes(), 4 << 20).is_err());
}
