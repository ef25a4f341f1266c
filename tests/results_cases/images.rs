//! The images file: what is written is read, by few ranges; what is damaged is refused.

use std::ops::Range;
use std::path::Path;
use std::process::Command;

use proptest::prelude::*;
use sectile::budget::Budget;
use sectile::error::{Error, Result};
use sectile::job::{Machine, Step};
use sectile::png;
use sectile::results::images::format::{ENTRY, HEADER};
use sectile::results::images::{Easel, Frame, HEAD_READ, Index, Merge, Open, Picture, Subject};
use sectile::results::part::Identity;
use sectile::results::part::images::{self, Pictures, Scan};
use sectile::store::head::Mask;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

pub(super) const FRAME: Frame = Frame {
    width: 6,
    height: 5,
    store: [7; 32],
};

const MEMORY: u64 = 1 << 20;

pub(super) fn identity(shard: Range<u32>) -> Identity {
    Identity {
        width: FRAME.width,
        height: FRAME.height,
        shard,
        ions: [3; 32],
        store: FRAME.store,
    }
}

/// A mask without the last three of so many pixels.
fn mask(pixels: u32) -> Mask {
    let mut mask = Mask::new(pixels).unwrap();
    (0..pixels - 3).for_each(|pixel| mask.set(pixel));
    mask
}

pub(super) fn easel() -> Easel {
    let mut budget = Budget::new(1 << 20);
    Easel::new(FRAME.width, FRAME.height, &mask(30), 0, &mut budget).unwrap()
}

/// The sums of an ion's isotope peak, which only the two decide.
fn sums(ion: u32, peak: u32) -> (Vec<u32>, Vec<f32>) {
    let pixels: Vec<u32> = (0..27)
        .filter(|pixel| (pixel * 7 + ion + peak).is_multiple_of(3))
        .collect();
    let values = pixels
        .iter()
        .map(|pixel| (pixel * 31 + ion * 11 + peak) as f32 * 0.37 + 1.0);
    (pixels.clone(), values.collect())
}

/// Whether an ion has an image of a peak: always of the first one.
fn has(ion: u32, peak: u32) -> bool {
    peak == 0 || !(ion + peak).is_multiple_of(4)
}

pub(super) fn picture(easel: &mut Easel, ion: u32, peak: u32) -> Picture {
    let (pixels, values) = sums(ion, peak);
    easel.draw(&pixels, &values).unwrap()
}

/// A part with the images of these ions.
pub(super) fn part(shard: Range<u32>, ions: &[u32]) -> Vec<u8> {
    let mut easel = easel();
    let mut bytes = images::begin(&identity(shard)).to_vec();
    for ion in ions {
        for peak in (0..4).filter(|peak| has(*ion, *peak)) {
            let picture = picture(&mut easel, *ion, peak);
            images::put(*ion, peak as usize, &picture, &mut bytes).unwrap();
        }
    }
    bytes
}

pub(super) fn scan(shard: Range<u32>, bytes: &[u8], piece: usize) -> Result<Pictures> {
    let mut scan = Scan::new("part", &identity(shard), 1 << 20);
    bytes.chunks(piece).try_for_each(|piece| scan.push(piece))?;
    scan.finish(0)
}

const FORMULAS: [&str; 5] = ["C10H20O2", "C6H12O6", "C6H13NO2", "C2H4", "H2O"];
const MODIFIERS: [&str; 3] = ["+H", "-H2O+Na", ""];

fn subject(ion: u32) -> Subject<'static> {
    let mz = 100.5 + f64::from(ion);
    Subject {
        ion,
        formula: FORMULAS[ion as usize / 3],
        modifier: MODIFIERS[ion as usize % 3],
        msm: 1.0 / f64::from(ion + 1),
        fdr: f64::from(ion) / 15.0,
        mz: [
            mz,
            mz + 1.0,
            mz + 2.0,
            if ion == 5 { 0.0 } else { mz + 3.0 },
        ],
    }
}

/// The file that a plan makes of parts.
pub(super) fn assemble(merge: &Merge, parts: &[Vec<u8>]) -> Vec<u8> {
    let mut file = merge.head.clone();
    for copy in &merge.copies {
        let Range { start, end } = copy.range;
        file.extend_from_slice(&parts[copy.part][start as usize..end as usize]);
    }
    assert_eq!(file.len() as u64, merge.bytes);
    file
}

fn merged(subjects: &[u32], parts: &[Vec<u8>]) -> Vec<u8> {
    let tables: Vec<Pictures> = parts
        .iter()
        .map(|part| scan(0..15, part, 4096).unwrap())
        .collect();
    let subjects = subjects.iter().map(|ion| subject(*ion)).collect();
    assemble(
        &Merge::new(FRAME, subjects, &tables, MEMORY).unwrap(),
        parts,
    )
}

/// Opens a file, and says which ranges that took.
fn open(file: &[u8], total: bool) -> Result<(Index, Vec<Range<u64>>)> {
    let mut open = Open::new("x.sectile-images", 1 << 20);
    let mut ranges = Vec::new();
    while let Step::Need(range) = open.step()? {
        let end = range.end.min(file.len() as u64);
        let body = &file[range.start as usize..end as usize];
        open.feed(range.start, body, total.then_some(file.len() as u64))?;
        ranges.push(range);
    }
    Ok((open.into_index()?, ranges))
}

const ALL: [u32; 15] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14];

#[test]
fn what_is_written_is_read_by_ranges() {
    let file = merged(&ALL, &[part(0..15, &ALL)]);
    for total in [true, false] {
        let (index, ranges) = open(&file, total).unwrap();
        // One request for the index, one for each image.
        assert_eq!(ranges.len(), 1);
        assert_eq!(ranges[0], 0..HEAD_READ);
        assert_eq!((index.width, index.height, index.store), (6, 5, [7; 32]));
        assert_eq!(index.entries.len(), 15);
        assert!(index.held_bytes() > 15 * ENTRY as u64);
        let mut images = 0;
        for ion in ALL {
            let subject = subject(ion);
            let at = index.find(subject.formula, subject.modifier).unwrap();
            assert_eq!(index.name(at), (subject.formula, subject.modifier));
            assert!(index.of(subject.formula).contains(&at));
            assert_eq!(index.of(subject.formula).len(), 3);
            let entry = index.entries[at];
            assert_eq!((entry.msm, entry.fdr), (subject.msm, subject.fdr));
            assert_eq!(entry.peaks.map(|peak| peak.mz), subject.mz);
            for (peak, found) in (0..).zip(entry.peaks) {
                assert_eq!(found.bytes > 0, has(ion, peak));
                if found.bytes == 0 {
                    assert!(index.check(at, peak as usize, &[]).is_err());
                    continue;
                }
                let Range { start, end } = found.range();
                let body = &file[start as usize..end as usize];
                index.check(at, peak as usize, body).unwrap();
                check_values(body, &found, ion, peak);
                images += 1;
            }
        }
        assert_eq!(
            images,
            (0..15)
                .map(|ion| (0..4).filter(|peak| has(ion, *peak)).count())
                .sum::<usize>()
        );
    }
}

/// Codes are METASPACE's, and values come back within a 65,535th of the range.
fn check_values(body: &[u8], found: &sectile::results::images::Peak, ion: u32, peak: u32) {
    let tile = png::decode(body, 1 << 20).unwrap();
    assert_eq!((tile.width, tile.height, tile.depth), (6, 5, 16));
    let (pixels, values) = sums(ion, peak);
    let mut dense = [0.0_f32; 30];
    for (pixel, value) in pixels.iter().zip(&values) {
        dense[*pixel as usize] = *value;
    }
    let max = values.iter().copied().fold(0.0_f32, f32::max);
    assert_eq!((found.min, found.max), (0.0, max));
    let alpha = tile.alpha.unwrap();
    for (pixel, (value, code)) in dense.iter().zip(&tile.codes).enumerate() {
        let expected = (f64::from(*value) / f64::from(max) * 65_535.0) as u16;
        assert_eq!(*code, expected, "ion {ion} peak {peak} pixel {pixel}");
        assert_eq!(alpha[pixel], if pixel < 27 { 65_535 } else { 0 });
        let back = f64::from(found.value(*code));
        let step = f64::from(max) / 65_535.0;
        assert!(
            (f64::from(*value) - back).abs() <= step * 1.001,
            "{value} {back}"
        );
    }
}

#[test]
fn a_reader_of_sixty_lines_sees_the_same() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/read_images.py");
    assert!(std::fs::read_to_string(&script).unwrap().lines().count() <= 60);
    let python = std::env::var("SECTILE_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    if Command::new(&python).arg("--version").output().is_err() {
        println!("skipped: there is no {python}; name one in SECTILE_PYTHON");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("case.sectile-images");
    let file = merged(&ALL, &[part(0..15, &ALL)]);
    std::fs::write(&path, &file).unwrap();
    let run = Command::new(&python)
        .arg(&script)
        .arg(&path)
        .output()
        .unwrap();
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
    let json: Value = serde_json::from_slice(&run.stdout).unwrap();
    let (index, _) = open(&file, true).unwrap();
    assert_eq!((&json["width"], &json["height"]), (&6.into(), &5.into()));
    assert_eq!(json["store"], "07".repeat(32));
    let ions = json["ions"].as_array().unwrap();
    assert_eq!(ions.len(), 15);
    for (n, (json, entry)) in ions.iter().zip(&index.entries).enumerate() {
        let (formula, modifier) = index.name(n);
        assert_eq!(json["name"], serde_json::json!([formula, modifier]));
        assert!((json["msm"].as_f64().unwrap() - entry.msm).abs() < 1e-15);
        for (json, peak) in json["peaks"].as_array().unwrap().iter().zip(entry.peaks) {
            assert_eq!(json["high"].as_f64().unwrap() as f32, peak.max);
            let Range { start, end } = peak.range();
            if peak.bytes == 0 {
                assert!(json["codes"].is_null());
                continue;
            }
            let tile = png::decode(&file[start as usize..end as usize], 1 << 20).unwrap();
            assert_eq!(json["codes"], serde_json::json!(tile.codes));
            assert_eq!(json["alpha"], serde_json::json!(tile.alpha));
        }
    }
}

#[test]
fn a_long_index_takes_a_second_read() {
    let names: Vec<String> = (0..2000).map(|n| format!("C{n}H2")).collect();
    let mut easel = easel();
    let picture = picture(&mut easel, 0, 0);
    let mut bytes = images::begin(&identity(0..2000)).to_vec();
    for ion in 0..2000 {
        images::put(ion, 0, &picture, &mut bytes).unwrap();
    }
    let table = scan(0..2000, &bytes, 1 << 16).unwrap();
    let subjects = names.iter().zip(0..).map(|(name, ion)| Subject {
        ion,
        formula: name,
        modifier: "+H",
        msm: 0.5,
        fdr: 0.1,
        mz: [200.0, 201.0, 202.0, 203.0],
    });
    let merge = Merge::new(FRAME, subjects.collect(), &[table], MEMORY).unwrap();
    let head = merge.head.len() as u64;
    let file = assemble(&merge, &[bytes]);
    for total in [true, false] {
        let (index, ranges) = open(&file, total).unwrap();
        assert_eq!(ranges, [0..HEAD_READ, HEAD_READ..head]);
        assert_eq!(index.entries.len(), 2000);
        assert!(names.iter().all(|name| index.find(name, "+H").is_some()));
        assert_eq!(index.find("C1H2", "+Na"), None);
        assert!(index.of("C").is_empty() && index.of("Z").is_empty());
    }
    let mut small = Open::new("x", 100_000);
    assert_eq!(small.step().unwrap(), Step::Need(0..HEAD_READ));
    small.feed(0, &file[..HEAD_READ as usize], None).unwrap();
    assert!(matches!(small.step(), Err(Error::Budget { .. })));
}

#[test]
fn a_file_without_ions_is_a_file() {
    let merge = Merge::new(FRAME, Vec::new(), &[], MEMORY).unwrap();
    let file = assemble(&merge, &[]);
    assert_eq!(file.len(), HEADER);
    let (index, _) = open(&file, false).unwrap();
    assert!(index.entries.is_empty());
}

#[test]
fn damage_is_never_taken_for_data() {
    let file = merged(&ALL[..4], &[part(0..15, &ALL[..4])]);
    let (whole, _) = open(&file, true).unwrap();
    let head = whole.entries[0].peaks[0].at as usize;
    for at in 0..file.len() {
        let mut bytes = file.clone();
        bytes[at] ^= 0x10;
        if at < head {
            let error = open(&bytes, true).unwrap_err();
            assert!(
                matches!(error, Error::Format { .. } | Error::Unsupported { .. }),
                "{at}: {error}"
            );
            continue;
        }
        let (index, _) = open(&bytes, true).unwrap();
        let all = (0..4).flat_map(|ion| (0..4).map(move |peak| (ion, peak)));
        let refused: Vec<(usize, usize)> = all
            .filter(|(ion, peak)| {
                let found = index.entries[*ion].peaks[*peak];
                let Range { start, end } = found.range();
                found.bytes > 0
                    && index
                        .check(*ion, *peak, &bytes[start as usize..end as usize])
                        .is_err()
            })
            .collect();
        assert_eq!(refused.len(), 1, "byte {at}");
    }
    for len in 0..file.len() {
        for total in [true, false] {
            let result = open(&file[..len], total);
            // Where the size is hidden, only the head can tell.
            let told = total || len < head;
            assert_eq!(
                result.is_err(),
                told || len < HEAD_READ as usize,
                "{len} {total}"
            );
        }
    }
}

#[test]
fn refusals_name_the_byte() {
    let file = merged(&ALL[..4], &[part(0..15, &ALL[..4])]);
    let mut newer = file.clone();
    newer[8] = 2;
    let error = open(&newer, true).unwrap_err();
    assert!(
        matches!(&error, Error::Unsupported { what, .. } if what.contains("version 2")),
        "{error}"
    );
    let at = |bytes: &[u8]| open(bytes, true).unwrap_err().at();
    assert_eq!(at(b"\x89PNG\r\n\x1a\nnot this"), Some(0));
    assert_eq!(at(&file[..50]), Some(50));
    assert_eq!(at(&file[..HEADER + 10]), Some(HEADER as u64 + 10));
    let mut sum = file.clone();
    sum[HEADER + 9] ^= 1;
    assert_eq!(at(&sum), Some(80));
    let mut wide = file.clone();
    wide[12..20].fill(0xFF);
    assert_eq!(at(&wide), Some(12));
    let (index, _) = open(&file, true).unwrap();
    let found = index.entries[0].peaks[0];
    let body = vec![0; found.bytes as usize];
    assert_eq!(index.check(0, 0, &body).unwrap_err().at(), Some(found.at));
    assert!(matches!(
        index.check(0, 0, &body[1..]),
        Err(Error::Unexpected { .. })
    ));
    assert!(matches!(
        index.check(9, 0, &body),
        Err(Error::Parameter { .. })
    ));
}

#[test]
fn entries_that_contradict_each_other_are_refused() {
    let file = merged(&ALL[..4], &[part(0..15, &ALL[..4])]);
    let head = u64::from_le_bytes(file[32..40].try_into().unwrap()) as usize;
    // Each with a SHA-256 that fits: (byte, what is put there, the byte that is named).
    let entry = HEADER as u64;
    let cases: [(usize, &[u8], u64); 9] = [
        (HEADER, &[1], entry),
        (HEADER + 4, &[0, 0], entry),
        (HEADER + 8, &0.0_f64.to_le_bytes(), entry + 8),
        (HEADER + 8, &f64::NAN.to_le_bytes(), entry + 8),
        (HEADER + 16, &1.5_f64.to_le_bytes(), entry + 16),
        (HEADER + 24, &[1], entry + 24),
        (HEADER + 40, &f64::INFINITY.to_le_bytes(), entry + 24),
        (24, &[1], 24),
        (head - 1, &[0xFF], head as u64 - 1),
    ];
    for (at, value, named) in cases {
        let mut bytes = file.clone();
        bytes[at..at + value.len()].copy_from_slice(value);
        bytes[80..HEADER].fill(0);
        let sum: [u8; 32] = Sha256::digest(&bytes[..head]).into();
        bytes[80..HEADER].copy_from_slice(&sum);
        let error = open(&bytes, true).unwrap_err();
        assert_eq!(error.at(), Some(named), "{at}: {error}");
    }
}

#[test]
fn what_was_not_asked_for_is_refused() {
    let file = merged(&ALL[..4], &[part(0..15, &ALL[..4])]);
    let mut open = Open::new("x", 1 << 20);
    assert!(matches!(
        open.feed(0, &file, None),
        Err(Error::Unexpected { .. })
    ));
    assert_eq!(open.step().unwrap(), Step::Need(0..HEAD_READ));
    assert!(matches!(
        open.feed(8, &file, None),
        Err(Error::Unexpected { .. })
    ));
    let mut open = Open::new("x", 1 << 20);
    open.step().unwrap();
    open.feed(0, &file[..100], Some(file.len() as u64)).unwrap();
    let Step::Need(range) = open.step().unwrap() else {
        panic!("more is needed");
    };
    assert_eq!(range, 100..file.len() as u64);
    let error = open
        .feed(100, &file[100..], Some(file.len() as u64 + 1))
        .unwrap_err();
    assert!(
        error.to_string().contains("changed while it was read"),
        "{error}"
    );
}

#[test]
fn an_easel_refuses_what_is_no_picture() {
    let mut easel = easel();
    assert!(matches!(
        easel.draw(&[30], &[1.0]),
        Err(Error::Parameter { .. })
    ));
    assert!(matches!(
        easel.draw(&[3], &[f32::NAN]),
        Err(Error::Parameter { .. })
    ));
    let flat = easel.draw(&[], &[]).unwrap();
    assert_eq!((flat.min, flat.max), (0.0, 0.0));
    assert!(
        png::decode(&flat.png, 1 << 20)
            .unwrap()
            .codes
            .iter()
            .all(|code| *code == 0)
    );
    // Nothing of the picture before is left.
    let negative = easel.draw(&[1, 2], &[-2.0, 6.0]).unwrap();
    assert_eq!((negative.min, negative.max), (-2.0, 6.0));
    let codes = png::decode(&negative.png, 1 << 20).unwrap().codes;
    assert_eq!(codes[..3], [16_383, 0, 65_535]);
    let mut budget = Budget::new(100);
    assert!(matches!(
        Easel::new(6, 5, &mask(30), 0, &mut budget),
        Err(Error::Budget { .. })
    ));
}

#[test]
fn a_plan_keeps_to_its_memory() {
    let table = scan(0..15, &part(0..15, &ALL), 4096).unwrap();
    let plan = |memory| {
        let subjects = ALL.map(subject).to_vec();
        Merge::new(FRAME, subjects, std::slice::from_ref(&table), memory)
    };
    let Error::Budget { need, have: 0, .. } = plan(0).unwrap_err() else {
        panic!("a plan takes memory");
    };
    let merge = plan(need).unwrap();
    let held = merge.head.capacity()
        + merge.copies.capacity() * size_of::<sectile::results::images::Copy>();
    let given =
        ALL.len() * size_of::<Subject<'_>>() + table.records.len() * size_of_val(&table.records[0]);
    assert!((held + given) as u64 <= need, "{held} {given} {need}");
    assert!(matches!(plan(need - 1), Err(Error::Budget { .. })));
    assert!(table.bytes() >= (table.records.len() * size_of_val(&table.records[0])) as u64);
}

#[test]
fn missing_and_contradicting_images_are_refused() {
    let one = part(0..15, &[0, 1]);
    let table = scan(0..15, &one, 100).unwrap();
    let error = Merge::new(
        FRAME,
        vec![subject(2)],
        std::slice::from_ref(&table),
        MEMORY,
    )
    .unwrap_err();
    assert!(
        matches!(&error, Error::Mismatch { what, .. } if what.contains("C10H20O2")),
        "{error}"
    );
    let mut other = table.clone();
    other.records[0].crc ^= 1;
    let error = Merge::new(FRAME, vec![subject(0)], &[table.clone(), other], MEMORY).unwrap_err();
    assert!(
        error.to_string().contains("two different images"),
        "{error}"
    );
    let twice = vec![
        subject(0),
        Subject {
            ion: 1,
            ..subject(0)
        },
    ];
    assert!(matches!(
        Merge::new(FRAME, twice, &[table], MEMORY),
        Err(Error::Parameter { .. })
    ));
}

/// What METASPACE writes for the first image of each ion of its synthetic dataset.
#[test]
fn pictures_are_those_of_the_reference_programs() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/imaging-ms");
    let text = std::fs::read_to_string(golden.join("e2e.json")).unwrap();
    let json: Value = serde_json::from_str(&text).unwrap();
    let (width, height) = (14, 11);
    assert_eq!(
        (&json["ncols"], &json["nrows"]),
        (&width.into(), &height.into())
    );
    let mut seen = 0;
    for (n, result) in json["formula_results"]
        .as_array()
        .unwrap()
        .iter()
        .enumerate()
    {
        let Ok(picture) = std::fs::read(golden.join(format!("e2e/f{n}.png"))) else {
            continue;
        };
        let expected = png::decode(&picture, 1 << 20).unwrap();
        let alpha = expected.alpha.as_ref().unwrap();
        let mut mask = Mask::new(width * height).unwrap();
        let acquired = (0..).zip(alpha).filter(|(_, alpha)| **alpha > 0);
        acquired.for_each(|(pixel, _)| mask.set(pixel));
        assert_eq!(mask.count(), 126);
        let list = |name: &str| result["images"][0][name].as_array().unwrap().iter();
        let mut sums = vec![0.0_f64; (width * height) as usize];
        for ((row, column), value) in list("row").zip(list("col")).zip(list("val")) {
            let pixel = row.as_u64().unwrap() * u64::from(width) + column.as_u64().unwrap();
            sums[pixel as usize] += value.as_f64().unwrap();
        }
        let (pixels, values): (Vec<u32>, Vec<f32>) = (0..)
            .zip(sums)
            .filter(|(_, sum)| *sum > 0.0)
            .map(|(pixel, sum)| (pixel, sum as f32))
            .unzip();
        let mut budget = Budget::new(1 << 20);
        let mut easel = Easel::new(width, height, &mask, 0, &mut budget).unwrap();
        let found = easel.draw(&pixels, &values).unwrap();
        let found = png::decode(&found.png, 1 << 20).unwrap();
        assert_eq!(found.alpha, expected.alpha);
        let far = found
            .codes
            .iter()
            .zip(&expected.codes)
            .filter(|(a, b)| a.abs_diff(**b) > 1);
        assert_eq!(far.count(), 0, "f{n}");
        seen += 1;
    }
    assert_eq!(seen, 9);
}

#[test]
fn names_and_numbers_that_no_reader_takes_are_not_written() {
    let table = scan(0..15, &part(0..15, &ALL), 4096).unwrap();
    let with = |change: &dyn Fn(&mut Subject<'_>), frame: Frame| {
        let mut one = subject(0);
        change(&mut one);
        Merge::new(frame, vec![one], std::slice::from_ref(&table), MEMORY)
    };
    assert!(with(&|_| (), FRAME).is_ok());
    let changes: [&dyn Fn(&mut Subject<'_>); 6] = [
        &|one| one.msm = 0.0,
        &|one| one.msm = f64::NAN,
        &|one| one.fdr = 1.5,
        &|one| one.mz[1] = f64::INFINITY,
        &|one| one.formula = "",
        &|one| one.modifier = "x".repeat(70_000).leak(),
    ];
    for change in changes {
        assert!(matches!(with(change, FRAME), Err(Error::Parameter { .. })));
    }
    let flat = Frame { width: 0, ..FRAME };
    assert!(matches!(with(&|_| (), flat), Err(Error::Parameter { .. })));
    // An image of a peak that the pattern does not have is left out.
    let merge = with(&|one| one.mz[1] = 0.0, FRAME).unwrap();
    assert_eq!(merge.copies.len(), 3);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A head whose SHA-256 fits but whose bytes are anything is read or refused.
    #[test]
    fn no_head_panics(changes in prop::collection::vec((12_usize..720, any::<u8>()), 1..8)) {
        let file = merged(&ALL[..4], &[part(0..15, &ALL[..4])]);
        let head = u64::from_le_bytes(file[32..40].try_into().unwrap()) as usize;
        let mut bytes = file;
        for (at, value) in changes {
            bytes[at] = value;
        }
        bytes[80..HEADER].fill(0);
        let sum: [u8; 32] = Sha256::digest(&bytes[..head]).into();
        bytes[80..HEADER].copy_from_slice(&sum);
        let opened = open(&bytes, true);
        if let Err(error) = opened {
            prop_assert!(matches!(error, Error::Format { .. } | Error::Budget { .. }), "{}", error);
        }
    }

    /// However ions are dealt out to parts, in which order, and how often: the same file.
    #[test]
    fn parts_do_not_show(
        homes in prop::collection::vec(0_usize..5, 15),
        again in prop::collection::vec((0_u32..15, 0_usize..5), 0..10),
        order in Just(ALL.to_vec()).prop_shuffle(),
        wanted in prop::collection::btree_set(0_u32..15, 0..15),
    ) {
        let wanted: Vec<u32> = wanted.into_iter().collect();
        let expected = merged(&wanted, &[part(0..15, &ALL)]);
        let mut dealt: Vec<Vec<u32>> = vec![Vec::new(); 5];
        for ion in &order {
            dealt[homes[*ion as usize]].push(*ion);
        }
        for (ion, home) in again {
            dealt[home].push(ion);
        }
        let parts: Vec<Vec<u8>> = dealt.iter().map(|ions| part(0..15, ions)).collect();
        let turned: Vec<u32> = wanted.iter().rev().copied().collect();
        prop_assert_eq!(merged(&turned, &parts), expected);
    }
}
