//! Small files, each with a fault that readers have had: values, notes and errors by a table.

use std::path::PathBuf;

use sectile::fits::Image;
use sectile::fits::walk::Walk;
use serde::Deserialize;

use crate::source::{File, Outcome, assert_error};

#[derive(Deserialize)]
struct Case {
    file: String,
    #[serde(default)]
    select: String,
    #[serde(default)]
    plane: u64,
    #[serde(default = "one")]
    planes: u64,
    hdu: Option<u32>,
    width: Option<u32>,
    height: Option<u32>,
    bitpix: Option<i64>,
    #[serde(default)]
    values: Vec<Number>,
    data_at: Option<u64>,
    #[serde(default)]
    notes: Vec<String>,
    error: Option<String>,
    #[serde(default)]
    says: Vec<String>,
}

fn one() -> u64 {
    1
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Number {
    Finite(f64),
    Word(String),
}

impl Number {
    fn value(&self) -> f64 {
        match self {
            Self::Finite(value) => *value,
            Self::Word(word) => word.to_ascii_lowercase().parse().unwrap(),
        }
    }
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/fits")
}

fn cases() -> Vec<Case> {
    let table = std::fs::read(folder().join("expected.json")).unwrap();
    serde_json::from_slice(&table).unwrap()
}

pub(crate) fn open(name: &str) -> File {
    File::new(std::fs::read(folder().join(name)).unwrap())
}

impl Case {
    fn walk(&self) -> Walk {
        let selection = match self.select.as_str() {
            "" => sectile::fits::hdu::Selection::Default,
            select => select.parse().unwrap(),
        };
        Walk::new(&self.file, selection, self.plane)
    }

    fn check(&self, file: &File, outcome: Outcome) {
        if let Some(code) = &self.error {
            let says: Vec<&str> = self.says.iter().map(String::as_str).collect();
            return assert_error(outcome.image, code, &says);
        }
        let image = outcome.image.unwrap();
        assert_eq!(Some(image.hdu), self.hdu, "{}", self.file);
        assert_eq!(Some(image.width), self.width, "{}", self.file);
        assert_eq!(Some(image.height), self.height, "{}", self.file);
        assert_eq!(image.planes, self.planes, "{}", self.file);
        assert_eq!(
            Some(image.encoding.bitpix.card()),
            self.bitpix,
            "{}",
            self.file
        );
        if let Some(data_at) = self.data_at {
            assert_eq!(image.data_at, data_at, "{}", self.file);
        }
        assert_values(&self.file, &values(file, &image), &self.values);
        let notes = image.notes.join("\n");
        assert_eq!(
            notes.is_empty(),
            self.notes.is_empty(),
            "{}: {notes}",
            self.file
        );
        for note in &self.notes {
            assert!(
                notes.contains(note),
                "{}: {note:?} is not in {notes}",
                self.file
            );
        }
    }
}

fn values(file: &File, image: &Image) -> Vec<f64> {
    let bytes = file.slice(image.data_at..image.data_at + image.data_len());
    let mut values = vec![0.5; image.width as usize * image.height as usize];
    assert_eq!(image.encoding.decode_f64(&bytes, &mut values), values.len());
    values
}

fn assert_values(name: &str, got: &[f64], wanted: &[Number]) {
    assert_eq!(got.len(), wanted.len(), "{name}");
    for (got, wanted) in got.iter().zip(wanted) {
        let wanted = wanted.value();
        let same = got.to_bits() == wanted.to_bits() || (got.is_nan() && wanted.is_nan());
        assert!(same, "{name}: {got} instead of {wanted}");
    }
}

#[test]
fn every_case_has_its_outcome() {
    let cases = cases();
    assert_eq!(cases.len(), 29);
    for case in &cases {
        let file = open(&case.file);
        case.check(&file, file.walk(case.walk()));
    }
}

#[test]
fn every_case_has_its_outcome_with_a_hidden_size() {
    for case in cases() {
        let file = open(&case.file).hidden();
        let outcome = file.walk(case.walk());
        // How many bytes follow the last HDU is not known then, but that they do is.
        case.check(&file, outcome);
    }
}

#[test]
fn parts_of_any_size_give_the_same_outcome() {
    for case in cases() {
        let file = open(&case.file);
        for size in [1, 7, 79, 80, 81, 2879, 2880, 2881] {
            case.check(&file, file.walk_in_parts(case.walk(), |_| size));
        }
        let mut state = 0x9e37_79b9_u64;
        let uneven = |there: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            1 + (state >> 33) % there.max(1)
        };
        case.check(&file, file.walk_in_parts(case.walk(), uneven));
    }
}

#[test]
fn a_table_lists_every_hdu() {
    let labels = |name: &str| -> Vec<String> {
        let outcome = open(name).walk(Walk::all(name));
        outcome
            .hdus
            .iter()
            .map(sectile::fits::hdu::Hdu::label)
            .collect()
    };
    assert_eq!(labels("A08_trailing_zero_block.fits"), ["0 PRIMARY"]);
    assert_eq!(
        labels("A13_dup_extname.fits"),
        ["0 PRIMARY", "1 SCI,2", "2 ERR,1", "3 SCI,1", "4 SCI,3"]
    );
    assert_eq!(labels("A34_jwst_like.fits")[..2], ["0 PRIMARY", "1 SCI,1"]);
}

#[test]
fn what_the_primary_says_of_the_exposure_is_handed_down() {
    let image = open("A12_naxis0_primary.fits").image().unwrap();
    assert!(
        image
            .cards
            .iter()
            .any(|card| card.starts_with("TELESCOP= 'JWST"))
    );
    let image = open("A34_jwst_like.fits").image().unwrap();
    assert_eq!(image.unit.as_deref(), Some("MJy/sr"));
    assert!(image.cards.iter().all(|card| card.len() == 80));
}

#[test]
fn continued_strings_are_joined() {
    let outcome = open("A10_continue.fits").walk(Walk::all("A10"));
    let header = &outcome.hdus[0].header;
    let long = "A very long programme name that has to be continued over two cards because it's \
                long&";
    assert_eq!(header.text("PROGRAM"), Some(long));
    assert_eq!(
        header.card("PROGRAM").unwrap().comment,
        "a comment on the last piece"
    );
    assert_eq!(header.text("AMPEND"), Some("ends in ampersand&"));
    assert_eq!(header.text("plain"), Some("next"));
}
