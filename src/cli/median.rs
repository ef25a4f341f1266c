//! `sectile median`: plan, run, write, and go on where an earlier run was stopped.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use sectile::drive;
use sectile::drive::native::{Event, Run, run as drive_job};
use sectile::job::Tally;
use sectile::results::stack::{Layout, Made};
use sectile::stack::job::{MedianJob, Reduced as Section};
use sectile::stack::plan::{Plan, Rect, Wish};
use serde_json::{Value, json};

use crate::cli::arguments::Median;
use crate::cli::failure::{Failure, Result};
use crate::cli::identity::{identity, refuse_input_as_output};
use crate::cli::interrupt;
use crate::cli::output::format::Format;
use crate::cli::output::part::Band;
use crate::cli::output::{Output, Wanted};
use crate::cli::report::Report;
use crate::cli::stack::{self, Opened};
use crate::cli::{plan, shards};

/// Runs `sectile median`.
pub fn run(arguments: &Median, report: &mut Report) -> Result<()> {
    let mut wanted = Wanted {
        format: Format::of(&arguments.output)?,
        target: arguments.output.clone(),
        tiles: arguments.extras.tiles.clone(),
        unit: None,
        pyramid: arguments.extras.pyramid.clone(),
        shard: None,
    };
    if let Some(shard) = arguments.extras.shard
        && wanted.format != Format::Fits
    {
        return Err(Failure::usage(format!(
            "--shard {shard}: shards are assembled to a FITS file; let -o end in .fits or .fit"
        )));
    }
    wanted.check()?;
    let mut wish = stack::wish(&arguments.stack)?;
    let cancel = interrupt::listen()?;
    let opened = stack::open(&arguments.stack, cancel, report)?;
    opened.settle(&mut wish, &arguments.stack);
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
    let made = Made {
        stack: &opened.stack,
        wish: &wish,
        plan: &whole,
        names: &opened.names(),
        hdu: opened.first.hdu,
        planes: opened.first.planes,
        plane: arguments.stack.plane,
    };
    let layout = layout(&made, report)?;
    if let Some(shard) = arguments.extras.shard {
        return shards::run(arguments, shard, &made, &opened, cancel, report);
    }
    let second_pass = wanted.second_pass(&layout, wish.memory)?;
    let fingerprint = fingerprint(arguments, &opened, &whole);
    let restart = arguments.extras.restart;
    let mut output = Output::begin(&wanted, &layout, &fingerprint, restart, wish.memory, report)?;
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
pub fn compute(
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
            rect: Some(whole.rect_of(&rows)),
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

/// The layout of the result, with a warning where it lacks something.
fn layout(made: &Made<'_>, report: &Report) -> Result<Layout> {
    if made.loses_sky() {
        report.warn("the preview carries no sky coordinates: these cannot be thinned out");
    }
    Ok(made.layout()?)
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
