//! The command line: the only place that knows arguments, a terminal and an output file.
//!
//! [`arguments`] is the grammar, [`report`] all that is said, [`failure`] the exit codes. One file a
//! command, those for mass spectrometry in [`ions`]; [`output`] holds what `median` writes and how it
//! goes on after a kill.

pub mod arguments;
mod assemble;
mod catalog;
mod clean;
mod demo;
mod failure;
mod identity;
mod info;
mod interrupt;
mod ions;
mod median;
mod output;
mod plan;
mod report;
mod serve;
mod shards;
mod stack;

use std::process::ExitCode;

use clap::Parser;

use arguments::{Arguments, Command, Planned};
use failure::{Failure, Result};
use report::Report;

/// Runs the program; its exit code is 0, 1 (failed), 2 (usage), 3 (input), 4 (stopped at a limit
/// that was asked for) or 130 (interrupted).
pub fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return refuse(&error),
    };
    let mut report = Report::new(&arguments);
    match run(arguments.command, &mut report) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            report.failed(&failure);
            ExitCode::from(failure.exit as u8)
        }
    }
}

fn run(command: Command, report: &mut Report) -> Result<()> {
    match command {
        Command::Info(arguments) => info::run(&arguments, report),
        Command::Plan(arguments) => match arguments.job {
            Planned::Median(arguments) => plan::run(&arguments, report),
            Planned::Pack(arguments) => ions::pack::plan(&arguments, report),
            Planned::Ion(arguments) => ions::image::plan(&arguments, report),
            Planned::Spectrum(arguments) => ions::spectrum::plan(&arguments, report),
            Planned::Annotate(arguments) => ions::annotate::plan(&arguments, report),
        },
        Command::Pack(arguments) => ions::pack::run(&arguments, report),
        Command::Ion(arguments) => ions::image::run(&arguments, report),
        Command::Spectrum(arguments) => ions::spectrum::run(&arguments, report),
        Command::Annotate(arguments) => ions::annotate::run(&arguments, report),
        Command::Images(arguments) => ions::images::run(&arguments, report),
        Command::Median(arguments) => median::run(&arguments, report),
        Command::Assemble(arguments) => assemble::run(&arguments, report),
        Command::Serve(arguments) => serve::run(&arguments, report),
        Command::Catalog(arguments) => catalog::run(&arguments, report),
        Command::Clean(arguments) => clean::run(&arguments, report),
        Command::DemoData(arguments) => demo::run(&arguments, report),
    }
}

/// Help and version are fine; anything else that clap says is a usage error.
fn refuse(error: &clap::Error) -> ExitCode {
    // A reader that went away is not worth a second error.
    let _ = error.print();
    if !error.use_stderr() {
        return ExitCode::SUCCESS;
    }
    if std::env::args_os().any(|argument| argument == "--json") {
        report::refused_json(&Failure::usage(error.to_string()));
    }
    ExitCode::from(failure::Exit::Usage as u8)
}
