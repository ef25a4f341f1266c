//! The grammar of `serve` and `catalog`.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};
use sectile::fits::hdu::Selection;
use sectile::stack::mask::Meaning;

/// Arguments of `sectile serve`.
#[derive(Debug, Args)]
#[command(
    after_help = "The datasets that DIR/sectile.json declares are served below /v1 (`sectile catalog` writes it); \
                  /openapi.json describes that. Jobs are not offered here: `sectile median` and \
                  `sectile annotate` do them."
)]
pub struct Serve {
    /// The folder shown at /data/.
    #[arg(value_name = "DIR", default_value = ".")]
    pub folder: PathBuf,
    /// The port; 0 takes any free one.
    #[arg(long, default_value_t = 8787)]
    pub port: u16,
    /// The address to listen on; 0.0.0.0 lets other machines in.
    #[arg(long, default_value = "127.0.0.1")]
    pub host: IpAddr,
    /// The folder of the pages shown at /.
    #[arg(long, value_name = "DIR")]
    pub pages: Option<PathBuf>,
    /// Show no files at /data/, only datasets: where some of them ask for a token.
    #[arg(long)]
    pub no_data: bool,
    /// The file that declares the datasets, else DIR/sectile.json; it is read anew when it changes.
    #[arg(long, value_name = "FILE")]
    pub catalog: Option<PathBuf>,
    /// Total memory for computing answers, all together; who finds it taken waits.
    #[arg(long, value_name = "SIZE", default_value = "256MiB")]
    pub memory: String,
    /// Memory for finished answers that may be asked for again.
    #[arg(long, value_name = "SIZE", default_value = "64MiB")]
    pub cache: String,
    /// Most answers that wait to be computed; beyond that it is 503 with Retry-After.
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u16).range(0..=10_000))]
    pub queue: u16,
    /// Most seconds for one answer, waiting included; then it is 503.
    #[arg(long, value_name = "S", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=3600))]
    pub deadline: u32,
    /// Let the catalog name origins on this machine or in a private network.
    #[arg(long)]
    pub allow_private_origins: bool,
}

/// Which entity tags a catalog states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Etags {
    /// For addresses, those their servers gave; for files none.
    Served,
    /// For files, the MD5 of their bytes, which is what R2 and S3 call an object that was uploaded in one part;
    /// reads all of them.
    Md5,
    /// None at all.
    None,
}

/// `NAME=VALUE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// The dataset.
    pub name: String,
    /// What it is given.
    pub value: String,
}

/// Arguments of `sectile catalog`.
#[derive(Debug, Args)]
#[command(
    group(ArgGroup::new("changes").multiple(true).args(["stacks", "ions", "removed", "origins"])),
    after_help = "Datasets of that name are replaced, all others stay. Without --stack, --ions, --origin and --remove \
                  the catalog is only shown and checked.\n\n\
                  Headers are read once and kept in the catalog, with every file's size, so that nobody reads \
                  them again: write it anew when files change. `sectile serve` looks at the files themselves and \
                  needs no entity tags. In a bucket they tell one version of an object from another: use \
                  --etags md5 if objects are uploaded in one part (up to 300 MB by `wrangler r2 object put`), \
                  and none for larger ones."
)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line"
)]
pub struct Catalog {
    /// The folder that is served, or uploaded to a bucket.
    #[arg(value_name = "DIR", default_value = ".")]
    pub folder: PathBuf,
    /// A stack of FITS exposures: a file below DIR, a pattern with * and ?, or a URL; may be given several times.
    #[arg(long = "stack", value_name = "NAME=EXPOSURES", value_parser = parse_named)]
    pub stacks: Vec<Named>,
    /// A store of `sectile pack`: a file below DIR or a URL.
    #[arg(long, value_name = "NAME=STORE", value_parser = parse_named)]
    pub ions: Vec<Named>,
    /// What a dataset is called for people.
    #[arg(long = "title", value_name = "NAME=TEXT", value_parser = parse_named)]
    pub titles: Vec<Named>,
    /// The image of the stacks: NAME, NAME,VERSION or an index; else SCI, else the first HDU with pixels.
    #[arg(long, value_name = "HDU")]
    pub hdu: Option<Selection>,
    /// Which plane of a cube, counted from 0.
    #[arg(long, value_name = "K", default_value_t = 0)]
    pub plane: u64,
    /// The stacks' pointing or scale may differ.
    #[arg(long)]
    pub ignore_wcs: bool,
    /// The stacks' units may differ.
    #[arg(long)]
    pub ignore_units: bool,
    /// Leave out pixels of the stacks that this HDU of each exposure's own file flags, such as DQ.
    #[arg(long, value_name = "HDU")]
    pub mask: Option<Selection>,
    /// Which pixels the mask leaves out: those with one of these bits (1, 0x11, 1+16; 1 is
    /// `DO_NOT_USE`), with `any` bit, or with `zero` where it is a weight.
    #[arg(long, value_name = "BITS", default_value_t, requires = "mask")]
    pub mask_bits: Meaning,
    /// The pyramid of a stack's median that `sectile median --pyramid` wrote: coarse tiles come from it.
    #[arg(long = "pyramid", value_name = "NAME=FILE", value_parser = parse_named)]
    pub pyramids: Vec<Named>,
    /// A list of molecules for annotating a store: DATASET:NAME=FILE below DIR.
    #[arg(long, value_name = "DATASET:NAME=FILE", value_parser = parse_named)]
    pub molecules: Vec<Named>,
    /// The stores' analyzer, where their instruments do not tell it.
    #[arg(long, value_name = "KIND")]
    pub analyzer: Option<String>,
    /// The stores' resolving power at m/z 200.
    #[arg(long, value_name = "R")]
    pub resolving_power: Option<f64>,
    /// Let the Worker run jobs of these datasets.
    #[arg(long)]
    pub jobs: bool,
    /// A file whose first line is the bearer token that these datasets ask for.
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// An origin that exposures and stores may be read from, as <https://archive.example.org>.
    #[arg(long = "origin", value_name = "URL")]
    pub origins: Vec<String>,
    /// Take a dataset out of the catalog.
    #[arg(long = "remove", value_name = "NAME")]
    pub removed: Vec<String>,
    /// Which entity tags to state.
    #[arg(long, value_name = "WHICH", default_value = "served")]
    pub etags: Etags,
    /// Where to write, else DIR/sectile.json.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Let the catalog name origins on this machine or in a private network.
    #[arg(long)]
    pub allow_private_origins: bool,
}

fn parse_named(text: &str) -> Result<Named, String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() && !value.trim().is_empty() => Ok(Named {
            name: name.trim().to_owned(),
            value: value.trim().to_owned(),
        }),
        _ => Err(format!("{text:?} is not NAME=VALUE")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_before_the_first_equals_sign() {
        let named = parse_named("m13=a/b=c.fits").map(|named| (named.name, named.value));
        assert_eq!(named, Ok(("m13".into(), "a/b=c.fits".into())));
        for wrong in ["", "m13", "=a", "m13=", " = "] {
            assert!(parse_named(wrong).is_err(), "{wrong:?}");
        }
    }
}
