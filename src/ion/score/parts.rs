//! The connected parts of a closed image, counted at all levels together.
//!
//! A row's pixels between two valleys are one node, whose height is its peak; the valley is the edge to the next one.
//! Of the edges between two rows those are enough that are a local maximum along the row: another one of the same
//! slope closes a cycle in which no edge is lower. Valleys and maxima are found 64 pixels at a time, as bits.
//!
//! An eroded row has at least three pixels in every valley between two peaks, which bounds the nodes and edges that
//! there can be.

use super::closing::{TILE, tiles};
use super::forest::Forest;
use crate::budget::Budget;
use crate::error::Result;

/// One row, and which of its pixels belong to which nodes.
#[derive(Debug, Default)]
struct Row {
    /// A zero, then the heights of the pixels.
    heights: Vec<u8>,
    /// Of each tile the pixels at which a node begins.
    starts: Vec<u64>,
    /// The node that each tile begins in.
    nodes: Vec<u32>,
}

impl Row {
    fn new(width: usize, budget: &mut Budget) -> Result<Self> {
        let what = "rows of an image that is scored";
        Ok(Self {
            heights: budget.allocate(tiles(width) * TILE + 1, what)?,
            starts: budget.allocate(tiles(width), what)?,
            nodes: budget.allocate(tiles(width), what)?,
        })
    }

    /// The node of a pixel.
    #[inline]
    fn node(&self, x: usize) -> u32 {
        let upto = u64::MAX >> (TILE - 1 - x % TILE);
        self.nodes[x / TILE] + (self.starts[x / TILE] & upto).count_ones()
    }
}

/// Counts parts, in scratch for images of one size.
#[derive(Debug)]
pub(super) struct Parts {
    here: Row,
    above: Row,
    /// The row that `above` is, if it is not zero.
    above_at: Option<usize>,
    /// A zero, then the heights of the edges between the two rows.
    between: Vec<u8>,
    forest: Forest,
    /// Rises along all rows.
    rises: u64,
    /// Valleys along all rows.
    valleys: u64,
}

/// The most nodes that a row can have: peaks of one pixel between valleys of three.
fn peaks(width: u64) -> u64 {
    width.saturating_add(3) / 4
}

impl Parts {
    pub(super) fn new(width: usize, height: usize, budget: &mut Budget) -> Result<Self> {
        let nodes = peaks(width as u64).saturating_mul(height as u64);
        let nodes = usize::try_from(nodes).unwrap_or(usize::MAX);
        let what = "rows of an image that is scored";
        Ok(Self {
            here: Row::new(width, budget)?,
            above: Row::new(width, budget)?,
            above_at: None,
            between: budget.allocate(tiles(width) * TILE + 1, what)?,
            // Valleys along the rows, and maxima between them.
            forest: Forest::new(nodes, nodes.saturating_mul(2), budget)?,
            rises: 0,
            valleys: 0,
        })
    }

    /// Bytes of the scratch for images of that size.
    pub(super) fn bytes(width: u64, height: u64) -> u64 {
        let nodes = peaks(width).saturating_mul(height);
        let tile = 3 * TILE + 2 * (size_of::<u64>() + size_of::<u32>());
        (width / TILE as u64 + 1)
            .saturating_mul(tile as u64)
            .saturating_add(3)
            .saturating_add(Forest::bytes(nodes, nodes.saturating_mul(2)))
    }

    /// Begins a new image.
    pub(super) fn clear(&mut self) {
        self.forest.clear();
        self.above_at = None;
        self.rises = 0;
        self.valleys = 0;
    }

    /// Takes row `y`, which is the least of three; rows ascend, and those left out are zero.
    pub(super) fn row(&mut self, y: usize, least: [&[u8]; 3]) {
        std::mem::swap(&mut self.here, &mut self.above);
        let heights = self.here.heights[1..].iter_mut();
        for (((height, above), here), below) in heights.zip(least[0]).zip(least[1]).zip(least[2]) {
            *height = (*above).min(*here).min(*below);
        }
        self.along();
        if y > 0 && self.above_at == Some(y - 1) {
            self.across();
        }
        self.above_at = Some(y);
    }

    /// The nodes of the new row and the valleys between them.
    fn along(&mut self) {
        let Row {
            heights,
            starts,
            nodes,
        } = &mut self.here;
        let mut node = self.forest.node();
        let mut pending = 0;
        for (at, (starts, nodes)) in starts.iter_mut().zip(nodes).enumerate() {
            let slopes = Slopes::of(heights, at * TILE);
            self.rises += u64::from(slopes.rise);
            *nodes = node;
            *starts = slopes.ends(slopes.down, &mut pending) & slopes.up;
            let mut left = *starts;
            while left != 0 {
                let valley = heights[at * TILE + left.trailing_zeros() as usize];
                let next = self.forest.node();
                self.forest.edge(node, next, valley);
                self.valleys += u64::from(valley);
                node = next;
                left &= left - 1;
            }
        }
    }

    /// The edges between the new row and the one above.
    fn across(&mut self) {
        let rows = self.here.heights.iter().zip(&self.above.heights);
        for (between, (here, above)) in self.between.iter_mut().zip(rows) {
            *between = (*here).min(*above);
        }
        let mut pending = 0;
        for at in 0..self.here.starts.len() {
            let slopes = Slopes::of(&self.between, at * TILE);
            let mut left = slopes.ends(slopes.up, &mut pending) & slopes.down;
            while left != 0 {
                // The maximum is the pixel before the one that is lower; row and bits are one place apart.
                let place = at * TILE + left.trailing_zeros() as usize;
                let x = place.saturating_sub(1);
                let (here, above) = (self.here.node(x), self.above.node(x));
                self.forest.edge(here, above, self.between[place]);
                left &= left - 1;
            }
        }
    }

    /// The number of parts, summed over all levels.
    pub(super) fn count(&mut self) -> u64 {
        self.rises + self.valleys - self.forest.height()
    }
}

/// How the pixels of a tile compare with the ones before them.
#[derive(Default)]
struct Slopes {
    up: u64,
    down: u64,
    /// The sum of all that they are higher by.
    rise: u16,
}

impl Slopes {
    /// Of the tile whose first pixel's predecessor is at `from`.
    #[inline]
    fn of(row: &[u8], from: usize) -> Self {
        let (before, here) = (&row[from..from + TILE], &row[from + 1..=from + TILE]);
        // Most tiles of a sparse image are blank.
        if here.iter().fold(before[0], |any, height| any | height) == 0 {
            return Self::default();
        }
        let [mut up, mut down, mut rises] = [[0; TILE]; 3];
        for (at, (before, here)) in before.iter().zip(here).enumerate() {
            up[at] = u8::from(here > before);
            down[at] = u8::from(here < before);
            rises[at] = here.saturating_sub(*before);
        }
        Self {
            up: bits(&up),
            down: bits(&down),
            // 64 times 32 at most.
            rise: rises.iter().map(|rise| u16::from(*rise)).sum(),
        }
    }

    /// The pixels at which the level stretch after each of `slope` ends. `pending` is whether such a stretch goes on
    /// from the tile before, and into the next one.
    #[inline]
    fn ends(&self, slope: u64, pending: &mut u64) -> u64 {
        let level = !(self.up | self.down);
        let begun = slope << 1 | *pending;
        // Adding its first pixel to a stretch carries into the pixel after its last.
        let (sum, carry) = (begun & level).overflowing_add(level);
        *pending = slope >> (TILE - 1) | u64::from(carry);
        (sum | begun) & !level
    }
}

/// One bit of each flag, which are 0 or 1.
#[inline]
fn bits(flags: &[u8; TILE]) -> u64 {
    let (eights, _) = flags.as_chunks();
    let bytes = eights.iter().map(|eight| {
        // Flag j times 2^(56 - 7j) is the product's bit 56 + j; no two of its other terms meet.
        u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56
    });
    let mut word = 0;
    for (at, byte) in bytes.enumerate() {
        word |= byte << (8 * at);
    }
    word
}

#[cfg(test)]
mod tests {
    use super::super::closing::Closing;
    use super::*;

    /// Parts of an image of codes; at most as many nodes and edges as there is room for.
    fn counted(codes: &[u8], width: usize, height: usize) -> u64 {
        let budget = &mut Budget::new(u64::MAX);
        let mut parts = Parts::new(width, height, budget).unwrap();
        let room = parts.forest.room();
        let mut closing = Closing::new(width, budget).unwrap();
        let row = |y: usize| Some(&codes[y * width..][..width]);
        closing.rows(height, row, |y, least| parts.row(y, least));
        let count = parts.count();
        assert_eq!(parts.forest.room(), room, "{width}×{height}");
        count
    }

    #[test]
    fn peaks_as_close_as_they_can_be_find_room() {
        for (width, height) in [(1, 9), (9, 1), (5, 40), (64, 8), (130, 131)] {
            for (x_step, y_step) in [(4, 4), (4, 1), (1, 4), (5, 5), (3, 3), (2, 2)] {
                for shift in 0..4 {
                    let code = |pixel: usize| {
                        let (x, y) = (pixel % width + shift, pixel / width);
                        // Full squares, rims and single pixels; heights that differ along both axes.
                        if x % x_step == 0 || y % y_step == 0 {
                            u8::try_from(1 + (x * 7 + y * 3) % 31).unwrap()
                        } else {
                            0
                        }
                    };
                    let codes: Vec<u8> = (0..width * height).map(code).collect();
                    counted(&codes, width, height);
                }
            }
        }
        // A row of single pixels, each of which survives where no row is above or below.
        assert_eq!(counted(&[2, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 3], 12, 1), 6);
    }
}
