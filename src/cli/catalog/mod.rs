//! `sectile catalog`: declares what `sectile serve` and the Worker offer, with all that headers say.

mod entry;
mod pattern;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use sectile::api::catalog::{Allow, Catalog as Checked, Dataset, FILE, Kind};
use sectile::job::Tally;
use serde_json::{Map, Value, json};

use crate::cli::arguments::{Catalog, Named};
use crate::cli::failure::{Failure, Result};
use crate::cli::interrupt;
use crate::cli::output::name_finally;
use crate::cli::output::place::{FRESH, beside};
use crate::cli::report::Report;

/// Runs `sectile catalog`.
pub fn run(arguments: &Catalog, report: &mut Report) -> Result<()> {
    let cancel = interrupt::listen()?;
    if !arguments.folder.is_dir() {
        let what = format!("{}: not a folder", arguments.folder.display());
        return Err(Failure::input("file", what));
    }
    let path = arguments
        .output
        .clone()
        .unwrap_or_else(|| arguments.folder.join(FILE));
    let mut catalog = load(&path)?;
    let mut tally = Tally::default();
    let changed = names(&arguments.stacks, &arguments.ions);
    belongs_to_one(arguments, &changed)?;
    origins(&mut catalog, &arguments.origins)?;
    let mut entries = Vec::new();
    for name in &changed {
        let entry = entry::of(arguments, name, cancel, &mut tally, report)?;
        entries.push(((*name).to_owned(), entry));
    }
    let datasets = member(&mut catalog, "datasets", || json!({}))?;
    for name in &arguments.removed {
        if datasets.remove(name).is_none() {
            report.warn(&format!(
                "{name}: there is no such dataset, so none is removed"
            ));
        }
    }
    datasets.extend(entries);
    let bytes = bytes(&catalog);
    let allow = Allow {
        private_origins: arguments.allow_private_origins,
    };
    let checked = Checked::parse(&bytes, allow)?;
    // What was there before may be faulty for reasons of its own; what is new may not.
    let mut faulty = checked.faulty.iter();
    if let Some(faulty) = faulty.find(|faulty| changed.contains(faulty.name.as_str())) {
        let what = format!("{}: {}", faulty.name, faulty.reason);
        return Err(Failure::input("catalog", what));
    }
    let is_changed =
        !changed.is_empty() || !arguments.removed.is_empty() || !arguments.origins.is_empty();
    if is_changed {
        write(&path, &bytes)?;
    }
    tell(&checked, report);
    report.done_with(
        &tally,
        json!({ "catalog": path.to_string_lossy(), "written": is_changed, "bytes": bytes.len() }),
    );
    Ok(())
}

/// The datasets that the arguments make, each once.
fn names<'a>(stacks: &'a [Named], ions: &'a [Named]) -> BTreeSet<&'a str> {
    let both = stacks.iter().chain(ions);
    both.map(|named| named.name.as_str()).collect()
}

/// What is said of a dataset must be said of one that these arguments make, and each is of one kind.
fn belongs_to_one(arguments: &Catalog, made: &BTreeSet<&str>) -> Result<()> {
    let ions: BTreeSet<&str> = names(&[], &arguments.ions);
    if let Some(both) = arguments
        .stacks
        .iter()
        .find(|stack| ions.contains(stack.name.as_str()))
    {
        let what = format!("{}: a dataset is a stack or ions, not both", both.name);
        return Err(Failure::usage(what));
    }
    if ions.len() < arguments.ions.len() {
        return Err(Failure::usage("--ions: a dataset has one store"));
    }
    let titled = arguments
        .titles
        .iter()
        .map(|title| ("--title", title.name.as_str()));
    let listed = arguments.molecules.iter().map(|list| {
        let dataset = list.name.split(':').next().unwrap_or_default();
        ("--molecules", dataset)
    });
    let pyramids = arguments.pyramids.iter();
    let pyramids = pyramids.map(|pyramid| ("--pyramid", pyramid.name.as_str()));
    for (option, name) in titled.chain(listed).chain(pyramids) {
        if !made.contains(name) {
            return Err(Failure::usage(format!(
                "{option} {name}: neither --stack nor --ions makes a dataset of that name here"
            )));
        }
    }
    Ok(())
}

/// The catalog as it is, or an empty one.
fn load(path: &Path) -> Result<Map<String, Value>> {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(Map::from_iter([("sectile".to_owned(), json!(1))]));
        }
        Err(error) => return Err(Failure::file(path, "cannot read the catalog", &error)),
    };
    match serde_json::from_slice(&bytes) {
        Ok(Value::Object(catalog)) => Ok(catalog),
        Ok(_) => Err(no_catalog(path, "it is no JSON object")),
        Err(error) => Err(no_catalog(path, &error.to_string())),
    }
}

fn no_catalog(path: &Path, why: &str) -> Failure {
    let path = path.display();
    Failure::input(
        "catalog",
        format!("{path}: this is no catalog: {why}; move it away"),
    )
}

/// A member that is an object; made if it is not there.
fn member<'a>(
    catalog: &'a mut Map<String, Value>,
    name: &str,
    fresh: impl FnOnce() -> Value,
) -> Result<&'a mut Map<String, Value>> {
    let value = catalog.entry(name).or_insert_with(fresh);
    let wrong = || Failure::input("catalog", format!("the catalog's {name} are no object"));
    value.as_object_mut().ok_or_else(wrong)
}

/// Adds origins that are not yet allowed.
fn origins(catalog: &mut Map<String, Value>, more: &[String]) -> Result<()> {
    if more.is_empty() {
        return Ok(());
    }
    let value = catalog.entry("origins").or_insert_with(|| json!([]));
    let Value::Array(known) = value else {
        return Err(Failure::input(
            "catalog",
            "the catalog's origins are no list",
        ));
    };
    for origin in more {
        let origin = json!(origin.trim_end_matches('/'));
        if !known.contains(&origin) {
            known.push(origin);
        }
    }
    Ok(())
}

/// The catalog as a file: indented, for people read it too.
fn bytes(catalog: &Map<String, Value>) -> Vec<u8> {
    let mut text = serde_json::to_vec_pretty(catalog).unwrap_or_default();
    text.push(b'\n');
    text
}

/// Writes it beside and renames it, so that a server never reads half of it.
fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let fresh: PathBuf = beside(path, FRESH);
    std::fs::write(&fresh, bytes)
        .map_err(|error| Failure::file(&fresh, "cannot write the catalog", &error))?;
    name_finally(&fresh, path)
}

/// Says what the catalog holds.
fn tell(catalog: &Checked, report: &Report) {
    for dataset in &catalog.datasets {
        let (kind, files) = kind(dataset);
        report.event(
            "dataset",
            json!({
                "name": dataset.name,
                "type": kind,
                "title": dataset.title,
                "files": files,
                "private": dataset.token.is_some(),
                "jobs": dataset.jobs,
            }),
        );
        let files = if files == 1 {
            "1 file".to_owned()
        } else {
            format!("{files} files")
        };
        let private = if dataset.token.is_some() {
            ", private"
        } else {
            ""
        };
        let jobs = if dataset.jobs { ", jobs" } else { "" };
        let title = dataset.title.as_deref().map(|title| format!("  {title}"));
        let title = title.unwrap_or_default();
        report.line(&format!(
            "{}: {kind}, {files}{private}{jobs}{title}",
            dataset.name
        ));
    }
    for faulty in &catalog.faulty {
        report.warn(&format!("{}: {}", faulty.name, faulty.reason));
    }
    if catalog.datasets.is_empty() {
        report.line("the catalog declares no dataset; --stack and --ions add one");
    }
}

fn kind(dataset: &Dataset) -> (&'static str, usize) {
    match &dataset.kind {
        Kind::Stack(stack) => ("stack", stack.exposures.len()),
        Kind::Ions(_) => ("ions", 1),
    }
}
