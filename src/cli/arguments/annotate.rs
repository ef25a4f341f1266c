//! The grammar of `annotate` and `images`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use sectile::results::part::whole::Depicted;

use super::{Reading, Shard};

/// Which peaks an image is kept of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Kept {
    /// All four isotope peaks.
    All,
    /// The first isotope peak.
    First,
    /// None; no images file is written.
    None,
}

impl Kept {
    /// What the library calls it.
    pub fn depicted(self) -> Depicted {
        match self {
            Self::All => Depicted::All,
            Self::First => Depicted::First,
            Self::None => Depicted::None,
        }
    }

    /// The word that stands for it on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::First => "first",
            Self::None => "none",
        }
    }
}

/// The sign of ions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Polarity {
    /// Ions that lack an electron.
    Positive,
    /// Ions that have one too many.
    Negative,
}

impl Polarity {
    /// The charge of its ions.
    pub fn charge(self) -> i8 {
        match self {
            Self::Positive => 1,
            Self::Negative => -1,
        }
    }
}

/// How isotope patterns are made.
#[derive(Debug, Args)]
pub struct Resolving {
    /// tof, orbitrap or fticr, or the name of an instrument; else as the store's instrument says, and
    /// orbitrap where it does not.
    #[arg(long, value_name = "KIND")]
    pub analyzer: Option<String>,
    /// Resolving power at m/z 200; METASPACE's table of peak widths is used. Else as the store says, and
    /// 140000 where it does not.
    #[arg(long, value_name = "R", value_parser = parse_power)]
    pub resolving_power: Option<f64>,
}

/// What is looked for, and how.
#[derive(Debug, Args)]
pub struct Annotating {
    /// The .sectile store, or its URL.
    #[arg(value_name = "STORE")]
    pub store: String,
    /// The list of molecules, a file or a URL: CSV or TSV with a column `formula`, or a formula a line.
    #[arg(long, required = true, value_name = "DB")]
    pub molecules: String,
    /// What molecules become ions by, as +H,+Na,+K or "[M]+"; else +H,+Na,+K for a positive store and
    /// -H,+Cl for a negative one.
    #[arg(
        long,
        value_name = "ADDUCTS",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    pub adducts: Vec<String>,
    /// What molecules may lose besides, as -H2O,-NH3; each is looked for with each adduct, as is none.
    #[arg(
        long,
        value_name = "LOSSES",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    pub neutral_losses: Vec<String>,
    /// The sign of the ions, where neither the adducts nor the store tell it right.
    #[arg(long, value_name = "SIGN")]
    pub polarity: Option<Polarity>,
    #[command(flatten)]
    pub resolving: Resolving,
    /// How far a peak may lie from its m/z to either side, in millionths of it.
    #[arg(long, value_name = "PPM", default_value_t = 3.0, value_parser = super::ions::parse_tolerance)]
    pub ppm: f64,
    /// metaspace-v1 or metaspace-v3 (and -v2): isotope patterns, windows, decoys and FDR as there.
    #[arg(long, value_name = "RULES", default_value = "metaspace-v3")]
    pub scoring: String,
    /// Decoys for each target; fewer than 20 make the FDR unsteady.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u8).range(1..=80))]
    pub decoys: u8,
    /// Clip each image at its 99th percentile before it is compared.
    #[arg(long)]
    pub hotspot: bool,
    /// The slice, by its z; the first, unless given.
    #[arg(long, value_name = "Z", allow_negative_numbers = true)]
    pub slice: Option<i32>,
    /// Which images are kept of what is found.
    #[arg(long, value_name = "WHICH", default_value = "all")]
    pub images: Kept,
    /// Threads that share the budget, and the requests in flight, of which each has one at least; else one a core,
    /// at most 8, and no more than the budget is enough for.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub workers: Option<u16>,
    /// How many parts the work is cut into, each gone on with by itself; else one for 4,096 ions.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65536))]
    pub shards: Option<u32>,
    /// Only the Kth of N parts, by one thread; processes may do one each, at the same time, in any order and on several
    /// machines that share DIR. When all are done, `sectile assemble DIR` makes the results.
    #[arg(long, value_name = "K/N", conflicts_with_all = ["shards", "workers"])]
    pub shard: Option<Shard>,
    /// Most requests that each part may make in this run; it stops before it would make more.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_requests: Option<u64>,
    /// Most seconds that each part may take in this run; it stops after the batch at hand.
    #[arg(long, value_name = "S", value_parser = parse_seconds)]
    pub max_seconds: Option<f64>,
    /// Begin anew, even if an unfinished run could be gone on with.
    #[arg(long)]
    pub restart: bool,
    #[command(flatten)]
    pub reading: Reading,
}

/// Arguments of `sectile annotate`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 done; 1 failed; 2 usage; 3 input; 4 stopped at --max-requests or \
                        --max-seconds, what is finished is kept: run the same command again to go on; \
                        130 interrupted."
)]
pub struct Annotate {
    #[command(flatten)]
    pub annotating: Annotating,
    /// The folder for results.csv, annotations.json and images.sectile-images; it is made if there is none.
    #[arg(short, long, required = true, value_name = "DIR")]
    pub output: PathBuf,
}

/// Arguments of `sectile plan annotate`: those of `sectile annotate`.
#[derive(Debug, Args)]
pub struct PlanAnnotate {
    #[command(flatten)]
    pub annotating: Annotating,
    /// Accepted as in `sectile annotate`; nothing is written.
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
}

/// Arguments of `sectile images`.
#[derive(Debug, Args)]
pub struct Images {
    /// A folder that `annotate` wrote, or an images file or its URL.
    #[arg(value_name = "RESULTS")]
    pub source: String,
    /// Only this formula, without adduct.
    #[arg(long, value_name = "F")]
    pub formula: Option<String>,
    /// Only with this adduct, and neutral loss, as +H or -H2O+H.
    #[arg(
        long,
        value_name = "A",
        allow_hyphen_values = true,
        requires = "formula"
    )]
    pub adduct: Option<String>,
    /// Only what has at most this FDR.
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    pub fdr: Option<f64>,
    /// Which isotope peak, from 0, or `all`.
    #[arg(long, value_name = "K", default_value = "0", value_parser = parse_isotope)]
    pub isotope: Isotope,
    /// Send this with every request; may be given several times.
    #[arg(long = "header", value_name = "NAME: VALUE", value_parser = super::parse_header)]
    pub headers: Vec<(String, String)>,
    /// A .png, for one image, or a folder: it is made if there is none.
    #[arg(short, long, required = true, value_name = "OUT")]
    pub output: PathBuf,
}

/// Which isotope peaks are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isotope {
    /// The one of this number, from 0.
    One(usize),
    /// All four.
    All,
}

impl Isotope {
    /// The numbers of its peaks.
    pub fn peaks(self) -> std::ops::Range<usize> {
        match self {
            Self::One(peak) => peak..peak + 1,
            Self::All => 0..4,
        }
    }
}

pub(super) fn parse_isotope(text: &str) -> Result<Isotope, String> {
    match text.trim() {
        "all" => Ok(Isotope::All),
        "0" => Ok(Isotope::One(0)),
        "1" => Ok(Isotope::One(1)),
        "2" => Ok(Isotope::One(2)),
        "3" => Ok(Isotope::One(3)),
        _ => Err("write 0, 1, 2, 3 or all".to_owned()),
    }
}

fn parse_power(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if (1000.0..=1e8).contains(&value) => Ok(value),
        _ => Err("write a number from 1000 to 100000000, for instance 140000".to_owned()),
    }
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if (0.001..=1e9).contains(&value) => Ok(value),
        _ => Err("write seconds, for instance 600".to_owned()),
    }
}

fn parse_share(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if (0.0..=1.0).contains(&value) => Ok(value),
        _ => Err("write a share from 0 to 1, for instance 0.1".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn isotopes_are_four() {
        assert_eq!(parse_isotope("all").map(Isotope::peaks), Ok(0..4));
        assert_eq!(parse_isotope(" 2 ").map(Isotope::peaks), Ok(2..3));
        for wrong in ["", "4", "-1", "first"] {
            assert!(parse_isotope(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn numbers_are_held_to_what_makes_sense() {
        assert_eq!(parse_power("140000"), Ok(140_000.0));
        assert_eq!(parse_share("0.1"), Ok(0.1));
        assert_eq!(parse_seconds("0.5"), Ok(0.5));
        for wrong in ["", "nan", "-1", "inf", "10%"] {
            assert!(parse_power(wrong).is_err(), "{wrong:?}");
            assert!(parse_share(wrong).is_err(), "{wrong:?}");
            assert!(parse_seconds(wrong).is_err(), "{wrong:?}");
        }
    }
}
