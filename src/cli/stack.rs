//! From the exposures on the command line to a stack: lists are read, headers are walked.

use std::fmt;
use std::sync::atomic::AtomicBool;

use sectile::budget;
use sectile::drive;
use sectile::drive::native::{Options, Run, Source, walk_all};
use sectile::error::Error;
use sectile::fits::Image;
use sectile::fits::hdu::Selection;
use sectile::fits::walk::Walk;
use sectile::job::Tally;
use sectile::manifest;
use sectile::stack::exposure::{Rules, Stack};
use sectile::stack::plan::{Rect, Wish};

use crate::cli::arguments;
use crate::cli::failure::{Failure, Result};
use crate::cli::identity::without_query;
use crate::cli::report::Report;

/// Bytes of the longest list that is read.
const LIST: usize = 16 << 20;

/// A stack whose headers have been read.
#[derive(Debug)]
pub struct Opened {
    pub sources: Vec<Source>,
    pub stack: Stack,
    /// The image of the first exposure: what was chosen.
    pub first: Chosen,
    pub tally: Tally,
}

/// Seconds from asking for a part of a file to its first byte.
const FILE_LATENCY: f64 = 1e-4;
/// Bytes that come from files in a second.
const FILE_BANDWIDTH: f64 = 1e9;
/// Bytes of a file that are read at a time: fewer are slower on disks that turn, more in caches and page tables.
const FILE_SLOT: u64 = 1 << 20;

impl Opened {
    /// Settles what the arguments leave open, now that it is known where the exposures are.
    pub fn settle(&self, wish: &mut Wish, arguments: &arguments::Stack) {
        if self.sources.iter().any(|source| source.path().is_none()) {
            return;
        }
        wish.slot_bytes = FILE_SLOT;
        if arguments.latency.is_none() {
            wish.latency = FILE_LATENCY;
        }
        if arguments.bandwidth.is_none() {
            wish.bandwidth = FILE_BANDWIDTH;
        }
    }

    /// The names of the exposures as they are shown: without the secrets of signed links.
    pub fn names(&self) -> Vec<String> {
        let names = self.sources.iter().map(Source::name);
        names.map(|name| without_query(name).to_owned()).collect()
    }
}

/// Which part of a file was chosen.
#[derive(Debug)]
pub struct Chosen {
    pub hdu: u32,
    pub name: Option<String>,
    pub ver: i64,
    pub planes: u64,
}

impl fmt::Display for Chosen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "{name},{} (HDU {})", self.ver, self.hdu),
            None => write!(f, "HDU {}", self.hdu),
        }
    }
}

/// Walks the headers of all exposures and holds them together; says what the user should know.
pub fn open(arguments: &arguments::Stack, cancel: &AtomicBool, report: &Report) -> Result<Opened> {
    let mut tally = Tally::default();
    let options = options(&arguments.headers)?;
    let names = expand(&arguments.exposures, &options, &mut tally, report)?;
    let sources = names
        .iter()
        .map(|name| Ok(Source::open(name, &options)?))
        .collect::<Result<Vec<_>>>()?;
    let images = images(&sources, arguments, cancel, &mut tally)?;
    let first = images.first().map(|image| Chosen {
        hdu: image.hdu,
        name: image.name.clone(),
        ver: image.ver,
        planes: image.planes,
    });
    let rules = Rules {
        ignore_wcs: arguments.ignore_wcs,
        ignore_units: arguments.ignore_units,
        mask: arguments.mask_bits,
    };
    let stack = Stack::open(images, rules)?;
    for warning in &stack.warnings {
        report.warn(warning);
    }
    let first = first.ok_or_else(|| Failure::input("parameter", "the list is empty"))?;
    Ok(Opened {
        sources,
        stack,
        first,
        tally,
    })
}

/// Walks all headers, several at a time.
fn images(
    sources: &[Source],
    arguments: &arguments::Stack,
    cancel: &AtomicBool,
    tally: &mut Tally,
) -> Result<Vec<Image>> {
    let wanted = Wanted {
        hdu: arguments.hdu.as_ref(),
        plane: arguments.plane,
        mask: arguments.mask.as_ref(),
    };
    let run = Run {
        in_flight: usize::from(arguments.in_flight),
        cancel,
    };
    all_or_first(walked(sources, &wanted, &run, tally)?)
}

/// Which image of a file is wanted.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// None for the usual one.
    pub hdu: Option<&'a Selection>,
    pub plane: u64,
    pub mask: Option<&'a Selection>,
}

/// Walks the headers of all files, and says of each what it has come to.
pub fn walked(
    sources: &[Source],
    wanted: &Wanted<'_>,
    run: &Run<'_>,
    tally: &mut Tally,
) -> Result<Vec<Result<Image, drive::Error>>> {
    let selection = wanted.hdu.cloned().unwrap_or_default();
    let walk = |source: &Source| {
        let walk = Walk::new(source.name(), selection.clone(), wanted.plane);
        match wanted.mask {
            Some(mask) => walk.with_mask(mask.clone()),
            None => walk,
        }
    };
    let mut walks: Vec<Walk> = sources.iter().map(walk).collect();
    let outcomes = walk_all(sources, &mut walks, run, tally, |_, _| {})?;
    let images = outcomes
        .into_iter()
        .zip(walks)
        .map(|(outcome, walk)| outcome.and_then(|_| Ok(walk.into_image()?)));
    Ok(images.collect())
}

/// How servers are asked.
pub fn options(headers: &[(String, String)]) -> Result<Options> {
    let options = Options::default();
    let options = headers.iter().try_fold(options, |options, (name, value)| {
        options.with_header(name, value)
    });
    Ok(options?)
}

/// What is asked of a plan, as far as the arguments tell it: see [`Opened::settle`].
pub fn wish(arguments: &arguments::Stack) -> Result<Wish> {
    let usual = Wish::default();
    Ok(Wish {
        memory: budget::parse_size(&arguments.memory)?,
        in_flight: u32::from(arguments.in_flight),
        rect: arguments
            .rect
            .map(|[x0, y0, x1, y1]| Rect { x0, y0, x1, y1 }),
        step: arguments.preview.unwrap_or(1),
        latency: arguments.latency.map_or(usual.latency, |ms| ms / 1000.0),
        bandwidth: match &arguments.bandwidth {
            Some(text) => bandwidth(text)?,
            None => usual.bandwidth,
        },
        ..usual
    })
}

fn bandwidth(text: &str) -> Result<f64> {
    let size = budget::parse_size(text).map_err(|_| Error::Parameter {
        name: "--bandwidth",
        what: format!("{text:?} is no number of bytes a second; write for instance 100MB"),
    })?;
    #[expect(clippy::cast_precision_loss, reason = "an estimate is made of it")]
    Ok(size as f64)
}

/// Replaces lists and associations by what they name.
pub fn expand(
    given: &[String],
    options: &Options,
    tally: &mut Tally,
    report: &Report,
) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for name in given {
        let Some(kind) = manifest::Kind::of(name) else {
            names.push(name.clone());
            continue;
        };
        let source = Source::open(name, options)?;
        let bytes = source.read_whole(LIST, tally)?;
        let members = manifest::read(kind, name, &bytes)?;
        for note in &members.notes {
            report.warn(&format!("{}: {note}", source.name()));
        }
        names.extend(members.names);
    }
    Ok(names)
}

/// All images, or the first failure with the number of those that follow it.
fn all_or_first(images: Vec<Result<Image, drive::Error>>) -> Result<Vec<Image>> {
    let failed = images.iter().filter(|image| image.is_err()).count();
    let images: Result<Vec<Image>, drive::Error> = images.into_iter().collect();
    images.map_err(|error| {
        let mut failure = Failure::from(error);
        if failed > 1 {
            failure.message = format!(
                "{} (and {} more exposures failed)",
                failure.message,
                failed - 1
            );
        }
        failure
    })
}
