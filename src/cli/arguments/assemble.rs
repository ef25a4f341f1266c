//! The grammar of `sectile assemble`.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `sectile assemble`.
#[derive(Debug, Args)]
pub struct Assemble {
    /// What `--shard` was given as -o: OUT.fits of `median`, or the folder of `annotate`.
    #[arg(value_name = "OUT")]
    pub target: PathBuf,
    /// Also write the median at all resolutions, as tiles in one FITS file (of `median`).
    #[arg(long, value_name = "FILE")]
    pub pyramid: Option<PathBuf>,
    /// Leave what the shards have written where it is.
    #[arg(long)]
    pub keep_parts: bool,
    /// Total memory.
    #[arg(long, value_name = "SIZE", default_value = "256MiB")]
    pub memory: String,
}
