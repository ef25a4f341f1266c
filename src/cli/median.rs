//! `sectile median`: plan, run, write, and go on where an earlier run was stopped.

use std::ops::Range;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use sectile::drive;
use sectile::drive::native::{Event, Run, Source, run as drive_job};
use sectile::fits::pixel::Bitpix;
use sectile::fits::write::ImageHeader;
use sectile::job::Tally;
use sectile::stack::job::{Median as Section, MedianJob};
use sectile::stack::plan::{Plan, Rect, Wish};
use serde_json::{Value, json};

use crate::cli::arguments::Median;
use crate::cli::failure::{Failure, Result};
use crate::cli::identity::{identity, refuse_input_as_output, without_query};
use crate::cli::interrupt;
use crate::cli::output::format::Format;
use crate::cli::output::layout::Layout;
use crate::cli::output::part::Band;
use crate::cli::output::{Output, Wanted};
use crate::cli::report::Report;
use crate::cli::stack::{self, Opened};
use crate::cli::{plan, preview};

/// Runs `sectile median`.
pub fn run(arguments: &Median, report: &mut Report) -> Result<()> {
    let mut wanted = Wanted {
        format: Format::of(&arguments.output)?,
        target: arguments.output.clone(),
        tiles: arguments.extras.tiles.clone(),
        unit: None,
    };
    wanted.check()?;
    let wish = stack::wish(&arguments.stack)?;
    let cancel = interrupt::listen()?;
    let opened = stack::open(&arguments.stack, cancel, report)?;
    refuse_input_as_output(&arguments.output, &opened.sources)?;
    let whole = Plan::new(&opened.stack, &wish)?;
    for warning in &whole.warnings {
        report.warn(warning);
    }
    report.event("plan", plan::fields(&opened, &whole));
    for line in plan::table(&opened, &whole, &wish) {
        report.detail(1, &line);
    }
    wanted.unit.clone_from(&opened.stack.unit);
    let layout = layout(arguments, &opened, &whole, report)?;
    let second_pass = wanted.second_pass(&layout, wish.memory)?;
    let fingerprint = fingerprint(arguments, &opened, &whole);
    let restart = arguments.extras.restart;
    let mut output = Output::begin(&wanted, &layout, &fingerprint, restart, report)?;
    let mut tally = opened.tally;
    let computed = compute(
        &opened,
        &wish,
        &whole,
        &mut output,
        &mut tally,
        cancel,
        report,
    );
    if let Err(failure) = computed.and_then(|()| interrupt::check()) {
        // What is finished is kept even so; that it cannot be is a second failure of no interest.
        let _ = output.save();
        return Err(failure.advised());
    }
    output.finish().map_err(Failure::advised)?;
    tally.peak_bytes = tally.peak_bytes.max(second_pass);
    let path = arguments.output.to_string_lossy();
    report.event("file", json!({ "path": path }));
    report.line(&path);
    report.done(&tally);
    Ok(())
}

/// Computes the rows that are missing, each run of them by a plan of its own.
fn compute(
    opened: &Opened,
    wish: &Wish,
    whole: &Plan,
    output: &mut Output,
    tally: &mut Tally,
    cancel: &AtomicBool,
    report: &mut Report,
) -> Result<()> {
    let mut plans = Vec::new();
    for rows in output.missing() {
        let part = Wish {
            rect: Some(part_of(whole, &rows)),
            ..wish.clone()
        };
        plans.push(Plan::new(&opened.stack, &part)?);
    }
    let run = Run {
        in_flight: usize::try_from(wish.in_flight).unwrap_or(1),
        cancel,
    };
    let before = tally.bytes_payload;
    let planned: u64 = before + plans.iter().map(|plan| plan.payload_bytes).sum::<u64>();
    for plan in plans {
        // One job after the other: each holds the whole budget.
        let mut job = MedianJob::new(&opened.stack, plan)?;
        let mut refused = None;
        let on = |event: Event<'_, MedianJob>| match event {
            Event::Progress(tally, _) => {
                report.progress(tally, planned);
                Ok(())
            }
            Event::Item(section) => keep(&section, whole.rect, output, report).map_err(|failure| {
                refused = Some(failure);
                drive::Error::Interrupted
            }),
        };
        let ran = drive_job(&mut job, &opened.sources, &run, tally, on);
        match refused {
            Some(failure) => return Err(failure),
            None => ran?,
        }
    }
    Ok(())
}

/// Writes a section to its place in the result.
fn keep(section: &Section<'_>, rect: Rect, output: &mut Output, report: &Report) -> Result<()> {
    let band = Band {
        x: (section.x0 - rect.x0) / section.step,
        y: (section.y0 - rect.y0) / section.step,
        width: section.width,
        rows: section.rows,
        values: section.values,
        count: section.count,
    };
    output.write(&band)?;
    let rows = band.y..band.y + band.rows;
    report.detail(2, &format!("rows {rows:?}, columns from {} on", band.x));
    report.event(
        "section",
        json!({ "x": band.x, "y": band.y, "width": band.width, "rows": band.rows }),
    );
    Ok(())
}

/// The part of the image that rows of the result come from.
fn part_of(whole: &Plan, rows: &Range<u32>) -> Rect {
    let row = |at: u32| {
        let row = u64::from(whole.rect.y0) + u64::from(at) * u64::from(whole.step);
        u32::try_from(row).unwrap_or(u32::MAX).min(whole.rect.y1)
    };
    Rect {
        y0: row(rows.start),
        y1: row(rows.end),
        ..whole.rect
    }
}

/// The headers of the result. Nothing in them depends on when or how often it was run.
fn layout(arguments: &Median, opened: &Opened, plan: &Plan, report: &Report) -> Result<Layout> {
    let stack = &opened.stack;
    let bitpix = if stack.wide { Bitpix::F64 } else { Bitpix::F32 };
    let mut carried = stack.cards.clone();
    let mut origin = [plan.rect.x0, plan.rect.y0];
    if plan.step > 1 {
        let (thinned, lost) = preview::thinned(&carried, origin, plan.step);
        if lost {
            report.warn("the preview carries no sky coordinates: these cannot be thinned out");
        }
        carried = thinned;
        origin = [0, 0];
    }
    let counted = carried
        .iter()
        .filter(|card| !card.starts_with("BUNIT"))
        .cloned();
    let count = ImageHeader {
        origin,
        carried: counted.collect(),
        ..ImageHeader::count(plan.width(), plan.height())
    };
    let primary = ImageHeader {
        origin,
        carried,
        unit: stack.unit.clone(),
        combined: u32::try_from(plan.exposures).ok(),
        history: history(arguments, opened, plan),
        ..ImageHeader::primary(bitpix, plan.width(), plan.height())
    };
    Layout::new(&primary, &count)
}

fn history(arguments: &Median, opened: &Opened, plan: &Plan) -> Vec<String> {
    let mut lines = vec![format!(
        "sectile {}: per-pixel median without NaN of {} exposures, HDU {}",
        env!("CARGO_PKG_VERSION"),
        plan.exposures,
        opened.first.hdu
    )];
    if opened.first.planes > 1 {
        lines.push(format!(
            "plane {} of {}",
            arguments.stack.plane, opened.first.planes
        ));
    }
    lines.extend(opened.stack.left_out.clone());
    if arguments.stack.rect.is_some() {
        let Rect { x0, y0, x1, y1 } = plan.rect;
        lines.push(format!(
            "pixels {x0},{y0} to {x1},{y1} (zero-based, half-open)"
        ));
    }
    if plan.step > 1 {
        lines.push(format!(
            "every {}th pixel of every {}th row",
            plan.step, plan.step
        ));
    }
    // A signed link's query is a secret and does not belong into a file that is passed on.
    let names = opened.sources.iter().map(Source::name);
    lines.extend(names.map(|name| without_query(name).to_owned()));
    lines
}

/// Everything that the bytes of the result depend on.
fn fingerprint(arguments: &Median, opened: &Opened, plan: &Plan) -> Value {
    let inputs: Vec<Value> = opened.sources.iter().map(identity).collect();
    let Rect { x0, y0, x1, y1 } = plan.rect;
    json!({
        "journal": 1,
        "sectile": env!("CARGO_PKG_VERSION"),
        "job": "median",
        "format": wanted_format(&arguments.output),
        "inputs": inputs,
        "hdu": arguments.stack.hdu.as_ref().map(ToString::to_string),
        "plane": arguments.stack.plane,
        "mask": arguments.stack.mask.as_ref().map(|hdu| [hdu.to_string(), arguments.stack.mask_bits.to_string()]),
        "rect": [x0, y0, x1, y1],
        "step": plan.step,
    })
}

fn wanted_format(output: &Path) -> Option<&'static str> {
    Format::of(output).ok().map(Format::name)
}
