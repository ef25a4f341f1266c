//! What a layer of an open dataset is: which values, of which sources, in which order and unit.

use std::sync::Arc;

use super::samples::alone;
use crate::api::layer::{IonOf, Layer};
use crate::api::opened::Opened;
use crate::api::problem::Problem;
use crate::ion::annotate::polarity;
use crate::ion::isotope::{Generation, Patterns};
use crate::ion::normalise::Normalise;
use crate::ion::window::Window;
use crate::raster::tiles::Order;
use crate::stack::exposure::Stack;
use crate::store::head::Head;

/// A layer, settled.
#[derive(Debug)]
pub(super) enum Subject {
    Stack(OfStack),
    Ion(OfIon),
}

/// The median of a stack or its scatter, or the median of one of its exposures alone, which is the exposure itself.
#[derive(Debug)]
pub(super) struct OfStack {
    pub(super) stack: Arc<Stack>,
    pub(super) shows: Shows,
    /// The dataset's sources, in the order of the stack's exposures.
    pub(super) sources: Vec<u32>,
    /// Exposures combined, where it is no single one.
    pub(super) combined: Option<u32>,
    /// Cards that a FITS file of it carries.
    pub(super) cards: Vec<String>,
}

/// What is shown of the values of a pixel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shows {
    Median,
    Rms,
    /// How many there are.
    Count,
}

impl OfStack {
    /// Whether the counts are meant and not the values.
    pub(super) fn is_count(&self) -> bool {
        self.shows == Shows::Count
    }

    /// Whether values are f64.
    pub(super) fn wide(&self) -> bool {
        self.stack.wide && !self.is_count()
    }
}

/// One ion image.
#[derive(Debug)]
pub(super) struct OfIon {
    pub(super) head: Arc<Head>,
    pub(super) mz: f64,
    pub(super) window: Window,
    pub(super) norm: Normalise,
}

impl Subject {
    /// The layer of a dataset.
    ///
    /// # Errors
    /// `layer` (404), listing those that there are; what is wrong with the ion.
    pub(super) fn of(layer: &Layer, opened: &Opened) -> Result<Self, Problem> {
        match (opened, layer) {
            (Opened::Stack { stack, .. }, Layer::Median | Layer::Rms | Layer::Count) => {
                let exposures = u32::try_from(stack.exposures.len()).unwrap_or(u32::MAX);
                Ok(Self::Stack(OfStack {
                    stack: Arc::clone(stack),
                    shows: match layer {
                        Layer::Rms => Shows::Rms,
                        Layer::Count => Shows::Count,
                        _ => Shows::Median,
                    },
                    sources: (0..exposures).collect(),
                    combined: Some(exposures),
                    cards: stack.cards.clone(),
                }))
            }
            (Opened::Stack { stack, images, .. }, Layer::Frame(number)) => {
                let index = *number as usize - 1;
                let Some(image) = images.get(index) else {
                    return Err(no_layer(layer, opened));
                };
                let mut one = alone(stack, index, image.encoding.is_wide());
                one.wcs.clone_from(&image.wcs);
                Ok(Self::Stack(OfStack {
                    stack: Arc::new(one),
                    shows: Shows::Median,
                    sources: vec![number - 1],
                    combined: None,
                    cards: image.cards.clone(),
                }))
            }
            (Opened::Ions { head, .. }, Layer::Ion { what, tol, norm }) => {
                let mz = mz(what, layer, opened)?;
                Ok(Self::Ion(OfIon {
                    head: Arc::clone(head),
                    mz,
                    window: tol.around(mz)?,
                    norm: *norm,
                }))
            }
            _ => Err(no_layer(layer, opened)),
        }
    }

    /// Columns and rows.
    pub(super) fn size(&self) -> (u32, u32) {
        match self {
            Self::Stack(of) => (of.stack.width, of.stack.height),
            Self::Ion(of) => {
                let contents = &of.head.layout.contents;
                (contents.width, contents.height)
            }
        }
    }

    /// Whether row 0 is the lowest, as in FITS, or the highest, as in an imaging dataset.
    pub(super) fn order(&self) -> Order {
        match self {
            Self::Stack(_) => Order::BottomUp,
            Self::Ion(_) => Order::TopDown,
        }
    }

    /// Whether values are f64.
    pub(super) fn wide(&self) -> bool {
        matches!(self, Self::Stack(of) if of.wide())
    }

    /// The unit of the values.
    pub(super) fn unit(&self) -> Option<&str> {
        match self {
            Self::Stack(of) if !of.is_count() => of.stack.unit.as_deref(),
            _ => None,
        }
    }
}

/// 404 with the layers that there are.
fn no_layer(layer: &Layer, opened: &Opened) -> Problem {
    let there = match opened {
        Opened::Stack { stack, .. } => {
            format!(
                "median, rms, count and frame-1 to frame-{}",
                stack.exposures.len()
            )
        }
        Opened::Ions { .. } => "ions such as C6H12O6+Na and m/z such as mz-203.0526".to_owned(),
    };
    Problem::new(
        "layer",
        format!("layer \"{layer}\" is none of this dataset's, which has {there}"),
    )
}

/// The m/z that an ion image is of.
fn mz(what: &IonOf, layer: &Layer, opened: &Opened) -> Result<f64, Problem> {
    let (composition, modifier, isotope) = match what {
        IonOf::Mz(mz) => return Ok(*mz),
        IonOf::Formula {
            composition,
            modifier,
            isotope,
        } => (composition, modifier, *isotope),
    };
    let Opened::Ions {
        head, instrument, ..
    } = opened
    else {
        return Err(no_layer(layer, opened));
    };
    let wrong = |what: &str| Problem::new("layer", format!("layer \"{layer}\": {what}"));
    let adduct = modifier.to_string();
    let charge = polarity::choose(
        &head.file,
        &head.meta.polarity,
        modifier.charge(),
        &[adduct],
    );
    let whole = modifier
        .apply(composition)
        .ok_or_else(|| wrong("the modifier takes away more than there is"))?;
    let mut patterns = Patterns::new(*instrument, Generation::Current, charge.charge)?;
    let pattern = patterns
        .pattern(&whole)
        .map_err(|error| wrong(&error.to_string()))?;
    let there = usize::from(pattern.peaks);
    pattern.mz[..there]
        .get(usize::from(isotope))
        .copied()
        .ok_or_else(|| {
            wrong(&format!(
                "it has {there} isotope peaks at this resolving power; ask for isotope 0 to {}",
                there.saturating_sub(1)
            ))
        })
}
