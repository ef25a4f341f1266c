//! The median at all resolutions as one file, out of files that hold its rows: a second pass.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use sectile::budget::Budget;
use sectile::job::{Fetch, Job};
use sectile::raster::pyramid::TILE;
use sectile::results::pyramid::{Band, Cubes, PyramidJob};
use sectile::results::stack::Layout;

use super::fresh::Fresh;
use super::refuse_folder;
use crate::cli::failure::{Failure, Result};
use crate::cli::interrupt;

/// Reads at one time: files are local, and the disk reads ahead by itself.
const IN_FLIGHT: u32 = 1;

/// Refuses a pyramid that would be written over the result.
pub fn check(pyramid: &Path, target: &Path) -> Result<()> {
    refuse_folder(pyramid)?;
    if pyramid == target {
        return Err(Failure::usage(format!(
            "{}: is the result and the pyramid at once; name another file",
            pyramid.display()
        )));
    }
    Ok(())
}

/// Bytes that making the pyramid holds.
///
/// # Errors
/// The core's, with the budget that would do, if that is more than `memory`.
pub fn bytes(layout: &Layout, files: usize, memory: u64) -> Result<u64> {
    let (cubes, _) = Cubes::new(layout, TILE)?;
    let bytes = PyramidJob::bytes(&cubes, files, IN_FLIGHT);
    Budget::new(memory).reserve(bytes, "making a pyramid of so wide an image")?;
    Ok(bytes)
}

/// Makes it of a finished FITS file of this layout; it has no name yet.
pub fn of_file(file: &Path, layout: &Layout, path: &Path, memory: u64) -> Result<Fresh> {
    let band = Band::of_file(&file.to_string_lossy(), layout);
    make(vec![(file.to_owned(), band)], layout, path, memory)
}

/// Makes it of files that hold the rows, the lowest first; it has no name yet.
pub fn make(
    files: Vec<(PathBuf, Band)>,
    layout: &Layout,
    path: &Path,
    memory: u64,
) -> Result<Fresh> {
    let shape = Cubes::new(layout, TILE)?;
    let (paths, bands): (Vec<_>, Vec<_>) = files.into_iter().unzip();
    let mut job = PyramidJob::new(shape, bands, memory, IN_FLIGHT)?;
    let mut fresh = Fresh::create(path)?;
    let mut open: Option<(u32, File)> = None;
    loop {
        while let Some(bytes) = job.ready()? {
            fresh.put(bytes)?;
        }
        interrupt::check()?;
        let Some(fetch) = job.next() else {
            break;
        };
        let path = &paths[fetch.source as usize];
        let mut buffer = job.lend(&fetch);
        read(path, &fetch, &mut open, &mut buffer)
            .map_err(|error| Failure::file(path, "cannot read back", &error))?;
        job.filled(&fetch, buffer)?;
    }
    if !job.is_done() {
        return Err(Failure::failed(format!(
            "{}: the pyramid is not whole; this is a fault of the program",
            path.display()
        )));
    }
    Ok(fresh)
}

fn read(
    path: &Path,
    fetch: &Fetch,
    open: &mut Option<(u32, File)>,
    buffer: &mut [u8],
) -> std::io::Result<()> {
    let file = match open {
        Some((source, file)) if *source == fetch.source => file,
        _ => &mut open.insert((fetch.source, File::open(path)?)).1,
    };
    for read in &fetch.reads {
        let end = read.at + usize::try_from(read.len()).unwrap_or(0);
        file.seek(SeekFrom::Start(read.range.start))?;
        file.read_exact(&mut buffer[read.at..end])?;
    }
    Ok(())
}
