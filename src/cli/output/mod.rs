//! What commands write: nothing half-written is ever seen under a final name.
//!
//! What is written in one go is a [`fresh`] file. `median` also goes on after a kill: finished
//! sections go into a [`part`] file beside the output, which is a FITS file in the making; a [`journal`] tells which rows of it are on the disk. When all are, the part gets
//! the final name, or is converted ([`convert`], [`tiles`]) into a file that does.

mod convert;
mod coverage;
pub mod format;
pub mod fresh;
pub mod journal;
pub mod part;
pub mod place;
pub mod pyramid;
mod tiles;

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use sectile::budget::Budget;
use sectile::results::stack::Layout;
use sectile::results::stack::part::Identity;
use sectile::stack::plan::BASE;
use serde_json::Value;

use crate::cli::failure::{Failure, Result};
use crate::cli::report::Report;
use coverage::Coverage;
use format::Format;
use journal::{Journal, Past};
use part::{Band, Part};
use place::Place;

/// Longest time between a section's end and its line in the journal. Waiting for the disk after
/// every small section would cost more than the sections.
const CHECKPOINT: Duration = Duration::from_millis(200);

/// Where results are wanted.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// The file.
    pub target: PathBuf,
    /// What kind of file.
    pub format: Format,
    /// The folder of tiles, if tiles are wanted.
    pub tiles: Option<PathBuf>,
    /// The unit of the values, for pictures.
    pub unit: Option<String>,
    /// The file of all resolutions, if it is wanted.
    pub pyramid: Option<PathBuf>,
    /// Whose part it is, if only that of a shard is wanted.
    pub shard: Option<Identity>,
}

impl Wanted {
    /// Refuses, before anything is fetched, what would fail in the end.
    pub fn check(&self) -> Result<()> {
        refuse_folder(&self.target)?;
        let others = self.tiles.iter().chain(&self.pyramid);
        for path in std::iter::once(&self.target).chain(others) {
            demand_parent(path)?;
        }
        if let Some(pyramid) = &self.pyramid {
            pyramid::check(pyramid, &self.target)?;
        }
        match &self.tiles {
            Some(tiles) => tiles::check(tiles),
            None => Ok(()),
        }
    }

    /// Bytes that the second pass, from the finished part to tiles, holds; 0 without any.
    ///
    /// # Errors
    /// The core's, with the budget that would do, if that is more than `memory`.
    pub fn second_pass(&self, layout: &Layout, memory: u64) -> Result<u64> {
        let bytes = match &self.tiles {
            Some(_) => BASE + tiles::bytes(layout)?,
            None => 0,
        };
        let mut budget = Budget::new(memory);
        budget.reserve(bytes, "making tiles of so wide an image")?;
        let all = match &self.pyramid {
            Some(_) => pyramid::bytes(layout, 1, memory)?,
            None => 0,
        };
        Ok(bytes.max(all))
    }
}

/// Refuses an output that is a folder, or that would lie in one that is not there.
pub fn check_target(target: &Path) -> Result<()> {
    refuse_folder(target)?;
    demand_parent(target)
}

fn refuse_folder(target: &Path) -> Result<()> {
    if target.is_dir() {
        return Err(Failure::input(
            "file",
            format!("{}: is a folder; name a file", target.display()),
        ));
    }
    Ok(())
}

fn demand_parent(path: &Path) -> Result<()> {
    let folder = match path.components().as_path().parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => return Ok(()),
    };
    if !folder.is_dir() {
        return Err(Failure::input(
            "missing",
            format!(
                "{}: there is no folder {}",
                path.display(),
                folder.display()
            ),
        ));
    }
    Ok(())
}

/// An output in the making, locked for this process.
#[derive(Debug)]
pub struct Output {
    wanted: Wanted,
    place: Place,
    journal: Journal,
    part: Part,
    coverage: Coverage,
    saved: Instant,
    /// What a second pass may hold.
    memory: u64,
}

impl Output {
    /// Begins an output, or goes on with one whose fingerprint is the same.
    ///
    /// `fingerprint` is an object that holds everything the bytes of the result depend on.
    pub fn begin(
        wanted: &Wanted,
        layout: &Layout,
        fingerprint: &Value,
        restart: bool,
        memory: u64,
        report: &Report,
    ) -> Result<Self> {
        let journal = Journal::open(&Place::new(&wanted.target).journal)?;
        Self::begin_with(
            journal,
            wanted,
            layout,
            fingerprint,
            restart,
            memory,
            report,
        )
    }

    /// As [`begin`](Self::begin), with the output's journal, which is open and locked already.
    pub fn begin_with(
        mut journal: Journal,
        wanted: &Wanted,
        layout: &Layout,
        fingerprint: &Value,
        restart: bool,
        memory: u64,
        report: &Report,
    ) -> Result<Self> {
        let place = Place::new(&wanted.target);
        let finished = if restart {
            None
        } else {
            earlier(&mut journal, &place, layout, fingerprint, report)?
        };
        let (part, finished) = if let Some(found) = finished {
            found
        } else {
            // The journal first: rows that it named must not outlive their bytes.
            journal.begin(fingerprint)?;
            (Part::create(&place.part, layout)?, Vec::new())
        };
        Ok(Self {
            wanted: wanted.clone(),
            coverage: Coverage::new(layout.width, layout.height, &finished),
            place,
            journal,
            part,
            saved: Instant::now(),
            memory,
        })
    }

    /// The rows of the result that are still to be computed.
    pub fn missing(&self) -> Vec<Range<u32>> {
        self.coverage.missing()
    }

    /// Writes part of the result.
    pub fn write(&mut self, band: &Band<'_>) -> Result<()> {
        self.part.write(band)?;
        self.coverage.add(band.y..band.y + band.rows, band.width);
        if self.saved.elapsed() >= CHECKPOINT {
            self.save()?;
        }
        Ok(())
    }

    /// Makes sure that what was written can be gone on with.
    pub fn save(&mut self) -> Result<()> {
        let rows = self.coverage.take_fresh();
        if !rows.is_empty() {
            self.part.sync()?;
        }
        for rows in rows {
            self.journal.finish(&rows)?;
        }
        self.saved = Instant::now();
        Ok(())
    }

    /// Gives the result its final name, once no row is missing; removes what lay beside it.
    pub fn finish(mut self) -> Result<()> {
        self.save()?;
        let unit = self.wanted.unit.as_deref();
        // Everything is made before anything gets its name: a kill in between costs only the making.
        let tiles = match &self.wanted.tiles {
            Some(folder) => Some(tiles::make(&mut self.part, folder, unit)?),
            None => None,
        };
        let Place {
            target,
            part,
            fresh,
            ..
        } = &self.place;
        let pyramid = match &self.wanted.pyramid {
            Some(path) => Some(pyramid::of_file(
                part,
                self.part.layout(),
                path,
                self.memory,
            )?),
            None => None,
        };
        if let Some(identity) = &self.wanted.shard {
            self.part.seal(identity)?;
        }
        let made = match self.wanted.format {
            Format::Fits => part,
            Format::Png => {
                convert::to_png(&mut self.part, fresh, unit)?;
                fresh
            }
            Format::Npy => {
                convert::to_npy(&mut self.part, fresh)?;
                fresh
            }
        };
        name_finally(made, target)?;
        if let Some(tiles) = tiles {
            tiles.name_finally()?;
        }
        if let Some(pyramid) = pyramid {
            pyramid.finish()?;
        }
        place::remove_file(part).map_err(|error| Failure::file(part, "cannot remove", &error))?;
        self.journal.remove()
    }
}

/// What an earlier run has left, if it can be gone on with; else says why not.
fn earlier(
    journal: &mut Journal,
    place: &Place,
    layout: &Layout,
    fingerprint: &Value,
    report: &Report,
) -> Result<Option<(Part, Vec<Range<u32>>)>> {
    let why = match journal.past(fingerprint, layout.height)? {
        Past::Nothing => return Ok(None),
        Past::Finished(rows) => match Part::reopen(&place.part, layout)? {
            Some(part) => {
                let done: u64 = rows
                    .iter()
                    .map(|rows| u64::from(rows.end - rows.start))
                    .sum();
                report.detail(
                    1,
                    &format!("going on: {done} of {} rows are finished", layout.height),
                );
                return Ok(Some((part, rows)));
            }
            None => "its part file is gone or not of this job".to_owned(),
        },
        Past::Other(why) => why,
    };
    begins_anew(&place.target, &why, report);
    Ok(None)
}

/// Says why an output begins anew, although an earlier run has left something of it.
pub fn begins_anew(target: &Path, why: &str, report: &Report) {
    report.warn(&format!(
        "{}: begins anew, since an unfinished run cannot be gone on with: {why}",
        target.display()
    ));
}

/// Renames a file that is whole; what bore the name before is replaced at once.
pub fn name_finally(from: &Path, to: &Path) -> Result<()> {
    let refused =
        |error: &std::io::Error| Failure::file(to, "cannot give the output its name", error);
    fs::File::open(from)
        .and_then(|file| file.sync_all())
        .and_then(|()| fs::rename(from, to))
        .map_err(|error| refused(&error))?;
    // So that the name itself is on the disk; where folders cannot be opened there is no such need.
    if let Some(folder) = to.parent()
        && let Ok(folder) = fs::File::open(if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            folder
        })
    {
        let _ = folder.sync_all();
    }
    Ok(())
}
