//! Values as 16-bit PNG pictures that carry their own scale.

use std::io::{self, Write};

use super::gather::Frame;
use crate::api::reply::Reply;
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::png::{self, Form, Meta, Writer};
use crate::raster::plane::{Range, Sample, Scale, quantise};
use crate::raster::tiles::Order;

/// The content type.
const PNG: &str = "image/png";

/// Bytes of a picture besides its pixels: signature, header, text and end.
const FRONT: u64 = 4 << 10;

/// Bytes of one chunk on its way, and of the compressor.
const STREAM: u64 = 256 << 10;

/// Most bytes of a picture: no code of the compressor is longer than 12 bits a byte, and every 64 KiB have a chunk.
pub(super) fn most_bytes(width: u32, height: u32, alpha: bool) -> u64 {
    let row = u64::from(width) * pixel(alpha) + 1;
    let raw = row.saturating_mul(u64::from(height));
    let packed = raw.saturating_add(raw / 2);
    packed
        .saturating_add(packed / (64 << 10) * 12)
        .saturating_add(FRONT)
}

fn pixel(alpha: bool) -> u64 {
    if alpha { 4 } else { 2 }
}

/// Bytes held while a tile is made: codes, samples, and packed samples thrice, in lists that may have grown to twice
/// their length.
pub(super) fn tile_bytes(edge: u32, alpha: bool) -> u64 {
    let pixels = u64::from(edge) * u64::from(edge);
    2 * pixels + pixel(alpha) * pixels + 2 * 3 * most_bytes(edge, edge, alpha)
}

/// Bytes held while a cut-out is written, besides its values and the picture itself.
pub(super) fn scratch_bytes(width: u32) -> u64 {
    STREAM + 16 * u64::from(width)
}

/// A tile: values from the top, codes 0 beyond them.
pub(super) fn tile<T: Sample>(
    values: &[T],
    frame: &Frame,
    (edge, alpha): (u32, bool),
    unit: Option<&str>,
    budget: &mut Budget,
) -> Result<Reply> {
    budget.reserve(tile_bytes(edge, alpha), "the picture of a tile")?;
    let meta = meta(values, unit);
    let side = edge as usize;
    let width = frame.size().0 as usize;
    let mut codes = vec![0; side * side];
    for (line, row) in codes.chunks_exact_mut(side).zip(values.chunks(width)) {
        quantise(row, &meta.scale, &mut line[..row.len()]);
    }
    let encode = if alpha {
        png::encode_alpha
    } else {
        png::encode
    };
    let body = encode(edge, edge, &codes, &meta)?;
    Ok(reply(body, &meta))
}

/// A cut-out, its highest row first.
pub(super) fn cutout<T: Sample>(
    values: &[T],
    frame: &Frame,
    unit: Option<&str>,
    budget: &mut Budget,
) -> Result<Reply> {
    let meta = meta(values, unit);
    let (width, height) = frame.size();
    budget.reserve(scratch_bytes(width), "the rows of a picture")?;
    let body = Body::new(most_bytes(width, height, false), budget)?;
    let written = write(values, frame, &meta, body).map_err(|error| Error::Parameter {
        name: "png",
        what: error.to_string(),
    })?;
    Ok(reply(written, &meta))
}

fn write<T: Sample>(values: &[T], frame: &Frame, meta: &Meta, body: Body) -> io::Result<Vec<u8>> {
    let (width, height) = frame.size();
    let mut writer = Writer::new(body, width, height, Form::Grey, meta)?;
    let mut codes = vec![0; width as usize];
    let mut put = |row: &[T]| {
        quantise(row, &meta.scale, &mut codes);
        writer.rows(&codes)
    };
    let mut rows = values.chunks_exact(width as usize);
    match frame.order {
        Order::TopDown => rows.try_for_each(&mut put)?,
        Order::BottomUp => rows.rev().try_for_each(&mut put)?,
    }
    Ok(writer.finish()?.bytes)
}

fn meta<T: Sample>(values: &[T], unit: Option<&str>) -> Meta {
    let mut range = Range::new();
    range.see(values);
    Meta {
        unit: unit.map(str::to_owned),
        ..Meta::new(range.scale())
    }
}

fn reply(body: Vec<u8>, meta: &Meta) -> Reply {
    let Scale { bzero, bscale } = meta.scale;
    let mut reply = Reply::new(200, PNG, body)
        .with("X-BZERO", format!("{bzero:?}"))
        .with("X-BSCALE", format!("{bscale:?}"))
        .with("X-BLANK", "0");
    if let Some(unit) = &meta.unit {
        // A header holds visible ASCII (RFC 9110 §5.5); the text chunk has the unit as it is.
        let visible = |c: char| if matches!(c, ' '..='~') { c } else { '?' };
        reply.set("X-BUNIT", unit.chars().map(visible).collect::<String>());
    }
    reply
}

/// A picture in the making that never grows beyond what was reserved for it.
struct Body {
    bytes: Vec<u8>,
    most: usize,
}

impl Body {
    fn new(most: u64, budget: &mut Budget) -> Result<Self> {
        budget.reserve(most, "the picture")?;
        let refused = || Error::Budget {
            need: most,
            have: budget.limit(),
            what: "the picture".to_owned(),
        };
        let most = usize::try_from(most).map_err(|_| refused())?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(most).map_err(|_| refused())?;
        Ok(Self { bytes, most })
    }
}

impl Write for Body {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > self.most {
            return Err(io::Error::new(
                io::ErrorKind::StorageFull,
                "the picture is longer than was planned",
            ));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
