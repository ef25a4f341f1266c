//! Codes and scale back out of a PNG.

use std::borrow::Cow;

use fdeflate::Decompressor;

use super::chunk::{self, Chunk};
use super::header::Header;
use crate::error::{Error, Result};
use crate::raster::plane::Scale;

/// The name under which errors speak of a picture: it has come without one.
pub(super) const FILE: &str = "PNG picture";

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
    /// All text, those three too, in the order of the file.
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
/// `limit` bounds what is allocated beside the text: the unpacked rows, the codes, the alpha, and
/// the packed bytes where they come in several chunks. It is checked before anything is. Checksums
/// are all checked; chunks that say nothing about codes are passed over.
///
/// # Errors
/// [`Error::Format`] for what is no PNG, is damaged or cut short; [`Error::Unsupported`] for
/// colour, palettes and fewer than 8 bits; [`Error::Budget`] for a picture beyond the limit.
pub fn decode(bytes: &[u8], limit: u64) -> Result<Tile> {
    if !bytes.starts_with(&chunk::SIGNATURE) {
        return Err(format(0, "not a PNG picture: its signature is missing"));
    }
    let parts = Parts::read(bytes)?;
    let (header, samples) = (parts.header, parts.header.samples());
    let packed: usize = parts.packed.iter().map(|part| part.len()).sum();
    let packed_copy = if parts.packed.len() > 1 { packed } else { 0 };
    let pixels = u128::from(header.width) * u128::from(header.height);
    let unpacked = header.unpacked();
    let need = unpacked + pixels * u128::from(samples) * 2 + packed_copy as u128;
    let unpacked = usize::try_from(unpacked).ok();
    let Some(unpacked) = unpacked.filter(|_| need <= u128::from(limit)) else {
        return Err(Error::Budget {
            need: u64::try_from(need).unwrap_or(u64::MAX),
            have: limit,
            what: format!(
                "a PNG picture of {} x {} pixels",
                header.width, header.height
            ),
        });
    };
    let stream = match parts.packed.as_slice() {
        [one] => Cow::Borrowed(*one),
        several => Cow::Owned(several.concat()),
    };
    let mut raw = unpack(&stream, unpacked).map_err(|what| format(parts.packed_at, &what))?;
    let (codes, alpha) = header
        .pixels(&mut raw)
        .ok_or_else(|| format(parts.packed_at, "a row has a filter that PNG does not know"))?;
    let text = parts.text;
    Ok(Tile {
        width: header.width,
        height: header.height,
        codes,
        alpha,
        depth: header.depth,
        scale: scale(&text),
        unit: find(&text, "BUNIT").map(str::to_owned),
        text,
    })
}

/// What of a file matters here.
struct Parts<'a> {
    header: Header,
    /// The pixels, packed, in pieces.
    packed: Vec<&'a [u8]>,
    /// Where the first piece starts in the file.
    packed_at: usize,
    text: Vec<(String, String)>,
}

impl<'a> Parts<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self> {
        let mut at = chunk::SIGNATURE.len();
        let first = next(bytes, at)?;
        if first.kind != *b"IHDR" {
            return Err(format(at, "not a PNG picture: its header is missing"));
        }
        let mut parts = Self {
            header: Header::read(first.data, at)?,
            packed: Vec::new(),
            packed_at: 0,
            text: Vec::new(),
        };
        at = first.end;
        loop {
            let part = next(bytes, at)?;
            match &part.kind {
                b"IEND" => break,
                b"IDAT" => {
                    if parts.packed.is_empty() {
                        parts.packed_at = at;
                    }
                    parts.packed.push(part.data);
                }
                b"tEXt" => parts.text.extend(latin1(part.data)),
                b"iTXt" => parts.text.extend(utf8(part.data)),
                // A palette may stand beside grey. An upper-case letter says: not to be passed over.
                b"PLTE" => {}
                kind if kind[0].is_ascii_uppercase() => {
                    let name = String::from_utf8_lossy(kind).into_owned();
                    return Err(format(at, &format!("the chunk {name:?} is unknown")));
                }
                _ => {}
            }
            at = part.end;
        }
        if parts.packed.is_empty() {
            return Err(format(at, "the PNG picture holds no pixels"));
        }
        Ok(parts)
    }
}

fn next(bytes: &[u8], at: usize) -> Result<Chunk<'_>> {
    let Some(part) = chunk::take(bytes, at) else {
        return Err(format(
            bytes.len(),
            "the PNG picture ends too early; fetch it again",
        ));
    };
    if part.sound {
        return Ok(part);
    }
    Err(format(
        at,
        "the PNG picture is damaged: a checksum is wrong; fetch it again",
    ))
}

/// A keyword, a zero byte, Latin-1.
fn latin1(data: &[u8]) -> Option<(String, String)> {
    let zero = data.iter().position(|byte| *byte == 0)?;
    let text = |bytes: &[u8]| bytes.iter().map(|byte| char::from(*byte)).collect();
    Some((text(&data[..zero]), text(&data[zero + 1..])))
}

/// A keyword, a zero byte, flags, a language, another keyword, UTF-8. Compressed text is left alone:
/// nothing that is needed here is ever compressed, and it may unpack to any size.
fn utf8(data: &[u8]) -> Option<(String, String)> {
    let mut fields = data.splitn(2, |byte| *byte == 0);
    let keyword = fields
        .next()?
        .iter()
        .map(|byte| char::from(*byte))
        .collect();
    let rest = fields.next()?.strip_prefix(&[0, 0])?;
    let text = rest.splitn(3, |byte| *byte == 0).nth(2)?;
    Some((keyword, String::from_utf8(text.to_vec()).ok()?))
}

/// Inflates exactly `len` bytes.
fn unpack(stream: &[u8], len: usize) -> Result<Vec<u8>, String> {
    let mut raw = Vec::new();
    // One byte more shows whether there is more than there should be.
    raw.try_reserve_exact(len + 1)
        .map_err(|_| format!("there is no memory for {len} bytes of pixels"))?;
    raw.resize(len + 1, 0);
    let mut inflate = Decompressor::new();
    let (mut from, mut to) = (0, 0);
    while !inflate.is_done() && to <= len {
        let (taken, made) = inflate
            .read(&stream[from..], &mut raw, to, true)
            .map_err(|error| format!("the packed pixels are damaged: {error:?}"))?;
        from += taken;
        to += made;
        if taken == 0 && made == 0 {
            break;
        }
    }
    if to != len || !inflate.is_done() {
        return Err(format!(
            "the pixels unpack to another size than {len} bytes"
        ));
    }
    raw.truncate(len);
    Ok(raw)
}

fn scale(text: &[(String, String)]) -> Option<Scale> {
    let scale = Scale {
        bzero: find(text, "BZERO")?.trim().parse().ok()?,
        bscale: find(text, "BSCALE")?.trim().parse().ok()?,
    };
    scale.is_valid().then_some(scale)
}

pub(super) fn format(at: usize, what: &str) -> Error {
    Error::Format {
        file: FILE.to_owned(),
        at: at as u64,
        what: what.to_owned(),
    }
}
