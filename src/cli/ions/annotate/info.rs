//! What `sectile info` says about a folder of results.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

use super::names::{Names, SUMMARY};
use crate::cli::failure::{Failure, Result};
use crate::cli::report::Report;

/// The head of `annotations.json`; its rows are passed over.
#[derive(Debug, Deserialize)]
struct Summary {
    version: u64,
    program: String,
    store: Value,
    list: Value,
    options: Value,
    counts: Value,
    levels: Vec<Level>,
    warnings: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Level {
    fdr: f64,
    rows: u64,
}

/// Tells a folder of results.
pub fn info(folder: &Path, report: &Report) -> Result<()> {
    let path = Names::new(folder).summary;
    let file = File::open(&path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Failure::input(
            "missing",
            format!(
                "{}: is a folder without {SUMMARY}; name one that `annotate` wrote, or a file",
                folder.display()
            ),
        ),
        _ => Failure::file(&path, "cannot read", &error),
    })?;
    let summary: Summary = serde_json::from_reader(BufReader::new(file)).map_err(|error| {
        let what = format!(
            "{}: is no summary of an annotation: {error}",
            path.display()
        );
        Failure::input("format", what)
    })?;
    if summary.version != 1 {
        return Err(Failure::input(
            "unsupported",
            format!(
                "{}: is of version {}, and version 1 is read here; use a newer sectile",
                path.display(),
                summary.version
            ),
        ));
    }
    tell(folder, &summary, report);
    Ok(())
}

fn tell(folder: &Path, summary: &Summary, report: &Report) {
    let levels: Vec<Value> = (summary.levels.iter())
        .map(|level| json!({ "fdr": level.fdr, "rows": level.rows }))
        .collect();
    report.event(
        "source",
        json!({
            "kind": "annotations",
            "name": folder.to_string_lossy(),
            "program": summary.program,
            "store": summary.store,
            "list": summary.list,
            "options": summary.options,
            "counts": summary.counts,
            "levels": levels,
            "notes": summary.warnings,
        }),
    );
    report.line(&format!(
        "{}: annotations by {}",
        folder.display(),
        summary.program
    ));
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Array(all) => {
            let all: Vec<&str> = all.iter().filter_map(Value::as_str).collect();
            all.join(", ")
        }
        other => other.to_string(),
    };
    let options = &summary.options;
    let counts: Vec<String> = (summary.levels.iter())
        .map(|level| format!("{} at {} %", level.rows, level.fdr * 100.0))
        .collect();
    for (name, what) in [
        (
            "found",
            format!("{} ions; {}", summary.counts["rows"], counts.join(", ")),
        ),
        ("store", text(&summary.store["file"])),
        (
            "list",
            format!(
                "{}, {} formulas",
                text(&summary.list["file"]),
                summary.counts["formulas"]
            ),
        ),
        ("adducts", text(&options["adducts"])),
        (
            "rules",
            format!(
                "{}, {} decoys a target, {} ppm, {}",
                text(&options["scoring"]),
                options["decoys"],
                options["ppm"],
                text(&options["analyzer"])
            ),
        ),
    ] {
        report.line(&format!("  {name:13} {what}"));
    }
    for warning in &summary.warnings {
        report.line(&format!("  note: {warning}"));
    }
}
