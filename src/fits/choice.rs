//! Which of the HDUs that a walk passes is the one to read.

use crate::error::{Error, Result};
use crate::fits::carried::handed_down;
use crate::fits::hdu::{Hdu, Selection, printable};
use crate::fits::held::Held;
use crate::fits::image::Image;
use crate::fits::masking::Masking;

/// Most HDUs that a message lists.
const LISTED: usize = 50;

/// The choice so far.
#[derive(Debug)]
pub(super) struct Choice {
    selection: Selection,
    plane: u64,
    best: Option<Candidate>,
    mask: Option<Masking>,
    /// Whether no later HDU can be better.
    certain: bool,
    /// Cards of the primary HDU that describe the exposure as a whole.
    primary: Vec<String>,
    /// Labels of the first HDUs, and the number of all.
    seen: Vec<String>,
    count: usize,
}

/// An HDU that was chosen, or that will be if nothing better comes; an error if it is not read.
#[derive(Debug)]
pub(super) struct Candidate {
    image: Result<Image>,
    data_end: u64,
    next_at: u64,
}

impl Candidate {
    pub(super) fn new(image: Result<Image>, hdu: &Hdu) -> Self {
        Self {
            image,
            data_end: hdu.data_at + hdu.data_len,
            next_at: hdu.next_at,
        }
    }

    /// EXTVER of an image that can be read.
    fn ver(&self) -> Option<i64> {
        self.image.as_ref().ok().map(|image| image.ver)
    }

    /// The image, if all of it is there.
    fn whole(self, held: &Held) -> Result<Image> {
        let mut image = self.image?;
        if let Some(total) = held.total() {
            image.check_end(self.data_end, self.next_at, total, held.at_most())?;
        }
        Ok(image)
    }
}

impl Choice {
    pub(super) fn new(selection: Selection, plane: u64) -> Self {
        Self {
            selection,
            plane,
            best: None,
            mask: None,
            certain: false,
            primary: Vec::new(),
            seen: Vec::new(),
            count: 0,
        }
    }

    /// Looks for a mask of the image, too.
    pub(super) fn seek_mask(&mut self, selection: Selection) {
        self.mask = Some(Masking::new(selection, self.plane));
    }

    /// Whether no later HDU can be a better choice.
    pub(super) fn is_certain(&self) -> bool {
        let ver = self.best.as_ref().and_then(Candidate::ver);
        // An image that cannot be read needs no mask.
        self.certain && (self.mask.as_ref().zip(ver)).is_none_or(|(mask, ver)| mask.is_found(ver))
    }

    /// Takes the HDU if it is the one meant, or the best so far. `raw` is its header.
    pub(super) fn consider(&mut self, file: &str, hdu: &Hdu, raw: &[u8]) {
        if hdu.index == 0 {
            self.primary = handed_down(raw);
        }
        self.count += 1;
        if self.seen.len() < LISTED {
            self.seen.push(hdu.label());
        }
        if let Some(mask) = &mut self.mask {
            mask.consider(file, hdu);
        }
        if self.certain {
            return;
        }
        let named = |name: &str| {
            hdu.name
                .as_deref()
                .is_some_and(|own| own.eq_ignore_ascii_case(name))
        };
        let (better, certain) = match self.selection {
            Selection::Default if !hdu.has_pixels() => (false, false),
            Selection::Default => (named("SCI") || self.best.is_none(), named("SCI")),
            _ => {
                let meant = self.selection.names(hdu);
                (meant, meant)
            }
        };
        if better {
            let image = Image::new((file, "--hdu"), hdu, raw, &self.primary, self.plane);
            self.best = Some(Candidate::new(image, hdu));
        }
        self.certain = certain;
    }

    /// The image chosen; `end` is where the HDUs end.
    pub(super) fn into_image(mut self, file: &str, end: u64, held: &Held) -> Result<Image> {
        let Some(best) = self.best.take() else {
            let what = match &self.selection {
                Selection::Default => "no HDU holds an image with pixels".to_owned(),
                selection => format!("HDU {} was not found", printable(&selection.to_string())),
            };
            return Err(self.not_found(file, end, &what));
        };
        let mut image = best.whole(held)?;
        let Some(mask) = &mut self.mask else {
            return Ok(image);
        };
        let Some(found) = mask.take(image.ver) else {
            let meant = mask.meant(image.ver).to_string();
            let what = format!("the mask, HDU {}, was not found", printable(&meant));
            return Err(self.not_found(file, end, &what));
        };
        let found = found.whole(held)?;
        if found.hdu == image.hdu {
            return Err(Error::Parameter {
                name: "--mask",
                what: format!(
                    "{file}: HDU {} is image and mask at once; choose another with --hdu or --mask",
                    image.hdu
                ),
            });
        }
        image.mask = Some(Box::new(found));
        Ok(image)
    }

    fn not_found(&self, file: &str, end: u64, what: &str) -> Error {
        let more = match self.count - self.seen.len() {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        Error::Format {
            file: file.to_owned(),
            at: end,
            what: format!("{what}; there are: {}{more}", self.seen.join("; ")),
        }
    }

    /// What to do about damage behind an image that could be read.
    pub(super) fn advice(&self) -> String {
        match &self.best {
            Some(Candidate {
                image: Ok(image), ..
            }) => format!(" (--hdu {} takes the image before it)", image.hdu),
            _ => String::new(),
        }
    }

    /// Adds the advice to an error about the file's bytes.
    pub(super) fn advise(&self, mut error: Error) -> Error {
        if let Error::Format { what, .. } = &mut error {
            what.push_str(&self.advice());
        }
        error
    }
}
