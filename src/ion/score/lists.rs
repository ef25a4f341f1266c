//! Dense images in memory as the lists that scores are taken of.

use super::Sparse;
use super::first::{First, Likeness, Reading};
use super::lanes::count;
use crate::budget::Budget;
use crate::error::{Error, Result};

/// Images of the same pixels, each as a list of those that are not 0.
pub(super) struct Lists {
    images: Vec<(Vec<u32>, Vec<f32>)>,
    first: First,
    acquired: usize,
}

impl Lists {
    /// Takes images of which NaN in all of them is a pixel that was not acquired.
    pub(super) fn of(images: &[&[f32]], theory: &[f64]) -> Result<Self> {
        let pixels = checked(images, theory)?;
        let budget = &mut Budget::new(u64::MAX);
        let lists = images.iter().map(|image| list(image, budget));
        let acquired = images.iter().take(1).flat_map(|first| first.iter());
        Ok(Self {
            images: lists.collect::<Result<_>>()?,
            first: First::new(pixels, budget)?,
            acquired: acquired.filter(|value| !value.is_nan()).count(),
        })
    }

    /// How each compares with the first, which is at the front; none of them correlates with one that does not vary.
    pub(super) fn likenesses(self) -> Vec<Likeness> {
        let mut first = self.first;
        let readings = self
            .images
            .iter()
            .map(|(pixels, values)| Reading::of(Sparse { pixels, values }, count(self.acquired)));
        let compare = |(at, reading): (usize, Reading<'_>)| {
            if at == 0 {
                first.lay(reading);
                return first.itself(reading);
            }
            first.compare(reading)
        };
        readings.enumerate().map(compare).collect()
    }
}

/// The pixels of images that belong together.
fn checked(images: &[&[f32]], theory: &[f64]) -> Result<usize> {
    let wrong = |what| {
        Err(Error::Parameter {
            name: "images",
            what,
        })
    };
    let Some((first, later)) = images.split_first() else {
        return wrong("none are given; one for each isotope is needed".to_owned());
    };
    if images.len() != theory.len() {
        return wrong(format!(
            "{} images and {} intensities in theory: one for each is needed",
            images.len(),
            theory.len()
        ));
    }
    if u32::try_from(first.len()).is_err() {
        return wrong(format!("{} pixels are too many to score", first.len()));
    }
    for (at, image) in (1..).zip(later) {
        if image.len() != first.len() {
            return wrong(format!(
                "image {at} has {} pixels, the first {}",
                image.len(),
                first.len()
            ));
        }
        let mut pairs = image.iter().zip(*first);
        if let Some(pixel) = pairs.position(|(one, other)| one.is_nan() != other.is_nan()) {
            return wrong(format!(
                "pixel {pixel} is NaN, not acquired, either in image {at} or in the first, but not in both"
            ));
        }
    }
    Ok(first.len())
}

/// The pixels of an image that are neither 0 nor NaN.
fn list(image: &[f32], budget: &mut Budget) -> Result<(Vec<u32>, Vec<f32>)> {
    let touched = || {
        (0_u32..)
            .zip(image)
            .filter(|(_, value)| **value != 0.0 && !value.is_nan())
    };
    let mut pixels = budget.allocate(touched().count(), "the pixels of an image")?;
    let mut values = budget.allocate(pixels.len(), "the values of an image")?;
    for ((pixel, value), found) in pixels.iter_mut().zip(&mut values).zip(touched()) {
        (*pixel, *value) = (found.0, *found.1);
    }
    Ok((pixels, values))
}
