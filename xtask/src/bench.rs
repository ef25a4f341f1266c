//! The benches, as lines of JSON on stdout; what else they say goes to stderr.

use crate::setup::node;
use crate::{Outcome, place, program, site, wasm};
use std::path::Path;
use std::process::Command;

/// Runs every bench, or those whose name contains the one word given.
///
/// - benches/NAME.rs: a cargo bench without libtest's harness.
/// - benches/NAME/ with a Cargo.toml: a crate that is built for wasm; its scripts run under Node and get
///   the folder of its binding, once plainly and, if they know it, once with `--job`.
/// - benches/NAME.mjs that knows `--bench`: runs under Node against the built site. Other scripts there
///   are servers and parts of benches.
///
/// Other folders hold what several benches are measured on. Beside what users have otherwise they are
/// set by benches/NAME.py, which say how they are run; `cargo run --release --no-default-features
/// --example generate_ions` writes large imaging datasets.
pub(crate) fn run(words: &[&str]) -> Outcome {
    let wanted = match words {
        [] => "",
        [name] => name,
        _ => return Err("bench takes one name at most".into()),
    };
    let mut paths = place::entries(&place::root().join("benches"))?;
    paths.retain(|path| {
        path.file_stem()
            .is_some_and(|name| name.to_string_lossy().contains(wanted))
    });
    let mut found = false;
    for path in paths {
        found |= bench(&path)?;
    }
    if found {
        Ok(())
    } else {
        Err(format!(
            "there is no bench named like `{wanted}` in benches/"
        ))
    }
}

/// Runs what `path` is; false if it is no bench.
fn bench(path: &Path) -> Outcome<bool> {
    match place::extension(path) {
        "rs" => {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            lines(&mut program::cargo(["bench", "--locked", "--bench", &name]))?;
        }
        "mjs" if place::read_text(path)?.contains("--bench") => {
            node::packages()?;
            site::build()?;
            lines(program::command("node").arg(path).arg("--bench"))?;
        }
        _ if path.join("Cargo.toml").is_file() => on_wasm(path)?,
        _ => return Ok(false),
    }
    Ok(true)
}

/// Benches of code that is compiled to wasm, without the pages around it.
fn on_wasm(folder: &Path) -> Outcome {
    node::node()?;
    let binding = wasm::bench_crate(folder)?;
    for script in place::entries(folder)?
        .iter()
        .filter(|path| place::extension(path) == "mjs")
    {
        let node = || {
            let mut node = program::command("node");
            node.arg(script).arg(&binding);
            node
        };
        lines(&mut node())?;
        if place::read_text(script)?.contains("'--job'") {
            lines(node().arg("--job"))?;
        }
    }
    Ok(())
}

/// Runs one bench, hands on its lines of JSON and moves the rest to stderr.
fn lines(command: &mut Command) -> Outcome {
    let mut results: u32 = 0;
    program::lines(command, |line| {
        if line.starts_with('{') {
            println!("{line}");
            results += 1;
        } else {
            eprintln!("{line}");
        }
    })?;
    if results == 0 {
        return Err(format!(
            "`{}` printed no line of JSON",
            program::shown(command)
        ));
    }
    Ok(())
}
