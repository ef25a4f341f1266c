//! From headers to images, and from lists to names.

use js_sys::Uint8Array;
use serde::Serialize;
use wasm_bindgen::prelude::*;

use super::{Thrown, from_json, json, number, offset, thrown};
use crate::error::Error;
use crate::fits::hdu::Selection;
use crate::fits::{self, walk};
use crate::job::{Machine, Step};
use crate::manifest;

/// Most bytes that a header read ever asks for.
const LONGEST_FEED: u32 = 4 << 20;

/// A walk over one file's headers.
#[wasm_bindgen]
pub struct Walk {
    walk: walk::Walk,
}

#[wasm_bindgen]
impl Walk {
    /// Starts at the file's first byte; `hdu` is `SCI`, `SCI,2`, an index, or empty.
    ///
    /// # Errors
    /// An HDU that cannot be understood.
    #[wasm_bindgen(constructor)]
    pub fn new(name: &str, hdu: &str, plane: f64) -> Result<Walk, Thrown> {
        let selection = if hdu.is_empty() {
            Selection::Default
        } else {
            hdu.parse().map_err(thrown)?
        };
        Ok(Self {
            walk: walk::Walk::new(name, selection, offset("plane", plane)?),
        })
    }

    /// The range that is needed next, `[start, end]`; nothing once the image is found.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub fn need(&mut self) -> Result<Option<Vec<f64>>, Thrown> {
        loop {
            match self.walk.step().map_err(thrown)? {
                Step::Need(range) => return Ok(Some(vec![number(range.start), number(range.end)])),
                Step::Ready(_) => {}
                Step::Done => return Ok(None),
            }
        }
    }

    /// Takes the bytes of the range; `total` is the file's size, or negative where it is not known.
    ///
    /// # Errors
    /// Bytes that were not asked for.
    pub fn feed(&mut self, at: f64, bytes: &Uint8Array, total: f64) -> Result<(), Thrown> {
        if bytes.length() > LONGEST_FEED {
            let what = format!("{} bytes of header at one time", bytes.length());
            return Err(thrown(Error::Parameter {
                name: "bytes",
                what,
            }));
        }
        let total = if total < 0.0 {
            None
        } else {
            Some(offset("total", total)?)
        };
        self.walk
            .feed(offset("at", at)?, &bytes.to_vec(), total)
            .map_err(thrown)
    }

    /// The image that was found.
    ///
    /// # Errors
    /// Why none can be used.
    pub fn image(&mut self) -> Result<Image, Thrown> {
        let walk = std::mem::replace(&mut self.walk, walk::Walk::new("", Selection::Default, 0));
        Ok(Image {
            image: walk.into_image().map_err(thrown)?,
        })
    }
}

/// An image that was found in a file.
#[wasm_bindgen]
pub struct Image {
    pub(super) image: fits::Image,
}

#[derive(Serialize)]
struct Described<'a> {
    hdu: u32,
    extname: Option<&'a str>,
    extver: i64,
    width: u32,
    height: u32,
    planes: u64,
    bitpix: i64,
    unit: Option<&'a str>,
    notes: &'a [String],
}

#[wasm_bindgen]
impl Image {
    /// What it is, as JSON text.
    #[must_use]
    pub fn describe(&self) -> String {
        let image = &self.image;
        json(&Described {
            hdu: image.hdu,
            extname: image.name.as_deref(),
            extver: image.ver,
            width: image.width,
            height: image.height,
            planes: image.planes,
            bitpix: image.encoding.bitpix.card(),
            unit: image.unit.as_deref(),
            notes: &image.notes,
        })
    }
}

#[derive(Serialize)]
struct Members {
    members: Vec<String>,
    notes: Vec<String>,
}

/// Whether a file of this name lists exposures rather than being one.
#[wasm_bindgen]
#[must_use]
pub fn is_list(name: &str) -> bool {
    manifest::Kind::of(name).is_some()
}

/// The members of a text list or an association, with what the user should know, as JSON text.
///
/// # Errors
/// Text that is neither.
#[wasm_bindgen]
pub fn read_list(name: &str, text: &str) -> Result<String, Thrown> {
    let kind = manifest::Kind::of(name).unwrap_or(manifest::Kind::List);
    let manifest::Members { names, notes } =
        manifest::read(kind, name, text.as_bytes()).map_err(thrown)?;
    Ok(json(&Members {
        members: names,
        notes,
    }))
}

/// A member's address, seen from the list that names it.
#[wasm_bindgen]
#[must_use]
pub fn resolve(base: &str, name: &str) -> String {
    manifest::resolve(base, name)
}

/// Reads a wish from JSON text.
pub(super) fn wish(text: &str) -> Result<crate::stack::plan::Wish, Thrown> {
    from_json("wish", text)
}
