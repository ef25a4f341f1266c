//! Walks that look for an image and its mask.

use sectile::error::Error;
use sectile::fits::Image;
use sectile::fits::hdu::Selection;
use sectile::fits::pixel::Bitpix;
use sectile::fits::walk::{FIRST_READ, NEXT_READ, Walk};

use crate::source::{File, Outcome, assert_error, extension, header, pad, primary};

const NAMES: [&str; 3] = ["SCI", "ERR", "DQ"];

/// A camera of two chips: SCI, ERR and DQ of each, with one version a chip.
fn chips(side: u64) -> File {
    let mut bytes = primary(8, &[], &[]);
    for ver in 1..=2 {
        for name in NAMES {
            let bitpix = if name == "DQ" { 16 } else { -32 };
            let cards = [
                format!("EXTNAME = '{name:8}'"),
                format!("EXTVER  = {ver:20}"),
            ];
            bytes.extend(extension(
                bitpix,
                &[side, 4],
                &cards.each_ref().map(String::as_str),
            ));
        }
    }
    File::new(bytes)
}

fn walk(file: &File, hdu: &str, mask: &str) -> Outcome {
    let selection = match hdu {
        "" => Selection::Default,
        hdu => hdu.parse().unwrap(),
    };
    file.walk(Walk::new("test.fits", selection, 0).with_mask(mask.parse().unwrap()))
}

fn both(image: Result<Image, Error>) -> (u32, u32) {
    let image = image.unwrap();
    (image.hdu, image.mask.unwrap().hdu)
}

#[test]
fn a_name_alone_is_the_mask_of_the_images_own_version() {
    let file = chips(5);
    for (hdu, mask, found) in [
        ("", "DQ", (1, 3)),
        ("", "dq", (1, 3)),
        ("SCI,2", "DQ", (4, 6)),
        ("4", "DQ", (4, 6)),
        ("SCI,2", "DQ,1", (4, 3)),
        ("", "DQ,2", (1, 6)),
        ("SCI,2", "3", (4, 3)),
        ("ERR,2", "SCI", (5, 4)),
    ] {
        let outcome = walk(&file, hdu, mask);
        assert_eq!(both(outcome.image), found, "{hdu} with {mask}");
    }
}

#[test]
fn a_mask_says_where_its_pixels_lie_and_carries_no_cards() {
    let bscale = ["EXTNAME = 'DQ      '", "BZERO   =           2147483648"];
    let mut bytes = primary(-32, &[5, 4], &["CRVAL1  =                  1.0"]);
    let at = bytes.len() as u64 + 2880;
    bytes.extend(extension(32, &[5, 4], &bscale));
    let image = walk(&File::new(bytes), "", "DQ").image.unwrap();
    assert_eq!((image.hdu, image.data_at), (0, 2880));
    let mask = image.mask.unwrap();
    assert_eq!((mask.data_at, mask.width, mask.height), (at, 5, 4));
    assert_eq!(mask.encoding.bitpix, Bitpix::I32);
    assert!((mask.encoding.bzero - 2_147_483_648.0).abs() < 0.5);
    assert!(mask.cards.is_empty() && mask.wcs.is_none() && mask.mask.is_none());
    assert!(!image.cards.is_empty());
}

#[test]
fn the_walk_goes_on_to_the_mask_and_no_further() {
    // Every HDU has a read of its own.
    let file = chips(200_000);
    let first = walk(&file, "", "DQ");
    assert_eq!((first.reads.len(), first.hdus.len()), (3, 4));
    assert_eq!(first.reads[0], 0..FIRST_READ);
    assert!(
        first.reads[1..]
            .iter()
            .all(|read| read.end - read.start == NEXT_READ)
    );
    assert_eq!(walk(&file, "SCI,2", "DQ").hdus.len(), 7);
    assert_eq!(
        walk(&file, "SCI,2", "DQ,1").hdus.len(),
        5,
        "the mask comes first"
    );
    let without = file.walk(Walk::new("test.fits", Selection::Default, 0));
    assert_eq!(without.reads.len(), 1);
    assert!(without.image.unwrap().mask.is_none());
}

#[test]
fn a_mask_before_its_image_and_bytes_in_any_parts() {
    let mut bytes = primary(8, &[], &[]);
    bytes.extend(extension(16, &[5, 4], &["EXTNAME = 'DQ      '"]));
    bytes.extend(extension(
        16,
        &[5, 4],
        &["EXTNAME = 'DQ      '", "EXTVER  = 2"],
    ));
    bytes.extend(extension(
        -32,
        &[5, 4],
        &["EXTNAME = 'SCI     '", "EXTVER  = 2"],
    ));
    let file = File::new(bytes);
    let whole = walk(&file, "", "DQ").image.unwrap();
    assert_eq!((whole.hdu, whole.mask.as_ref().unwrap().hdu), (3, 2));
    for part in [1, 7, 2880, 5000] {
        let mask = Selection::Name("DQ".to_owned(), None);
        let parts = Walk::new("test.fits", Selection::Default, 0).with_mask(mask);
        let parts = file.walk_in_parts(parts, |_| part).image.unwrap();
        assert_eq!(parts, whole, "{part}");
    }
}

#[test]
fn what_is_no_mask_is_refused_by_its_name() {
    let file = chips(5);
    let error = walk(&file, "", "WHT").image;
    assert_error(
        error,
        "format",
        &["test.fits", "the mask, HDU WHT,1, was not found", "3 DQ,1"],
    );
    let error = walk(&file, "SCI,2", "DQ,3").image;
    assert_error(error, "format", &["the mask, HDU DQ,3, was not found"]);
    let error = walk(&file, "", "SCI").image;
    assert_error(
        error,
        "parameter",
        &["test.fits", "HDU 1 is image and mask at once", "--mask"],
    );
    let error = walk(&file, "", "0").image;
    assert_error(
        error,
        "unsupported",
        &["HDU 0 PRIMARY has no pixels", "with --mask"],
    );

    let mut bytes = primary(-32, &[5, 4], &[]);
    bytes.extend(pad(
        header(&[
            "XTENSION= 'BINTABLE'",
            "BITPIX  = 8",
            "NAXIS   = 2",
            "NAXIS1  = 8",
            "NAXIS2  = 4",
            "PCOUNT  = 0",
            "GCOUNT  = 1",
            "ZIMAGE  = T",
            "ZCMPTYPE= 'RICE_1  '",
            "ZBITPIX = 32",
            "ZNAXIS  = 2",
            "ZNAXIS1 = 5",
            "ZNAXIS2 = 4",
            "EXTNAME = 'DQ      '",
        ]),
        0,
    ));
    bytes.resize(bytes.len() + 2880, 0);
    let error = walk(&File::new(bytes), "", "DQ").image;
    assert_error(
        error,
        "unsupported",
        &["HDU 1 DQ,1 is compressed by tiles", "RICE_1"],
    );
}

#[test]
fn a_mask_that_is_cut_off_is_noticed() {
    let mut bytes = primary(-32, &[50, 40], &[]);
    bytes.extend(extension(16, &[50, 40], &["EXTNAME = 'DQ      '"]));
    bytes.truncate(bytes.len() - 3000);
    let error = walk(&File::new(bytes), "", "DQ").image;
    assert_error(
        error,
        "format",
        &["truncated", "pixels of HDU 1 need 4000 bytes"],
    );
}

#[test]
fn planes_of_a_cube_have_planes_of_the_mask_or_share_one() {
    let cube = |planes: &[u64]| {
        let mut bytes = primary(8, &[], &[]);
        bytes.extend(extension(-32, &[5, 4, 3], &["EXTNAME = 'SCI     '"]));
        let axes = [&[5, 4], planes].concat();
        bytes.extend(extension(16, &axes, &["EXTNAME = 'DQ      '"]));
        let walk = Walk::new("test.fits", Selection::Default, 2);
        let image = File::new(bytes)
            .walk(walk.with_mask("DQ".parse().unwrap()))
            .image;
        let mask = image.unwrap().mask.unwrap();
        (mask.plane, mask.data_at)
    };
    let at = 2880 * 4;
    assert_eq!(cube(&[3]), (2, at + 2 * 40));
    assert_eq!(cube(&[]), (0, at));
    assert_eq!(cube(&[1]), (0, at));
}

#[test]
fn real_files_have_masks_where_their_headers_say() {
    let shared = std::env::var_os("SECTILE_SHARED").map_or_else(
        || std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared"),
        std::path::PathBuf::from,
    );
    let folder = shared.join("data/fits");
    let mut seen = 0;
    for (name, hdu, mask, bitpix, versions) in [
        ("jwst__science.fits", "SCI", "DQ", 32, (1, 1)),
        ("jwst__test1_cal.fits", "SCI", "DQ", 32, (1, 1)),
        (
            "drizzlepac__sample_ipppssoot_flc.fits",
            "SCI,2",
            "DQ",
            16,
            (2, 2),
        ),
        (
            "drizzlepac__sample_svm_flc.fits",
            "SCI,2",
            "DQ,1",
            16,
            (2, 1),
        ),
        ("derived__m13_1_outlier_i2d.fits", "SCI", "WHT", -32, (1, 1)),
    ] {
        let Ok(bytes) = std::fs::read(folder.join(name)) else {
            println!("skipped: no {name} (SECTILE_SHARED)");
            continue;
        };
        let image = walk(&File::new(bytes), hdu, mask).image.unwrap();
        let mask = image.mask.unwrap();
        assert_eq!((image.ver, mask.ver), versions, "{name}");
        assert_eq!(
            (mask.width, mask.height),
            (image.width, image.height),
            "{name}"
        );
        assert_eq!(mask.encoding.bitpix.card(), bitpix, "{name}");
        seen += 1;
    }
    println!("{seen} real files");
}
