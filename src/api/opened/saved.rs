//! An open stack as a document that a host may keep, checked like anything that comes from outside when it is read.
//!
//! It holds what the headers said and what told the versions of the files. Whether these are still the ones is found out
//! by the reads of the data, which compare entity tags; the host then opens the dataset anew.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};

use super::opening::{serves, stack};
use super::{Opened, Pyramid, image_bytes, version_bytes};
use crate::api::catalog::{Dataset, Kind, image_from_json, image_to_json};
use crate::api::version::{SourceVersion, files, version};
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::results::pyramid::Cubes;

/// The version of the document.
const VERSION: u64 = 1;

/// The largest document that is read: 32 MiB.
pub const LARGEST: usize = 32 << 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    sectile_opened: u64,
    key: String,
    sources: Vec<WrittenSource>,
    pyramid: Option<WrittenPyramid>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenPyramid {
    head: String,
    etag: Option<String>,
    modified: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenSource {
    url: String,
    size: u64,
    etag: Option<String>,
    modified: Option<String>,
    image: Value,
}

/// What to call the saved opening of a dataset: `name-` and 8 hexadecimal digits of what it is declared as.
///
/// A dataset that is declared differently has another, so that no opening is taken for that of another.
#[must_use]
pub fn key(dataset: &Dataset) -> String {
    format!("{}-{}", dataset.name, version(dataset, &[], None))
}

/// The document; `None` where there is nothing to save: the head of a store is one read, like the document itself, and
/// files whose size nobody knows could not be checked.
#[must_use]
pub fn to_bytes(dataset: &Dataset, opened: &Opened) -> Option<Vec<u8>> {
    let Opened::Stack {
        images,
        sources,
        pyramid,
        ..
    } = opened
    else {
        return None;
    };
    let mut written = Vec::new();
    for ((entry, image), seen) in files(&dataset.kind).zip(images.iter()).zip(sources.iter()) {
        written.push(json!({
            "url": entry.url,
            "size": seen.size?,
            "etag": seen.etag,
            "modified": seen.modified,
            "image": image_to_json(image),
        }));
    }
    let value = json!({
        "sectile_opened": VERSION,
        "key": key(dataset),
        "sources": written,
        "pyramid": match (pyramid, sources.last()) {
            (Some(pyramid), Some(seen)) => json!({
                "head": pyramid.head,
                "etag": seen.etag,
                "modified": seen.modified,
            }),
            _ => Value::Null,
        },
    });
    Some(value.to_string().into_bytes())
}

/// The open dataset that a document describes, in at most `memory` bytes.
///
/// # Errors
/// [`Error::Format`] naming the document for what is none, is of another dataset, names other files or an image that
/// does not lie in its file; [`Error::Budget`]; those of [`Stack::open`](crate::stack::exposure::Stack::open).
pub fn restore(dataset: &Dataset, bytes: &[u8], memory: u64) -> Result<Opened> {
    let name = format!("{}.json", key(dataset));
    let wrong = |what: String| Error::Format {
        file: name.clone(),
        at: 0,
        what: format!("{what}; remove it, and the dataset is opened anew"),
    };
    let Kind::Stack(entry) = &dataset.kind else {
        return Err(wrong("openings of stores are not saved".to_owned()));
    };
    let mut budget = Budget::new(memory);
    // A tree of JSON takes several times its text.
    budget.reserve(6 * bytes.len() as u64, "a saved opening")?;
    if bytes.len() > LARGEST {
        return Err(wrong(format!("{} bytes, at most {LARGEST}", bytes.len())));
    }
    let written: Written =
        serde_json::from_slice(bytes).map_err(|error| wrong(error.to_string()))?;
    if written.sectile_opened != VERSION || written.key != key(dataset) {
        return Err(wrong(
            "it is of another version or another dataset".to_owned(),
        ));
    }
    if written.sources.len() != entry.exposures.len() {
        let what = format!(
            "{} files, not {}",
            written.sources.len(),
            entry.exposures.len()
        );
        return Err(wrong(what));
    }
    let (mut images, mut sources) = (Vec::new(), Vec::new());
    for (source, declared) in written.sources.into_iter().zip(&entry.exposures) {
        let differs = |known: &Option<String>, now: &Option<String>| {
            known.is_some() && known.as_deref() != now.as_deref()
        };
        if source.url != declared.url
            || declared.size.is_some_and(|size| size != source.size)
            || differs(&declared.etag, &source.etag)
        {
            return Err(wrong(format!("{:?} is not as declared", declared.shown())));
        }
        let image = image_from_json(&source.image, declared.shown(), source.size)
            .map_err(|why| wrong(format!("{:?}: {why}", declared.shown())))?;
        if !serves(&image, &dataset.kind) {
            return Err(wrong(format!(
                "{:?}: another plane, HDU or mask",
                declared.shown()
            )));
        }
        let seen = SourceVersion {
            size: Some(source.size),
            etag: source.etag,
            modified: source.modified,
        };
        budget.reserve(
            image_bytes(&image) + version_bytes(&seen) as u64,
            "a saved opening",
        )?;
        images.push(image);
        sources.push(seen);
    }
    let pyramid = match (written.pyramid, &entry.pyramid) {
        (None, None) => None,
        (Some(found), Some(declared)) => {
            let cubes = Cubes::read(declared.shown(), found.head.as_bytes())?;
            sources.push(SourceVersion {
                size: Some(cubes.total()),
                etag: found.etag,
                modified: found.modified,
            });
            Some(Pyramid {
                file: declared.shown().to_owned(),
                cubes,
                head: found.head,
            })
        }
        _ => return Err(wrong("its pyramid is not as declared".to_owned())),
    };
    stack(entry, images, pyramid, Arc::from(sources))
}
