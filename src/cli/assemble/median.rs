//! From the parts of a median to its FITS file, and to its pyramid.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use sectile::budget;
use sectile::job::Tally;
use sectile::results::pyramid::Band;
use sectile::results::stack::part::{Identity, Sum, Sums};
use sectile::results::stack::{Assembly, Description, Piece};
use serde_json::json;

use crate::cli::arguments::Assemble;
use crate::cli::failure::{Failure, Result};
use crate::cli::interrupt;
use crate::cli::output::fresh::Fresh;
use crate::cli::output::{check_target, pyramid};
use crate::cli::report::Report;
use crate::cli::shards::folder::Folder;

/// Bytes copied at one time.
const COPY: usize = 1 << 20;

/// Most shards that a message names.
const NAMED: usize = 20;

/// Makes the FITS file, once all its parts are there.
pub fn run(arguments: &Assemble, report: &Report) -> Result<()> {
    let target = &arguments.target;
    let memory = budget::parse_size(&arguments.memory)?;
    check_target(target)?;
    if let Some(path) = &arguments.pyramid {
        check_target(path)?;
        pyramid::check(path, target)?;
    }
    interrupt::listen()?;
    let folder = Folder::of(target);
    let Some(job) = folder.job()? else {
        return finish_removal(arguments, &folder, report);
    };
    let parts = job.parts()?;
    let sums = whole(&folder, &parts)?;
    let layout = job.layout();
    let mut tally = Tally::default();
    if arguments.pyramid.is_some() {
        tally.peak_bytes = pyramid::bytes(&layout, parts.len(), memory)?;
    }
    let fresh = copy(target, &folder, &job, &sums, &mut tally)?;
    let pyramid = match &arguments.pyramid {
        Some(path) => {
            let bands = parts.iter().zip(&sums).map(|(part, sums)| {
                let file = folder.part(part.shard);
                let band = Band::of_part(&file.to_string_lossy(), part, *sums);
                (file, band)
            });
            Some(pyramid::make(bands.collect(), &layout, path, memory)?)
        }
        None => None,
    };
    if let Some(pyramid) = pyramid {
        pyramid.finish()?;
    }
    fresh.finish()?;
    if !arguments.keep_parts {
        folder.remove()?;
    }
    done(target, arguments, &tally, report);
    Ok(())
}

/// Goes on with a removal that was interrupted; else there is nothing to make a result of.
fn finish_removal(arguments: &Assemble, folder: &Folder, report: &Report) -> Result<()> {
    let target = &arguments.target;
    if folder.is_assembled() && target.is_file() {
        folder.remove()?;
        done(target, arguments, &Tally::default(), report);
        return Ok(());
    }
    Err(Failure::input(
        "missing",
        format!(
            "{}: there are no shards of it; run `sectile median … -o {0} --shard 1/N` to N/N first",
            target.display()
        ),
    ))
}

fn done(target: &Path, arguments: &Assemble, tally: &Tally, report: &Report) {
    for path in std::iter::once(target).chain(arguments.pyramid.as_deref()) {
        let path = path.to_string_lossy();
        report.event("file", json!({ "path": path }));
        report.line(&path);
    }
    report.done(tally);
}

/// The checksums of all parts; a failure that names those that are missing.
fn whole(folder: &Folder, parts: &[Identity]) -> Result<Vec<Sums>> {
    let mut sums = Vec::new();
    let mut missing = Vec::new();
    for part in parts {
        match folder.open(part)? {
            Some(found) => sums.push(found),
            None => missing.push(part.name()),
        }
    }
    if missing.is_empty() {
        return Ok(sums);
    }
    let (of, more) = (parts.len(), missing.len().saturating_sub(NAMED));
    missing.truncate(NAMED);
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    Err(Failure::input(
        "missing",
        format!(
            "of {of} shards these are not there yet: {}{more}; run them with --shard, then assemble again",
            missing.join(", ")
        ),
    ))
}

/// Copies the pieces of the file, and checks what is copied.
fn copy(
    target: &Path,
    folder: &Folder,
    job: &Description,
    sums: &[Sums],
    tally: &mut Tally,
) -> Result<Fresh> {
    let mut fresh = Fresh::create(target)?;
    let mut buffer = vec![0; COPY];
    for piece in Assembly::new(job, sums)?.pieces {
        interrupt::check()?;
        match &piece {
            Piece::Bytes(bytes) => fresh.put(bytes)?,
            Piece::Copy { part, range, .. } => {
                let path = folder.part(*part);
                let refused = |error| Failure::file(&path, "cannot read back", &error);
                let mut file = File::open(&path).map_err(refused)?;
                file.seek(SeekFrom::Start(range.start)).map_err(refused)?;
                let mut left = range.end - range.start;
                let mut sum = Sum::default();
                while left > 0 {
                    let len = usize::try_from(left).unwrap_or(COPY).min(COPY);
                    let bytes = &mut buffer[..len];
                    file.read_exact(bytes).map_err(refused)?;
                    sum.update(bytes);
                    fresh.put(bytes)?;
                    left -= len as u64;
                }
                piece.check(sum, &path.to_string_lossy())?;
                tally.bytes_payload += piece.len();
            }
        }
    }
    Ok(fresh)
}
