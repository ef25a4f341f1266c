//! Whatever the bytes, an images file opens or is refused, and what its index says keeps its promises; parts are read
//! up to where they are sound, the same however they are cut.
//!
//! The first byte chooses: the rest as a whole images file; as changes to a sound one, its SHA-256 made to fit; as a
//! part or changes to a sound part, of images or of scores; as the numbers and records of a block of scores, its
//! checksums made to fit.
//!
//! `cargo fuzz run images` (on a stable toolchain with `RUSTC_BOOTSTRAP=1` in the environment).

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use sectile::budget::Budget;
use sectile::error::{Error, Result};
use sectile::ion::annotate::{Decoy, Scored};
use sectile::results::images::format::{DIGEST, PEAKS};
use sectile::results::images::{Easel, Frame, Index, Merge, Open, Subject};
use sectile::results::part::scores::{self, Block, Reached};
use sectile::results::part::{Identity, images};
use sectile::store::head::Mask;
use sha2::{Digest as _, Sha256};

const FRAME: Frame = Frame { width: 5, height: 4, store: [7; 32] };
const IONS: u32 = 6;
const MEMORY: u64 = 1 << 20;

fn identity() -> Identity {
    Identity { width: FRAME.width, height: FRAME.height, shard: 0..IONS, ions: [3; 32], store: FRAME.store }
}

/// A sound part of images, and the images file that is made of it.
static SOUND: LazyLock<[Vec<u8>; 2]> = LazyLock::new(|| {
    let mut mask = Mask::new(20).expect("small");
    (0..17).for_each(|pixel| mask.set(pixel));
    let budget = &mut Budget::new(MEMORY);
    let mut easel = Easel::new(FRAME.width, FRAME.height, &mask, 0, budget).expect("small");
    let mut part = images::begin(&identity()).to_vec();
    for ion in 0..IONS {
        for peak in 0..PEAKS - ion as usize % 3 {
            let values = [1.0, ion as f32 + 2.0, peak as f32 - 1.0];
            let picture = easel.draw(&[ion, ion + 3, 16], &values).expect("a picture");
            images::put(ion, peak, &picture, &mut part).expect("small");
        }
    }
    let pictures = scan_images(&part, usize::MAX, 0).expect("sound");
    let subjects = (0..IONS).map(|ion| Subject {
        ion,
        formula: ["C2H4", "C6H12O6", "H2O"][ion as usize % 3],
        modifier: ["+H", "-H2O+Na"][ion as usize / 3],
        msm: 0.5,
        fdr: 0.1,
        mz: [100.0, 101.0, 102.0, 103.0],
    });
    let merge = Merge::new(FRAME, subjects.collect(), &[pictures], MEMORY).expect("sound");
    let mut file = merge.head.clone();
    for copy in &merge.copies {
        file.extend_from_slice(&part[copy.range.start as usize..copy.range.end as usize]);
    }
    [part, file]
});

/// A sound file of scores of three blocks.
static SCORES: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut file = scores::begin(&identity()).to_vec();
    for n in 0..3 {
        let mut bytes = [0; Scored::BYTES];
        bytes[0] = 2 * n;
        let target = Scored::from_bytes(&bytes).expect("flags of 0");
        let decoy = Decoy { ion: u32::from(2 * n + 1), msm: 0.25 };
        let position = u32::from(2 * n + 2);
        scores::put(&[target], &[decoy, decoy], position, 1000 * u64::from(n), &mut file).expect("few");
    }
    file
});

fn open(file: &[u8], part: usize, total: bool) -> Result<Index> {
    let mut open = Open::new("fuzz", MEMORY);
    sectile_fuzz::open(&mut open, file, part, total)?;
    open.into_index()
}

fn check_index(file: &[u8], index: &Index) {
    let mut at = None;
    for (n, entry) in index.entries.iter().enumerate() {
        let (formula, modifier) = index.name(n);
        assert!(!formula.is_empty());
        assert!(index.find(formula, modifier) == Some(n) && index.of(formula).contains(&n));
        assert!(entry.msm > 0.0 && (0.0..=1.0).contains(&entry.fdr));
        for (k, peak) in entry.peaks.iter().enumerate() {
            let [min, max, last] = [peak.min, peak.max, peak.value(u16::MAX)].map(f64::from);
            assert!(min <= max && peak.value(0) == peak.min && (last - max).abs() <= (max - min) * 1e-6);
            if peak.bytes == 0 {
                assert!(index.check(n, k, &[]).is_err());
                continue;
            }
            let range = peak.range();
            assert!(range.end <= index.file_bytes && at.is_none_or(|at| at == range.start));
            at = Some(range.end);
            if let Some(bytes) = file.get(range.start as usize..range.end as usize) {
                let _ = index.check(n, k, bytes);
            }
        }
    }
    assert!(at.is_none_or(|at| at == index.file_bytes));
}

fn scan_images(bytes: &[u8], piece: usize, saved: u64) -> Result<images::Pictures> {
    let mut scan = images::Scan::new("fuzz", &identity(), MEMORY);
    bytes.chunks(piece).try_for_each(|piece| scan.push(piece))?;
    scan.finish(saved)
}

fn part_of_images(bytes: &[u8], piece: usize) {
    let found = scan_images(bytes, usize::MAX, 0);
    assert!(scan_images(bytes, piece, 0) == found);
    let Ok(found) = found else { return };
    let sound = found.sound;
    assert!(sound <= bytes.len() as u64);
    let mut end = 0;
    for record in &found.records {
        let range = record.range();
        assert!(end <= range.start && range.end <= sound && (record.peak as usize) < PEAKS);
        end = range.end;
    }
    assert!(scan_images(bytes, piece, sound).as_ref() == Ok(&found));
    assert!(matches!(scan_images(bytes, piece, sound + 1), Err(Error::Format { at, .. }) if at == sound));
    // What was cut off where it is sound reads the same.
    assert!(scan_images(&bytes[..sound as usize], piece, sound) == Ok(found));
}

fn scan_scores(bytes: &[u8], piece: usize) -> Result<(Vec<Block>, Reached)> {
    let mut scan = scores::Scan::new("fuzz", &identity(), MEMORY);
    let mut blocks = Vec::new();
    for piece in bytes.chunks(piece) {
        scan.push(piece, |block| {
            blocks.push(block.clone());
            Ok(())
        })?;
    }
    Ok((blocks, scan.finish()))
}

/// Blocks with NaN are not equal to themselves.
fn shown(found: &Result<(Vec<Block>, Reached)>) -> String {
    format!("{found:?}")
}

fn part_of_scores(bytes: &[u8], piece: usize) {
    let found = scan_scores(bytes, usize::MAX);
    assert!(shown(&scan_scores(bytes, piece)) == shown(&found));
    let Ok((blocks, reached)) = found else { return };
    assert!(reached.sound <= bytes.len() as u64 && reached.position <= IONS);
    for block in &blocks {
        let targets = block.targets.iter().map(|target| target.ion);
        let mut ions = targets.chain(block.decoys.iter().map(|decoy| decoy.ion));
        assert!(ions.all(|ion| ion < IONS));
    }
    let again = scan_scores(&bytes[..reached.sound as usize], piece);
    assert!(shown(&again) == shown(&Ok((blocks, reached))));
}

/// A block of the numbers and records that the bytes are, behind sound ones.
fn block(bytes: &[u8]) -> Vec<u8> {
    let mut file = SCORES.clone();
    let (numbers, records) = bytes.split_at(bytes.len().min(24));
    let mut head = [0; 28];
    head[..numbers.len()].copy_from_slice(numbers);
    // Few records, so that the bytes may be all of them.
    (head[1..4].fill(0), head[5..8].fill(0));
    let (targets, decoys) = (usize::from(head[0] & 3), usize::from(head[4] & 15));
    (head[0], head[4]) = (targets as u8, decoys as u8);
    let mut body = records.to_vec();
    body.resize(targets * Scored::BYTES + decoys * Decoy::BYTES, 0);
    head[24..].copy_from_slice(&crc32(&body).to_le_bytes());
    file.extend_from_slice(&head);
    file.extend_from_slice(&crc32(&head).to_le_bytes());
    file.extend_from_slice(&body);
    file
}

fn changed(sound: &[u8], changes: &[u8]) -> Vec<u8> {
    let mut file = sound.to_vec();
    for change in changes.as_chunks::<3>().0.iter().take(50) {
        let at = usize::from(u16::from_le_bytes([change[0], change[1]])) % file.len();
        file[at] ^= change[2];
    }
    file
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| (sum >> 1) ^ (0xEDB8_8320 * (sum & 1)))
    })
}

fuzz_target!(|data: &[u8]| {
    let Some((&choice, rest)) = data.split_first() else {
        return;
    };
    let [part, file] = &*SOUND;
    let piece = usize::from(choice >> 3) * 7 + 1;
    match choice & 7 {
        0 => {
            for (piece, total) in [(usize::MAX, true), (61, true), (usize::MAX, false)] {
                if let Ok(index) = open(rest, piece, total) {
                    check_index(rest, &index);
                }
            }
        }
        1 => {
            let mut file = changed(file, rest);
            let head = u64::from_le_bytes(file[32..40].try_into().expect("eight bytes"));
            let head = usize::try_from(head).unwrap_or(usize::MAX).min(file.len());
            file[DIGEST].fill(0);
            let sum: [u8; 32] = Sha256::digest(&file[..head.max(DIGEST.end)]).into();
            file[DIGEST].copy_from_slice(&sum);
            if let Ok(index) = open(&file, usize::MAX, true) {
                check_index(&file, &index);
            }
        }
        2 => part_of_images(&changed(part, rest), piece),
        3 => part_of_images(&[&part[..96], rest].concat(), piece),
        4 => part_of_scores(&changed(&SCORES, rest), piece),
        5 => part_of_scores(&block(rest), piece),
        6 => part_of_scores(&[&SCORES[..96], rest].concat(), piece),
        _ => {
            part_of_images(rest, piece);
            part_of_scores(rest, piece);
        }
    }
});
