//! Codes and scale back out of a PNG.

use std::io::Cursor;

use ::png::{BitDepth, ColorType, DecodingError, Limits, Transformations};

use crate::error::{Error, Result};
use crate::raster::plane::Scale;

/// The name under which errors speak of a picture: it has come without one.
const FILE: &str = "PNG picture";

/// A decoded picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Tile {
    /// Pixels a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Grey, rows from the top; of an 8-bit picture 0 to 255.
    pub codes: Vec<u16>,
    /// Alpha, where the picture has it; of an 8-bit picture 0 to 255.
    pub alpha: Option<Vec<u16>>,
    /// Bits a sample: 8 or 16.
    pub depth: u8,
    /// BSCALE and BZERO, if both are there and are numbers that a [`Scale`] may have.
    pub scale: Option<Scale>,
    /// BUNIT.
    pub unit: Option<String>,
    /// All text, those three too, in the order of the file: first Latin-1, then UTF-8.
    pub text: Vec<(String, String)>,
}

impl Tile {
    /// The value of a text, by its exact keyword; the first if there are several.
    #[must_use]
    pub fn text(&self, keyword: &str) -> Option<&str> {
        find(&self.text, keyword)
    }
}

fn find<'a>(text: &'a [(String, String)], keyword: &str) -> Option<&'a str> {
    let mut pairs = text.iter();
    pairs
        .find(|(name, _)| name == keyword)
        .map(|(_, value)| value.as_str())
}

/// Decodes a grey PNG of 8 or 16 bits, with or without alpha, interlaced or not.
///
/// `limit` bounds the bytes of the decoded picture, its codes and alpha included, and of the
/// decoder's own buffers, before any of them is allocated.
///
/// # Errors
/// [`Error::Format`] for what is no PNG, is damaged or cut short; [`Error::Unsupported`] for
/// colour, palettes and fewer than 8 bits; [`Error::Budget`] for a picture beyond the limit.
pub fn decode(bytes: &[u8], limit: u64) -> Result<Tile> {
    // The decoder's own buffers: two rows and the text.
    let limits = Limits {
        bytes: usize::try_from(limit).unwrap_or(usize::MAX),
    };
    let mut decoder = ::png::Decoder::new_with_limits(Cursor::new(bytes), limits);
    decoder.set_transformations(Transformations::IDENTITY);
    decoder.set_ignore_iccp_chunk(true);
    let header = decoder
        .read_header_info()
        .map_err(|e| damaged(bytes, limit, &e))?;
    let (width, height) = header.size();
    let form = (header.color_type, header.bit_depth);
    let (color, depth) = grey(form)?;
    // Room for the decoded bytes and for the codes made of them.
    let need = u128::from(width)
        * u128::from(height)
        * color.samples() as u128
        * u128::from(depth / 8 + 2);
    if need > u128::from(limit) {
        return Err(Error::Budget {
            need: u64::try_from(need).unwrap_or(u64::MAX),
            have: limit,
            what: format!("a PNG picture of {width} x {height} pixels"),
        });
    }
    let mut reader = decoder.read_info().map_err(|e| damaged(bytes, limit, &e))?;
    let size = reader.output_buffer_size().unwrap_or(usize::MAX);
    let mut raw = Vec::new();
    raw.try_reserve_exact(size).map_err(|_| Error::Budget {
        need: size as u64,
        have: limit,
        what: format!("a PNG picture of {width} x {height} pixels"),
    })?;
    raw.resize(size, 0);
    reader
        .next_frame(&mut raw)
        .map_err(|e| damaged(bytes, limit, &e))?;
    // Text may stand behind the picture, and a missing end is a missing part.
    reader.finish().map_err(|e| damaged(bytes, limit, &e))?;
    let text = texts(reader.info());
    let (codes, alpha) = samples(&raw, color, depth);
    Ok(Tile {
        width,
        height,
        codes,
        alpha,
        depth,
        scale: scale(&text),
        unit: find(&text, "BUNIT").map(str::to_owned),
        text,
    })
}

fn grey(form: (ColorType, BitDepth)) -> Result<(ColorType, u8)> {
    let depth = match form {
        (ColorType::Grayscale | ColorType::GrayscaleAlpha, BitDepth::Eight) => 8,
        (ColorType::Grayscale | ColorType::GrayscaleAlpha, BitDepth::Sixteen) => 16,
        (color, depth) => {
            return Err(Error::Unsupported {
                file: FILE.to_owned(),
                what: format!(
                    "{color:?} of {} bits; only grey and grey with alpha of 8 or 16 bits hold \
                     codes",
                    depth as u8
                ),
            });
        }
    };
    Ok((form.0, depth))
}

fn samples(raw: &[u8], color: ColorType, depth: u8) -> (Vec<u16>, Option<Vec<u16>>) {
    let sample = |bytes: &[u8]| match *bytes {
        [high, low] => u16::from_be_bytes([high, low]),
        [byte, ..] => u16::from(byte),
        [] => 0,
    };
    let size = usize::from(depth / 8);
    let pixel = size * color.samples();
    let pixels = raw.chunks_exact(pixel);
    let codes = pixels.clone().map(|p| sample(&p[..size])).collect();
    let alpha = (pixel > size).then(|| pixels.map(|p| sample(&p[size..])).collect());
    (codes, alpha)
}

fn texts(info: &::png::Info<'_>) -> Vec<(String, String)> {
    let latin = &info.uncompressed_latin1_text;
    let mut text: Vec<_> = latin
        .iter()
        .map(|chunk| (chunk.keyword.clone(), chunk.text.clone()))
        .collect();
    // Compressed text is left alone: nothing that is needed here is ever compressed, and it may
    // unpack to any size.
    let utf8 = info.utf8_text.iter().filter(|chunk| !chunk.compressed);
    text.extend(utf8.filter_map(|chunk| Some((chunk.keyword.clone(), chunk.get_text().ok()?))));
    text
}

fn scale(text: &[(String, String)]) -> Option<Scale> {
    let scale = Scale {
        bzero: find(text, "BZERO")?.trim().parse().ok()?,
        bscale: find(text, "BSCALE")?.trim().parse().ok()?,
    };
    scale.is_valid().then_some(scale)
}

fn damaged(bytes: &[u8], limit: u64, error: &DecodingError) -> Error {
    match error {
        DecodingError::LimitsExceeded => Error::Budget {
            need: limit.saturating_add(1),
            have: limit,
            what: "decoding a PNG picture".to_owned(),
        },
        DecodingError::IoError(_) => Error::Format {
            file: FILE.to_owned(),
            at: bytes.len() as u64,
            what: "the picture ends too early; fetch it again".to_owned(),
        },
        other => Error::Format {
            file: FILE.to_owned(),
            at: 0,
            what: format!("not a whole PNG picture: {other}"),
        },
    }
}
