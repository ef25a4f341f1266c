//! Reading what headers and heads say, source by source, in any order.

use std::ops::Range;
use std::sync::Arc;

use super::{Opened, Pyramid, image_bytes};
use crate::api::catalog::{Dataset, IonsEntry, Kind, SourceEntry, StackEntry};
use crate::api::version::{SourceVersion, files};
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::fits::Image;
use crate::fits::card::CARD;
use crate::fits::hdu::Selection;
use crate::fits::walk::Walk;
use crate::ion::isotope::{Analyzer, Instrument, USUAL_POWER, stated_power};
use crate::job::{Machine, Step};
use crate::results::pyramid;
use crate::stack::exposure::{Rules, Stack};
use crate::stack::mask::Meaning;
use crate::store::head::Head;
use crate::store::read::Open;

/// A dataset whose headers or head are being read.
///
/// Sources are those of the dataset's version ([`files`]) in their order: exposures and their pyramid, or the one store. Each is read by itself: a host
/// asks what it [needs](Self::need), [feeds](Self::feed) it, and asks again, of as many sources at a time as it likes.
/// Exposures whose image is in the catalog need nothing.
#[derive(Debug)]
pub struct Opening {
    kind: Kind,
    sources: Vec<Source>,
    budget: Budget,
}

#[derive(Debug)]
struct Source {
    seen: SourceVersion,
    state: State,
    /// Bytes of the budget that its machine may hold.
    held: u64,
}

#[derive(Debug)]
enum State {
    Untouched,
    Walk(Box<Walk>),
    Head(Box<Open>),
    /// And the bytes fed.
    Cubes(Box<pyramid::Open>, Vec<u8>),
    Image(Box<Image>),
    Store(Box<Head>),
    Pyramid(Box<Pyramid>),
}

impl State {
    fn is_settled(&self) -> bool {
        matches!(self, Self::Image(_) | Self::Store(_) | Self::Pyramid(_))
    }
}

impl Opening {
    /// Begins to open a dataset, in at most `memory` bytes.
    ///
    /// # Errors
    /// [`Error::Budget`] if what the catalog says of it takes more.
    pub fn new(dataset: &Dataset, memory: u64) -> Result<Self> {
        let mut opening = Self {
            kind: dataset.kind.clone(),
            sources: Vec::new(),
            budget: Budget::new(memory),
        };
        let entries: Vec<SourceEntry> = files(&dataset.kind).cloned().collect();
        for entry in entries {
            let state = match entry.image {
                Some(image) if serves(&image, &dataset.kind) => {
                    opening
                        .budget
                        .reserve(image_bytes(&image), "the images of the catalog")?;
                    State::Image(Box::new(image))
                }
                _ => State::Untouched,
            };
            opening.sources.push(Source {
                seen: SourceVersion {
                    size: entry.size,
                    etag: entry.etag,
                    modified: None,
                },
                state,
                held: 0,
            });
        }
        Ok(opening)
    }

    /// Number of sources.
    #[must_use]
    pub fn len(&self) -> u32 {
        u32::try_from(self.sources.len()).unwrap_or(u32::MAX)
    }

    /// Whether there is no source.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// The sources that still need bytes.
    pub fn pending(&self) -> impl Iterator<Item = u32> {
        let sources = (0_u32..).zip(&self.sources);
        sources
            .filter(|(_, source)| !source.state.is_settled())
            .map(|(index, _)| index)
    }

    /// Whether nothing is needed any more.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.pending().next().is_none()
    }

    /// The bytes of a source that are needed next, `None` once there is nothing more to be read of it.
    ///
    /// The end may lie beyond the end of the file. The same range is given until it is fed.
    ///
    /// # Errors
    /// What is wrong with the file; [`Error::Parameter`] for a source that there is not.
    pub fn need(&mut self, source: u32) -> Result<Option<Range<u64>>> {
        let memory = self.budget.limit();
        let name = self.name(source)?.to_owned();
        let kind = &self.kind;
        let at = &mut self.sources[source as usize];
        if matches!(at.state, State::Untouched) {
            at.state = match kind {
                Kind::Stack(stack) if (source as usize) < stack.exposures.len() => {
                    State::Walk(Box::new(walk(&name, stack)))
                }
                Kind::Stack(_) => {
                    State::Cubes(Box::new(pyramid::Open::new(&name, memory / 2)), Vec::new())
                }
                Kind::Ions(_) => State::Head(Box::new(Open::new(&name, memory / 2))),
            };
        }
        let need = match &mut at.state {
            State::Walk(walk) => drive(walk.as_mut())?,
            State::Head(open) => drive(open.as_mut())?,
            State::Cubes(open, _) => drive(open.as_mut())?,
            _ => return Ok(None),
        };
        if need.is_none() {
            self.settle(source)?;
        }
        Ok(need)
    }

    /// Takes the bytes of the range that a source needs, all of them or as many as the file has; `total` is the file's size,
    /// where the host knows it.
    ///
    /// # Errors
    /// [`Error::Unexpected`] for bytes that were not asked for; [`Error::Mismatch`] for a file of another size than
    /// declared; [`Error::Budget`].
    pub fn feed(&mut self, source: u32, at: u64, bytes: &[u8], total: Option<u64>) -> Result<()> {
        let name = self.name(source)?.to_owned();
        let known = self.sources[source as usize].seen.size;
        if let (Some(known), Some(total)) = (known, total)
            && known != total
        {
            let what =
                format!("it has {total} bytes, where {known} are declared or were seen before");
            return Err(changed(&name, &what));
        }
        // Of a pyramid's header a copy is kept.
        let to = &mut self.sources[source as usize];
        let copies = if matches!(to.state, State::Cubes(..)) {
            2
        } else {
            1
        };
        let held = copies * bytes.len() as u64;
        self.budget.reserve(held, "headers that are being read")?;
        to.seen.size = known.or(total);
        to.held += held;
        match &mut to.state {
            State::Walk(walk) => walk.feed(at, bytes, total),
            State::Head(open) => open.feed(at, bytes, total),
            State::Cubes(open, head) => {
                head.extend_from_slice(bytes);
                open.feed(at, bytes, total)
            }
            _ => Err(Error::Unexpected {
                file: name,
                at,
                asked: 0,
                got: bytes.len() as u64,
            }),
        }
    }

    /// Takes note of what tells a source's version: its entity tag, or its time of modification as text.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the tag is not the declared one, or not that of an answer before.
    pub fn identify(
        &mut self,
        source: u32,
        etag: Option<&str>,
        modified: Option<&str>,
    ) -> Result<()> {
        let name = self.name(source)?.to_owned();
        let seen = &mut self.sources[source as usize].seen;
        if let (Some(known), Some(etag)) = (&seen.etag, etag)
            && opaque(known) != opaque(etag)
        {
            let what =
                format!("its entity tag is {etag}, where {known} is declared or was seen before");
            return Err(changed(&name, &what));
        }
        if seen.etag.is_none() {
            seen.etag = etag.map(str::to_owned);
        }
        if seen.modified.is_none() {
            seen.modified = modified.map(str::to_owned);
        }
        Ok(())
    }

    /// The open dataset.
    ///
    /// # Errors
    /// [`Error::Parameter`] naming a source that still needs bytes; those of [`Stack::open`].
    pub fn finish(self) -> Result<Opened> {
        if let Some(source) = self.pending().next() {
            let what = format!("{}: its header is not read yet", self.name(source)?);
            return Err(Error::Parameter {
                name: "source",
                what,
            });
        }
        let versions: Arc<[SourceVersion]> = self
            .sources
            .iter()
            .map(|source| source.seen.clone())
            .collect();
        match self.kind {
            Kind::Stack(entry) => {
                let (mut images, mut pyramid) = (Vec::new(), None);
                for source in self.sources {
                    match source.state {
                        State::Image(image) => images.push(*image),
                        State::Pyramid(found) => pyramid = Some(*found),
                        _ => {}
                    }
                }
                stack(&entry, images, pyramid, versions)
            }
            Kind::Ions(entry) => {
                let head = self
                    .sources
                    .into_iter()
                    .find_map(|source| match source.state {
                        State::Store(head) => Some(*head),
                        _ => None,
                    });
                let head = head.ok_or_else(|| Error::Parameter {
                    name: "source",
                    what: "a dataset of ions has one store".to_owned(),
                })?;
                Ok(Opened::Ions {
                    instrument: instrument(&entry, &head)?,
                    head: Arc::new(head),
                    sources: versions,
                })
            }
        }
    }

    /// Makes a machine that is done into what it found.
    fn settle(&mut self, source: u32) -> Result<()> {
        let name = self.name(source)?.to_owned();
        let at = &mut self.sources[source as usize];
        let (state, bytes) = match std::mem::replace(&mut at.state, State::Untouched) {
            State::Walk(walk) => {
                at.seen.size = at.seen.size.or(walk.total());
                let image = walk.into_image()?;
                let bytes = image_bytes(&image);
                (State::Image(Box::new(image)), bytes)
            }
            State::Head(open) => {
                let head = open.into_head()?;
                at.seen.size = Some(head.file_bytes);
                let bytes = head.held_bytes();
                (State::Store(Box::new(head)), bytes)
            }
            State::Cubes(open, head) => {
                let cubes = open.into_cubes()?;
                at.seen.size = Some(cubes.total());
                let pyramid = Pyramid {
                    file: name,
                    cubes,
                    head: cut(&head),
                };
                let bytes = pyramid.head.len() as u64;
                (State::Pyramid(Box::new(pyramid)), bytes)
            }
            state => (state, 0),
        };
        self.budget.release(std::mem::take(&mut at.held));
        self.budget.reserve(bytes, "what headers say")?;
        at.state = state;
        Ok(())
    }

    fn name(&self, source: u32) -> Result<&str> {
        let entry = files(&self.kind).nth(source as usize);
        entry
            .map(SourceEntry::shown)
            .ok_or_else(|| Error::Parameter {
                name: "source",
                what: format!("there is no source {source}"),
            })
    }
}

/// The walk to an exposure's image; to its mask too, where that is declared.
fn walk(name: &str, stack: &StackEntry) -> Walk {
    let walk = Walk::new(name, stack.hdu.clone(), stack.plane);
    match &stack.mask {
        Some(mask) => walk.with_mask(mask.hdu.clone()),
        None => walk,
    }
}

/// Whether an image of the catalog is what a walk would find: it may have been written before the dataset had a mask, or
/// of another plane or HDU.
pub(super) fn serves(image: &Image, kind: &Kind) -> bool {
    let Kind::Stack(stack) = kind else {
        return false;
    };
    let is_meant = |selection: &Selection, image: &Image| {
        *selection == Selection::Default
            || selection.is_of(image.hdu, image.name.as_deref(), image.ver)
    };
    let mask = match (&stack.mask, image.mask.as_deref()) {
        (None, None) => true,
        (Some(entry), Some(mask)) => {
            // A name alone means the HDU of the image's own EXTVER.
            let by_name = matches!(entry.hdu, Selection::Name(_, None));
            is_meant(&entry.hdu, mask) && (!by_name || mask.ver == image.ver)
        }
        _ => false,
    };
    image.plane == stack.plane && is_meant(&stack.hdu, image) && mask
}

/// The header among the first bytes of a file, up to the block that ends it; cards are ASCII.
fn cut(bytes: &[u8]) -> String {
    let cards = bytes.chunks_exact(CARD);
    let end = cards
        .take_while(|card| !card.starts_with(b"END     "))
        .count();
    let len = ((end + 1) * CARD).next_multiple_of(2880).min(bytes.len());
    String::from_utf8_lossy(&bytes[..len]).into_owned()
}

/// What differences between exposures mean, and what their masks mean.
fn rules(stack: &StackEntry) -> Rules {
    Rules {
        ignore_wcs: stack.ignore_wcs,
        ignore_units: stack.ignore_units,
        mask: stack
            .mask
            .as_ref()
            .map_or_else(Meaning::default, |mask| mask.bits),
    }
}

/// A stack of images.
pub(super) fn stack(
    entry: &StackEntry,
    images: Vec<Image>,
    pyramid: Option<Pyramid>,
    sources: Arc<[SourceVersion]>,
) -> Result<Opened> {
    let stack = Stack::open(images.clone(), rules(entry))?;
    if let Some(Pyramid { file, cubes, .. }) = &pyramid
        && (cubes.width, cubes.height, cubes.wide) != (stack.width, stack.height, stack.wide)
    {
        let kind = |wide| if wide { "f64" } else { "f32" };
        return Err(Error::Mismatch {
            file: file.clone(),
            what: format!(
                "it is a pyramid of {} x {} pixels of {}, but the stack has {} x {} of {}; compute it anew",
                cubes.width,
                cubes.height,
                kind(cubes.wide),
                stack.width,
                stack.height,
                kind(stack.wide)
            ),
        });
    }
    Ok(Opened::Stack {
        stack: Arc::new(stack),
        images: images.into(),
        pyramid: pyramid.map(Arc::new),
        sources,
    })
}

/// The instrument as declared, as the store says, or the usual one.
fn instrument(entry: &IonsEntry, head: &Head) -> Result<Instrument> {
    let stated = head.meta.instrument.as_deref();
    let analyzer = entry
        .analyzer
        .or_else(|| stated.and_then(Analyzer::of_instrument))
        .unwrap_or_default();
    let power = entry
        .resolving_power
        .or_else(|| stated.and_then(stated_power))
        .unwrap_or(USUAL_POWER);
    Instrument::new(analyzer, power)
}

/// Goes as far as the bytes allow: the range that is needed, `None` at the end.
fn drive<M: Machine>(machine: &mut M) -> Result<Option<Range<u64>>> {
    loop {
        match machine.step()? {
            Step::Need(range) => return Ok(Some(range)),
            Step::Ready(_) => {}
            Step::Done => return Ok(None),
        }
    }
}

/// An entity tag without its weakness: whether bytes are the same is the host's to compare.
fn opaque(etag: &str) -> &str {
    etag.strip_prefix("W/").unwrap_or(etag)
}

fn changed(file: &str, what: &str) -> Error {
    Error::Mismatch {
        file: file.to_owned(),
        what: format!("{what}: the file changed; write the catalog anew if it says so"),
    }
}
