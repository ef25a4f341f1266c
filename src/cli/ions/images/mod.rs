//! `sectile images`: pictures out of the images file of an annotation.

mod choice;
mod runs;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use sectile::budget;
use sectile::drive::native::{Options, Run, Source, follow};
use sectile::ion::fdr::level::LEVELS;
use sectile::job::Tally;
use sectile::results::images::{Index, Open};
use serde_json::json;

use self::choice::Chosen;
use crate::cli::arguments::Images;
use crate::cli::failure::{Failure, Result};
use crate::cli::identity::refuse_input_as_output;
use crate::cli::interrupt;
use crate::cli::ions::annotate::names;
use crate::cli::ions::partner::has_suffix;
use crate::cli::output::check_target;
use crate::cli::output::fresh::Fresh;
use crate::cli::report::{Report, size};
use crate::cli::stack;

/// Runs `sectile images`.
pub fn run(arguments: &Images, report: &mut Report) -> Result<()> {
    let output = Output::of(&arguments.output)?;
    let wanted = choice::Wanted::of(arguments)?;
    let cancel = interrupt::listen()?;
    let options = stack::options(&arguments.headers)?;
    let mut tally = Tally::default();
    let opened = open(&file_of(&arguments.source), &options, cancel, &mut tally)?;
    let chosen = wanted.choose(&opened.index)?;
    let targets = output.targets(&opened.index, &chosen)?;
    for target in &targets {
        refuse_input_as_output(target, [&opened.source])?;
    }
    let total: u64 = chosen.iter().map(|image| image.bytes).sum();
    let runs = runs::runs(&chosen);
    report.event(
        "plan",
        json!({ "images": chosen.len(), "requests": runs.len(), "bytes": total }),
    );
    output.make_folder()?;
    for run in runs {
        interrupt::check()?;
        let bytes = runs::read(&opened.source, run.range.clone(), &mut tally)?;
        for at in run.images.clone() {
            let image = &chosen[at];
            write(
                &opened.index,
                image,
                run.part(&bytes, image),
                &targets[at],
                report,
            )?;
        }
        report.progress(&tally, total);
    }
    report.done_with(&tally, json!({ "images": chosen.len() }));
    Ok(())
}

/// An images file whose index has been read.
struct Opened {
    source: Source,
    index: Index,
}

fn open(name: &str, options: &Options, cancel: &AtomicBool, tally: &mut Tally) -> Result<Opened> {
    let source = Source::open(name, options)?;
    let mut machine = Open::new(source.name(), budget::DEFAULT);
    let run = Run {
        in_flight: 1,
        cancel,
    };
    follow(&source, &mut machine, &run, tally, |_| {})?;
    let index = machine.into_index()?;
    Ok(Opened { source, index })
}

/// The images file that is meant: a folder stands for the one in it.
fn file_of(source: &str) -> String {
    if Path::new(source).is_dir() {
        let file = Path::new(source).join(names::IMAGES);
        return file.to_string_lossy().into_owned();
    }
    source.to_owned()
}

/// Where pictures go.
enum Output {
    /// One picture.
    File(PathBuf),
    /// A picture each.
    Folder(PathBuf),
}

impl Output {
    /// A .png is a file, anything without a suffix of ours a folder.
    fn of(output: &Path) -> Result<Self> {
        if has_suffix(&output.to_string_lossy(), "png") {
            check_target(output)?;
            return Ok(Self::File(output.to_owned()));
        }
        if output.exists() && !output.is_dir() {
            return Err(Failure::usage(format!(
                "{}: is no folder; name a .png or a folder",
                output.display()
            )));
        }
        Ok(Self::Folder(output.to_owned()))
    }

    fn make_folder(&self) -> Result<()> {
        match self {
            Self::File(_) => Ok(()),
            Self::Folder(folder) => std::fs::create_dir_all(folder)
                .map_err(|error| Failure::file(folder, "cannot make the folder", &error)),
        }
    }

    /// The files that the images go to.
    fn targets(&self, index: &Index, chosen: &[Chosen]) -> Result<Vec<PathBuf>> {
        match self {
            Self::File(file) if chosen.len() == 1 => Ok(vec![file.clone()]),
            Self::File(file) => Err(Failure::usage(format!(
                "{}: {} images are meant; name a folder for them, or choose one by --formula, --adduct and \
                 --isotope",
                file.display(),
                chosen.len()
            ))),
            Self::Folder(folder) => {
                let names = chosen
                    .iter()
                    .map(|image| folder.join(image.file_name(index)));
                Ok(names.collect())
            }
        }
    }
}

fn write(
    index: &Index,
    image: &Chosen,
    bytes: &[u8],
    target: &Path,
    report: &Report,
) -> Result<()> {
    index.check(image.ion, image.peak, bytes)?;
    let mut fresh = Fresh::create(target)?;
    fresh.put(bytes)?;
    fresh.finish()?;
    let (formula, modifier) = index.name(image.ion);
    let entry = &index.entries[image.ion];
    let peak = &entry.peaks[image.peak];
    let path = target.to_string_lossy();
    report.event(
        "image",
        json!({
            "formula": formula,
            "adduct": modifier,
            "isotope": image.peak,
            "mz": peak.mz,
            "msm": entry.msm,
            "fdr": entry.fdr,
            "min": peak.min,
            "max": peak.max,
            "bytes": bytes.len(),
            "path": path,
        }),
    );
    report.line(&path);
    Ok(())
}

/// Tells an images file, for `sectile info`.
pub fn info(
    name: &str,
    options: &Options,
    cancel: &AtomicBool,
    tally: &mut Tally,
    report: &Report,
) -> Result<()> {
    let Opened { source, index } = open(name, options, cancel, tally)?;
    let peaks = index.entries.iter().flat_map(|entry| &entry.peaks);
    let images = peaks.filter(|peak| peak.bytes > 0).count();
    let passing = |level: f64| {
        index
            .entries
            .iter()
            .filter(|entry| entry.fdr <= level)
            .count()
    };
    let levels = LEVELS.map(|level| (level, passing(level)));
    let store = super::pack::names::hex(&index.store);
    report.event(
        "source",
        json!({
            "kind": "images",
            "name": source.name(),
            "bytes": index.file_bytes,
            "width": index.width,
            "height": index.height,
            "ions": index.entries.len(),
            "images": images,
            "levels": levels.map(|(level, count)| json!({ "fdr": level, "ions": count })),
            "store": store,
        }),
    );
    report.line(&format!(
        "{}: images of an annotation, {}",
        source.name(),
        size(index.file_bytes)
    ));
    let counts = levels.map(|(level, count)| format!("{count} at {} %", level * 100.0));
    for (name, what) in [
        (
            "images",
            format!(
                "{images} of {} ions, {}×{} pixels",
                index.entries.len(),
                index.width,
                index.height
            ),
        ),
        ("FDR", counts.join(", ")),
        ("store", store),
    ] {
        report.line(&format!("  {name:13} {what}"));
    }
    Ok(())
}
