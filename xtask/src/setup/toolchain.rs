//! The parts of the Rust toolchain that a minimal installation lacks.

use crate::{Outcome, program};

const WASM: &str = "wasm32-unknown-unknown";

/// `rustup target add wasm32-unknown-unknown`, if its standard library is not there.
pub(crate) fn wasm_target() -> Outcome {
    let rustc = || program::command(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    let folder = program::output(rustc().args(["--print", "target-libdir", "--target", WASM]))?;
    if std::path::Path::new(folder.trim()).is_dir() {
        return Ok(());
    }
    eprintln!("setup: the Rust target {WASM} is missing");
    program::run(program::command("rustup").args(["target", "add", WASM])).map_err(|reason| {
        format!("{reason}; without rustup, install the standard library for {WASM} with what installed rustc")
    })
}

/// rustfmt and clippy.
pub(crate) fn components() -> Outcome {
    for (call, component) in [("fmt", "rustfmt"), ("clippy", "clippy")] {
        if program::output(&mut program::cargo([call, "--version"])).is_err() {
            eprintln!("setup: {component} is missing");
            program::run(program::command("rustup").args(["component", "add", component]))?;
        }
    }
    Ok(())
}
