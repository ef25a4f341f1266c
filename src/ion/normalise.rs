//! Normalising an image by what a pixel's whole spectrum holds, and where its display is cut.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::store::PixelTable;

/// What values are divided by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Normalise {
    /// By nothing: the intensities as they were measured.
    #[default]
    None,
    /// By the total ion current: the sum of a pixel's intensities.
    Tic,
    /// By the root mean square of a pixel's intensities.
    Rms,
}

impl Normalise {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::None, Self::Tic, Self::Rms];

    /// Its name, as users write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Tic => "tic",
            Self::Rms => "rms",
        }
    }
}

impl fmt::Display for Normalise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Normalise {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|kind| kind.name() == text)
            .ok_or_else(|| Error::Parameter {
                name: "normalise",
                what: format!("{text:?} is none of none, tic, rms"),
            })
    }
}

/// The norms of all pixels of a dataset, and their mean.
///
/// A value becomes value / norm(pixel) · mean, where the mean is over the acquired pixels of all slices whose
/// norm is greater than 0: so values keep their order of magnitude, and slices stay comparable. A pixel whose
/// norm is 0 becomes 0. NaN, no data, stays NaN.
#[derive(Debug, Clone, PartialEq)]
pub struct Norms {
    norms: Vec<f32>,
    mean: f64,
}

impl Norms {
    /// Takes one norm a pixel; those of pixels that were never acquired are 0 or NaN.
    ///
    /// # Errors
    /// [`Error::Parameter`] naming the first pixel whose norm is negative or infinite.
    pub fn new(norms: Vec<f32>) -> Result<Self> {
        if let Some(pixel) = norms
            .iter()
            .position(|norm| norm.is_infinite() || *norm < 0.0)
        {
            return Err(Error::Parameter {
                name: "normalise",
                what: format!("the norm of pixel {pixel} is {}", norms[pixel]),
            });
        }
        let known = || norms.iter().filter(|norm| **norm > 0.0);
        let count = known().count();
        #[expect(clippy::cast_precision_loss, reason = "a number of pixels, below 2^52")]
        let mean = if count == 0 {
            0.0
        } else {
            known().map(|norm| f64::from(*norm)).sum::<f64>() / count as f64
        };
        Ok(Self { norms, mean })
    }

    /// The norms of a store, of which only one kind is kept; `None` where nothing is normalised.
    ///
    /// # Errors
    /// As [`Norms::new`].
    pub fn of(table: PixelTable, kind: Normalise) -> Result<Option<Self>> {
        match kind {
            Normalise::None => Ok(None),
            Normalise::Tic => Self::new(table.tic).map(Some),
            Normalise::Rms => Self::new(table.rms).map(Some),
        }
    }

    /// The mean of the norms that are greater than 0; 0 if there is none.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// Normalises the image of the slice whose first pixel has the number `first`, in f64 and rounded once;
    /// the answer is the largest value, 0 where none is positive.
    ///
    /// # Errors
    /// [`Error::Parameter`] if there are fewer norms than pixels.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "rounded to the nearest f32, infinite beyond the largest"
    )]
    pub fn apply(&self, first: u32, values: &mut [f32]) -> Result<f32> {
        let start = first as usize;
        let Some(norms) = start
            .checked_add(values.len())
            .and_then(|end| self.norms.get(start..end))
        else {
            return Err(Error::Parameter {
                name: "normalise",
                what: format!(
                    "{} norms for the {} pixels from number {first} on",
                    self.norms.len(),
                    values.len()
                ),
            });
        };
        let mut max = 0.0_f32;
        for (value, norm) in values.iter_mut().zip(norms) {
            if value.is_nan() {
                continue;
            }
            *value = if *norm > 0.0 {
                (f64::from(*value) / f64::from(*norm) * self.mean) as f32
            } else {
                0.0
            };
            max = max.max(*value);
        }
        Ok(max)
    }
}
