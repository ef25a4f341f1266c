//! Where every pixel of a result lies in its FITS file: all of it known before the first section.

use sectile::fits::pixel::Bitpix;
use sectile::fits::write::{BLOCK, ImageHeader};

use crate::cli::failure::Result;

/// The median in the primary HDU, and how many exposures contributed in the extension `COUNT`.
#[derive(Debug, Clone)]
pub struct Layout {
    /// Pixels a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Whether values are f64.
    pub wide: bool,
    /// Blocks in front of the values.
    head: Vec<u8>,
    /// Blocks in front of the counts.
    count_head: Vec<u8>,
}

impl Layout {
    /// The layout of a file with this primary header, whose pixels are f32 or f64.
    pub fn new(primary: &ImageHeader, count: &ImageHeader) -> Result<Self> {
        Ok(Self {
            width: primary.width,
            height: primary.height,
            wide: primary.bitpix == Bitpix::F64,
            head: primary.to_bytes()?,
            count_head: count.to_bytes()?,
        })
    }

    /// Bytes of one value.
    pub fn value_bytes(&self) -> u64 {
        if self.wide { 8 } else { 4 }
    }

    /// Where the value of a pixel lies.
    pub fn value_at(&self, x: u32, y: u32) -> u64 {
        self.head.len() as u64 + self.pixel(x, y) * self.value_bytes()
    }

    /// Where the count of a pixel lies.
    pub fn count_at(&self, x: u32, y: u32) -> u64 {
        self.count_head_at() + self.count_head.len() as u64 + self.pixel(x, y) * 2
    }

    /// Bytes of the whole file, the filling of the last blocks included.
    pub fn total(&self) -> u64 {
        self.count_at(0, self.height).next_multiple_of(BLOCK)
    }

    /// Every header and where it lies. What lies between headers and pixels is zeros.
    pub fn headers(&self) -> [(u64, &[u8]); 2] {
        [(0, &self.head), (self.count_head_at(), &self.count_head)]
    }

    fn count_head_at(&self) -> u64 {
        self.value_at(0, self.height).next_multiple_of(BLOCK)
    }

    fn pixel(&self, x: u32, y: u32) -> u64 {
        u64::from(y) * u64::from(self.width) + u64::from(x)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
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
}
