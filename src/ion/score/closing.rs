//! The closing of an image that chaos counts parts of, row by row: dilated by a cross, eroded by a square.
//!
//! Of u8 codes the dilation is the largest of a pixel and its four neighbours, the erosion the least of the 3×3 around
//! it. A neighbour outside of the image is ignored by both. What the two do to every level at once is what they do to
//! each level's own binary image.

use crate::budget::Budget;
use crate::error::Result;

/// Pixels of a row that are worked on together.
pub(super) const TILE: usize = 64;

/// The rows that a closing has in hand.
///
/// Rows hold whole tiles, and at least one pixel more than the image is wide.
#[derive(Debug)]
pub(super) struct Closing {
    width: usize,
    /// Three rows of the image, each with a zero before and after.
    image: [Vec<u8>; 3],
    /// One dilated row, with 255 where the image ends.
    dilated: Vec<u8>,
    /// Three rows of the least of three dilated neighbours.
    least: [Vec<u8>; 3],
    /// Whether those rows hold anything but zeros.
    live: [bool; 3],
}

/// Whole tiles of a row so wide.
pub(super) fn tiles(width: usize) -> usize {
    width / TILE + 1
}

impl Closing {
    pub(super) fn new(width: usize, budget: &mut Budget) -> Result<Self> {
        let len = tiles(width) * TILE;
        let mut row = |len: usize| budget.allocate(len, "rows of an image that is scored");
        let mut dilated = row(len + 2)?;
        if let Some(before) = dilated.first_mut() {
            *before = u8::MAX;
        }
        Ok(Self {
            width,
            image: [row(len + 2)?, row(len + 2)?, row(len + 2)?],
            dilated,
            least: [row(len)?, row(len)?, row(len)?],
            live: [false; 3],
        })
    }

    /// Bytes of a closing of rows so wide.
    pub(super) fn bytes(width: u64) -> u64 {
        let len = (width / TILE as u64 + 1).saturating_mul(TILE as u64);
        len.saturating_mul(7).saturating_add(8)
    }

    /// Closes an image row by row and hands each row to `take` with its number, rows that are zero left out.
    ///
    /// `row` gives a row of the image, none where it is zero. A row's place 0 stands for what is left of the image.
    pub(super) fn rows<'a>(
        &mut self,
        height: usize,
        row: impl Fn(usize) -> Option<&'a [u8]>,
        mut closed: impl FnMut(usize, [&[u8]; 3]),
    ) {
        let mut touched = [false; 3];
        self.live = [false; 3];
        for image in &mut self.image {
            image.fill(0);
        }
        // Row y - 1 is closed when row y is dilated, for which row y + 1 must be here.
        for y in 0..=height + 1 {
            let arriving = if y < height { row(y) } else { None };
            let slot = &mut self.image[y % 3];
            match arriving {
                Some(codes) => slot[1..=self.width].copy_from_slice(codes),
                None if touched[y % 3] => slot[1..=self.width].fill(0),
                None => {}
            }
            touched[y % 3] = arriving.is_some();
            if y == 0 {
                continue;
            }
            if y <= height {
                self.live[(y - 1) % 3] = touched.contains(&true);
                if self.live[(y - 1) % 3] {
                    self.dilate(y - 1);
                }
            }
            if y < 2 {
                continue;
            }
            // Rows above and below that do not exist are ignored, as if they were the row itself.
            let at = y - 2;
            let above = if at == 0 { at } else { at - 1 };
            let below = if at + 1 == height { at } else { at + 1 };
            let slots = [above % 3, at % 3, below % 3];
            if slots.iter().all(|slot| self.live[*slot]) {
                closed(at, slots.map(|slot| self.least[slot].as_slice()));
            }
        }
    }

    /// Dilates row `y`, and takes the least of its pixels and their neighbours left and right.
    fn dilate(&mut self, y: usize) {
        let width = self.width;
        let len = self.least[y % 3].len();
        let [above, here, below] = [(y + 2) % 3, y % 3, (y + 1) % 3].map(|slot| &self.image[slot]);
        let across = here[..len].iter().zip(&here[1..=len]).zip(&here[2..]);
        let down = above[1..=len].iter().zip(&below[1..=len]);
        let dilated = self.dilated[1..=len].iter_mut();
        for ((dilated, ((left, here), right)), (above, below)) in dilated.zip(across).zip(down) {
            *dilated = (*left).max(*here).max(*right).max(*above).max(*below);
        }
        self.dilated[width + 1..].fill(u8::MAX);
        let across = self.dilated[..len].iter().zip(&self.dilated[1..=len]);
        let across = across.zip(&self.dilated[2..]);
        for (least, ((left, here), right)) in self.least[y % 3].iter_mut().zip(across) {
            *least = (*left).min(*here).min(*right);
        }
        self.least[y % 3][width..].fill(0);
    }
}
