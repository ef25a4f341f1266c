//! One shard of a job, from bytes to its part.

use std::rc::Rc;

use super::document::Document;
use super::keys::Key;
use super::list::List;
use super::plan::{IN_FLIGHT, beside, wish};
use crate::api::opened::Opened;
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::job::{Fetch, Job};
use crate::results::shards::{self, Part as AnnotationPart, ShardJob};
use crate::results::stack;
use crate::results::stack::part::Writer;
use crate::stack::job::MedianJob;
use crate::store::head::Head;

/// A shard that is being computed: a job without items, that leaves a [`Part`].
#[derive(Debug)]
pub enum Shard {
    /// Rows of a median.
    Median {
        /// What computes them.
        job: Box<MedianJob>,
        /// What they are put into.
        writer: Writer,
        /// One source for each exposure.
        sources: u32,
    },
    /// Ions of an annotation.
    Annotation(Box<ShardJob>),
}

/// A finished part.
#[derive(Debug)]
pub enum Part {
    /// Of a median.
    Median(Vec<u8>),
    /// Of an annotation.
    Annotation(AnnotationPart),
}

impl Shard {
    /// Begins shard `number` (from 1) of a job over an open dataset, in at most `memory` bytes.
    ///
    /// `list` is that of an annotation.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for a dataset or a list that is not the job's; [`Error::Budget`]; [`Error::Parameter`] for a number
    /// that no shard has.
    pub fn new(
        document: &Document,
        opened: &Opened,
        list: Option<&List>,
        number: u32,
        memory: u64,
    ) -> Result<Self> {
        let file = Key::Job.of(&document.id);
        match opened {
            Opened::Stack { stack, .. } => {
                let job = stack::Description::parse(&file, document.work.as_bytes())?;
                let shard = number.wrapping_sub(1);
                let parts = job.parts()?;
                let identity = parts.get(shard as usize).ok_or_else(|| none(number))?;
                let plan = job.division()?.plan(stack, &wish(memory), shard)?;
                let origin = (plan.rect.x0, plan.rect.y0, plan.step);
                let mut budget = Budget::new(memory);
                budget.reserve(plan.peak_bytes, "the shard")?;
                Ok(Self::Median {
                    writer: Writer::new(identity.clone(), origin, &mut budget)?,
                    job: Box::new(MedianJob::new(stack, plan)?),
                    sources: u32::try_from(stack.exposures.len()).unwrap_or(u32::MAX),
                })
            }
            Opened::Ions { head, .. } => {
                let job = shards::Description::parse(&file, document.work.as_bytes())?;
                let list = list.ok_or_else(|| none(number))?;
                job.check_list(&list.name, &list.sha256)?;
                let head = Rc::new(Head::clone(head));
                let left = memory.saturating_sub(head.held_bytes());
                let ions = job.ions(list.molecules.clone(), left)?;
                let left = beside(&head, memory);
                let job = ShardJob::new(&head, &ions, &job, number, left, IN_FLIGHT)?;
                Ok(Self::Annotation(Box::new(job)))
            }
        }
    }

    /// The dataset's sources that fetches number: all exposures, or the store.
    #[must_use]
    pub fn sources(&self) -> Vec<u32> {
        match self {
            Self::Median { sources, .. } => (0..*sources).collect(),
            Self::Annotation(_) => vec![0],
        }
    }

    /// Feeds part of a read: as [`MedianJob::feed`].
    ///
    /// # Errors
    /// [`Error::Unexpected`] for bytes that were not asked for.
    pub fn feed(
        &mut self,
        slot: u32,
        read: usize,
        offset: u64,
        len: usize,
        write: impl FnOnce(&mut [u8]),
    ) -> Result<()> {
        match self {
            Self::Median { job, .. } => job.feed(slot, read, offset, len, write),
            Self::Annotation(job) => job.feed(slot, read, offset, len, write),
        }
    }

    /// Says that the reads of a fetch have been fed whole.
    ///
    /// # Errors
    /// [`Error::Unexpected`] if bytes are missing.
    pub fn complete(&mut self, slot: u32) -> Result<()> {
        match self {
            Self::Median { job, .. } => job.complete(slot),
            Self::Annotation(job) => job.complete(slot),
        }
    }

    /// The part, once the job is done.
    ///
    /// # Errors
    /// [`Error::Parameter`] if it is not.
    pub fn into_part(self) -> Result<Part> {
        match self {
            Self::Median { writer, .. } => writer.finish().map(Part::Median),
            Self::Annotation(job) => job.into_part().map(Part::Annotation),
        }
    }
}

impl Job for Shard {
    type Item<'a> = ();

    fn next(&mut self) -> Option<Fetch> {
        match self {
            Self::Median { job, .. } => job.next(),
            Self::Annotation(job) => job.next(),
        }
    }

    fn lend(&mut self, fetch: &Fetch) -> Vec<u8> {
        match self {
            Self::Median { job, .. } => job.lend(fetch),
            Self::Annotation(job) => job.lend(fetch),
        }
    }

    fn filled(&mut self, fetch: &Fetch, buffer: Vec<u8>) -> Result<()> {
        match self {
            Self::Median { job, .. } => job.filled(fetch, buffer),
            Self::Annotation(job) => job.filled(fetch, buffer),
        }
    }

    fn ready(&mut self) -> Result<Option<()>> {
        match self {
            Self::Median { job, writer, .. } => {
                let Some(section) = job.ready()? else {
                    return Ok(None);
                };
                writer.put(&section).map(Some)
            }
            Self::Annotation(job) => Ok(job.ready()?.map(|_| ())),
        }
    }

    fn is_done(&self) -> bool {
        match self {
            Self::Median { job, .. } => job.is_done(),
            Self::Annotation(job) => job.is_done(),
        }
    }

    fn peak(&self) -> u64 {
        match self {
            Self::Median { job, .. } => job.peak(),
            Self::Annotation(job) => job.peak(),
        }
    }
}

impl Part {
    /// Bytes of the whole part.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Median(bytes) => bytes.len() as u64,
            Self::Annotation(part) => part.bytes(),
        }
    }

    /// One of the pieces that the part is made of, in their order; `None` behind the last.
    #[must_use]
    pub fn piece(&self, number: usize) -> Option<&[u8]> {
        match self {
            Self::Median(bytes) => (number == 0).then_some(bytes.as_slice()),
            Self::Annotation(part) => part.piece(number),
        }
    }
}

fn none(number: u32) -> Error {
    Error::Parameter {
        name: "shard",
        what: format!("the job has none of the number {number}"),
    }
}
