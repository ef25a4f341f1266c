//! What a job hands out.

use super::buffer::{ImageBuffer, Kept};
use super::record::{Decoy, Scored};
use super::shares::{DECOYS, TARGETS};
use super::sheet::Sheet;
use crate::error::{Error, Result};

/// What a job hands out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Output<'a> {
    /// So many more ions of the shard are done, or patterns were computed (0): nothing has to be done about it.
    Progress {
        /// Ions since the last time.
        ions: u32,
    },
    /// What is finished is to be saved: the job lets go of it.
    Save(Save<'a>),
}

/// What was finished since the last save.
///
/// After a resume from an earlier save's `position`, ions from there on may come once more, the same to the bit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Save<'a> {
    /// Targets that score.
    pub targets: &'a [Scored],
    /// Decoys that score.
    pub decoys: &'a [Decoy],
    /// The images of these targets, where images are kept.
    pub images: &'a [Kept],
    /// Every ion of the shard before this place of the order is in this or an earlier save.
    pub position: u32,
    /// Bytes of the images, [`HIT`](super::buffer::HIT) for each peak.
    pub image_bytes: u64,
    /// Whether it is the job's last one.
    pub last: bool,
}

/// What is finished and was not saved.
#[derive(Debug)]
pub(super) struct Pending {
    targets: Vec<Scored>,
    decoys: Vec<Decoy>,
    /// The images of the targets; `None` if they are not kept.
    images: Option<ImageBuffer>,
    /// A target whose images wait on the sheet until those that are held were saved.
    waiting: Option<Scored>,
}

impl Pending {
    pub(super) fn new(images: Option<ImageBuffer>) -> Result<Self> {
        Ok(Self {
            targets: room(TARGETS, "scores of targets")?,
            decoys: room(DECOYS, "scores of decoys")?,
            images,
            waiting: None,
        })
    }

    /// Takes a decoy.
    pub(super) fn decoy(&mut self, decoy: Decoy) {
        self.decoys.push(decoy);
    }

    /// Takes a target whose images are on the sheet, or lets it wait there.
    pub(super) fn target(&mut self, scored: Scored, sheet: &Sheet) -> Result<()> {
        if let Some(images) = &mut self.images {
            let hits = sheet.hits();
            if !images.fits(hits) {
                self.waiting = Some(scored);
                return Ok(());
            }
            images.add(sheet.kept(scored.ion, &scored.metrics)?, hits);
        }
        self.targets.push(scored);
        Ok(())
    }

    /// Takes the target that waits, once what was held is saved.
    pub(super) fn resume(&mut self, sheet: &Sheet) -> Result<()> {
        match self.waiting.take() {
            Some(scored) => self.target(scored, sheet),
            None => Ok(()),
        }
    }

    /// Whether it must be saved before the next ion.
    pub(super) fn is_full(&self) -> bool {
        self.waiting.is_some()
            || self.targets.len() >= TARGETS
            || self.decoys.len() >= DECOYS
            || self.images.as_ref().is_some_and(ImageBuffer::full)
    }

    /// Whether there is nothing to save.
    pub(super) fn is_empty(&self) -> bool {
        self.targets.is_empty() && self.decoys.is_empty()
    }

    /// Lets go of what was saved.
    pub(super) fn clear(&mut self) {
        self.targets.clear();
        self.decoys.clear();
        if let Some(images) = &mut self.images {
            images.clear();
        }
    }

    /// What is to be saved.
    pub(super) fn save(&self, position: u32, last: bool) -> Save<'_> {
        let images = self.images.as_ref();
        Save {
            targets: &self.targets,
            decoys: &self.decoys,
            images: images.map_or(&[], ImageBuffer::held),
            position,
            image_bytes: images.map_or(0, ImageBuffer::bytes),
            last,
        }
    }
}

/// An empty list with room for so many.
fn room<T>(len: usize, what: &str) -> Result<Vec<T>> {
    let mut list = Vec::new();
    list.try_reserve_exact(len).map_err(|_| Error::Budget {
        need: (len * size_of::<T>()) as u64,
        have: 0,
        what: what.to_owned(),
    })?;
    Ok(list)
}
