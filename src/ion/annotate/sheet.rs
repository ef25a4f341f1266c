//! The images of the ion at hand, drawn, scored and weighed.

use super::batch::{Entry, Piece};
use super::held::Held;
use super::record::Scored;
use super::request::Request;
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::ion::annotate::buffer::{Kept, KeptImage};
use crate::ion::draft;
use crate::ion::image::Canvas;
use crate::ion::isotope::{PEAKS, Pattern};
use crate::ion::score::mass::{self, MeanMass};
use crate::ion::score::{Area, Metrics, Options, Scorer, Sparse};
use crate::store::format::GROUP;
use crate::store::head::Head;

/// One image by the pixels that have a peak.
#[derive(Debug, Default)]
struct Drawn {
    pixels: Vec<u32>,
    values: Vec<f32>,
    /// Places of both that are in use.
    len: usize,
    hits: u64,
    mean: Option<MeanMass>,
}

/// A canvas, four images and a scorer, which one ion after another goes through.
#[derive(Debug)]
pub(super) struct Sheet {
    canvas: Canvas,
    images: [Drawn; PEAKS],
    scorer: Scorer,
    first: u32,
    pixels: u32,
}

/// The slice's area.
pub(super) fn area(head: &Head, slice: u32) -> Area {
    let contents = &head.layout.contents;
    let pixels = draft::area(head);
    let first = slice.saturating_mul(pixels);
    let acquired = (first..first.saturating_add(pixels)).filter(|pixel| head.mask.acquired(*pixel));
    Area {
        width: contents.width,
        height: contents.height,
        acquired: acquired.count() as u64,
    }
}

fn options(request: &Request) -> Options {
    Options {
        hotspot: request.hotspot,
        ..Options::default()
    }
}

/// Bytes that a sheet takes.
pub(super) fn bytes(area: Area, request: &Request) -> u64 {
    let pixels = u64::from(area.width) * u64::from(area.height);
    Canvas::bytes(pixels)
        .saturating_add(PEAKS as u64 * image_bytes(area))
        .saturating_add(Scorer::bytes(area, options(request)))
}

/// Most bytes of one image.
pub(super) fn image_bytes(area: Area) -> u64 {
    let pixels = u64::from(area.width) * u64::from(area.height);
    pixels * (size_of::<u32>() + size_of::<f32>()) as u64
}

impl Sheet {
    pub(super) fn new(head: &Head, request: &Request, budget: &mut Budget) -> Result<Self> {
        let area = area(head, request.slice);
        let pixels = draft::area(head);
        let first = request.slice.saturating_mul(pixels);
        let mut canvas = Canvas::new(pixels as usize, budget)?;
        canvas.lay(first, |pixel| head.mask.acquired(first + pixel));
        let mut images = <[Drawn; PEAKS]>::default();
        for image in &mut images {
            image.pixels = budget.allocate(pixels as usize, "the pixels of an isotope image")?;
            image.values = budget.allocate(pixels as usize, "the values of an isotope image")?;
        }
        Ok(Self {
            canvas,
            images,
            scorer: Scorer::new(area, options(request), budget)?,
            first,
            pixels,
        })
    }

    /// Draws all images of an ion, as long as it can score at all.
    pub(super) fn draw(
        &mut self,
        head: &Head,
        held: &Held,
        request: &Request,
        entry: &Entry,
    ) -> Result<()> {
        self.blank();
        for peak in 0..usize::from(entry.pattern.peaks) {
            self.add(head, held, request, entry, peak, entry.blocks(peak))?;
            self.finish(head, entry, peak)?;
            if self.images[0].len == 0 {
                break;
            }
        }
        Ok(())
    }

    /// Draws a part of one image, of an ion whose blocks do not fit into memory at one time; and weighs its m/z, as
    /// there is no second look.
    pub(super) fn draw_piece(
        &mut self,
        head: &Head,
        held: &Held,
        request: &Request,
        entry: &Entry,
        piece: &Piece,
    ) -> Result<()> {
        let blocks = piece.blocks.clone();
        if piece.peak == 0 && blocks.start == entry.blocks(0).start {
            self.blank();
        }
        self.add(head, held, request, entry, piece.peak, blocks.clone())?;
        self.weigh_peak(head, held, request, entry, piece.peak, blocks)?;
        if piece.last {
            self.finish(head, entry, piece.peak)?;
        }
        Ok(())
    }

    fn blank(&mut self) {
        for image in &mut self.images {
            (image.len, image.hits, image.mean) = (0, 0, None);
        }
    }

    /// Draws the peaks that some blocks have in a window.
    fn add(
        &mut self,
        head: &Head,
        held: &Held,
        request: &Request,
        entry: &Entry,
        peak: usize,
        blocks: std::ops::Range<u32>,
    ) -> Result<()> {
        let (lo, hi) = request.window(entry.pattern.mz[peak]);
        for n in blocks {
            let block = held.block(head, n)?;
            let range = block.find(lo, hi)?;
            let canvas = &mut self.canvas;
            block.visit_groups(range, |pixels, intensities| {
                canvas.add_group(pixels, intensities);
            })?;
        }
        Ok(())
    }

    /// Takes an image off the canvas, which is blank again. What is beyond f32 counts as its largest number, here as in
    /// every score, so that no picture and no table has an infinity.
    fn finish(&mut self, head: &Head, entry: &Entry, peak: usize) -> Result<()> {
        let drawn = self.canvas.finish().map_err(|error| Error::Format {
            file: head.file.clone(),
            at: head.block_range(entry.blocks(peak).start as usize).start,
            what: format!("{error}; the store is damaged, fetch or pack it again"),
        })?;
        let values = self.canvas.values();
        let touched = self.canvas.touched();
        let image = &mut self.images[peak];
        // There is a place for each pixel.
        let places = image.pixels.iter_mut().zip(&mut image.values);
        for ((pixel, value), at) in places.zip(touched) {
            *pixel = *at;
            *value = values[*at as usize].clamp(f32::MIN, f32::MAX);
        }
        image.len = touched.len();
        image.hits = drawn.hits;
        self.canvas.clear();
        Ok(())
    }

    /// The scores, of a target with all that is told of its images; `None` if the MSM is 0.
    pub(super) fn score(&mut self, pattern: &Pattern, target: bool) -> Result<Option<Metrics>> {
        let [first, later @ ..] = &self.images;
        if first.len == 0 || later.iter().all(|image| image.len == 0) {
            return Ok(None);
        }
        let sparse = self.images.each_ref().map(Drawn::sparse);
        let metrics = self.scorer.score(&pattern.intensity, &sparse, target)?;
        Ok((metrics.msm > 0.0).then_some(metrics))
    }

    /// Looks at the m/z of an ion that scored.
    pub(super) fn weigh(
        &mut self,
        head: &Head,
        held: &Held,
        request: &Request,
        entry: &Entry,
    ) -> Result<()> {
        for peak in 0..usize::from(entry.pattern.peaks) {
            if self.images[peak].mean.is_none() {
                self.weigh_peak(head, held, request, entry, peak, entry.blocks(peak))?;
            }
        }
        Ok(())
    }

    fn weigh_peak(
        &mut self,
        head: &Head,
        held: &Held,
        request: &Request,
        entry: &Entry,
        peak: usize,
        blocks: std::ops::Range<u32>,
    ) -> Result<()> {
        let (lo, hi) = request.window(entry.pattern.mz[peak]);
        let (first, pixels) = (self.first, self.pixels);
        let theory = entry.pattern.mz[peak];
        let mean = self.images[peak]
            .mean
            .get_or_insert_with(|| MeanMass::about(theory));
        let mut mz = [0.0; GROUP];
        for n in blocks {
            let block = held.block(head, n)?;
            let mut rest = block.find(lo, hi)?;
            while !rest.is_empty() {
                let end = (rest.start + 1).next_multiple_of(GROUP).min(rest.end);
                let part = rest.start..end;
                block.decode_mz(part.clone(), &mut mz)?;
                let mut mz = mz.iter();
                block.visit(part, |pixel, intensity| {
                    if let Some(mz) = mz.next()
                        && pixel.wrapping_sub(first) < pixels
                    {
                        mean.add(*mz, intensity);
                    }
                })?;
                rest.start = end;
            }
        }
        Ok(())
    }

    /// The record of a target that scored and was weighed.
    pub(super) fn scored(&self, request: &Request, entry: &Entry, metrics: Metrics) -> Scored {
        let Pattern {
            mz,
            intensity,
            peaks,
        } = entry.pattern;
        let of_peaks = self
            .images
            .each_ref()
            .map(|image| image.mean.map_or(0.0, |mean| mean.error()));
        let (mz_err_abs, mz_err_rel) = mass::errors(&of_peaks, &intensity);
        let overlap = (1..usize::from(peaks))
            .any(|peak| request.window(mz[peak - 1]).1 >= request.window(mz[peak]).0);
        Scored {
            ion: entry.position,
            mz,
            theory: intensity,
            metrics,
            mz_err_abs,
            mz_err_rel,
            overlap,
        }
    }

    /// Pixels of an image.
    pub(super) fn pixels(&self) -> u32 {
        self.pixels
    }

    /// Whether the first image of the ion at hand has a peak.
    pub(super) fn is_drawn(&self) -> bool {
        self.images[0].len > 0
    }

    /// Peaks in all images.
    pub(super) fn hits(&self) -> u64 {
        self.images.iter().map(|image| image.hits).sum()
    }

    /// A copy of the images.
    pub(super) fn kept(&self, ion: u32, metrics: &Metrics) -> Result<Kept> {
        let mut kept = Kept {
            ion,
            peaks: [const { None }; PEAKS],
        };
        for (peak, image) in self.images.iter().enumerate() {
            if image.len > 0 {
                let Sparse { pixels, values } = image.sparse();
                let (min, max) = (narrowed(metrics.min[peak]), narrowed(metrics.max[peak]));
                kept.peaks[peak] = Some(KeptImage::of(pixels, values, min, max)?);
            }
        }
        Ok(kept)
    }
}

impl Drawn {
    fn sparse(&self) -> Sparse<'_> {
        Sparse {
            pixels: &self.pixels[..self.len],
            values: &self.values[..self.len],
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "it was an f32")]
fn narrowed(value: f64) -> f32 {
    value as f32
}
