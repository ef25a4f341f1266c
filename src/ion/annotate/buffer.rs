//! Images that wait for being saved, within a limit of bytes.
//!
//! # Source
//! The images manager of Lithops-METASPACE: it counts the bytes of the images it holds, and saves all and forgets
//! them when there are too many.

use super::wish::Policy;
use crate::error::{Error, Result};
use crate::ion::isotope::PEAKS;

/// Bytes that count for each peak in an image: an f32 and two i32 of coordinates, as METASPACE holds it.
///
/// What is held here is one f32 and one u32 a pixel, which is less.
pub const HIT: u64 = 12;

/// The image of one isotope peak: pixels that have a peak, each once.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct KeptImage {
    /// Pixels of the slice, row by row from 0, in the order in which their first peaks come in m/z.
    pub pixels: Vec<u32>,
    /// The value of each.
    pub values: Vec<f32>,
    /// The least value, at most 0.
    pub min: f32,
    /// The largest value, at least 0.
    pub max: f32,
}

/// The images of one ion.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept {
    /// Its place in the order of [`Ions`](super::Ions).
    pub ion: u32,
    /// Its isotope peaks by ascending m/z; `None` where there is no peak in the window, or no such isotope peak.
    pub peaks: [Option<KeptImage>; PEAKS],
}

/// Images of ions that score, counted.
///
/// ```
/// use sectile::ion::annotate::{Policy, buffer::{ImageBuffer, Kept}};
///
/// let mut buffer = ImageBuffer::new(100, Policy::FlushBefore);
/// let ion = |ion| Kept { ion, peaks: [const { None }; 4] };
/// assert!(buffer.fits(5));
/// buffer.add(ion(0), 5);
/// // Four more peaks would be 108 bytes: what is held must be taken first.
/// assert!(!buffer.fits(4));
/// assert_eq!(buffer.held().len(), 1);
/// buffer.clear();
/// assert!(buffer.fits(1_000_000));
/// ```
#[derive(Debug)]
pub struct ImageBuffer {
    limit: u64,
    policy: Policy,
    bytes: u64,
    held: Vec<Kept>,
}

/// Most ions that are held, so that their book-keeping has a limit too.
pub const ENTRIES: usize = 1024;

impl ImageBuffer {
    /// Room for `limit` bytes of images, [`HIT`] for each peak in them.
    #[must_use]
    pub fn new(limit: u64, policy: Policy) -> Self {
        Self {
            limit,
            policy,
            bytes: 0,
            held: Vec::new(),
        }
    }

    /// Whether the images of one more ion, with so many peaks in all, may be added before what is held is taken.
    ///
    /// An empty buffer takes any ion.
    #[must_use]
    pub fn fits(&self, hits: u64) -> bool {
        if self.held.is_empty() {
            return true;
        }
        let bytes = match self.policy {
            Policy::FlushBefore => self.bytes.saturating_add(hits.saturating_mul(HIT)),
            Policy::FlushAfter => self.bytes,
        };
        bytes <= self.limit && self.held.len() < ENTRIES
    }

    /// Whether what is held must be taken now.
    #[must_use]
    pub fn full(&self) -> bool {
        self.bytes > self.limit || self.held.len() >= ENTRIES
    }

    /// Adds the images of one ion, of so many peaks in all; [`ImageBuffer::fits`] says whether it may be.
    pub fn add(&mut self, ion: Kept, hits: u64) {
        self.bytes = self.bytes.saturating_add(hits.saturating_mul(HIT));
        self.held.push(ion);
    }

    /// What is held.
    #[must_use]
    pub fn held(&self) -> &[Kept] {
        &self.held
    }

    /// Bytes held, [`HIT`] for each peak.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The limit.
    #[must_use]
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Lets go of what is held.
    pub fn clear(&mut self) {
        self.held.clear();
        self.bytes = 0;
    }
}

impl KeptImage {
    /// A copy of pixels and values, each as long as it must be.
    pub(super) fn of(pixels: &[u32], values: &[f32], min: f32, max: f32) -> Result<Self> {
        Ok(Self {
            pixels: copied(pixels)?,
            values: copied(values)?,
            min,
            max,
        })
    }
}

fn copied<T: Copy>(from: &[T]) -> Result<Vec<T>> {
    let mut copy = Vec::new();
    copy.try_reserve_exact(from.len())
        .map_err(|_| Error::Budget {
            need: size_of_val(from) as u64,
            have: 0,
            what: "an image that is kept".to_owned(),
        })?;
    copy.extend_from_slice(from);
    Ok(copy)
}
