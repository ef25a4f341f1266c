//! What a walk over a file's headers finds, as JSON: written by `sectile catalog`, and checked when it is read.

use serde::Deserialize;
use serde_json::{Value, json};

use super::entry::members;
use crate::fits::Image;
use crate::fits::card::CARD;
use crate::fits::header::{BLOCK, Header};
use crate::fits::pixel::{Bitpix, Encoding};
use crate::fits::wcs::Wcs;

/// Cards that one image carries, at most; the rules of what is carried allow some hundred.
const MOST_CARDS: usize = 1000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    hdu: u32,
    name: Option<String>,
    #[serde(default = "one")]
    ver: i64,
    bitpix: i64,
    #[serde(default = "unscaled")]
    bscale: f64,
    #[serde(default)]
    bzero: f64,
    blank: Option<i64>,
    width: u32,
    height: u32,
    #[serde(default = "single")]
    planes: u64,
    #[serde(default)]
    plane: u64,
    data_at: u64,
    unit: Option<String>,
    #[serde(default)]
    cards: Vec<String>,
    #[serde(default)]
    notes: Vec<String>,
    mask: Option<Value>,
}

fn one() -> i64 {
    1
}

fn single() -> u64 {
    1
}

fn unscaled() -> f64 {
    1.0
}

/// The member `image` of an exposure.
#[must_use]
pub fn to_json(image: &Image) -> Value {
    let Encoding {
        bitpix,
        bscale,
        bzero,
        blank,
    } = image.encoding;
    let mut value = json!({
        "hdu": image.hdu,
        "ver": image.ver,
        "bitpix": bitpix.card(),
        "bscale": bscale,
        "bzero": bzero,
        "width": image.width,
        "height": image.height,
        "planes": image.planes,
        "plane": image.plane,
        "data_at": image.data_at,
        "cards": image.cards,
        "notes": image.notes,
    });
    let maybe = [
        ("name", image.name.as_ref().map(|name| json!(name))),
        ("unit", image.unit.as_ref().map(|unit| json!(unit))),
        ("blank", blank.map(|blank| json!(blank))),
        ("mask", image.mask.as_deref().map(to_json)),
    ];
    for (member, found) in maybe {
        if let Some(found) = found {
            value[member] = found;
        }
    }
    value
}

/// Reads the member `image` of the file `file` of `size` bytes.
///
/// # Errors
/// What is wrong with it, naming the member.
pub fn from_json(value: &Value, file: &str, size: u64) -> Result<Image, String> {
    let image: Written = members(value).map_err(|why| format!("`image`: {why}"))?;
    let wrong = |what: &str| Err(format!("`image`: {what}"));
    let Some(bitpix) = Bitpix::from_card(image.bitpix) else {
        return wrong("`bitpix` is none of 8, 16, 32, 64, -32, -64");
    };
    if image.width == 0 || image.height == 0 {
        return wrong("`width` or `height` is 0");
    }
    if image.plane >= image.planes {
        return wrong("`plane` is not below `planes`");
    }
    let floating = matches!(bitpix, Bitpix::F32 | Bitpix::F64);
    if floating && image.blank.is_some() {
        return wrong("`blank` with pixels that are floating-point numbers");
    }
    let bytes = u64::from(image.width) * u64::from(image.height);
    let end = bytes
        .checked_mul(bitpix.size() as u64)
        .and_then(|bytes| bytes.checked_add(image.data_at));
    if image.data_at < BLOCK || end.is_none_or(|end| end > size) {
        return wrong("the pixels do not lie in the file, behind its header");
    }
    let legal = |card: &String| {
        card.len() == CARD && card.bytes().all(|byte| (b' '..=b'~').contains(&byte))
    };
    if image.cards.len() > MOST_CARDS || !image.cards.iter().all(legal) {
        return wrong("`cards` holds what are not cards of 80 printable characters");
    }
    let header = Header::parse(image.cards.concat().as_bytes());
    let mask = image.mask.as_ref().map(|mask| {
        // A mask has none itself; a document that nests them without end would take the stack.
        if mask.get("mask").is_some() {
            return Err("`image`: `mask` has a `mask`".to_owned());
        }
        from_json(mask, file, size).map(Box::new)
    });
    Ok(Image {
        file: file.to_owned(),
        hdu: image.hdu,
        name: image.name,
        ver: image.ver,
        encoding: Encoding {
            bitpix,
            bscale: image.bscale,
            bzero: image.bzero,
            blank: image.blank,
        },
        width: image.width,
        height: image.height,
        planes: image.planes,
        plane: image.plane,
        data_at: image.data_at,
        unit: image.unit,
        wcs: Wcs::from_header(&header),
        cards: image.cards,
        notes: image.notes,
        mask: mask.transpose()?,
    })
}
