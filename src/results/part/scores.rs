//! A shard's scores: one block for each save.
//!
//! | at | type | what |
//! |---|---|---|
//! | 0 | u32 | targets |
//! | 4 | u32 | decoys |
//! | 8 | u32 | place up to which all ions of the shard are in this block and those before it |
//! | 12 | u32 | 0 |
//! | 16 | u64 | bytes of the shard's file of images that belong to this block and those before it |
//! | 24 | u32 | CRC-32 of the records |
//! | 28 | u32 | CRC-32 of these 28 bytes |
//! | 32 | | records of the targets ([`Scored`]), then of the decoys ([`Decoy`]) |

use super::{Front, HEADER, Identity, Kind, whole};
use crate::crc::checksum;
use crate::error::{Error, Result};
use crate::ion::annotate::{Decoy, Scored};
use crate::little::{u32_at, u64_at};

/// Bytes of a block before its records.
pub const BLOCK: usize = 32;
/// Where the checksum of a block's head is.
const SUM: usize = BLOCK - 4;

/// What the file begins with.
#[must_use]
pub fn begin(identity: &Identity) -> [u8; HEADER] {
    identity.header(Kind::Scores)
}

/// Appends what was saved.
///
/// `position` is that of the save, `images` the length of the shard's file of images once the save's pictures are
/// in it (0 if none are kept). Write it when those pictures are on the disk.
///
/// # Errors
/// [`Error::Parameter`] for 2³² records.
pub fn put(
    targets: &[Scored],
    decoys: &[Decoy],
    position: u32,
    images: u64,
    out: &mut Vec<u8>,
) -> Result<()> {
    let counts = [targets.len(), decoys.len()].map(u32::try_from);
    let [Ok(target_count), Ok(decoy_count)] = counts else {
        return Err(Error::Parameter {
            name: "scores",
            what: "more than 4,294,967,295 of them in one save".to_owned(),
        });
    };
    let from = out.len();
    out.resize(from + BLOCK, 0);
    for target in targets {
        out.extend_from_slice(&target.to_bytes());
    }
    for decoy in decoys {
        out.extend_from_slice(&decoy.to_bytes());
    }
    let sum = checksum(&out[from + BLOCK..]);
    let mut head = [0; BLOCK];
    for (place, number) in
        head.as_chunks_mut::<4>()
            .0
            .iter_mut()
            .zip([target_count, decoy_count, position])
    {
        *place = number.to_le_bytes();
    }
    head[16..24].copy_from_slice(&images.to_le_bytes());
    head[24..SUM].copy_from_slice(&sum.to_le_bytes());
    let sum = checksum(&head[..SUM]);
    head[SUM..].copy_from_slice(&sum.to_le_bytes());
    out[from..from + BLOCK].copy_from_slice(&head);
    Ok(())
}

/// How far a shard has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reached {
    /// All ions of the shard before this place are saved.
    pub position: u32,
    /// Bytes of the shard's file of images that belong to what is saved; what is behind is cut off before more is
    /// written.
    pub images: u64,
    /// Bytes of the file of scores that are sound; what is behind is cut off likewise.
    pub sound: u64,
}

/// One block.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Block {
    /// Targets that score.
    pub targets: Vec<Scored>,
    /// Decoys that score.
    pub decoys: Vec<Decoy>,
}

/// Reads a file of scores from its first byte to its last, in pieces of any size.
#[derive(Debug)]
pub struct Scan {
    front: Front,
    /// Most bytes that a block may take.
    memory: u64,
    /// The block that is being collected.
    bytes: Vec<u8>,
    at: u64,
    reached: Reached,
    broken: bool,
}

impl Scan {
    /// A file under the name that errors show; it must be about `identity`. A block may take `memory` bytes while
    /// it is read.
    #[must_use]
    pub fn new(file: &str, identity: &Identity, memory: u64) -> Self {
        Self {
            front: Front::new(file, Kind::Scores, identity),
            memory,
            bytes: Vec::new(),
            at: 0,
            reached: Reached {
                position: identity.shard.start,
                images: 0,
                sound: 0,
            },
            broken: false,
        }
    }

    /// Takes the next bytes, and gives each block that is whole to `take`.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for a file of another run, [`Error::Format`] for what is none and for a block that is whole
    /// but says what cannot be; [`Error::Budget`] for a block larger than the memory; those of `take`.
    pub fn push(&mut self, bytes: &[u8], mut take: impl FnMut(&Block) -> Result<()>) -> Result<()> {
        let before = self.front.passed();
        let mut rest = self.front.take(bytes)?;
        self.at += (bytes.len() - rest.len()) as u64;
        if !before && self.front.passed() {
            self.reached.sound = self.at;
        }
        while !rest.is_empty() && !self.broken {
            let Some(missing) = self.missing()? else {
                self.broken = true;
                break;
            };
            let (mine, more) = rest.split_at(rest.len().min(missing));
            self.bytes.extend_from_slice(mine);
            self.at += mine.len() as u64;
            rest = more;
            if self.bytes.len() >= BLOCK && self.missing()? == Some(0) {
                self.close(&mut take)?;
            }
        }
        Ok(())
    }

    /// Bytes until the block's head or the block is whole; `None` if its head is none.
    fn missing(&mut self) -> Result<Option<usize>> {
        let Some(head) = self.bytes.first_chunk::<BLOCK>() else {
            let missing = BLOCK - self.bytes.len();
            self.reserve(missing, BLOCK as u64)?;
            return Ok(Some(missing));
        };
        if checksum(&head[..SUM]) != u32_at(head, SUM) {
            return Ok(None);
        }
        let records = u64::from(u32_at(head, 0)) * Scored::BYTES as u64
            + u64::from(u32_at(head, 4)) * Decoy::BYTES as u64;
        let whole = BLOCK as u64 + records;
        // The bytes, and the records that are made of them.
        let need = whole.saturating_mul(3);
        let missing = usize::try_from(whole).unwrap_or(usize::MAX) - self.bytes.len();
        self.reserve(missing, need)?;
        Ok(Some(missing))
    }

    fn reserve(&mut self, missing: usize, need: u64) -> Result<()> {
        if need > self.memory || self.bytes.try_reserve_exact(missing).is_err() {
            return Err(Error::Budget {
                need,
                have: self.memory,
                what: format!("a block of {}", self.front.file),
            });
        }
        Ok(())
    }

    fn close(&mut self, take: &mut impl FnMut(&Block) -> Result<()>) -> Result<()> {
        let (head, records) = self.bytes.split_at(BLOCK);
        if checksum(records) != u32_at(head, 24) {
            self.broken = true;
            return Ok(());
        }
        let (position, images) = (u32_at(head, 8), u64_at(head, 16));
        let (targets, decoys) = records.split_at(u32_at(head, 0) as usize * Scored::BYTES);
        let targets = targets.as_chunks::<{ Scored::BYTES }>().0.iter();
        let decoys = decoys.as_chunks::<{ Decoy::BYTES }>().0.iter();
        let block = Block {
            targets: targets.filter_map(Scored::from_bytes).collect(),
            decoys: decoys.map(Decoy::from_bytes).collect(),
        };
        let shard = &self.front.identity.shard;
        let all = block.targets.len() == u32_at(head, 0) as usize;
        let ions = block.targets.iter().map(|target| target.ion);
        let mut ions = ions.chain(block.decoys.iter().map(|decoy| decoy.ion));
        let goes_on = (self.reached.position..=shard.end).contains(&position)
            && images >= self.reached.images;
        if !all || !goes_on || !ions.all(|ion| shard.contains(&ion)) {
            return Err(Error::Format {
                file: self.front.file.clone(),
                at: self.reached.sound,
                what: "a block of scores that cannot follow the one before it, or is of another shard; remove the \
                       file and annotate again"
                    .to_owned(),
            });
        }
        take(&block)?;
        self.bytes.clear();
        self.reached = Reached {
            position,
            images,
            sound: self.at,
        };
        Ok(())
    }

    /// How far the shard has come, by the blocks that are whole.
    #[must_use]
    pub fn finish(self) -> Reached {
        self.reached
    }

    /// As [`finish`](Self::finish), of a shard that must be done.
    ///
    /// # Errors
    /// [`Error::Format`] naming the byte behind the last sound block, if ions are missing.
    pub fn finish_all(self) -> Result<Reached> {
        let end = self.front.identity.shard.end;
        if self.reached.position < end {
            let sound = self.reached.sound;
            whole(&self.front.file, sound, sound + 1)?;
        }
        Ok(self.reached)
    }
}
