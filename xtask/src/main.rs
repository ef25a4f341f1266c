//! What a newcomer and CI run: one program that installs what is missing and then does the thing.
//!
//! Every command works from a fresh clone on a fresh machine; whatever it installs it installs once,
//! and says so in one line.

mod addresses;
mod bench;
mod demo;
mod imports;
mod npm;
mod openapi;
mod place;
mod program;
mod setup;
mod site;
mod size;
mod tally;
mod test;
mod wasm;

use std::process::ExitCode;

/// What went wrong, in words for the person at the terminal.
type Outcome<T = ()> = Result<T, String>;

const USAGE: &str = "\
cargo xtask <command>

  demo [--once] [--port N]   build the pages, write the demo stack and tissue, serve both, print
                             the addresses; --once opens them in headless Chromium, saves pictures
                             under target/demo, prints one line of JSON for each and leaves
  test [--only STEP]         everything that CI runs; `--list` names the steps
  openapi [ADDRESS]          the HTTP interface against its OpenAPI document: that of `sectile serve`, or
                             of the server at ADDRESS
  bench [NAME]               the benches, as lines of JSON
  size                       bytes of the wasm and the scripts, as lines of JSON
  dist                       target/dist/site (any static host, any sub-path) and target/dist/npm
  setup                      only install what the commands above need
";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let outcome = match words.split_first() {
        Some((&"demo", rest)) => demo::Options::parse(rest).and_then(|options| demo::run(&options)),
        Some((&"test", rest)) => test::run(rest),
        Some((&"openapi", rest)) => openapi::run(rest),
        Some((&"bench", rest)) => bench::run(rest),
        Some((&"size", [])) => size::run(),
        Some((&"dist", [])) => dist(),
        Some((&"setup", [])) => setup::everything(),
        Some((&("help" | "--help" | "-h"), _)) => {
            print!("{USAGE}");
            Ok(())
        }
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("xtask: {reason}");
            ExitCode::FAILURE
        }
    }
}

fn dist() -> Outcome {
    site::build()?;
    npm::build()
}
