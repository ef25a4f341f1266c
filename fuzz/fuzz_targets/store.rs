//! Whatever the bytes, a store opens or is refused, and what is decoded of it keeps its promises:
//! ascending m/z, finite intensities, pixels in the image.
//!
//! The first byte chooses: the rest as a whole file; as the last block of a sound store, its checksum made
//! to fit; or as a list of changes to a sound store, checksums made to fit or not.
//!
//! `cargo fuzz run store` (on a stable toolchain with `RUSTC_BOOTSTRAP=1` in the environment).

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use sectile::budget::Budget;
use sectile::error::Result;
use sectile::store::block::Block;
use sectile::store::head::{Contents, Head, Layout, Mask, Meta, Real};
use sectile::store::read::Open;
use sectile::store::write::{Peaks, Writer};
use sectile::store::{BinTable, PixelTable};

/// Sound stores, one for each choice of precision.
static SOUND: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let reals = [Real::F32, Real::F64];
    let pairs = reals.into_iter().flat_map(|mz| reals.map(|intensity| (mz, intensity)));
    pairs.map(|(mz, intensity)| sound(mz, intensity)).collect()
});

/// A store of 4,500 peaks: whole and partial groups, one or two blocks, exceptions in all columns.
fn sound(mz: Real, intensity: Real) -> Vec<u8> {
    let peaks = 4500_u32;
    let masses: Vec<f64> = (0..peaks)
        .map(|n| mz.nearest(500.0 + f64::from(n / 3) * 1e-4 + f64::from(n / 100) * 1e-3))
        .collect();
    let values: Vec<f64> = (0..peaks)
        .map(|n| if n % 50 == 0 { -1e9 } else { f64::from(n % 97) * 0.5 + 1.0 })
        .collect();
    let pixels: Vec<u32> = (0..peaks).map(|n| n * 7 % 60).collect();
    let contents = Contents {
        mz,
        intensity,
        width: 10,
        height: 6,
        slices: 1,
        peaks: u64::from(peaks),
        spectra: 60,
        first_mz: masses[0],
        last_mz: masses[masses.len() - 1],
        meta_bytes: Meta::default().room(),
    };
    let layout = Layout::new("fuzz", contents).expect("sound contents");
    let mut budget = Budget::new(1 << 24);
    let mut writer = Writer::new(layout, &mut budget).expect("within the budget");
    let mut file = vec![0; layout.blocks_at as usize];
    let mut rest = Peaks { mz: &masses, intensity: &values, pixel: &pixels };
    while !rest.is_empty() {
        let taken = writer.feed(rest).expect("sound peaks");
        rest = rest.from(taken);
        if let Some(block) = writer.block() {
            file.extend_from_slice(block.bytes);
        }
    }
    let mask = Mask::new(60).expect("small");
    let tables = writer.finish(&mask, &Meta::default(), &mut budget).expect("all peaks are there");
    file[..tables.head.len()].copy_from_slice(&tables.head);
    file[tables.bins_at as usize..][..tables.bins.len()].copy_from_slice(&tables.bins);
    file
}

fn open(file: &[u8], part: usize, total: bool) -> Result<Head> {
    let mut open = Open::new("fuzz", 64 << 20);
    sectile_fuzz::open(&mut open, file, part, total)?;
    open.into_head()
}

/// Reads all that a head leads to.
fn walk(file: &[u8], head: &Head) {
    let part = |range: std::ops::Range<u64>| {
        let [from, to] = [range.start, range.end].map(|at| at.min(file.len() as u64) as usize);
        &file[from..to]
    };
    assert!(head.blocks.is_sorted_by(|a, b| a.last <= b.first));
    let mut budget = Budget::new(1 << 24);
    let _ = PixelTable::parse(head, part(head.layout.pixel_table()), &mut budget);
    if let Ok(table) = BinTable::parse(head, part(head.layout.bins.range()), &mut budget) {
        let _ = table.filled(&head.layout.bins).count();
    }
    for n in 0..head.blocks.len() {
        if let Ok(block) = Block::open(head, n, part(head.block_range(n))) {
            check(head, n, &block);
        }
    }
}

fn check(head: &Head, n: usize, block: &Block<'_>) {
    let entry = head.blocks[n];
    let mut mz = vec![0.0; block.len()];
    let ascending = block.decode_mz(0..block.len(), &mut mz).is_ok();
    if ascending {
        assert!(mz.is_sorted());
        assert!(entry.first == mz[0] && mz[mz.len() - 1] <= entry.last);
    }
    let mut shown = 0;
    let all = block.visit(0..block.len(), |pixel, intensity| {
        assert!(pixel < head.pixels() && intensity.is_finite());
        shown += 1;
    });
    assert!(all.is_err() || shown == block.len());
    let middle = mz[mz.len() / 2];
    for (lo, hi) in [(entry.first, entry.last), (middle, middle), (middle, f64::INFINITY), (0.0, middle)] {
        if let Ok(found) = block.find(lo, hi) {
            assert!(found.end <= block.len());
            if ascending && !found.is_empty() {
                assert!(lo <= mz[found.start] && mz[found.end - 1] <= hi);
            }
        }
    }
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
    let sound = &SOUND[usize::from(choice >> 2) % 4];
    match choice & 3 {
        0 => {
            for (part, total) in [(usize::MAX, true), (61, true), (usize::MAX, false)] {
                if let Ok(head) = open(rest, part, total) {
                    walk(rest, &head);
                }
            }
        }
        1 => {
            // The bytes as the last block.
            let mut head = open(sound, usize::MAX, true).expect("a sound store");
            let n = head.blocks.len() - 1;
            head.blocks[n].bytes = rest.len() as u32;
            head.blocks[n].crc = crc32(rest);
            if let Ok(block) = Block::open(&head, n, rest) {
                check(&head, n, &block);
            }
        }
        kind => {
            let mut file = sound.clone();
            for change in rest.as_chunks::<4>().0.iter().take(50) {
                let at = usize::from(u16::from_le_bytes([change[0], change[1]])) * 4 + usize::from(change[2] & 3);
                let at = at % file.len();
                file[at] ^= change[3];
            }
            if kind == 2 {
                if let Ok(head) = open(&file, usize::MAX, true) {
                    walk(&file, &head);
                }
                return;
            }
            // Changed blocks under the old head, their checksums made to fit.
            let mut head = open(sound, usize::MAX, true).expect("a sound store");
            for n in 0..head.blocks.len() {
                let range = head.block_range(n);
                head.blocks[n].crc = crc32(&file[range.start as usize..range.end as usize]);
            }
            walk(&file, &head);
        }
    }
});
