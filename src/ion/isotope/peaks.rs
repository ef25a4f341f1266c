//! Maxima of an envelope on its grid, and their centroids.

use crate::ion::isotope::{PEAKS, Pattern};

/// Points to either side of a maximum that its centroid is taken over.
pub(super) const SIDE: usize = 7;

/// Points that a place on the grid needs around it to be judged.
const MARGIN: usize = SIDE + 1;

/// Points that are held at a time.
const HELD: usize = 2048;

/// Smallest height of a peak, relative to the most probable isotopologue's.
const LEAST: f64 = 1e-4;

/// The points of the grid from one empty space to the next, as many of them as are needed, and the peaks so far.
#[derive(Debug, Clone)]
pub(super) struct Points {
    mz: Box<[f64; HELD]>,
    height: Box<[f64; HELD]>,
    held: usize,
    peaks: [(f64, f64); PEAKS],
    count: u8,
}

impl Points {
    /// Bytes that it holds.
    pub(super) const BYTES: usize = 2 * HELD * size_of::<f64>();

    pub(super) fn new() -> Self {
        Self {
            mz: Box::new([0.0; HELD]),
            height: Box::new([0.0; HELD]),
            held: MARGIN,
            peaks: [(0.0, 0.0); PEAKS],
            count: 0,
        }
    }

    /// Forgets points and peaks.
    pub(super) fn clear(&mut self) {
        self.count = 0;
        self.peaks = [(0.0, 0.0); PEAKS];
        self.restart();
    }

    /// Appends at most `wanted` points `step` apart from `mz` on, with the height 0: gives their heights.
    ///
    /// At least one is appended.
    pub(super) fn append(&mut self, mz: f64, step: f64, wanted: usize) -> &mut [f64] {
        if self.held + MARGIN >= HELD {
            self.find();
            // What could not be judged yet, and what is before it.
            let from = self.held - 2 * MARGIN;
            self.mz.copy_within(from..self.held, 0);
            self.height.copy_within(from..self.held, 0);
            self.held = 2 * MARGIN;
        }
        let start = self.held;
        let end = (start + wanted.max(1)).min(HELD - MARGIN);
        for (place, point) in self.mz[start..end].iter_mut().enumerate() {
            #[expect(clippy::cast_precision_loss, reason = "at most HELD")]
            let place = place as f64;
            *point = mz + place * step;
        }
        self.height[start..end].fill(0.0);
        self.held = end;
        &mut self.height[start..end]
    }

    /// Says that `count` points of the height 0 follow, `step` apart from `mz` on.
    pub(super) fn skip(&mut self, mz: f64, step: f64, count: u64) {
        match usize::try_from(count) {
            Ok(count) if count < MARGIN => {
                let mut done = 0;
                while done < count {
                    #[expect(clippy::cast_precision_loss, reason = "at most MARGIN")]
                    let from = mz + done as f64 * step;
                    done += self.append(from, step, count - done).len();
                }
            }
            _ => self.finish(),
        }
    }

    /// Says that nothing but empty space follows.
    pub(super) fn finish(&mut self) {
        self.mz[self.held..self.held + MARGIN].fill(0.0);
        self.height[self.held..self.held + MARGIN].fill(0.0);
        self.held += MARGIN;
        self.find();
        self.restart();
    }

    /// The peaks that were found; `None` if none was.
    pub(super) fn pattern(&self) -> Option<Pattern> {
        let (_, highest) = self.peaks[0];
        let mut kept = self.peaks;
        let mut count = usize::from(self.count);
        while count > 0 && kept[count - 1].1 / highest < LEAST {
            count -= 1;
        }
        let kept = kept.get_mut(..count).filter(|kept| !kept.is_empty())?;
        kept.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut pattern = Pattern {
            mz: [0.0; PEAKS],
            intensity: [0.0; PEAKS],
            peaks: 0,
        };
        for (place, (mz, height)) in kept.iter().enumerate() {
            pattern.mz[place] = *mz;
            pattern.intensity[place] = height / highest * 100.0;
            pattern.peaks += 1;
        }
        Some(pattern)
    }

    /// As at the start, after empty space.
    fn restart(&mut self) {
        self.mz[..MARGIN].fill(0.0);
        self.height[..MARGIN].fill(0.0);
        self.held = MARGIN;
    }

    /// Finds the maxima at all places that have a margin to either side.
    fn find(&mut self) {
        for place in MARGIN..self.held.saturating_sub(MARGIN) {
            let [before, here, after] = [place - 1, place, place + 1].map(|at| self.height[at]);
            if here >= LEAST && before < here && here >= after {
                let mz = self.centroid(place);
                self.keep(mz, here);
            }
        }
    }

    /// The mean m/z, weighted by height, of the points around a maximum.
    ///
    /// To the left as long as the envelope descends, to the right until it rises: the last point before it does is left
    /// out, as cpyMSpec leaves it out.
    fn centroid(&self, place: usize) -> f64 {
        let mut start = place;
        while start > place - SIDE && self.height[start - 1] < self.height[start] {
            start -= 1;
        }
        let last = place + SIDE;
        let mut end = place + 1;
        while end <= last && (end == last || self.height[end + 1] <= self.height[end]) {
            end += 1;
        }
        let (mut moment, mut total) = (0.0, 0.0);
        for (mz, height) in self.mz[start..end].iter().zip(&self.height[start..end]) {
            moment += mz * height;
            total += height;
        }
        moment / total
    }

    /// Keeps a peak if it is among the highest so far; of equals the first.
    fn keep(&mut self, mz: f64, height: f64) {
        let known = usize::from(self.count);
        let place = self.peaks[..known].partition_point(|(_, other)| *other >= height);
        if place >= PEAKS {
            return;
        }
        self.peaks[place..].rotate_right(1);
        self.peaks[place] = (mz, height);
        if known < PEAKS {
            self.count += 1;
        }
    }
}
