//! The spectra as they come, within a budget.

use std::ops::Range;

use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::imzml::dataset::{Grid, Polarity, Representation, Spectrum};

/// Most pixels that a dataset may span: 8192 × 8192.
pub const PIXEL_LIMIT: u64 = 1 << 26;

const ENTRY: u64 = size_of::<Spectrum>() as u64;
const WHAT: &str = "the index of the spectra";

/// Spectra that are first made room for.
const FIRST: u64 = 256;

/// The spectra so far, the box around them and what they are.
#[derive(Debug)]
pub(super) struct Index {
    pub(super) spectra: Vec<Spectrum>,
    pub(super) budget: Budget,
    low: [i32; 3],
    high: [i32; 3],
    /// Spectra that are positive, negative; picked, whole.
    pub(super) positive: u64,
    pub(super) negative: u64,
    pub(super) centroid: u64,
    pub(super) profile: u64,
}

impl Index {
    pub(super) fn new(memory: u64) -> Self {
        Self {
            spectra: Vec::new(),
            budget: Budget::new(memory),
            low: [i32::MAX; 3],
            high: [i32::MIN; 3],
            positive: 0,
            negative: 0,
            centroid: 0,
            profile: 0,
        }
    }

    /// Makes room for as many spectra as are announced, if the budget has it: a wrong announcement
    /// does no harm.
    pub(super) fn announce(&mut self, count: u64) {
        if self.spectra.is_empty() && self.spectra.capacity() == 0 {
            let _ = self.grow(count);
        }
    }

    pub(super) fn push(&mut self, spectrum: Spectrum) -> Result<()> {
        if self.spectra.len() == self.spectra.capacity() {
            let have = self.spectra.len() as u64;
            self.grow((have + have / 2).max(FIRST))?;
        }
        match spectrum.polarity() {
            Polarity::Positive => self.positive += 1,
            Polarity::Negative => self.negative += 1,
            Polarity::Unknown | Polarity::Mixed => {}
        }
        match spectrum.representation() {
            Representation::Centroid => self.centroid += 1,
            Representation::Profile => self.profile += 1,
            Representation::Unknown => {}
        }
        for (axis, place) in [spectrum.x, spectrum.y, spectrum.z].into_iter().enumerate() {
            self.low[axis] = self.low[axis].min(place);
            self.high[axis] = self.high[axis].max(place);
        }
        self.spectra.push(spectrum);
        Ok(())
    }

    /// Room for `count` spectra in all. While the old ones are moved, both are held.
    fn grow(&mut self, count: u64) -> Result<()> {
        let old = self.spectra.capacity() as u64 * ENTRY;
        let new = count.saturating_mul(ENTRY);
        self.budget.reserve(new, WHAT)?;
        let more = usize::try_from(count).map(|count| count - self.spectra.len());
        let room = more.map(|more| self.spectra.try_reserve_exact(more));
        if !matches!(room, Ok(Ok(()))) {
            self.budget.release(new);
            return Err(Error::Budget {
                need: new,
                have: self.budget.limit() - self.budget.held(),
                what: WHAT.to_owned(),
            });
        }
        self.budget.release(old);
        Ok(())
    }

    /// Why the box around the spectra would be no image with this one in it.
    pub(super) fn absurd(&self, spectrum: &Spectrum) -> Option<String> {
        let place = [spectrum.x, spectrum.y];
        let low = [0, 1].map(|axis| self.low[axis].min(place[axis]));
        let high = [0, 1].map(|axis| self.high[axis].max(place[axis]));
        let [width, height] = [0, 1].map(|axis| span(low[axis], high[axis]));
        if width.saturating_mul(height) <= PIXEL_LIMIT {
            return None;
        }
        Some(format!(
            "with its position x={} y={} the grid would span x={} to {} and y={} to {}, more than \
             {PIXEL_LIMIT} pixels, which is the limit: this position or one before it is wrong",
            spectrum.x, spectrum.y, low[0], high[0], low[1], high[1]
        ))
    }

    fn spans(&self) -> [u64; 3] {
        [0, 1, 2].map(|axis| span(self.low[axis], self.high[axis]))
    }

    /// The box around the spectra, which holds at least one and is not absurd; or why there is none.
    pub(super) fn grid(&mut self) -> Result<Result<Grid, String>> {
        let [width, height, depth] = self.spans();
        let slices = if depth == 1 {
            vec![self.low[2]]
        } else {
            self.slices()?
        };
        let area = width * height;
        if area.saturating_mul(slices.len() as u64) > PIXEL_LIMIT {
            return Ok(Err(format!(
                "{} slices of {width} × {height} pixels are more than {PIXEL_LIMIT} pixels, which is \
                 the limit; a position is wrong",
                slices.len()
            )));
        }
        #[expect(clippy::cast_possible_truncation, reason = "within the limit")]
        Ok(Ok(Grid {
            x0: self.low[0],
            y0: self.low[1],
            width: width as u32,
            height: height as u32,
            slices,
        }))
    }

    /// The z that occur, ascending.
    fn slices(&mut self) -> Result<Vec<i32>> {
        let mut slices = self.budget.allocate::<i32>(self.spectra.len(), WHAT)?;
        for (slice, spectrum) in slices.iter_mut().zip(&self.spectra) {
            *slice = spectrum.z;
        }
        slices.sort_unstable();
        slices.dedup();
        let spare = (slices.capacity() - slices.len()) as u64;
        slices.shrink_to_fit();
        self.budget.release(spare * size_of::<i32>() as u64);
        Ok(slices)
    }

    /// Positions at which there is more than one spectrum.
    pub(super) fn duplicates(&mut self, grid: &Grid) -> Result<u64> {
        let count = self.spectra.len();
        let mut pixels = self
            .budget
            .allocate::<u32>(count, "finding spectra at one position")?;
        for (pixel, spectrum) in pixels.iter_mut().zip(&self.spectra) {
            *pixel = grid.pixel(spectrum);
        }
        pixels.sort_unstable();
        let twice = pixels.chunk_by(|a, b| a == b).filter(|same| same.len() > 1);
        let duplicates = twice.count() as u64;
        self.budget.release(count as u64 * size_of::<u32>() as u64);
        Ok(duplicates)
    }

    /// Gives spectra that say nothing themselves what the file says of all.
    pub(super) fn inherit(&mut self, polarity: Polarity, representation: Representation) {
        let count = self.spectra.len() as u64;
        if self.positive + self.negative == count && self.centroid + self.profile == count {
            return;
        }
        for spectrum in &mut self.spectra {
            let polarity = match spectrum.polarity() {
                Polarity::Unknown => polarity,
                own => own,
            };
            let representation = match spectrum.representation() {
                Representation::Unknown => representation,
                own => own,
            };
            let position = [spectrum.x, spectrum.y, spectrum.z];
            let (mz, intensity) = (spectrum.mz(), spectrum.intensity());
            *spectrum = Spectrum::new(mz, intensity, position, polarity, representation);
        }
        let count_of = |spectra: &[Spectrum], is: &dyn Fn(&Spectrum) -> bool| {
            spectra.iter().filter(|spectrum| is(spectrum)).count() as u64
        };
        self.positive = count_of(&self.spectra, &|s| s.polarity() == Polarity::Positive);
        self.negative = count_of(&self.spectra, &|s| s.polarity() == Polarity::Negative);
        let is = |wanted| move |s: &Spectrum| s.representation() == wanted;
        self.centroid = count_of(&self.spectra, &is(Representation::Centroid));
        self.profile = count_of(&self.spectra, &is(Representation::Profile));
    }

    /// The largest x and y.
    pub(super) fn ends(&self) -> Range<[i32; 2]> {
        [self.low[0], self.low[1]]..[self.high[0], self.high[1]]
    }
}

/// Whole numbers from `low` to `high`.
fn span(low: i32, high: i32) -> u64 {
    let span = i64::from(high) - i64::from(low) + 1;
    u64::try_from(span).unwrap_or(0)
}
