//! From the parts of all shards to the results: nothing gets its final name before all is written.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::rc::Rc;

use sectile::ion::annotate::Ions;
use sectile::ion::fdr::level::LEVELS;
use sectile::results::images::{Copy, Frame, Merge};
use sectile::results::part::Identity;
use sectile::results::{Annotations, Provenance, Table};
use serde_json::{Value, json};

use super::names::Names;
use super::{Ready, part};
use crate::cli::arguments::Kept;
use crate::cli::failure::{Failure, Result};
use crate::cli::identity::last_name;
use crate::cli::interrupt;
use crate::cli::output::fresh::Fresh;
use crate::cli::output::place;
use crate::cli::report::Report;

/// Rows that are made text of at once.
const ROWS: usize = 256;

/// Bytes that are copied at once.
const PIECE: usize = 256 << 10;

/// Writes all results; the answer is what was found, in numbers.
pub fn write(
    ready: &Ready,
    ions: &Rc<Ions>,
    kept: Kept,
    names: &Names,
    shards: &[Identity],
    report: &Report,
) -> Result<Value> {
    let held = ready.opened.head.held_bytes() + ions.bytes();
    let left = ready.memory.saturating_sub(held);
    let mut table = Table::new(ions.clone(), left);
    let mut reached = Vec::with_capacity(shards.len());
    for (number, identity) in shards.iter().enumerate() {
        interrupt::check()?;
        reached.push(part::read_scores(
            &names.shard(number),
            identity,
            |block| {
                table.take_targets(&block.targets)?;
                table.take_decoys(&block.decoys)
            },
        )?);
    }
    let found = table.finish()?;
    let said = ions.warnings();
    for warning in found
        .warnings()
        .iter()
        .filter(|warning| !said.contains(warning))
    {
        report.warn(warning);
    }
    let images = if kept == Kept::None {
        None
    } else {
        let mut left = left.saturating_sub(found.bytes());
        let mut pictures = Vec::with_capacity(shards.len());
        for (number, (identity, reached)) in shards.iter().zip(&reached).enumerate() {
            interrupt::check()?;
            let shard = names.shard(number);
            let found = part::read_images(&shard, identity, reached, left)?;
            left = left.saturating_sub(found.bytes());
            pictures.push(found);
        }
        let frame = Frame {
            width: ready.opened.head.layout.contents.width,
            height: ready.opened.head.layout.contents.height,
            store: ready.opened.head.digest,
        };
        let merge = Merge::new(frame, found.subjects(), &pictures, left)?;
        drop(pictures);
        Some(merged(&merge, names)?)
    };
    let files = [
        images,
        Some(csv(&found, names)?),
        Some(summary(&found, ready, names)?),
    ];
    name_all(files, names)?;
    Ok(tell(&found, kept, names, report))
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
    if files[0].is_none() {
        // Those of an earlier run are not of these results.
        place::remove_file(&names.images)
            .map_err(|error| Failure::file(&names.images, "cannot remove", &error))?;
    }
    files.into_iter().flatten().try_for_each(Fresh::finish)
}

/// The images file, put together from the parts.
fn merged(merge: &Merge, names: &Names) -> Result<Fresh> {
    let mut file = Fresh::create(&names.images)?;
    file.put(&merge.head)?;
    let mut piece = vec![0; PIECE];
    let mut open: Option<(usize, File)> = None;
    for copy in &merge.copies {
        interrupt::check()?;
        let path = names.shard(copy.part).images;
        let from = match &mut open {
            Some((part, from)) if *part == copy.part => from,
            other => &mut other.insert((copy.part, part::open_again(&path)?)).1,
        };
        put_copy(copy, from, &path, &mut piece, &mut file)?;
    }
    Ok(file)
}

fn put_copy(
    copy: &Copy,
    from: &mut File,
    path: &Path,
    piece: &mut [u8],
    file: &mut Fresh,
) -> Result<()> {
    let refused = |error: &std::io::Error| Failure::file(path, "cannot read back", error);
    from.seek(SeekFrom::Start(copy.range.start))
        .map_err(|error| refused(&error))?;
    let mut left = copy.range.end - copy.range.start;
    while left > 0 {
        let length = usize::try_from(left).unwrap_or(PIECE).min(piece.len());
        from.read_exact(&mut piece[..length])
            .map_err(|error| refused(&error))?;
        file.put(&piece[..length])?;
        left -= length as u64;
    }
    Ok(())
}

fn csv(found: &Annotations, names: &Names) -> Result<Fresh> {
    let mut file = Fresh::create(&names.table)?;
    file.put(found.csv_head().as_bytes())?;
    for start in (0..found.rows().len()).step_by(ROWS) {
        interrupt::check()?;
        file.put(found.csv_rows(start..start + ROWS).as_bytes())?;
    }
    Ok(file)
}

fn summary(found: &Annotations, ready: &Ready, names: &Names) -> Result<Fresh> {
    let list = last_name(ready.list.source.name());
    let mut provenance = Provenance::new(&ready.opened.head, list, Some(ready.list.sha256));
    // The file's own name: the folder, or a signed link, is nobody's business, and no part of a result.
    provenance.store = last_name(&provenance.store).to_owned();
    let mut file = Fresh::create(&names.summary)?;
    file.put(found.json_head(&provenance).as_bytes())?;
    for start in (0..found.rows().len()).step_by(ROWS) {
        interrupt::check()?;
        file.put(found.json_rows(start..start + ROWS).as_bytes())?;
    }
    file.put(found.json_tail().as_bytes())?;
    Ok(file)
}

/// Says what was found and where it is; the answer is the same in numbers.
fn tell(found: &Annotations, kept: Kept, names: &Names, report: &Report) -> Value {
    let images = (kept != Kept::None).then_some(&names.images);
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
