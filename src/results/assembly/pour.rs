//! The images file: its head, then pictures out of all parts, each checked as it passes.

use std::ops::Range;

use super::job::{File, Parts, Turn};
use super::windows::Windows;
use crate::crc::Running;
use crate::error::{Error, Result};
use crate::results::images::Merge;

/// Pours pictures.
#[derive(Debug)]
pub(super) struct Pour {
    merge: Merge,
    /// Where each part ends.
    ends: Vec<u64>,
    windows: Windows,
    now: Now,
    /// The picture at hand.
    copy: usize,
    /// Bytes of it that were handed out.
    done: u64,
    sum: Running,
}

/// What is said next.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Now {
    /// The head: so it begins.
    Head,
    Need(Range<u64>),
    /// So many bytes of the picture at hand.
    Put(usize),
}

impl Pour {
    pub(super) fn new(merge: Merge, ends: Vec<u64>, memory: u64) -> Result<Self> {
        Ok(Self {
            windows: Windows::new(ends.len(), memory)?,
            merge,
            ends,
            now: Now::Head,
            copy: 0,
            done: 0,
            sum: Running::default(),
        })
    }

    /// Bytes of the whole file.
    pub(super) fn bytes(&self) -> u64 {
        self.merge.bytes
    }

    pub(super) fn turn(&self) -> Turn<'_> {
        let copy = self.merge.copies.get(self.copy);
        match (&self.now, copy) {
            (Now::Need(range), Some(copy)) => Turn::Need {
                part: number(copy.part),
                range: range.clone(),
            },
            (Now::Put(length), Some(copy)) => {
                let held = self.windows.held(copy.part, &self.missing());
                put(&held[..held.len().min(*length)])
            }
            _ => put(&self.merge.head),
        }
    }

    /// The bytes of the picture at hand that were not handed out.
    fn missing(&self) -> Range<u64> {
        let copy = self.merge.copies.get(self.copy);
        copy.map_or(0..0, |copy| copy.range.start + self.done..copy.range.end)
    }

    /// Goes on from what was handed out, or fed; whether all of the file was handed out.
    pub(super) fn look(&mut self, parts: &Parts) -> Result<bool> {
        if let Now::Put(length) = self.now {
            self.pass(length, parts)?;
        }
        let Some(copy) = self.merge.copies.get(self.copy) else {
            return Ok(true);
        };
        let missing = self.missing();
        let held = self.windows.held(copy.part, &missing).len();
        self.now = if held > 0 {
            Now::Put(held)
        } else {
            Now::Need(self.windows.want(missing.start, self.end()))
        };
        Ok(false)
    }

    /// Goes on behind what was handed out.
    fn pass(&mut self, length: usize, parts: &Parts) -> Result<()> {
        let Some(copy) = self.merge.copies.get(self.copy) else {
            return Ok(());
        };
        let held = self.windows.held(copy.part, &self.missing());
        self.sum.update(&held[..held.len().min(length)]);
        self.done += length as u64;
        if copy.range.start + self.done < copy.range.end {
            return Ok(());
        }
        if self.sum.value() != copy.crc {
            return Err(Error::Format {
                file: parts.name(number(copy.part)),
                at: copy.range.start,
                what: "the image that begins here does not fit its CRC-32; this part is damaged, remove it and compute \
                       its shard again"
                    .to_owned(),
            });
        }
        self.copy += 1;
        self.done = 0;
        self.sum = Running::default();
        Ok(())
    }

    /// Up to where reading on in the part of the picture at hand is of use.
    fn end(&self) -> u64 {
        let mut copies = self.merge.copies.iter().skip(self.copy);
        let Some(first) = copies.next() else { return 0 };
        if self.windows.are_own() {
            // All pictures of a part are in the order of the file.
            return self
                .ends
                .get(first.part)
                .copied()
                .unwrap_or(first.range.end);
        }
        let mut end = first.range.end;
        for next in copies.take_while(|next| next.part == first.part) {
            if next.range.start != end {
                break;
            }
            end = next.range.end;
        }
        end
    }

    pub(super) fn feed(&mut self, parts: &Parts, part: u32, at: u64, bytes: &[u8]) -> Result<()> {
        let asked = match &self.now {
            Now::Need(range) => range.clone(),
            _ => 0..0,
        };
        let copy = self.merge.copies.get(self.copy);
        let expected = copy.is_some_and(|copy| number(copy.part) == part) && at == asked.start;
        let length = asked.end - asked.start;
        let got = bytes.len() as u64;
        if !expected || got > length || length == 0 {
            return Err(Error::Unexpected {
                file: parts.name(part),
                at,
                asked: length,
                got,
            });
        }
        if got < length {
            return Err(Error::Format {
                file: parts.name(part),
                at: at + got,
                what:
                    "this part ends here, within its images; remove it and compute its shard again"
                        .to_owned(),
            });
        }
        self.windows.put(part as usize - 1, at, bytes)
    }
}

/// The number of the part at an index.
fn number(part: usize) -> u32 {
    // There are at most 65,536.
    u32::try_from(part + 1).unwrap_or(u32::MAX)
}

fn put(bytes: &[u8]) -> Turn<'_> {
    Turn::Put {
        file: File::Images,
        bytes,
    }
}
