//! Regions of the grid: which pixels a spectrum is taken of.
//!
//! Pixel (x, y) is the square from (x, y) to (x + 1, y + 1); its centre is at (x + ½, y + ½). Row 0 is the top
//! row. So the rectangle 1,1,3,3 and the polygon (1,1) (3,1) (3,3) (1,3) are the same four pixels.

use std::ops::Range;

use crate::budget::Budget;
use crate::error::{Error, Result};

/// The most corners of a polygon.
pub const MOST_CORNERS: usize = 1 << 16;

/// Some of a grid's pixels.
#[derive(Debug, Clone, PartialEq)]
pub enum Region {
    /// One pixel, counted from 0.
    Pixel {
        /// Column.
        x: u32,
        /// Row; 0 is the top.
        y: u32,
    },
    /// The pixels of columns `x0..x1` and rows `y0..y1`; what of it lies outside the grid is left out.
    Rect {
        /// First column.
        x0: u32,
        /// First row.
        y0: u32,
        /// Column behind the last.
        x1: u32,
        /// Row behind the last.
        y1: u32,
    },
    /// The pixels whose centre is inside by the even-odd rule; the last corner is joined to the first.
    ///
    /// A centre on a left or upper edge is inside, on a right or lower one outside: polygons that share an
    /// edge share no pixel and lose none.
    Polygon(Vec<[f64; 2]>),
}

/// A region on a grid: one bit a pixel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    bits: Vec<u64>,
    /// How many pixels.
    count: u64,
}

impl Chosen {
    /// No pixel of a grid of so many.
    pub(super) fn none(pixels: u32, budget: &mut Budget) -> Result<Self> {
        Ok(Self {
            bits: budget.allocate(pixels.div_ceil(64) as usize, "the region's pixels")?,
            count: 0,
        })
    }

    /// Chooses a pixel; one beyond the grid is passed over.
    pub(super) fn insert(&mut self, pixel: u32) {
        if let Some(word) = self.bits.get_mut(pixel as usize / 64) {
            let bit = 1 << (pixel % 64);
            self.count += u64::from(*word & bit == 0);
            *word |= bit;
        }
    }

    /// Whether the pixel with this index, row by row, is chosen.
    #[must_use]
    pub fn has(&self, pixel: u32) -> bool {
        let word = self.bits.get(pixel as usize / 64).copied().unwrap_or(0);
        word >> (pixel % 64) & 1 == 1
    }

    /// How many pixels are chosen, whether acquired or not.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The chosen pixels, row by row.
    pub fn pixels(&self) -> impl Iterator<Item = u32> {
        (0_u32..).zip(&self.bits).flat_map(|(at, word)| {
            let mut left = *word;
            std::iter::from_fn(move || {
                (left != 0).then(|| {
                    let bit = left.trailing_zeros();
                    left &= left - 1;
                    at * 64 + bit
                })
            })
        })
    }

    /// Bytes that the region of a grid of so many pixels takes.
    #[must_use]
    pub fn bytes(pixels: u64) -> u64 {
        pixels.div_ceil(64) * 8
    }
}

impl Region {
    /// Finds the region's pixels on a grid of `width`×`height` pixels.
    ///
    /// # Cost
    /// One bit a pixel; for a polygon O(rows · corners).
    ///
    /// # Errors
    /// [`Error::Parameter`] for a region without any pixel of the grid, and a polygon of fewer than three or
    /// more than [`MOST_CORNERS`] corners or with a corner that is not finite; [`Error::Budget`].
    pub fn on(&self, width: u32, height: u32, budget: &mut Budget) -> Result<Chosen> {
        let pixels = u32::try_from(u64::from(width) * u64::from(height));
        let pixels =
            pixels.map_err(|_| wrong(format!("a grid of {width}×{height} pixels has too many")))?;
        let mut chosen = Chosen::none(pixels, budget)?;
        match self {
            Self::Pixel { x, y } => {
                if *x < width && *y < height {
                    set(&mut chosen, width, *y, *x..*x + 1);
                }
            }
            Self::Rect { x0, y0, x1, y1 } => {
                for y in *y0..(*y1).min(height) {
                    set(&mut chosen, width, y, *x0..(*x1).min(width));
                }
            }
            Self::Polygon(corners) => polygon(corners, width, height, &mut chosen)?,
        }
        if chosen.count == 0 {
            return Err(wrong(format!(
                "{} holds no pixel of the grid of {width}×{height}",
                self.shown()
            )));
        }
        Ok(chosen)
    }

    fn shown(&self) -> String {
        match self {
            Self::Pixel { x, y } => format!("the pixel {x},{y}"),
            Self::Rect { x0, y0, x1, y1 } => format!("the rectangle {x0},{y0},{x1},{y1}"),
            Self::Polygon(corners) => format!("the polygon of {} corners", corners.len()),
        }
    }
}

/// Columns of one row; the grid's pixels are counted in u32.
fn set(chosen: &mut Chosen, width: u32, y: u32, columns: Range<u32>) {
    for x in columns {
        chosen.insert(y * width + x);
    }
}

fn polygon(corners: &[[f64; 2]], width: u32, height: u32, chosen: &mut Chosen) -> Result<()> {
    if !(3..=MOST_CORNERS).contains(&corners.len()) {
        return Err(wrong(format!(
            "a polygon has 3 to {MOST_CORNERS} corners, not {}",
            corners.len()
        )));
    }
    if let Some(at) = corners
        .iter()
        .position(|corner| !corner.iter().all(|c| c.is_finite()))
    {
        return Err(wrong(format!("corner {at} of the polygon is not finite")));
    }
    let mut crossings = Vec::new();
    for y in 0..height {
        let line = f64::from(y) + 0.5;
        crossings.clear();
        let ends = corners.iter().cycle().skip(1);
        crossings.extend(
            corners
                .iter()
                .zip(ends)
                .filter_map(|(a, b)| cross(*a, *b, line)),
        );
        crossings.sort_unstable_by(f64::total_cmp);
        for pair in crossings.as_chunks::<2>().0 {
            set(
                chosen,
                width,
                y,
                column(pair[0], width)..column(pair[1], width),
            );
        }
    }
    Ok(())
}

/// Where an edge crosses the line, the lower end of the edge being outside of it.
///
/// The ends are put in order first, so that an edge crosses at the same place from both its sides.
fn cross(a: [f64; 2], b: [f64; 2], line: f64) -> Option<f64> {
    let (a, b) = if a[1] <= b[1] { (a, b) } else { (b, a) };
    if !(a[1] <= line && line < b[1]) {
        return None;
    }
    // Shares of the ends, not a slope: a slope overflows for edges that are almost level.
    let share = (line - a[1]) / (b[1] - a[1]);
    Some(a[0] * (1.0 - share) + b[0] * share)
}

/// The first column whose centre is not left of `x`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float is cast to the nearest integer there is, and then clipped to the grid"
)]
fn column(x: f64, width: u32) -> u32 {
    ((x - 0.5).ceil() as u32).min(width)
}

fn wrong(what: String) -> Error {
    Error::Parameter {
        name: "region",
        what,
    }
}
