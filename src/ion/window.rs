//! Windows of m/z: closed intervals, in f64.

use std::ops::Range;

use crate::error::{Error, Result};

/// A closed interval of m/z: a peak on either border is inside.
///
/// Borders are f64, and peaks are compared in f64: an m/z that is stored as f32 is widened first, as numpy
/// does, so that no border moves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// Smallest m/z inside. May be negative; no peak is.
    pub lo: f64,
    /// Largest m/z inside.
    pub hi: f64,
}

/// How far from an m/z a peak may lie, to either side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Tolerance {
    /// Millionths of the m/z that is asked for, not of the m/z that is measured.
    Ppm(f64),
    /// The unit of m/z itself, which for singly charged ions is the dalton.
    Dalton(f64),
}

impl Tolerance {
    /// The window of this half width around `mz`.
    ///
    /// # Errors
    /// [`Error::Parameter`] as [`Window::ppm`] and [`Window::dalton`].
    pub fn around(self, mz: f64) -> Result<Window> {
        match self {
            Self::Ppm(ppm) => Window::ppm(mz, ppm),
            Self::Dalton(da) => Window::dalton(mz, da),
        }
    }
}

impl Window {
    /// The window from `lo` to `hi`, both inside.
    ///
    /// # Errors
    /// [`Error::Parameter`] unless both are finite, in order, and `hi` is not negative.
    pub fn new(lo: f64, hi: f64) -> Result<Self> {
        let window = Self { lo, hi };
        window.check()?;
        Ok(window)
    }

    /// `mz` ± `mz`·`ppm`·10⁻⁶, the half width that METASPACE and most of the field use.
    ///
    /// # Errors
    /// [`Error::Parameter`] unless both are finite and greater than 0.
    pub fn ppm(mz: f64, ppm: f64) -> Result<Self> {
        positive("m/z", mz, "give an m/z such as 885.5498")?;
        positive("ppm", ppm, "give a tolerance such as 3")?;
        Self::around(mz, mz * ppm * 1e-6)
    }

    /// `mz` ± `da`.
    ///
    /// # Errors
    /// [`Error::Parameter`] unless both are finite and greater than 0.
    pub fn dalton(mz: f64, da: f64) -> Result<Self> {
        positive("m/z", mz, "give an m/z such as 885.5498")?;
        positive("da", da, "give a tolerance such as 0.01")?;
        Self::around(mz, da)
    }

    fn around(mz: f64, half: f64) -> Result<Self> {
        Self::new(mz - half, mz + half)
    }

    /// Whether a peak at `mz` is inside; NaN never is.
    #[must_use]
    pub fn contains(&self, mz: f64) -> bool {
        self.lo <= mz && mz <= self.hi
    }

    /// The peaks inside, of m/z in ascending order.
    ///
    /// # Cost
    /// Two binary searches.
    #[must_use]
    pub fn find(&self, mz: &[f64]) -> Range<usize> {
        let start = mz.partition_point(|mz| *mz < self.lo);
        let end = start + mz[start..].partition_point(|mz| *mz <= self.hi);
        start..end
    }

    /// Refuses borders that enclose nothing; they may come from anywhere, since the fields are open.
    pub(super) fn check(&self) -> Result<()> {
        if self.lo.is_finite() && self.hi.is_finite() && self.lo <= self.hi && self.hi >= 0.0 {
            return Ok(());
        }
        Err(Error::Parameter {
            name: "window",
            what: format!(
                "{} to {} is no interval of m/z; give finite borders in ascending order",
                self.lo, self.hi
            ),
        })
    }
}

fn positive(name: &'static str, value: f64, advice: &str) -> Result<()> {
    if value.is_finite() && value > 0.0 {
        return Ok(());
    }
    Err(Error::Parameter {
        name,
        what: format!("{value} is not a finite number greater than 0; {advice}"),
    })
}
