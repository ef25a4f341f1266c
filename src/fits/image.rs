//! An image that was chosen: where its pixels lie, what they mean, and what a result should carry.

use crate::error::{Error, Result};
use crate::fits::card::{CARD, Value};
use crate::fits::carried::with_primary;
use crate::fits::hdu::{Hdu, Kind, printable, product};
use crate::fits::header::Header;
use crate::fits::pixel::{Bitpix, Encoding};
use crate::fits::wcs::Wcs;

/// One plane of an image HDU.
#[derive(Debug, Clone, PartialEq)]
pub struct Image {
    /// The file's path or URL, as the user gave it.
    pub file: String,
    /// Index of the HDU, the primary HDU being 0.
    pub hdu: u32,
    /// EXTNAME, if there is one.
    pub name: Option<String>,
    /// EXTVER, 1 if there is no card.
    pub ver: i64,
    /// How a pixel is stored.
    pub encoding: Encoding,
    /// NAXIS1: pixels of a row.
    pub width: u32,
    /// NAXIS2: rows; 1 for an image of one axis.
    pub height: u32,
    /// Product of NAXIS3 and all further axes; 1 for an image of two.
    pub planes: u64,
    /// The plane chosen, from 0.
    pub plane: u64,
    /// First byte of that plane in the file. Rows follow one another without gaps.
    pub data_at: u64,
    /// BUNIT, if there is one.
    pub unit: Option<String>,
    /// Pixel to sky, if the header says it.
    pub wcs: Option<Wcs>,
    /// Cards of 80 characters that a result computed from this image should carry: WCS, unit,
    /// telescope, instrument, object; those of the primary HDU where the image has none.
    pub cards: Vec<String>,
    /// What a user should know about the file, a sentence each.
    pub notes: Vec<String>,
    /// The image of the same file that says which of this one's pixels are to be left out, where one was
    /// asked for ([`Walk::with_mask`](crate::fits::walk::Walk::with_mask)); it carries no cards itself.
    pub mask: Option<Box<Image>>,
}

impl Image {
    /// Bytes of the plane.
    ///
    /// Never saturates: the walk refuses data that end beyond 2⁶⁴.
    #[must_use]
    pub fn data_len(&self) -> u64 {
        let pixels = u64::from(self.width) * u64::from(self.height);
        pixels.saturating_mul(self.encoding.bitpix.size() as u64)
    }

    /// Makes an image of an HDU; `raw` is its header, `primary` what the primary HDU hands down, `option`
    /// what chooses another HDU.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for forms that are not read, [`Error::Parameter`] for a plane that
    /// is not there, [`Error::Format`] for a scaling that is no number.
    pub(super) fn new(
        (file, option): (&str, &str),
        hdu: &Hdu,
        raw: &[u8],
        primary: &[String],
        plane: u64,
    ) -> Result<Self> {
        refuse(file, option, hdu)?;
        let width = length(file, hdu, 0)?;
        let height = length(file, hdu, 1)?;
        let (planes, data_at) = place(file, hdu, plane)?;
        let mut notes = Vec::new();
        let encoding = encoding(file, hdu, &mut notes)?;
        if hdu.header.int("PCOUNT").is_some_and(|count| count != 0)
            || hdu.header.int("GCOUNT").is_some_and(|count| count != 1)
        {
            notes.push("PCOUNT or GCOUNT is set on an image: its first array is read".to_owned());
        }
        Ok(Self {
            file: file.to_owned(),
            hdu: hdu.index,
            name: hdu.name.clone(),
            ver: hdu.ver,
            encoding,
            width,
            height,
            planes,
            plane,
            data_at,
            unit: unit(&hdu.header),
            wcs: Wcs::from_header(&hdu.header),
            cards: with_primary(raw, primary),
            notes,
            mask: None,
        })
    }

    /// Refuses a plane that ends beyond the file, and notes a missing filling of the last block.
    pub(super) fn check_end(
        &mut self,
        hdu_end: u64,
        next_at: u64,
        total: u64,
        at_most: bool,
    ) -> Result<()> {
        let end = self.data_at + self.data_len();
        if end > total {
            return Err(Error::Format {
                file: self.file.clone(),
                at: total,
                what: format!(
                    "truncated: the pixels of HDU {} need {} bytes, from byte {} to {end}, but the \
                     file ends at byte {total}{}, so that {} of them are there; fetch it again",
                    self.hdu,
                    self.data_len(),
                    self.data_at,
                    if at_most { " or before" } else { "" },
                    total.saturating_sub(self.data_at)
                ),
            });
        }
        if hdu_end > total {
            self.notes.push(format!(
                "the file ends at byte {total} inside HDU {}, but the plane read is whole",
                self.hdu
            ));
        } else if next_at > total {
            self.notes.push(format!(
                "the last block lacks its filling ({} bytes); every pixel is there",
                next_at - total
            ));
        }
        Ok(())
    }
}

/// The number of planes, and the first byte of the one that is meant.
fn place(file: &str, hdu: &Hdu, plane: u64) -> Result<(u64, u64)> {
    let (grid, rest) = hdu.axes.split_at(hdu.axes.len().min(2));
    // The walk has multiplied all axes: their product fits.
    let planes = product(rest).unwrap_or(u64::MAX);
    if plane >= planes {
        return Err(Error::Parameter {
            name: "--plane",
            what: format!(
                "{file}: HDU {} has {planes} plane(s), 0 to {}, so there is no plane {plane}",
                hdu.label(),
                planes - 1
            ),
        });
    }
    let len = product(grid).and_then(|len| len.checked_mul(hdu.bitpix.size() as u64));
    let before = len.and_then(|len| len.checked_mul(plane));
    let end = before
        .zip(len)
        .and_then(|(before, len)| before.checked_add(len));
    match before.zip(end) {
        Some((before, end)) if end <= hdu.data_len => Ok((planes, hdu.data_at + before)),
        _ => Err(Error::Format {
            file: file.to_owned(),
            at: hdu.header_at,
            what: format!(
                "HDU {}: GCOUNT leaves {} bytes of data, too few for its axes; the header is \
                 damaged",
                hdu.label(),
                hdu.data_len
            ),
        }),
    }
}

/// The forms that are not read, each by its name.
fn refuse(file: &str, option: &str, hdu: &Hdu) -> Result<()> {
    let label = hdu.label();
    let what = match &hdu.kind {
        Kind::Primary | Kind::Image if hdu.has_pixels() => return Ok(()),
        Kind::Primary | Kind::Image => {
            format!("HDU {label} has no pixels; choose another HDU with {option}")
        }
        Kind::Groups => format!("HDU {label} holds random groups (GROUPS = T), which are not read"),
        Kind::Compressed(algorithm) => format!(
            "HDU {label} is compressed by tiles (ZCMPTYPE = {algorithm}), which is not read; \
             decompress the file first, for instance with funpack"
        ),
        Kind::Table | Kind::BinTable | Kind::Other(_) => {
            let kind = &hdu.kind;
            format!("HDU {label} is no image but: {kind}; choose another HDU with {option}")
        }
    };
    Err(Error::Unsupported {
        file: file.to_owned(),
        what,
    })
}

fn length(file: &str, hdu: &Hdu, axis: usize) -> Result<u32> {
    let length = hdu.axes.get(axis).copied().unwrap_or(1);
    u32::try_from(length).map_err(|_| Error::Unsupported {
        file: file.to_owned(),
        what: format!(
            "HDU {}: NAXIS{} = {length}; axes beyond {} are not read",
            hdu.label(),
            axis + 1,
            u32::MAX
        ),
    })
}

fn unit(header: &Header) -> Option<String> {
    let unit = header.text("BUNIT")?.trim();
    (!unit.is_empty()).then(|| unit.to_owned())
}

/// BSCALE, BZERO and BLANK (FITS 4.0 §4.4.2.5).
fn encoding(file: &str, hdu: &Hdu, notes: &mut Vec<String>) -> Result<Encoding> {
    let mut encoding = Encoding::plain(hdu.bitpix);
    encoding.bscale = scaling(file, hdu, "BSCALE", 1.0)?;
    encoding.bzero = scaling(file, hdu, "BZERO", 0.0)?;
    let float = matches!(hdu.bitpix, Bitpix::F32 | Bitpix::F64);
    if float && !encoding.is_plain() {
        notes.push(format!(
            "floating-point pixels are scaled as the header says: {:?} + {:?} x stored value",
            encoding.bzero, encoding.bscale
        ));
    }
    let Some(value) = hdu.header.get("BLANK") else {
        return Ok(encoding);
    };
    let shown = printable(&value.to_string());
    match hdu.header.int("BLANK") {
        _ if float => notes.push(format!(
            "BLANK = {shown} is ignored: only integer pixels have a BLANK, others use NaN"
        )),
        Some(blank) if representable(hdu.bitpix, blank) => encoding.blank = Some(blank),
        _ => notes.push(format!(
            "BLANK = {shown} is ignored: no pixel of BITPIX = {} can have this value",
            hdu.bitpix.card()
        )),
    }
    Ok(encoding)
}

fn representable(bitpix: Bitpix, value: i64) -> bool {
    match bitpix {
        Bitpix::U8 => u8::try_from(value).is_ok(),
        Bitpix::I16 => i16::try_from(value).is_ok(),
        Bitpix::I32 => i32::try_from(value).is_ok(),
        Bitpix::I64 => true,
        Bitpix::F32 | Bitpix::F64 => false,
    }
}

fn scaling(file: &str, hdu: &Hdu, key: &str, default: f64) -> Result<f64> {
    let Some(card) = hdu.header.card(key) else {
        return Ok(default);
    };
    let wrong = |why: &str| Error::Format {
        file: file.to_owned(),
        at: hdu.header_at + u64::from(card.line) * CARD as u64,
        what: format!("HDU {}: {key} {why}", hdu.index),
    };
    match (hdu.header.float(key), &card.value) {
        (Some(0.0), _) if key == "BSCALE" => Err(wrong("is 0: every pixel would be the same")),
        (Some(value), _) => Ok(value),
        (None, Some(Value::Undefined)) => Ok(default),
        (None, value) => {
            let value = value.as_ref().map(Value::to_string).unwrap_or_default();
            Err(wrong(&format!("= {} is no number", printable(&value))))
        }
    }
}
