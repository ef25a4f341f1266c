//! Opening an imzML dataset: the index out of its XML, held against its `.ibd`.

use std::sync::atomic::AtomicBool;

use sectile::drive;
use sectile::drive::native::{Options, Run, Source, follow};
use sectile::error::Error;
use sectile::imzml::Dataset;
use sectile::imzml::checksum::Check;
use sectile::imzml::ibd::Ibd;
use sectile::imzml::pair::{candidates, is_ibd};
use sectile::imzml::reader::Reader;
use sectile::job::Tally;

use super::info::lone_ibd;
use super::partner::{beside, has_suffix, is_url, missing};
use super::reading::with_taken;
use crate::cli::failure::{Failure, Result};
use crate::cli::report::{Report, Step, Unit};

/// What a program needs besides the index while it reads one: code, stack, a piece of the XML.
const BASE: u64 = 3 << 20;

/// An index of so many bytes is read whatever the budget.
const SMALL: u64 = 1 << 20;

/// How a dataset is opened.
#[derive(Debug)]
pub struct Wanted<'a> {
    /// The `.imzML`.
    pub imzml: &'a str,
    /// The `.ibd`, where the user names it.
    pub ibd: Option<&'a str>,
    /// How servers are asked.
    pub options: Options,
    /// Most bytes.
    pub memory: u64,
    /// Spectra that cannot be read are left out later, so that an `.ibd` that was cut short will do.
    pub skip_bad: bool,
    pub cancel: &'a AtomicBool,
}

/// The two files of a dataset.
#[derive(Debug)]
pub struct Pair {
    pub imzml: Source,
    pub ibd: Source,
    /// The first look at the `.ibd`.
    look: Ibd,
}

/// A dataset whose index is in memory.
#[derive(Debug)]
pub struct Opened {
    pub dataset: Dataset,
    pub pair: Pair,
}

impl Pair {
    /// The size of the `.ibd`, where it is known.
    pub fn ibd_bytes(&self) -> Option<u64> {
        self.look.size()
    }

    /// Holds an index against the `.ibd`.
    pub fn settle(&self, dataset: &mut Dataset) -> Result<()> {
        Ok(self.look.settle(dataset)?)
    }
}

impl Wanted<'_> {
    fn run(&self) -> Run<'_> {
        Run {
            in_flight: 1,
            cancel: self.cancel,
        }
    }

    /// Finds both files, reads the index, and compares it with the `.ibd`.
    pub fn open(&self, tally: &mut Tally, report: &mut Report) -> Result<Opened> {
        let pair = self.pair(tally)?;
        let mut dataset = self.index(&pair.imzml, tally, report)?;
        match pair.look.settle(&mut dataset) {
            // Which spectra lie beyond its end shows when they are read.
            Err(error @ Error::Format { .. }) if self.skip_bad => report.warn(&error.to_string()),
            settled => settled?,
        }
        for warning in &dataset.warnings {
            report.warn(&format!("{}: {warning}", pair.imzml.name()));
        }
        Ok(Opened { dataset, pair })
    }

    /// Finds both files.
    pub fn pair(&self, tally: &mut Tally) -> Result<Pair> {
        if is_ibd(self.imzml) {
            return Err(lone_ibd(self.imzml));
        }
        if has_suffix(self.imzml, "sectile") {
            return Err(Failure::input(
                "unsupported",
                format!(
                    "{}: is a packed store already; `sectile ion` draws from it, `sectile spectrum` and \
                     `sectile info` read it; to pack, name an .imzML",
                    self.imzml
                ),
            ));
        }
        let imzml = Source::open(self.imzml, &self.options)?;
        let (ibd, look) = match self.ibd {
            Some(ibd) => self.look(ibd, tally)?,
            None if is_url(self.imzml) => self.ask(tally)?,
            None => self.look(&beside(self.imzml)?.to_string_lossy(), tally)?,
        };
        Ok(Pair { imzml, ibd, look })
    }

    /// Asks a server for one likely name after the other.
    fn ask(&self, tally: &mut Tally) -> Result<(Source, Ibd)> {
        let names = candidates(self.imzml);
        if names.is_empty() {
            return Err(Failure::input(
                "missing",
                format!(
                    "{}: does not end in .imzML, so that its .ibd cannot be guessed; name it with --ibd",
                    self.imzml
                ),
            ));
        }
        for name in &names {
            match self.look(name, tally) {
                // Some stores of objects answer 403 for what is not there.
                Err(
                    drive::Error::Http {
                        status: Some(403 | 404 | 410),
                        ..
                    }
                    | drive::Error::Io { .. },
                ) => {}
                looked => return Ok(looked?),
            }
        }
        // Where the .imzML is not there either, that is what to say.
        self.look(self.imzml, tally)?;
        let shown: Vec<String> = names
            .iter()
            .filter_map(|name| Source::open(name, &self.options).ok())
            .map(|source| source.name().to_owned())
            .collect();
        Err(missing(self.imzml, &shown.join(", ")))
    }

    fn look(&self, name: &str, tally: &mut Tally) -> Result<(Source, Ibd), drive::Error> {
        let source = Source::open(name, &self.options)?;
        let mut look = Ibd::new(source.name());
        follow(&source, &mut look, &self.run(), tally, |_| {})?;
        Ok((source, look))
    }

    /// Reads the index.
    pub fn index(&self, imzml: &Source, tally: &mut Tally, report: &mut Report) -> Result<Dataset> {
        // Too small a budget is refused by the plan, which knows what would do.
        let left = self.memory.saturating_sub(BASE).max(SMALL);
        let whole = |error| with_taken(error, BASE, self.memory);
        let mut reader = Reader::new(imzml.name(), left);
        let before = tally.bytes_fetched;
        follow(imzml, &mut reader, &self.run(), tally, |tally| {
            let done = tally.bytes_fetched - before;
            let total = imzml.identity().total.unwrap_or(done);
            report.step(&bytes("index", done, total), tally);
        })
        .map_err(|error| match error {
            drive::Error::Core(error) => drive::Error::Core(whole(error)),
            other => other,
        })?;
        tally.peak_bytes = tally.peak_bytes.max(BASE + reader.peak());
        Ok(reader.finish().map_err(whole)?)
    }

    /// Holds the whole `.ibd` to the checksum that the `.imzML` states.
    pub fn verify(&self, opened: &Opened, tally: &mut Tally, report: &mut Report) -> Result<()> {
        let Some(stated) = opened.dataset.checksum else {
            report.warn(&format!(
                "{}: names no checksum of its .ibd, so that nothing could be verified",
                opened.pair.imzml.name()
            ));
            return Ok(());
        };
        let ibd = &opened.pair.ibd;
        let mut check = Check::new(ibd.name(), stated);
        let before = tally.bytes_fetched;
        follow(ibd, &mut check, &self.run(), tally, |tally| {
            let done = tally.bytes_fetched - before;
            let total = ibd.identity().total.unwrap_or(done);
            report.step(&bytes("verify", done, total), tally);
        })?;
        check.finish()?;
        report.detail(
            1,
            &format!("{}: is what its .imzML was written for", ibd.name()),
        );
        Ok(())
    }
}

fn bytes(phase: &'static str, done: u64, total: u64) -> Step {
    Step {
        phase,
        unit: Unit::Bytes,
        done,
        total,
    }
}
