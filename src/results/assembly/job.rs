//! The steps of an assembly, and what it hands out.

use std::ops::Range;
use std::rc::Rc;

use super::heads::Heads;
use super::pour::Pour;
use crate::error::{Error, Result};
use crate::ion::annotate::Ions;
use crate::results::images::{Frame, Merge};
use crate::results::shards::Description;
use crate::results::{Annotations, Provenance, Table};

/// Rows that are made text of at once.
const ROWS: usize = 256;

/// A file of the results, in the order in which they are handed out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum File {
    /// `images.sectile-images`; not handed out if no images are kept.
    Images,
    /// `results.csv`.
    Table,
    /// `annotations.json`.
    Summary,
}

impl File {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Images, Self::Table, Self::Summary];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Images => "images.sectile-images",
            Self::Table => "results.csv",
            Self::Summary => "annotations.json",
        }
    }
}

/// What parts are called in errors: what stands before and behind the number of five digits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    /// As `parts/`.
    pub before: String,
    /// As `.part`.
    pub behind: String,
}

impl Names {
    /// The name of a shard's part; numbers are from 1.
    #[must_use]
    pub fn of(&self, number: u32) -> String {
        format!("{}{number:05}{}", self.before, self.behind)
    }
}

/// What an assembly wants next.
#[derive(Debug, PartialEq, Eq)]
pub enum Turn<'a> {
    /// These bytes of the part of this number, from 1; it is asked for again until they are fed.
    Need {
        /// The number of the shard.
        part: u32,
        /// The bytes; a driver clips the end to the part's size.
        range: Range<u64>,
    },
    /// These bytes come next in this file.
    Put {
        /// Which file.
        file: File,
        /// Its next bytes.
        bytes: &'a [u8],
    },
    /// All has been handed out.
    Done,
}

/// Puts the results together out of the parts of all shards.
///
/// ```
/// use sectile::error::Result;
/// use sectile::results::assembly::{Assembly, File, Turn};
///
/// /// From parts in memory to files in memory.
/// fn assemble(mut assembly: Assembly, parts: &[Vec<u8>]) -> Result<[Vec<u8>; 3]> {
///     let mut files = [const { Vec::new() }; 3];
///     loop {
///         match assembly.turn()? {
///             Turn::Need { part, range } => {
///                 let whole = &parts[part as usize - 1];
///                 let end = range.end.min(whole.len() as u64);
///                 let bytes = &whole[range.start as usize..end as usize];
///                 assembly.feed(part, range.start, bytes, Some(whole.len() as u64))?;
///             }
///             Turn::Put { file, bytes } => files[file as usize].extend_from_slice(bytes),
///             Turn::Done => return Ok(files),
///         }
///     }
/// }
/// ```
#[derive(Debug)]
pub struct Assembly {
    step: Step,
    parts: Parts,
    provenance: Provenance,
    images: bool,
    found: Option<Annotations>,
    /// What is being handed out.
    text: String,
    left: u64,
}

/// What errors and reads need to know of all parts.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) description: Description,
    pub(super) names: Names,
}

impl Parts {
    pub(super) fn name(&self, part: u32) -> String {
        self.names.of(part)
    }
}

/// Where an assembly is.
#[derive(Debug)]
enum Step {
    Heads(Box<Heads>),
    Images(Box<Pour>),
    /// Rows from here on; the first is preceded by the head.
    Table(Option<usize>),
    Summary(Option<usize>),
    Tail,
    Done,
    /// An error ended it.
    Failed(Error),
}

impl Assembly {
    /// Begins the assembly of a job, whose ions are [`Description::ions`], in at most `memory` bytes besides them.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for ions of another job.
    pub fn new(
        description: Description,
        ions: &Rc<Ions>,
        names: Names,
        memory: u64,
    ) -> Result<Self> {
        if description.whole(1)?.identity.ions != ions.fingerprint() {
            return Err(Error::Mismatch {
                file: description.list().to_owned(),
                what: "these ions are not those of the job".to_owned(),
            });
        }
        let table = Table::new(ions.clone(), memory);
        Ok(Self {
            step: Step::Heads(Box::new(Heads::new(table, memory))),
            provenance: description.provenance(),
            images: description.images().peaks() > 0,
            parts: Parts { description, names },
            found: None,
            text: String::new(),
            left: memory,
        })
    }

    /// What is wanted next.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for parts of another job; [`Error::Format`] naming part and byte for damaged ones; those of
    /// [`Table::finish`] and [`Merge::new`]; [`Error::Budget`]. After one there is nothing more to come.
    pub fn turn(&mut self) -> Result<Turn<'_>> {
        if let Err(error) = self.advance() {
            self.step = Step::Failed(error);
        }
        match &self.step {
            Step::Heads(heads) => Ok(heads.need()),
            Step::Images(pour) => Ok(pour.turn()),
            Step::Table(_) => Ok(self.put(File::Table)),
            Step::Summary(_) | Step::Tail => Ok(self.put(File::Summary)),
            Step::Done => Ok(Turn::Done),
            Step::Failed(error) => Err(error.clone()),
        }
    }

    fn put(&self, file: File) -> Turn<'_> {
        Turn::Put {
            file,
            bytes: self.text.as_bytes(),
        }
    }

    /// Takes bytes that were asked for: those of `part` from `at` on, to the end of the range or of the part.
    ///
    /// `total` is the part's size, where the driver knows it.
    ///
    /// # Errors
    /// [`Error::Unexpected`] for bytes that were not asked for; [`Error::Format`] for a part that is cut short.
    pub fn feed(&mut self, part: u32, at: u64, bytes: &[u8], total: Option<u64>) -> Result<()> {
        match &mut self.step {
            Step::Heads(heads) => heads.feed(&self.parts, part, at, bytes, total),
            Step::Images(pour) => pour.feed(&self.parts, part, at, bytes),
            _ => Err(Error::Unexpected {
                file: self.parts.name(part),
                at,
                asked: 0,
                got: bytes.len() as u64,
            }),
        }
    }

    /// What was found, once all heads are read.
    #[must_use]
    pub fn found(&self) -> Option<&Annotations> {
        self.found.as_ref()
    }

    /// The size of a file, once all heads are read; 0 for images if none are kept.
    ///
    /// # Cost
    /// Of table and summary: making the whole text once.
    #[must_use]
    pub fn size(&self, file: File) -> Option<u64> {
        let found = self.found.as_ref()?;
        let rows = || (0..found.rows().len()).step_by(ROWS);
        let sum = |make: &dyn Fn(Range<usize>) -> String| {
            rows().map(|row| make(row..row + ROWS).len()).sum::<usize>()
        };
        let bytes = match file {
            File::Images => {
                return match &self.step {
                    Step::Images(pour) => Some(pour.bytes()),
                    _ if self.images => None,
                    _ => Some(0),
                };
            }
            File::Table => found.csv_head().len() + sum(&|rows| found.csv_rows(rows)),
            File::Summary => {
                found.json_head(&self.provenance).len()
                    + sum(&|rows| found.json_rows(rows))
                    + found.json_tail().len()
            }
        };
        Some(bytes as u64)
    }

    /// Goes on to where something is to be said.
    fn advance(&mut self) -> Result<()> {
        match &mut self.step {
            Step::Heads(heads) => {
                if !heads.look(&self.parts)? {
                    return Ok(());
                }
                self.begin()
            }
            Step::Images(pour) => {
                if !pour.look(&self.parts)? {
                    return Ok(());
                }
                self.step = Step::Table(None);
                self.text();
                Ok(())
            }
            Step::Table(_) | Step::Summary(_) | Step::Tail => {
                self.next_rows();
                self.text();
                Ok(())
            }
            Step::Done | Step::Failed(_) => Ok(()),
        }
    }

    /// From the heads of all parts to what was found, and to where its images lie.
    fn begin(&mut self) -> Result<()> {
        let Step::Heads(heads) = std::mem::replace(&mut self.step, Step::Done) else {
            return Ok(());
        };
        let (table, pictures, ends) = heads.into_all();
        let found = table.finish()?;
        self.left = self.left.saturating_sub(found.bytes());
        if self.images {
            let frame = Frame {
                width: self.provenance.width,
                height: self.provenance.height,
                store: self.provenance.store_sha256,
            };
            let held: u64 = pictures
                .iter()
                .map(crate::results::part::images::Pictures::bytes)
                .sum();
            let merge = Merge::new(
                frame,
                found.subjects(),
                &pictures,
                self.left.saturating_sub(held),
            )?;
            drop(pictures);
            self.left = self.left.saturating_sub(merge.held_bytes());
            self.step = Step::Images(Box::new(Pour::new(merge, ends, self.left)?));
            self.found = Some(found);
            return Ok(());
        }
        self.found = Some(found);
        self.step = Step::Table(None);
        self.text();
        Ok(())
    }

    /// The step behind the one that was handed out.
    fn next_rows(&mut self) {
        let rows = self.found.as_ref().map_or(0, |found| found.rows().len());
        let next = |at: Option<usize>| {
            let at = at.map_or(0, |at| at + ROWS);
            (at < rows).then_some(at)
        };
        self.step = match self.step {
            Step::Table(at) => next(at).map_or(Step::Summary(None), |at| Step::Table(Some(at))),
            Step::Summary(at) => next(at).map_or(Step::Tail, |at| Step::Summary(Some(at))),
            _ => Step::Done,
        };
    }

    /// Makes the text of the step.
    fn text(&mut self) {
        let Some(found) = &self.found else { return };
        self.text = match &self.step {
            Step::Table(None) => found.csv_head().to_owned(),
            Step::Table(Some(at)) => found.csv_rows(*at..at + ROWS),
            Step::Summary(None) => found.json_head(&self.provenance),
            Step::Summary(Some(at)) => found.json_rows(*at..at + ROWS),
            Step::Tail => found.json_tail().to_owned(),
            _ => String::new(),
        };
    }
}
