//! A file in memory that is read as a driver reads one, and a writer of headers.

use std::ops::Range;

use sectile::error::Error;
use sectile::fits::Image;
use sectile::fits::hdu::{Hdu, Selection};
use sectile::fits::walk::Walk;
use sectile::job::{Machine, Step};

/// No walk over a test file may take more turns than this.
pub(crate) const TURNS: usize = 200_000;

/// Sparse: bytes beyond `bytes` and below `total` are zeros.
#[derive(Clone)]
pub(crate) struct File {
    pub(crate) bytes: Vec<u8>,
    pub(crate) total: u64,
    /// Whether the driver can tell the size.
    pub(crate) hidden: bool,
}

/// What a walk came to.
pub(crate) struct Outcome {
    pub(crate) image: Result<Image, Error>,
    pub(crate) hdus: Vec<Hdu>,
    pub(crate) reads: Vec<Range<u64>>,
}

impl File {
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        Self {
            total: bytes.len() as u64,
            bytes,
            hidden: false,
        }
    }

    pub(crate) fn hidden(mut self) -> Self {
        self.hidden = true;
        self
    }

    pub(crate) fn slice(&self, range: Range<u64>) -> Vec<u8> {
        let end = range.end.min(self.total);
        let byte = |at| usize::try_from(at).ok().and_then(|at| self.bytes.get(at));
        (range.start.min(end)..end)
            .map(|at| byte(at).copied().unwrap_or(0))
            .collect()
    }

    /// The default image, read whole.
    pub(crate) fn image(&self) -> Result<Image, Error> {
        self.walk(Walk::new("test.fits", Selection::Default, 0))
            .image
    }

    pub(crate) fn select(&self, selection: &str) -> Result<Image, Error> {
        let selection = selection.parse().unwrap();
        self.walk(Walk::new("test.fits", selection, 0)).image
    }

    pub(crate) fn walk(&self, walk: Walk) -> Outcome {
        self.walk_in_parts(walk, |len| len)
    }

    /// Feeds each read in parts: `part` says how many of the bytes that are there are fed.
    pub(crate) fn walk_in_parts(
        &self,
        mut walk: Walk,
        mut part: impl FnMut(u64) -> u64,
    ) -> Outcome {
        let (mut hdus, mut reads) = (Vec::new(), Vec::new());
        for _ in 0..TURNS {
            let step = match walk.step() {
                Ok(step) => step,
                Err(error) => {
                    let image = Err(error);
                    return Outcome { image, hdus, reads };
                }
            };
            match step {
                Step::Ready(hdu) => hdus.push(hdu),
                Step::Done => {
                    let image = walk.into_image();
                    return Outcome { image, hdus, reads };
                }
                Step::Need(range) => {
                    assert!(!range.is_empty(), "an empty read of {range:?}");
                    let known = !self.hidden && !reads.is_empty();
                    assert!(
                        !known || range.end <= self.total,
                        "{range:?} is beyond the end"
                    );
                    reads.push(range.clone());
                    let there = range.end.min(self.total).saturating_sub(range.start);
                    // Where the size is hidden a short answer means the end, so none is cut.
                    let fed = if self.hidden {
                        there
                    } else {
                        part(there).min(there)
                    };
                    let bytes = self.slice(range.start..range.start + fed);
                    let total = (!self.hidden).then_some(self.total);
                    walk.feed(range.start, &bytes, total).unwrap();
                }
            }
        }
        panic!("the walk does not end");
    }
}

/// These cards, of eighty bytes each.
pub(crate) fn cards(cards: &[&str]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for card in cards {
        assert!(card.len() <= 80, "{card}");
        bytes.extend_from_slice(format!("{card:80}").as_bytes());
    }
    bytes
}

/// A header of these cards and END, filled to a whole block.
pub(crate) fn header(list: &[&str]) -> Vec<u8> {
    let mut bytes = cards(list);
    bytes.extend(cards(&["END"]));
    pad(bytes, b' ')
}

pub(crate) fn pad(mut bytes: Vec<u8>, with: u8) -> Vec<u8> {
    bytes.resize(bytes.len().next_multiple_of(2880), with);
    bytes
}

/// The mandatory cards of an array, and more.
pub(crate) fn array(first: &str, bitpix: i32, axes: &[u64], more: &[&str]) -> Vec<u8> {
    let mut cards = vec![
        first.to_owned(),
        format!("BITPIX  = {bitpix:20}"),
        format!("NAXIS   = {:20}", axes.len()),
    ];
    for (axis, length) in (1..).zip(axes) {
        cards.push(format!("{:8}= {length:20}", format!("NAXIS{axis}")));
    }
    let cards: Vec<&str> = cards
        .iter()
        .map(String::as_str)
        .chain(more.iter().copied())
        .collect();
    header(&cards)
}

pub(crate) const PRIMARY: &str = "SIMPLE  =                    T";
pub(crate) const IMAGE: &str = "XTENSION= 'IMAGE   '";

/// A primary image with zeros for pixels.
pub(crate) fn primary(bitpix: i32, axes: &[u64], more: &[&str]) -> Vec<u8> {
    with_zeros(array(PRIMARY, bitpix, axes, more), bitpix, axes)
}

/// An IMAGE extension with zeros for pixels.
pub(crate) fn extension(bitpix: i32, axes: &[u64], more: &[&str]) -> Vec<u8> {
    with_zeros(array(IMAGE, bitpix, axes, more), bitpix, axes)
}

fn with_zeros(mut bytes: Vec<u8>, bitpix: i32, axes: &[u64]) -> Vec<u8> {
    if !axes.is_empty() {
        let pixels: u64 = axes.iter().product();
        let len = pixels * u64::from(bitpix.unsigned_abs()) / 8;
        bytes.resize(bytes.len() + usize::try_from(len).unwrap(), 0);
    }
    pad(bytes, 0)
}

/// Asserts an error of this code whose message has all of these words.
pub(crate) fn assert_error(result: Result<Image, Error>, code: &str, words: &[&str]) {
    let error = result.expect_err("an error was expected");
    let message = error.to_string();
    assert_eq!(error.code(), code, "{message}");
    for word in words {
        assert!(message.contains(word), "{word:?} is not in: {message}");
    }
}
