//! A plane cut into square tiles at falling resolution, addressed as web maps do (XYZ).
//!
//! Level z = 0 is the coarsest, one tile; each further level halves the step. Tile x grows to the
//! right and y *down*: tile (0, 0) of a level holds the top left corner, that is the highest FITS
//! rows. Tiles at the right and lower edge are filled up with code 0.
//!
//! A pixel of a coarser level is the mean of the values (those that are not NaN) among the 2×2
//! pixels below it, computed in f64; NaN if there is none. The squares are counted from the top left
//! corner, so that an odd last column or row stands for itself. Infinities take part as they do in
//! any sum.

use super::plane::{Sample, Scale, quantise};
use crate::error::{Error, Result};

/// The usual edge of a tile in pixels.
pub const TILE: u32 = 256;
/// The largest edge that is cut.
const LARGEST: u32 = 8192;

/// A half-open rectangle of FITS pixels, zero-based, y up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Rect {
    pub x0: u32,
    pub y0: u32,
    pub x1: u32,
    pub y1: u32,
}

impl Rect {
    /// Columns.
    #[must_use]
    pub fn width(&self) -> u32 {
        self.x1 - self.x0
    }

    /// Rows.
    #[must_use]
    pub fn height(&self) -> u32 {
        self.y1 - self.y0
    }
}

/// How a plane of a given size is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pyramid {
    width: u32,
    height: u32,
    tile: u32,
    levels: u32,
}

impl Pyramid {
    /// The pyramid over `width` × `height` pixels with tiles of `tile` × `tile` ([`TILE`]).
    ///
    /// # Errors
    /// [`Error::Parameter`] for a side of 0 or a tile outside 2 to 8192.
    pub fn new(width: u32, height: u32, tile: u32) -> Result<Self> {
        if !(2..=LARGEST).contains(&tile) {
            return Err(Error::Parameter {
                name: "tile",
                what: format!("{tile} pixels; tiles have 2 to {LARGEST}, 256 as a rule"),
            });
        }
        if width == 0 || height == 0 {
            return Err(Error::Parameter {
                name: "shape",
                what: format!("{width} x {height} pixels make no picture"),
            });
        }
        let tiles = width.max(height).div_ceil(tile);
        Ok(Self {
            width,
            height,
            tile,
            levels: tiles.next_power_of_two().ilog2() + 1,
        })
    }

    /// Number of levels, at least 1; the finest is `levels() - 1`.
    #[must_use]
    pub fn levels(&self) -> u32 {
        self.levels
    }

    /// Edge of a tile in pixels.
    #[must_use]
    pub fn tile(&self) -> u32 {
        self.tile
    }

    /// Pixels of the plane that one pixel of a level spans in each direction; `None` for no level.
    #[must_use]
    pub fn step(&self, z: u32) -> Option<u32> {
        (z < self.levels).then(|| 1 << (self.levels - 1 - z))
    }

    /// Width and height of a level in its own pixels.
    #[must_use]
    pub fn size(&self, z: u32) -> Option<(u32, u32)> {
        let step = self.step(z)?;
        Some((self.width.div_ceil(step), self.height.div_ceil(step)))
    }

    /// Columns and rows of tiles of a level.
    #[must_use]
    pub fn tiles(&self, z: u32) -> Option<(u32, u32)> {
        let (width, height) = self.size(z)?;
        Some((width.div_ceil(self.tile), height.div_ceil(self.tile)))
    }

    /// The pixels of the plane that a tile shows, clipped to the plane; `None` for no such tile.
    #[must_use]
    pub fn tile_rect(&self, z: u32, x: u32, y: u32) -> Option<Rect> {
        let (columns, rows) = self.tiles(z)?;
        if x >= columns || y >= rows {
            return None;
        }
        // In u64: the far edge of the last tile may lie beyond what u32 holds.
        let edge = u64::from(self.tile) * u64::from(self.step(z)?);
        let span = |i: u32, side: u32| {
            let clip = |at: u64| u32::try_from(at).map_or(side, |at| at.min(side));
            (clip(u64::from(i) * edge), clip((u64::from(i) + 1) * edge))
        };
        let (x0, x1) = span(x, self.width);
        let (top, bottom) = span(y, self.height);
        Some(Rect {
            x0,
            x1,
            y0: self.height - bottom,
            y1: self.height - top,
        })
    }

    /// The codes of one tile, from the values of its [`tile_rect`](Self::tile_rect) in FITS order.
    ///
    /// The same codes as the [`Builder`](super::tiles::Builder) gives, top row first,
    /// `tile` × `tile` of them.
    ///
    /// # Cost
    /// O(values); holds a quarter of them beside.
    ///
    /// # Errors
    /// [`Error::Parameter`] for no such tile or another number of values than its rectangle has.
    pub fn render<T: Sample>(
        &self,
        (z, x, y): (u32, u32, u32),
        values: &[T],
        scale: &Scale,
    ) -> Result<Vec<u16>> {
        let rect = self.tile_rect(z, x, y).ok_or_else(|| Error::Parameter {
            name: "tile",
            what: format!("there is no tile {z}/{x}/{y}"),
        })?;
        let (mut width, mut height) = (rect.width() as usize, rect.height() as usize);
        if width.checked_mul(height) != Some(values.len()) {
            return Err(Error::Parameter {
                name: "values",
                what: format!("{} of them for {width} x {height} pixels", values.len()),
            });
        }
        let mut held = Vec::new();
        for halving in z + 1..self.levels {
            let from_top = |row: usize| {
                let (rows, at) = if halving == z + 1 {
                    (values, height - 1 - row)
                } else {
                    (held.as_slice(), row)
                };
                &rows[at * width..][..width]
            };
            let mut halved = Vec::with_capacity(width.div_ceil(2) * height.div_ceil(2));
            for row in (0..height).step_by(2) {
                halve(
                    from_top(row),
                    (row + 1 < height).then(|| from_top(row + 1)),
                    &mut halved,
                );
            }
            held = halved;
            (width, height) = (width.div_ceil(2), height.div_ceil(2));
        }
        let edge = self.tile as usize;
        let mut codes = vec![0; edge * edge];
        for (row, line) in codes.chunks_exact_mut(edge).take(height).enumerate() {
            let (rows, at) = if z + 1 == self.levels {
                (values, height - 1 - row)
            } else {
                (held.as_slice(), row)
            };
            quantise(&rows[at * width..][..width], scale, &mut line[..width]);
        }
        Ok(codes)
    }
}

/// Appends the row that two rows, or the last one alone, shrink to.
pub(super) fn halve<T: Sample>(top: &[T], bottom: Option<&[T]>, out: &mut Vec<T>) {
    let bottom = bottom.unwrap_or(&[]);
    let (pairs, last) = top.as_chunks::<2>();
    let (pairs_below, last_below) = bottom.as_chunks::<2>();
    if bottom.is_empty() {
        out.extend(pairs.iter().map(|pair| mean(*pair)));
    } else {
        let squares = pairs.iter().zip(pairs_below);
        out.extend(squares.map(|([a, b], [c, d])| mean([*a, *b, *c, *d])));
    }
    match (last, last_below) {
        ([a], [c]) => out.push(mean([*a, *c])),
        ([a], _) => out.push(mean([*a])),
        _ => {}
    }
}

#[inline]
fn mean<T: Sample, const N: usize>(values: [T; N]) -> T {
    let (mut sum, mut count) = (0.0, 0.0);
    for value in values {
        let value = value.wide();
        let blank = value.is_nan();
        sum += if blank { 0.0 } else { value };
        count += if blank { 0.0 } else { 1.0 };
    }
    // Nothing at all is 0 / 0, which is NaN.
    T::narrow(sum / count)
}
