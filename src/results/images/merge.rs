//! The parts of all shards into one file, whose bytes do not depend on how many there were.

use std::ops::Range;

use super::format::{DIGEST, ENTRY, HEADER, PEAKS};
use super::header::{Header, length};
use super::index::Peak;
use crate::error::{Error, Result};
use crate::results::part::images::{Pictures, Record};
use crate::store::head::digest;

/// An ion of the final results.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Subject<'a> {
    /// Its place in the order, by which parts name it.
    pub ion: u32,
    /// The formula as in the list.
    pub formula: &'a str,
    /// Neutral loss and adduct.
    pub modifier: &'a str,
    /// MSM, above 0.
    pub msm: f64,
    /// FDR, 0 to 1.
    pub fdr: f64,
    /// Theoretical m/z of its isotope peaks; 0 where the pattern has no such peak.
    pub mz: [f64; PEAKS],
}

/// What all images have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    /// Pixels of a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// SHA-256 that the store has in its header.
    pub store: [u8; 32],
}

/// One picture's way from a part into the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copy {
    /// Which part, by the order in which they were given.
    pub part: usize,
    /// Its bytes there.
    pub range: Range<u64>,
    /// CRC-32 of them.
    pub crc: u32,
}

/// How the file is put together: the head, then the copies one after the other.
#[derive(Debug, Clone, PartialEq)]
pub struct Merge {
    /// The head's bytes.
    pub head: Vec<u8>,
    /// What follows it.
    pub copies: Vec<Copy>,
    /// Bytes of the whole file.
    pub bytes: u64,
}

impl Merge {
    /// Plans the file of these ions, in any order, from these parts, in any order.
    ///
    /// Pictures of other ions are left out. Where a picture is there more than once, as after a resume, all must be
    /// the same; one is taken. `memory` is for what is allocated here, the ions given included.
    ///
    /// # Cost
    /// About 340 bytes of memory and twice its name for each ion, and 48 for each picture.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if an ion's first picture is missing or two of the same differ; [`Error::Parameter`] for two
    /// ions of one name, scores and m/z that are none, pictures without a pixel, names of 64 KiB and more than 2³² bytes of them; [`Error::Budget`] if that is more than `memory`,
    /// or the allocator has not enough left.
    pub fn new(
        frame: Frame,
        mut subjects: Vec<Subject<'_>>,
        parts: &[Pictures],
        memory: u64,
    ) -> Result<Self> {
        check(frame, &subjects)?;
        let need = need(&subjects, parts);
        if need > memory {
            return Err(Error::Budget {
                need,
                have: memory,
                what: "the index of images".to_owned(),
            });
        }
        subjects.sort_unstable_by_key(|subject| (subject.formula, subject.modifier));
        let sources = Sources::new(parts)?;
        let names = names(&subjects)?;
        let counts = [subjects.len(), names.len()].map(u32::try_from);
        let [Ok(ions), Ok(text_bytes)] = counts else {
            return Err(wrong(format!(
                "{} ions with {} bytes of names",
                subjects.len(),
                names.len()
            )));
        };
        let head_bytes = length(ions, text_bytes);
        let mut merge = Self {
            head: reserved(head_bytes)?,
            copies: reserved(subjects.len() as u64 * PEAKS as u64)?,
            bytes: head_bytes,
        };
        let mut header = Header {
            width: frame.width,
            height: frame.height,
            ions,
            images: 0,
            text_bytes,
            head_bytes,
            file_bytes: 0,
            store: frame.store,
            digest: [0; 32],
        };
        merge.head.extend_from_slice(&header.to_bytes());
        let mut text = 0;
        for subject in &subjects {
            merge.entry(subject, &mut text, &sources)?;
        }
        merge.head.extend_from_slice(&names);
        header.images = u32::try_from(merge.copies.len())
            .map_err(|_| wrong("more than 4,294,967,295 images".to_owned()))?;
        header.file_bytes = merge.bytes;
        let bytes = header.to_bytes();
        merge.head[..bytes.len()].copy_from_slice(&bytes);
        let sum = digest(&merge.head, DIGEST);
        merge.head[DIGEST].copy_from_slice(&sum);
        Ok(merge)
    }

    /// Bytes of memory that head and copies hold.
    #[must_use]
    pub fn held_bytes(&self) -> u64 {
        (self.head.capacity() + self.copies.capacity() * size_of::<Copy>()) as u64
    }

    fn entry(&mut self, subject: &Subject<'_>, text: &mut u32, sources: &Sources) -> Result<()> {
        let lengths = [subject.formula.len(), subject.modifier.len()];
        self.head.extend_from_slice(&text.to_le_bytes());
        for length in lengths {
            // `names` has refused longer ones.
            let length = u16::try_from(length).unwrap_or(u16::MAX);
            self.head.extend_from_slice(&length.to_le_bytes());
            *text += u32::from(length);
        }
        for number in [subject.msm, subject.fdr] {
            self.head.extend_from_slice(&number.to_le_bytes());
        }
        for (peak, mz) in (0..).zip(subject.mz) {
            let found = sources.find(subject.ion, peak).filter(|_| mz > 0.0);
            if found.is_none() && peak == 0 {
                return Err(Error::Mismatch {
                    file: "parts of the images file".to_owned(),
                    what: format!(
                        "{} {} was found, but its image is in no part; annotate again from the start",
                        subject.formula, subject.modifier
                    ),
                });
            }
            let peak = found.map_or_else(
                || Peak {
                    mz,
                    ..Peak::default()
                },
                |(part, record)| self.copy(*part, record, mz),
            );
            self.head.extend_from_slice(&peak.to_bytes());
        }
        Ok(())
    }

    fn copy(&mut self, part: usize, record: &Record, mz: f64) -> Peak {
        let at = self.bytes;
        self.bytes += u64::from(record.bytes);
        self.copies.push(Copy {
            part,
            range: record.range(),
            crc: record.crc,
        });
        Peak {
            at,
            bytes: record.bytes,
            crc: record.crc,
            mz,
            min: record.min,
            max: record.max,
        }
    }
}

/// All pictures of all parts, by ion and peak, each once.
struct Sources(Vec<(usize, Record)>);

impl Sources {
    fn new(parts: &[Pictures]) -> Result<Self> {
        let count: usize = parts.iter().map(|part| part.records.len()).sum();
        let mut all = reserved(count as u64)?;
        for (n, part) in parts.iter().enumerate() {
            all.extend(part.records.iter().map(|record| (n, *record)));
        }
        all.sort_unstable_by_key(|(part, record)| (record.ion, record.peak, *part, record.at));
        for pair in all.windows(2) {
            let [(_, a), (_, b)] = pair else { continue };
            let same = (a.bytes, a.crc, a.min.to_bits(), a.max.to_bits())
                == (b.bytes, b.crc, b.min.to_bits(), b.max.to_bits());
            if (a.ion, a.peak) == (b.ion, b.peak) && !same {
                return Err(Error::Mismatch {
                    file: "parts of the images file".to_owned(),
                    what: format!(
                        "two different images of ion {}, peak {}; annotate again from the start",
                        a.ion, a.peak
                    ),
                });
            }
        }
        all.dedup_by_key(|(_, record)| (record.ion, record.peak));
        Ok(Self(all))
    }

    fn find(&self, ion: u32, peak: u32) -> Option<&(usize, Record)> {
        let key = (ion, peak);
        let at = self
            .0
            .binary_search_by_key(&key, |(_, record)| (record.ion, record.peak));
        self.0.get(at.ok()?)
    }
}

/// Refuses what no reader would take.
fn check(frame: Frame, subjects: &[Subject<'_>]) -> Result<()> {
    let Frame { width, height, .. } = frame;
    let pixels = u64::from(width) * u64::from(height);
    if pixels == 0 || pixels > u64::from(u32::MAX) {
        return Err(wrong(format!("pictures of {width} x {height} pixels")));
    }
    for subject in subjects {
        let Subject { msm, fdr, mz, .. } = subject;
        let scores = *msm > 0.0 && msm.is_finite() && (0.0..=1.0).contains(fdr);
        if !scores || mz.iter().any(|mz| !mz.is_finite() || *mz < 0.0) {
            return Err(wrong(format!(
                "{} {} with an MSM of {msm}, an FDR of {fdr} and m/z {mz:?}",
                subject.formula, subject.modifier
            )));
        }
    }
    Ok(())
}

/// Bytes of ions and pictures while the file is planned.
fn need(subjects: &[Subject<'_>], parts: &[Pictures]) -> u64 {
    let pictures: usize = parts.iter().map(|part| part.records.len()).sum();
    let ion = size_of::<Subject<'_>>() + ENTRY + PEAKS * size_of::<Copy>();
    // A name is there as text, and once more in the head.
    let bytes = subjects.len() * ion + 2 * text(subjects) + pictures * size_of::<(usize, Record)>();
    (bytes + HEADER + 8) as u64
}

/// Bytes of all names.
fn text(subjects: &[Subject<'_>]) -> usize {
    let names = subjects.iter();
    names
        .map(|subject| subject.formula.len() + subject.modifier.len())
        .sum()
}

/// The text of the head: all names, filled up to whole 8 bytes.
fn names(subjects: &[Subject<'_>]) -> Result<Vec<u8>> {
    let mut names = reserved(text(subjects) as u64 + 8)?;
    for (n, subject) in subjects.iter().enumerate() {
        let (formula, modifier) = (subject.formula, subject.modifier);
        let before = n.checked_sub(1).map(|before| &subjects[before]);
        if before.is_some_and(|before| (before.formula, before.modifier) == (formula, modifier)) {
            return Err(wrong(format!("{formula} {modifier} is there twice")));
        }
        let limit = usize::from(u16::MAX);
        if formula.is_empty() || formula.len() > limit || modifier.len() > limit {
            return Err(wrong(
                "a formula or adduct without a letter, or with more than 65,535".to_owned(),
            ));
        }
        names.extend_from_slice(formula.as_bytes());
        names.extend_from_slice(modifier.as_bytes());
    }
    names.resize(names.len().next_multiple_of(8), 0);
    Ok(names)
}

/// An empty list with room for so many.
pub(super) fn reserved<T>(len: u64) -> Result<Vec<T>> {
    let mut room = Vec::new();
    let fits = usize::try_from(len).is_ok_and(|len| room.try_reserve_exact(len).is_ok());
    fits.then_some(room).ok_or_else(|| Error::Budget {
        need: len.saturating_mul(size_of::<T>() as u64),
        have: 0,
        what: "the index of images".to_owned(),
    })
}

fn wrong(what: String) -> Error {
    Error::Parameter {
        name: "images",
        what,
    }
}
