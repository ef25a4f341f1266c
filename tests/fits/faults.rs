//! Headers and files that are damaged, absurd, or not FITS at all.

use sectile::error::Error;
use sectile::fits::hdu::Selection;
use sectile::fits::walk::Walk;

use crate::source::{File, IMAGE, PRIMARY, array, assert_error, extension, header, primary};

/// Servers' pages may begin with many empty lines.
const LATE: &[u8] = &{
    let mut page = [b'\n'; 300];
    let (mut i, word) = (0, b"<html>");
    while i < word.len() {
        page[200 + i] = word[i];
        i += 1;
    }
    page
};

#[test]
fn other_files_are_named_for_what_they_look_like() {
    for (head, code, words) in [
        (
            &b"\x1f\x8b\x08\x00rest"[..],
            "unsupported",
            &["gzip", "unpack"][..],
        ),
        (b"BZh91AY&SY", "unsupported", &["bzip2"]),
        (b"PK\x03\x04....", "unsupported", &["zip"]),
        (b"\xfd7zXZ\0\0", "unsupported", &["xz"]),
        (b"\x28\xb5\x2f\xfd", "unsupported", &["zstd"]),
        (
            b"\n <!DOCTYPE HTML><p>403",
            "format",
            &["web page", "<!DOCTYPE HTML>", "FITS"],
        ),
        (b"\xef\xbb\xbf<html>", "format", &["web page"]),
        (LATE, "format", &["web page"]),
        (b"<?xml version='1.0'?><Error>", "format", &["XML"]),
        (b"{\"message\": \"no\"}", "format", &["JSON"]),
        (b"#ASDF 1.0.0", "format", &["ASDF"]),
        (b"\x89PNG\r\n\x1a\n", "format", &["PNG", "\\x89PNG"]),
        (b"", "format", &["empty"]),
        (b"hello\x07", "format", &["SIMPLE", "hello\\x07"]),
        (b"\0\0\0\0", "format", &["zeros"]),
        (b"XTENSION= 'IMAGE   '", "format", &["primary"]),
        (
            b"SIMPLE  =                    T",
            "format",
            &["END", "cut short"],
        ),
    ] {
        for file in [File::new(head.to_vec()), File::new(head.to_vec()).hidden()] {
            assert_error(file.image(), code, words);
            let walk = Walk::new("test.fits", Selection::Default, 0);
            let parts = file.walk_in_parts(walk, |_| 7).image;
            assert_eq!(parts, file.image());
        }
    }
}

#[test]
fn absurd_mandatory_cards_are_named_with_their_numbers() {
    let broken = |cards: &[&str], words: &[&str]| {
        let mut all = vec![PRIMARY];
        all.extend_from_slice(cards);
        assert_error(File::new(header(&all)).image(), "format", words);
    };
    broken(&["NAXIS   = 0"], &["BITPIX", "no BITPIX card"]);
    broken(
        &["BITPIX  = 12", "NAXIS   = 0"],
        &["BITPIX = 12", "byte 80"],
    );
    broken(&["BITPIX  = 'x'", "NAXIS   = 0"], &["BITPIX = 'x'"]);
    broken(&["BITPIX  = 8"], &["no NAXIS card"]);
    broken(&["BITPIX  = 8", "NAXIS   = -1"], &["NAXIS = -1"]);
    broken(&["BITPIX  = 8", "NAXIS   = 1000"], &["1000", "999"]);
    broken(&["BITPIX  = 8", "NAXIS   = 1"], &["no NAXIS1 card"]);
    broken(
        &["BITPIX  = 8", "NAXIS   = 1", "NAXIS1  = -5"],
        &["NAXIS1 = -5", "byte 240"],
    );
    broken(
        &["BITPIX  = 8", "NAXIS   = 1", "NAXIS1  = 1.5"],
        &["NAXIS1 = 1.5"],
    );
    broken(&["BITPIX  = 8", "NAXIS   = 1", "NAXIS1  ="], &["NAXIS1"]);
    broken(
        &["BITPIX  = 8", "NAXIS   = 1", "NAXIS1  = 5", "GCOUNT  = -1"],
        &["GCOUNT = -1"],
    );
    let long = "NAXIS1  = 18446744073709551616";
    broken(
        &["BITPIX  = 8", "NAXIS   = 1", long],
        &["NAXIS1 = 1.8446744073709552e19"],
    );
}

#[test]
fn lengths_beyond_64_bits_are_an_error_and_below_them_only_arithmetic() {
    let over = array(PRIMARY, -64, &[1 << 32, 1 << 31], &[]);
    assert_error(
        File::new(over).image(),
        "format",
        &["4294967296 × 2147483648", "2^64"],
    );
    let edge = array(PRIMARY, 8, &[u64::MAX >> 1, 2], &[]);
    assert_error(File::new(edge).image(), "format", &["2^64"]);

    // Fits 64 bits and the file is as long as it says: only the plan may refuse it.
    let mut huge = File::new(array(PRIMARY, 16, &[1 << 31, 1 << 30], &[]));
    huge.total = 2880 + (1_u64 << 62).next_multiple_of(2880);
    let image = huge.image().unwrap();
    assert_eq!((image.width, image.height), (1 << 31, 1 << 30));
    assert_eq!(image.data_len(), 1 << 62);

    let wide = array(PRIMARY, 8, &[1 << 33, 1], &[]);
    let mut wide = File::new(wide);
    wide.total = 2880 + (1 << 34);
    assert_error(wide.image(), "unsupported", &["NAXIS1 = 8589934592"]);
}

#[test]
fn a_file_cut_inside_the_plane_says_what_is_there() {
    let mut file = File::new(primary(16, &[100, 100], &[]));
    file.total = 2880 + 15_000;
    assert_error(
        file.image(),
        "format",
        &["truncated", "20000 bytes", "17880", "15000 of them"],
    );
    file.hidden = true;
    assert_error(file.image(), "format", &["truncated", "20000 bytes"]);
}

#[test]
fn a_plane_that_is_whole_is_read_from_a_cube_that_is_cut() {
    let mut file = File::new(primary(16, &[100, 100, 3], &[]));
    file.total = 2880 + 45_000;
    let plane = |plane| {
        file.walk(Walk::new("test.fits", Selection::Default, plane))
            .image
    };
    let image = plane(1).unwrap();
    assert_eq!((image.data_at, image.planes), (2880 + 20_000, 3));
    assert!(
        image.notes[0].contains("plane read is whole"),
        "{:?}",
        image.notes
    );
    assert_error(plane(2), "format", &["truncated"]);
    assert_error(
        plane(3),
        "parameter",
        &["3 plane(s)", "no plane 3", "test.fits"],
    );
}

#[test]
fn forms_that_are_not_read_are_refused_by_name() {
    let groups = array(
        PRIMARY,
        -32,
        &[0, 3, 4],
        &["GROUPS  = T", "PCOUNT  = 6", "GCOUNT  = 10"],
    );
    let mut file = File::new(groups);
    file.total = 2880 * 2;
    let outcome = file.walk(Walk::all("test.fits"));
    assert_eq!(outcome.hdus[0].data_len, 4 * 10 * (6 + 12));
    assert_error(outcome.image, "unsupported", &["random groups", "GROUPS"]);

    let mut bytes = primary(8, &[], &[]);
    bytes.extend(header(&[
        "XTENSION= 'BINTABLE'",
        "BITPIX  = 8",
        "NAXIS   = 2",
        "NAXIS1  = 8",
        "NAXIS2  = 0",
        "PCOUNT  = 0",
        "GCOUNT  = 1",
        "EXTNAME = 'ASDF    '",
    ]));
    let file = File::new(bytes);
    assert_error(
        file.image(),
        "format",
        &["no HDU holds an image", "0 PRIMARY; 1 ASDF,1"],
    );
    assert_error(
        file.select("asdf"),
        "unsupported",
        &["1 ASDF,1", "binary table", "--hdu"],
    );
    assert_error(
        file.select("primary"),
        "unsupported",
        &["0 PRIMARY has no pixels"],
    );
    assert_error(file.select("7"), "format", &["7 was not found", "1 ASDF,1"]);
}

#[test]
fn an_empty_axis_is_an_empty_image() {
    let mut bytes = primary(16, &[0, 5], &[]);
    bytes.extend(extension(16, &[5, 0], &["EXTNAME = 'SCI     '"]));
    bytes.extend(extension(16, &[5, 4], &["EXTNAME = 'IMG     '"]));
    assert_eq!(File::new(bytes.clone()).image().unwrap().hdu, 2);
    assert_error(File::new(bytes).select("0"), "unsupported", &["no pixels"]);
}

#[test]
fn pcount_and_gcount_count_in_the_length() {
    let mut bytes = primary(8, &[], &[]);
    let odd = ["PCOUNT  = 2870", "GCOUNT  = 2", "EXTNAME = 'ODD     '"];
    bytes.extend(array(IMAGE, 8, &[5, 4], &odd));
    bytes.resize(2880 * 2 + 5780_usize.next_multiple_of(2880), 0);
    bytes.extend(extension(8, &[3, 3], &["EXTNAME = 'SCI     '"]));
    let outcome = File::new(bytes).walk(Walk::all("test.fits"));
    assert_eq!(outcome.hdus[1].data_len, 2 * (2870 + 20));
    assert_eq!(outcome.image.unwrap().name.as_deref(), Some("SCI"));
}

#[test]
fn data_without_room_for_the_pixels_are_refused() {
    let cube = [1 << 31, 1 << 30, 1 << 2];
    let file = File::new(array(PRIMARY, -64, &cube, &["GCOUNT  = 0"]));
    for plane in 0..4 {
        let image = file
            .walk(Walk::new("test.fits", Selection::Default, plane))
            .image;
        assert_error(image, "format", &["GCOUNT", "0 bytes of data"]);
    }
}

#[test]
fn what_follows_the_last_hdu_is_ignored_and_noted() {
    for (junk, word) in [
        (vec![0; 2880], "zeros"),
        (vec![b' '; 2880], "no HDU"),
        (b"junk".repeat(2000), "junkjunk"),
        (vec![0; 17], "too few"),
        (primary(8, &[], &[]), "SIMPLE"),
    ] {
        let mut bytes = primary(16, &[10, 10], &[]);
        let length = junk.len();
        bytes.extend(junk);
        let outcome = File::new(bytes.clone()).walk(Walk::all("test.fits"));
        assert_eq!(outcome.hdus.len(), 1);
        let notes = outcome.image.unwrap().notes;
        assert_eq!(notes.len(), 1, "{notes:?}");
        assert!(
            notes[0].contains(word) && notes[0].contains(&length.to_string()),
            "{notes:?}"
        );
        let outcome = File::new(bytes).hidden().walk(Walk::all("test.fits"));
        assert_eq!((outcome.hdus.len(), outcome.reads.len()), (1, 1));
    }
}

#[test]
fn damage_behind_an_image_names_the_way_to_the_image() {
    let mut bytes = primary(16, &[10, 10], &[]);
    bytes.extend(header(&[IMAGE, "BITPIX  = 99", "NAXIS   = 0"]));
    let file = File::new(bytes);
    assert_error(file.image(), "format", &["BITPIX = 99", "--hdu 0"]);
    assert_eq!(file.select("0").unwrap().hdu, 0);
}

#[test]
fn a_scaling_that_is_no_number_or_zero_is_refused() {
    let image = |card: &str| File::new(primary(16, &[2, 2], &[card])).image();
    assert_error(
        image("BSCALE  = 'one'"),
        "format",
        &["BSCALE", "'one'", "byte 400"],
    );
    assert_error(image("BZERO   = NaN"), "format", &["BZERO", "NaN"]);
    assert_error(image("BSCALE  = 0.0"), "format", &["BSCALE is 0"]);
    assert_eq!(
        image("BSCALE  = 2.5D-1").unwrap().encoding.bscale.to_bits(),
        0.25f64.to_bits()
    );
    assert_eq!(
        image("BSCALE  =").unwrap().encoding.bscale.to_bits(),
        1f64.to_bits()
    );
}

#[test]
fn a_blank_that_no_pixel_can_have_is_ignored_and_noted() {
    for (bitpix, blank, taken) in [
        (16, "-32768", Some(-32768)),
        (16, "-32768.0", Some(-32768)),
        (16, "40000", None),
        (8, "-1", None),
        (8, "255", Some(255)),
        (64, "-9223372036854775808", Some(i64::MIN)),
        (32, "'x'", None),
        (-64, "0", None),
    ] {
        let card = format!("BLANK   = {blank}");
        let image = File::new(primary(bitpix, &[2, 2], &[&card]))
            .image()
            .unwrap();
        assert_eq!(image.encoding.blank, taken, "{card}");
        assert_eq!(
            image.notes.is_empty(),
            taken.is_some(),
            "{card}: {:?}",
            image.notes
        );
    }
}

#[test]
fn selections_are_read_and_shown() {
    for (text, selection) in [
        ("SCI", Selection::Name("SCI".into(), None)),
        (" sci , -2 ", Selection::Name("sci".into(), Some(-2))),
        ("1", Selection::Index(1)),
        ("er.mask,1", Selection::Name("er.mask".into(), Some(1))),
    ] {
        let read: Selection = text.parse().unwrap();
        assert_eq!(read, selection);
        assert_eq!(read.to_string().parse::<Selection>().unwrap(), selection);
    }
    for text in ["", ",1", "SCI,x", "99999999999"] {
        let error = text.parse::<Selection>().unwrap_err();
        assert!(
            matches!(error, Error::Parameter { name: "--hdu", .. }),
            "{error}"
        );
    }
}
