//! Opening a dataset: its files found, their headers read.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};

use sectile::api::Problem;
use sectile::api::answer::{Trouble, problem};
use sectile::api::catalog::{Dataset, Kind, SourceEntry};
use sectile::api::opened::Opening;
use sectile::api::version::files;
use sectile::drive::Error;
use sectile::drive::native::{Options, Run, Source, walk_all};
use sectile::drive::policy::Identity;
use sectile::error::Result as CoreResult;
use sectile::job::{Machine, Step, Tally};

use super::fault::Fault;
use super::shelf::Taken;

/// Requests in flight while headers are read.
const IN_FLIGHT: usize = 6;

/// Where files are, and what reading them may take.
#[derive(Debug, Clone, Copy)]
pub struct How<'a> {
    /// The real path of the served folder.
    pub folder: &'a Path,
    /// How servers are asked.
    pub options: &'a Options,
    /// Most bytes that headers may take.
    pub memory: u64,
    /// When to stop.
    pub cancel: &'a AtomicBool,
}

/// Reads what the headers of a dataset's files say; blocks.
///
/// # Errors
/// Those of the files. A file that changes meanwhile is [`Fault::Changed`].
pub fn read(declared: &Dataset, how: &How<'_>) -> Result<Taken, Fault> {
    let declared = as_found(declared);
    let mut sources = Vec::new();
    for entry in files(&declared.kind) {
        sources.push(source(entry, how)?);
    }
    let opening = Opening::new(&declared, how.memory)?;
    let opening = Mutex::new(opening);
    let mut machines: Vec<One<'_>> = (0_u32..)
        .take(sources.len())
        .map(|source| One {
            opening: &opening,
            source,
        })
        .collect();
    let run = Run {
        in_flight: IN_FLIGHT,
        cancel: how.cancel,
    };
    let mut tally = Tally::default();
    for outcome in walk_all(&sources, &mut machines, &run, &mut tally, |_, _| {})? {
        outcome?;
    }
    drop(machines);
    let mut opening = opening.into_inner().unwrap_or_else(PoisonError::into_inner);
    for (at, source) in (0_u32..).zip(&sources) {
        let known = source.identity();
        opening.identify(at, known.etag.as_deref(), known.modified.as_deref())?;
    }
    Ok(Taken {
        opened: opening.finish()?,
        sources: sources.into(),
    })
}

/// A dataset without what its catalog says of files that can be looked at, or that nothing tells apart from others.
///
/// A size, a tag or a header of yesterday must not decide where pixels are read today: local files are looked at, and a
/// header from the catalog is believed of a server's file only with the entity tag that every answer is held to.
fn as_found(declared: &Dataset) -> Dataset {
    let mut declared = declared.clone();
    let (exposures, other) = match &mut declared.kind {
        Kind::Stack(stack) => (stack.exposures.as_mut_slice(), stack.pyramid.as_mut()),
        Kind::Ions(ions) => (&mut [][..], Some(&mut ions.store)),
    };
    for entry in exposures.iter_mut().chain(other) {
        if !entry.remote {
            (entry.size, entry.etag) = (None, None);
        }
        if entry.etag.is_none() {
            entry.image = None;
        }
    }
    declared
}

/// A file below the folder, or one of another server.
fn source(entry: &SourceEntry, how: &How<'_>) -> Result<Source, Fault> {
    if entry.remote {
        let source = Source::open(&entry.url, how.options)?.called(entry.shown());
        source.hold_to(&Identity {
            etag: entry.etag.clone(),
            modified: None,
            total: entry.size,
        })?;
        return Ok(source);
    }
    let path = real(how.folder, &entry.url)?;
    Ok(Source::file(&path, &entry.url, how.options)?)
}

/// Follows links, as long as they stay inside.
fn real(folder: &Path, below: &str) -> Result<PathBuf, Fault> {
    let path = folder
        .join(below)
        .canonicalize()
        .map_err(|error| Error::io(below, "read", &error))?;
    if path.starts_with(folder) {
        return Ok(path);
    }
    let what = format!("{below}: it is a link that leads out of the served folder");
    Err(Fault::Problem(problem(Trouble::Missing, what)))
}

/// One source of an opening, for a driver that reads several at a time.
struct One<'o> {
    opening: &'o Mutex<Opening>,
    source: u32,
}

impl Machine for One<'_> {
    type Item = ();

    fn step(&mut self) -> CoreResult<Step<()>> {
        let mut opening = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        let need: Option<Range<u64>> = opening.need(self.source)?;
        Ok(need.map_or(Step::Done, Step::Need))
    }

    fn feed(&mut self, at: u64, bytes: &[u8], total: Option<u64>) -> CoreResult<()> {
        let mut opening = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        opening.feed(self.source, at, bytes, total)
    }
}

/// What a dataset that is declared and not there is to whoever asks.
pub fn gone() -> Problem {
    Problem::busy("the catalog has changed; ask again", 1)
}
