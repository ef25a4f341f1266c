//! From the parts of all shards to the results: nothing gets its final name before all is written.

use std::fs::{self, File as Opened};
use std::io::{Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::rc::Rc;

use sectile::ion::annotate::Ions;
use sectile::ion::fdr::level::LEVELS;
use sectile::results::Annotations;
use sectile::results::assembly::{Assembly, File, Turn};
use sectile::results::part::whole::Depicted;
use sectile::results::shards::Description;
use serde_json::{Value, json};

use super::names::Names;
use crate::cli::failure::{Failure, Result};
use crate::cli::interrupt;
use crate::cli::output::fresh::Fresh;
use crate::cli::output::place;
use crate::cli::report::Report;

/// Writes all results in at most `memory` bytes besides the ions; the answer is what was found, in numbers.
pub fn write(
    description: &Description,
    ions: &Rc<Ions>,
    names: &Names,
    memory: u64,
    report: &Report,
) -> Result<Value> {
    let mut assembly = Assembly::new(description.clone(), ions, names.parts(), memory)?;
    let mut files = [const { None }; File::ALL.len()];
    let mut parts = Parts::new(names);
    loop {
        interrupt::check()?;
        match assembly.turn()? {
            Turn::Need { part, range } => {
                let total = parts.read(part, range.clone())?;
                assembly.feed(part, range.start, &parts.bytes, Some(total))?;
            }
            Turn::Put { file, bytes } => {
                let place = &mut files[file as usize];
                let fresh = match place {
                    Some(fresh) => fresh,
                    None => place.insert(Fresh::create(names.result(file))?),
                };
                fresh.put(bytes)?;
            }
            Turn::Done => break,
        }
    }
    let Some(found) = assembly.found() else {
        return Err(Failure::failed("the results ended early"));
    };
    let said = ions.warnings();
    let new = found.warnings().iter();
    for warning in new.filter(|warning| !said.contains(warning)) {
        report.warn(warning);
    }
    name_all(files, names)?;
    Ok(tell(found, description.images(), names, report))
}

/// Reads parts, of which the last stays open.
struct Parts<'n> {
    names: &'n Names,
    open: Option<(u32, Opened, u64)>,
    bytes: Vec<u8>,
}

impl<'n> Parts<'n> {
    fn new(names: &'n Names) -> Self {
        Self {
            names,
            open: None,
            bytes: Vec::new(),
        }
    }

    /// Reads a range, or as much of it as there is; the answer is the part's size.
    fn read(&mut self, part: u32, range: Range<u64>) -> Result<u64> {
        let path = self.names.shard(part).part;
        let refused = |error: std::io::Error| Failure::file(&path, "cannot read", &error);
        let (_, file, total) = match &mut self.open {
            Some(open) if open.0 == part => open,
            other => {
                let file = Opened::open(&path).map_err(refused)?;
                let total = file.metadata().map_err(refused)?.len();
                other.insert((part, file, total))
            }
        };
        file.seek(SeekFrom::Start(range.start)).map_err(refused)?;
        self.bytes.clear();
        let rest = file.take(range.end - range.start);
        { rest }.read_to_end(&mut self.bytes).map_err(refused)?;
        Ok(*total)
    }
}

/// Gives all files their names, once the last byte of each is on the disk.
fn name_all(files: [Option<Fresh>; 3], names: &Names) -> Result<()> {
    let mut files = files;
    for file in files.iter_mut().flatten() {
        file.with(|out| {
            out.flush()?;
            out.get_ref().sync_all()
        })?;
    }
    if files[File::Images as usize].is_none() {
        // Those of an earlier run are not of these results.
        place::remove_file(&names.images)
            .map_err(|error| Failure::file(&names.images, "cannot remove", &error))?;
    }
    files.into_iter().flatten().try_for_each(Fresh::finish)
}

/// Says what was found and where it is; the answer is the same in numbers.
fn tell(found: &Annotations, depicted: Depicted, names: &Names, report: &Report) -> Value {
    let images = (depicted != Depicted::None).then_some(&names.images);
    for path in [Some(&names.table), Some(&names.summary), images]
        .into_iter()
        .flatten()
    {
        let bytes = fs::metadata(path).map_or(0, |metadata| metadata.len());
        let path = path.to_string_lossy();
        report.event("file", json!({ "path": path, "bytes": bytes }));
        report.line(&path);
    }
    let levels: Vec<(f64, u64)> = LEVELS.into_iter().zip(found.levels()).collect();
    let counts: Vec<String> = (levels.iter())
        .map(|(level, count)| format!("{count} at {} %", level * 100.0))
        .collect();
    let rows = found.rows().len();
    report.line(&format!(
        "{rows} of {} ions score; by their false discovery rate {}",
        found.ions().targets(),
        counts.join(", ")
    ));
    let levels: Vec<Value> = (levels.iter())
        .map(|(level, count)| json!({ "fdr": level, "rows": count }))
        .collect();
    let fields = json!({ "rows": rows, "levels": levels, "scoring_decoys": found.decoys() });
    report.event("annotations", fields.clone());
    fields
}
