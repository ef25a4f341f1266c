//! PNG tiles: exact codes, the scale beside them, stable bytes, and clear errors for anything else.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "a test may stop at the first surprise"
)]

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use sectile::error::Error;
use sectile::png::{self, Form, Meta, Share, Writer};
use sectile::raster::plane::Scale;
use serde_json::Value;

const LIMIT: u64 = 64 << 20;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/png")
        .join(name)
}

fn json(name: &str) -> Value {
    serde_json::from_slice(&std::fs::read(data(name)).unwrap()).unwrap()
}

fn meta() -> Meta {
    Meta {
        scale: Scale {
            bzero: -0.1,
            bscale: 1.234_567_890_123e-7,
        },
        unit: Some("MJy/sr".to_owned()),
        text: vec![("Layer".to_owned(), "median".to_owned())],
    }
}

/// Codes of all kinds: noise, flat parts, ramps, no data.
fn codes(width: u32, height: u32) -> Vec<u16> {
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    (0..width * height)
        .map(|i| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            match (i / width) % 4 {
                0 => state as u16,
                1 => 0,
                2 => (i * 37) as u16,
                _ => 30_000 + (state as u16 & 255),
            }
        })
        .collect()
}

#[test]
fn public_fault_reports_decode_exactly() {
    for case in json("cases.json").as_object().unwrap().values() {
        let name = case["file"].as_str().unwrap();
        let tile = png::decode(&std::fs::read(data(name)).unwrap(), LIMIT).unwrap();
        let rows: Vec<Vec<u16>> = serde_json::from_value(case["rows"].clone()).unwrap();
        assert_eq!(tile.width as usize, rows[0].len(), "{name}");
        assert_eq!(tile.height as usize, rows.len(), "{name}");
        assert_eq!(tile.codes, rows.concat(), "{name}");
        assert_eq!(tile.depth, 16, "{name}");
    }
}

#[test]
fn what_is_encoded_comes_back() {
    for (width, height) in [(1, 1), (1, 9), (7, 1), (3, 5), (256, 256), (257, 31)] {
        let codes = codes(width, height);
        let grey = png::encode(width, height, &codes, &meta()).unwrap();
        let tile = png::decode(&grey, LIMIT).unwrap();
        assert_eq!((tile.width, tile.height), (width, height));
        assert_eq!(tile.codes, codes);
        assert_eq!(tile.alpha, None);
        assert_eq!(tile.scale, Some(meta().scale));
        assert_eq!(tile.unit.as_deref(), Some("MJy/sr"));
        assert_eq!(tile.text("BLANK"), Some("0"));
        assert_eq!(tile.text("Layer"), Some("median"));

        let tile = png::decode(
            &png::encode_alpha(width, height, &codes, &meta()).unwrap(),
            LIMIT,
        )
        .unwrap();
        assert_eq!(tile.codes, codes);
        let alpha = tile.alpha.expect("a second channel");
        for (code, alpha) in codes.iter().zip(alpha) {
            assert_eq!(alpha, if *code == 0 { 0 } else { 65_535 });
        }
    }
}

#[test]
fn scales_come_back_bit_for_bit() {
    for (bzero, bscale) in [
        (0.0, 1.0),
        (-0.5, 0.5),
        (1.0 / 3.0, f64::MIN_POSITIVE),
        (-f64::MAX / 4.0, 1.371_596_857_273_85e303),
        (123_456_789.123_456_79, 5e-324_f64.max(1e-300)),
        (1e15, 1e-5),
    ] {
        let scale = Scale { bzero, bscale };
        let bytes = png::encode(1, 1, &[7], &Meta::new(scale)).unwrap();
        let back = png::decode(&bytes, LIMIT).unwrap().scale.unwrap();
        assert_eq!(back.bzero.to_bits(), bzero.to_bits());
        assert_eq!(back.bscale.to_bits(), bscale.to_bits());
    }
}

#[test]
fn units_outside_latin_1_go_into_itxt() {
    for (unit, chunk) in [("µm", b"tEXt"), ("erg s⁻¹ Å⁻¹", b"iTXt"), ("日", b"iTXt")] {
        let mut meta = meta();
        meta.unit = Some(unit.to_owned());
        let bytes = png::encode(2, 2, &[1, 2, 3, 4], &meta).unwrap();
        let name = bytes.windows(9).find(|w| w.ends_with(b"BUNIT")).unwrap();
        assert_eq!(&name[..4], chunk, "{unit}");
        let tile = png::decode(&bytes, LIMIT).unwrap();
        assert_eq!(tile.unit.as_deref(), Some(unit));
    }
}

#[test]
fn hostile_text_is_refused_or_harmless() {
    let mut meta = meta();
    meta.text = vec![("Comment".to_owned(), "a\0b".to_owned())];
    let bytes = png::encode(1, 1, &[1], &meta).unwrap();
    assert_eq!(
        png::decode(&bytes, LIMIT).unwrap().text("Comment"),
        Some("ab")
    );
    for keyword in ["", " x", "x ", "a  b", "日", "a\0b", &"k".repeat(80)] {
        meta.text = vec![(keyword.to_owned(), String::new())];
        let error = png::encode(1, 1, &[1], &meta).unwrap_err();
        assert_eq!(error.code(), "parameter", "{keyword:?}");
    }
}

#[test]
fn wrong_shapes_are_refused() {
    for (width, height, len) in [(0, 1, 0), (1, 0, 0), (2, 2, 3), (u32::MAX, u32::MAX, 4)] {
        let error = png::encode(width, height, &vec![0; len], &meta()).unwrap_err();
        assert_eq!(error.code(), "parameter");
    }
}

#[test]
fn streamed_rows_make_the_same_picture_however_they_are_dealt() {
    let (width, height) = (301, 97);
    let codes = codes(width, height);
    for form in [Form::Grey, Form::GreyAlpha] {
        let streamed = |band: usize| {
            let mut writer = Writer::new(Vec::new(), width, height, form, &meta()).unwrap();
            for rows in codes.chunks(width as usize * band) {
                writer.rows(rows).unwrap();
            }
            writer.finish().unwrap()
        };
        let bytes = streamed(1);
        for band in [2, 10, 97] {
            assert_eq!(streamed(band), bytes, "{band} rows at a time");
        }
        let tile = png::decode(&bytes, LIMIT).unwrap();
        assert_eq!(tile.codes, codes);
        assert_eq!(tile.scale, Some(meta().scale));
        assert_eq!(tile.alpha.is_some(), form == Form::GreyAlpha);
    }
}

/// An output that takes `room` bytes and then fails, as a full disk does.
struct Full {
    room: usize,
}

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.room == 0 {
            return Err(io::Error::from(io::ErrorKind::StorageFull));
        }
        let taken = bytes.len().min(self.room);
        self.room -= taken;
        Ok(taken)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_reported_wherever_it_happens() {
    let (width, height) = (64, 64);
    let codes = codes(width, height);
    let write = |room: usize| -> io::Result<()> {
        let mut writer = Writer::new(Full { room }, width, height, Form::Grey, &meta())?;
        writer.rows(&codes)?;
        writer.finish().map(|_| ())
    };
    let mut writer = Writer::new(Vec::new(), width, height, Form::Grey, &meta()).unwrap();
    writer.rows(&codes).unwrap();
    let whole = writer.finish().unwrap().len();
    for room in 0..whole {
        let error = write(room).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull, "{room} bytes");
    }
    write(whole).unwrap();
}

#[test]
fn a_writer_refuses_parts_of_rows_too_many_and_too_few() {
    let begin = || Writer::new(Vec::new(), 4, 2, Form::Grey, &meta()).unwrap();
    assert_eq!(
        begin().rows(&[1; 3]).unwrap_err().kind(),
        io::ErrorKind::InvalidInput
    );
    assert_eq!(
        begin().rows(&[1; 12]).unwrap_err().kind(),
        io::ErrorKind::InvalidInput
    );
    let mut writer = begin();
    writer.rows(&[1; 4]).unwrap();
    assert_eq!(
        writer.finish().unwrap_err().kind(),
        io::ErrorKind::InvalidInput
    );
    assert!(Writer::new(Vec::new(), 0, 2, Form::Grey, &meta()).is_err());
}

#[test]
fn bytes_do_not_change_between_releases() {
    // A change here is a change of every tile in every cache: mean it.
    let bytes = png::encode(256, 256, &codes(256, 256), &meta()).unwrap();
    assert_eq!(
        bytes,
        png::encode(256, 256, &codes(256, 256), &meta()).unwrap()
    );
    assert_eq!((bytes.len(), fnv(&bytes)), PINNED);
}

const PINNED: (usize, u64) = (99_369, 3_156_879_743_863_305_068);

fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3)
    })
}

#[test]
fn noise_never_grows_beyond_its_own_size() {
    let noise: Vec<u16> = codes(256, 1024)
        .chunks(256)
        .step_by(4)
        .flatten()
        .copied()
        .collect();
    let bytes = png::encode(256, 256, &noise, &Meta::new(meta().scale)).unwrap();
    assert!(bytes.len() < 256 * 256 * 2 + 1000, "{} bytes", bytes.len());
}

#[test]
fn masked_pictures_agree_with_metaspace() {
    for case in json("masked.json").as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        let values: Vec<f32> = serde_json::from_value(case["values"].clone()).unwrap();
        let mask: Vec<u8> = serde_json::from_value(case["mask"].clone()).unwrap();
        let mask: Vec<bool> = mask.iter().map(|m| *m != 0).collect();
        let grey: Vec<u16> = serde_json::from_value(case["grey16"].clone()).unwrap();
        let alpha: Vec<u16> = serde_json::from_value(case["alpha16"].clone()).unwrap();
        let shape: [u32; 2] = serde_json::from_value(case["shape"].clone()).unwrap();
        let bytes = png::encode_masked(shape[1], shape[0], &values, Some(&mask), &[]).unwrap();
        let theirs = std::fs::read(data(case["file"].as_str().unwrap())).unwrap();
        for bytes in [bytes, theirs] {
            let tile = png::decode(&bytes, LIMIT).unwrap();
            assert_eq!((tile.width, tile.height), (shape[1], shape[0]), "{name}");
            for (ours, theirs) in tile.codes.iter().zip(&grey) {
                assert!(ours.abs_diff(*theirs) <= 1, "{name}: {ours} {theirs}");
            }
            assert_eq!(tile.alpha.as_ref(), Some(&alpha), "{name}");
        }
    }
}

#[test]
fn masked_pictures_of_odd_values() {
    let odd = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1.0, 3.0];
    let tile = png::decode(&png::encode_masked(5, 1, &odd, None, &[]).unwrap(), LIMIT).unwrap();
    assert_eq!(tile.codes, [0, 65_535, 0, 0, 65_535]);
    assert_eq!(tile.alpha.unwrap(), [0, 65_535, 65_535, 65_535, 65_535]);
    assert_eq!(tile.text.iter().find(|(name, _)| name == "BLANK"), None);
    for constant in [[2.5; 4], [f32::NAN; 4]] {
        let bytes = png::encode_masked(2, 2, &constant, None, &[]).unwrap();
        assert_eq!(png::decode(&bytes, LIMIT).unwrap().codes, [0; 4]);
    }
}

#[test]
fn shares_band_by_band_are_those_of_a_whole_masked_picture() {
    let (width, height) = (301_u32, 97);
    let values: Vec<f32> = codes(width, height)
        .iter()
        .map(|&code| match code % 7 {
            0 => f32::NAN,
            1 => 0.0,
            _ => f32::from(code) * 0.37,
        })
        .collect();
    let mask: Vec<bool> = values.iter().map(|value| !value.is_nan()).collect();
    let canvas: Vec<f32> = values
        .iter()
        .map(|value| if value.is_nan() { 0.0 } else { *value })
        .collect();
    let whole = png::encode_masked(width, height, &canvas, Some(&mask), &[]).unwrap();
    let greatest = canvas.iter().copied().fold(0.0, f32::max);
    let share = Share::new(0.0, greatest);
    for band in [1, 10, 97] {
        let mut writer = Writer::of_shares(Vec::new(), width, height, &share).unwrap();
        for rows in values.chunks(width as usize * band) {
            writer.values(rows, &share).unwrap();
        }
        let banded = writer.finish().unwrap();
        let [ours, theirs] = [&banded, &whole].map(|bytes| png::decode(bytes, LIMIT).unwrap());
        assert_eq!(ours, theirs, "{band} rows at a time");
    }
    let mut writer = Writer::of_shares(Vec::new(), 4, 2, &share).unwrap();
    assert!(writer.values(&[0.0; 3], &share).is_err(), "part of a row");
}

#[test]
fn every_cut_and_every_flipped_byte_is_an_error_or_a_picture() {
    let whole = png::encode(9, 7, &codes(9, 7), &meta()).unwrap();
    for len in 0..whole.len() {
        let error = png::decode(&whole[..len], LIMIT).unwrap_err();
        assert_eq!(error.code(), "format", "cut at {len}: {error}");
    }
    for at in 0..whole.len() {
        for bit in [1, 0x80] {
            let mut bytes = whole.clone();
            bytes[at] ^= bit;
            // Every chunk has a checksum; what still decodes is the right picture.
            if let Ok(tile) = png::decode(&bytes, LIMIT) {
                assert_eq!(tile.codes, codes(9, 7), "byte {at}");
            }
        }
    }
}

#[test]
fn what_is_no_grey_picture_is_named() {
    for garbage in [
        &b""[..],
        b"<!doctype html>",
        &[0x89, b'P', b'N', b'G'],
        &[0; 100],
    ] {
        assert!(matches!(
            png::decode(garbage, LIMIT),
            Err(Error::Format { .. })
        ));
    }
    let other = |color, depth, row: &[u8]| {
        let mut out = Vec::new();
        let mut encoder = ::png::Encoder::new(&mut out, 4, 1);
        encoder.set_color(color);
        encoder.set_depth(depth);
        let mut writer = encoder.write_header().unwrap();
        writer.write_image_data(row).unwrap();
        writer.finish().unwrap();
        png::decode(&out, LIMIT)
    };
    let rgb = other(::png::ColorType::Rgb, ::png::BitDepth::Eight, &[0; 12]);
    assert!(matches!(rgb, Err(Error::Unsupported { .. })));
    let bits = other(::png::ColorType::Grayscale, ::png::BitDepth::One, &[0]);
    assert!(matches!(bits, Err(Error::Unsupported { .. })));
    let bytes = other(
        ::png::ColorType::Grayscale,
        ::png::BitDepth::Eight,
        &[0, 1, 200, 255],
    );
    let bytes = bytes.unwrap();
    assert_eq!((bytes.depth, bytes.codes), (8, vec![0, 1, 200, 255]));
    assert_eq!(bytes.scale, None);
}

#[test]
fn huge_pictures_are_refused_before_memory_is_taken() {
    // A header that claims 2³¹−1 × 2³¹−1 pixels, with a right checksum.
    let side = i32::MAX as u32;
    let color = ::png::ColorType::GrayscaleAlpha;
    let bytes = file((side, side), color, false, &[0x78, 1]);
    let error = png::decode(&bytes, LIMIT).unwrap_err();
    assert!(
        matches!(error, Error::Budget { have: LIMIT, .. }),
        "{error}"
    );
    // 100 rows of 201 bytes unpacked, and 10,000 codes.
    let bytes = png::encode(100, 100, &vec![5; 10_000], &meta()).unwrap();
    assert!(matches!(
        png::decode(&bytes, 40_099),
        Err(Error::Budget { need: 40_100, .. })
    ));
    png::decode(&bytes, 40_100).unwrap();
}

/// A 16-bit PNG with this header and these packed pixels, as the png crate writes it.
fn file(size: (u32, u32), color: ::png::ColorType, interlaced: bool, packed: &[u8]) -> Vec<u8> {
    let mut info = ::png::Info::with_size(size.0, size.1);
    info.color_type = color;
    info.bit_depth = ::png::BitDepth::Sixteen;
    info.interlaced = interlaced;
    let mut out = Vec::new();
    let encoder = ::png::Encoder::with_info(&mut out, info).unwrap();
    let mut writer = encoder.write_header().unwrap();
    // In pieces, as large pictures come.
    for piece in packed.chunks(100) {
        writer.write_chunk(::png::chunk::IDAT, piece).unwrap();
    }
    drop(writer);
    out
}

/// Grey and alpha, where there is any, as the png crate reads them.
fn by_the_crate(bytes: &[u8]) -> Vec<u16> {
    let mut decoder = ::png::Decoder::new(io::Cursor::new(bytes));
    decoder.set_transformations(::png::Transformations::IDENTITY);
    let mut reader = decoder.read_info().unwrap();
    let mut raw = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut raw).unwrap();
    reader.finish().unwrap();
    raw.chunks(2)
        .map(|b| u16::from_be_bytes([b[0], b[1]]))
        .collect()
}

#[test]
fn the_png_crate_reads_what_we_write() {
    for (width, height) in [(1, 1), (5, 3), (256, 256), (700, 20)] {
        for shift in [0, 6, 12] {
            let codes: Vec<u16> = codes(width, height).iter().map(|c| c >> shift).collect();
            let grey = png::encode(width, height, &codes, &meta()).unwrap();
            assert_eq!(by_the_crate(&grey), codes);
            let mut writer = Writer::new(Vec::new(), width, height, Form::Grey, &meta()).unwrap();
            writer.rows(&codes).unwrap();
            assert_eq!(by_the_crate(&writer.finish().unwrap()), codes);
            let alpha = png::encode_alpha(width, height, &codes, &meta()).unwrap();
            let pairs = codes
                .iter()
                .flat_map(|c| [*c, if *c == 0 { 0 } else { 65_535 }]);
            assert_eq!(by_the_crate(&alpha), pairs.collect::<Vec<_>>());
        }
    }
    let bytes = png::encode(1, 1, &[1], &meta()).unwrap();
    let decoder = ::png::Decoder::new(io::Cursor::new(&bytes));
    let reader = decoder.read_info().unwrap();
    let text = &reader.info().uncompressed_latin1_text;
    let names: Vec<&str> = text.iter().map(|chunk| chunk.keyword.as_str()).collect();
    assert_eq!(names, ["BSCALE", "BZERO", "BLANK", "BUNIT", "Layer"]);
}

/// One picture by the png crate, decoded by us and put back into bytes.
fn there_and_back(
    (color, depth): (::png::ColorType, ::png::BitDepth),
    filter: ::png::Filter,
    compression: ::png::Compression,
    (width, height, data): (u32, u32, &[u8]),
) -> Vec<u8> {
    let mut out = Vec::new();
    let mut encoder = ::png::Encoder::new(&mut out, width, height);
    encoder.set_color(color);
    encoder.set_depth(depth);
    encoder.set_compression(compression);
    encoder.set_filter(filter);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(data).unwrap();
    writer.finish().unwrap();
    let tile = png::decode(&out, LIMIT).unwrap();
    let mut samples = Vec::new();
    for (i, code) in tile.codes.iter().enumerate() {
        samples.push(*code);
        samples.extend(tile.alpha.as_ref().map(|alpha| alpha[i]));
    }
    match depth {
        ::png::BitDepth::Eight => samples.iter().map(|s| *s as u8).collect(),
        _ => samples.iter().flat_map(|s| s.to_be_bytes()).collect(),
    }
}

#[test]
fn we_read_what_the_png_crate_writes() {
    use ::png::{BitDepth, ColorType, Compression, Filter};
    let (width, height) = (61, 40);
    let bytes: Vec<u8> = codes(width * 2, height)
        .iter()
        .flat_map(|c| c.to_be_bytes())
        .collect();
    for filter in [
        Filter::NoFilter,
        Filter::Sub,
        Filter::Up,
        Filter::Avg,
        Filter::Paeth,
        Filter::Adaptive,
    ] {
        for compression in [
            Compression::NoCompression,
            Compression::Fast,
            Compression::Balanced,
        ] {
            for (color, depth, size) in [
                (ColorType::Grayscale, BitDepth::Eight, 1),
                (ColorType::Grayscale, BitDepth::Sixteen, 2),
                (ColorType::GrayscaleAlpha, BitDepth::Eight, 2),
                (ColorType::GrayscaleAlpha, BitDepth::Sixteen, 4),
            ] {
                let data = &bytes[..(width * height * size) as usize];
                let picture = (width, height, data);
                let back = there_and_back((color, depth), filter, compression, picture);
                assert_eq!(back, data, "{filter:?} {compression:?} {color:?} {depth:?}");
            }
        }
    }
}

#[test]
fn interlaced_pictures_are_put_in_order() {
    // First column and row, steps between columns and rows: PNG §8.2.
    let passes = [
        [0, 0, 8, 8],
        [4, 0, 8, 8],
        [0, 4, 4, 8],
        [2, 0, 4, 4],
        [0, 2, 2, 4],
        [1, 0, 2, 2],
        [0, 1, 1, 2],
    ];
    for (width, height) in [(1, 1), (3, 2), (8, 8), (19, 13), (5, 33)] {
        let codes = codes(width, height);
        let mut rows = Vec::new();
        for [x, y, dx, dy] in passes {
            for row in (y..height).step_by(dy as usize).filter(|_| x < width) {
                rows.push(0);
                for column in (x..width).step_by(dx as usize) {
                    rows.extend(codes[(row * width + column) as usize].to_be_bytes());
                }
            }
        }
        let packed = fdeflate::compress_to_vec(&rows);
        let bytes = file((width, height), ::png::ColorType::Grayscale, true, &packed);
        assert_eq!(by_the_crate(&bytes), codes, "the test's own picture");
        assert_eq!(png::decode(&bytes, LIMIT).unwrap().codes, codes);
    }
}

#[test]
fn packed_pixels_of_any_kind_are_an_error_or_a_picture() {
    let good: Vec<u8> = (0..4_u8)
        .flat_map(|filter| std::iter::once(filter).chain([7; 12]))
        .collect();
    let grey = |packed: &[u8]| {
        png::decode(
            &file((6, 4), ::png::ColorType::Grayscale, false, packed),
            LIMIT,
        )
    };
    let packed = fdeflate::compress_to_vec(&good);
    grey(&packed).unwrap();
    let refused = |rows: &[u8], why: &str| {
        let error = grey(&fdeflate::compress_to_vec(rows)).unwrap_err();
        assert!(
            matches!(error, Error::Format { at: 33, .. }),
            "{why}: {error}"
        );
    };
    refused(&good[..51], "a byte too few");
    refused(&[good.as_slice(), &[0]].concat(), "a byte too many");
    let mut odd = good.clone();
    odd[13] = 5;
    refused(&odd, "a sixth filter");
    refused(&vec![0; 1 << 24], "far more than the header promises");
    for at in 0..packed.len() {
        for bit in 0..8 {
            let mut packed = packed.clone();
            packed[at] ^= 1 << bit;
            let _ = grey(&packed);
        }
        assert!(grey(&packed[..at]).is_err(), "cut at {at}");
    }
    let mut state = 1_u64;
    for _ in 0..2000 {
        let noise = (0..64).map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) as u8
        });
        let packed: Vec<u8> = [0x78, 0x01].into_iter().chain(noise).collect();
        let _ = grey(&packed);
    }
}
