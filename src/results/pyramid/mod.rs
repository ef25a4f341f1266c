//! A median at all resolutions in one FITS file, of which any tile is one range.
//!
//! The primary HDU is a cube of medians, the extension `COUNT` one of how many exposures contributed, both of tiles of
//! TILE × TILE pixels, cut as [`raster::pyramid`](crate::raster::pyramid) says: level 0 the coarsest, coarser pixels the means
//! of 2×2 finer ones, tile rows counted from the top. A plane of a cube is a tile; its rows go from the lowest to the
//! highest, as in every FITS image. Beyond the image there is NaN. Medians are f32 or f64, whichever the result has;
//! counts are f32, since those of coarser levels are means.
//!
//! | keyword | what |
//! |---|---|
//! | `NAXIS1`, `NAXIS2` | TILE |
//! | `NAXIS3` | tiles of all levels |
//! | `WIDTH`, `HEIGHT` | the image in pixels |
//! | `TILE` | edge of a tile |
//! | `LEVELS` | number of levels |
//!
//! # The order of the tiles
//!
//! That in which one pass over the rows from the lowest to the highest finishes them, so that the file is written
//! from its first byte to its last while the rows pass by. Tile (z, x, y) is finished by the row y · TILE · 2^(LEVELS − 1 − z)
//! rows below the top; tiles are ordered by the row that finishes them, those of one row from the finest level to the
//! coarsest, and from the left. [`Cubes::place`] is the closed form.

mod cubes;
mod job;
mod open;
mod planes;

pub use cubes::{Cubes, LARGEST};
pub use job::{Band, PyramidJob};
pub use open::{HEAD_READ, Open};
