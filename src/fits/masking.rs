//! Which of the HDUs that a walk passes is the mask of the image that it chooses.

use crate::error::Result;
use crate::fits::choice::Candidate;
use crate::fits::hdu::{Hdu, Selection, product};
use crate::fits::image::Image;

/// The mask so far.
#[derive(Debug)]
pub(super) struct Masking {
    pub(super) selection: Selection,
    plane: u64,
    /// HDUs that were meant, the first of each EXTVER: which it must be is known once the image is.
    found: Vec<(i64, Candidate)>,
}

impl Masking {
    pub(super) fn new(selection: Selection, plane: u64) -> Self {
        Self {
            selection,
            plane,
            found: Vec::new(),
        }
    }

    /// Keeps the HDU if it may be the one meant.
    pub(super) fn consider(&mut self, file: &str, hdu: &Hdu) {
        let known = self.found.iter().any(|(ver, _)| *ver == hdu.ver);
        if !known && self.selection.names(hdu) {
            self.found
                .push((hdu.ver, Candidate::new(self.read(file, hdu), hdu)));
        }
    }

    /// The HDU as an image, without what only a result needs.
    fn read(&self, file: &str, hdu: &Hdu) -> Result<Image> {
        let planes = product(hdu.axes.get(2..).unwrap_or_default());
        // A mask of one plane is that of every plane of a cube.
        let plane = if planes == Some(1) { 0 } else { self.plane };
        let mut image = Image::new((file, "--mask"), hdu, &[], &[], plane)?;
        image.wcs = None;
        Ok(image)
    }

    /// The place of the mask of an image with this EXTVER. A name alone means the HDU of the image's own
    /// EXTVER: `SCI,2` goes with `DQ,2`.
    fn place(&self, ver: i64) -> Option<usize> {
        let by_name = matches!(self.selection, Selection::Name(_, None));
        self.found
            .iter()
            .position(|(own, _)| !by_name || *own == ver)
    }

    pub(super) fn is_found(&self, ver: i64) -> bool {
        self.place(ver).is_some()
    }

    /// The mask of an image with this EXTVER.
    pub(super) fn take(&mut self, ver: i64) -> Option<Candidate> {
        let place = self.place(ver)?;
        Some(self.found.swap_remove(place).1)
    }

    /// What was meant, for an image with this EXTVER.
    pub(super) fn meant(&self, ver: i64) -> Selection {
        match &self.selection {
            Selection::Name(name, None) => Selection::Name(name.clone(), Some(ver)),
            other => other.clone(),
        }
    }
}
