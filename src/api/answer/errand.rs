//! What a request comes down to: which values are needed, and what becomes of them.

use std::ops::Range;
use std::sync::Arc;

use super::gather::Frame;
use super::subject::Subject;
use crate::api::layer::Layer;
use crate::api::opened::{Opened, Pyramid};
use crate::api::problem::Problem;
use crate::api::route::{Format, Route};
use crate::raster::pyramid;
use crate::raster::tiles::Order;
use crate::stack::plan::Rect;

/// A request, settled.
#[derive(Debug)]
pub(super) enum Errand {
    /// Values of a layer.
    Layer {
        subject: Subject,
        frame: Frame,
        form: Form,
    },
    /// A tile that was computed before.
    Stored {
        subject: Subject,
        frame: Frame,
        form: Form,
        pyramid: Arc<Pyramid>,
        range: Range<u64>,
    },
    /// One pixel of every exposure of a stack.
    Samples { x: u32, y: u32 },
    /// The spectrum of a pixel of a store.
    Spectrum { x: u32, y: u32 },
    /// Mean and maximum spectrum of a store.
    Mean,
}

/// What values of a layer are made into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Tile { edge: u32, alpha: bool },
    Png,
    Fits,
    Point,
    Statistics,
}

impl Errand {
    /// Settles a route; `None` for a tile that is not there.
    ///
    /// # Errors
    /// `layer` and `outside` (404); `route` (404) for a route that needs no values; `parameter` (400) for a stack's
    /// spectrum without a pixel.
    pub(super) fn new(route: &Route, opened: &Opened) -> Result<Option<Self>, Problem> {
        let (layer, bbox, form) = match route {
            Route::Tile {
                layer,
                z,
                x,
                y,
                tile,
                alpha,
            } => {
                let subject = Subject::of(layer, opened)?;
                let form = Form::Tile {
                    edge: *tile,
                    alpha: *alpha,
                };
                let frame = tile_frame(&subject, *tile, (*z, *x, *y))?;
                let place = (*z, *x, *y);
                return Ok(
                    frame.map(|frame| match stored(layer, opened, *tile, place) {
                        Some((pyramid, range)) => Self::Stored {
                            subject,
                            frame,
                            form,
                            pyramid,
                            range,
                        },
                        None => Self::Layer {
                            subject,
                            frame,
                            form,
                        },
                    }),
                );
            }
            Route::Spectrum { at } => return spectrum(*at, opened).map(Some),
            Route::Cutout {
                layer,
                format: Format::Png,
                bbox,
            } => (layer, *bbox, Form::Png),
            Route::Cutout { layer, bbox, .. } => (layer, *bbox, Form::Fits),
            Route::Statistics { layer, bbox } => (layer, *bbox, Form::Statistics),
            Route::Point { layer, x, y } => (layer, Some(pixel(*x, *y)), Form::Point),
            _ => {
                let detail = "this address needs no values of the dataset";
                return Err(Problem::new("route", detail));
            }
        };
        let subject = Subject::of(layer, opened)?;
        let frame = Frame {
            rect: within(bbox, subject.size())?,
            halvings: None,
            order: subject.order(),
        };
        Ok(Some(Self::Layer {
            subject,
            frame,
            form,
        }))
    }
}

/// Where a tile lies in the dataset's pyramid, if it has one of tiles of this edge.
fn stored(
    layer: &Layer,
    opened: &Opened,
    edge: u32,
    (z, x, y): (u32, u32, u32),
) -> Option<(Arc<Pyramid>, Range<u64>)> {
    let Opened::Stack {
        pyramid: Some(pyramid),
        ..
    } = opened
    else {
        return None;
    };
    let cubes = &pyramid.cubes;
    let range = match layer {
        _ if cubes.pyramid.tile() != edge => None,
        Layer::Median => cubes.median(z, x, y),
        Layer::Count => cubes.count(z, x, y),
        _ => None,
    };
    Some((Arc::clone(pyramid), range?))
}

/// The rectangle of one pixel; saturated, so that a pixel beyond all images stays beyond.
fn pixel(x: u32, y: u32) -> Rect {
    Rect {
        x0: x,
        y0: y,
        x1: x.saturating_add(1),
        y1: y.saturating_add(1),
    }
}

fn within(bbox: Option<Rect>, (width, height): (u32, u32)) -> Result<Rect, Problem> {
    let rect = bbox.unwrap_or(Rect {
        x0: 0,
        y0: 0,
        x1: width,
        y1: height,
    });
    if rect.x0 < rect.x1 && rect.x1 <= width && rect.y0 < rect.y1 && rect.y1 <= height {
        return Ok(rect);
    }
    let Rect { x0, y0, x1, y1 } = rect;
    Err(Problem::new(
        "outside",
        format!("columns {x0} to {x1} and rows {y0} to {y1} (exclusive) are not all inside the image of {width} x {height} pixels"),
    )
    .with("width", width)
    .with("height", height))
}

fn tile_frame(
    subject: &Subject,
    edge: u32,
    (z, x, y): (u32, u32, u32),
) -> Result<Option<Frame>, Problem> {
    let (width, height) = subject.size();
    let pyramid = pyramid::Pyramid::new(width, height, edge)?;
    let Some(rect) = pyramid.tile_rect(z, x, y) else {
        return Ok(None);
    };
    // A pyramid counts rows as FITS does, from the lowest.
    let (y0, y1) = match subject.order() {
        Order::BottomUp => (rect.y0, rect.y1),
        Order::TopDown => (height - rect.y1, height - rect.y0),
    };
    Ok(Some(Frame {
        rect: Rect {
            x0: rect.x0,
            y0,
            x1: rect.x1,
            y1,
        },
        halvings: Some(pyramid.levels() - 1 - z),
        order: subject.order(),
    }))
}

fn spectrum(at: Option<(u32, u32)>, opened: &Opened) -> Result<Errand, Problem> {
    let Some((x, y)) = at else {
        return match opened {
            Opened::Ions { .. } => Ok(Errand::Mean),
            Opened::Stack { .. } => Err(Problem::new(
                "parameter",
                "the spectrum of a stack is that of a pixel; give x and y",
            )
            .with("parameter", "x")),
        };
    };
    within(Some(pixel(x, y)), opened.size())?;
    Ok(match opened {
        Opened::Stack { .. } => Errand::Samples { x, y },
        Opened::Ions { .. } => Errand::Spectrum { x, y },
    })
}
