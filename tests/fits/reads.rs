//! How many reads a walk takes, and of which bytes.

use sectile::error::Error;
use sectile::fits::hdu::Selection;
use sectile::fits::walk::{FIRST_READ, HEADER_LIMIT, NEXT_READ, Walk};
use sectile::job::{Machine, Step};

use crate::source::{File, Outcome, PRIMARY, array, assert_error, extension, pad, primary};

fn walk(file: &File) -> Outcome {
    file.walk(Walk::new("test.fits", Selection::Default, 0))
}

#[test]
fn a_plain_image_takes_one_read() {
    let outcome = walk(&File::new(primary(16, &[1000, 1000], &[])));
    assert_eq!(
        outcome.reads.as_slice(),
        std::slice::from_ref(&(0..FIRST_READ))
    );
    let image = outcome.image.unwrap();
    assert_eq!(
        (image.data_at, image.width, image.height),
        (2880, 1000, 1000)
    );
    assert!(image.notes.is_empty());
}

#[test]
fn a_plain_image_of_hidden_size_takes_two_and_sees_its_last_pixel() {
    let file = File::new(primary(16, &[1000, 1000], &[])).hidden();
    let outcome = walk(&file);
    let last = 2880 + 2_000_000 - 1;
    let next = file.total;
    assert_eq!(outcome.reads, [0..FIRST_READ, last..next + NEXT_READ]);
    assert!(outcome.image.is_ok());

    let mut cut = file;
    cut.total -= 5000;
    let outcome = walk(&cut);
    assert_eq!(outcome.reads.len(), 2);
    assert_error(
        outcome.image,
        "format",
        &["truncated", "2000000 bytes", "or before"],
    );
}

fn jwst(filler: usize) -> File {
    let comments = vec!["COMMENT a space telescope's header is long"; filler];
    let mut bytes = primary(8, &[], &comments);
    bytes.extend(extension(-32, &[200, 100], &["EXTNAME = 'SCI     '"]));
    for name in ["EXTNAME = 'ERR     '", "EXTNAME = 'WHT     '"] {
        bytes.extend(extension(-32, &[200, 100], &[name]));
    }
    File::new(bytes)
}

#[test]
fn a_space_telescope_file_takes_one_read_or_two() {
    for (cards, reads) in [(300, 1), (740, 1), (790, 2), (1100, 2)] {
        for file in [jwst(cards), jwst(cards).hidden()] {
            let outcome = walk(&file);
            assert_eq!(
                outcome.reads.len(),
                reads,
                "{cards} cards: {:?}",
                outcome.reads
            );
            let image = outcome.image.unwrap();
            assert_eq!((image.hdu, image.name.as_deref()), (1, Some("SCI")));
        }
    }
}

#[test]
fn a_header_longer_than_a_read_asks_for_the_rest_only() {
    let file = jwst(5000);
    let outcome = walk(&file);
    assert!(outcome.image.is_ok());
    for pair in outcome.reads.windows(2) {
        assert_eq!(pair[0].end, pair[1].start);
    }
    assert_eq!(outcome.reads.len(), 4);
}

#[test]
fn a_later_hdu_is_reached_by_one_read_each() {
    let file = jwst(300);
    let outcome = file.walk(Walk::new("test.fits", "WHT".parse().unwrap(), 0));
    assert_eq!(outcome.image.unwrap().hdu, 3);
    assert_eq!(outcome.reads.len(), 3);
    assert!(
        outcome.reads[1..]
            .iter()
            .all(|read| read.end - read.start == NEXT_READ)
    );
}

#[test]
fn headers_within_the_first_read_are_not_read_again() {
    let mut bytes = primary(8, &[], &[]);
    for _ in 0..6 {
        bytes.extend(extension(16, &[5, 5], &["EXTNAME = 'ERR     '"]));
    }
    let outcome = File::new(bytes).walk(Walk::all("test.fits"));
    assert_eq!(outcome.hdus.len(), 7);
    assert_eq!(
        outcome.reads.as_slice(),
        std::slice::from_ref(&(0..FIRST_READ))
    );
}

#[test]
fn an_image_beyond_4_gib_is_found_without_reading_what_lies_before() {
    // 70,000 × 70,000 f32 before the image meant: every offset needs more than 32 bits.
    let mut bytes = array(PRIMARY, -32, &[70_000, 70_000], &[]);
    let next = (bytes.len() as u64 + 70_000 * 70_000 * 4).next_multiple_of(2880);
    let sci = extension(-32, &[4, 3], &["EXTNAME = 'SCI     '"]);
    let mut walk = Walk::new("big.fits", Selection::Default, 0);
    let total = next + sci.len() as u64;
    bytes.resize(usize::try_from(FIRST_READ).unwrap(), 0);
    assert_eq!(walk.step().unwrap(), Step::Need(0..FIRST_READ));
    walk.feed(0, &bytes, Some(total)).unwrap();
    assert!(matches!(walk.step().unwrap(), Step::Ready(hdu) if hdu.data_len == 19_600_000_000));
    assert_eq!(walk.step().unwrap(), Step::Need(next..total));
    walk.feed(next, &sci, Some(total)).unwrap();
    assert!(matches!(walk.step().unwrap(), Step::Ready(_)));
    assert_eq!(walk.step().unwrap(), Step::Done);
    let image = walk.into_image().unwrap();
    assert_eq!((image.hdu, image.data_at), (1, next + 2880));
    assert!(image.data_at > u64::from(u32::MAX));
}

#[test]
fn a_header_without_end_is_given_up_at_the_limit() {
    let comments = vec!["COMMENT no end"; 40_000];
    for file in [File::new(array(PRIMARY, 8, &[], &comments)), {
        File::new(array(PRIMARY, 8, &[], &comments)).hidden()
    }] {
        let outcome = walk(&file);
        assert!(outcome.reads.len() <= 8, "{:?}", outcome.reads);
        assert!(outcome.reads.iter().all(|read| read.end <= HEADER_LIMIT));
        assert_error(outcome.image, "format", &["END", "HDU 0", "2097152"]);
    }
}

#[test]
fn hdus_without_number_are_given_up_at_the_limit() {
    let mut bytes = primary(8, &[], &[]);
    let one = extension(8, &[], &[]);
    for _ in 0..10_005 {
        bytes.extend_from_slice(&one);
    }
    let outcome = walk(&File::new(bytes));
    assert_eq!(outcome.hdus.len(), 10_000);
    assert_error(outcome.image, "format", &["10000 HDUs", "limit"]);
}

#[test]
fn only_the_bytes_asked_for_are_taken() {
    let file = primary(16, &[10, 10], &[]);
    let total = Some(file.len() as u64);
    let mut walk = Walk::new("test.fits", Selection::Default, 0);
    assert!(matches!(
        walk.feed(0, &file, total),
        Err(Error::Unexpected { .. })
    ));
    walk.step().unwrap();
    for (at, bytes, total) in [
        (1, &file[1..], total),
        (0, &pad(vec![0; 70_000], 0)[..], None),
        (0, &file[..], Some(100)),
        (0, &[][..], Some(5760)),
    ] {
        let mut walk = Walk::new("test.fits", Selection::Default, 0);
        walk.step().unwrap();
        assert!(matches!(
            walk.feed(at, bytes, total),
            Err(Error::Unexpected { .. })
        ));
    }
}

#[test]
fn a_size_that_changes_is_an_error() {
    let file = primary(16, &[500, 500], &[]);
    let mut walk = Walk::all("test.fits");
    walk.step().unwrap();
    walk.feed(0, &file[..100], Some(600_000)).unwrap();
    assert_eq!(walk.step().unwrap(), Step::Need(100..FIRST_READ));
    let error = walk.feed(100, &file[100..200], Some(600_001)).unwrap_err();
    assert!(error.to_string().contains("changed"), "{error}");
}
