//! How the targets bring their bytes: cut into pieces, or by the ranges that a machine asks for.

use sectile::error::Result;
use sectile::job::{Machine, Step};

/// A number that follows from all of the bytes.
pub fn seed(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(u64::from(bytes.len() as u32), |hash, byte| {
            hash.wrapping_mul(31).wrapping_add(u64::from(*byte))
        })
}

/// Pushes bytes in pieces whose lengths follow from `seed`, without one all at once; up to the first error, which the
/// next push has to give again.
pub fn push(bytes: &[u8], seed: Option<u64>, mut push: impl FnMut(&[u8]) -> Result<()>) {
    let mut rest = bytes;
    let mut state = seed.unwrap_or(0) | 1;
    while !rest.is_empty() {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let most = 1 << (state >> 61);
        let len = seed.map_or(rest.len(), |_| (state >> 33) as usize % most + 1);
        let (part, after) = rest.split_at(len.min(rest.len()));
        if let Err(error) = push(part) {
            assert!(push(b"x") == Err(error));
            return;
        }
        rest = after;
    }
}

/// Feeds a machine from a file until it is done. Answers have at most `part` bytes; the size is told if `total`.
pub fn open<M: Machine<Item = ()>>(machine: &mut M, file: &[u8], part: usize, total: bool) -> Result<()> {
    let size = total.then_some(file.len() as u64);
    for _ in 0..file.len() + 10 {
        match machine.step()? {
            Step::Need(range) => {
                assert!(range.start < range.end);
                let from = (range.start as usize).min(file.len());
                let to = (range.end as usize).min(file.len()).min(from.saturating_add(part));
                machine.feed(range.start, &file[from..to], size)?;
            }
            Step::Ready(()) => {}
            Step::Done => return Ok(()),
        }
    }
    panic!("opening does not end");
}
