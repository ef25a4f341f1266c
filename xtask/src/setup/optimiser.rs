//! `wasm-opt` of binaryen: optional, since what it saves is bytes and never correctness.

use crate::program;
use crate::setup::packages;
use std::path::PathBuf;

/// The optimiser, installed where that is possible; nothing where it is not.
pub(crate) fn ensure() -> Option<PathBuf> {
    program::find("wasm-opt").or_else(|| {
        let otherwise =
            "Install binaryen for a wasm file that is a fifth smaller; going on without";
        if let Err(reason) = packages::install(&["binaryen"], otherwise) {
            eprintln!("setup: {reason}");
        }
        program::find("wasm-opt")
    })
}
