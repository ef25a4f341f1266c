//! The group table of a block: where the columns of its groups are, and how they are packed.

use super::bits::packed;
use super::block::Block;
use super::encode::Packing;
use super::format::{GROUP, TAIL};
use super::head::Real;
use super::layout::group_entry;
use crate::error::{Error, Result};
use crate::little::{u32_at, u64_at};

/// One group of a block, as the group table has it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Group {
    pub(super) len: usize,
    /// Key of the first m/z.
    pub(super) first: u64,
    /// Least order of an intensity.
    pub(super) base: u64,
    pub(super) least_pixel: u32,
    /// Offset of the group's columns in the block.
    pub(super) at: usize,
    pub(super) mz: Packing,
    pub(super) intensity: Packing,
    pub(super) pixel_width: u32,
}

impl<'a> Block<'a> {
    pub(super) fn groups(&self) -> usize {
        self.len.div_ceil(GROUP)
    }

    fn group_entry(&self, n: usize) -> &'a [u8] {
        let contents = &self.head.layout.contents;
        let bytes = group_entry(contents.mz, contents.intensity);
        self.bytes
            .get(n * bytes..(n + 1) * bytes)
            .unwrap_or_default()
    }

    pub(super) fn first_key(&self, n: usize) -> u64 {
        real_at(self.group_entry(n), 0, self.head.layout.contents.mz)
    }

    pub(super) fn last_key(&self) -> u64 {
        self.head.layout.contents.mz.key(self.entry.last)
    }

    pub(super) fn group(&self, n: usize) -> Group {
        let contents = &self.head.layout.contents;
        let entry = self.group_entry(n);
        let base_at = usize::from(contents.mz.bytes());
        let at = base_at + usize::from(contents.intensity.bytes());
        let packings = u64_at(entry, at + 8).to_le_bytes();
        let [
            mz_width,
            mz_shift,
            mz_exceptions,
            width,
            shift,
            exceptions,
            pixel_width,
            high,
        ] = packings;
        Group {
            len: (self.len - (n * GROUP).min(self.len)).min(GROUP),
            first: real_at(entry, 0, contents.mz),
            base: real_at(entry, base_at, contents.intensity),
            least_pixel: u32_at(entry, at),
            at: u32_at(entry, at + 4) as usize,
            mz: Packing {
                width: mz_width,
                shift: mz_shift,
                exceptions: mz_exceptions,
                high: high & 15,
            },
            intensity: Packing {
                width,
                shift,
                exceptions,
                high: high >> 4,
            },
            pixel_width: u32::from(pixel_width),
        }
    }

    /// Checks that the groups follow one another and that no column leaves its place.
    pub(super) fn check_groups(&self) -> Result<()> {
        let contents = &self.head.layout.contents;
        let mut at = self.groups() * group_entry(contents.mz, contents.intensity);
        let mut key = contents.mz.key(self.entry.first);
        for n in 0..self.groups() {
            let group = self.group(n);
            let first_fits = if n == 0 {
                group.first == key
            } else {
                group.first >= key
            };
            if !first_fits || group.first > self.last_key() || group.at != at {
                return Err(self.wrong_group(n));
            }
            key = group.first;
            for (packing, real) in [
                (group.mz, contents.mz),
                (group.intensity, contents.intensity),
            ] {
                if !packing.fits(real, group.len) || !self.positions_fit(at, group.len, packing) {
                    return Err(self.wrong_group(n));
                }
                at += packing.bytes(group.len);
            }
            if group.pixel_width > 32 {
                return Err(self.wrong_group(n));
            }
            at += packed(group.len, group.pixel_width);
        }
        if at + TAIL != self.bytes.len() {
            let what = format!(
                "the columns of the block take {at} bytes, not {} less {TAIL}; the store is damaged",
                self.bytes.len()
            );
            return Err(self.format(0, what));
        }
        Ok(())
    }

    /// Whether the positions of a column's exceptions ascend and stay inside of the group.
    fn positions_fit(&self, at: usize, len: usize, packing: Packing) -> bool {
        let at = at + packed(len, u32::from(packing.width));
        let positions = self.from(at).get(..usize::from(packing.exceptions));
        positions.is_some_and(|positions| {
            positions.is_sorted_by(|a, b| a < b)
                && positions.last().is_none_or(|last| usize::from(*last) < len)
        })
    }

    fn wrong_group(&self, n: usize) -> Error {
        let contents = &self.head.layout.contents;
        let what = format!("group {n} contradicts the block it is in; the store is damaged");
        self.format(n * group_entry(contents.mz, contents.intensity), what)
    }
}

impl Packing {
    /// Whether a column of such values can be packed so.
    fn fits(self, real: Real, len: usize) -> bool {
        let bits = 8 * real.bytes();
        let exceptions = usize::from(self.exceptions);
        let high = if exceptions == 0 {
            self.high == 0
        } else {
            (1..=real.bytes()).contains(&self.high)
        };
        high && exceptions <= len && self.width <= bits && self.shift < bits
    }
}

fn real_at(bytes: &[u8], at: usize, real: Real) -> u64 {
    match real {
        Real::F32 => u64::from(u32_at(bytes, at)),
        Real::F64 => u64_at(bytes, at),
    }
}
