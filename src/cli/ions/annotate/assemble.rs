//! `sectile assemble DIR`: from the shards of an annotation to its results, without the store.

use std::fs::File;
use std::io::Read;
use std::ops::RangeInclusive;
use std::rc::Rc;

use sectile::budget;
use sectile::ion::database::{Molecules, Reader};
use sectile::job::Tally;
use sectile::results::shards::Description;
use sha2::{Digest as _, Sha256};

use super::names::Names;
use super::shard::described;
use super::{finish, remove};
use crate::cli::arguments::Assemble;
use crate::cli::failure::{Failure, Result};
use crate::cli::interrupt;
use crate::cli::output::journal::Journal;
use crate::cli::report::Report;

/// Bytes of the list that are read at once.
const PIECE: usize = 64 << 10;

/// Makes the results in the folder that is named.
pub fn assemble(arguments: &Assemble, report: &mut Report) -> Result<()> {
    let folder = &arguments.target;
    let names = Names::new(folder);
    let memory = budget::parse_size(&arguments.memory)?;
    interrupt::listen()?;
    if !names.job().exists() {
        return without_shards(&names, report);
    }
    // Processes that are about a shard share this lock.
    let journal = Journal::open(&names.journal)?;
    let description = described(&names)?;
    let missing = missing(&names, &description);
    if !missing.is_empty() {
        return Err(incomplete(&names, &description, &missing));
    }
    let molecules = molecules(&names, &description, memory)?;
    let ions = description.ions(molecules, memory)?;
    let left = memory.saturating_sub(ions.bytes());
    let found = finish::write(&description, &ions, &names, left, report);
    let found = found.map_err(Failure::advised)?;
    if arguments.keep_parts {
        journal.remove()?;
    } else {
        remove(&names, journal)?;
    }
    let tally = Tally {
        sections: description.shards().into(),
        ..Tally::default()
    };
    report.done_with(&tally, found);
    Ok(())
}

/// Nothing to be done if the results are there; else there is nothing to make them of.
fn without_shards(names: &Names, report: &mut Report) -> Result<()> {
    let folder = names.folder.display();
    if names.table.is_file() && names.summary.is_file() {
        report.detail(
            1,
            &format!("{folder}: the results are there, and no shards"),
        );
        report.done(&Tally::default());
        return Ok(());
    }
    Err(Failure::input(
        "missing",
        format!(
            "{folder}: has no shards; compute them with `sectile annotate STORE … -o {folder} --shard 1/N` to N/N"
        ),
    ))
}

/// The shards that have no part, as runs of numbers.
fn missing(names: &Names, description: &Description) -> Vec<RangeInclusive<u32>> {
    let mut runs: Vec<RangeInclusive<u32>> = Vec::new();
    for number in 1..=description.shards() {
        if names.shard(number).part.exists() {
            continue;
        }
        match runs.last_mut() {
            Some(run) if *run.end() + 1 == number => *run = *run.start()..=number,
            _ => runs.push(number..=number),
        }
    }
    runs
}

fn incomplete(
    names: &Names,
    description: &Description,
    missing: &[RangeInclusive<u32>],
) -> Failure {
    let text = |run: &RangeInclusive<u32>| match (run.start(), run.end()) {
        (start, end) if start == end => start.to_string(),
        (start, end) => format!("{start} to {end}"),
    };
    let runs: Vec<String> = missing.iter().map(text).collect();
    let (folder, all) = (names.folder.display(), description.shards());
    let first = missing.first().map_or(1, |run| *run.start());
    Failure::input(
        "missing",
        format!(
            "{folder}: of {all} shards these are missing: {}; compute each with the command of the others and --shard \
             {first}/{all}",
            runs.join(", ")
        ),
    )
}

/// The list as the job was begun with it.
fn molecules(names: &Names, description: &Description, memory: u64) -> Result<Rc<Molecules>> {
    let path = names.list();
    let refused = |error: std::io::Error| Failure::file(&path, "cannot read", &error);
    let mut file = File::open(&path).map_err(refused)?;
    let name = path.to_string_lossy();
    let mut reader = Reader::new(&name, memory);
    let mut sha256 = Sha256::new();
    let mut piece = vec![0; PIECE];
    loop {
        match file.read(&mut piece) {
            Ok(0) => break,
            Ok(got) => {
                sha256.update(&piece[..got]);
                reader.push(&piece[..got])?;
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(refused(error)),
        }
    }
    description.check_list(&name, &sha256.finalize().into())?;
    Ok(Rc::new(reader.finish()?))
}
