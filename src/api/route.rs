//! Which of the addresses is asked for, and what its path and query say.

use super::layer::{Given, Layer};
use super::path::Target;
use super::problem::Problem;
use super::query::Query;
use super::request::Request;
use crate::stack::plan::Rect;

/// The form of a cut-out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A 16-bit grey PNG.
    Png,
    /// A FITS file.
    Fits,
}

/// A dataset as an address names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatasetRef {
    /// Its name.
    pub name: String,
    /// The version that is asked for, where one is.
    pub version: Option<String>,
}

/// What is asked for.
#[derive(Debug, Clone, PartialEq)]
pub enum Route {
    /// The service document.
    Service,
    /// The `OpenAPI` document.
    OpenApi,
    /// What a dataset is.
    Info,
    /// A tile: level, column, row; its edge in pixels; with an alpha channel.
    Tile {
        /// The layer.
        layer: Layer,
        /// The level, 0 being the coarsest.
        z: u32,
        /// The column, to the right.
        x: u32,
        /// The row, down.
        y: u32,
        /// Pixels of an edge, 256 or 512.
        tile: u32,
        /// Grey with alpha in place of grey.
        alpha: bool,
    },
    /// A part of a layer, or all of it.
    Cutout {
        /// The layer.
        layer: Layer,
        /// The form.
        format: Format,
        /// The part; all if `None`.
        bbox: Option<Rect>,
    },
    /// One value.
    Point {
        /// The layer.
        layer: Layer,
        /// The column.
        x: u32,
        /// The row.
        y: u32,
    },
    /// The values of a pixel in all exposures, or its mass spectrum; without a pixel the mean spectrum.
    Spectrum {
        /// The pixel.
        at: Option<(u32, u32)>,
    },
    /// Numbers about a layer.
    Statistics {
        /// The layer.
        layer: Layer,
        /// The part; all if `None`.
        bbox: Option<Rect>,
    },
    /// A layer as map libraries want to know it.
    TileJson {
        /// The layer.
        layer: Layer,
    },
    /// A new job: POST.
    JobNew,
    /// How far a job is; with DELETE its end.
    JobOf {
        /// The job.
        id: String,
    },
    /// A result of a job.
    JobFile {
        /// The job.
        id: String,
        /// The file's name.
        file: String,
    },
}

/// What an address is, before its numbers are read: enough to say which methods it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Service,
    OpenApi,
    Info,
    Tile,
    Cutout(Format),
    Point,
    Spectrum,
    Statistics,
    TileJson,
    Jobs,
    Job,
    JobFile,
}

impl Shape {
    fn of(segments: &[&str]) -> Option<Self> {
        Some(match segments {
            [] | ["v1"] => Self::Service,
            ["openapi.json"] => Self::OpenApi,
            ["v1", _] | ["v1", _, "info"] => Self::Info,
            ["v1", _, "spectrum"] => Self::Spectrum,
            ["v1", _, "jobs"] => Self::Jobs,
            ["v1", _, "jobs", _] => Self::Job,
            ["v1", _, "jobs", _, _] => Self::JobFile,
            ["v1", _, file] if file.strip_suffix(".png").is_some() => Self::Cutout(Format::Png),
            ["v1", _, file] if file.strip_suffix(".fits").is_some() => Self::Cutout(Format::Fits),
            ["v1", _, _, "statistics"] => Self::Statistics,
            ["v1", _, _, "tilejson.json"] => Self::TileJson,
            ["v1", _, _, "point", _] => Self::Point,
            ["v1", _, _, _, _, file] if file.strip_suffix(".png").is_some() => Self::Tile,
            _ => return None,
        })
    }

    fn allow(self) -> &'static str {
        match self {
            Self::Jobs => "POST, OPTIONS",
            Self::Job => "GET, HEAD, DELETE, OPTIONS",
            _ => "GET, HEAD, OPTIONS",
        }
    }

    /// The parameters that its query may have.
    fn parameters(self) -> &'static [&'static str] {
        match self {
            Self::Tile => &["alpha", "isotope", "norm", "tile", "tol"],
            Self::Cutout(_) | Self::Statistics => &["bbox", "isotope", "norm", "tol"],
            Self::Point | Self::TileJson => &["isotope", "norm", "tol"],
            Self::Spectrum => &["x", "y"],
            _ => &[],
        }
    }
}

/// A request that was read.
#[derive(Debug, Clone, PartialEq)]
pub enum Routed {
    /// OPTIONS of anything: these are the methods.
    Options(&'static str),
    /// An address of ours.
    To(Option<DatasetRef>, Route),
    /// DELETE of a job.
    Cancel(DatasetRef, String),
}

/// Reads a request as far as it can be read without knowing the datasets.
///
/// # Errors
/// 400 and 414 as [`Target::parse`] and [`Query::parse`], 404 `route` for an address that is none, 405 with `Allow`,
/// 400 `parameter` for numbers that are none and for unknown parameters, 404 for layers and names that cannot be.
pub fn route(request: &Request<'_>) -> Result<Routed, Problem> {
    if request.method == "OPTIONS" {
        return Ok(Routed::Options(allowed(request.target)));
    }
    let target = Target::parse(request.target)?;
    let segments: Vec<&str> = target.segments.iter().map(String::as_str).collect();
    let shape = Shape::of(&segments).ok_or_else(|| {
        Problem::new(
            "route",
            "this address is none of those that /openapi.json lists",
        )
    })?;
    let allow = shape.allow();
    if !allow.split(", ").any(|method| method == request.method) {
        let shown: String = request.method.chars().take(32).collect();
        return Err(
            Problem::new("method", format!("{shown:?} is none of {allow}"))
                .with("allow", allow.split(", ").collect::<Vec<_>>())
                .with_header("Allow", allow),
        );
    }
    let mut query = Query::parse(target.query)?;
    let dataset = segments.get(1).map(|text| dataset(text)).transpose()?;
    let route = read(shape, &segments, &mut query)?;
    query.end(shape.parameters())?;
    match (dataset, route) {
        (Some(dataset), Route::JobOf { id }) if request.method == "DELETE" => {
            Ok(Routed::Cancel(dataset, id))
        }
        (dataset, route) => Ok(Routed::To(dataset, route)),
    }
}

/// The methods of an address; those of reading where there is none.
fn allowed(target: &str) -> &'static str {
    let shape = Target::parse(target).ok().and_then(|target| {
        let segments: Vec<&str> = target.segments.iter().map(String::as_str).collect();
        Shape::of(&segments)
    });
    shape.map_or("GET, HEAD, OPTIONS", Shape::allow)
}

fn read(shape: Shape, segments: &[&str], query: &mut Query) -> Result<Route, Problem> {
    let segment = |at: usize| segments.get(at).copied().unwrap_or("");
    Ok(match shape {
        Shape::Service => Route::Service,
        Shape::OpenApi => Route::OpenApi,
        Shape::Info => Route::Info,
        Shape::Jobs => Route::JobNew,
        Shape::Job => Route::JobOf {
            id: job(segment(3))?,
        },
        Shape::JobFile => Route::JobFile {
            id: job(segment(3))?,
            file: segment(4).to_owned(),
        },
        Shape::Spectrum => Route::Spectrum { at: pixel(query)? },
        Shape::Statistics => Route::Statistics {
            bbox: rectangle(query)?,
            layer: layer(segment(2), query)?,
        },
        Shape::TileJson => Route::TileJson {
            layer: layer(segment(2), query)?,
        },
        Shape::Cutout(format) => {
            let end = if format == Format::Png {
                ".png"
            } else {
                ".fits"
            };
            Route::Cutout {
                bbox: rectangle(query)?,
                layer: layer(segment(2).strip_suffix(end).unwrap_or(""), query)?,
                format,
            }
        }
        Shape::Point => {
            let text = segment(4);
            let (x, y) = text.split_once(',').ok_or_else(|| {
                wrong(
                    "point",
                    text,
                    "a point is two whole numbers, as in point/10,20",
                )
            })?;
            Route::Point {
                x: whole("x", x)?,
                y: whole("y", y)?,
                layer: layer(segment(2), query)?,
            }
        }
        Shape::Tile => Route::Tile {
            z: whole("z", segment(3))?,
            x: whole("x", segment(4))?,
            y: whole("y", segment(5).strip_suffix(".png").unwrap_or(""))?,
            tile: edge(query)?,
            alpha: alpha(query)?,
            layer: layer(segment(2), query)?,
        },
    })
}

fn layer(name: &str, query: &mut Query) -> Result<Layer, Problem> {
    let [tol, norm, isotope] = ["tol", "norm", "isotope"].map(|name| query.take(name));
    let given = Given {
        tol: tol.as_deref(),
        norm: norm.as_deref(),
        isotope: isotope.as_deref(),
    };
    Layer::parse(name, &given)
}

/// `name` or `name@version`.
fn dataset(text: &str) -> Result<DatasetRef, Problem> {
    let (name, version) = match text.split_once('@') {
        Some((name, version)) => (name, Some(version)),
        None => (text, None),
    };
    let known = is_name(name) && version.is_none_or(|version| is_hex(version, 8));
    if !known {
        let shown: String = text.chars().take(80).collect();
        return Err(Problem::new(
            "dataset",
            format!(
                "{shown:?} is no name of a dataset, with or without @ and its version of 8 hexadecimal digits"
            ),
        ));
    }
    Ok(DatasetRef {
        name: name.to_owned(),
        version: version.map(str::to_owned),
    })
}

/// Whether a text can be the name of a dataset or of a list: a small letter or a digit, then at most 63 of those and of
/// `.`, `_` and `-`.
#[must_use]
pub fn is_name(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let first = text.bytes().next().is_some_and(plain);
    first
        && text.len() <= 64
        && text
            .bytes()
            .all(|byte| plain(byte) || b"._-".contains(&byte))
}

pub(super) fn is_hex(text: &str, len: usize) -> bool {
    let digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    text.len() == len && text.bytes().all(digit)
}

fn job(id: &str) -> Result<String, Problem> {
    if is_hex(id, 16) {
        return Ok(id.to_owned());
    }
    let shown: String = id.chars().take(32).collect();
    let detail = format!("{shown:?} is no job: they are named by 16 hexadecimal digits");
    Err(Problem::new("job", detail))
}

/// `x` and `y`, both or none.
fn pixel(query: &mut Query) -> Result<Option<(u32, u32)>, Problem> {
    match (query.take("x"), query.take("y")) {
        (None, None) => Ok(None),
        (Some(x), Some(y)) => Ok(Some((whole("x", &x)?, whole("y", &y)?))),
        (x, y) => {
            let given = x.or(y).unwrap_or_default();
            whole("pixel", &given)?;
            let detail = "x or y alone names no pixel; give both";
            Err(Problem::new("outside", detail))
        }
    }
}

/// `bbox=x0,y0,x1,y1`.
fn rectangle(query: &mut Query) -> Result<Option<Rect>, Problem> {
    let Some(text) = query.take("bbox") else {
        return Ok(None);
    };
    let numbers = text.split(',').map(|number| whole("bbox", number));
    let numbers: Vec<u32> = numbers.collect::<Result<_, _>>()?;
    let [x0, y0, x1, y1] = numbers[..] else {
        return Err(wrong(
            "bbox",
            &text,
            "a rectangle is four whole numbers x0,y0,x1,y1",
        ));
    };
    if x0 >= x1 || y0 >= y1 {
        let detail = format!(
            "bbox={text} holds no pixel: x1 and y1 are exclusive, and must be greater than x0 and y0"
        );
        return Err(Problem::new("outside", detail));
    }
    Ok(Some(Rect { x0, y0, x1, y1 }))
}

fn edge(query: &mut Query) -> Result<u32, Problem> {
    match query.take("tile").as_deref() {
        None | Some("256") => Ok(256),
        Some("512") => Ok(512),
        Some(text) => Err(wrong("tile", text, "tiles have 256 or 512 pixels")),
    }
}

fn alpha(query: &mut Query) -> Result<bool, Problem> {
    match query.take("alpha").as_deref() {
        None | Some("0") => Ok(false),
        Some("1") => Ok(true),
        Some(text) => Err(wrong("alpha", text, "write 0 or 1")),
    }
}

/// A whole number; one beyond 32 bits is larger than every image, and counts as the largest.
fn whole(name: &str, text: &str) -> Result<u32, Problem> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(wrong(name, text, "a whole number is digits alone"));
    }
    Ok(text.parse().unwrap_or(u32::MAX))
}

fn wrong(name: &str, text: &str, why: &str) -> Problem {
    let shown: String = text.chars().take(48).collect();
    Problem::new("parameter", format!("{name}={shown}: {why}")).with("parameter", name)
}
