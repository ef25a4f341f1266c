//! Where every tile lies in the file.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::fits::card::CARD;
use crate::fits::header::Header;
use crate::fits::pixel::Bitpix;
use crate::fits::write::{BLOCK, Cards};
use crate::raster::pyramid::Pyramid;
use crate::results::stack::Layout;

/// Bytes of the header of the counts: its few cards take one block.
const COUNT_HEAD: u64 = BLOCK;

/// The same as a length in memory.
const BLOCK_BYTES: usize = 2880;

/// The largest edge of a tile in such a file: 4 MiB of f32.
pub const LARGEST: u32 = 1024;

/// The file's shape: two cubes of tiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cubes {
    /// How the image is cut.
    pub pyramid: Pyramid,
    /// Pixels a row of the image.
    pub width: u32,
    /// Rows of the image.
    pub height: u32,
    /// Whether medians are f64.
    pub wide: bool,
    /// Bytes in front of the medians.
    head: u64,
}

impl Cubes {
    /// The shape of the file for a median whose FITS file has this layout, and the header that it begins with.
    ///
    /// Unit, number of exposures and history are those of the median's own header; its sky coordinates are not
    /// carried over, for they would be wrong on a cube of tiles.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a tile outside 2 to [`LARGEST`], or a file beyond what offsets count.
    pub fn new(median: &Layout, tile: u32) -> Result<(Self, Vec<u8>)> {
        let mut cubes = Self {
            pyramid: pyramid(median.width, median.height, tile)?,
            width: median.width,
            height: median.height,
            wide: median.wide,
            head: 0,
        };
        let [(_, from), _] = median.headers();
        let header = Header::parse(from);
        let mut cards = Cards::new();
        cards.logical("SIMPLE", true, "conforms to the FITS standard")?;
        let bitpix = if cubes.wide { Bitpix::F64 } else { Bitpix::F32 };
        cubes.structure(&mut cards, bitpix)?;
        cards.logical("EXTEND", true, "extensions may follow")?;
        cubes.cut(&mut cards)?;
        if let Some(unit) = header.text("BUNIT") {
            cards.text("BUNIT", unit, "unit of the pixel values")?;
        }
        if let Some(combined) = header.int("NCOMBINE") {
            cards.integer("NCOMBINE", combined, "exposures combined")?;
        }
        let told = from.as_chunks::<CARD>().0.iter();
        let told = told.filter(|card| card.starts_with(b"HISTORY "));
        let told: Vec<String> = told
            .map(|card| String::from_utf8_lossy(card).into_owned())
            .collect();
        cards.carry(&told, [0, 0]);
        let head = cards.into_blocks();
        cubes.head = head.len() as u64;
        Ok((cubes, head))
    }

    /// The header of the counts.
    ///
    /// # Errors
    /// [`Error::Parameter`], which no shape gives cause for.
    pub fn count_head(&self) -> Result<Vec<u8>> {
        let mut cards = Cards::new();
        cards.text("XTENSION", "IMAGE", "image extension")?;
        self.structure(&mut cards, Bitpix::F32)?;
        cards.integer("PCOUNT", 0, "no parameters")?;
        cards.integer("GCOUNT", 1, "one group")?;
        cards.text("EXTNAME", "COUNT", "exposures that contributed")?;
        self.cut(&mut cards)?;
        Ok(cards.into_blocks())
    }

    fn structure(&self, cards: &mut Cards, bitpix: Bitpix) -> Result<()> {
        let edge = i64::from(self.pyramid.tile());
        let planes = i64::try_from(self.planes()).unwrap_or(i64::MAX);
        cards.integer("BITPIX", bitpix.card(), "type of the pixels")?;
        cards.integer("NAXIS", 3, "number of axes")?;
        cards.integer("NAXIS1", edge, "pixels a row of a tile")?;
        cards.integer("NAXIS2", edge, "rows of a tile, the lowest first")?;
        cards.integer("NAXIS3", planes, "tiles of all levels")
    }

    fn cut(&self, cards: &mut Cards) -> Result<()> {
        cards.integer("WIDTH", i64::from(self.width), "pixels a row of the image")?;
        cards.integer("HEIGHT", i64::from(self.height), "rows of the image")?;
        cards.integer("TILE", i64::from(self.pyramid.tile()), "edge of a tile")?;
        let levels = i64::from(self.pyramid.levels());
        cards.integer("LEVELS", levels, "level 0 is the coarsest")
    }

    /// Reads the header of a file: its first `head` bytes, whole blocks up to the one with END.
    ///
    /// # Errors
    /// [`Error::Format`] naming the first card that is not what such a file has.
    pub fn read(file: &str, head: &[u8]) -> Result<Self> {
        let header = Header::parse(head);
        let cards = head.as_chunks::<CARD>().0;
        let end = cards.iter().position(|card| card.starts_with(b"END     "));
        let whole = end.map(|end| ((end + 1) * CARD).next_multiple_of(BLOCK_BYTES));
        if whole != Some(head.len()) {
            // Where the tiles lie follows from its length.
            return Err(Error::Format {
                file: file.to_owned(),
                at: head.len() as u64,
                what: "no pyramid of tiles: its header is not whole blocks up to END".to_owned(),
            });
        }
        let fault = |key: &str, what: &str| Error::Format {
            file: file.to_owned(),
            at: card_at(head, key),
            what: format!("no pyramid of tiles: {key} {what}"),
        };
        let side = |key: &str| {
            let value = header.int(key).and_then(|value| u32::try_from(value).ok());
            value.ok_or_else(|| fault(key, "is missing or no number that can be"))
        };
        let wide = match header.int("BITPIX") {
            Some(-32) => false,
            Some(-64) => true,
            _ => return Err(fault("BITPIX", "is neither -32 nor -64")),
        };
        let (width, height, tile) = (side("WIDTH")?, side("HEIGHT")?, side("TILE")?);
        let cubes = Self {
            pyramid: pyramid(width, height, tile)
                .map_err(|error| fault("TILE", &error.to_string()))?,
            width,
            height,
            wide,
            head: head.len() as u64,
        };
        let edge = Some(i64::from(tile));
        let expected = [
            ("NAXIS", Some(3)),
            ("NAXIS1", edge),
            ("NAXIS2", edge),
            ("NAXIS3", i64::try_from(cubes.planes()).ok()),
            ("LEVELS", Some(i64::from(cubes.pyramid.levels()))),
        ];
        match expected
            .into_iter()
            .find(|(key, is)| header.int(key) != *is)
        {
            Some((key, _)) => Err(fault(key, "does not go with the size of the image")),
            None => Ok(cubes),
        }
    }

    /// Tiles of all levels.
    #[must_use]
    pub fn planes(&self) -> u64 {
        let level = |z: u32| {
            let (columns, rows) = self.pyramid.tiles(z).unwrap_or((0, 0));
            u64::from(columns) * u64::from(rows)
        };
        (0..self.pyramid.levels()).map(level).sum()
    }

    /// Which plane of the cubes a tile is, from 0 on; `None` for no such tile.
    ///
    /// # Cost
    /// O(levels).
    #[must_use]
    pub fn place(&self, z: u32, x: u32, y: u32) -> Option<u64> {
        let (columns, rows) = self.pyramid.tiles(z)?;
        if x >= columns || y >= rows {
            return None;
        }
        let edge = |z: u32| Some(u64::from(self.pyramid.tile()) * u64::from(self.pyramid.step(z)?));
        // The row, from the top, that finishes this tile. Tiles that lower rows finish come before.
        let finishing = u64::from(y) * edge(z)?;
        let mut before = u64::from(x);
        for other in 0..self.pyramid.levels() {
            let (columns, rows) = self.pyramid.tiles(other)?;
            let above = finishing / edge(other)?;
            // Of finer levels one row of tiles is finished by the very same row, and comes before.
            let same = u64::from(other > z);
            before += u64::from(columns) * (u64::from(rows) + same - 1 - above);
        }
        Some(before)
    }

    /// The bytes of a tile of medians; `None` for no such tile.
    #[must_use]
    pub fn median(&self, z: u32, x: u32, y: u32) -> Option<Range<u64>> {
        let bytes = self.tile_pixels() * self.value_bytes();
        let start = self.head + self.place(z, x, y)? * bytes;
        Some(start..start + bytes)
    }

    /// The bytes of a tile of counts; `None` for no such tile.
    #[must_use]
    pub fn count(&self, z: u32, x: u32, y: u32) -> Option<Range<u64>> {
        let bytes = self.tile_pixels() * 4;
        let start = self.count_head_at() + COUNT_HEAD + self.place(z, x, y)? * bytes;
        Some(start..start + bytes)
    }

    /// Bytes of the whole file.
    #[must_use]
    pub fn total(&self) -> u64 {
        let counts = self.planes() * self.tile_pixels() * 4;
        self.count_head_at() + COUNT_HEAD + counts.next_multiple_of(BLOCK)
    }

    /// Zero bytes behind the medians, and behind the counts.
    pub(super) fn fillings(&self) -> [u64; 2] {
        let cube = self.planes() * self.tile_pixels();
        [self.value_bytes(), 4].map(|size| {
            let bytes = cube * size;
            bytes.next_multiple_of(BLOCK) - bytes
        })
    }

    fn count_head_at(&self) -> u64 {
        let medians = self.planes() * self.tile_pixels() * self.value_bytes();
        self.head + medians.next_multiple_of(BLOCK)
    }

    fn tile_pixels(&self) -> u64 {
        u64::from(self.pyramid.tile()).pow(2)
    }

    fn value_bytes(&self) -> u64 {
        if self.wide { 8 } else { 4 }
    }
}

fn pyramid(width: u32, height: u32, tile: u32) -> Result<Pyramid> {
    if tile > LARGEST {
        return Err(Error::Parameter {
            name: "tile",
            what: format!("{tile} pixels; tiles of a pyramid have 2 to {LARGEST}, 256 as a rule"),
        });
    }
    let pyramid = Pyramid::new(width, height, tile)?;
    // The finest level as f64, and a third of it for the others, twice: far below what offsets count.
    let tiles = u128::from(width.div_ceil(tile)) * u128::from(height.div_ceil(tile));
    if tiles * u128::from(tile).pow(2) * 32 > u128::from(u64::MAX >> 2) {
        return Err(Error::Parameter {
            name: "shape",
            what: format!("{width} x {height} pixels in tiles of {tile} make too large a file"),
        });
    }
    Ok(pyramid)
}

/// Where the card with a keyword begins; 0 if there is none.
fn card_at(head: &[u8], key: &str) -> u64 {
    let name = format!("{key:8}");
    let cards = head.as_chunks::<CARD>().0;
    let card = cards
        .iter()
        .position(|card| card.starts_with(name.as_bytes()));
    card.map_or(0, |card| card as u64 * CARD as u64)
}
