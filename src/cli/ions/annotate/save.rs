//! What a worker does with a save: images are drawn as PNG, and all goes into the shard's part.

use sectile::budget::Budget;
use sectile::ion::annotate::Save;
use sectile::results::images::Easel;
use sectile::store::head::Head;

use super::part::{self, Part};
use crate::cli::failure::Result;

/// Where one worker draws and saves.
#[derive(Debug)]
pub struct Desk {
    easel: Easel,
    /// Isotope peaks whose images are kept.
    peaks: usize,
}

impl Desk {
    /// A desk for images of one slice; `only_first` if only those of the first isotope peak are kept.
    pub fn new(head: &Head, slice: u32, only_first: bool) -> Result<Self> {
        let contents = &head.layout.contents;
        let mut budget = Budget::new(Self::bytes(head));
        // Fits: the number of all pixels does.
        let first = slice * contents.width * contents.height;
        Ok(Self {
            easel: Easel::new(
                contents.width,
                contents.height,
                &head.mask,
                first,
                &mut budget,
            )?,
            peaks: if only_first { 1 } else { 4 },
        })
    }

    /// Bytes that a desk and the part it saves to hold.
    pub fn bytes(head: &Head) -> u64 {
        let contents = &head.layout.contents;
        let pixels = u64::from(contents.width) * u64::from(contents.height);
        // Once more what a picture may have, while it is on its way into the file.
        Easel::bytes(pixels) + 4 * pixels + part::HELD
    }

    /// Saves.
    pub fn put(&mut self, save: &Save<'_>, part: &mut Part) -> Result<()> {
        for kept in save.images {
            for (peak, image) in kept.peaks.iter().enumerate().take(self.peaks) {
                if let Some(image) = image {
                    let picture = self.easel.draw(&image.pixels, &image.values)?;
                    part.add_image(kept.ion, peak, &picture)?;
                }
            }
        }
        part.commit(save)
    }
}
