//! The grammar of the command line.

mod annotate;
mod assemble;
mod ions;
mod serving;
mod shard;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use sectile::fits::hdu::Selection;
use sectile::stack::mask::Meaning;

pub use annotate::{
    Annotate, Annotating, Images, Isotope, Kept, PlanAnnotate, Polarity, Resolving,
};
pub use assemble::Assemble;
pub use ions::{
    Choosing, Drawing, Ion, Mass, Pack, Packing, PlanIon, PlanPack, PlanSpectrum, Reading, Spectrum,
};
pub use serving::{Catalog, Etags, Named, Serve};
pub use shard::{Dividing, Shard, Shards};

/// Medians of FITS stacks and ion images of imzML datasets, straight from where the files lie, in one
/// memory budget.
#[derive(Debug, Parser)]
#[command(name = "sectile", version, propagate_version = true)]
pub struct Arguments {
    /// Print one JSON object a line on standard output; the last says "done" or "error".
    #[arg(long, global = true)]
    pub json: bool,
    /// Show neither progress nor warnings.
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Say more about what is done; give twice for every section.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// Whether messages are coloured; `auto` also honours `NO_COLOR`.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Whether messages are coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Tell what files hold: HDUs, shapes and sky of FITS files; grid, arrays and m/z of imzML
    /// datasets and stores.
    Info(Info),
    /// Tell what a job would cost; fetches headers only.
    Plan(Plan),
    /// Write the per-pixel median of a stack of exposures.
    Median(Median),
    /// Pack an imzML dataset into a store, sorted by m/z, that ion images are drawn from.
    Pack(Pack),
    /// Draw ion images from a store.
    Ion(Ion),
    /// Find which molecules of a list are in a store: images, scores and false discovery rates.
    Annotate(Box<Annotate>),
    /// Write images of what `annotate` found as PNG files.
    Images(Images),
    /// Write the spectrum of a pixel or a region.
    Spectrum(Spectrum),
    /// Make the result of the shards that `median --shard` or `annotate --shard` have finished.
    Assemble(Assemble),
    /// Serve the pages, a folder of data by ranges, and its datasets as tiles, cut-outs and spectra.
    Serve(Serve),
    /// Declare what `serve` and the Worker offer as datasets, in a `sectile.json`.
    Catalog(Box<Catalog>),
    /// List and remove what killed runs have left in a folder.
    Clean(Clean),
    /// Write a deterministic demo stack.
    DemoData(DemoData),
}

/// Arguments of `sectile info`.
#[derive(Debug, Args)]
pub struct Info {
    /// FITS files, .imzML files, .sectile stores, folders and images files of `annotate`, or URLs.
    #[arg(required = true, value_name = "SOURCE")]
    pub sources: Vec<String>,
}

/// Arguments of `sectile plan`.
#[derive(Debug, Args)]
pub struct Plan {
    /// The job to be planned.
    #[command(subcommand)]
    pub job: Planned,
}

/// A job that can be planned.
#[derive(Debug, Subcommand)]
pub enum Planned {
    /// The per-pixel median of a stack.
    Median(Box<PlanMedian>),
    /// Packing an imzML dataset.
    Pack(Box<PlanPack>),
    /// Ion images from a store.
    Ion(Box<PlanIon>),
    /// The spectrum of a pixel or a region.
    Spectrum(Box<PlanSpectrum>),
    /// Finding the molecules of a list.
    Annotate(Box<PlanAnnotate>),
}

/// Arguments of `sectile plan median`: those of `sectile median`, so that a command line can be
/// tried by putting `plan` in front.
#[derive(Debug, Args)]
pub struct PlanMedian {
    #[command(flatten)]
    pub stack: Stack,
    #[command(flatten)]
    pub extras: Extras,
    #[command(flatten)]
    pub dividing: Dividing,
    /// Accepted as in `sectile median`, and checked; nothing is written.
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
}

/// Arguments of `sectile median`.
#[derive(Debug, Args)]
pub struct Median {
    #[command(flatten)]
    pub stack: Stack,
    #[command(flatten)]
    pub extras: Extras,
    /// Where to write: .fits or .fit (median and count), .png (16 bits) or .npy (median).
    #[arg(short, long, required = true, value_name = "OUT")]
    pub output: PathBuf,
}

/// A stack, and how it is read.
#[derive(Debug, Args)]
pub struct Stack {
    /// Files, URLs, text lists of either, or JWST associations (*_asn.json).
    #[arg(required = true, value_name = "EXPOSURES")]
    pub exposures: Vec<String>,
    /// Total memory for slots, scratch and tables.
    #[arg(long, value_name = "SIZE", default_value = "256MiB")]
    pub memory: String,
    /// Requests in flight at one time.
    #[arg(long, value_name = "R", default_value_t = 6, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub in_flight: u16,
    /// The image: NAME, NAME,VERSION or an index; else SCI, else the first HDU with pixels.
    #[arg(long, value_name = "HDU")]
    pub hdu: Option<Selection>,
    /// Which plane of a cube, counted from 0.
    #[arg(long, value_name = "K", default_value_t = 0)]
    pub plane: u64,
    /// Leave out pixels that this HDU of each exposure's own file flags, such as DQ or WHT.
    #[arg(long, value_name = "HDU")]
    pub mask: Option<Selection>,
    /// Which pixels the mask leaves out: those with one of these bits (1, 0x11, 1+16; 1 is
    /// `DO_NOT_USE`), with `any` bit, or with `zero` where it is a weight.
    #[arg(long, value_name = "BITS", default_value_t, requires = "mask")]
    pub mask_bits: Meaning,
    /// Only these pixels: half-open, counted from 0, y up.
    #[arg(long, value_name = "X0,Y0,X1,Y1", value_parser = parse_rectangle)]
    pub rect: Option<[u32; 4]>,
    /// A coarse picture: every K-th pixel of every K-th row.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..))]
    pub preview: Option<u32>,
    /// For the plan: milliseconds from a request to its first byte; 50, or 0.1 where all exposures are
    /// files. Together with the bandwidth it decides whether a rectangle is read in whole rows or in
    /// parts of rows.
    #[arg(long, value_name = "MS", value_parser = parse_latency)]
    pub latency: Option<f64>,
    /// For the plan: bytes a second, all requests together; 100MB, or 1GB where all exposures are files.
    #[arg(long, value_name = "SIZE")]
    pub bandwidth: Option<String>,
    /// Go on although pointing or scale differ.
    #[arg(long)]
    pub ignore_wcs: bool,
    /// Go on although units differ.
    #[arg(long)]
    pub ignore_units: bool,
    /// Send this with every request; may be given several times.
    #[arg(long = "header", value_name = "NAME: VALUE", value_parser = parse_header)]
    pub headers: Vec<(String, String)>,
}

/// What `sectile median` writes besides OUT, and where it begins.
#[derive(Debug, Args)]
pub struct Extras {
    /// Also write 256 × 256 PNG tiles DIR/z/x/y.png; z = 0 is the coarsest, y = 0 the top.
    #[arg(long, value_name = "DIR")]
    pub tiles: Option<PathBuf>,
    /// Also write the median at all resolutions, as tiles in one FITS file.
    #[arg(long, value_name = "FILE")]
    pub pyramid: Option<PathBuf>,
    /// Compute one of N shards only, the first is 1/N; `sectile assemble OUT` makes the result of all.
    #[arg(long, value_name = "K/N", conflicts_with_all = ["tiles", "pyramid"])]
    pub shard: Option<Shard>,
    /// Begin anew, even if a killed run could be gone on with.
    #[arg(long)]
    pub restart: bool,
}

/// Arguments of `sectile clean`.
#[derive(Debug, Args)]
pub struct Clean {
    /// The folder to look in; folders inside it are left alone.
    #[arg(value_name = "DIR", default_value = ".")]
    pub folder: PathBuf,
    /// Only list.
    #[arg(long)]
    pub dry_run: bool,
}

/// Arguments of `sectile demo-data`.
#[derive(Debug, Args)]
pub struct DemoData {
    /// The folder to write into; it is made if there is none.
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// How many exposures.
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = clap::value_parser!(u32).range(1..=999))]
    pub exposures: u32,
    /// Width and height in pixels.
    #[arg(long, value_name = "PIXELS", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(64..=4096))]
    pub size: u32,
    /// Another number gives another sky.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub seed: u64,
}

fn parse_latency(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..=1e6).contains(&value) => Ok(value),
        _ => Err("write milliseconds, for instance 50".to_owned()),
    }
}

/// Reads `x0,y0,x1,y1`; that it lies inside the image is checked once its shape is known.
fn parse_rectangle(text: &str) -> Result<[u32; 4], String> {
    let numbers: Vec<u32> = text
        .split(',')
        .map(|number| number.trim().parse::<u32>())
        .collect::<Result<_, _>>()
        .map_err(|_| format!("{text:?} is not four whole numbers x0,y0,x1,y1"))?;
    let [x0, y0, x1, y1] = numbers[..] else {
        return Err(format!("{text:?} is not four whole numbers x0,y0,x1,y1"));
    };
    if x0 >= x1 || y0 >= y1 {
        return Err(format!(
            "{text:?} holds no pixel: x1 and y1 are exclusive and must be greater than x0 and y0"
        ));
    }
    Ok([x0, y0, x1, y1])
}

/// Reads `Name: value`.
fn parse_header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once(':').ok_or_else(|| {
        format!("{text:?} has no colon; write for instance 'Authorization: Bearer …'")
    })?;
    let (name, value) = (name.trim(), value.trim());
    let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    if name.is_empty() || !name.chars().all(is_token) {
        return Err(format!("{name:?} is not a header's name"));
    }
    if value.chars().any(|c| c.is_control() && c != '\t') {
        return Err(format!("the value of {name} holds a control character"));
    }
    Ok((name.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_grammar_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn rectangles_are_four_numbers_with_pixels_inside() {
        assert_eq!(parse_rectangle("1, 2,3,4"), Ok([1, 2, 3, 4]));
        for wrong in [
            "",
            "1,2,3",
            "1,2,3,4,5",
            "1,2,x,4",
            "-1,0,3,4",
            "3,0,3,4",
            "0,5,3,4",
        ] {
            assert!(parse_rectangle(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn headers_are_names_and_values() {
        assert_eq!(
            parse_header("Authorization: Bearer a:b"),
            Ok(("Authorization".into(), "Bearer a:b".into()))
        );
        for wrong in ["", "Authorization", ": x", "A B: x", "A: x\r\nB: y"] {
            assert!(parse_header(wrong).is_err(), "{wrong:?}");
        }
    }
}
