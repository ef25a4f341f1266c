//! What a file says about its grid, pixels and identity, and what it leaves out.

use sectile::imzml::dataset::{Polarity, Representation};

use crate::text::{Xml, arrays, scan, spectrum, term};

#[test]
fn grids_come_from_positions() {
    let place = |x: &str, y: &str, z: &str| {
        let z = if z.is_empty() {
            String::new()
        } else {
            term("IMS:1000052", "position z", z)
        };
        spectrum(&scan(x, y).replace("</scan>", &(z + "</scan>")), &arrays(0))
    };
    let grid = |places: &[(&str, &str, &str)], counts: &str| {
        let mut xml = Xml::row(0);
        xml.spectra = places.iter().map(|(x, y, z)| place(x, y, z)).collect();
        xml.settings += counts;
        xml.read().map_err(|error| error.to_string())
    };
    let dataset = grid(&[("5", "3", ""), ("7.0", "4", "1")], "").unwrap();
    let found = &dataset.grid;
    assert_eq!(
        (found.x0, found.y0, found.width, found.height),
        (5, 3, 3, 2)
    );
    assert_eq!(found.slices, [1]);
    assert_eq!(
        dataset
            .spectra
            .iter()
            .map(|s| found.pixel(s))
            .collect::<Vec<_>>(),
        [0, 5]
    );
    assert_eq!(dataset.warnings, [""; 0]);
    // Slices: each of its own, however they are numbered.
    let dataset = grid(
        &[
            ("1", "1", "9"),
            ("2", "1", "0"),
            ("1", "1", "0"),
            ("1", "1", "9"),
        ],
        "",
    )
    .unwrap();
    let found = &dataset.grid;
    assert_eq!(found.slices, [0, 9]);
    assert_eq!(
        dataset
            .spectra
            .iter()
            .map(|s| found.pixel(s))
            .collect::<Vec<_>>(),
        [2, 1, 0, 2]
    );
    assert_eq!(dataset.duplicates, 1);
    // Declared counts: the size, or the largest position, are in order.
    let declared = |x: &str| term("IMS:1000042", "max count of pixels x", x);
    for (count, warnings) in [("3", 0), ("7", 0), ("2", 1), ("100", 1), ("NA", 0)] {
        let dataset = grid(&[("5", "3", ""), ("7", "4", "")], &declared(count)).unwrap();
        assert_eq!(
            dataset.warnings.len(),
            warnings,
            "{count}: {:?}",
            dataset.warnings
        );
    }
    let error = grid(&[("1", "1", ""), ("2000000000", "2", "")], "").unwrap_err();
    assert!(
        error.contains("spectrum 1: with its position x=2000000000"),
        "{error}"
    );
    let error = grid(
        &[
            ("-2147483648", "-2147483648", ""),
            ("2147483647", "2147483647", ""),
        ],
        "",
    );
    assert!(error.unwrap_err().contains("is the limit"));
    let error = grid(&[("1", "1", "1"), ("8000", "8000", "2")], "").unwrap_err();
    assert!(error.contains("2 slices of 8000 × 8000"), "{error}");
    assert!(grid(&[("-3", "1", "")], "").unwrap().warnings[0].contains("x=-3"));
}

#[test]
fn pixel_sizes_have_units() {
    let size = |x: &str, y: &str| {
        let mut xml = Xml::row(1);
        let axis =
            |accession: &str, rest: &str| format!("<cvParam accession='{accession}' {rest}/>");
        xml.settings = axis("IMS:1000046", x);
        if !y.is_empty() {
            xml.settings += &axis("IMS:1000047", y);
        }
        let dataset = xml.read().unwrap();
        (dataset.pixel_size, dataset.warnings.len())
    };
    let unit =
        |accession: &str| format!("value='2' unitAccession='{accession}' unitName='micrometer'");
    for (accession, wanted) in [
        ("UO:0000017", Some(2.0)),
        ("UO:0000018", Some(0.002)),
        ("UO:0000016", Some(2000.0)),
        ("UO:0000015", Some(20_000.0)),
        ("UO:0000010", None),
        ("MS:0000017", None),
    ] {
        let warnings = usize::from(wanted.is_none());
        assert_eq!(
            size(&unit(accession), ""),
            ([wanted; 2], warnings),
            "{accession}"
        );
    }
    assert_eq!(size("value='2' unitName='µm'", "").0, [Some(2.0); 2]);
    assert_eq!(size("value='2'", ""), ([None; 2], 1));
    let um = unit("UO:0000017");
    assert_eq!(size(&um, &um.replace('2', "3")).0, [Some(2.0), Some(3.0)]);
    for wrong in ["Inf", "NaN", "0", "-1", "x"] {
        let (found, warnings) = size(&um, &um.replace('2', wrong));
        assert_eq!((found, warnings), ([Some(2.0), None], 1), "{wrong}");
    }
}

#[test]
fn identities_in_every_style() {
    let with = |accession: &str, value: &str| {
        let mut xml = Xml::row(1);
        xml.content = term("MS:1000128", "profile spectrum", "") + &term(accession, "", value);
        xml.read().unwrap()
    };
    let uuid = [
        0x0f, 0x1e, 0x2d, 0x3c, 0x4b, 0x5a, 0x69, 0x78, 0x87, 0x96, 0xa5, 0xb4, 0xc3, 0xd2, 0xe1,
        0xf0,
    ];
    for text in [
        "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0",
        "{0F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F0}",
        "0F1e2d3c4b5A69788796a5b4c3d2e1f0",
    ] {
        assert_eq!(with("IMS:1000080", text).uuid, Some(uuid), "{text}");
    }
    let wrong = with("IMS:1000080", "not one");
    assert_eq!((wrong.uuid, wrong.warnings.len()), (None, 1));
    assert!(with("IMS:1000090", &"aB".repeat(16)).checksum.is_some());
    assert!(with("IMS:1000091", &"aB".repeat(20)).checksum.is_some());
    let wrong = with("IMS:1000091", "abc");
    assert_eq!((wrong.checksum, wrong.warnings.len()), (None, 1));
}

#[test]
fn what_the_file_does_not_say_is_unknown() {
    let mut xml = Xml::row(2);
    xml.content = term("IMS:1000030", "continuous", "");
    let dataset = xml.read().unwrap();
    assert_eq!(dataset.polarity, Polarity::Unknown);
    assert_eq!(dataset.representation, Representation::Unknown);
    assert_eq!(
        (dataset.uuid, dataset.checksum, dataset.instrument),
        (None, None, None)
    );
    let said = [
        "does not say whether its spectra are centroid",
        "says \"continuous\"",
    ];
    for (warning, said) in dataset.warnings.iter().zip(said) {
        assert!(warning.contains(said), "{warning}");
    }
    assert_eq!(dataset.warnings.len(), 2);
}
