//! `sectile plan`: what a job would read and hold, from headers alone.

use std::path::Path;

use sectile::stack::plan::{Layout, Plan, Wish};
use serde_json::{Value, json};

use crate::cli::arguments::PlanMedian;
use crate::cli::failure::Result;
use crate::cli::interrupt;
use crate::cli::output::format::Format;
use crate::cli::report::{Report, size};
use crate::cli::stack::{self, Opened};

/// Runs `sectile plan median`.
pub fn run(arguments: &PlanMedian, report: &mut Report) -> Result<()> {
    arguments
        .output
        .as_deref()
        .map(Path::new)
        .map(Format::of)
        .transpose()?;
    let wish = stack::wish(&arguments.stack)?;
    let cancel = interrupt::listen()?;
    let opened = stack::open(&arguments.stack, cancel, report)?;
    let plan = Plan::new(&opened.stack, &wish)?;
    for warning in &plan.warnings {
        report.warn(warning);
    }
    report.event("plan", fields(&opened, &plan));
    for line in table(&opened, &plan, &wish) {
        report.line(&line);
    }
    report.done(&opened.tally);
    Ok(())
}

/// The plan's own fields, and the shapes of input and result.
pub fn fields(opened: &Opened, plan: &Plan) -> Value {
    let mut fields = serde_json::to_value(plan).unwrap_or_default();
    if let Value::Object(fields) = &mut fields {
        // They have been said as events of their own.
        fields.remove("warnings");
        fields.insert(
            "image".into(),
            json!([opened.stack.width, opened.stack.height]),
        );
        fields.insert("result".into(), json!([plan.width(), plan.height()]));
        fields.insert(
            "bitpix".into(),
            json!(if opened.stack.wide { -64 } else { -32 }),
        );
        fields.insert("unit".into(), json!(opened.stack.unit));
        fields.insert("left_out".into(), json!(opened.stack.left_out));
    }
    fields
}

/// The plan for people, one figure a line.
pub fn table(opened: &Opened, plan: &Plan, wish: &Wish) -> Vec<String> {
    let mut rows = shapes(opened, plan);
    rows.extend(costs(plan, wish));
    rows.iter()
        .map(|(name, what)| format!("{name:10} {what}"))
        .collect()
}

fn shapes(opened: &Opened, plan: &Plan) -> Vec<(&'static str, String)> {
    let (exposures, width, height) = (plan.exposures, opened.stack.width, opened.stack.height);
    let bits = if opened.stack.wide { 64 } else { 32 };
    let (columns, rows) = (plan.width(), plan.height());
    let mut lines = vec![(
        "exposures",
        format!("{exposures} of {width}×{height} pixels, {}", opened.first),
    )];
    lines.extend(opened.stack.left_out.clone().map(|what| ("mask", what)));
    lines.push(("result", format!("{columns}×{rows} pixels of {bits} bits")));
    lines
}

fn costs(plan: &Plan, wish: &Wish) -> Vec<(&'static str, String)> {
    let (sections, rows, columns) = (plan.sections, plan.rows, plan.columns);
    let layout = match plan.layout {
        Layout::Span => "one a section and exposure",
        Layout::Rows => "one a row and exposure",
    };
    let of_masks = if plan.masks > 0 { ", and mask" } else { "" };
    let slots = format!("{} of {}", plan.slots, size(plan.slot_bytes));
    let peak = format!("{} of {}", size(plan.peak_bytes), size(plan.memory));
    let time = format!(
        "about {:.1} s at {} ms latency and {:.0} MB/s",
        plan.seconds,
        wish.latency * 1000.0,
        wish.bandwidth / 1e6
    );
    vec![
        (
            "sections",
            format!("{sections} of up to {rows} rows × {columns} columns"),
        ),
        ("requests", format!("{}, {layout}{of_masks}", plan.requests)),
        ("payload", size(plan.payload_bytes)),
        ("slots", slots),
        ("peak", peak),
        ("minimum", size(plan.minimum_bytes)),
        ("shards", plan.shards.to_string()),
        ("time", time),
    ]
}
