//! Which of the HDUs that a walk passes is the one to read.

use crate::error::{Error, Result};
use crate::fits::carried::handed_down;
use crate::fits::hdu::{Hdu, Selection, printable};
use crate::fits::held::Held;
use crate::fits::image::Image;

/// Most HDUs that a message lists.
const LISTED: usize = 50;

/// The choice so far.
#[derive(Debug)]
pub(super) struct Choice {
    selection: Selection,
    plane: u64,
    best: Option<Candidate>,
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
struct Candidate {
    image: Result<Image>,
    data_end: u64,
    next_at: u64,
}

impl Choice {
    pub(super) fn new(selection: Selection, plane: u64) -> Self {
        Self {
            selection,
            plane,
            best: None,
            certain: false,
            primary: Vec::new(),
            seen: Vec::new(),
            count: 0,
        }
    }

    /// Whether no later HDU can be a better choice.
    pub(super) fn is_certain(&self) -> bool {
        self.certain
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
            self.best = Some(Candidate {
                image: Image::new(file, hdu, raw, &self.primary, self.plane),
                data_end: hdu.data_at + hdu.data_len,
                next_at: hdu.next_at,
            });
        }
        self.certain = certain;
    }

    /// The image chosen; `end` is where the HDUs end.
    pub(super) fn into_image(self, file: &str, end: u64, held: &Held) -> Result<Image> {
        let Some(best) = self.best else {
            return Err(self.not_found(file, end));
        };
        let mut image = best.image?;
        if let Some(total) = held.total() {
            image.check_end(best.data_end, best.next_at, total, held.at_most())?;
        }
        Ok(image)
    }

    fn not_found(&self, file: &str, end: u64) -> Error {
        let what = match &self.selection {
            Selection::Default => "no HDU holds an image with pixels".to_owned(),
            selection => format!("HDU {} was not found", printable(&selection.to_string())),
        };
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
