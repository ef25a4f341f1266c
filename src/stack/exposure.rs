//! Exposures that belong together.

use serde::Serialize;

use super::mask::{Mask, Meaning};
use crate::error::{Error, Result};
use crate::fits::Image;
use crate::fits::pixel::Encoding;
use crate::fits::wcs::Wcs;

/// Largest difference in pointing, in pixels of the first exposure, at which two grids count as one.
///
/// Exposures that were drizzled onto one grid share their WCS to rounding; half a pixel off, a
/// median already smears stars, so the limit lies well below.
pub const POINTING_TOLERANCE: f64 = 0.1;

/// Largest relative difference in scale at which two grids count as one.
pub const SCALE_TOLERANCE: f64 = 1e-3;

/// One exposure, reduced to what its pixels need.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Exposure {
    /// Path or URL, as the user gave it.
    pub name: String,
    /// Byte of the file where the image's first pixel lies.
    pub data_at: u64,
    /// How a pixel is stored.
    pub encoding: Encoding,
    /// Which of its pixels are left out, where something says so.
    pub mask: Option<Mask>,
}

impl Exposure {
    /// Bytes of one stored pixel, and of its mask's.
    #[must_use]
    pub fn pixel_bytes(&self) -> usize {
        let mask = self.mask.as_ref().map_or(0, |mask| mask.bitpix.size());
        self.encoding.bitpix.size() + mask
    }
}

/// Which differences between exposures are let pass.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rules {
    /// Lets pass a different pointing or scale; each is still reported.
    pub ignore_wcs: bool,
    /// Lets pass different units; each is still reported.
    pub ignore_units: bool,
    /// What the images' masks mean, where they have any.
    pub mask: Meaning,
}

/// N exposures of one shape.
#[derive(Debug, Clone, PartialEq)]
pub struct Stack {
    /// The exposures, in the order given.
    pub exposures: Vec<Exposure>,
    /// Pixels a row.
    pub width: u32,
    /// Rows. Row 0 is the first in the file, FITS row 1, the lowest on the sky's picture.
    pub height: u32,
    /// Whether results are f64: some exposure has BITPIX 32, 64 or −64.
    pub wide: bool,
    /// BUNIT of the first exposure that has one.
    pub unit: Option<String>,
    /// World coordinates of the first exposure.
    pub wcs: Option<Wcs>,
    /// Cards of the first exposure that a result carries on.
    pub cards: Vec<String>,
    /// What the first mask leaves out, as the history of a result says it; `None` without masks.
    pub left_out: Option<String>,
    /// What the user should know.
    pub warnings: Vec<String>,
}

impl Stack {
    /// Holds images together as a stack.
    ///
    /// All must have the first one's width and height. Pointing, scale and units are compared where
    /// the headers state them.
    ///
    /// # Errors
    /// [`Error::Parameter`] for no image at all or more than 4,096; [`Error::Mismatch`], naming the
    /// image and both values, for the first image that differs from the first; as [`Mask::of`].
    pub fn open(images: Vec<Image>, rules: Rules) -> Result<Self> {
        if images.len() > super::median::MOST_EXPOSURES {
            return Err(Error::Parameter {
                name: "exposures",
                what: format!(
                    "{} were given; a stack holds at most {}",
                    images.len(),
                    super::median::MOST_EXPOSURES
                ),
            });
        }
        let mut images = images.into_iter();
        let Some(first) = images.next() else {
            return Err(Error::Parameter {
                name: "exposures",
                what: "the list is empty; give at least one file or URL".to_owned(),
            });
        };
        let mut stack = Self::begin(first, rules)?;
        for image in images {
            stack.add(image, rules)?;
        }
        Ok(stack)
    }

    /// A stack of one image, for others to be added to.
    ///
    /// # Errors
    /// As [`Mask::of`].
    pub fn begin(first: Image, rules: Rules) -> Result<Self> {
        let mask = Mask::of(&first, rules.mask)?;
        let mut stack = Self {
            exposures: Vec::new(),
            width: first.width,
            height: first.height,
            wide: false,
            unit: first.unit.clone(),
            wcs: first.wcs.clone(),
            cards: first.cards.clone(),
            left_out: None,
            warnings: Vec::new(),
        };
        stack.take(first, mask, rules.mask);
        Ok(stack)
    }

    /// Adds an image that agrees with those there are; the answer holds what the user should know of
    /// it, which is also among the stack's warnings.
    ///
    /// # Errors
    /// [`Error::Mismatch`] with both shapes, units, or the offset in pixels and what lets it pass, and
    /// the stack stays as it was; [`Error::Parameter`] if it holds 4,096 already; as [`Mask::of`].
    pub fn add(&mut self, image: Image, rules: Rules) -> Result<Vec<String>> {
        let most = super::median::MOST_EXPOSURES;
        if self.exposures.len() == most {
            return Err(Error::Parameter {
                name: "exposures",
                what: format!("{}: the stack holds {most}, the most it can", image.file),
            });
        }
        let warnings = self.agree(&image, rules)?;
        let mask = Mask::of(&image, rules.mask)?;
        self.warnings.extend_from_slice(&warnings);
        if self.unit.is_none() {
            self.unit.clone_from(&image.unit);
        }
        self.take(image, mask, rules.mask);
        Ok(warnings)
    }

    fn take(&mut self, image: Image, mask: Option<Mask>, meaning: Meaning) {
        self.wide |= image.encoding.is_wide();
        self.warnings.extend(
            image
                .notes
                .iter()
                .map(|note| format!("{}: {note}", image.file)),
        );
        if let Some(of_mask) = &image.mask {
            let notes = of_mask.notes.iter();
            self.warnings
                .extend(notes.map(|note| format!("{}: mask: {note}", image.file)));
            self.left_out
                .get_or_insert_with(|| meaning.sentence(of_mask));
        }
        self.exposures.push(Exposure {
            name: image.file,
            data_at: image.data_at,
            encoding: image.encoding,
            mask,
        });
    }

    /// Bytes of the largest stored pixel among the exposures, its mask's included.
    #[must_use]
    pub fn pixel_bytes(&self) -> usize {
        self.exposures
            .iter()
            .map(Exposure::pixel_bytes)
            .max()
            .unwrap_or(1)
    }

    /// How many of the exposures have a mask.
    #[must_use]
    pub fn masks(&self) -> u64 {
        let masked = self.exposures.iter().filter(|one| one.mask.is_some());
        masked.count() as u64
    }

    /// Bytes of one pixel of the median: 4, or 8 where results are f64.
    #[must_use]
    pub fn value_bytes(&self) -> usize {
        if self.wide {
            size_of::<f64>()
        } else {
            size_of::<f32>()
        }
    }

    /// Whether an image may stand in the stack; the answer holds warnings.
    fn agree(&self, image: &Image, rules: Rules) -> Result<Vec<String>> {
        let first = &self.exposures[0].name;
        let mismatch = |what: String| Error::Mismatch {
            file: image.file.clone(),
            what,
        };
        if (image.width, image.height) != (self.width, self.height) {
            return Err(mismatch(format!(
                "the image is {}×{} pixels, but {} has {}×{}; all exposures must have one shape",
                image.width, image.height, first, self.width, self.height
            )));
        }
        let mut warnings = Vec::new();
        match (&self.unit, &image.unit) {
            (Some(a), Some(b)) if a != b => {
                let what = format!("the unit is {b:?}, but {first} has {a:?}");
                if !rules.ignore_units {
                    return Err(mismatch(format!(
                        "{what}; --ignore-units takes the numbers as they are"
                    )));
                }
                warnings.push(format!("{}: {what}", image.file));
            }
            (Some(a), None) => {
                warnings.push(format!(
                    "{}: no BUNIT; taken to be {a:?} as in {}",
                    image.file, first
                ));
            }
            (None, Some(b)) => {
                warnings.push(format!(
                    "{}: no BUNIT; taken to be {b:?} as in {}",
                    first, image.file
                ));
            }
            _ => {}
        }
        if let (Some(a), Some(b)) = (&self.wcs, &image.wcs) {
            let offset = a.offset(b, image.width, image.height);
            let pointing_agrees = offset.pixels <= POINTING_TOLERANCE;
            let scale_agrees = (offset.scale - 1.0).abs() <= SCALE_TOLERANCE;
            if !(pointing_agrees && scale_agrees) {
                let what = format!(
                    "the sky lies up to {} pixels from where it is in {} (scale ratio {})",
                    rounded(offset.pixels, 100.0),
                    first,
                    rounded(offset.scale, 1e6)
                );
                if !rules.ignore_wcs {
                    return Err(mismatch(format!(
                        "{what}; bring the exposures onto one grid first, or pass --ignore-wcs"
                    )));
                }
                warnings.push(format!("{}: {what}", image.file));
            }
        }
        Ok(warnings)
    }
}

/// A number with so many parts of one kept. Rounding it first lets one way of writing numbers do.
fn rounded(value: f64, parts: f64) -> f64 {
    (value * parts).round() / parts
}
