//! From the parts of all shards to the results, for a host that reads ranges and appends.

use std::ops::Range;

use super::document::Document;
use super::keys::Key;
use super::list::List;
use crate::error::{Error, Result};
use crate::job::{Fetch, Job};
use crate::raster::pyramid::TILE;
use crate::results::assembly as annotation;
use crate::results::pyramid::{Band, Cubes, PyramidJob};
use crate::results::shards;
use crate::results::stack::part::{HEADER, Identity, Sum, Sums};
use crate::results::stack::{self, Piece};

/// Bytes that are read at once.
const READ: u64 = 1 << 20;

/// What an assembly wants next.
#[derive(Debug, PartialEq, Eq)]
pub enum Turn<'a> {
    /// These bytes of the part of this number, from 1; it is asked for until they are fed.
    Need {
        /// The number of the shard.
        part: u32,
        /// The bytes; a host clips the end to the part's size.
        range: Range<u64>,
    },
    /// These bytes come next in this file, each turn others; a file is whole when another begins, or at the end.
    Put {
        /// The file's name.
        file: &'static str,
        /// Its next bytes.
        bytes: &'a [u8],
    },
    /// All has been handed out.
    Done,
}

/// The assembly of any job.
#[derive(Debug)]
pub enum Assembly {
    /// Of a median: its FITS file, then its pyramid.
    Median(Box<MedianAssembly>),
    /// Of an annotation: images, table, summary.
    Annotation(Box<annotation::Assembly>),
}

impl Assembly {
    /// Begins the assembly of a job, in at most `memory` bytes; `list` is that of an annotation.
    ///
    /// # Errors
    /// [`Error::Format`] for a document that does not say what the parts are of; [`Error::Mismatch`] for another list;
    /// [`Error::Budget`].
    pub fn new(document: &Document, list: Option<&List>, memory: u64) -> Result<Self> {
        let file = Key::Job.of(&document.id);
        let before = Key::Part(1).of(&document.id).replace("00001", "");
        let Some(list) = list else {
            let job = stack::Description::parse(&file, document.work.as_bytes())?;
            return Ok(Self::Median(Box::new(MedianAssembly::new(
                job, &before, memory,
            )?)));
        };
        let job = shards::Description::parse(&file, document.work.as_bytes())?;
        job.check_list(&list.name, &list.sha256)?;
        let ions = job.ions(list.molecules.clone(), memory)?;
        let left = memory.saturating_sub(ions.bytes());
        let names = annotation::Names {
            before,
            behind: String::new(),
        };
        let assembly = annotation::Assembly::new(job, &ions, names, left)?;
        Ok(Self::Annotation(Box::new(assembly)))
    }

    /// What is wanted next.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for parts of another job, [`Error::Format`] naming part and byte for damaged ones;
    /// [`Error::Budget`]. What was handed out before is to be thrown away then.
    pub fn turn(&mut self) -> Result<Turn<'_>> {
        match self {
            Self::Median(assembly) => assembly.turn(),
            Self::Annotation(assembly) => Ok(match assembly.turn()? {
                annotation::Turn::Need { part, range } => Turn::Need { part, range },
                annotation::Turn::Put { file, bytes } => Turn::Put {
                    file: file.name(),
                    bytes,
                },
                annotation::Turn::Done => Turn::Done,
            }),
        }
    }

    /// Takes bytes that were asked for, from `at` on; `total` is the part's size.
    ///
    /// # Errors
    /// [`Error::Unexpected`] for bytes that were not asked for; [`Error::Format`] for a part that is cut short.
    pub fn feed(&mut self, part: u32, at: u64, bytes: &[u8], total: u64) -> Result<()> {
        match self {
            Self::Median(assembly) => assembly.feed(part, at, bytes, total),
            Self::Annotation(assembly) => assembly.feed(part, at, bytes, Some(total)),
        }
    }
}

/// Requests that the assembly of a median makes: for headers, for what is copied, for the pyramid, and for writing.
///
/// # Errors
/// Those of [`stack::Description::parts`].
pub fn requests(job: &stack::Description) -> Result<u64> {
    let parts = job.parts()?;
    let reads = |part: &Identity| {
        let len = |range: Range<u64>| (range.end - range.start).div_ceil(READ / 2) + 1;
        1 + 2 * (len(part.values()) + len(part.counts()))
    };
    let layout = job.layout();
    let (cubes, _) = Cubes::new(&layout, TILE)?;
    let written = layout.total().saturating_add(cubes.total());
    let reads: u64 = parts.iter().map(reads).sum();
    Ok(reads.saturating_add(written / (5 << 20)).saturating_add(4))
}

/// The assembly of a median.
#[derive(Debug)]
pub struct MedianAssembly {
    job: stack::Description,
    parts: Vec<Identity>,
    /// What parts are called before their number.
    before: String,
    memory: u64,
    sums: Vec<Sums>,
    step: Step,
    /// What is handed out.
    out: Vec<u8>,
    /// Whether that has been fed, and is to be handed out.
    came: bool,
}

#[derive(Debug)]
enum Step {
    /// Headers of parts, the next of which is as many as there are sums.
    Heads,
    /// The FITS file: its pieces, the one at hand, how much of it is out, its checksum so far.
    File {
        pieces: std::vec::IntoIter<Piece>,
        piece: Option<Piece>,
        at: u64,
        sum: Sum,
    },
    /// The pyramid, and what it waits for.
    Pyramid(Box<PyramidJob>, Option<Fetch>),
    Failed(Error),
}

/// What a step came to.
enum Came {
    Need(u32, Range<u64>),
    Put(&'static str),
    Done,
}

impl MedianAssembly {
    fn new(job: stack::Description, before: &str, memory: u64) -> Result<Self> {
        Ok(Self {
            parts: job.parts()?,
            job,
            before: before.to_owned(),
            memory,
            sums: Vec::new(),
            step: Step::Heads,
            out: Vec::new(),
            came: false,
        })
    }

    fn turn(&mut self) -> Result<Turn<'_>> {
        match self.advance() {
            Ok(Came::Need(part, range)) => Ok(Turn::Need { part, range }),
            Ok(Came::Put(file)) => Ok(Turn::Put {
                file,
                bytes: &self.out,
            }),
            Ok(Came::Done) => Ok(Turn::Done),
            Err(error) => {
                self.step = Step::Failed(error.clone());
                Err(error)
            }
        }
    }

    fn advance(&mut self) -> Result<Came> {
        loop {
            match &mut self.step {
                Step::Heads if self.sums.len() < self.parts.len() => {
                    return Ok(Came::Need(self.number(), 0..HEADER as u64));
                }
                Step::Heads => {
                    let pieces = stack::Assembly::new(&self.job, &self.sums)?.pieces;
                    self.step = Step::File {
                        pieces: pieces.into_iter(),
                        piece: None,
                        at: 0,
                        sum: Sum::default(),
                    };
                }
                Step::File { .. } => {
                    if let Some(came) = self.file() {
                        return Ok(came);
                    }
                    let pyramid = self.pyramid()?;
                    self.step = Step::Pyramid(Box::new(pyramid), None);
                }
                Step::Pyramid(job, waits) => {
                    if waits.is_none() {
                        if let Some(bytes) = job.ready()? {
                            self.out.clear();
                            self.out.extend_from_slice(bytes);
                            return Ok(Came::Put("pyramid.fits"));
                        }
                        *waits = job.next();
                    }
                    return Ok(match waits {
                        Some(fetch) => Came::Need(fetch.source + 1, fetch.reads[0].range.clone()),
                        None => Came::Done,
                    });
                }
                Step::Failed(error) => return Err(error.clone()),
            }
        }
    }

    /// The number of the part whose header is read next.
    fn number(&self) -> u32 {
        u32::try_from(self.sums.len() + 1).unwrap_or(u32::MAX)
    }

    /// The next bytes of the FITS file, or what they are copied from; `None` when all are out.
    fn file(&mut self) -> Option<Came> {
        let Step::File {
            pieces,
            piece,
            at,
            sum,
        } = &mut self.step
        else {
            return None;
        };
        if std::mem::take(&mut self.came) {
            return Some(Came::Put("median.fits"));
        }
        if piece.is_none() {
            *piece = pieces.next();
            (*at, *sum) = (0, Sum::default());
        }
        match piece {
            None => None,
            Some(Piece::Bytes(bytes)) => {
                self.out = std::mem::take(bytes);
                *piece = None;
                Some(Came::Put("median.fits"))
            }
            Some(Piece::Copy { part, range, .. }) => {
                let start = range.start + *at;
                Some(Came::Need(*part + 1, start..range.end.min(start + READ)))
            }
        }
    }

    fn feed(&mut self, part: u32, at: u64, bytes: &[u8], total: u64) -> Result<()> {
        let wanted = match self.advance()? {
            Came::Need(wanted, range) if wanted == part && range.start == at => range,
            _ => return Err(self.unexpected(part, at, 0, bytes)),
        };
        let name = self.name(part);
        let len = bytes.len() as u64;
        match &mut self.step {
            Step::Heads => {
                let identity = &self.parts[self.sums.len()];
                self.sums.push(identity.open(&name, bytes, total)?);
            }
            _ if len != wanted.end - wanted.start => {
                return Err(self.unexpected(part, at, wanted.end - wanted.start, bytes));
            }
            Step::File {
                piece,
                at: done,
                sum,
                ..
            } => {
                self.out.clear();
                self.out.extend_from_slice(bytes);
                self.came = true;
                sum.update(bytes);
                *done += len;
                if piece.as_ref().is_some_and(|piece| piece.len() == *done)
                    && let Some(whole) = piece.take()
                {
                    whole.check(*sum, &name)?;
                }
            }
            Step::Pyramid(job, waits) => {
                if let Some(fetch) = waits.take() {
                    let copy = |place: &mut [u8]| place.copy_from_slice(bytes);
                    job.feed(fetch.slot, 0, 0, bytes.len(), copy)?;
                    job.complete(fetch.slot)?;
                }
            }
            Step::Failed(error) => return Err(error.clone()),
        }
        Ok(())
    }

    fn unexpected(&self, part: u32, at: u64, asked: u64, bytes: &[u8]) -> Error {
        Error::Unexpected {
            file: self.name(part),
            at,
            asked,
            got: bytes.len() as u64,
        }
    }

    fn pyramid(&self) -> Result<PyramidJob> {
        let bands = self.parts.iter().zip(&self.sums);
        let bands = bands.map(|(part, sums)| {
            let name = self.name(part.shard + 1);
            Band::of_part(&name, part, *sums)
        });
        let cubes = Cubes::new(&self.job.layout(), TILE)?;
        PyramidJob::new(cubes, bands.collect(), self.memory, 1)
    }

    fn name(&self, part: u32) -> String {
        format!("{}{part:05}", self.before)
    }
}
