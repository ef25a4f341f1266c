//! Parts of shards: cut anywhere, they give what is whole; of another run, they are refused.

use sectile::error::Error;
use sectile::results::part::images::{self, RECORD, Scan};
use sectile::results::part::{HEADER, Identity};

use super::images::{identity, part, scan};

#[test]
fn a_cut_part_gives_what_is_whole() {
    let bytes = part(0..15, &[3, 4, 5]);
    let whole = scan(0..15, &bytes, 1).unwrap();
    assert_eq!(whole.sound, bytes.len() as u64);
    assert_eq!(whole, scan(0..15, &bytes, bytes.len()).unwrap());
    let ends: Vec<u64> = whole
        .records
        .iter()
        .map(|record| record.range().end)
        .collect();
    for len in 0..bytes.len() {
        let cut = scan(0..15, &bytes[..len], 77).unwrap();
        let there = ends.iter().filter(|end| **end <= len as u64).count();
        assert_eq!(cut.records, whole.records[..there], "{len}");
        let sound = ends[..there].last().copied();
        let begun = if len < HEADER { 0 } else { HEADER as u64 };
        assert_eq!(cut.sound, sound.unwrap_or(begun), "{len}");
    }
}

#[test]
fn damage_ends_a_part_and_is_an_error_within_what_was_saved() {
    let bytes = part(0..15, &[3, 4, 5]);
    let whole = scan(0..15, &bytes, 64).unwrap();
    for at in HEADER..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 4;
        let before = whole
            .records
            .iter()
            .take_while(|record| record.range().end <= at as u64);
        let before = before.count();
        let found = scan(0..15, &damaged, 64).unwrap();
        assert_eq!(found.records, whole.records[..before], "{at}");
        let mut scan = Scan::new("part 1", &identity(0..15), 1 << 20);
        scan.push(&damaged).unwrap();
        let error = scan.finish(at as u64 + 1).unwrap_err();
        assert!(
            matches!(&error, Error::Format { at, .. } if *at == found.sound),
            "{error}"
        );
    }
}

#[test]
fn a_foreign_part_is_refused() {
    let bytes = part(0..15, &[3]);
    let mine = identity(0..15);
    let others = [
        (
            Identity {
                width: 7,
                ..mine.clone()
            },
            "another size",
        ),
        (
            Identity {
                shard: 0..14,
                ..mine.clone()
            },
            "another shard",
        ),
        (
            Identity {
                ions: [4; 32],
                ..mine.clone()
            },
            "other molecules",
        ),
        (
            Identity {
                store: [8; 32],
                ..mine.clone()
            },
            "another store",
        ),
    ];
    for (identity, part) in others {
        let mut scan = Scan::new("part 1", &identity, 1 << 20);
        let error = scan.push(&bytes).unwrap_err();
        assert!(
            matches!(&error, Error::Mismatch { what, .. } if what.contains(part)),
            "{error}"
        );
    }
    for at in 0..HEADER {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1;
        let mut scan = Scan::new("part 1", &mine, 1 << 20);
        let error = scan.push(&damaged).unwrap_err();
        assert!(matches!(error, Error::Format { .. }), "{at}: {error}");
    }
}

#[test]
fn a_table_keeps_to_its_memory() {
    let mut bytes = images::begin(&identity(0..500)).to_vec();
    let picture = super::images::picture(&mut super::images::easel(), 0, 0);
    for ion in 0..500 {
        images::put(ion, 0, &picture, &mut bytes).unwrap();
    }
    assert_eq!(bytes.len(), HEADER + 500 * (RECORD + picture.png.len()));
    let mut scan = Scan::new("part 1", &identity(0..500), 10_000);
    assert!(matches!(
        scan.push(&bytes),
        Err(Error::Budget { have: 10_000, .. })
    ));
    assert!(images::put(0, 4, &picture, &mut bytes).is_err());
}
