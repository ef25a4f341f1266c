//! `wasm-opt` of binaryen, as package-lock.json pins it: every machine builds the same bytes.
//!
//! One that lies on PATH is never taken: distributions ship old ones that do not know all instructions.

use crate::setup::node;
use crate::{Outcome, place, program};
use std::path::PathBuf;
use std::process::Command;

/// Installs the node packages if they are not there, and the optimiser with them.
///
/// Npm gives it as a script for Node.
pub(crate) fn ensure() -> Outcome<PathBuf> {
    let missing = "wasm-opt is missing: run `npm ci --ignore-scripts` in the clone";
    node::packages().map_err(|reason| format!("{missing} ({reason})"))?;
    let script = place::root().join("node_modules/binaryen/bin/wasm-opt");
    if script.is_file() {
        Ok(script)
    } else {
        Err(missing.into())
    }
}

/// A call of the optimiser that wants its arguments.
pub(crate) fn command() -> Outcome<Command> {
    let mut command = program::command("node");
    command.arg(ensure()?);
    Ok(command)
}
