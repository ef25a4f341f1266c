//! Files that are wrong, and files that only look so: each refused clearly or repaired with a word.

use sectile::imzml::dataset::{Array, Compression, Number, Polarity, Representation};
use sectile::imzml::reader::Reader;

use crate::text::{Xml, array, arrays, drive, read, read_in, scan, spectrum, term};

#[test]
fn cut_at_every_byte_it_is_refused_or_whole() {
    let text = Xml::row(2).text();
    let whole = read(text.as_bytes()).unwrap();
    let end = text.find("</mzML>").unwrap() + "</mzML>".len();
    for cut in 0..=text.len() {
        match read(&text.as_bytes()[..cut]) {
            Ok(dataset) => {
                assert!(cut >= end, "cut at {cut} passes for whole");
                assert_eq!(dataset, whole);
            }
            Err(error) => {
                assert!(cut < end, "{error}");
                let said = error.to_string();
                assert!(
                    said.contains("cut short") || said.contains("empty"),
                    "{said}"
                );
                if cut > 0 {
                    assert_eq!(error.at(), Some(cut as u64));
                }
            }
        }
    }
    let half = read(&text.as_bytes()[..text.len() - 200])
        .unwrap_err()
        .to_string();
    assert!(half.contains("1 of 2 spectra"), "{half}");
}

#[test]
fn any_byte_changed_is_an_error_or_a_dataset() {
    let text = Xml::row(2).text().into_bytes();
    for at in 0..text.len() {
        for byte in *b"<>\"'&/=x0\0\xff" {
            let mut damaged = text.clone();
            damaged[at] = byte;
            let whole = read(&damaged);
            assert_eq!(read_in(&damaged, 7), whole, "byte {at}");
            if let Err(error) = whole {
                assert!(error.to_string().starts_with("test.imzML: "));
            }
        }
    }
}

#[test]
fn what_is_no_imzml_is_named() {
    let table: [(&[u8], &str); 14] = [
        (b"", "the file is empty"),
        (b"   \n ", "cut short"),
        (b"<html><body>Sign in</body></html>", "web page"),
        (b"<!DOCTYPE html><html></html>", "web page"),
        (
            b"<?xml version='1.0'?><Error><Code>NoSuchKey</Code></Error>",
            "<Error>, not <mzML>",
        ),
        (b"{\"error\": 404}", "JSON"),
        (b"\x0f\x1e\x2d\x3c\x4b\x5a", "perhaps this is the ibd"),
        (b"SIMPLE  =  T", "begins with \"SIMPLE"),
        (b"\x1f\x8b\x08", "gzip"),
        (b"\xff\xfe<\0?\0", "UTF-16"),
        (b"<mzML/>", "no spectrum"),
        (b"<indexedmzML><mzML></mzML>", "no spectrum"),
        (
            b"<mzML></run></mzML>",
            "</run> closes an element that is not open",
        ),
        (
            b"<mzML><a b=\"<c>\"></a></mzML>",
            "an opening bracket in it",
        ),
    ];
    for (bytes, said) in table {
        let error = read(bytes).unwrap_err();
        assert!(error.to_string().contains(said), "{said}: {error}");
        if !bytes.is_empty() {
            assert_eq!(read_in(bytes, 1).unwrap_err(), error);
        }
    }
}

#[test]
fn endless_tags_and_depths_end() {
    let mut long = b"<mzML><a b=\"".to_vec();
    long.resize(3 << 20, b'x');
    let error = read(&long).unwrap_err();
    assert_eq!(error.at(), Some(6));
    assert!(error.to_string().contains("1048576 bytes"), "{error}");
    assert_eq!(read_in(&long, 1000).unwrap_err(), error);
    long.extend_from_slice(b"\"/></mzML>");
    assert_eq!(read(&long).unwrap_err(), error);
    let deep = "<mzML>".to_owned() + &"<a>".repeat(1000);
    assert!(
        read(deep.as_bytes())
            .unwrap_err()
            .to_string()
            .contains("64 deep")
    );
}

/// One spectrum, changed.
fn one(from: &str, to: &str) -> Xml {
    let mut xml = Xml::row(1);
    assert!(xml.text().contains(from), "{from}");
    for place in [
        &mut xml.groups,
        &mut xml.settings,
        &mut xml.content,
        &mut xml.spectra[0],
    ] {
        *place = place.replacen(from, to, 1);
    }
    xml
}

#[test]
fn values_that_cannot_be_are_refused() {
    let table = [
        (
            "value=\"16\"",
            "value=\"NA\"",
            "spectrum 0: \"external offset\" is \"NA\", which is no",
        ),
        ("value=\"16\"", "value=\"\"", "\"external offset\" is \"\""),
        ("value=\"16\"", "value=\"1.5\"", "no whole number"),
        ("value=\"16\"", "value=\"inf\"", "no whole number"),
        ("value=\"16\"", "value=\"-3000000000\"", "no 32-bit number"),
        ("value=\"3\"", "value=\"-3\"", "which is negative"),
        ("value=\"3\"", "value=\"5000000000\"", "5000000000 values"),
        ("value=\"24\"", "value=\"5000000000\"", "5000000000 bytes"),
        ("value=\"1\"/>", "value=\"x\"/>", "\"position x\" is \"x\""),
        (
            "value=\"1\"/>",
            "value=\"3000000000\"/>",
            "too large for a position",
        ),
        ("IMS:1000050", "IMS:9000050", "it has no position"),
        ("IMS:1000102", "IMS:9000102", "has no external offset"),
        ("IMS:1000103", "IMS:9000103\" value=\"\" x=\"", ""),
        ("MS:1000514", "MS:9000514", "it has no m/z array"),
        ("MS:1000515", "MS:9000515", "it has no intensity array"),
        ("MS:1000523", "MS:1000520", "MS:1000520"),
        ("value=\"16\"", "value=16", "the attributes of <cvParam>"),
        (
            "value=\"16\"",
            "value=\"&nope;\"",
            "the attributes of <cvParam>",
        ),
        (
            "MS:1000576\" name=\"no compression",
            "MS:1002312\" name=\"MS-Numpress linear prediction compression",
            "packed by MS:1002312",
        ),
    ];
    for (from, to, said) in table.into_iter().filter(|row| !row.2.is_empty()) {
        let error = one(from, to).refused();
        assert!(error.contains(said), "{said}: {error}");
    }
}

#[test]
fn an_array_may_leave_out_what_follows() {
    let ok = |from: &str, to: &str, warnings: &[&str]| {
        let dataset = one(from, to).read().unwrap();
        assert_eq!(dataset.spectra, Xml::row(1).read().unwrap().spectra, "{to}");
        assert_eq!(
            dataset.warnings.len(),
            warnings.len(),
            "{:?}",
            dataset.warnings
        );
        for (warning, said) in dataset.warnings.iter().zip(warnings) {
            assert!(warning.contains(said), "{warning}");
        }
    };
    ok(
        "IMS:1000104",
        "IMS:9000104",
        &[
            "no external encoded length (IMS:1000104) is given: it follows from the number of values (1 array)",
        ],
    );
    ok(
        "value=\"24\"",
        "value=\"0\"",
        &["no external encoded length"],
    );
    ok("IMS:1000103", "IMS:9000103", &["no external array length"]);
    ok("MS:1000523", "MS:9000523", &["no data type"]);
    ok("value=\"16\"", "value=\" 1.6e+01 \"", &[]);
    ok("value=\"16\"", "value=\"&#49;6\"", &[]);
    ok("value=\"16\"", "value = '16'", &[]);
    ok("MS:1000576", "MS:9000576\" name=\"\" x=\"", &[]);
    ok("value=\"50\"", "value=\"5e+01\"", &[]);
}

#[test]
fn names_and_accessions_of_types() {
    let number = |accession: &str, name: &str, bytes: &str| {
        let mut xml = Xml::row(1);
        let old = "accession=\"MS:1000523\" name=\"64-bit float\"";
        let new = format!("accession=\"{accession}\" name=\"{name}\"");
        xml.groups = xml.groups.replace(old, &new);
        xml.spectra[0] = xml.spectra[0].replace("value=\"24\"", &format!("value=\"{bytes}\""));
        let dataset = xml.read().unwrap();
        (dataset.spectra[0].mz().number, dataset.warnings.len())
    };
    for (accession, name, bytes, wanted, warnings) in [
        ("MS:1000521", "32-bit float", "12", Number::F32, 0),
        ("MS:1000521", "anything", "12", Number::F32, 0),
        ("IMS:1000141", "32-bit integer", "12", Number::I32, 0),
        ("MS:1000519", "32-bit integer", "12", Number::I32, 0),
        ("IMS:1000142", "64-bit integer", "24", Number::I64, 0),
        ("MS:1000522", "64-bit integer", "24", Number::I64, 0),
        // The length decides.
        ("MS:1000523", "32-bit float", "12", Number::F32, 1),
        ("MS:1000523", "32-bit float", "24", Number::F64, 1),
        ("MS:1000521", "64-bit float", "24", Number::F64, 1),
        ("MS:1000521", "64-bit float", "12", Number::F32, 1),
        // It cannot, so the name does.
        ("MS:1000523", "32-bit float", "17", Number::F32, 1),
        ("MS:1000521", "32-bit integer", "12", Number::I32, 1),
    ] {
        assert_eq!(
            number(accession, name, bytes),
            (wanted, warnings),
            "{accession} {name} {bytes}"
        );
    }
}

#[test]
fn inline_terms_override_those_of_a_group() {
    let mut xml = Xml::row(1);
    let f32 = term("MS:1000521", "32-bit float", "");
    let zlib = term("MS:1000574", "zlib compression", "");
    for (before, after) in [
        (f32.clone() + &zlib, String::new()),
        (String::new(), f32 + &zlib),
    ] {
        let arrays = arrays(0);
        let mz = arrays[0].replace("<referenceable", &format!("{before}<referenceable"));
        let mz = mz.replace("<binary/>", &format!("{after}<binary/>"));
        xml.spectra = vec![spectrum(&scan("1", "1"), &[arrays[1].clone(), mz])];
        let wanted = Array {
            at: 16,
            bytes: 24,
            len: 3,
            number: Number::F32,
            compression: Compression::Zlib,
        };
        assert_eq!(xml.read().unwrap().spectra[0].mz(), wanted);
    }
}

#[test]
fn arrays_need_no_group_and_others_are_passed_over() {
    let mut xml = Xml::row(1);
    let plain = xml.read().unwrap();
    let inline = |kind: (&str, &str), number: (&str, &str), group: &str, at: &str, bytes: &str| {
        let terms = [kind, number].map(|(accession, name)| term(accession, name, ""));
        let reference = format!("<referenceableParamGroupRef ref=\"{group}\"/>");
        array(group, at, "3", bytes).replace(&reference, &terms.concat())
    };
    let mobility = ("MS:1003006", "mean inverse reduced ion mobility array");
    let double = ("MS:1000523", "64-bit float");
    let arrays = [
        inline(mobility, double, "x", "900", "24"),
        inline(("MS:1000514", "m/z array"), double, "x", "16", "24"),
        inline(mobility, ("MS:1000520", "16-bit float"), "x", "NA", "24").replace("NA", "7"),
        inline(
            ("MS:1000515", "intensity array"),
            ("MS:1000521", "32-bit float"),
            "x",
            "40",
            "12",
        ),
    ];
    xml.groups.clear();
    xml.spectra = vec![spectrum(&scan("1", "1"), &arrays)];
    assert_eq!(xml.read().unwrap(), plain);
    xml.spectra = vec![spectrum(
        &scan("1", "1"),
        &[
            arrays[1].clone(),
            arrays[3].clone(),
            arrays[1].replace("16", "99"),
        ],
    )];
    let dataset = xml.read().unwrap();
    assert_eq!(dataset.spectra, plain.spectra);
    assert!(
        dataset.warnings[0].contains("more than one array of m/z"),
        "{:?}",
        dataset.warnings
    );
    xml.spectra = vec![spectrum(
        &scan("1", "1"),
        &[
            array("gone", "1", "1", "8"),
            arrays[1].clone(),
            arrays[3].clone(),
        ],
    )];
    let dataset = xml.read().unwrap();
    assert_eq!(
        dataset.warnings,
        ["1 reference to groups of terms that are not there, the first to \"gone\""]
    );
}

#[test]
fn groups_serve_every_place() {
    let mut xml = Xml::row(2);
    let reference = |id: &str| format!("<referenceableParamGroupRef ref='{id}'/>");
    let group = |id: &str, terms: &str| {
        format!("<referenceableParamGroup id='{id}'>{terms}</referenceableParamGroup>")
    };
    xml.groups += &group(
        "file&amp;",
        &(xml.content.clone() + &term("MS:1000129", "negative scan", "")),
    );
    xml.groups += &group("settings", &xml.settings);
    let serial = term("MS:1000529", "instrument serial number", "7");
    xml.groups += &group(
        "instrument",
        &(serial + &term("MS:1000557", "LTQ FT Ultra", "")),
    );
    xml.groups += &group(
        "at",
        &(term("IMS:1000050", "position x", "7") + &term("MS:1000130", "positive scan", "")),
    );
    xml.content = reference("file&amp;");
    xml.settings = reference("settings");
    xml.instrument = reference("instrument")
        + "<componentList><source>"
        + &term("MS:1000073", "electrospray ionization", "")
        + "</source></componentList>";
    xml.spectra[1] = spectrum(
        &format!(
            "<scan>{}{}</scan>",
            term("IMS:1000051", "position y", "2"),
            reference("at")
        ),
        &arrays(1),
    );
    let dataset = xml.read().unwrap();
    assert_eq!(dataset.warnings, [""; 0]);
    assert_eq!(dataset.representation, Representation::Centroid);
    assert_eq!(dataset.polarity, Polarity::Mixed);
    let polarity = [dataset.spectra[0].polarity(), dataset.spectra[1].polarity()];
    assert_eq!(polarity, [Polarity::Negative, Polarity::Positive]);
    assert_eq!(dataset.instrument.as_deref(), Some("LTQ FT Ultra"));
    assert_eq!(dataset.pixel_size, [Some(50.0); 2]);
    assert!(dataset.uuid.is_some());
    assert_eq!((dataset.spectra[1].x, dataset.spectra[1].y), (7, 2));
}

#[test]
fn an_old_writer_s_polarity() {
    let mut xml = Xml::row(1);
    xml.spectra[0] = xml.spectra[0].replace(
        "<scanList",
        &(term("MS:1000128", "positive scan", "") + "<scanList"),
    );
    let dataset = xml.read().unwrap();
    assert_eq!(dataset.polarity, Polarity::Positive);
    assert_eq!(dataset.representation, Representation::Centroid);
}

#[test]
fn offsets_that_ran_over_32_bits_are_repaired() {
    let mut xml = Xml::row(0);
    // What 32 bits make of 2^31 - 36, 2^31 + 3, 2^32 + 7 and 2^32 + 2^31 + 9.
    let offsets = ["2147483612", "-2147483645", "7", "-2147483639"];
    for (index, offset) in offsets.into_iter().enumerate() {
        let mz = array("mz", offset, "3", "24");
        let intensity = array("intensity", &(40 + index).to_string(), "3", "12");
        xml.spectra.push(spectrum(
            &scan(&(index + 1).to_string(), "1"),
            &[mz, intensity],
        ));
    }
    let dataset = xml.read().unwrap();
    let found: Vec<u64> = dataset.spectra.iter().map(|s| s.mz().at).collect();
    let wrapped = [
        (1 << 31) - 36,
        (1 << 31) + 3,
        (1 << 32) + 7,
        (1 << 32) + (1 << 31) + 9,
    ];
    assert_eq!(found, wrapped);
    let found: Vec<u64> = dataset.spectra.iter().map(|s| s.intensity().at).collect();
    assert_eq!(found, [40, 41, 42, 43]);
    assert!(dataset.warnings[0].starts_with("offsets ran over 32 bits"));
}

#[test]
fn latin_1_is_read() {
    let text = Xml::row(1)
        .text()
        .replace("id=\"run\"", "id=\"Gie\u{df}en\"");
    let bytes: Vec<u8> = text
        .chars()
        .map(|c| u8::try_from(u32::from(c)).unwrap())
        .collect();
    assert_eq!(read(&bytes).unwrap(), Xml::row(1).read().unwrap());
}

#[test]
fn what_follows_the_dataset_is_not_read() {
    let text = Xml::row(1).text();
    let (_, inner) = text.split_once("?>").unwrap();
    let wrapped = format!("<?xml version='1.0'?><indexedmzML>{inner}<indexList><offset>1</");
    assert_eq!(
        read(wrapped.as_bytes()).unwrap(),
        Xml::row(1).read().unwrap()
    );
    let mut reader = Reader::new("test.imzML", 1 << 20);
    let mut long = wrapped.into_bytes();
    long.resize(5 << 20, b'x');
    assert_eq!(drive(&mut reader, &long, false, usize::MAX).unwrap(), 1);
}
