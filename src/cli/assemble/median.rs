//! From the parts of a median to its FITS file.

use crate::cli::arguments::Assemble;
use crate::cli::failure::{Failure, Result};
use crate::cli::report::Report;

/// Makes the FITS file.
pub fn run(arguments: &Assemble, _: &mut Report) -> Result<()> {
    Err(Failure::input(
        "missing",
        format!("{}: there are no shards of it", arguments.target.display()),
    ))
}
