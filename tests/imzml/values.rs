//! Arrays, the look at an ibd, and names of pairs.

use sectile::error::Error;
use sectile::imzml::dataset::{Array, Compression, Number, Spectrum};
use sectile::imzml::ibd::Ibd;
use sectile::imzml::pair::{belong, candidates, is_ibd, is_imzml};
use sectile::imzml::spectrum::{check_intensity, check_lengths, check_mz, decode, decode_f32};

use crate::text::{Xml, drive};

fn array(number: Number, len: u32, bytes: usize, compression: Compression) -> Array {
    Array {
        at: 100,
        bytes: bytes as u32,
        len,
        number,
        compression,
    }
}

fn values(number: Number, len: u32, bytes: &[u8], zlib: bool) -> Result<Vec<f64>, Error> {
    let compression = if zlib {
        Compression::Zlib
    } else {
        Compression::None
    };
    let mut out = vec![7.0; 5];
    decode(
        array(number, len, bytes.len(), compression),
        bytes,
        "a.ibd",
        17,
        &mut out,
    )?;
    Ok(out)
}

#[test]
fn every_type_is_widened_exactly() {
    let f32s = [1.5f32, -0.1, f32::MAX].map(f32::to_le_bytes).concat();
    assert_eq!(
        values(Number::F32, 3, &f32s, false).unwrap(),
        [1.5, f64::from(-0.1f32), f64::from(f32::MAX)]
    );
    let f64s = [0.1f64, f64::MIN_POSITIVE].map(f64::to_le_bytes).concat();
    assert_eq!(
        values(Number::F64, 2, &f64s, false).unwrap(),
        [0.1, f64::MIN_POSITIVE]
    );
    let i32s = [i32::MIN, 7].map(i32::to_le_bytes).concat();
    assert_eq!(
        values(Number::I32, 2, &i32s, false).unwrap(),
        [-2_147_483_648.0, 7.0]
    );
    let i64s = [-(1i64 << 53), 1 << 40].map(i64::to_le_bytes).concat();
    assert_eq!(
        values(Number::I64, 2, &i64s, false).unwrap(),
        [-9_007_199_254_740_992.0, 1_099_511_627_776.0]
    );
    let large = ((1i64 << 53) + 1).to_le_bytes();
    assert!(
        values(Number::I64, 1, &large, false)
            .unwrap_err()
            .to_string()
            .contains("spectrum 17: 9007199254740993")
    );
    assert_eq!(
        values(Number::F64, 0, b"anything", false).unwrap(),
        [0.0; 0]
    );
    let mut out = Vec::new();
    decode_f32(
        array(Number::F32, 3, 12, Compression::None),
        &f32s,
        "a.ibd",
        0,
        &mut out,
    )
    .unwrap();
    assert_eq!(out, [1.5, -0.1, f32::MAX]);
    let error = decode_f32(
        array(Number::F64, 2, 16, Compression::None),
        &f64s,
        "a.ibd",
        0,
        &mut out,
    );
    assert_eq!(error.unwrap_err().code(), "parameter");
}

#[test]
fn lengths_must_agree() {
    let error = values(Number::F64, 3, &[0; 12], false).unwrap_err();
    assert_eq!(error.at(), Some(100));
    let said = "spectrum 17: an array of 3 values, 64-bit float each, has 12 bytes instead of 24";
    assert!(error.to_string().contains(said), "{error}");
    let mut out = Vec::new();
    let error = decode(
        array(Number::F64, 3, 24, Compression::None),
        &[0; 23],
        "a.ibd",
        0,
        &mut out,
    );
    assert!(matches!(
        error,
        Err(Error::Unexpected {
            asked: 24,
            got: 23,
            ..
        })
    ));
    let mz = array(Number::F64, 3, 24, Compression::None);
    let intensity = array(Number::F32, 2, 8, Compression::None);
    let spectrum = Spectrum::new(mz, intensity, [4, 5, 1], <_>::default(), <_>::default());
    let error = check_lengths(&spectrum, "a.ibd", 9)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("spectrum 9 (x=4 y=5) has 3 values of m/z but 2 intensities"),
        "{error}"
    );
}

#[test]
fn zlib_is_bounded_by_what_is_claimed() {
    let plain: Vec<u8> = (0..3000u32)
        .map(f64::from)
        .flat_map(f64::to_le_bytes)
        .collect();
    let packed = fdeflate::compress_to_vec(&plain);
    let wanted: Vec<f64> = (0..3000).map(f64::from).collect();
    assert_eq!(values(Number::F64, 3000, &packed, true).unwrap(), wanted);
    for (len, said) in [
        (2999, "holds too much"),
        (3001, "holds 24000 bytes instead of 24008"),
    ] {
        let error = values(Number::F64, len, &packed, true)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains(said) && error.contains("spectrum 17: the zlib stream"),
            "{error}"
        );
    }
    let error = values(Number::F64, u32::MAX, &packed, true).unwrap_err();
    assert!(error.to_string().contains("is too short"), "{error}");
    for cut in 0..packed.len() {
        assert!(
            values(Number::F64, 3000, &packed[..cut], true).is_err(),
            "cut at {cut}"
        );
    }
    let mut damaged = packed.clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 0x10;
    assert!(values(Number::F64, 3000, &damaged, true).is_err());
    assert!(
        values(Number::F64, 3000, &plain, true)
            .unwrap_err()
            .to_string()
            .contains("zlib")
    );
}

#[test]
fn values_that_are_none_are_named() {
    let at = array(Number::F64, 3, 24, Compression::None);
    check_mz(&[0.0, 1.0, 5000.0], at, "a.ibd", 3).unwrap();
    check_mz::<f64>(&[], at, "a.ibd", 3).unwrap();
    check_intensity(&[0.0, -1.0, f64::MAX], at, "a.ibd", 3).unwrap();
    for wrong in [f64::NAN, f64::INFINITY, -1.0, -0.0] {
        let error = check_mz(&[1.0, 2.0, wrong], at, "a.ibd", 3).unwrap_err();
        assert_eq!(error.at(), Some(116));
        let said = format!("spectrum 3: value 2 of its m/z is {wrong}");
        assert!(error.to_string().contains(&said), "{error}");
    }
    let single = array(Number::F32, 2, 8, Compression::None);
    let error = check_intensity(&[1.0f32, f32::NAN], single, "a.ibd", 3).unwrap_err();
    assert_eq!(error.at(), Some(104));
}

#[test]
fn an_ibd_is_looked_at_once() {
    let bytes: Vec<u8> = (0..100).collect();
    for (len, hidden) in [(100, false), (16, false), (3, false), (0, false), (3, true)] {
        let mut look = Ibd::new("a.ibd");
        let reads = drive(&mut look, &bytes[..len], hidden, usize::MAX).unwrap();
        assert_eq!(reads, 1);
        assert_eq!(look.first16(), &bytes[..len.min(16)]);
        assert_eq!(look.size(), Some(len as u64));
        let mut dataset = Xml::row(1).read().unwrap();
        let error = look
            .settle(&mut dataset)
            .err()
            .map(|error| error.to_string());
        let said = match len {
            100 => None,
            16 => Some("has 16 bytes, but the index of test.imzML needs 52: spectrum 0 (x=1 y=1)"),
            _ => Some("too few for the UUID"),
        };
        assert_eq!(error.is_some(), said.is_some());
        assert!(error.unwrap_or_default().contains(said.unwrap_or_default()));
    }
    let mut look = Ibd::new("a.ibd");
    drive(&mut look, &bytes, true, usize::MAX).unwrap();
    let error = look.settle(&mut Xml::row(1).read().unwrap()).unwrap_err();
    assert!(error.to_string().contains("does not tell the size"));
}

#[test]
fn arrays_in_the_uuid_are_told() {
    let mut xml = Xml::row(1);
    xml.spectra[0] = xml.spectra[0].replace("value=\"16\"", "value=\"0\"");
    let mut dataset = xml.read().unwrap();
    let uuid = dataset.uuid.unwrap();
    dataset.settle("a.ibd", 52, &uuid).unwrap();
    assert!(dataset.warnings[0].contains("1 spectra begin within the first 16 bytes"));
}

#[test]
fn partners_have_the_same_stem() {
    assert_eq!(
        candidates("dir.x/a b µ.imzML"),
        ["dir.x/a b µ.ibd", "dir.x/a b µ.IBD", "dir.x/a b µ.Ibd"]
    );
    assert_eq!(candidates("A.IMZML")[0], "A.IBD");
    let url = "https://e.org/a%20b.imzML?sig=a%2Fb.imzML#x";
    assert_eq!(
        candidates(url)[0],
        "https://e.org/a%20b.ibd?sig=a%2Fb.imzML#x"
    );
    for name in [
        "a.mzML",
        "a.imzML.gz",
        ".imzML",
        "dir/.imzML",
        "imzML",
        "https://e.org/?a.imzML",
        "µimzML",
    ] {
        assert_eq!(candidates(name), [""; 0], "{name}");
        assert!(!is_imzml(name), "{name}");
    }
    assert!(is_imzml("what?.imzml") && is_ibd("x.iBd") && !is_ibd("x.imzML"));
    assert!(belong("a.imzML", "a.iBD") && !belong("a.imzML", "A.ibd"));
}
