//! What `sectile info` says about imzML datasets and stores.

use std::sync::atomic::AtomicBool;

use sectile::budget;
use sectile::drive::native::{Options, Run, Source, follow};
use sectile::imzml::Dataset;
use sectile::imzml::checksum::digits;
use sectile::imzml::dataset::{Array, Checksum, Compression, Mode, Spectrum};
use sectile::imzml::extent::hyphenated;
use sectile::job::Tally;
use sectile::store::head::Head;
use sectile::store::read::Open;
use serde_json::{Map, Value, json};

use super::dataset::Wanted;
use crate::cli::failure::{Failure, Result};
use crate::cli::report::{Report, size};

/// Tells a dataset. What is wrong with its `.ibd` is said after what its index says.
pub fn dataset(
    name: &str,
    options: &Options,
    cancel: &AtomicBool,
    tally: &mut Tally,
    report: &mut Report,
) -> Result<()> {
    let wanted = Wanted {
        imzml: name,
        ibd: None,
        options: options.clone(),
        memory: budget::DEFAULT,
        skip_bad: false,
        cancel,
    };
    let imzml = Source::open(name, options)?;
    let mut dataset = wanted.index(&imzml, tally, report)?;
    let pair = wanted.pair(tally);
    let settled = match &pair {
        Ok(pair) => pair.settle(&mut dataset),
        Err(_) => Ok(()),
    };
    let ibd = pair
        .as_ref()
        .ok()
        .map(|pair| (pair.ibd.name(), pair.ibd_bytes()));
    let bytes = imzml.identity().total;
    let mut fields = dataset_fields(&dataset);
    fields.insert("name".into(), json!(imzml.name()));
    fields.insert("bytes".into(), json!(bytes));
    let ibd_fields = ibd.map(|(name, bytes)| json!({ "name": name, "bytes": bytes }));
    fields.insert("ibd".into(), json!(ibd_fields));
    report.event("source", Value::Object(fields));
    let with = match ibd {
        Some((name, bytes)) => format!("with {name}, {}", known(bytes)),
        None => "without its .ibd".to_owned(),
    };
    report.line(&format!(
        "{}: imzML, {}, {with}",
        imzml.name(),
        known(bytes)
    ));
    for (name, what) in dataset_rows(&dataset) {
        report.line(&format!("  {name:13} {what}"));
    }
    for warning in &dataset.warnings {
        report.line(&format!("  note: {warning}"));
    }
    pair?;
    settled
}

fn known(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| "of unknown size".to_owned(), size)
}

fn dataset_fields(dataset: &Dataset) -> Map<String, Value> {
    let grid = &dataset.grid;
    let mode = dataset.mode.map(mode);
    let checksum = dataset
        .checksum
        .map(|sum| json!({ "kind": kind(sum), "digits": digits(sum) }));
    let fields = json!({
        "kind": "imzml",
        "width": grid.width,
        "height": grid.height,
        "origin": [grid.x0, grid.y0],
        "slices": grid.slices,
        "spectra": dataset.spectra.len(),
        "points": points(dataset),
        "pixel_size": dataset.pixel_size,
        "polarity": dataset.polarity.name(),
        "representation": dataset.representation.name(),
        "mode": mode,
        "mz": arrays(dataset.spectra.iter().map(Spectrum::mz)),
        "intensity": arrays(dataset.spectra.iter().map(Spectrum::intensity)),
        "uuid": dataset.uuid.as_ref().map(hyphenated),
        "checksum": checksum,
        "instrument": dataset.instrument,
        "duplicates": dataset.duplicates,
        "notes": dataset.warnings,
    });
    match fields {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

fn dataset_rows(dataset: &Dataset) -> Vec<(&'static str, String)> {
    let grid = &dataset.grid;
    let mut rows = vec![
        (
            "grid",
            shape(grid.width, grid.height, [grid.x0, grid.y0], &grid.slices),
        ),
        (
            "spectra",
            format!("{} for {} pixels", dataset.spectra.len(), grid.pixels()),
        ),
        ("points", points(dataset).to_string()),
        (
            "m/z",
            arrays(dataset.spectra.iter().map(Spectrum::mz)).join(", "),
        ),
        (
            "intensity",
            arrays(dataset.spectra.iter().map(Spectrum::intensity)).join(", "),
        ),
        ("mode", dataset.mode.map_or("unknown", mode).to_owned()),
        ("pixel size", pixel_size(dataset.pixel_size)),
        ("polarity", dataset.polarity.name().to_owned()),
        ("peaks are", dataset.representation.name().to_owned()),
    ];
    rows.extend(dataset.instrument.clone().map(|name| ("instrument", name)));
    rows.extend(dataset.uuid.as_ref().map(|uuid| ("UUID", hyphenated(uuid))));
    let checksum = dataset
        .checksum
        .map(|sum| format!("{} {}", kind(sum), digits(sum)));
    rows.extend(checksum.map(|sum| ("ibd checksum", sum)));
    rows
}

fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Continuous => "continuous",
        Mode::Processed => "processed",
    }
}

fn kind(checksum: Checksum) -> &'static str {
    match checksum {
        Checksum::Md5(_) => "MD5",
        Checksum::Sha1(_) => "SHA-1",
    }
}

fn points(dataset: &Dataset) -> u64 {
    let points = dataset.spectra.iter().map(|s| u64::from(s.mz().len));
    points.sum()
}

/// The kinds of arrays that occur.
fn arrays(arrays: impl Iterator<Item = Array>) -> Vec<String> {
    let mut kinds: Vec<String> = Vec::new();
    let mut last = None;
    for array in arrays.filter(|array| array.len > 0) {
        // Almost always the same: a name is made where it changes.
        let this = (array.number, array.compression);
        if last == Some(this) {
            continue;
        }
        last = Some(this);
        let packed = match array.compression {
            Compression::None => "",
            Compression::Zlib => ", zlib",
        };
        let kind = format!("{}{packed}", array.number.name());
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    kinds
}

fn pixel_size(size: [Option<f64>; 2]) -> String {
    match size {
        [Some(x), Some(y)] => format!("{x} × {y} µm"),
        [Some(x), None] => format!("{x} µm wide, of unknown height"),
        [None, Some(y)] => format!("{y} µm high, of unknown width"),
        [None, None] => "unknown".to_owned(),
    }
}

fn shape(width: u32, height: u32, origin: [i32; 2], slices: &[i32]) -> String {
    let [x, y] = origin;
    let pixels = format!("{width}×{height} pixels from x={x} y={y} on");
    if slices.len() == 1 {
        return pixels;
    }
    let names: Vec<String> = slices.iter().map(i32::to_string).collect();
    format!(
        "{pixels}, {} slices at z = {}",
        slices.len(),
        names.join(", ")
    )
}

/// Tells a store.
pub fn store(
    name: &str,
    options: &Options,
    cancel: &AtomicBool,
    tally: &mut Tally,
    report: &Report,
) -> Result<()> {
    let source = Source::open(name, options)?;
    let mut machine = Open::new(source.name(), budget::DEFAULT);
    let run = Run {
        in_flight: 1,
        cancel,
    };
    follow(&source, &mut machine, &run, tally, |_| {})?;
    let head = machine.into_head()?;
    let mut fields = store_fields(&head);
    fields["name"] = json!(source.name());
    report.event("source", fields);
    report.line(&format!(
        "{}: segment store, {}",
        source.name(),
        size(head.file_bytes)
    ));
    for (name, what) in store_rows(&head) {
        report.line(&format!("  {name:13} {what}"));
    }
    for (name, count) in head.meta.counts.named() {
        if count > 0 {
            report.line(&format!("  {:21} {count}", name.replace('_', " ")));
        }
    }
    for warning in &head.meta.warnings {
        report.line(&format!("  note: {warning}"));
    }
    Ok(())
}

fn store_fields(head: &Head) -> Value {
    let (contents, bins, meta) = (&head.layout.contents, &head.layout.bins, &head.meta);
    let counts: Map<String, Value> = meta
        .counts
        .named()
        .iter()
        .map(|(name, count)| ((*name).to_owned(), json!(count)))
        .collect();
    json!({
        "kind": "store",
        "bytes": head.file_bytes,
        "width": contents.width,
        "height": contents.height,
        "origin": meta.origin,
        "slices": meta.slices,
        "spectra": contents.spectra,
        "acquired": head.mask.count(),
        "peaks": contents.peaks,
        "mz": [contents.first_mz, contents.last_mz],
        "mz_bits": 8 * contents.mz.bytes(),
        "intensity_bits": 8 * contents.intensity.bytes(),
        "blocks": head.blocks.len(),
        "head_bytes": head.layout.head_bytes,
        "bins": bins.count,
        "bin_ppm": bins.ppm,
        "pixel_size": meta.pixel_size,
        "polarity": meta.polarity,
        "representation": meta.representation,
        "instrument": meta.instrument,
        "uuid": meta.uuid,
        "source": meta.source,
        "writer": meta.writer,
        "counts": counts,
        "notes": meta.warnings,
    })
}

fn store_rows(head: &Head) -> Vec<(&'static str, String)> {
    let (contents, bins, meta) = (&head.layout.contents, &head.layout.bins, &head.meta);
    let mut rows = vec![
        (
            "grid",
            shape(contents.width, contents.height, meta.origin, &meta.slices),
        ),
        (
            "spectra",
            format!(
                "{} in {} of {} pixels",
                contents.spectra,
                head.mask.count(),
                head.pixels()
            ),
        ),
        (
            "peaks",
            format!("{} in {} blocks", contents.peaks, head.blocks.len()),
        ),
        (
            "m/z",
            format!(
                "{} to {}, {} bits",
                contents.first_mz,
                contents.last_mz,
                8 * contents.mz.bytes()
            ),
        ),
        (
            "intensity",
            format!("{} bits", 8 * contents.intensity.bytes()),
        ),
        (
            "mean spectrum",
            format!("{} bins of {} ppm", bins.count, bins.ppm),
        ),
        ("pixel size", pixel_size(meta.pixel_size)),
        ("polarity", meta.polarity.clone()),
        ("peaks are", meta.representation.clone()),
    ];
    rows.extend(meta.instrument.clone().map(|name| ("instrument", name)));
    rows.extend(meta.uuid.clone().map(|uuid| ("UUID", uuid)));
    rows.push(("made from", meta.source.clone()));
    rows.push(("made by", meta.writer.clone()));
    rows
}

/// The failure for the half of a dataset that says nothing by itself.
pub fn lone_ibd(name: &str) -> Failure {
    Failure::input(
        "parameter",
        format!("{name}: is the .ibd of a dataset; name the .imzML that belongs to it"),
    )
}
