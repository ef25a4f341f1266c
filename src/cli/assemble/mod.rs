//! `sectile assemble`: from the parts that shards have written to the result of one run.

mod median;

use std::path::Path;

use crate::cli::arguments::Assemble;
use crate::cli::failure::{Failure, Result};
use crate::cli::ions::annotate;
use crate::cli::output::format::Format;
use crate::cli::report::Report;

/// Runs `sectile assemble`: an output of `median` is a FITS file, one of `annotate` a folder.
pub fn run(arguments: &Assemble, report: &mut Report) -> Result<()> {
    if is_fits(&arguments.target) {
        return median::run(arguments, report);
    }
    if arguments.pyramid.is_some() {
        return Err(Failure::usage(format!(
            "{}: --pyramid is for medians, whose output ends in .fits or .fit",
            arguments.target.display()
        )));
    }
    annotate::assemble(arguments, report)
}

fn is_fits(target: &Path) -> bool {
    !target.is_dir() && matches!(Format::of(target), Ok(Format::Fits))
}
