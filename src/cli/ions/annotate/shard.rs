//! `sectile annotate --shard k/n`: one shard of a job that several processes share, on one disk.
//!
//! Nobody waits for anybody. What the job is about is written by whoever comes first, and compared by all others; a
//! part gets its name when it is whole, and who writes it again writes the same bytes.

use std::fs::{self, File};
use std::io::{BufReader, Read, Write};
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;

use sectile::drive::native::Run;
use sectile::ion::annotate::Ions;
use sectile::results::shards::Description;
use serde_json::json;

use super::crew::{self, Outcome, Todo};
use super::names::{Names, Shard as Files};
use super::planned::Crew;
use super::seal::{is_there, remove_saved};
use super::{Ready, With, list, part};
use crate::cli::arguments::Shard;
use crate::cli::failure::{Failure, Result};
use crate::cli::output::journal::Journal;
use crate::cli::output::place::{private, remove_file};
use crate::cli::report::Report;

/// No description of a job is longer.
const LONGEST: u64 = 1 << 20;

/// Computes one shard.
pub fn run(
    ready: &mut Ready,
    ions: &Rc<Ions>,
    crew: &Crew,
    with: &With<'_>,
    shard: Shard,
    report: &mut Report,
) -> Result<()> {
    let With {
        annotating,
        names,
        cancel,
    } = *with;
    let description = ready.description(ions, annotating.images, shard.of)?;
    if shard.number > description.shards() {
        report.warn(&format!(
            "--shard {shard}: there are {} ions, and a shard for each; this one has none",
            description.ions_in_all()
        ));
        report.done(&ready.tally);
        return Ok(());
    }
    names.make_folder()?;
    let _shared = join(names, &description, ready, cancel)?;
    let whole = description.whole(shard.number)?;
    let mut files = names.shard(shard.number);
    if !annotating.restart && is_there(&files, &whole)? {
        report.detail(1, "this shard is there already");
        tell(&files, shard, report);
        report.done(&ready.tally);
        return Ok(());
    }
    let mine = Journal::try_open(&names.lock(shard.number))?;
    if mine.is_none() {
        report.warn(&format!(
            "--shard {shard}: another process is about it; this one does it too, and what it has done is not kept if it \
             is stopped"
        ));
        files = apart(names, files)?;
    } else if annotating.restart {
        remove_saved(&files)?;
    }
    let todo = Todo {
        position: part::position(&files, &whole.identity)?,
        finished: false,
        whole,
        files,
    };
    if todo.position > todo.whole.identity.shard.start {
        report.detail(1, "going on where the last run was stopped");
    }
    let shards = [todo];
    let task = ready.task(&shards, crew, annotating);
    let head = &ready.opened.head;
    let mut tally = ready.tally;
    let outcome = crew::run_alone(&task, head, ions, cancel, &mut tally, report);
    let [todo] = &shards;
    ready.tally = tally;
    if mine.is_none() {
        remove_saved(&todo.files)?;
    }
    end(ready, &outcome.map_err(Failure::advised)?, &shards, report)?;
    if let Some(lock) = mine {
        lock.remove()?;
    }
    tell(&todo.files, shard, report);
    ready.tally.sections = 1;
    report.done(&ready.tally);
    Ok(())
}

fn end(ready: &Ready, outcome: &Outcome, shards: &[Todo], report: &Report) -> Result<()> {
    super::tell_skipped(outcome, report);
    report.detail(1, &format!("{} saves", outcome.saves));
    if outcome.stopped > 0 {
        return Err(super::stopped(outcome, shards, &ready.tally, report));
    }
    Ok(())
}

fn tell(files: &Files, shard: Shard, report: &Report) {
    let bytes = fs::metadata(&files.part).map_or(0, |metadata| metadata.len());
    let path = files.part.to_string_lossy();
    report.event(
        "part",
        json!({ "path": path, "bytes": bytes, "shard": shard.number, "shards": shard.of }),
    );
    report.line(&path);
}

/// Files of this process alone, for a shard that another one is about.
fn apart(names: &Names, files: Files) -> Result<Files> {
    let refused = |error| Failure::file(&names.shards, "cannot write into", &error);
    let (_, path) = private(&names.shards).map_err(refused)?;
    remove_file(&path).map_err(refused)?;
    Ok(Files {
        scores: path.with_extension("scores"),
        images: path.with_extension("images"),
        ..files
    })
}

/// Joins the processes of a job, or begins it; they keep out whoever wants the folder alone.
fn join(
    names: &Names,
    description: &Description,
    ready: &mut Ready,
    cancel: &AtomicBool,
) -> Result<Journal> {
    let journal = Journal::open_shared(&names.journal)?;
    if !journal.is_empty()? {
        return Err(Failure::input(
            "mismatch",
            format!(
                "{}: a run without --shard has begun here; go on with it, or name another folder (`sectile clean` removes \
                 what it left)",
                names.folder.display()
            ),
        ));
    }
    let refused = |error| Failure::file(&names.shards, "cannot make room for shards", &error);
    fs::create_dir_all(&names.shards).map_err(refused)?;
    let text = description.to_json();
    once(&names.shards, &names.job(), |file| {
        file.write_all(text.as_bytes())
            .map_err(|error| Failure::file(&names.job(), "cannot write", &error))
    })?;
    let found = described(names)?;
    let differ = found.difference(description);
    if !differ.is_empty() {
        return Err(Failure::input(
            "mismatch",
            format!(
                "{}: shards of another job are here; not the same {}; name another folder, or remove them with `sectile \
                 clean`",
                names.folder.display(),
                differ.join(", ")
            ),
        ));
    }
    once(&names.shards, &names.list(), |file| {
        copy(file, description, ready, cancel)
    })?;
    Ok(journal)
}

/// The description of the job whose shards are in a folder.
pub fn described(names: &Names) -> Result<Description> {
    let path = names.job();
    let refused = |error: std::io::Error| Failure::file(&path, "cannot read", &error);
    let file = File::open(&path).map_err(refused)?;
    let mut bytes = Vec::new();
    let mut file = BufReader::new(file).take(LONGEST);
    file.read_to_end(&mut bytes).map_err(refused)?;
    Ok(Description::parse(&path.to_string_lossy(), &bytes)?)
}

/// Copies the list, so that the results can be assembled without it.
fn copy(
    file: &mut File,
    description: &Description,
    ready: &mut Ready,
    cancel: &AtomicBool,
) -> Result<()> {
    let mut failed = None;
    let run = Run {
        in_flight: 1,
        cancel,
    };
    let source = &ready.list.source;
    let read = list::follow_all(source, &run, &mut ready.tally, |bytes| {
        if failed.is_none() {
            failed = file.write_all(bytes).err();
        }
        Ok(())
    });
    if let Some(error) = failed {
        return Err(Failure::file(
            Path::new(source.name()),
            "cannot copy",
            &error,
        ));
    }
    description.check_list(source.name(), &read?)?;
    Ok(())
}

/// Writes a file unless it is there; it has its name only once it is whole, and nobody else's is replaced.
fn once(folder: &Path, path: &Path, write: impl FnOnce(&mut File) -> Result<()>) -> Result<()> {
    if path.exists() {
        return Ok(());
    }
    let refused = |error: &std::io::Error| Failure::file(path, "cannot write", error);
    let (mut file, made) = private(folder).map_err(|error| refused(&error))?;
    let done = write(&mut file)
        .and_then(|()| file.sync_all().map_err(|error| refused(&error)))
        .and_then(|()| match fs::hard_link(&made, path) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
            // Where there are no links, the last one wins, and the others find that out when they read it.
            Err(_) => fs::rename(&made, path).map_err(|error| refused(&error)),
            Ok(()) => Ok(()),
        });
    // Why it was given up is being said already; the name that stays is another one.
    let _ = remove_file(&made);
    done
}
