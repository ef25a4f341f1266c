//! From headers to images, and from lists to names.

use js_sys::{Array, JSON, Uint8Array};
use wasm_bindgen::prelude::*;

use super::record::{self, Record};
use super::{Thrown, offset, thrown};
use crate::error::Error;
use crate::fits::hdu::Selection;
use crate::fits::{self, walk};
use crate::manifest::{self, asn};

/// A walk over one file's headers.
#[wasm_bindgen]
pub struct Walk {
    walk: walk::Walk,
}

#[wasm_bindgen]
impl Walk {
    /// Starts at the file's first byte; `hdu` is `SCI`, `SCI,2`, an index, or empty; `mask` likewise, or
    /// nothing where no mask is wanted.
    ///
    /// # Errors
    /// An HDU that cannot be understood.
    #[wasm_bindgen(constructor)]
    pub fn new(name: &str, hdu: &str, plane: f64, mask: Option<String>) -> Result<Walk, Thrown> {
        let selection = if hdu.is_empty() {
            Selection::Default
        } else {
            hdu.parse().map_err(thrown)?
        };
        let walk = walk::Walk::new(name, selection, offset("plane", plane)?);
        Ok(Self {
            walk: match mask {
                Some(mask) => walk.with_mask(mask.parse().map_err(thrown)?),
                None => walk,
            },
        })
    }

    /// The range that is needed next, `[start, end]`; nothing once the image is found.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub fn need(&mut self) -> Result<Option<Vec<f64>>, Thrown> {
        super::need(&mut self.walk)
    }

    /// Takes the bytes of the range; `total` is the file's size, or negative where it is not known.
    ///
    /// # Errors
    /// Bytes that were not asked for.
    pub fn feed(&mut self, at: f64, bytes: &Uint8Array, total: f64) -> Result<(), Thrown> {
        super::feed(&mut self.walk, at, bytes, total)
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

#[wasm_bindgen]
impl Image {
    /// What it is.
    #[must_use]
    pub fn describe(&self) -> JsValue {
        let image = &self.image;
        // EXTVER and BITPIX are small, and negative at times.
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let signed = |value: i64| value as f64;
        Record::new()
            .number("hdu", image.hdu)
            .maybe_text("extname", image.name.as_deref())
            .float("extver", signed(image.ver))
            .number("width", image.width)
            .number("height", image.height)
            .number("planes", image.planes)
            .float("bitpix", signed(image.encoding.bitpix.card()))
            .maybe_text("unit", image.unit.as_deref())
            .texts("notes", &image.notes)
            .into()
    }
}

/// Whether a file of this name lists exposures rather than being one.
#[wasm_bindgen]
#[must_use]
pub fn is_list(name: &str) -> bool {
    manifest::Kind::of(name).is_some()
}

/// The members of a text list or an association, with what the user should know.
///
/// # Errors
/// Text that is neither.
#[wasm_bindgen]
pub fn read_list(name: &str, text: &str) -> Result<JsValue, Thrown> {
    let members = match manifest::Kind::of(name) {
        Some(manifest::Kind::Association) => association(name, text)?,
        _ => manifest::list::parse(name, text.as_bytes()).map_err(thrown)?,
    };
    let members = members.beside(name);
    Ok(Record::new()
        .texts("members", &members.names)
        .texts("notes", &members.notes)
        .into())
}

/// An association whose JSON the engine reads: it carries a reader of its own anyway.
fn association(name: &str, text: &str) -> Result<manifest::Members, Thrown> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let root = JSON::parse(text).map_err(|error| {
        let said = record::member(&error, "message").and_then(|said| said.as_string());
        thrown(Error::Format {
            file: name.to_owned(),
            at: 0,
            what: format!("no JWST association: {}", said.unwrap_or_default()),
        })
    })?;
    asn::members(name, &Parsed(root)).map_err(thrown)
}

/// JSON that the engine has read.
struct Parsed(JsValue);

impl asn::Node for Parsed {
    fn field(&self, name: &str) -> Option<Self> {
        record::member(&self.0, name).map(Self)
    }

    fn items(&self) -> Option<Vec<Self>> {
        let array = self.0.dyn_ref::<Array>()?;
        Some(array.iter().map(Self).collect())
    }

    fn text(&self) -> Option<String> {
        self.0.as_string()
    }

    fn json(&self) -> String {
        JSON::stringify(&self.0).map_or_else(|_| String::new(), Into::into)
    }
}

/// A member's address, seen from the list that names it.
#[wasm_bindgen]
#[must_use]
pub fn resolve(base: &str, name: &str) -> String {
    manifest::resolve(base, name)
}
