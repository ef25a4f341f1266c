//! `sectile annotate`: plan, annotate in shards side by side, save, go on, and write results.
//!
//! [`settings`] is what is looked for, [`list`] the molecules. [`crew`] has the threads, [`save`] what one of them
//! puts into the growing [`part`] of its shard, [`seal`] finishes it; [`finish`] merges the parts into the results.
//! [`shard`] is for processes that do one shard each, and [`mod@assemble`] for the one that comes after them.

mod assemble;
mod crew;
mod finish;
mod info;
mod list;
pub mod names;
mod part;
mod planned;
mod save;
mod seal;
mod settings;
mod shard;

use std::ops::Range;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;

use sectile::ion::annotate::Ions;
use sectile::job::Tally;
use sectile::results::Provenance;
use sectile::results::shards::Description;
use serde_json::{Value, json};

use self::crew::{Outcome, Task, Todo};
use self::list::List;
use self::names::Names;
use self::planned::Crew;
use self::settings::Settings;
use super::reading::with_taken;
use super::store::{self, Opened};
use crate::cli::arguments::{Annotate, Annotating, Kept};
use crate::cli::failure::{Failure, Result};
use crate::cli::identity::{last_name, refuse_input_as_output};
use crate::cli::interrupt;
use crate::cli::output::journal::{Journal, Past};
use crate::cli::output::{begins_anew, place};
use crate::cli::report::Report;

pub use assemble::assemble;
pub use info::info;
pub use planned::plan;

/// Ions of a shard, unless so many shards are asked for.
const SHARD: u32 = 4096;

/// Runs `sectile annotate`.
pub fn run(arguments: &Annotate, report: &mut Report) -> Result<()> {
    let annotating = &arguments.annotating;
    let names = Names::new(&arguments.output);
    let cancel = interrupt::listen()?;
    let mut ready = Ready::new(annotating, cancel, report)?;
    for target in [&names.table, &names.summary, &names.images] {
        refuse_input_as_output(target, [&ready.opened.source, &ready.list.source])?;
    }
    let ions = ready.ions()?;
    // Those of the list have been said.
    let said = &ready.list.molecules.warnings;
    for warning in ions
        .warnings()
        .iter()
        .filter(|warning| !said.contains(warning))
    {
        report.warn(warning);
    }
    let shards = shards(annotating, &ions);
    let crew = Crew::new(annotating, &ready, &ions, shards.len(), report)?;
    report.event("plan", ready.fields(&ions, shards.len(), &crew));
    for (name, what) in ready.rows(&ions, shards.len(), &crew) {
        report.detail(1, &format!("{name:10} {what}"));
    }
    if let Some(shard) = annotating.shard {
        let with = With {
            annotating,
            names: &names,
            cancel,
        };
        return shard::run(&mut ready, &ions, &crew, &with, shard, report);
    }
    let description = ready.description(&ions, annotating.images, count(shards.len()))?;
    names.make_folder()?;
    let fingerprint = ready.fingerprint(annotating, shards.len());
    let journal = begin(&names, &fingerprint, annotating.restart, report)?;
    let shards = (1..=description.shards())
        .map(|number| todo(&names, &description, number))
        .collect::<Result<Vec<Todo>>>()?;
    let mut tally = ready.tally;
    let task = ready.task(&shards, &crew, annotating);
    let outcome = crew::run(&task, crew.workers, crew.held, &mut tally, report);
    ready.tally = tally;
    let outcome = outcome.map_err(Failure::advised)?;
    tell_skipped(&outcome, report);
    report.detail(1, &format!("{} saves", outcome.saves));
    if outcome.stopped > 0 {
        return Err(stopped(&outcome, &shards, &ready.tally, report));
    }
    let held = ready.opened.head.held_bytes() + ions.bytes();
    let left = ready.memory.saturating_sub(held);
    let found = finish::write(&description, &ions, &names, left, report);
    let found = found.map_err(Failure::advised)?;
    remove(&names, journal)?;
    ready.tally.sections = shards.len() as u64;
    report.done_with(&ready.tally, found);
    Ok(())
}

/// All that is read before the first block.
struct Ready {
    opened: Opened,
    list: List,
    settings: Settings,
    memory: u64,
    tally: Tally,
}

impl Ready {
    /// Reads the store's head and the list, and settles the options.
    fn new(annotating: &Annotating, cancel: &AtomicBool, report: &Report) -> Result<Self> {
        Settings::check(annotating)?;
        let reading = &annotating.reading;
        let memory = reading.memory()?;
        let opened = store::open(&annotating.store, reading, cancel)?;
        let head = &opened.head;
        let slice = store::slice(&head.file, &head.meta.slices, annotating.slice, report)?;
        let settings = Settings::new(annotating, head, slice, report)?;
        let mut tally = opened.tally;
        let left = memory.saturating_sub(head.held_bytes());
        let list = list::read(&annotating.molecules, reading, left, cancel, &mut tally)?;
        list.tell(report);
        Ok(Self {
            opened,
            list,
            settings,
            memory,
            tally,
        })
    }

    /// All ions of the list.
    fn ions(&self) -> Result<Rc<Ions>> {
        let molecules = self.list.molecules.clone();
        let held = self.opened.head.held_bytes();
        let left = self.memory.saturating_sub(held);
        let ions = Ions::new(molecules, self.settings.request.clone(), left)
            .map_err(|error| with_taken(error, held, self.memory))?;
        if ions.targets() == 0 {
            return Err(Failure::input(
                "parameter",
                "no formula of the list has an ion with these adducts; nothing to look for",
            ));
        }
        Ok(Rc::new(ions))
    }

    /// What all shards and the results are about.
    fn description(&self, ions: &Ions, images: Kept, shards: u32) -> Result<Description> {
        let list = last_name(self.list.source.name());
        let mut provenance = Provenance::new(&self.opened.head, list, Some(self.list.sha256));
        // The file's own name: the folder, or a signed link, is nobody's business, and no part of a result.
        provenance.store = last_name(&provenance.store).to_owned();
        Ok(Description::new(
            &provenance,
            ions,
            images.depicted(),
            shards,
        )?)
    }

    /// What workers need to know.
    fn task<'t>(&'t self, shards: &'t [Todo], crew: &Crew, annotating: &Annotating) -> Task<'t> {
        Task {
            sources: std::slice::from_ref(&self.opened.source),
            head: &self.opened.head,
            molecules: &self.list.molecules,
            request: &self.settings.request,
            shards,
            wish: crew.wish.clone(),
            max_seconds: annotating.max_seconds,
            images: annotating.images,
        }
    }

    /// Everything that the result's bytes and the saves depend on.
    fn fingerprint(&self, annotating: &Annotating, shards: usize) -> Value {
        let mut fields = self.settings.fields();
        fields["journal"] = json!(4);
        fields["sectile"] = json!(env!("CARGO_PKG_VERSION"));
        fields["job"] = json!("annotate");
        // A store's digest is that of its head, which has a checksum of every block.
        fields["store"] = json!(super::pack::names::hex(&self.opened.head.digest));
        fields["list"] = json!(super::pack::names::hex(&self.list.sha256));
        fields["shards"] = json!(shards);
        fields["images"] = json!(annotating.images.name());
        fields
    }
}

/// What one shard of many is done with.
struct With<'w> {
    annotating: &'w Annotating,
    names: &'w Names,
    cancel: &'w AtomicBool,
}

/// The shards that the ions are cut into, or the one that is asked for.
fn shards(annotating: &Annotating, ions: &Ions) -> Vec<Range<u32>> {
    if let Some(shard) = annotating.shard {
        let all = ions.shards(shard.of).into_iter();
        return all.skip(shard.index() as usize).take(1).collect();
    }
    ions.shards(annotating.shards.unwrap_or(ions.len().div_ceil(SHARD)))
}

fn count(shards: usize) -> u32 {
    u32::try_from(shards).unwrap_or(u32::MAX)
}

/// A shard, and what an earlier run has done of it.
fn todo(names: &Names, description: &Description, number: u32) -> Result<Todo> {
    let (whole, files) = (description.whole(number)?, names.shard(number));
    let finished = seal::is_there(&files, &whole)?;
    let position = if finished {
        whole.identity.shard.end
    } else {
        part::position(&files, &whole.identity)?
    };
    Ok(Todo {
        whole,
        files,
        position,
        finished,
    })
}

fn tell_skipped(outcome: &Outcome, report: &Report) {
    if outcome.skipped > 0 {
        report.warn(&format!(
            "{} ions have too many isotopologues for a pattern; they score nothing",
            outcome.skipped
        ));
    }
}

/// Begins anew, or goes on with what an earlier run of the same fingerprint has saved.
fn begin(names: &Names, fingerprint: &Value, restart: bool, report: &Report) -> Result<Journal> {
    let mut journal = Journal::open(&names.journal)?;
    if !restart && names.job().exists() {
        return Err(Failure::input(
            "mismatch",
            format!(
                "{0}: shards of --shard are here; make the results of them with `sectile assemble {0}`, or begin anew with \
                 --restart",
                names.folder.display()
            ),
        ));
    }
    let refused = |error| Failure::file(&names.shards, "cannot make room for shards", &error);
    if !restart {
        match journal.past(fingerprint, 0)? {
            Past::Finished(_) => {
                report.detail(1, "going on where the last run was stopped");
                std::fs::create_dir_all(&names.shards).map_err(refused)?;
                return Ok(journal);
            }
            Past::Other(why) => begins_anew(&names.folder, &why, report),
            Past::Nothing => {}
        }
    }
    // Saves first: a new journal must not speak of old ones.
    place::remove_shards(&names.shards).map_err(refused)?;
    std::fs::create_dir_all(&names.shards).map_err(refused)?;
    journal.begin(fingerprint)?;
    Ok(journal)
}

/// Removes what is of no use once the results are there.
fn remove(names: &Names, journal: Journal) -> Result<()> {
    place::remove_shards(&names.shards)
        .map_err(|error| Failure::file(&names.shards, "cannot remove", &error))?;
    journal.remove()
}

/// The failure that says how to go on after a limit, and the event that says what is there.
fn stopped(outcome: &Outcome, shards: &[Todo], tally: &Tally, report: &Report) -> Failure {
    let all: u64 = shards.iter().map(Todo::ions).sum();
    let mut fields = serde_json::to_value(tally).unwrap_or_default();
    fields["done"] = json!(outcome.ions);
    fields["total"] = json!(all);
    fields["shards_left"] = json!(outcome.stopped);
    report.event("saved", fields);
    Failure::stopped(format!(
        "stopped at the limit: {} of {all} ions are finished and saved; run the same command again to go on",
        outcome.ions
    ))
}
