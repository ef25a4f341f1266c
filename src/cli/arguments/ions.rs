//! The grammar of the commands for imaging mass spectrometry.
//!
//! Positions are the file's own coordinates, as `sectile info` shows them; m/z is what a peak's
//! m/z is compared with.

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use sectile::ion::normalise::Normalise;
use sectile::ion::region::Region;
use sectile::ion::window::Tolerance;

use super::annotate::{Isotope, Polarity, Resolving, parse_isotope};
use super::parse_header;

/// How sources are read, and in how much memory.
#[derive(Debug, Args)]
pub struct Reading {
    /// Total memory for indexes, slots, scratch and tables.
    #[arg(long, value_name = "SIZE", default_value = "256MiB")]
    pub memory: String,
    /// Requests in flight at one time.
    #[arg(long, value_name = "R", default_value_t = 6, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub in_flight: u16,
    /// Send this with every request; may be given several times.
    #[arg(long = "header", value_name = "NAME: VALUE", value_parser = parse_header)]
    pub headers: Vec<(String, String)>,
}

/// What is packed, and how.
#[derive(Debug, Args)]
pub struct Packing {
    /// The .imzML file, or its URL; its .ibd is looked for beside it.
    #[arg(value_name = "IMZML")]
    pub imzml: String,
    /// The .ibd file or URL, where it does not lie beside the .imzML under the same name.
    #[arg(long, value_name = "IBD")]
    pub ibd: Option<String>,
    /// Leave out spectra that cannot be read, and count them, instead of stopping at the first.
    #[arg(long)]
    pub skip_bad: bool,
    /// First hold the .ibd to the checksum that the .imzML names: reads it once more.
    #[arg(long)]
    pub verify: bool,
    /// The folder for the spilled peaks; else they lie beside OUT.
    #[arg(long, value_name = "DIR")]
    pub temp: Option<PathBuf>,
    /// Begin anew, even if a killed run could be gone on with.
    #[arg(long)]
    pub restart: bool,
    #[command(flatten)]
    pub reading: Reading,
}

/// Arguments of `sectile pack`.
#[derive(Debug, Args)]
pub struct Pack {
    #[command(flatten)]
    pub packing: Packing,
    /// The store to write, with the suffix .sectile.
    #[arg(short, long, required = true, value_name = "OUT")]
    pub output: PathBuf,
}

/// Arguments of `sectile plan pack`: those of `sectile pack`.
#[derive(Debug, Args)]
pub struct PlanPack {
    #[command(flatten)]
    pub packing: Packing,
    /// Accepted as in `sectile pack`, and checked; nothing is written.
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
}

/// Which images are drawn, and how.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("sought").required(true).multiple(true).args(["mz", "formula"])))]
pub struct Drawing {
    /// The .sectile store, or its URL.
    #[arg(value_name = "STORE")]
    pub store: String,
    /// The m/z; several may be given, and share reads.
    #[arg(long, num_args = 1.., value_name = "M", value_parser = parse_mass)]
    pub mz: Vec<Mass>,
    /// The m/z of an ion by its molecule's formula, as C47H83O13P.
    #[arg(long, value_name = "F")]
    pub formula: Option<String>,
    /// What the molecule becomes an ion by, as -H or "[M]+"; else +H in a positive store, -H in a negative one.
    #[arg(
        long,
        value_name = "A",
        allow_hyphen_values = true,
        requires = "formula"
    )]
    pub adduct: Option<String>,
    /// Which isotope peak of the ion, from 0, or `all`.
    #[arg(long, value_name = "K", default_value = "0", requires = "formula", value_parser = parse_isotope)]
    pub isotope: Isotope,
    /// The sign of the ion, where neither the adduct nor the store tells it right.
    #[arg(long, value_name = "SIGN", requires = "formula")]
    pub polarity: Option<Polarity>,
    #[command(flatten)]
    pub resolving: Resolving,
    /// How far a peak may lie from it to either side, in millionths of the m/z.
    #[arg(long, value_name = "PPM", default_value_t = 3.0, value_parser = parse_tolerance)]
    pub ppm: f64,
    /// The same as a distance in m/z (dalton).
    #[arg(long, value_name = "D", conflicts_with = "ppm", value_parser = parse_tolerance)]
    pub da: Option<f64>,
    /// Divide by each pixel's total (tic) or root mean square (rms), times the mean of all pixels'.
    #[arg(long, value_name = "NORM", default_value = "none", value_parser = parse_normalise)]
    pub normalise: Normalise,
    /// The slice, by its z; the first, unless given.
    #[arg(long, value_name = "Z", allow_negative_numbers = true)]
    pub slice: Option<i32>,
    /// Write the PNG as grey and alpha, the form of METASPACE: transparent where nothing was measured.
    #[arg(long)]
    pub alpha: bool,
    #[command(flatten)]
    pub reading: Reading,
}

impl Drawing {
    /// The tolerance that was asked for.
    pub fn tolerance(&self) -> Tolerance {
        self.da.map_or(Tolerance::Ppm(self.ppm), Tolerance::Dalton)
    }
}

/// An m/z as it was typed.
#[derive(Debug, Clone)]
pub struct Mass {
    /// For names and headings: 885.5498 stays 885.5498.
    pub text: String,
    /// The number.
    pub value: f64,
}

/// Arguments of `sectile ion`.
#[derive(Debug, Args)]
pub struct Ion {
    #[command(flatten)]
    pub drawing: Drawing,
    /// Where to write: .png (16 bits, a file for each m/z; `{mz}` in the name stands for it), .npy
    /// (f32, the images one behind the other) or .csv (x, y and a column for each m/z).
    #[arg(short, long, required = true, value_name = "OUT")]
    pub output: PathBuf,
}

/// Arguments of `sectile plan ion`: those of `sectile ion`.
#[derive(Debug, Args)]
pub struct PlanIon {
    #[command(flatten)]
    pub drawing: Drawing,
    /// Accepted as in `sectile ion`, and checked; nothing is written.
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
}

/// Whose spectrum is taken.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("region").required(true).args(["pixel", "rect", "polygon"])))]
pub struct Choosing {
    /// The .imzML (read by its index: little is fetched) or the .sectile store (read whole), or its URL.
    #[arg(value_name = "SOURCE")]
    pub source: String,
    /// The .ibd file or URL, where it does not lie beside the .imzML under the same name.
    #[arg(long, value_name = "IBD")]
    pub ibd: Option<String>,
    /// Leave out spectra of the pair that cannot be read, and count them, instead of stopping at the first.
    #[arg(long)]
    pub skip_bad: bool,
    /// One pixel.
    #[arg(long, value_name = "X,Y", allow_hyphen_values = true, value_parser = parse_pixel)]
    pub pixel: Option<[i32; 2]>,
    /// The mean of a rectangle's pixels; X1 and Y1 are exclusive.
    #[arg(long, value_name = "X0,Y0,X1,Y1", allow_hyphen_values = true, value_parser = parse_rectangle)]
    pub rect: Option<[i32; 4]>,
    /// The mean of the pixels whose middle lies inside; pixel X,Y is the square from X,Y to X+1,Y+1.
    #[arg(long, value_name = "X,Y X,Y ...", allow_hyphen_values = true, value_parser = parse_polygon)]
    pub polygon: Option<Corners>,
    /// The slice, by its z; the first, unless given.
    #[arg(long, value_name = "Z", allow_negative_numbers = true)]
    pub slice: Option<i32>,
    #[command(flatten)]
    pub reading: Reading,
}

/// The corners of a polygon, in the file's own coordinates.
#[derive(Debug, Clone, PartialEq)]
pub struct Corners(pub Vec<[f64; 2]>);

impl Choosing {
    /// The region on a grid whose first pixel has these coordinates.
    ///
    /// # Errors
    /// Half a sentence, if all of it lies left of or above the grid.
    pub fn region(&self, origin: [i32; 2]) -> Result<Region, String> {
        let from = |value: i32, axis: usize| i64::from(value) - i64::from(origin[axis]);
        let inside = |value: i32, axis: usize| u32::try_from(from(value, axis).max(0)).unwrap_or(0);
        if let Some([x, y]) = self.pixel {
            if from(x, 0) < 0 || from(y, 1) < 0 {
                return Err(format!("--pixel {x},{y} lies outside of the grid"));
            }
            return Ok(Region::Pixel {
                x: inside(x, 0),
                y: inside(y, 1),
            });
        }
        if let Some([x0, y0, x1, y1]) = self.rect {
            return Ok(Region::Rect {
                x0: inside(x0, 0),
                y0: inside(y0, 1),
                x1: inside(x1, 0),
                y1: inside(y1, 1),
            });
        }
        let corners = self.polygon.iter().flat_map(|corners| &corners.0);
        let shifted = corners.map(|[x, y]| [x - f64::from(origin[0]), y - f64::from(origin[1])]);
        Ok(Region::Polygon(shifted.collect()))
    }
}

/// Arguments of `sectile spectrum`.
#[derive(Debug, Args)]
pub struct Spectrum {
    #[command(flatten)]
    pub choosing: Choosing,
    /// Where to write, with the suffix .csv.
    #[arg(short, long, required = true, value_name = "OUT")]
    pub output: PathBuf,
}

/// Arguments of `sectile plan spectrum`: those of `sectile spectrum`.
#[derive(Debug, Args)]
pub struct PlanSpectrum {
    #[command(flatten)]
    pub choosing: Choosing,
    /// Accepted as in `sectile spectrum`, and checked; nothing is written.
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
}

fn parse_mass(text: &str) -> Result<Mass, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if value.is_finite() && value > 0.0 => Ok(Mass {
            text: text.trim().to_owned(),
            value,
        }),
        _ => Err(format!("{text:?} is no m/z; write for instance 885.5498")),
    }
}

pub(super) fn parse_tolerance(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if value.is_finite() && value > 0.0 => Ok(value),
        _ => Err("write a number greater than 0, for instance 3".to_owned()),
    }
}

fn parse_normalise(text: &str) -> Result<Normalise, String> {
    text.parse::<Normalise>().map_err(|error| error.to_string())
}

/// Whole numbers between commas.
fn whole<const N: usize>(text: &str, form: &str) -> Result<[i32; N], String> {
    let wrong = || format!("{text:?} is not {form}");
    let numbers = text.split(',').map(|number| number.trim().parse::<i32>());
    let numbers: Vec<i32> = numbers.collect::<Result<_, _>>().map_err(|_| wrong())?;
    numbers.try_into().map_err(|_| wrong())
}

fn parse_pixel(text: &str) -> Result<[i32; 2], String> {
    whole(text, "two whole numbers x,y")
}

fn parse_rectangle(text: &str) -> Result<[i32; 4], String> {
    let [x0, y0, x1, y1] = whole(text, "four whole numbers x0,y0,x1,y1")?;
    if x0 >= x1 || y0 >= y1 {
        return Err(format!(
            "{text:?} holds no pixel: x1 and y1 are exclusive and must be greater than x0 and y0"
        ));
    }
    Ok([x0, y0, x1, y1])
}

fn parse_polygon(text: &str) -> Result<Corners, String> {
    let wrong = || format!("{text:?} is no list of corners; write for instance \"1,1 9,1 5,7\"");
    let corner = |pair: &str| {
        let (x, y) = pair.split_once(',')?;
        let [x, y] = [x.parse::<f64>().ok()?, y.parse::<f64>().ok()?];
        (x.is_finite() && y.is_finite()).then_some([x, y])
    };
    let corners: Option<Vec<[f64; 2]>> = text.split_whitespace().map(corner).collect();
    let corners = corners.ok_or_else(wrong)?;
    if corners.len() < 3 {
        return Err(format!("{text:?} has fewer than three corners"));
    }
    Ok(Corners(corners))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_whole_numbers() {
        assert_eq!(parse_pixel(" 3, -4"), Ok([3, -4]));
        assert_eq!(parse_rectangle("-1,0,2,3"), Ok([-1, 0, 2, 3]));
        for wrong in ["", "1", "1,2,3", "1.5,2", "a,b", "1,99999999999"] {
            assert!(parse_pixel(wrong).is_err(), "{wrong:?}");
        }
        for wrong in ["1,2,3", "1,2,1,4", "1,4,3,4", "3,1,1,4"] {
            assert!(parse_rectangle(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn polygons_have_corners() {
        let three = vec![[1.0, 1.0], [9.5, 1.0], [5.0, -7.0]];
        assert_eq!(parse_polygon(" 1,1 9.5,1  5,-7"), Ok(Corners(three)));
        for wrong in ["", "1,1 2,2", "1,1 2 3,3", "1,1 2,nan 3,3", "1,1;2,2;3,3"] {
            assert!(parse_polygon(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn masses_keep_how_they_were_typed() {
        let mass = parse_mass("885.5500").map(|mass| (mass.text, mass.value));
        assert_eq!(mass, Ok(("885.5500".to_owned(), 885.55)));
        for wrong in ["", "-1", "0", "nan", "inf", "885,5", "C6H12O6"] {
            assert!(parse_mass(wrong).is_err(), "{wrong:?}");
        }
    }
}
