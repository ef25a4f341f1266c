//! A writer's state as bytes, so that a run that was killed goes on.

use super::format::ENTRY;
use super::head::{Entry, Layout};
use super::spectrum::Current;
use super::write::Writer;
use crate::budget::Budget;
use crate::crc::checksum;
use crate::error::{Error, Result};
use crate::little::{u32_at, u64_at};

/// Bytes before the first variable part.
const FIXED: usize = 64;

impl Writer {
    /// Appends the state between two batches: the directory, the bins so far and the peaks of the
    /// block that is being filled.
    ///
    /// # Cost
    /// At most what [`Writer::bytes`] says.
    pub fn save(&self, out: &mut Vec<u8>) {
        let from = out.len();
        let (bin, current, columns) = self.bins.state();
        let numbers = [
            self.layout.contents.peaks,
            self.entries.len() as u64,
            self.keys.len() as u64,
            self.last,
            bin as u64,
            current.total.to_bits(),
            current.moment.to_bits(),
            current.max.to_bits(),
        ];
        for number in numbers {
            out.extend(number.to_le_bytes());
        }
        for entry in &self.entries {
            out.extend(entry.to_bytes());
        }
        for value in columns.into_iter().flatten() {
            out.extend(value.to_le_bytes());
        }
        for value in self.keys.iter().chain(&self.orders) {
            out.extend(value.to_le_bytes());
        }
        for pixel in &self.pixels {
            out.extend(pixel.to_le_bytes());
        }
        let sum = checksum(&out[from..]);
        out.extend(sum.to_le_bytes());
    }

    /// A writer that goes on where the saved one was.
    ///
    /// # Errors
    /// [`Error::Format`] naming `file` if the bytes are not those of a writer of this layout, or
    /// damaged; [`Error::Budget`] as [`Writer::new`].
    pub fn restore(file: &str, layout: Layout, bytes: &[u8], budget: &mut Budget) -> Result<Self> {
        let wrong = || Error::Format {
            file: file.to_owned(),
            at: 0,
            what: "the saved state of the store is damaged or of another dataset; start again"
                .to_owned(),
        };
        let (state, sum) = bytes.split_last_chunk::<4>().ok_or_else(wrong)?;
        if checksum(state) != u32::from_le_bytes(*sum) || u64_at(state, 0) != layout.contents.peaks
        {
            return Err(wrong());
        }
        let number = |n: usize| usize::try_from(u64_at(state, 8 * n)).unwrap_or(usize::MAX);
        let (blocks, peaks, bin) = (number(1), number(2), number(4));
        if blocks > layout.blocks as usize
            || peaks > layout.peaks_of(blocks)
            || bin > layout.bins.count as usize
            || state.len() != FIXED + blocks * ENTRY + 12 * bin + 20 * peaks
        {
            return Err(wrong());
        }
        let mut writer = Self::new(layout, budget)?;
        let (directory, rest) = state[FIXED..].split_at(blocks * ENTRY);
        let (columns, rest) = rest.split_at(12 * bin);
        let (wide, narrow) = rest.split_at(16 * peaks);
        let entries = directory.as_chunks::<ENTRY>().0.iter().map(Entry::parse);
        writer.entries.extend(entries);
        if let Some(entry) = writer.entries.last() {
            writer.at = entry.at + u64::from(entry.bytes);
        }
        let current = Current {
            total: f64::from_bits(u64_at(state, 40)),
            moment: f64::from_bits(u64_at(state, 48)),
            max: f64::from_bits(u64_at(state, 56)),
        };
        let columns = columns
            .as_chunks::<4>()
            .0
            .iter()
            .map(|bytes| f32::from_le_bytes(*bytes));
        writer.bins.restore(bin, current, columns);
        writer.last = u64_at(state, 24);
        let mut wide = wide
            .as_chunks::<8>()
            .0
            .iter()
            .map(|bytes| u64::from_le_bytes(*bytes));
        writer.keys.extend(wide.by_ref().take(peaks));
        writer.orders.extend(wide);
        writer
            .pixels
            .extend((0..peaks).map(|n| u32_at(narrow, 4 * n)));
        Ok(writer)
    }
}
