//! One text for one meaning: the key of the cache, and the entity tag.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use super::PROGRAM;
use super::layer::Layer;
use super::route::{Format, Route};
use crate::stack::plan::Rect;

/// The canonical path and query of a route of the dataset `id` (`name@version`).
///
/// Parameters are sorted and the usual ones left out. [`route`](super::route::route) reads it again as the same route.
#[must_use]
pub fn canonical(id: &str, route: &Route) -> String {
    let mut parameters: Vec<(&'static str, String)> = Vec::new();
    let mut path = format!("/v1/{id}");
    // Writing to a string does not fail.
    let _ = match route {
        Route::Service => return "/v1".to_owned(),
        Route::OpenApi => return "/openapi.json".to_owned(),
        Route::Info => write!(path, "/info"),
        Route::Tile {
            layer,
            z,
            x,
            y,
            tile,
            alpha,
        } => {
            parameters.extend(layer.parameters());
            parameters.extend((*tile != 256).then(|| ("tile", tile.to_string())));
            parameters.extend(alpha.then(|| ("alpha", "1".to_owned())));
            write!(path, "/{}/{z}/{x}/{y}.png", named(layer))
        }
        Route::Cutout {
            layer,
            format,
            bbox,
        } => {
            parameters.extend(layer.parameters());
            parameters.extend(rectangle(bbox.as_ref()));
            let end = match format {
                Format::Png => "png",
                Format::Fits => "fits",
            };
            write!(path, "/{}.{end}", named(layer))
        }
        Route::Point { layer, x, y } => {
            parameters.extend(layer.parameters());
            write!(path, "/{}/point/{x},{y}", named(layer))
        }
        Route::Spectrum { at } => {
            parameters.extend(at.map(|(x, _)| ("x", x.to_string())));
            parameters.extend(at.map(|(_, y)| ("y", y.to_string())));
            write!(path, "/spectrum")
        }
        Route::Statistics { layer, bbox } => {
            parameters.extend(layer.parameters());
            parameters.extend(rectangle(bbox.as_ref()));
            write!(path, "/{}/statistics", named(layer))
        }
        Route::TileJson { layer } => {
            parameters.extend(layer.parameters());
            write!(path, "/{}/tilejson.json", named(layer))
        }
        Route::JobNew => write!(path, "/jobs"),
        Route::JobOf { id } => write!(path, "/jobs/{id}"),
        Route::JobFile { id, file } => write!(path, "/jobs/{id}/{}", encode(file)),
    };
    parameters.sort();
    for (at, (name, value)) in parameters.iter().enumerate() {
        path.push(if at == 0 { '?' } else { '&' });
        path.push_str(name);
        path.push('=');
        path.push_str(value);
    }
    path
}

/// The entity tag of a canonical text: strong, `"` 16 hexadecimal digits `"`.
///
/// The first digits of SHA-256 over the text and the program's version: what is computed depends on nothing else.
#[must_use]
pub fn etag(canonical: &str) -> String {
    format!("\"{}\"", digest(&[canonical, PROGRAM], 16))
}

/// The first `len` hexadecimal digits of SHA-256 over texts, each with its length before it.
pub(super) fn digest(texts: &[&str], len: usize) -> String {
    let mut sha = Sha256::new();
    for text in texts {
        sha.update((text.len() as u64).to_le_bytes());
        sha.update(text.as_bytes());
    }
    let digits = sha.finalize();
    let digits = digits.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .take(len)
        .collect()
}

fn named(layer: &Layer) -> String {
    encode(&layer.to_string())
}

fn rectangle(bbox: Option<&Rect>) -> Option<(&'static str, String)> {
    bbox.map(|Rect { x0, y0, x1, y1 }| ("bbox", format!("{x0},{y0},{x1},{y1}")))
}

/// Escapes all that a segment of a path cannot hold (RFC 3986 §3.3).
pub(super) fn encode(segment: &str) -> String {
    let mut text = String::with_capacity(segment.len());
    for byte in segment.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@".contains(&byte) {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}
