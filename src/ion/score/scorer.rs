//! All scores of one ion after another.

use super::chaos::{Chaos, settled};
use super::first::{First, Likeness, Reading};
use super::hotspot::selected;
use super::lanes::{largest, least};
use super::spatial::averaged;
use super::spectral::fit;
use super::{Area, Metrics, PEAKS, Sparse};
use crate::budget::Budget;
use crate::error::{Error, Result};

/// How ions are scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Whether the brightest pixels are clipped for the spatial and the spectral score: METASPACE's hotspot removal.
    pub hotspot: bool,
    /// Levels at which chaos cuts an image, 1 to 32.
    pub levels: u8,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            hotspot: false,
            levels: 30,
        }
    }
}

/// Scores one ion after another in scratch that is allocated once.
///
/// ```
/// use sectile::budget::Budget;
/// use sectile::ion::score::{Area, Options, Scorer, Sparse};
///
/// let area = Area { width: 5, height: 1, acquired: 5 };
/// let options = Options::default();
/// let mut scorer = Scorer::new(area, options, &mut Budget::new(Scorer::bytes(area, options)))?;
/// let first = Sparse { pixels: &[1, 2, 3], values: &[6.0, 12.0, 6.0] };
/// let second = Sparse { pixels: &[1, 2, 3], values: &[2.0, 4.0, 2.0] };
/// let images = [first, second, Sparse::default(), Sparse::default()];
/// let scores = scorer.score(&[90.0, 30.0, 0.0, 0.0], &images, true)?;
/// assert_eq!(scores.total, [24.0, 8.0, 0.0, 0.0]);
/// assert_eq!(scores.chaos, 1.0 - 1.0 / 3.0);
/// assert!(scores.spatial > 0.999_999 && scores.spectral > 0.999_999);
/// assert_eq!(scores.msm, scores.chaos * scores.spatial * scores.spectral);
/// # Ok::<(), sectile::error::Error>(())
/// ```
///
/// # Memory
/// [`Scorer::bytes`]: about 13 bytes a pixel, and 4 more with hotspot removal.
#[derive(Debug)]
pub struct Scorer {
    pixels: u64,
    acquired: u64,
    chaos: Chaos,
    first: First,
    /// Room to look for a percentile in; empty without hotspot removal.
    selection: Vec<f32>,
}

impl Scorer {
    /// A scorer of images of this area.
    ///
    /// # Errors
    /// [`Error::Budget`]; [`Error::Parameter`] for an area without pixels or of 2³² or more, for more acquired pixels
    /// than there are, or for a number of levels that is not 1 to 32.
    pub fn new(area: Area, options: Options, budget: &mut Budget) -> Result<Self> {
        let (pixels, ..) = area.sizes()?;
        let selected = if options.hotspot { pixels } else { 0 };
        Ok(Self {
            pixels: pixels as u64,
            acquired: area.acquired,
            chaos: Chaos::new(area, options.levels, budget)?,
            first: First::new(pixels, budget)?,
            selection: budget.allocate(selected, "the percentile of an image")?,
        })
    }

    /// Bytes that a scorer of this area takes.
    #[must_use]
    pub fn bytes(area: Area, options: Options) -> u64 {
        let pixels = u64::from(area.width) * u64::from(area.height);
        let selection = if options.hotspot { pixels } else { 0 };
        Chaos::bytes(area)
            .saturating_add(First::bytes(pixels))
            .saturating_add(selection.saturating_mul(size_of::<f32>() as u64))
    }

    /// Scores one ion; `theory` are the intensities that its peaks should have, `images` what was measured, empty
    /// where nothing was.
    ///
    /// With `all`, as for a target, every score is taken. Without it, as for a decoy, no more is done once MSM is known
    /// to be 0, and the scores that were not taken are 0 then. MSM is the same both ways.
    ///
    /// Infinite values count as the largest finite f32. With hotspot removal each image is clipped at its
    /// [percentile](super::hotspot::threshold) for the spatial and the spectral score, and for nothing else.
    ///
    /// # Errors
    /// [`Error::Parameter`] for lists of unequal length, more pixels than were acquired, a pixel outside of the area
    /// or a value that is NaN.
    ///
    /// # Cost
    /// What the touched pixels cost, and one pass over the rows that they lie in at a fraction of a nanosecond a pixel.
    pub fn score(
        &mut self,
        theory: &[f64; PEAKS],
        images: &[Sparse<'_>; PEAKS],
        all: bool,
    ) -> Result<Metrics> {
        #[expect(clippy::cast_precision_loss, reason = "pixels are fewer than 2^32")]
        let readings = images.map(|image| Reading::of(image, self.acquired as f64));
        let mut metrics = Metrics::default();
        for (at, reading) in readings.iter().enumerate() {
            self.check(at, reading)?;
            metrics.total[at] = reading.total;
            metrics.min[at] = f64::from(least(reading.image.values));
            metrics.max[at] = f64::from(largest(reading.image.values));
        }
        let [first, later @ ..] = images;
        let complete =
            !first.pixels.is_empty() && later.iter().any(|image| !image.pixels.is_empty());
        if !all && !complete {
            return Ok(metrics);
        }
        let likenesses = self.compare(readings);
        metrics.spectral = fit(theory, &likenesses);
        if all || metrics.spectral > 0.0 {
            metrics.spatial = averaged(theory, &likenesses);
        }
        if all || metrics.spatial > 0.0 {
            metrics.chaos = settled(self.chaos.sparse(*first));
        }
        metrics.msm = metrics.chaos * metrics.spatial * metrics.spectral;
        Ok(metrics)
    }

    fn check(&self, at: usize, reading: &Reading<'_>) -> Result<()> {
        let Sparse { pixels, values } = reading.image;
        let outermost = pixels.iter().fold(0, |max, pixel| max.max(*pixel));
        let wrong = if pixels.len() != values.len() {
            format!("{} pixels and {} values", pixels.len(), values.len())
        } else if pixels.len() as u64 > self.acquired {
            format!(
                "{} pixels have a peak, but {} were acquired",
                pixels.len(),
                self.acquired
            )
        } else if u64::from(outermost) >= self.pixels {
            format!("pixel {outermost} is not one of {}", self.pixels)
        } else if reading.total.is_nan() {
            "a value is not a number".to_owned()
        } else {
            return Ok(());
        };
        Err(Error::Parameter {
            name: "image",
            what: format!("image {at} of an ion cannot be scored: {wrong}"),
        })
    }

    /// How each image compares with the first.
    fn compare(&mut self, mut readings: [Reading<'_>; PEAKS]) -> [Likeness; PEAKS] {
        for reading in &mut readings {
            let values = reading.image.values;
            let copy = self.selection.get_mut(..values.len());
            if let Some(copy) = copy.filter(|copy| !copy.is_empty()) {
                copy.copy_from_slice(values);
                *reading = reading.below(selected(copy, self.acquired).min(f32::MAX));
            }
        }
        let [first, later @ ..] = readings;
        self.first.lay(first);
        let itself = self.first.itself(first);
        let [second, third, fourth] = later.map(|reading| self.first.compare(reading));
        self.first.clear(first.image.pixels);
        [itself, second, third, fourth]
    }
}
