//! Pixel to sky, against positions computed with `astropy.wcs` 8.0.2 (WCSLIB), and the offset of grids.

use sectile::fits::header::Header;
use sectile::fits::wcs::Wcs;

use crate::cases::open;

type Point = ([f64; 2], [f64; 2]);

#[expect(
    clippy::unreadable_literal,
    reason = "the digits as they were computed"
)]
/// Cards, and a zero-based pixel with its longitude and latitude, twice.
const SKY: [(&[&str], Point, Point); 9] = [
    (
        &[
            "CTYPE1  = 'RA---TAN'",
            "CTYPE2  = 'DEC--TAN'",
            "CRPIX1  = 512.5",
            "CRPIX2  = 400.25",
            "CRVAL1  = 83.8",
            "CRVAL2  = -5.4",
            "CD1_1   = -1.2E-4",
            "CD1_2   = 3.0E-5",
            "CD2_1   = 2.8E-5",
            "CD2_2   = 1.3E-4",
        ],
        ([0.0, 0.0], [83.8496281373131, -5.466222432389421]),
        ([700.0, 33.5], [83.7662554013526, -5.442268554125991]),
    ), // cd
    (
        &[
            "CTYPE1  = 'RA---TAN'",
            "CTYPE2  = 'DEC--TAN'",
            "CRPIX1  = 512.5",
            "CRPIX2  = 400.25",
            "CRVAL1  = 83.8",
            "CRVAL2  = -5.4",
            "CDELT1  = -1.1E-4",
            "CDELT2  = 1.4E-4",
            "PC1_1   = 0.8",
            "PC1_2   = -0.6",
            "PC2_1   = 0.6",
            "PC2_2   = 0.8",
            "CUNIT1  = 'deg'",
            "CUNIT2  = 'deg'",
        ],
        ([0.0, 0.0], [83.81874740092005, -5.487681639582589]),
        ([700.0, 33.5], [83.75908925495396, -5.425128623679626]),
    ), // pc
    (
        &[
            "CTYPE1  = 'RA---TAN'",
            "CTYPE2  = 'DEC--TAN'",
            "CRPIX1  = 512.5",
            "CRPIX2  = 400.25",
            "CRVAL1  = 83.8",
            "CRVAL2  = -5.4",
            "CDELT1  = -1.1E-4",
            "CDELT2  = 1.4E-4",
        ],
        ([0.0, 0.0], [83.85652101306019, -5.455892343616355]),
        ([700.0, 33.5], [83.77917080840116, -5.4512046283222535]),
    ), // cdelt
    (
        &[
            "CTYPE1  = 'RA---TAN'",
            "CTYPE2  = 'DEC--TAN'",
            "CRPIX1  = 10.0",
            "CRPIX2  = 20.0",
            "CUNIT1  = 'arcsec'",
            "CUNIT2  = 'arcsec'",
            "CRVAL1  = 360000.0",
            "CRVAL2  = 7200.0",
            "CDELT1  = -0.5",
            "CDELT2  = 0.5",
        ],
        ([0.0, 0.0], [100.0012507599185, 1.9973611106374554]),
        ([700.0, 33.5], [99.90396925050754, 2.0020110791954506]),
    ), // arcsec
    (
        &[
            "CTYPE1  = 'DEC--TAN'",
            "CTYPE2  = 'RA---TAN'",
            "CRPIX1  = 50.0",
            "CRPIX2  = 60.0",
            "CRVAL1  = 40.0",
            "CRVAL2  = 10.0",
            "CD1_1   = 1E-3",
            "CD1_2   = 2E-4",
            "CD2_1   = 1E-4",
            "CD2_2   = -1E-3",
        ],
        ([0.0, 0.0], [10.070559670970955, 39.939178637367284]),
        ([700.0, 33.5], [10.11939915430552, 40.64581115407839]),
    ), // swapped
    (
        &[
            "CTYPE1  = 'DEC--TAN'",
            "CTYPE2  = 'RA---TAN'",
            "CRPIX1  = 50.0",
            "CRPIX2  = 60.0",
            "CRVAL1  = 40.0",
            "CRVAL2  = 10.0",
            "CDELT1  = 1E-3",
            "CDELT2  = -2E-3",
            "CROTA1  = 25.0",
        ],
        ([0.0, 0.0], [10.166651507971618, 40.0053405288148]),
        ([700.0, 33.5], [9.698490972809719, 40.61114466146062]),
    ), // swapped_crota
    (
        &[
            "CTYPE1  = 'RA---TAN'",
            "CTYPE2  = 'DEC--TAN'",
            "CRPIX1  = 512.5",
            "CRPIX2  = 400.25",
            "CRVAL1  = 83.8",
            "CRVAL2  = -5.4",
            "CD1_1   = -1.2E-4",
            "CD2_2   = 1.3E-4",
            "LONPOLE = 150.0",
        ],
        ([0.0, 0.0], [83.87946235634027, -5.414253707179928]),
        ([700.0, 33.5], [83.80420327199478, -5.45248731362029]),
    ), // lonpole
    (
        &[
            "CTYPE1  = 'RA---TAN'",
            "CTYPE2  = 'DEC--TAN'",
            "CRPIX1  = 100.0",
            "CRPIX2  = 100.0",
            "CRVAL1  = 30.0",
            "CRVAL2  = 90.0",
            "CDELT1  = -0.01",
            "CDELT2  = 0.01",
        ],
        ([0.0, 0.0], [255.0, 88.60020713950394]),
        ([700.0, 33.5], [126.21983363188679, 83.97670025417142]),
    ), // pole
    (
        &[
            "CTYPE1  = 'RA---TAN'",
            "CTYPE2  = 'DEC--TAN'",
            "CRPIX1  = 1.0",
            "CRPIX2  = 1.0",
            "CRVAL1  = 359.9",
            "CRVAL2  = 60.0",
            "CDELT1  = -0.1",
            "CDELT2  = 0.1",
        ],
        ([0.0, 0.0], [359.9, 60.0]),
        ([700.0, 33.5], [290.0940301509951, 34.517676086751514]),
    ), // wide
];

fn wcs(cards: &[&str]) -> Option<Wcs> {
    Wcs::from_header(&Header::parse(&crate::source::cards(cards)))
}

fn tan(more: &[&str]) -> Wcs {
    let mut cards = vec![
        "CTYPE1  = 'RA---TAN'",
        "CTYPE2  = 'DEC--TAN'",
        "CRVAL1  = 83.8",
        "CRVAL2  = -5.4",
        "CDELT1  = -1E-4",
        "CDELT2  = 1E-4",
    ];
    cards.extend_from_slice(more);
    wcs(&cards).unwrap()
}

fn assert_near(got: [f64; 2], wanted: [f64; 2], within: f64, what: &str) {
    for (got, wanted) in got.iter().zip(wanted) {
        assert!(
            (got - wanted).abs() <= within,
            "{what}: {got} instead of {wanted}"
        );
    }
}

#[test]
fn pixels_have_their_places_on_the_sky_and_back() {
    for (cards, first, second) in SKY {
        let wcs = wcs(cards).unwrap();
        assert!(wcs.is_plain_tan(), "{cards:?}");
        for (pixel, sky) in [first, second] {
            let what = cards.join("; ");
            assert_near(
                wcs.pixel_to_sky(pixel[0], pixel[1]).unwrap(),
                sky,
                1e-10,
                &what,
            );
            assert_near(
                wcs.sky_to_pixel(sky[0], sky[1]).unwrap(),
                pixel,
                1e-5,
                &what,
            );
        }
    }
}

#[test]
fn crota2_turns_with_unequal_scales() {
    let image = open("A27_crota2.fits").image().unwrap();
    let wcs = image.wcs.unwrap();
    assert!(wcs.is_plain_tan());
    let sky = |x, y| wcs.pixel_to_sky(x, y).unwrap();
    assert_near(
        sky(0.0, 0.0),
        [150.000_646_804_051_12, 1.999_680_384_630_425_6],
        1e-9,
        "A27",
    );
    assert_near(
        sky(9.0, 5.0),
        [149.999_116_448_777_73, 2.000_529_422_625_726_6],
        1e-9,
        "A27",
    );
}

#[test]
fn what_is_more_than_tan_is_not_plain() {
    for card in [
        "A_ORDER = 2",
        "A_0_2   = 1E-6",
        "PV1_1   = 1.0",
        "CPDIS1  = 'LOOKUP'",
        "D2IMDIS1= 'LOOKUP'",
    ] {
        let wcs = tan(&[card]);
        assert!(!wcs.is_plain_tan(), "{card}");
        assert_eq!(
            (wcs.pixel_to_sky(1.0, 1.0), wcs.sky_to_pixel(83.8, -5.4)),
            (None, None)
        );
    }
    for (one, two) in [
        ("RA---TAN-SIP", "DEC--TAN-SIP"),
        ("RA---TPV", "DEC--TPV"),
        ("RA---SIN", "DEC--SIN"),
        ("GLON-TAN", "GLAT-TAN"),
    ] {
        let cards = [format!("CTYPE1  = '{one}'"), format!("CTYPE2  = '{two}'")];
        assert!(
            !wcs(&[&cards[0], &cards[1]]).unwrap().is_plain_tan(),
            "{one}"
        );
    }
    assert!(tan(&["EQUINOX = 2000.0", "RADESYS = 'ICRS'"]).is_plain_tan());
}

#[test]
fn without_two_celestial_axes_or_with_a_singular_matrix_there_is_none() {
    let pair = |one: &str, two: &str, more: &str| {
        wcs(&[
            &format!("CTYPE1  = '{one}'"),
            &format!("CTYPE2  = '{two}'"),
            more,
        ])
    };
    assert_eq!(wcs(&[]), None);
    assert_eq!(pair("LINEAR", "LINEAR", ""), None);
    assert_eq!(pair("RA---TAN", "FREQ", ""), None);
    assert_eq!(pair("RA---TAN", "RA---TAN", ""), None);
    assert_eq!(pair("RA---TAN", "DEC--SIN", ""), None);
    assert_eq!(pair("RA---TAN", "DEC--TAN", "CDELT1  = 0"), None);
    assert_eq!(pair("RA---TAN", "DEC--TAN", "CD1_2   = 1.0"), None);
    assert_eq!(pair("RA---TAN", "DEC--TAN", "CUNIT1  = 'm'"), None);
    assert_eq!(pair("RA---TAN", "DEC--TAN", "CRVAL2  = 91.0"), None);
}

#[test]
fn the_far_side_of_the_sky_is_no_pixel() {
    let wcs = tan(&[]);
    assert_eq!(wcs.sky_to_pixel(83.8 + 180.0, 5.4), None);
    assert_eq!(wcs.sky_to_pixel(f64::NAN, 0.0), None);
    assert_eq!(wcs.pixel_to_sky(f64::NAN, 0.0), None);
}

#[test]
fn equal_grids_have_no_offset() {
    for wcs in [tan(&[]), tan(&["A_ORDER = 2"])] {
        let offset = wcs.offset(&wcs.clone(), 1000, 800);
        assert_eq!(
            (offset.pixels, offset.scale, offset.rotation),
            (0.0, 1.0, 0.0)
        );
    }
}

#[test]
fn a_shift_is_told_in_pixels() {
    // 3 pixels in x and 4 in y are 5; with and without distortion.
    for more in [&[][..], &["A_ORDER = 2"]] {
        let cards = |shift: &[&str]| tan(&[shift, more].concat());
        let one = cards(&["CRPIX1  = 100.0", "CRPIX2  = 100.0"]);
        let other = cards(&["CRPIX1  = 103.0", "CRPIX2  = 104.0"]);
        let offset = one.offset(&other, 500, 400);
        assert!((offset.pixels - 5.0).abs() < 1e-6, "{offset:?}");
        assert!((offset.scale - 1.0).abs() < 1e-12 && offset.rotation.abs() < 1e-9);
    }
    // The same shift told by CRVAL: one pixel to the north is 1e-4 degrees.
    let north = wcs(&[
        "CTYPE1  = 'RA---TAN'",
        "CTYPE2  = 'DEC--TAN'",
        "CRVAL1  = 83.8",
        "CRVAL2  = -5.3999",
        "CDELT1  = -1E-4",
        "CDELT2  = 1E-4",
    ]);
    let offset = tan(&[]).offset(&north.unwrap(), 100, 100);
    assert!((offset.pixels - 1.0).abs() < 1e-4, "{offset:?}");
}

#[test]
fn scale_and_turn_are_told() {
    let one = tan(&["CRPIX1  = 50.5", "CRPIX2  = 50.5"]);
    let turned = tan(&[
        "CRPIX1  = 50.5",
        "CRPIX2  = 50.5",
        "CD1_1   = 0",
        "CD1_2   = 2E-4",
        "CD2_1   = 2E-4",
    ]);
    let offset = one.offset(&turned, 100, 100);
    assert!((offset.scale - 2.0).abs() < 1e-12, "{offset:?}");
    assert!((offset.rotation.abs() - 90.0).abs() < 1e-9, "{offset:?}");
    assert!(offset.pixels > 100.0);
    let crota = tan(&["CROTA2  = 30.0"]);
    assert!((tan(&[]).offset(&crota, 9, 9).rotation.abs() - 30.0).abs() < 1e-9);
}

#[test]
fn other_systems_have_no_comparable_grid() {
    let galactic = wcs(&["CTYPE1  = 'GLON-TAN'", "CTYPE2  = 'GLAT-TAN'"]).unwrap();
    assert!(tan(&[]).offset(&galactic, 10, 10).pixels.is_infinite());
    let behind = wcs(&[
        "CTYPE1  = 'RA---TAN'",
        "CTYPE2  = 'DEC--TAN'",
        "CRVAL1  = 263.8",
        "CRVAL2  = 5.4",
    ]);
    assert!(
        tan(&[])
            .offset(&behind.unwrap(), 10, 10)
            .pixels
            .is_infinite()
    );
}
