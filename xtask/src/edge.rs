//! The Worker: what is deployed, its size, and a run of it on this machine.

use crate::setup::node;
use crate::{Outcome, demo, place, program, site, size, wasm};
use std::path::PathBuf;
use std::process::Command;

const PORT: u16 = 8788;

/// How the Worker is run.
pub(crate) struct Options {
    build: bool,
    port: u16,
}

impl Options {
    pub(crate) fn parse(words: &[&str]) -> Outcome<Self> {
        let mut options = Self {
            build: false,
            port: PORT,
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "--build" => options.build = true,
                "--port" => {
                    let digits = words.next().ok_or("--port needs a number")?;
                    options.port = digits.parse().map_err(|_| format!("{digits} is no port"))?;
                }
                other => {
                    return Err(format!(
                        "edge does not know `{other}`; see `cargo xtask help`"
                    ));
                }
            }
        }
        Ok(options)
    }
}

/// Builds the Worker; unless that is all, runs it with the demo's data in a bucket of this machine.
pub(crate) fn run(options: &Options) -> Outcome {
    build()?;
    if options.build {
        return Ok(());
    }
    // The page that shows the stack.
    site::build()?;
    let sectile = demo::build_program()?;
    let folder = demo::write(&sectile)?;
    let mut script = program::command("node");
    script
        .arg("tests/web/edge-local.mjs")
        .args(["--port", &options.port.to_string()])
        .arg("--folder")
        .arg(folder)
        .arg("--program")
        .arg(sectile);
    offline(&mut script);
    program::lines(&mut script, |line| println!("{line}"))
}

/// Builds target/dist/edge afresh: the Worker's modules, the core, and what `wrangler deploy` would send.
///
/// # Errors
/// If it weighs more than it may.
pub(crate) fn build() -> Outcome {
    node::packages()?;
    let (folder, pages) = (place::edge(), place::root().join("www"));
    place::empty(&folder)?;
    place::copy_tree(&pages, &folder, |file| {
        file.starts_with("edge") || file.starts_with("core")
    })?;
    wasm::build_edge(&folder)?;
    bundle()?;
    measure()
}

/// What `wrangler deploy` would send, without an account or a connection.
fn bundle() -> Outcome {
    let mut wrangler = program::command("node");
    wrangler
        .arg("node_modules/wrangler/bin/wrangler.js")
        .args(["deploy", "--dry-run", "--outdir"])
        .arg(place::edge().join("bundle"))
        .arg("--config")
        .arg(place::edge().join("edge/wrangler.jsonc"));
    offline(&mut wrangler);
    program::run(&mut wrangler)
}

/// Keeps the runtime and its tools from asking for anything outside.
pub(crate) fn offline(command: &mut Command) {
    command
        .env("CI", "1")
        .env("WRANGLER_SEND_METRICS", "false")
        .env("CLOUDFLARE_CF_FETCH_ENABLED", "false");
}

/// Prints one line of JSON with the size of a deployment.
///
/// # Errors
/// If it is over its limit.
pub(crate) fn measure() -> Outcome {
    let sent = |file: &PathBuf| ["js", "wasm"].contains(&place::extension(file));
    let mut files = place::files(&place::edge().join("bundle"))?;
    files.retain(sent);
    if files.len() < 2 {
        return Err("there is no bundle: run `cargo xtask edge --build`".into());
    }
    let weight = size::Weight::of(&files)?;
    let most = wasm::EDGE.most_gzip;
    println!("{}", weight.limited("edge", most));
    if weight.gzip > most {
        return Err(format!(
            "the Worker is {} bytes gzip; at most {most} are allowed",
            weight.gzip
        ));
    }
    Ok(())
}
