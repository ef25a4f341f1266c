//! Which ranges of an exposure's file bring its part of a section into a slot.

use super::exposure::Exposure;
use super::plan::{Layout, Plan, Section};
use crate::job::Read;

/// Whose bytes they are, and where they go.
pub(super) struct Place {
    /// Index of the exposure.
    pub(super) source: u32,
    /// The slot.
    pub(super) slot: u32,
    /// Pixels a row of the image.
    pub(super) width: u32,
}

/// One image of an exposure: its pixels, or its mask's.
struct Plane {
    data_at: u64,
    /// Bytes a pixel.
    size: usize,
    /// Where in the slot it goes.
    at: usize,
}

impl Place {
    /// The reads: the exposure's pixels go to the front of the slot, its mask's behind them. What lies first
    /// in the file is read first.
    pub(super) fn reads(&self, plan: &Plan, section: &Section, exposure: &Exposure) -> Vec<Read> {
        let pixels = Plane {
            data_at: exposure.data_at,
            size: exposure.encoding.bitpix.size(),
            at: 0,
        };
        let mut reads = self.plane(plan, section, &pixels);
        let Some(mask) = &exposure.mask else {
            return reads;
        };
        let behind = reads
            .last()
            .map_or(0, |read| read.at + usize::try_from(read.len()).unwrap_or(0));
        let flags = Plane {
            data_at: mask.data_at,
            size: mask.bitpix.size(),
            at: behind,
        };
        let mut flags = self.plane(plan, section, &flags);
        if mask.data_at < exposure.data_at {
            std::mem::swap(&mut reads, &mut flags);
        }
        reads.append(&mut flags);
        reads
    }

    /// The reads of one image.
    fn plane(&self, plan: &Plan, section: &Section, plane: &Plane) -> Vec<Read> {
        let part = section.columns.len() * plane.size;
        let at = |row: u32| {
            let pixel = u64::from(row) * u64::from(self.width) + u64::from(section.columns.start);
            plane.data_at + pixel * plane.size as u64
        };
        let read = |range, at| Read {
            source: self.source,
            range,
            slot: self.slot,
            at: plane.at + at,
        };
        let mut wanted = section.rows.clone().step_by(plan.step as usize);
        match plan.layout {
            Layout::Rows => wanted
                .enumerate()
                .map(|(i, row)| {
                    let start = at(row);
                    read(start..start + part as u64, i * part)
                })
                .collect(),
            Layout::Span => {
                let last = wanted.next_back().unwrap_or(section.rows.start);
                vec![read(at(section.rows.start)..at(last) + part as u64, 0)]
            }
        }
    }
}
