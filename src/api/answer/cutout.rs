//! Values as a FITS file.

use super::gather::Frame;
use super::subject::Subject;
use crate::api::PROGRAM;
use crate::api::reply::Reply;
use crate::budget::Budget;
use crate::error::Result;
use crate::fits::pixel::Bitpix;
use crate::fits::write::{BLOCK, ImageHeader, padding, put_f32, put_f64};
use crate::ion::normalise::Normalise;

/// The content type (RFC 4047).
const FITS: &str = "image/fits";

/// Bytes of the longest header that is foreseen: 800 cards.
const HEADER: u64 = 64_800;

/// Most bytes of a file with so many bytes of pixels.
pub(super) fn most_bytes(pixels: u64) -> u64 {
    pixels.saturating_add(HEADER + BLOCK)
}

/// Values as they are stored in a file.
pub(super) enum Pixels<'a> {
    F32(&'a [f32]),
    F64(&'a [f64]),
    /// Counts, which are whole and at most 4,096.
    Count(&'a [f32]),
}

impl Pixels<'_> {
    fn bitpix(&self) -> Bitpix {
        match self {
            Self::F32(_) => Bitpix::F32,
            Self::F64(_) => Bitpix::F64,
            Self::Count(_) => Bitpix::I16,
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::F32(values) | Self::Count(values) => values.len(),
            Self::F64(values) => values.len(),
        }
    }

    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::F32(values) => put_f32(values, out),
            Self::F64(values) => put_f64(values, out),
            #[expect(clippy::cast_possible_truncation, reason = "whole and at most 4,096")]
            Self::Count(values) => out.extend(
                values
                    .iter()
                    .flat_map(|value| (*value as i16).to_be_bytes()),
            ),
        }
    }
}

/// The file: one image, rows in the order of the source.
pub(super) fn file(
    pixels: &Pixels<'_>,
    frame: &Frame,
    subject: &Subject,
    (dataset, layer): (&str, &str),
    budget: &mut Budget,
) -> Result<Reply> {
    let (width, height) = frame.size();
    let mut header = ImageHeader::primary(pixels.bitpix(), width, height);
    header.origin = [frame.rect.x0, frame.rect.y0];
    header.unit = subject.unit().map(str::to_owned);
    header.history = history(frame, subject, dataset, layer);
    if let Subject::Stack(of) = subject {
        // The unit of a count is none, and a carried one would be that of the values.
        let carried = of.cards.iter();
        let carried = carried.filter(|card| !(of.is_count() && card.starts_with("BUNIT ")));
        header.carried = carried.cloned().collect();
        header.combined = of.combined;
    }
    let header = header.to_bytes()?;
    let data = pixels.len() as u64 * pixels.bitpix().size() as u64;
    let total = header.len() as u64 + data + padding(data) as u64;
    let mut body: Vec<u8> =
        budget.allocate(usize::try_from(total).unwrap_or(usize::MAX), "the file")?;
    body.clear();
    body.extend_from_slice(&header);
    pixels.put(&mut body);
    body.resize(body.len() + padding(data), 0);
    let name = file_name(dataset, layer);
    Ok(Reply::new(200, FITS, body).with(
        "Content-Disposition",
        format!("attachment; filename=\"{name}.fits\""),
    ))
}

fn history(frame: &Frame, subject: &Subject, dataset: &str, layer: &str) -> Vec<String> {
    let rect = frame.rect;
    let (width, height) = subject.size();
    let mut lines = vec![
        format!("{PROGRAM}: {layer} of {dataset}"),
        format!(
            "columns {} to {}, rows {} to {} (from 0, exclusive) of {width} x {height}",
            rect.x0, rect.x1, rect.y0, rect.y1
        ),
    ];
    match subject {
        Subject::Stack(of) => lines.extend(of.stack.left_out.clone()),
        Subject::Ion(of) => {
            lines.push(format!(
                "m/z {:?}: sum of the peaks from {:?} to {:?}, both inside",
                of.mz, of.window.lo, of.window.hi
            ));
            if of.norm != Normalise::None {
                lines.push(format!(
                    "divided by {} of the pixel, times its mean",
                    of.norm
                ));
            }
            lines.push(
                "rows as in the dataset: the first row of this file is the TOP one".to_owned(),
            );
        }
    }
    lines
}

/// A name that every system takes.
fn file_name(dataset: &str, layer: &str) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || "._-+@".contains(c) {
            c
        } else {
            '_'
        }
    };
    format!("{dataset}-{layer}").chars().map(plain).collect()
}
