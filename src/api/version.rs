//! Which version of a dataset is served: a digest of what it is declared as, and of its files.

use super::canonical::digest;
use super::catalog::{Dataset, Kind, SourceEntry};

/// What tells one version of a file from another.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceVersion {
    /// Its size in bytes, where it is known.
    pub size: Option<u64>,
    /// Its entity tag, where there is one.
    pub etag: Option<String>,
    /// Its time of modification as text, where there is one; not looked at beside an entity tag.
    pub modified: Option<String>,
}

/// The version of a dataset: 8 hexadecimal digits.
///
/// The first digits of SHA-256 over what the declaration means (not its title, its token or how it is written), over the
/// name, size and tag of each file in `sources`, in the order of the dataset's own list of files, and over `head`, the
/// digest of a store's head. So is the program's version: answers of a version are kept for a year, and another program
/// may answer otherwise. Lists of molecules are in it as far as they are declared: by name, size and tag.
#[must_use]
pub fn version(dataset: &Dataset, sources: &[SourceVersion], head: Option<&[u8; 32]>) -> String {
    let mut texts = vec![env!("CARGO_PKG_VERSION").to_owned(), meaning(&dataset.kind)];
    for (at, file) in files(&dataset.kind).enumerate() {
        let unknown = SourceVersion::default();
        let seen = sources.get(at).unwrap_or(&unknown);
        texts.push(file.url.clone());
        texts.push(format!("{:?}", seen.size));
        texts.push(match (&seen.etag, &seen.modified) {
            (Some(etag), _) => format!("etag {etag}"),
            (None, Some(modified)) => format!("modified {modified}"),
            (None, None) => "unknown".to_owned(),
        });
    }
    texts.push(head.map_or_else(String::new, |head| format!("{head:?}")));
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    digest(&texts, 8)
}

/// The files that a version is made of: exposures and their pyramid, where there is one, or the store.
pub fn files(kind: &Kind) -> impl Iterator<Item = &SourceEntry> {
    let (exposures, other) = match kind {
        Kind::Stack(stack) => (stack.exposures.as_slice(), stack.pyramid.as_ref()),
        Kind::Ions(ions) => (&[][..], Some(&ions.store)),
    };
    exposures.iter().chain(other)
}

fn meaning(kind: &Kind) -> String {
    match kind {
        Kind::Stack(stack) => format!(
            "stack hdu {:?} plane {} mask {} ignore_wcs {} ignore_units {} pyramid {}",
            stack.hdu,
            stack.plane,
            stack.mask.as_ref().map_or_else(
                || "none".to_owned(),
                |mask| format!("{:?} {}", mask.hdu, mask.bits)
            ),
            stack.ignore_wcs,
            stack.ignore_units,
            stack
                .pyramid
                .as_ref()
                .map_or("none", |pyramid| &pyramid.url),
        ),
        Kind::Ions(ions) => {
            let analyzer = ions.analyzer.map_or("store", |analyzer| analyzer.name());
            let lists: Vec<String> = ions
                .molecules
                .iter()
                .map(|(name, file)| format!("{name}={} {:?} {:?}", file.url, file.size, file.etag))
                .collect();
            format!(
                "ions analyzer {analyzer} power {:?} molecules {}",
                ions.resolving_power,
                lists.join(" ")
            )
        }
    }
}
