//! From the shards of an annotation to its results.

use crate::cli::arguments::Assemble;
use crate::cli::failure::{Failure, Result};
use crate::cli::report::Report;

/// Makes the results in the folder that is named.
pub fn assemble(arguments: &Assemble, _: &mut Report) -> Result<()> {
    Err(Failure::input(
        "missing",
        format!("{}: there are no shards of it", arguments.target.display()),
    ))
}
