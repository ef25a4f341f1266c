//! The values of an answer in the precision of their source, and what is made of them.

use std::fmt::Write as _;

use super::errand::Form;
use super::gather::{Frame, Gather};
use super::spectrum::{close, put_sky, put_unit};
use super::subject::Subject;
use super::{cutout, number, picture, statistics};
use crate::api::reply::Reply;
use crate::budget::Budget;
use crate::error::Result;
use crate::raster::plane::Sample;
use crate::stack::job::{Reduced, Values};
use crate::stack::plan::Rect;

/// Values that are being collected.
#[derive(Debug)]
pub(super) enum Plane {
    F32(Gather<f32>),
    F64(Gather<f64>),
    /// Counts, and a row of them as numbers.
    Count(Gather<f32>, Vec<f32>),
}

impl Plane {
    pub(super) fn new(subject: &Subject, frame: Frame, budget: &mut Budget) -> Result<Self> {
        Ok(match subject {
            Subject::Stack(of) if of.is_count() => {
                let width = frame.rect.x1 - frame.rect.x0;
                let line = budget.allocate(width as usize, "a row of counts")?;
                Self::Count(Gather::new(frame, budget)?, line)
            }
            _ if subject.wide() => Self::F64(Gather::new(frame, budget)?),
            _ => Self::F32(Gather::new(frame, budget)?),
        })
    }

    /// Takes a section of a stack.
    pub(super) fn take(&mut self, section: &Reduced<'_>) -> Result<()> {
        let width = section.width as usize;
        let rows = section.y0..section.y0 + section.rows;
        match (self, section.values) {
            (Self::Count(gather, line), _) => {
                for (y, row) in rows.zip(section.count.chunks_exact(width)) {
                    for (value, count) in line.iter_mut().zip(row) {
                        *value = f32::from(*count);
                    }
                    gather.put((section.x0, y), &line[..width])?;
                }
            }
            (Self::F32(gather), Values::F32(values)) => {
                for (y, row) in rows.zip(values.chunks_exact(width)) {
                    gather.put((section.x0, y), row)?;
                }
            }
            (Self::F64(gather), Values::F64(values)) => {
                for (y, row) in rows.zip(values.chunks_exact(width)) {
                    gather.put((section.x0, y), row)?;
                }
            }
            // The kinds were chosen by the same rule.
            _ => {}
        }
        Ok(())
    }

    /// Takes the wanted part of an ion image, each row of it as `change` leaves it.
    pub(super) fn take_image(
        &mut self,
        values: &[f32],
        width: u32,
        frame: &Frame,
        change: impl Fn(u32, &mut [f32]) -> Result<()>,
    ) -> Result<()> {
        let Self::F32(gather) = self else {
            return Ok(());
        };
        let rect = frame.rect;
        let (left, right) = (rect.x0 as usize, rect.x1 as usize);
        let mut line = Vec::with_capacity(right - left);
        for y in rect.y0..rect.y1 {
            line.clear();
            line.extend_from_slice(&values[y as usize * width as usize..][left..right]);
            change(y, &mut line)?;
            gather.put((rect.x0, y), &line)?;
        }
        Ok(())
    }

    /// Makes the reply.
    pub(super) fn reply(self, making: &Making<'_>, budget: &mut Budget) -> Result<Reply> {
        use cutout::Pixels;
        match self {
            Self::F32(gather) => making.of(gather.into_values(budget), |v| Pixels::F32(v), budget),
            Self::F64(gather) => making.of(gather.into_values(budget), |v| Pixels::F64(v), budget),
            Self::Count(gather, line) => {
                budget.release(size_of_val(line.as_slice()) as u64);
                drop(line);
                making.of(gather.into_values(budget), |v| Pixels::Count(v), budget)
            }
        }
    }
}

/// The values of a square tile that show the image, the highest row first.
fn stored<T: Sample, const N: usize>(
    bytes: &[u8],
    frame: &Frame,
    value: impl Fn([u8; N]) -> T,
    budget: &mut Budget,
) -> Result<Vec<T>> {
    let cells = bytes.as_chunks::<N>().0;
    let (edge, width) = (cells.len().isqrt(), frame.size().0 as usize);
    let len = usize::try_from(frame.len()).unwrap_or(usize::MAX);
    let mut values: Vec<T> = budget.allocate(len, "the values of the answer")?;
    let rows = cells.chunks_exact(edge.max(1)).rev();
    for (line, row) in values.chunks_exact_mut(width).zip(rows) {
        for (place, cell) in line.iter_mut().zip(row) {
            *place = value(*cell);
        }
    }
    Ok(values)
}

/// What the values are of, and what is made of them.
pub(super) struct Making<'a> {
    pub(super) subject: &'a Subject,
    pub(super) frame: &'a Frame,
    pub(super) form: Form,
    pub(super) dataset: &'a str,
    pub(super) layer: &'a str,
    /// How many values a point was computed of.
    pub(super) count: Option<u16>,
}

impl Making<'_> {
    fn of<T: Sample>(
        &self,
        mut values: Vec<T>,
        pixels: impl Fn(&[T]) -> cutout::Pixels<'_>,
        budget: &mut Budget,
    ) -> Result<Reply> {
        let (frame, unit) = (self.frame, self.subject.unit());
        match self.form {
            Form::Tile { edge, alpha } => {
                picture::tile(&values, frame, (edge, alpha), unit, budget)
            }
            Form::Png => picture::cutout(&values, frame, unit, budget),
            Form::Fits => cutout::file(
                &pixels(&values),
                frame,
                self.subject,
                (self.dataset, self.layer),
                budget,
            ),
            Form::Point => {
                let mut text = self.document(&[frame.rect.x0, frame.rect.y0], &["x", "y"]);
                text.push_str(",\"value\":");
                number::put(values.first().map_or(f64::NAN, |v| v.wide()), &mut text);
                if let Some(count) = self.count {
                    let _ = write!(text, ",\"count\":{count}");
                }
                if let Subject::Stack(of) = self.subject {
                    put_sky(&of.stack, (frame.rect.x0, frame.rect.y0), &mut text);
                }
                Ok(close(text))
            }
            Form::Statistics => {
                budget.reserve(statistics::BYTES, "the statistics")?;
                let Rect { x0, y0, x1, y1 } = frame.rect;
                let mut text = self.document(&[], &[]);
                let _ = write!(text, ",\"bbox\":[{x0},{y0},{x1},{y1}]");
                statistics::members(&mut values, frame, &mut text)?;
                Ok(close(text))
            }
        }
    }

    /// The reply of a tile as a pyramid stores it: big-endian, the lowest row first, NaN beyond the image.
    pub(super) fn of_stored(&self, bytes: &[u8], budget: &mut Budget) -> Result<Reply> {
        if self.subject.wide() {
            let values = stored(bytes, self.frame, f64::from_be_bytes, budget)?;
            self.of(values, |v| cutout::Pixels::F64(v), budget)
        } else {
            let values = stored(bytes, self.frame, f32::from_be_bytes, budget)?;
            self.of(values, |v| cutout::Pixels::F32(v), budget)
        }
    }

    /// The beginning of a document about the layer.
    fn document(&self, places: &[u32], names: &[&str]) -> String {
        let mut text = String::from("{\"layer\":");
        number::put_text(self.layer, &mut text);
        for (name, place) in names.iter().zip(places) {
            let _ = write!(text, ",\"{name}\":{place}");
        }
        if let Subject::Ion(of) = self.subject {
            text.push_str(",\"mz\":");
            number::put(of.mz, &mut text);
        }
        put_unit(self.subject.unit(), &mut text);
        text
    }
}
