//! FITS files we make are FITS: by our own reading of the standard, and by astropy's.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_precision_loss,
    reason = "a test may stop at the first surprise"
)]

use std::collections::BTreeSet;
use std::process::Command;

use proptest::prelude::*;
use sectile::fits::pixel::Bitpix;
use sectile::fits::write::{self, Cards, ImageHeader};

fn carried() -> Vec<String> {
    [
        "SIMPLE  =                    T / must not be here twice",
        "NAXIS3  =                    7",
        "BZERO   =              32768.0",
        "WCSAXES =                    2",
        "CTYPE1  = 'RA---TAN'           / projection",
        "CTYPE2  = 'DEC--TAN'",
        "CRPIX1  =               1024.5 / reference pixel",
        "CRPIX2  =             1.0245D3",
        "CRPIX1A =                    1",
        "CRVAL1  =          80.12345678",
        "CRVAL2  =         -69.49999999",
        "CD1_1   = -8.7E-06",
        "CD2_2   =  8.7E-06",
        "CTYPE1  = 'RA---SIP'           / comes a second time",
        "OBJECT  = 'O''Neill''s star'",
        "LONGNAME= 'a string that goes on and on, further than one card of eighty ca&'",
        "CONTINUE  'rds can hold' / and here it ends",
        "EXTNAME = 'SCI &'",
        "CONTINUE  'belongs to what is left out'",
        "lower   =                    1",
        "BROKEN  = 12 monkeys",
        "CONTINUE  'which continues nothing'",
        "BARE      has no value indicator",
        "OPEN    = 'no closing quote",
        "ODD     = 'no closing quote''",
        "TWICE   = 'one' 'two'",
        "BEHIND  = '' ''/ an empty string with another behind it",
        "QUOTE   = '''' / it''s a quote",
        "EMPTY   = ''/'' are quotes",
        "COMPLEX = (1.5, -2.0E3)",
        "NOVALUE =",
        "HISTORY one",
        "HISTORY one",
        "COMMENT µ is not ASCII",
        "END",
    ]
    .map(str::to_owned)
    .to_vec()
}

fn primary(bitpix: Bitpix) -> ImageHeader {
    ImageHeader {
        carried: carried(),
        unit: Some("MJy/sr".to_owned()),
        combined: Some(12),
        history: vec![
            "Sectile 0.1.0: median of 12 exposures".to_owned(),
            format!("input {}", "https://example.org/some/long/way/".repeat(6)),
            "a line\nand another, ünïcode".to_owned(),
        ],
        ..ImageHeader::primary(bitpix, 7, 5)
    }
}

/// A whole file: f32 or f64 image and counts.
fn file(bitpix: Bitpix) -> Vec<u8> {
    let values: Vec<f64> = (0..35).map(|i| f64::from(i) / 8.0 - 2.0).collect();
    let head = primary(bitpix);
    let mut bytes = head.to_bytes().unwrap();
    if bitpix == Bitpix::F64 {
        write::put_f64(&values, &mut bytes);
    } else {
        #[expect(clippy::cast_possible_truncation, reason = "eighths are exact")]
        let mut values: Vec<f32> = values.iter().map(|v| *v as f32).collect();
        values[3] = f32::NAN;
        values[4] = f32::INFINITY;
        write::put_f32(&values, &mut bytes);
    }
    bytes.resize(bytes.len() + write::padding(head.data_bytes()), 0);
    let count = ImageHeader::count(7, 5);
    bytes.extend(count.to_bytes().unwrap());
    let counts: Vec<u16> = (0..35).map(|i| i * 117).collect();
    write::put_u16(&counts, &mut bytes).unwrap();
    bytes.resize(bytes.len() + write::padding(count.data_bytes()), 0);
    bytes
}

/// One header: its cards and where its data start.
fn cards(bytes: &[u8], at: usize) -> (Vec<String>, usize) {
    let mut cards = Vec::new();
    for (i, card) in bytes[at..].chunks(80).enumerate() {
        assert!(card.iter().all(|b| (0x20..=0x7E).contains(b)), "{card:?}");
        let card = String::from_utf8(card.to_vec()).unwrap();
        if card.trim_end() == "END" {
            let end = at + (i + 1) * 80;
            let data = end.next_multiple_of(2880);
            assert!(
                bytes[end..data].iter().all(|b| *b == b' '),
                "blanks behind END"
            );
            return (cards, data);
        }
        cards.push(card);
    }
    panic!("no END card");
}

/// What `fitsverify` looks at: blocks, mandatory keywords in order, fixed format, strings, repeats,
/// END, filling.
fn verify(bytes: &[u8]) -> Vec<Vec<String>> {
    assert_eq!(bytes.len() % 2880, 0, "whole blocks");
    let (mut at, mut found) = (0, Vec::new());
    while at < bytes.len() {
        let (header, data) = cards(bytes, at);
        let first = if found.is_empty() {
            "SIMPLE"
        } else {
            "XTENSION"
        };
        let mut order = vec![first, "BITPIX", "NAXIS", "NAXIS1", "NAXIS2"];
        if !found.is_empty() {
            order.extend(["PCOUNT", "GCOUNT"]);
        }
        for (card, keyword) in header.iter().zip(&order) {
            assert!(card.starts_with(&format!("{keyword:8}= ")), "{card}");
        }
        let mut seen = BTreeSet::new();
        for card in &header {
            check_card(card, &mut seen);
        }
        let int = |keyword: &str| -> i64 {
            let card = header
                .iter()
                .find(|c| c[..8].trim_end() == keyword)
                .unwrap();
            assert_eq!(&card[30..31], " ", "ends in column 30: {card}");
            card[10..30].trim_start().parse().unwrap()
        };
        let size = int("BITPIX").unsigned_abs() / 8 * int("NAXIS1").unsigned_abs();
        let size = usize::try_from(size * int("NAXIS2").unsigned_abs()).unwrap();
        let end = (data + size).next_multiple_of(2880);
        assert!(
            bytes[data + size..end].iter().all(|b| *b == 0),
            "zeros behind the data"
        );
        found.push(header);
        at = end;
    }
    assert_eq!(at, bytes.len());
    found
}

fn check_card(card: &str, seen: &mut BTreeSet<String>) {
    let keyword = card[..8].trim_end();
    let valid = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'-' || b == b'_';
    assert!(keyword.bytes().all(valid), "{card}");
    if matches!(keyword, "COMMENT" | "HISTORY" | "CONTINUE" | "") {
        return;
    }
    assert!(seen.insert(keyword.to_owned()), "twice: {card}");
    assert_eq!(&card[8..10], "= ", "{card}");
    let value = &card[10..];
    if let Some(string) = value.trim_start().strip_prefix('\'') {
        let end = string
            .replace("''", "  ")
            .find('\'')
            .expect("a closing quote");
        let rest = string[end + 1..].trim_start();
        assert!(rest.is_empty() || rest.starts_with('/'), "{card}");
    } else {
        let value = value.split('/').next().unwrap();
        let word = value.trim();
        if word == "T" || word == "F" {
            assert_eq!(&card[29..30], word, "column 30: {card}");
        }
        assert!(!word.contains(' ') || word.starts_with('('), "{card}");
    }
}

fn value<'a>(header: &'a [String], keyword: &str) -> Option<&'a str> {
    let card = header.iter().find(|c| c[..8].trim_end() == keyword)?;
    Some(card[10..].split(" /").next().unwrap().trim())
}

#[test]
fn files_hold_to_the_standard() {
    for bitpix in [Bitpix::F32, Bitpix::F64] {
        let found = verify(&file(bitpix));
        assert_eq!(found.len(), 2);
        let (primary, count) = (&found[0], &found[1]);
        assert_eq!(
            value(primary, "BITPIX"),
            Some(bitpix.card().to_string().as_str())
        );
        assert_eq!(value(primary, "NCOMBINE"), Some("12"));
        assert_eq!(value(primary, "BUNIT"), Some("'MJy/sr  '"));
        assert_eq!(value(primary, "CTYPE1"), Some("'RA---TAN'"));
        assert_eq!(value(primary, "CRPIX2"), Some("1.0245D3"));
        assert_eq!(value(primary, "OBJECT"), Some("'O''Neill''s star'"));
        assert_eq!(value(primary, "QUOTE"), Some("''''"));
        assert_eq!(value(primary, "EMPTY"), Some("''/'' are quotes"));
        for gone in [
            "NAXIS3", "BZERO", "EXTNAME", "lower", "BROKEN", "BARE", "OPEN", "ODD", "TWICE",
            "BEHIND",
        ] {
            assert_eq!(value(primary, gone), None, "{gone}");
        }
        let continued = primary.iter().filter(|c| c.starts_with("CONTINUE"));
        assert_eq!(continued.count(), 1);
        assert_eq!(
            primary
                .iter()
                .filter(|c| c.trim_end() == "HISTORY one")
                .count(),
            2
        );
        assert!(
            primary
                .iter()
                .any(|c| c.starts_with("COMMENT ? is not ASCII"))
        );
        assert_eq!(value(count, "EXTNAME"), Some("'COUNT   '"));
        assert_eq!(value(count, "XTENSION"), Some("'IMAGE   '"));
        assert_eq!(value(count, "BITPIX"), Some("16"));
    }
}

#[test]
fn a_part_of_an_image_keeps_its_sky() {
    let mut head = primary(Bitpix::F32);
    head.origin = [100, 24];
    let found = verify(&{
        let mut bytes = head.to_bytes().unwrap();
        bytes.resize(bytes.len() + 2880, 0);
        bytes
    });
    assert_eq!(value(&found[0], "CRPIX1"), Some("924.5"));
    assert_eq!(value(&found[0], "CRPIX2"), Some("1000.5"));
    assert_eq!(value(&found[0], "CRPIX1A"), Some("-99.0"));
    assert_eq!(value(&found[0], "CRVAL1"), Some("80.12345678"));
}

#[test]
fn numbers_come_back_bit_for_bit() {
    for number in [
        0.0,
        -0.0,
        1.0,
        -2.5,
        0.1,
        1e-5,
        1e16,
        1e22,
        123_456_789.123_456_79,
        5e-324,
        f64::MAX,
        -f64::MAX,
        f64::MIN_POSITIVE,
        -2.225_073_858_507_201e-308,
        9_007_199_254_740_993.0,
    ] {
        let mut cards = Cards::new();
        cards.float("X", number, "").unwrap();
        let bytes = cards.into_blocks();
        let card = std::str::from_utf8(&bytes[..80]).unwrap();
        let text = card[10..].trim();
        assert!(text.contains('.'), "{text}");
        assert!(
            text.bytes()
                .all(|b| b.is_ascii_digit() || b"+-.E".contains(&b)),
            "{text}"
        );
        assert_eq!(
            text.parse::<f64>().unwrap().to_bits(),
            number.to_bits(),
            "{text}"
        );
    }
    let mut cards = Cards::new();
    cards.float("X", f64::NAN, "nothing").unwrap();
    let bytes = cards.into_blocks();
    assert!(bytes.starts_with(b"X       =                      / nothing"));
}

/// The string that a card and its CONTINUE cards hold, read as §4.2.1.2 says.
fn joined(cards: &[String]) -> String {
    let mut text = String::new();
    for (i, card) in cards.iter().enumerate() {
        let value = card[10..].trim_start().strip_prefix('\'').unwrap();
        let closing = value.replace("''", "  ").find('\'').unwrap();
        let piece = value[..closing].replace("''", "'");
        match piece.strip_suffix('&') {
            Some(piece) if i + 1 < cards.len() => text.push_str(piece),
            _ => text.push_str(piece.trim_end()),
        }
    }
    text
}

#[test]
fn strings_of_any_length_come_back() {
    for len in (0..=140).chain([500]) {
        for pattern in ["a", "'", "ab'", "x'' &", "word & word "] {
            let text: String = pattern.chars().cycle().take(len).collect();
            let text = text.trim_end();
            let mut cards = Cards::new();
            cards.text("KEY", text, "a comment").unwrap();
            let (found, _) = self::cards(&cards.clone().into_blocks(), 0);
            assert_eq!(joined(&found), text);
            assert_eq!(found.len(), cards.len());
            assert!(found[1..].iter().all(|c| c.starts_with("CONTINUE  '")));
        }
    }
}

#[test]
fn history_is_wrapped_between_words() {
    let mut cards = Cards::new();
    cards.history(&format!("{} {}", "word ".repeat(40), "x".repeat(200)));
    cards.history("");
    let (found, _) = self::cards(&cards.into_blocks(), 0);
    let lines: Vec<&str> = found.iter().map(|c| c[8..].trim_end()).collect();
    assert_eq!(lines.concat().matches("word").count(), 40);
    assert_eq!(lines.concat().matches('x').count(), 200);
    assert!(lines[0].ends_with("word"));
}

#[test]
fn bad_input_is_refused() {
    for keyword in ["", "lower", "TOOLONGKEY", "A B", "ÄÖÜ"] {
        let error = Cards::new().integer(keyword, 1, "").unwrap_err();
        assert_eq!(error.code(), "parameter");
        assert!(Cards::new().text(keyword, "", "").is_err());
    }
    assert!(ImageHeader::primary(Bitpix::F32, 0, 4).to_bytes().is_err());
    let mut out = Vec::new();
    let error = write::put_u16(&[4096, 32_768], &mut out).unwrap_err();
    assert_eq!(error.code(), "parameter");
    assert!(out.is_empty());
}

#[test]
fn padding_fills_the_block() {
    for (len, pad) in [
        (0, 0),
        (1, 2879),
        (2879, 1),
        (2880, 0),
        (2881, 2879),
        (1 << 40, 704),
    ] {
        assert_eq!(write::padding(len), pad);
        assert_eq!((len + pad as u64) % 2880, 0);
    }
}

proptest! {
    #[test]
    fn whatever_is_carried_over_the_header_stays_fits(
        cards in prop::collection::vec("[A-Z]{0,3}[ -~µ\\n]{0,100}|[A-D]{8}= [-'&/ 0-9.E()]{0,75}|CONTINUE  '[a'&]{0,70}", 0..20),
        history in ".{0,200}",
        unit in ".{0,90}",
    ) {
        let mut head = primary(Bitpix::F32);
        head.carried = cards;
        head.history = vec![history];
        head.unit = Some(unit);
        head.origin = [3, 4];
        let mut bytes = head.to_bytes().unwrap();
        bytes.resize(bytes.len() + 2880, 0);
        verify(&bytes);
    }
}

/// The Python to ask: `SECTILE_PYTHON`, else python3; `None` if it has no astropy.
fn astropy() -> Option<String> {
    let python = std::env::var("SECTILE_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let answer = Command::new(&python)
        .args(["-c", "import astropy.io.fits"])
        .output();
    if answer.is_ok_and(|answer| answer.status.success()) {
        return Some(python);
    }
    println!("skipped: {python} has no astropy (SECTILE_PYTHON names another Python)");
    None
}

#[test]
fn astropy_reads_what_was_written() {
    let Some(python) = astropy() else { return };
    let folder = tempfile::tempdir().unwrap();
    for (bitpix, name) in [(Bitpix::F32, "f4.fits"), (Bitpix::F64, "f8.fits")] {
        let path = folder.path().join(name);
        std::fs::write(&path, file(bitpix)).unwrap();
        let answer = Command::new(&python)
            .args(["-W", "error", "-c", ASTROPY, path.to_str().unwrap()])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&answer.stderr);
        assert!(answer.status.success(), "{name}: {said}");
    }
}

const ASTROPY: &str = "
import sys, numpy as np
from astropy.io import fits
from astropy.wcs import WCS
with fits.open(sys.argv[1]) as hdus:
    hdus.verify('exception')
    assert len(hdus) == 2, len(hdus)
    header, image = hdus[0].header, hdus[0].data
    assert image.shape == (5, 7), image.shape
    want = (np.arange(35) / 8.0 - 2.0).reshape(5, 7)
    if image.dtype.itemsize == 4:
        assert np.isnan(image[0, 3]) and np.isinf(image[0, 4])
        want[0, 3] = np.nan; want[0, 4] = np.inf
    np.testing.assert_array_equal(image, want)
    assert header['NCOMBINE'] == 12 and header['BUNIT'] == 'MJy/sr'
    assert header['OBJECT'] == \"O'Neill's star\", header['OBJECT']
    assert header['LONGNAME'].endswith('eighty cards can hold'), header['LONGNAME']
    assert header['COMPLEX'] == 1.5 - 2000j
    assert header['CTYPE1'] == 'RA---TAN'
    assert 'Sectile 0.1.0: median of 12 exposures' in list(header['HISTORY'])
    assert hdus['COUNT'].data.dtype.kind == 'i'
    np.testing.assert_array_equal(hdus['COUNT'].data.ravel(), np.arange(35) * 117)
    for hdu in hdus:
        for card in hdu.header.cards:
            card.verify('exception')
";
