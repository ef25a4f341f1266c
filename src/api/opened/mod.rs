//! Open datasets: what their headers and heads say, so that answers can be planned without a read.
//!
//! [`Opening`] says which bytes are needed for it and takes them; [`Opened`] is what it finds. An opening can be [saved]
//! and restored, so that a host that lost its memory need not read every header anew.

mod opening;
pub mod saved;

use std::sync::Arc;

use super::version::SourceVersion;
use crate::fits::Image;
use crate::ion::isotope::Instrument;
use crate::results::pyramid::Cubes;
use crate::stack::exposure::Stack;
use crate::store::head::Head;

pub use opening::Opening;

/// An open dataset. To clone it costs nothing, and it may go from thread to thread.
#[derive(Debug, Clone, PartialEq)]
pub enum Opened {
    /// Exposures of one field.
    Stack {
        /// The exposures as medians are computed of them; masks are theirs.
        stack: Arc<Stack>,
        /// What the headers of each say: cards, coordinates and units of single exposures.
        images: Arc<[Image]>,
        /// A median at all resolutions that was computed before: the source behind the exposures.
        pyramid: Option<Arc<Pyramid>>,
        /// What tells each file's version: of the exposures in their order, then of the pyramid.
        sources: Arc<[SourceVersion]>,
    },
    /// A store of an imaging mass-spectrometry dataset.
    Ions {
        /// Its head.
        head: Arc<Head>,
        /// The instrument that isotope patterns are computed for: as declared, as the store says, or the usual one.
        instrument: Instrument,
        /// What tells the store's version; one.
        sources: Arc<[SourceVersion]>,
    },
}

/// A file of tiles of all levels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pyramid {
    /// Its name, for errors.
    pub file: String,
    /// Where every tile lies.
    pub cubes: Cubes,
    /// The header that says so.
    head: String,
}

impl Opened {
    /// Columns and rows of its pictures.
    #[must_use]
    pub fn size(&self) -> (u32, u32) {
        match self {
            Self::Stack { stack, .. } => (stack.width, stack.height),
            Self::Ions { head, .. } => {
                let contents = &head.layout.contents;
                (contents.width, contents.height)
            }
        }
    }

    /// What tells the version of each of its files.
    #[must_use]
    pub fn sources(&self) -> &[SourceVersion] {
        match self {
            Self::Stack { sources, .. } | Self::Ions { sources, .. } => sources,
        }
    }

    /// The digest of a store's head, which is a part of its version.
    #[must_use]
    pub fn digest(&self) -> Option<&[u8; 32]> {
        match self {
            Self::Stack { .. } => None,
            Self::Ions { head, .. } => Some(&head.digest),
        }
    }

    /// Bytes that it holds, about.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let sources: usize = self.sources().iter().map(version_bytes).sum();
        let what = match self {
            Self::Stack {
                images, pyramid, ..
            } => {
                let head = pyramid
                    .as_ref()
                    .map_or(0, |pyramid| pyramid.head.len() as u64);
                head + images.iter().map(image_bytes).sum::<u64>()
            }
            Self::Ions { head, .. } => head.held_bytes() + size_of::<Head>() as u64,
        };
        what + sources as u64
    }
}

/// Bytes of an image, of its share of the stack, and of the strings of both.
fn image_bytes(image: &Image) -> u64 {
    let texts = image.cards.iter().chain(&image.notes).chain(&image.unit);
    let texts: usize = texts.map(|text| text.len() + size_of::<String>()).sum();
    let fixed = 2 * size_of::<Image>() + 2 * image.file.len();
    let mask = image.mask.as_deref().map_or(0, image_bytes);
    (texts + fixed) as u64 + mask
}

fn version_bytes(version: &SourceVersion) -> usize {
    let texts = [&version.etag, &version.modified];
    let texts: usize = texts.into_iter().flatten().map(String::len).sum();
    size_of::<SourceVersion>() + texts
}
