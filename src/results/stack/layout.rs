//! Where every pixel of a median lies in its file: all of it known before the first section.

use crate::error::Result;
use crate::fits::pixel::Bitpix;
use crate::fits::write::{BLOCK, ImageHeader};

/// Values, and behind them counts, each with a header in front.
///
/// In the FITS file the median is the primary HDU, and how many exposures contributed the extension `COUNT`; both are
/// filled to whole blocks. The [part](super::part) of a shard has its rows of both, and no blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// Pixels a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Whether values are f64.
    pub wide: bool,
    /// What stands in front of the values.
    head: Vec<u8>,
    /// What stands in front of the counts.
    count_head: Vec<u8>,
    /// Values and counts are filled to whole numbers of these.
    block: u64,
}

impl Layout {
    /// The layout of a FITS file with this primary header, whose pixels are f32 or f64.
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::error::Error::Parameter) if a side is 0.
    pub fn new(primary: &ImageHeader, count: &ImageHeader) -> Result<Self> {
        Ok(Self {
            width: primary.width,
            height: primary.height,
            wide: primary.bitpix == Bitpix::F64,
            head: primary.to_bytes()?,
            count_head: count.to_bytes()?,
            block: BLOCK,
        })
    }

    /// The layout of a FITS file whose headers are there as bytes.
    pub(super) fn of_headers(
        (width, height): (u32, u32),
        wide: bool,
        head: Vec<u8>,
        count_head: Vec<u8>,
    ) -> Self {
        Self {
            width,
            height,
            wide,
            head,
            count_head,
            block: BLOCK,
        }
    }

    /// The layout of rows without blocks, behind one header.
    pub(super) fn bare(width: u32, height: u32, wide: bool, head: &[u8]) -> Self {
        Self {
            width,
            height,
            wide,
            head: head.to_vec(),
            count_head: Vec::new(),
            block: 1,
        }
    }

    /// Bytes of one value.
    #[must_use]
    pub fn value_bytes(&self) -> u64 {
        if self.wide { 8 } else { 4 }
    }

    /// Where the value of a pixel lies.
    #[must_use]
    pub fn value_at(&self, x: u32, y: u32) -> u64 {
        self.head.len() as u64 + self.pixel(x, y) * self.value_bytes()
    }

    /// Where the count of a pixel lies.
    #[must_use]
    pub fn count_at(&self, x: u32, y: u32) -> u64 {
        self.count_head_at() + self.count_head.len() as u64 + self.pixel(x, y) * 2
    }

    /// Bytes of the whole file, the filling of the last blocks included.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.count_at(0, self.height).next_multiple_of(self.block)
    }

    /// Every header and where it lies. What lies between headers and pixels is zeros.
    #[must_use]
    pub fn headers(&self) -> [(u64, &[u8]); 2] {
        [(0, &self.head), (self.count_head_at(), &self.count_head)]
    }

    fn count_head_at(&self) -> u64 {
        self.value_at(0, self.height).next_multiple_of(self.block)
    }

    fn pixel(&self, x: u32, y: u32) -> u64 {
        u64::from(y) * u64::from(self.width) + u64::from(x)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test may")]
mod tests {
    use super::*;

    #[test]
    fn everything_lies_on_blocks_and_nothing_overlaps() {
        let primary = ImageHeader::primary(Bitpix::F64, 7, 500);
        let layout = Layout::new(&primary, &ImageHeader::count(7, 500)).unwrap();
        let [(0, head), (count_at, count)] = layout.headers() else {
            panic!("the first header lies at 0");
        };
        assert_eq!(layout.value_at(0, 0), head.len() as u64);
        assert_eq!(layout.value_at(1, 2), head.len() as u64 + 15 * 8);
        assert_eq!(
            count_at,
            (head.len() as u64 + 28_000).next_multiple_of(2880)
        );
        assert_eq!(layout.count_at(0, 0), count_at + count.len() as u64);
        assert_eq!(layout.total() % 2880, 0);
        assert!(layout.total() >= layout.count_at(6, 499) + 2);
    }

    #[test]
    fn rows_without_blocks_follow_each_other() {
        let layout = Layout::bare(7, 5, false, &[1; 96]);
        assert_eq!(layout.value_at(1, 2), 96 + 15 * 4);
        assert_eq!(layout.count_at(0, 0), 96 + 35 * 4);
        assert_eq!(layout.total(), 96 + 35 * 6);
        assert_eq!(layout.headers(), [(0, &[1; 96][..]), (236, &[][..])]);
    }
}
