//! `sectile plan`: what a job would read and hold, from headers alone.

use std::path::Path;

use sectile::budget;
use sectile::stack::plan::{Layout, Plan, Wish};
use sectile::stack::shards;
use serde_json::{Value, json};

use crate::cli::arguments::{Dividing, PlanMedian, Shards};
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
    let mut wish = stack::wish(&arguments.stack)?;
    let cancel = interrupt::listen()?;
    let opened = stack::open(&arguments.stack, cancel, report)?;
    opened.settle(&mut wish, &arguments.stack);
    let whole = Plan::new(&opened.stack, &wish)?;
    let plan = match arguments.extras.shard {
        Some(shard) => {
            let division = shards::Shards::new(whole.height(), shard.of)?;
            division.plan(&opened.stack, &wish, shard.index())?
        }
        None => whole,
    };
    for warning in &plan.warnings {
        report.warn(warning);
    }
    report.event("plan", fields(&opened, &plan));
    for line in table(&opened, &plan, &wish) {
        report.line(&line);
    }
    if let Some(wanted) = arguments.dividing.shards {
        let division = match wanted {
            Shards::Count(count) => shards::Shards::new(plan.height(), count)?,
            Shards::Auto => {
                let limits = limits(&arguments.dividing)?;
                shards::Shards::within(&opened.stack, &wish, &limits)?
            }
        };
        tell_division(division, &opened, &wish, report)?;
    }
    report.done(&opened.tally);
    Ok(())
}

/// What a shard may cost.
fn limits(dividing: &Dividing) -> Result<shards::Limits> {
    Ok(shards::Limits {
        requests: dividing.shard_requests,
        cpu_ms: dividing.shard_cpu,
        part_bytes: budget::parse_size(&dividing.shard_result)?,
    })
}

/// Tells the rows and the cost of each shard.
fn tell_division(
    division: shards::Shards,
    opened: &Opened,
    wish: &Wish,
    report: &Report,
) -> Result<()> {
    let of = division.count();
    for (number, rows) in (1..=of).zip((0..of).filter_map(|shard| division.rows(shard))) {
        let cost = division.cost(&opened.stack, wish, number - 1)?;
        report.event(
            "shard",
            json!({
                "shard": format!("{number}/{of}"),
                "rows": [rows.start, rows.end],
                "requests": cost.requests,
                "payload_bytes": cost.payload_bytes,
                "part_bytes": cost.part_bytes,
                "peak_bytes": cost.peak_bytes,
                "cpu_ms": cost.cpu_ms,
            }),
        );
        report.line(&format!(
            "{:10} rows {} to {}: {} requests, {} of pixels, {} of result, at most about {} ms of processor time",
            format!("{number}/{of}"),
            rows.start,
            rows.end - 1,
            cost.requests,
            size(cost.payload_bytes),
            size(cost.part_bytes),
            cost.cpu_ms
        ));
    }
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
