//! What the memory budget is spent on.

use super::batch::{BATCH, Entry, Group};
use super::buffer::{ENTRIES, Kept};
use super::ions::Ions;
use super::record::{Decoy, Scored};
use super::sheet;
use super::shelf::{AHEAD, Shelf};
use super::wish::{Keep, Policy, Wish};
use crate::error::{Error, Result};
use crate::ion::draft::{check_wish, length};
use crate::ion::isotope::{PEAKS, Patterns};
use crate::ion::reader::BASE;
use crate::ion::reads::CHUNK;
use crate::store::head::Head;

/// Scores of targets that wait for a save.
pub(super) const TARGETS: usize = 1024;

/// Scores of decoys that wait for a save.
pub(super) const DECOYS: usize = 4096;

/// Most bytes of images that are held if nothing else is asked: what a save may keep a program busy with.
const IMAGES: u64 = 64 << 20;

/// What the budget is spent on, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shares {
    /// What does not depend on the budget and is not accounted for where it is allocated.
    pub(super) program: u64,
    /// All that does not depend on the budget.
    pub(super) fixed: u64,
    /// Blocks.
    pub(super) blocks: u64,
    /// What the image buffer may hold before it is saved, [`HIT`](super::buffer::HIT) bytes a peak.
    pub(super) images: u64,
    /// What the image buffer is given: no less than the images of one ion.
    pub(super) reserved: u64,
    /// The smallest budget that works.
    pub(super) minimum: u64,
}

impl Shares {
    /// Divides the budget.
    ///
    /// # Errors
    /// [`Error::Budget`] naming the smallest that works; [`Error::Parameter`] for a slice that does not exist or no
    /// request in flight.
    pub(super) fn new(head: &Head, ions: &Ions, wish: &Wish) -> Result<Self> {
        let request = ions.request();
        check_wish(head.layout.contents.slices, request.slice, wish.in_flight)?;
        let area = sheet::area(head, request.slice);
        // A group has a list of blocks; there are few groups in a batch, unless memory is short.
        let batch = u64::from(BATCH) * (size_of::<Entry>() + size_of::<Group>()) as u64;
        let scores = (TARGETS * size_of::<Scored>() + DECOYS * size_of::<Decoy>()) as u64;
        let program = BASE
            .saturating_add(head.held_bytes())
            .saturating_add(ions.bytes())
            .saturating_add(u64::from(wish.in_flight) * CHUNK)
            .saturating_add(Patterns::BYTES)
            .saturating_add((AHEAD as u64 + 2) * batch)
            .saturating_add(scores);
        let fixed = program
            .saturating_add(Shelf::bytes(head))
            .saturating_add(sheet::bytes(area, request));
        let ranges = (0..head.blocks.len()).map(|n| length(&head.block_range(n)));
        let (largest, all) = ranges.fold((0, 0_u64), |(largest, all), bytes| {
            (bytes.max(largest), all + bytes)
        });
        // Whatever the limit, the images of one ion are held; and those of one more if it may be passed.
        let one = PEAKS as u64 * sheet::image_bytes(area);
        let entries = (ENTRIES * size_of::<Kept>()) as u64;
        let (least, beyond) = match wish.images {
            Keep::None => (0, 0),
            Keep::Buffer { bytes, policy } => {
                let over = if policy == Policy::FlushAfter { one } else { 0 };
                (one.max(bytes.unwrap_or(0)), over + entries)
            }
        };
        let minimum = (fixed.saturating_add(largest))
            .saturating_add(least)
            .saturating_add(beyond);
        if wish.memory < minimum {
            return Err(Error::Budget {
                need: minimum,
                have: wish.memory,
                what: "the annotation of this store".to_owned(),
            });
        }
        let spare = wish.memory - minimum;
        let (images, reserved) = match wish.images {
            Keep::None => (0, 0),
            Keep::Buffer {
                bytes: Some(bytes), ..
            } => (bytes, least + beyond),
            Keep::Buffer { bytes: None, .. } => {
                let images = least.max((least + spare / 2).min(IMAGES));
                (images, images + beyond)
            }
        };
        let blocks = (wish.memory - fixed - reserved).min(all.max(1));
        Ok(Self {
            program,
            fixed,
            blocks,
            images,
            reserved,
            minimum,
        })
    }
}
