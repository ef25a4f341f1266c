//! `sectile spectrum`: the spectrum of a pixel or a region, from the pair or from the store.

use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;

use sectile::drive;
use sectile::drive::native::{Event, Source, run as drive_job};
use sectile::error::Error;
use sectile::imzml::pair::is_imzml;
use sectile::ion::images::Wish;
use sectile::ion::region::Region;
use sectile::ion::spectrum::{From, Plan, Spectrum as Found, SpectrumJob};
use sectile::job::Tally;
use serde_json::json;

use super::dataset::Wanted;
use super::partner::has_suffix;
use super::store;
use crate::cli::arguments::{Choosing, PlanSpectrum, Spectrum};
use crate::cli::failure::{Failure, Result};
use crate::cli::identity::refuse_input_as_output;
use crate::cli::interrupt;
use crate::cli::output::check_target;
use crate::cli::output::fresh::Fresh;
use crate::cli::report::{Report, size};

/// A spectrum that has been planned.
struct Prepared {
    /// What it is read from.
    source: Source,
    /// The other file of a pair.
    index: Option<Source>,
    job: SpectrumJob,
    tally: Tally,
}

/// Runs `sectile spectrum`.
pub fn run(arguments: &Spectrum, report: &mut Report) -> Result<()> {
    let choosing = &arguments.choosing;
    check_output(&arguments.output)?;
    let cancel = interrupt::listen()?;
    let mut prepared = prepare(choosing, cancel, report)?;
    let inputs = std::iter::once(&prepared.source).chain(&prepared.index);
    refuse_input_as_output(&arguments.output, inputs)?;
    let plan = prepared.job.plan();
    report.event("plan", serde_json::to_value(plan).unwrap_or_default());
    if plan.from == From::Store {
        report.warn(&format!(
            "{}: is sorted by m/z, so that all of it is read for a spectrum ({} in {} requests); of \
             the .imzML only the pixels that are asked for",
            prepared.source.name(),
            size(plan.bytes),
            plan.requests
        ));
    }
    let mut file = Fresh::create(&arguments.output)?;
    let found = collect(&mut prepared, choosing, &mut file, cancel, report)?;
    file.finish()?;
    let path = arguments.output.to_string_lossy();
    report.detail(
        1,
        &format!("{} m/z of {} pixels", found.values, found.pixels),
    );
    report.event(
        "file",
        json!({
            "path": path,
            "values": found.values,
            "pixels": found.pixels,
            "bad_spectra": found.bad,
        }),
    );
    report.line(&path);
    report.done(&prepared.tally);
    Ok(())
}

/// Runs `sectile plan spectrum`.
pub fn plan(arguments: &PlanSpectrum, report: &mut Report) -> Result<()> {
    arguments.output.as_deref().map(check_output).transpose()?;
    let cancel = interrupt::listen()?;
    let prepared = prepare(&arguments.choosing, cancel, report)?;
    let plan = prepared.job.plan();
    report.event("plan", serde_json::to_value(plan).unwrap_or_default());
    for line in table(plan) {
        report.line(&line);
    }
    report.done(&prepared.tally);
    Ok(())
}

fn table(plan: &Plan) -> Vec<String> {
    let from = match plan.from {
        From::Pair => "the imzML pair, by its index".to_owned(),
        From::Store => "the store, which is sorted by m/z: all of it is read".to_owned(),
    };
    let passes = match plan.passes {
        1 => String::new(),
        passes => format!(" in {passes} passes"),
    };
    let rows = [
        ("from", from),
        ("pixels", plan.pixels.to_string()),
        ("requests", plan.requests.to_string()),
        ("payload", format!("{}{passes}", size(plan.bytes))),
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

fn check_output(output: &std::path::Path) -> Result<()> {
    if !has_suffix(&output.to_string_lossy(), "csv") {
        return Err(Failure::usage(format!(
            "{}: the suffix says what is written; a spectrum is a .csv",
            output.display()
        )));
    }
    check_target(output)
}

/// Opens the source and plans.
fn prepare(choosing: &Choosing, cancel: &AtomicBool, report: &mut Report) -> Result<Prepared> {
    let reading = &choosing.reading;
    let mut wish = Wish {
        memory: reading.memory()?,
        in_flight: u32::from(reading.in_flight),
        skip_bad: choosing.skip_bad,
        ..Wish::default()
    };
    if !is_imzml(&choosing.source) {
        let misplaced = [
            ("--ibd", choosing.ibd.is_some()),
            ("--skip-bad", choosing.skip_bad),
        ];
        if let Some((option, _)) = misplaced.iter().find(|(_, given)| *given) {
            return Err(Failure::usage(format!(
                "{option} belongs to an .imzML; a store has no .ibd"
            )));
        }
        let opened = store::open(&choosing.source, reading, cancel)?;
        let head = &opened.head;
        wish.slice = store::slice(&head.file, &head.meta.slices, choosing.slice, report)?;
        let region = region(choosing, head.meta.origin)?;
        let contents = &head.layout.contents;
        let grid = (head.meta.origin, [contents.width, contents.height]);
        let job = SpectrumJob::of_store(head, &region, &wish);
        return Ok(Prepared {
            job: job.map_err(|error| in_its_terms(error, choosing, grid))?,
            source: opened.source,
            index: None,
            tally: opened.tally,
        });
    }
    let wanted = Wanted {
        imzml: &choosing.source,
        ibd: choosing.ibd.as_deref(),
        options: reading.options()?,
        memory: wish.memory,
        skip_bad: choosing.skip_bad,
        cancel,
    };
    let mut tally = Tally::default();
    let opened = wanted.open(&mut tally, report)?;
    let (dataset, pair) = (opened.dataset, opened.pair);
    let grid = &dataset.grid;
    wish.slice = store::slice(&dataset.file, &grid.slices, choosing.slice, report)?;
    let region = region(choosing, [grid.x0, grid.y0])?;
    let span = ([grid.x0, grid.y0], [grid.width, grid.height]);
    let job = SpectrumJob::of_pair(&dataset, pair.ibd.name(), &region, None, &wish);
    Ok(Prepared {
        job: job.map_err(|error| in_its_terms(error, choosing, span))?,
        source: pair.ibd,
        index: Some(pair.imzml),
        tally,
    })
}

fn region(choosing: &Choosing, origin: [i32; 2]) -> Result<Region> {
    let outside = |what| Failure::input("parameter", format!("{}: {what}", choosing.source));
    choosing.region(origin).map_err(outside)
}

/// A region without a pixel of the grid, in the file's positions: the core counts from its first pixel.
fn in_its_terms(error: Error, choosing: &Choosing, grid: ([i32; 2], [u32; 2])) -> Failure {
    let Error::Parameter {
        name: "region",
        what,
    } = &error
    else {
        return error.into();
    };
    if !what.contains("holds no pixel") {
        return error.into();
    }
    let option = match (&choosing.pixel, &choosing.rect) {
        (Some(_), _) => "--pixel",
        (_, Some(_)) => "--rect",
        _ => "--polygon",
    };
    let (first, size) = grid;
    let last = |axis: usize| i64::from(first[axis]) + i64::from(size[axis]) - 1;
    let what = format!(
        "{}: {option} holds no pixel of the grid, which spans x={} to {} and y={} to {}",
        choosing.source,
        first[0],
        last(0),
        first[1],
        last(1)
    );
    Failure::input("parameter", what)
}

/// How much was found.
#[derive(Debug, Clone, Copy, Default)]
struct Size {
    values: usize,
    pixels: u64,
    bad: u64,
}

/// Runs the job and writes what it hands out.
fn collect(
    prepared: &mut Prepared,
    choosing: &Choosing,
    file: &mut Fresh,
    cancel: &AtomicBool,
    report: &mut Report,
) -> Result<Size> {
    let Prepared {
        source, job, tally, ..
    } = prepared;
    let planned = tally.bytes_payload + job.plan().bytes;
    let mut found = Size::default();
    let mut refused = None;
    let on = |event: Event<'_, SpectrumJob>| match event {
        Event::Progress(tally, _) => {
            report.progress(tally, planned);
            Ok(())
        }
        Event::Item(spectrum) => {
            found = Size {
                values: spectrum.mz.len(),
                pixels: spectrum.pixels,
                bad: spectrum.bad,
            };
            if let Some(first) = spectrum.first_bad {
                report.warn(&format!(
                    "{}: {} spectra of the region could not be read and were left out; the first is \
                     spectrum {first}",
                    source.name(),
                    spectrum.bad
                ));
            }
            write(&spectrum, choosing.pixel.is_some(), file).map_err(|failure| {
                refused = Some(failure);
                drive::Error::Interrupted
            })
        }
    };
    let sources = std::slice::from_ref(&*source);
    let ran = drive_job(job, sources, &choosing.reading.run(cancel), tally, on);
    if let Some(failure) = refused {
        return Err(failure);
    }
    ran?;
    Ok(found)
}

/// Writes the table: of one pixel its peaks, of a region its mean and its largest peaks.
fn write(spectrum: &Found<'_>, is_pixel: bool, file: &mut Fresh) -> Result<()> {
    let head = if is_pixel {
        "mz,intensity\n"
    } else {
        "mz,mean,max\n"
    };
    file.put(head.as_bytes())?;
    let mut line = String::new();
    let mut max = spectrum.max.iter();
    for (mz, intensity) in spectrum.mz.iter().zip(spectrum.intensity) {
        line.clear();
        let _ = write!(line, "{mz},{intensity}");
        if let Some(max) = max.next() {
            let _ = write!(line, ",{max}");
        }
        line.push('\n');
        file.put(line.as_bytes())?;
    }
    Ok(())
}
