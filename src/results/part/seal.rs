//! From what a shard has saved, in any order and twice where it was gone on with, to its finished part.

use std::ops::Range;

use super::images::Record;
use super::whole::{Contents, Depicted, FIXED, RECORD, Sizes, Whole};
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::ion::annotate::{Decoy, Ions, Scored};

/// Collects what a shard saves.
///
/// # Memory
/// What is taken, twice while it grows, and the records once more at the end: see [`Seal::bytes`].
#[derive(Debug)]
pub struct Seal {
    whole: Whole,
    contents: Contents,
    budget: Budget,
}

/// A finished part: its head, then pictures that are copied from where they lie.
#[derive(Debug, Clone, PartialEq)]
pub struct Sealed {
    /// All bytes up to the first picture.
    pub head: Vec<u8>,
    /// The pictures one after the other, by where the caller said that each lies.
    pub copies: Vec<Range<u64>>,
    /// Bytes of the whole part.
    pub bytes: u64,
}

impl Seal {
    /// Nothing is taken yet; `memory` is for all that will be.
    #[must_use]
    pub fn new(whole: Whole, memory: u64) -> Self {
        Self {
            whole,
            contents: Contents::default(),
            budget: Budget::new(memory),
        }
    }

    /// Most bytes that a shard of so many targets and decoys can need.
    #[must_use]
    pub fn bytes(targets: u64, decoys: u64, depicted: Depicted) -> u64 {
        let pictures = targets.saturating_mul(depicted.peaks() as u64);
        let held = |count: u64, size: usize| count.saturating_mul(size as u64);
        let taken = held(targets, size_of::<Scored>())
            .saturating_add(held(decoys, size_of::<Decoy>()))
            .saturating_add(held(pictures, size_of::<Record>()));
        let written = held(targets, Scored::BYTES)
            .saturating_add(held(decoys, Decoy::BYTES))
            .saturating_add(held(pictures, RECORD + size_of::<Range<u64>>()));
        taken
            .saturating_mul(3)
            .saturating_add(written)
            .saturating_add(4096)
    }

    /// Takes scores. The same ones may come again, as after a resume.
    ///
    /// # Errors
    /// [`Error::Parameter`] for ions of another shard; [`Error::Budget`].
    pub fn take(&mut self, targets: &[Scored], decoys: &[Decoy]) -> Result<()> {
        let ions = targets.iter().map(|target| target.ion);
        for ion in ions.chain(decoys.iter().map(|decoy| decoy.ion)) {
            self.check(ion)?;
        }
        grow(&mut self.contents.targets, targets, &mut self.budget)?;
        grow(&mut self.contents.decoys, decoys, &mut self.budget)
    }

    /// Takes a picture that lies at `record.at` of whatever the caller keeps pictures in.
    ///
    /// # Errors
    /// [`Error::Parameter`] for an ion of another shard, and for a peak that is not kept; [`Error::Budget`].
    pub fn take_picture(&mut self, record: Record) -> Result<()> {
        self.check(record.ion)?;
        if record.peak as usize >= self.whole.depicted.peaks() {
            return Err(Error::Parameter {
                name: "image",
                what: format!("images of peak {} are not kept", record.peak),
            });
        }
        grow(&mut self.contents.pictures, &[record], &mut self.budget)
    }

    fn check(&self, ion: u32) -> Result<()> {
        let shard = &self.whole.identity.shard;
        if shard.contains(&ion) {
            return Ok(());
        }
        Err(Error::Parameter {
            name: "scores",
            what: format!(
                "ion {ion} is not in the shard from {} to {}",
                shard.start, shard.end
            ),
        })
    }

    /// The part, once all of the shard is in; `ions` are those that the shard is a range of.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if an ion came twice with different scores or pictures, or a picture without its scores;
    /// [`Error::Budget`].
    pub fn finish(mut self, ions: &Ions) -> Result<Sealed> {
        let order = Order::new(ions);
        let Contents {
            targets,
            decoys,
            pictures,
        } = &mut self.contents;
        targets.sort_unstable_by_key(|target| order.of(target.ion));
        decoys.sort_unstable_by_key(|decoy| decoy.ion);
        // By where they lie last, so that the same one of two is taken everywhere.
        pictures.sort_unstable_by_key(|picture| (order.of(picture.ion), picture.peak, picture.at));
        once(
            targets,
            |a, b| a.ion == b.ion,
            |a, b| a.to_bytes() == b.to_bytes(),
        )?;
        once(
            decoys,
            |a, b| a.ion == b.ion,
            |a, b| a.msm.to_bits() == b.msm.to_bits(),
        )?;
        let place = |picture: &Record| (picture.ion, picture.peak);
        once(
            pictures,
            |a, b| place(a) == place(b),
            |a, b| meaning(a) == meaning(b),
        )?;
        let key = |ion| order.of(ion);
        let known = |picture: &Record| {
            targets
                .binary_search_by_key(&key(picture.ion), |target| key(target.ion))
                .is_ok()
        };
        if let Some(picture) = pictures.iter().find(|picture| !known(picture)) {
            return Err(twice(&format!(
                "ion {} has an image and no score",
                picture.ion
            )));
        }
        self.write()
    }

    fn write(mut self) -> Result<Sealed> {
        let contents = &self.contents;
        let records = contents.targets.len() * Scored::BYTES
            + contents.decoys.len() * Decoy::BYTES
            + contents.pictures.len() * RECORD;
        let copies = contents.pictures.len() * size_of::<Range<u64>>();
        self.budget
            .reserve((FIXED + records + copies) as u64, "the records of a part")?;
        let mut head = reserved(FIXED + records)?;
        head.resize(FIXED, 0);
        for target in &contents.targets {
            head.extend_from_slice(&target.to_bytes());
        }
        for decoy in &contents.decoys {
            head.extend_from_slice(&decoy.to_bytes());
        }
        let mut ranges = reserved(contents.pictures.len())?;
        for picture in &contents.pictures {
            for number in [picture.ion, picture.peak, picture.bytes, picture.crc] {
                head.extend_from_slice(&number.to_le_bytes());
            }
            for value in [picture.min, picture.max] {
                head.extend_from_slice(&value.to_le_bytes());
            }
            ranges.push(picture.range());
        }
        let sizes = Sizes::new(contents, &head[FIXED..])?;
        head[..FIXED].copy_from_slice(&self.whole.header(&sizes));
        Ok(Sealed {
            head,
            copies: ranges,
            bytes: sizes.file_bytes,
        })
    }
}

/// What a picture is, wherever it lies.
fn meaning(picture: &Record) -> [u32; 4] {
    let Record {
        bytes,
        crc,
        min,
        max,
        ..
    } = picture;
    [*bytes, *crc, min.to_bits(), max.to_bits()]
}

/// The order of the results' names.
struct Order<'i> {
    ions: &'i Ions,
    /// Of each target, its place among the targets by their texts.
    ranks: Vec<usize>,
}

impl<'i> Order<'i> {
    fn new(ions: &'i Ions) -> Self {
        let texts: Vec<String> = ions
            .request()
            .targets
            .iter()
            .map(ToString::to_string)
            .collect();
        let rank = |text: &String| texts.iter().filter(|other| *other < text).count();
        Self {
            ranks: texts.iter().map(rank).collect(),
            ions,
        }
    }

    /// Formulas of a list are in the order of their texts.
    fn of(&self, ion: u32) -> (u32, usize, u32) {
        let found = self.ions.ion(ion);
        let rank = |modifier: u16| self.ranks.get(usize::from(modifier)).copied();
        found.map_or((u32::MAX, usize::MAX, ion), |found| {
            (
                found.formula,
                rank(found.modifier).unwrap_or(usize::MAX),
                ion,
            )
        })
    }
}

/// Drops what came again, which must be the same.
fn once<T>(
    all: &mut Vec<T>,
    is_again: impl Fn(&T, &T) -> bool,
    is_same: impl Fn(&T, &T) -> bool,
) -> Result<()> {
    let differ = all.windows(2).any(|pair| match pair {
        [a, b] => is_again(a, b) && !is_same(a, b),
        _ => false,
    });
    if differ {
        return Err(twice("an ion came twice with different scores or images"));
    }
    all.dedup_by(|a, b| is_again(a, b));
    Ok(())
}

fn twice(what: &str) -> Error {
    Error::Mismatch {
        file: "what a shard has saved".to_owned(),
        what: format!("{what}; it is of different runs, compute the shard again from its start"),
    }
}

fn grow<T: Copy>(held: &mut Vec<T>, more: &[T], budget: &mut Budget) -> Result<()> {
    if held.capacity() - held.len() < more.len() {
        let (before, add) = (held.capacity(), more.len().max(held.len()));
        let size = |count: usize| (count as u64).saturating_mul(size_of::<T>() as u64);
        // Both are there while one is copied into the other.
        budget.reserve(size(held.len() + add), "what a shard has saved")?;
        held.try_reserve_exact(add).map_err(|_| Error::Budget {
            need: size(add),
            have: 0,
            what: "what a shard has saved".to_owned(),
        })?;
        budget.release(size(before));
    }
    held.extend_from_slice(more);
    Ok(())
}

fn reserved<T>(len: usize) -> Result<Vec<T>> {
    let mut list = Vec::new();
    list.try_reserve_exact(len).map_err(|_| Error::Budget {
        need: (len as u64).saturating_mul(size_of::<T>() as u64),
        have: 0,
        what: "the records of a part".to_owned(),
    })?;
    Ok(list)
}
