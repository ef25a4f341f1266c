//! `sectile ion`: images out of a store, and what they cost.

mod gallery;
mod names;
mod norms;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use sectile::budget::Budget;
use sectile::drive;
use sectile::drive::native::{Event, run as drive_job};
use sectile::ion::images::{Image, ImagesJob, Plan, Reader, Wish};
use sectile::ion::normalise::{Normalise, Norms};
use sectile::ion::window::Window;
use sectile::job::Tally;
use sectile::store::head::Head;
use serde_json::{Value, json};

use self::gallery::{Frame, Gallery};
use self::names::Kind;
use super::reading::with_taken;
use super::sought::{self, Sought};
use super::store::{self, Opened};
use crate::cli::arguments::{Drawing, Ion, Mass, PlanIon};
use crate::cli::failure::{Failure, Result};
use crate::cli::identity::{refuse_input_as_output, without_query};
use crate::cli::interrupt;
use crate::cli::output::check_target;
use crate::cli::report::{Report, size};

/// Runs `sectile ion`.
pub fn run(arguments: &Ion, report: &mut Report) -> Result<()> {
    let drawing = &arguments.drawing;
    check(drawing, &arguments.output)?;
    let memory = drawing.reading.memory()?;
    let cancel = interrupt::listen()?;
    let mut opened = store::open(&drawing.store, &drawing.reading, cancel)?;
    let Sought {
        masses,
        windows,
        ion,
    } = sought::settle(drawing, &opened.head, report)?;
    let (kind, targets) = outputs(drawing, &arguments.output, &masses)?;
    for target in &targets {
        refuse_input_as_output(target, [&opened.source])?;
    }
    let slice = slice_of(&opened, drawing, report)?;
    let frame = frame(drawing, masses, ion, &opened.head, slice);
    let taken = taken(kind, &frame, drawing, &opened.head);
    let wish = Wish {
        slice,
        memory: memory.saturating_sub(taken),
        in_flight: u32::from(drawing.reading.in_flight),
        ..Wish::default()
    };
    let reader = Reader::new(opened.head.clone(), 0);
    let whole = |error| with_taken(error, taken, memory);
    report.event(
        "plan",
        fields(&reader.plan(&windows, &wish).map_err(whole)?, memory, taken),
    );
    let mut budget = Budget::new(memory);
    budget.reserve(opened.head.held_bytes(), "the store's head")?;
    let norms = norms::read(
        &mut opened,
        drawing.normalise,
        &drawing.reading,
        cancel,
        &mut budget,
    )?;
    let job = reader.images(&windows, &wish).map_err(whole)?;
    let mut hall = Hall {
        gallery: Gallery::begin(kind, frame, targets)?,
        norms,
        scratch: Vec::new(),
    };
    let mut tally = draw(&opened, job, drawing, &mut hall, cancel, report)?;
    tally.peak_bytes = (tally.peak_bytes + taken).max(budget.peak());
    for path in hall.gallery.finish()? {
        let path = path.to_string_lossy();
        report.event("file", json!({ "path": path }));
        report.line(&path);
    }
    report.done(&tally);
    Ok(())
}

/// Runs `sectile plan ion`.
pub fn plan(arguments: &PlanIon, report: &Report) -> Result<()> {
    let drawing = &arguments.drawing;
    match &arguments.output {
        Some(output) => check(drawing, output)?,
        None => sought::check(drawing)?,
    }
    let memory = drawing.reading.memory()?;
    let cancel = interrupt::listen()?;
    let opened = store::open(&drawing.store, &drawing.reading, cancel)?;
    let Sought {
        masses,
        windows,
        ion,
    } = sought::settle(drawing, &opened.head, report)?;
    let kind = match &arguments.output {
        Some(output) => outputs(drawing, output, &masses)?.0,
        None => Kind::Png,
    };
    let slice = slice_of(&opened, drawing, report)?;
    let frame = frame(drawing, masses, ion, &opened.head, slice);
    let taken = taken(kind, &frame, drawing, &opened.head);
    let table = opened.head.layout.pixel_table();
    let table = if drawing.normalise == Normalise::None {
        0
    } else {
        table.end - table.start
    };
    let wish = Wish {
        slice,
        memory: memory.saturating_sub(taken),
        in_flight: u32::from(drawing.reading.in_flight),
        ..Wish::default()
    };
    let reader = Reader::new(opened.head.clone(), 0);
    let plan = reader.plan(&windows, &wish);
    let plan = plan.map_err(|error| with_taken(error, taken, memory))?;
    let mut fields = fields(&plan, memory, taken);
    fields["pixel_table_bytes"] = json!(table);
    report.event("plan", fields);
    let rows = [
        (
            "images",
            format!("{} of {}×{} pixels", plan.images, frame.width, frame.height),
        ),
        (
            "requests",
            format!(
                "{}, after {} for the head",
                plan.requests, opened.tally.requests
            ),
        ),
        (
            "payload",
            format!("{} in {} blocks", size(plan.bytes), plan.blocks),
        ),
        (
            "peak",
            format!("{} of {}", size(plan.peak_bytes + taken), size(memory)),
        ),
        ("minimum", size(plan.minimum_bytes + taken)),
    ];
    for (name, what) in rows {
        report.line(&format!("{name:10} {what}"));
    }
    if table > 0 {
        report.line(&format!("{:10} {} more, in one go", "norms", size(table)));
    }
    report.done(&opened.tally);
    Ok(())
}

fn slice_of(opened: &Opened, drawing: &Drawing, report: &Report) -> Result<u32> {
    let head = &opened.head;
    store::slice(&head.file, &head.meta.slices, drawing.slice, report)
}

/// Bytes that are held besides the job's own: for writing, and for normalising.
fn taken(kind: Kind, frame: &Frame, drawing: &Drawing, head: &Head) -> u64 {
    let area = u64::from(frame.width) * u64::from(frame.height);
    // The norms of all pixels, and an image that was divided by them.
    let norms = if drawing.normalise == Normalise::None {
        0
    } else {
        4 * u64::from(head.pixels()) + 4 * area
    };
    Gallery::bytes(kind, frame) + norms
}

/// Refuses, before anything is fetched, what would fail whatever the store.
fn check(drawing: &Drawing, output: &Path) -> Result<()> {
    sought::check(drawing)?;
    outputs(drawing, output, &drawing.mz).map(|_| ())
}

/// What kind of files are written, and which.
fn outputs(drawing: &Drawing, output: &Path, masses: &[Mass]) -> Result<(Kind, Vec<PathBuf>)> {
    let kind = Kind::of(output)?;
    if drawing.alpha && kind != Kind::Png {
        return Err(Failure::usage(
            "--alpha is a form of .png; leave it out, or write a .png",
        ));
    }
    let targets = names::targets(output, kind, masses)?;
    for target in &targets {
        check_target(target)?;
    }
    Ok((kind, targets))
}

fn fields(plan: &Plan, memory: u64, taken: u64) -> Value {
    let mut fields = serde_json::to_value(plan).unwrap_or_default();
    fields["memory"] = json!(memory);
    fields["peak_bytes"] = json!(plan.peak_bytes + taken);
    fields["minimum_bytes"] = json!(plan.minimum_bytes + taken);
    fields
}

/// What the files of these images say about themselves.
fn frame(
    drawing: &Drawing,
    masses: Vec<Mass>,
    ion: Option<String>,
    head: &Head,
    slice: u32,
) -> Frame {
    let contents = &head.layout.contents;
    let mut text = vec![
        (
            "Software".to_owned(),
            concat!("sectile ", env!("CARGO_PKG_VERSION")).to_owned(),
        ),
        (
            "Source".to_owned(),
            without_query(&head.meta.source).to_owned(),
        ),
        (
            "tolerance".to_owned(),
            match drawing.da {
                Some(da) => format!("{da} Da"),
                None => format!("{} ppm", drawing.ppm),
            },
        ),
        ("normalise".to_owned(), drawing.normalise.to_string()),
    ];
    text.extend(ion.map(|ion| ("ion".to_owned(), ion)));
    if let [_, _, ..] = head.meta.slices[..]
        && let Some(z) = head.meta.slices.get(slice as usize)
    {
        text.push(("z".to_owned(), z.to_string()));
    }
    if let [Some(x), Some(y)] = head.meta.pixel_size {
        text.push(("pixel size".to_owned(), format!("{x} x {y} um")));
    }
    Frame {
        width: contents.width,
        height: contents.height,
        origin: head.meta.origin,
        alpha: drawing.alpha,
        text,
        masses,
    }
}

/// Where images go, by way of their norms.
struct Hall {
    gallery: Gallery,
    norms: Option<Norms>,
    scratch: Vec<f32>,
}

impl Hall {
    /// Normalises an image and hangs it.
    fn hang(&mut self, image: &Image<'_>, report: &Report) -> Result<()> {
        let (mut values, mut max) = (image.values, image.max);
        if let Some(norms) = &self.norms {
            self.scratch.clear();
            self.scratch.extend_from_slice(image.values);
            max = norms.apply(image.first, &mut self.scratch)?;
            values = &self.scratch;
        }
        let path = self.gallery.take(image.index, values)?;
        let Window { lo, hi } = image.window;
        let mass = self.gallery.mass(image.index);
        let beyond = values.iter().filter(|value| value.is_infinite()).count();
        if beyond > 0 {
            report.warn(&format!(
                "m/z {}: the sums of {beyond} pixels are beyond what f32 holds (3.4e38) and became infinite",
                mass.text
            ));
        }
        report.event(
            "image",
            json!({
                "mz": mass.value,
                "window": [lo, hi],
                "width": image.width,
                "height": image.height,
                "hits": image.hits,
                "max": max,
                "requests": image.requests,
                "bytes": image.bytes,
                "path": path.to_string_lossy(),
            }),
        );
        report.detail(
            1,
            &format!(
                "m/z {} ({lo} to {hi}): {} peaks, largest value {max}, {} in {} requests",
                mass.text,
                image.hits,
                size(image.bytes),
                image.requests
            ),
        );
        Ok(())
    }
}

/// Runs the job; the answer is what it and the head have cost.
fn draw(
    opened: &Opened,
    mut job: ImagesJob,
    drawing: &Drawing,
    hall: &mut Hall,
    cancel: &AtomicBool,
    report: &mut Report,
) -> Result<Tally> {
    let mut tally = opened.tally;
    let planned = tally.bytes_payload + job.plan().bytes;
    let mut refused = None;
    let on = |event: Event<'_, ImagesJob>| match event {
        Event::Progress(tally, _) => {
            report.progress(tally, planned);
            Ok(())
        }
        Event::Item(image) => hall.hang(&image, report).map_err(|failure| {
            refused = Some(failure);
            drive::Error::Interrupted
        }),
    };
    let sources = std::slice::from_ref(&opened.source);
    let ran = drive_job(
        &mut job,
        sources,
        &drawing.reading.run(cancel),
        &mut tally,
        on,
    );
    if let Some(failure) = refused {
        return Err(failure);
    }
    ran?;
    Ok(tally)
}
