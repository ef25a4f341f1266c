//! From what a shard has saved to its finished part.

use std::fs::{self, File};
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;

use sectile::ion::annotate::Ions;
use sectile::results::part::seal::{Seal, Sealed};
use sectile::results::part::whole::{Depicted, Whole};

use super::crew::Todo;
use super::names::Shard;
use super::part::{self, open_again};
use crate::cli::failure::{Failure, Result};
use crate::cli::output::name_finally;
use crate::cli::output::place::{private, remove_file};

/// Bytes that are copied at once.
const PIECE: usize = 256 << 10;

/// Most bytes of a part's records that are read to see whether it is sound.
const RECORDS: u64 = 1 << 30;

/// Writes the part of a shard whose ions are all saved, in at most `memory` bytes, and removes what it is made of.
pub fn seal(todo: &Todo, ions: &Ions, memory: u64) -> Result<()> {
    let Todo { whole, files, .. } = todo;
    let mut seal = Seal::new(whole.clone(), memory);
    let reached = part::read_scores(files, &whole.identity, |block| {
        seal.take(&block.targets, &block.decoys)
    })?;
    if whole.depicted != Depicted::None {
        let pictures = part::read_images(files, &whole.identity, &reached, memory)?;
        for record in pictures.records {
            seal.take_picture(record)?;
        }
    }
    write(&seal.finish(ions)?, files)?;
    remove_saved(files)
}

/// Removes what a shard has saved while it was under way.
pub fn remove_saved(files: &Shard) -> Result<()> {
    for path in [&files.scores, &files.images] {
        remove_file(path).map_err(|error| Failure::file(path, "cannot remove", &error))?;
    }
    Ok(())
}

/// Writes a part under another name until it is whole: whoever writes it at the same time writes the same bytes.
fn write(sealed: &Sealed, files: &Shard) -> Result<()> {
    let folder = files.part.parent().unwrap_or(Path::new("."));
    let made = private(folder);
    let (file, path) = made.map_err(|error| Failure::file(folder, "cannot write into", &error))?;
    let written = fill(file, sealed, files, &path).and_then(|()| name_finally(&path, &files.part));
    if written.is_err() {
        // Why is being said already.
        let _ = remove_file(&path);
    }
    written
}

fn fill(file: File, sealed: &Sealed, files: &Shard, path: &Path) -> Result<()> {
    let refused = |error: std::io::Error| Failure::file(path, "cannot write", &error);
    let mut out = BufWriter::with_capacity(PIECE, file);
    out.write_all(&sealed.head).map_err(refused)?;
    if !sealed.copies.is_empty() {
        let mut from = open_again(&files.images)?;
        let mut bytes = Vec::new();
        for range in runs(&sealed.copies) {
            copy(&mut from, &files.images, range, &mut bytes, |piece| {
                out.write_all(piece).map_err(refused)
            })?;
        }
    }
    out.flush().map_err(refused)
}

/// Neighbours as one range.
fn runs(copies: &[Range<u64>]) -> impl Iterator<Item = Range<u64>> {
    let joined = copies.chunk_by(|a, b| a.end == b.start);
    joined.filter_map(|run| Some(run.first()?.start..run.last()?.end))
}

fn copy(
    from: &mut File,
    path: &Path,
    range: Range<u64>,
    bytes: &mut Vec<u8>,
    mut put: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let refused = |error: std::io::Error| Failure::file(path, "cannot read back", &error);
    from.seek(SeekFrom::Start(range.start)).map_err(refused)?;
    let mut left = range.end - range.start;
    while left > 0 {
        let length = usize::try_from(left).unwrap_or(PIECE).min(PIECE);
        bytes.resize(length, 0);
        from.read_exact(bytes).map_err(refused)?;
        put(bytes)?;
        left -= length as u64;
    }
    Ok(())
}

/// Whether the part of a shard is there and sound, as far as its records tell; its images are checked when they are used.
///
/// What is no such part, or is damaged, is to be written anew.
pub fn is_there(files: &Shard, whole: &Whole) -> Result<bool> {
    let file = match File::open(&files.part) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(Failure::file(&files.part, "cannot read", &error)),
    };
    let refused = |error: std::io::Error| Failure::file(&files.part, "cannot read", &error);
    let length = fs::metadata(&files.part).map_err(refused)?.len();
    let name = files.part.to_string_lossy();
    let mut head = Vec::new();
    let fixed = sectile::results::part::whole::FIXED as u64;
    file.take(fixed).read_to_end(&mut head).map_err(refused)?;
    let Ok(sizes) = whole.sizes(&name, &head) else {
        return Ok(false);
    };
    let records = sizes.head_bytes();
    if sizes.file_bytes != length || records > RECORDS {
        return Ok(false);
    }
    head.clear();
    let file = open_again(&files.part)?;
    file.take(records).read_to_end(&mut head).map_err(refused)?;
    Ok(whole.contents(&name, &head).is_ok())
}
