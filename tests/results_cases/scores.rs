//! Scores as they are saved: blocks that are whole count, and nothing else.

use sectile::error::{Error, Result};
use sectile::ion::annotate::{Decoy, Scored};
use sectile::results::part::scores::{self, Block, Reached, Scan};
use sectile::results::part::{HEADER, Identity};

use super::images::identity;
use crate::results_vectors::scored;

/// A shard's file of three saves: position 5, 5 and 15.
fn saved() -> (Vec<u8>, Vec<(Block, Reached)>) {
    let mut bytes = scores::begin(&identity(0..15)).to_vec();
    let saves: [(&[u32], &[u32], u32, u64); 3] = [
        (&[1, 3], &[2], 5, 900),
        (&[], &[], 5, 900),
        (&[7, 8, 14], &[9, 13], 15, 2000),
    ];
    let mut blocks = Vec::new();
    for (targets, decoys, position, images) in saves {
        let targets: Vec<Scored> = targets.iter().map(|ion| scored(*ion, 0.5)).collect();
        let decoys: Vec<Decoy> = decoys
            .iter()
            .map(|ion| Decoy {
                ion: *ion,
                msm: 0.25,
            })
            .collect();
        scores::put(&targets, &decoys, position, images, &mut bytes).unwrap();
        let reached = Reached {
            position,
            images,
            sound: bytes.len() as u64,
        };
        blocks.push((Block { targets, decoys }, reached));
    }
    (bytes, blocks)
}

fn scan(bytes: &[u8], piece: usize) -> Result<(Vec<Block>, Reached)> {
    let mut scan = Scan::new("scores 1", &identity(0..15), 1 << 20);
    let mut blocks = Vec::new();
    for piece in bytes.chunks(piece) {
        scan.push(piece, |block| {
            blocks.push(block.clone());
            Ok(())
        })?;
    }
    Ok((blocks, scan.finish()))
}

#[test]
fn what_is_saved_is_read_in_pieces_of_any_size() {
    let (bytes, saved) = saved();
    for piece in [1, 7, 32, 500, bytes.len()] {
        let (blocks, reached) = scan(&bytes, piece).unwrap();
        let expected: Vec<Block> = saved.iter().map(|(block, _)| block.clone()).collect();
        assert_eq!(blocks, expected);
        assert_eq!(reached, saved[2].1);
    }
}

#[test]
fn a_cut_file_says_how_far_the_shard_has_come() {
    let (bytes, saved) = saved();
    for len in 0..bytes.len() {
        let (blocks, reached) = scan(&bytes[..len], 61).unwrap();
        let whole = saved
            .iter()
            .take_while(|(_, reached)| reached.sound <= len as u64)
            .count();
        assert_eq!(blocks.len(), whole, "{len}");
        let begun = Reached {
            position: 0,
            images: 0,
            sound: if len < HEADER { 0 } else { HEADER as u64 },
        };
        let expected = whole.checked_sub(1).map_or(begun, |last| saved[last].1);
        assert_eq!(reached, expected, "{len}");
        let mut scan = Scan::new("scores 1", &identity(0..15), 1 << 20);
        scan.push(&bytes[..len], |_| Ok(())).unwrap();
        assert!(matches!(scan.finish_all(), Err(Error::Format { at, .. }) if at == expected.sound));
    }
    let mut scan = Scan::new("scores 1", &identity(0..15), 1 << 20);
    scan.push(&bytes, |_| Ok(())).unwrap();
    assert_eq!(scan.finish_all().unwrap(), saved[2].1);
}

#[test]
fn damage_ends_the_file() {
    let (bytes, saved) = saved();
    for at in HEADER..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x20;
        let (blocks, _) = scan(&damaged, 128).unwrap();
        let before = saved
            .iter()
            .take_while(|(_, reached)| reached.sound <= at as u64)
            .count();
        assert_eq!(blocks.len(), before, "{at}");
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let (bytes, _) = saved();
    let other = Identity {
        store: [9; 32],
        ..identity(0..15)
    };
    let mut scan_other = Scan::new("scores 1", &other, 1 << 20);
    assert!(matches!(
        scan_other.push(&bytes, |_| Ok(())),
        Err(Error::Mismatch { .. })
    ));
    // A file of images is no file of scores.
    assert_eq!(
        scan(&super::images::part(0..15, &[1]), 100)
            .unwrap_err()
            .at(),
        Some(7)
    );
    let refused = |targets: &[u32], position: u32, images: u64| {
        let mut bytes = bytes.clone();
        let targets: Vec<Scored> = targets.iter().map(|ion| scored(*ion, 0.5)).collect();
        scores::put(&targets, &[], position, images, &mut bytes).unwrap();
        scan(&bytes, 4096).is_err()
    };
    assert!(!refused(&[14], 15, 2000));
    assert!(refused(&[15], 15, 2000), "of another shard");
    assert!(refused(&[], 16, 2000), "beyond the shard");
    assert!(refused(&[], 14, 2000), "back");
    assert!(refused(&[], 15, 1999), "fewer images");
    let mut small = Scan::new("scores 1", &identity(0..15), 300);
    assert!(matches!(
        small.push(&bytes, |_| Ok(())),
        Err(Error::Budget { .. })
    ));
}
