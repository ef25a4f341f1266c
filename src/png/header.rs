//! The header of a picture, and what it says about the order of its pixels.

use super::decode::{FILE, format};
use super::filter::undo;
use crate::error::{Error, Result};

/// One pass over a picture: first column and row, then the steps between columns and rows.
type Pass = [u32; 4];

/// The only pass of a picture that is not interlaced.
const WHOLE: [Pass; 1] = [[0, 0, 1, 1]];
/// Adam7, §8.2.
const ADAM7: [Pass; 7] = [
    [0, 0, 8, 8],
    [4, 0, 8, 8],
    [0, 4, 4, 8],
    [2, 0, 4, 4],
    [0, 2, 2, 4],
    [1, 0, 2, 2],
    [0, 1, 1, 2],
];

/// IHDR (§11.2.1) of a picture that is read here.
#[derive(Debug, Clone, Copy)]
pub(super) struct Header {
    pub(super) width: u32,
    pub(super) height: u32,
    /// Bits a sample, 8 or 16.
    pub(super) depth: u8,
    alpha: bool,
    interlaced: bool,
}

impl Header {
    pub(super) fn read(data: &[u8], at: usize) -> Result<Self> {
        let (Some((width, rest)), 13) = (data.split_first_chunk::<4>(), data.len()) else {
            return Err(format(at, "the header of a PNG picture has 13 bytes"));
        };
        let (width, rest) = (u32::from_be_bytes(*width), rest);
        let (height, rest) = rest.split_at(4);
        let height = height
            .iter()
            .fold(0, |sum, byte| sum << 8 | u32::from(*byte));
        let largest = i32::MAX.unsigned_abs();
        if !(1..=largest).contains(&width) || !(1..=largest).contains(&height) {
            return Err(format(
                at,
                &format!("{width} x {height} is no size of a PNG picture"),
            ));
        }
        if rest[2] != 0 || rest[3] != 0 || rest[4] > 1 {
            return Err(format(
                at,
                "compression, filter or interlacing is none that PNG knows",
            ));
        }
        let (depth, color) = (rest[0], rest[1]);
        if !matches!((depth, color), (8 | 16, 0 | 4)) {
            let color = match color {
                0 => "grey",
                2 => "colour",
                3 => "a palette",
                6 => "colour with alpha",
                _ => "an unknown colour type",
            };
            return Err(Error::Unsupported {
                file: FILE.to_owned(),
                what: format!(
                    "{color} of {depth} bits; only grey and grey with alpha of 8 or 16 bits hold \
                     codes"
                ),
            });
        }
        Ok(Self {
            width,
            height,
            depth,
            alpha: color == 4,
            interlaced: rest[4] == 1,
        })
    }

    /// Samples a pixel.
    pub(super) fn samples(self) -> u8 {
        if self.alpha { 2 } else { 1 }
    }

    fn passes(self) -> &'static [Pass] {
        if self.interlaced { &ADAM7 } else { &WHOLE }
    }

    /// Columns and rows of a pass; a pass without any has no bytes either.
    fn shape(self, [x, y, dx, dy]: Pass) -> Option<(usize, usize)> {
        let columns = self.width.checked_sub(x)?.div_ceil(dx);
        let rows = self.height.checked_sub(y)?.div_ceil(dy);
        (columns > 0 && rows > 0).then_some((columns as usize, rows as usize))
    }

    fn pixel(self) -> usize {
        usize::from(self.depth / 8 * self.samples())
    }

    /// Bytes of all rows, each with its filter in front.
    pub(super) fn unpacked(self) -> u128 {
        let shapes = self.passes().iter().filter_map(|pass| self.shape(*pass));
        let bytes = |(columns, rows): (usize, usize)| {
            (columns as u128 * self.pixel() as u128 + 1) * rows as u128
        };
        shapes.map(bytes).sum()
    }

    /// Codes and alpha out of the unpacked rows; `None` for a filter that there is not.
    pub(super) fn pixels(self, raw: &mut [u8]) -> Option<(Vec<u16>, Option<Vec<u16>>)> {
        let size = self.width as usize * self.height as usize;
        let mut codes = vec![0; size];
        let mut alpha = vec![0; if self.alpha { size } else { 0 }];
        let (pixel, wide) = (self.pixel(), self.depth == 16);
        let sample = |bytes: &[u8]| match bytes {
            [high, low, ..] if wide => u16::from_be_bytes([*high, *low]),
            [byte, ..] => u16::from(*byte),
            [] => 0,
        };
        let mut rest = raw;
        for &pass in self.passes() {
            let Some((columns, rows)) = self.shape(pass) else {
                continue;
            };
            let [x, y, dx, dy] = pass.map(|n| n as usize);
            let (part, behind) = rest.split_at_mut((columns * pixel + 1) * rows);
            rest = behind;
            let mut above = vec![0; columns * pixel];
            for (i, line) in part.chunks_exact_mut(columns * pixel + 1).enumerate() {
                let (kind, line) = line.split_first_mut()?;
                if !undo(*kind, pixel, &above, line) {
                    return None;
                }
                above.copy_from_slice(line);
                let start = (y + i * dy) * self.width as usize + x;
                for (j, bytes) in line.chunks_exact(pixel).enumerate() {
                    codes[start + j * dx] = sample(bytes);
                    if self.alpha {
                        alpha[start + j * dx] = sample(&bytes[pixel / 2..]);
                    }
                }
            }
        }
        Some((codes, self.alpha.then_some(alpha)))
    }
}
