//! `sectile pack`: plan, sort, write, and go on where an earlier run was stopped.

mod files;
pub mod names;

use std::path::Path;
use std::sync::atomic::AtomicBool;

use sectile::drive;
use sectile::drive::native::{Event, Source, run as drive_job};
use sectile::imzml::Dataset;
use sectile::ion::pack::job::PackJob;
use sectile::ion::pack::plan::{Plan, Wish};
use sectile::ion::pack::report::Report as Packed;
use sectile::job::Tally;
use serde_json::{Value, json};

use self::files::Files;
use self::names::Names;
use super::dataset::{Pair, Wanted};
use super::partner::has_suffix;
use crate::cli::arguments::{Pack, Packing, PlanPack};
use crate::cli::failure::{Failure, Result};
use crate::cli::identity::{identity, refuse_input_as_output};
use crate::cli::interrupt;
use crate::cli::output::check_target;
use crate::cli::report::{Report, Step, Unit, size};

/// Runs `sectile pack`.
pub fn run(arguments: &Pack, report: &mut Report) -> Result<()> {
    let (packing, output) = (&arguments.packing, arguments.output.as_path());
    check_output(output)?;
    let names = Names::new(output, packing.temp.as_deref())?;
    let cancel = interrupt::listen()?;
    let wanted = wanted(packing, cancel)?;
    let mut tally = Tally::default();
    let opened = wanted.open(&mut tally, report)?;
    refuse_input_as_output(output, [&opened.pair.imzml, &opened.pair.ibd])?;
    let plan = plan_of(&opened.dataset, &opened.pair, packing, report)?;
    for line in table(&opened.dataset, &plan) {
        report.detail(1, &line);
    }
    if packing.verify {
        wanted.verify(&opened, &mut tally, report)?;
    }
    let fingerprint = fingerprint(packing, &opened.pair, &plan, &names);
    let usable = |state: &[u8]| PackJob::check(&opened.dataset, &plan, state);
    let (mut files, state) = Files::begin(names, &fingerprint, packing.restart, usable, report)?;
    let partitions = plan.partitions;
    let said = opened.dataset.warnings.clone();
    let mut job = match PackJob::new(opened.dataset, plan, state.as_deref()) {
        Ok(job) => job,
        Err(error) if state.is_some() => return Err(unusable(error)),
        Err(error) => return given_up(files, error.into()),
    };
    drop(state);
    let sources = [opened.pair.ibd, Source::scratch(files.spill())];
    let sorted = sort(
        &mut job, &sources, packing, &mut files, cancel, &mut tally, report,
    );
    match sorted {
        // The same command would fail at the same spectrum, whatever it went on from.
        Err(failure) if failure.code == "format" => return given_up(files, failure),
        sorted => sorted.map_err(Failure::advised)?,
    }
    let packed = job.report().cloned();
    let mut packed =
        packed.ok_or_else(|| Failure::failed("the job is done, but says nothing of it"))?;
    packed.warnings.retain(|warning| !said.contains(warning));
    drop(job);
    tally.sections = partitions;
    let bytes = packed.store_bytes;
    let sha256 = files
        .finish(bytes, |done| {
            let step = Step {
                phase: "checksum",
                unit: Unit::Bytes,
                done,
                total: bytes,
            };
            report.step(&step, &tally);
        })
        .map_err(Failure::advised)?;
    tell(&packed, output, &sha256, &tally, report);
    Ok(())
}

/// Runs `sectile plan pack`.
pub fn plan(arguments: &PlanPack, report: &mut Report) -> Result<()> {
    arguments.output.as_deref().map(check_output).transpose()?;
    let cancel = interrupt::listen()?;
    let mut tally = Tally::default();
    let opened = wanted(&arguments.packing, cancel)?.open(&mut tally, report)?;
    let plan = plan_of(&opened.dataset, &opened.pair, &arguments.packing, report)?;
    for line in table(&opened.dataset, &plan) {
        report.line(&line);
    }
    report.done(&tally);
    Ok(())
}

fn wanted<'a>(packing: &'a Packing, cancel: &'a AtomicBool) -> Result<Wanted<'a>> {
    Ok(Wanted {
        imzml: &packing.imzml,
        ibd: packing.ibd.as_deref(),
        options: packing.reading.options()?,
        memory: packing.reading.memory()?,
        skip_bad: packing.skip_bad,
        cancel,
    })
}

fn check_output(output: &Path) -> Result<()> {
    if !has_suffix(&output.to_string_lossy(), "sectile") {
        return Err(Failure::usage(format!(
            "{}: the suffix says what is written; a store is called .sectile",
            output.display()
        )));
    }
    check_target(output)
}

/// Plans, and says so.
fn plan_of(dataset: &Dataset, pair: &Pair, packing: &Packing, report: &Report) -> Result<Plan> {
    let wish = Wish {
        memory: packing.reading.memory()?,
        in_flight: u32::from(packing.reading.in_flight),
        skip_bad: packing.skip_bad,
        ibd_bytes: pair.ibd_bytes(),
    };
    let plan = Plan::new(dataset, &wish)?;
    for warning in &plan.warnings {
        report.warn(warning);
    }
    let mut fields = serde_json::to_value(&plan).unwrap_or_default();
    if let Value::Object(fields) = &mut fields {
        // They have been said as events of their own.
        fields.remove("warnings");
        let grid = &dataset.grid;
        fields.insert(
            "grid".into(),
            json!([grid.width, grid.height, grid.slices.len()]),
        );
    }
    report.event("plan", fields);
    Ok(plan)
}

/// The plan for people, one figure a line.
fn table(dataset: &Dataset, plan: &Plan) -> Vec<String> {
    let grid = &dataset.grid;
    let slices = match grid.slices.len() {
        1 => String::new(),
        slices => format!(" in {slices} slices"),
    };
    let spill = match plan.spill_bytes {
        0 => "none: all peaks fit into memory".to_owned(),
        bytes => format!("about {} in {} partitions", size(bytes), plan.partitions),
    };
    let rows = [
        (
            "spectra",
            format!(
                "{} on {}×{} pixels{slices}",
                plan.spectra, grid.width, grid.height
            ),
        ),
        ("peaks", format!("{} at most", plan.rows)),
        ("requests", format!("{} of the ibd", plan.requests)),
        ("payload", size(plan.payload_bytes)),
        ("spill", spill),
        (
            "store",
            format!("about {}", size(plan.store_bytes_estimate)),
        ),
        (
            "peak",
            format!("{} of {}", size(plan.peak_bytes), size(plan.memory)),
        ),
        ("minimum", size(plan.minimum_bytes)),
    ];
    rows.iter()
        .map(|(name, what)| format!("{name:10} {what}"))
        .collect()
}

/// Everything that the store's bytes and the checkpoint depend on.
fn fingerprint(packing: &Packing, pair: &Pair, plan: &Plan, names: &Names) -> Value {
    json!({
        "journal": 2,
        "sectile": env!("CARGO_PKG_VERSION"),
        "job": "pack",
        "inputs": [identity(&pair.imzml), identity(&pair.ibd)],
        "skip_bad": packing.skip_bad,
        "memory": plan.memory,
        "in_flight": plan.in_flight,
        "spill": names.spill.to_string_lossy(),
    })
}

fn unusable(error: sectile::error::Error) -> Failure {
    let mut failure = Failure::from(error);
    failure.message += "; --restart begins anew";
    failure
}

/// Leaves nothing of a packing that cannot be gone on with.
fn given_up(files: Files, failure: Failure) -> Result<()> {
    // That something stays is a second failure of no interest; `clean` finds it.
    let _ = files.remove();
    Err(failure)
}

/// Runs the job, and puts what it hands out into its files.
fn sort(
    job: &mut PackJob,
    sources: &[Source],
    packing: &Packing,
    files: &mut Files,
    cancel: &AtomicBool,
    tally: &mut Tally,
    report: &mut Report,
) -> Result<()> {
    let mut refused = None;
    let on = |event: Event<'_, PackJob>| match event {
        Event::Progress(tally, job) => {
            let progress = job.progress();
            let step = Step {
                phase: progress.phase.name(),
                unit: Unit::Peaks,
                done: progress.done,
                total: progress.total,
            };
            report.step(&step, tally);
            Ok(())
        }
        Event::Item(put) => files.put(&put).map_err(|failure| {
            refused = Some(failure);
            drive::Error::Interrupted
        }),
    };
    let ran = drive_job(job, sources, &packing.reading.run(cancel), tally, on);
    if let Some(failure) = refused {
        return Err(failure);
    }
    ran?;
    interrupt::check()
}

/// Says what came of it.
fn tell(packed: &Packed, output: &Path, sha256: &str, tally: &Tally, report: &Report) {
    let path = output.to_string_lossy();
    for warning in &packed.warnings {
        report.warn(&format!("{path}: {warning}"));
    }
    let counts = packed.counts.named();
    report.detail(
        1,
        &format!(
            "{} peaks of {} spectra, {}",
            packed.peaks,
            packed.spectra,
            size(packed.store_bytes)
        ),
    );
    for (name, count) in counts.iter().filter(|(_, count)| *count > 0) {
        report.detail(1, &format!("{:21} {count}", name.replace('_', " ")));
    }
    let counts: serde_json::Map<String, Value> = counts
        .iter()
        .map(|(name, count)| ((*name).to_owned(), json!(count)))
        .collect();
    report.event(
        "file",
        json!({ "path": path, "bytes": packed.store_bytes, "sha256": sha256 }),
    );
    // The form of `sha256sum`, which can check it.
    report.line(&format!("{sha256}  {path}"));
    report.done_with(
        tally,
        json!({
            "sha256": sha256,
            "bytes": packed.store_bytes,
            "peaks": packed.peaks,
            "spectra": packed.spectra,
            "spill_bytes": packed.spill_bytes,
            "counts": counts,
        }),
    );
}
