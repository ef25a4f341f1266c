//! Damaged headers: whatever the bytes, a walk ends, with an image or with an error.

use proptest::prelude::*;
use sectile::fits::hdu::Selection;
use sectile::fits::walk::{HEADER_LIMIT, Walk};

use crate::source::{File, PRIMARY, array, extension, primary};

/// A file with most of what a header can hold.
fn rich() -> Vec<u8> {
    let mut bytes = primary(
        16,
        &[7, 5, 2],
        &[
            "BSCALE  = 2.0",
            "BZERO   = 32768",
            "BLANK   = -5",
            "LONG    = 'a string that goes on &'",
            "CONTINUE  'here' / comment",
            "HIERARCH ESO A B = 1",
            "CTYPE1  = 'RA---TAN'",
            "CTYPE2  = 'DEC--TAN'",
            "CRVAL1  = 150.0",
            "CD1_1   = 1E-4",
            "CD2_2   = 1D-4",
        ],
    );
    bytes.extend(extension(
        -32,
        &[3, 3],
        &["EXTNAME = 'ERR     '", "EXTVER  = 2"],
    ));
    bytes.extend(extension(8, &[0, 3], &["PCOUNT  = 0", "GCOUNT  = 1"]));
    bytes.extend(extension(-64, &[2, 2], &["EXTNAME = 'SCI     '"]));
    bytes
}

/// One change of a file.
#[derive(Debug, Clone)]
enum Change {
    Byte(usize, u8),
    Swap(usize, usize),
    Number(usize, i64),
    Cut(usize),
    Append(Vec<u8>),
}

fn change() -> impl Strategy<Value = Change> {
    let place = 0..20_000_usize;
    prop_oneof![
        (place.clone(), any::<u8>()).prop_map(|(at, byte)| Change::Byte(at, byte)),
        (place.clone(), place.clone()).prop_map(|(a, b)| Change::Swap(a, b)),
        (0..40_usize, any::<i64>()).prop_map(|(card, number)| Change::Number(card, number)),
        place.prop_map(Change::Cut),
        prop::collection::vec(any::<u8>(), 0..6000).prop_map(Change::Append),
    ]
}

fn apply(bytes: &mut Vec<u8>, change: Change) {
    let len = bytes.len().max(1);
    match change {
        Change::Byte(at, byte) => {
            if let Some(old) = bytes.get_mut(at % len) {
                *old = byte;
            }
        }
        Change::Swap(a, b) => {
            // Whole cards change places.
            let (a, b) = (a % len / 80 * 80, b % len / 80 * 80);
            for i in 0..80 {
                if a + i < bytes.len() && b + i < bytes.len() {
                    bytes.swap(a + i, b + i);
                }
            }
        }
        Change::Number(card, number) => {
            let at = card * 80 + 10;
            if let Some(field) = bytes.get_mut(at..at + 21) {
                field.copy_from_slice(format!("{number:20} ").as_bytes());
            }
        }
        Change::Cut(at) => bytes.truncate(at),
        Change::Append(more) => bytes.extend(more),
    }
}

/// Walks the file in every way; `File::walk` fails if the walk does not end.
fn walks(bytes: Vec<u8>) {
    let total = bytes.len() as u64;
    for file in [File::new(bytes.clone()), File::new(bytes).hidden()] {
        for walk in [
            Walk::all("test.fits"),
            Walk::new("test.fits", Selection::Default, 1),
            Walk::new("test.fits", Selection::Name("err".into(), Some(2)), 0),
            Walk::new("test.fits", Selection::Index(2), 0),
            Walk::new("test.fits", Selection::Default, 0)
                .with_mask(Selection::Name("err".into(), None)),
            Walk::new("test.fits", Selection::Index(2), 0).with_mask(Selection::Index(1)),
        ] {
            let outcome = file.walk(walk);
            assert!(outcome.hdus.len() <= 10_000);
            assert!(
                outcome
                    .reads
                    .iter()
                    .all(|read| read.end - read.start <= HEADER_LIMIT)
            );
            if let Ok(image) = outcome.image {
                for image in image.mask.as_deref().into_iter().chain([&image]) {
                    assert!(image.width > 0 && image.height > 0 && image.plane < image.planes);
                    assert!(file.hidden || image.data_at + image.data_len() <= total);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_changed_file_ends_in_an_image_or_an_error(changes in prop::collection::vec(change(), 1..6)) {
        let mut bytes = rich();
        for change in changes {
            apply(&mut bytes, change);
        }
        walks(bytes);
    }

    #[test]
    fn absurd_lengths_end_in_an_image_or_an_error(
        bitpix in prop::sample::select(vec![8, 16, 32, 64, -32, -64]),
        axes in prop::collection::vec(prop_oneof![any::<u32>().prop_map(u64::from), any::<u64>()], 0..6),
        pcount in any::<i64>(),
        gcount in any::<i64>(),
    ) {
        let more = [format!("PCOUNT  = {pcount}"), format!("GCOUNT  = {gcount}")];
        walks(array(PRIMARY, bitpix, &axes, &[&more[0], &more[1]]));
        walks(array(PRIMARY, bitpix, &axes, &[]));
    }

    #[test]
    fn any_split_of_the_reads_gives_the_same(parts in prop::collection::vec(1..9000_u64, 1..40)) {
        let file = File::new(rich());
        let whole = file.walk(Walk::all("test.fits"));
        let mut turn = 0;
        let split = file.walk_in_parts(Walk::all("test.fits"), |_| {
            turn += 1;
            parts[turn % parts.len()]
        });
        prop_assert_eq!(whole.image, split.image);
        prop_assert_eq!(whole.hdus, split.hdus);
    }
}
