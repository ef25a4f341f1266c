//! The pyramid of tiles of a finished result: DIR/z/x/y.png.

use std::fs;
use std::path::{Path, PathBuf};

use sectile::png::{Meta, encode};
use sectile::raster::plane::Sample;
use sectile::raster::pyramid::{Pyramid, TILE};
use sectile::raster::tiles::{Builder, Order, Tile};
use sectile::results::stack::Layout;

use super::convert;
use super::journal::Journal;
use super::part::{Part, Row};
use super::place::{JOURNAL, TILES, beside, remove_tiles};
use crate::cli::failure::{Failure, Result};
use crate::cli::interrupt;

/// Refuses a folder that holds something already: tiles of two results must not mix.
pub fn check(folder: &Path) -> Result<()> {
    let refused = |error: std::io::Error| Failure::file(folder, "cannot look into it", &error);
    let is_used = match fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_some(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => false,
        Err(error) => return Err(refused(error)),
    };
    if is_used {
        return Err(Failure::usage(format!(
            "{}: is not empty; name a new folder for the tiles, or empty it",
            folder.display()
        )));
    }
    Ok(())
}

/// Bytes that making the tiles of a result holds, whatever its height.
pub fn bytes(layout: &Layout) -> Result<u64> {
    let pyramid = Pyramid::new(layout.width, layout.height, TILE)?;
    // The row that is read, as bytes and as values.
    let rows = u64::from(layout.width) * layout.value_bytes() * 2;
    Ok(rows
        + if layout.wide {
            Builder::<f64>::bytes(&pyramid)
        } else {
            Builder::<f32>::bytes(&pyramid)
        })
}

/// Tiles that are finished but for the name of their folder, which is locked until they have it.
#[derive(Debug)]
pub struct Made {
    fresh: PathBuf,
    folder: PathBuf,
    lock: Journal,
}

impl Made {
    /// Gives the folder its final name.
    pub fn name_finally(self) -> Result<()> {
        // An empty folder may bear the name already; only that can be removed so.
        let _ = fs::remove_dir(&self.folder);
        fs::rename(&self.fresh, &self.folder).map_err(|error| {
            Failure::file(&self.folder, "cannot give the tiles their folder", &error)
        })?;
        self.lock.remove()
    }
}

/// Writes all tiles into a folder beside the one that is wanted.
pub fn make(part: &mut Part, folder: &Path, unit: Option<&str>) -> Result<Made> {
    // Its lock tells `clean` that the folder beside is being written.
    let lock = Journal::open(&beside(folder, JOURNAL))?;
    let fresh = beside(folder, TILES);
    remove_tiles(&fresh).map_err(|error| Failure::file(&fresh, "cannot remove", &error))?;
    let meta = convert::meta(part, unit)?;
    let pyramid = Pyramid::new(part.layout().width, part.layout().height, TILE)?;
    if part.layout().wide {
        build::<f64>(part, &fresh, pyramid, &meta)?;
    } else {
        build::<f32>(part, &fresh, pyramid, &meta)?;
    }
    Ok(Made {
        fresh,
        folder: folder.to_owned(),
        lock,
    })
}

fn build<T: Sample>(part: &mut Part, fresh: &Path, pyramid: Pyramid, meta: &Meta) -> Result<()>
where
    Row: Lend<T>,
{
    let mut builder = Builder::<T>::new(pyramid, meta.scale, Order::BottomUp);
    let mut row = Row::new(part.layout());
    for y in 0..part.layout().height {
        interrupt::check()?;
        part.row(y, &mut row)?;
        builder.rows(row.lend(), &mut |tile: Tile<'_>| save(&tile, fresh, meta))?;
    }
    builder.finish()?;
    Ok(())
}

fn save(tile: &Tile<'_>, fresh: &Path, meta: &Meta) -> Result<()> {
    let column: PathBuf = fresh.join(tile.z.to_string()).join(tile.x.to_string());
    let path = column.join(format!("{}.png", tile.y));
    let bytes = encode(TILE, TILE, tile.codes, meta)?;
    fs::create_dir_all(&column)
        .and_then(|()| fs::write(&path, bytes))
        .map_err(|error| Failure::file(&path, "cannot write", &error))
}

/// A row as values of one type; empty if it is of the other.
trait Lend<T> {
    fn lend(&self) -> &[T];
}

impl Lend<f32> for Row {
    fn lend(&self) -> &[f32] {
        match self {
            Self::F32(values) => values,
            Self::F64(_) => &[],
        }
    }
}

impl Lend<f64> for Row {
    fn lend(&self) -> &[f64] {
        match self {
            Self::F64(values) => values,
            Self::F32(_) => &[],
        }
    }
}
