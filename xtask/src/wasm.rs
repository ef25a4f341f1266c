//! The library as WebAssembly, with its JavaScript binding.

use crate::setup::{bindgen, optimiser, toolchain};
use crate::{Outcome, imports, place, program};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const TARGET: &str = "wasm32-unknown-unknown";

/// The most linear memory any instance may be given, in bytes (1 GiB). The page imports a memory with
/// its own maximum, the budget; this is only the ceiling that the module admits.
const CEILING: &str = "link-arg=--max-memory=1073741824";

/// The linear memory that every instance starts with, in bytes: 6 pages. `www/core/instance.js` makes the
/// memory and must start it with as many: fewer do not link, and more are lost to the allocator.
const INITIAL: &str = "link-arg=--initial-memory=393216";

/// The stack: nothing here recurses or keeps large arrays on it, and what it takes is taken from the budget.
const STACK: &str = "link-arg=-zstack-size=196608";

/// Builds the core, checks what it imports, and writes binding and types into `folder`.
pub(crate) fn build(folder: &Path) -> Outcome {
    toolchain::wasm_target()?;
    let bindgen = bindgen::ensure()?;
    let core = compile()?;
    imports::check(&core)?;
    place::empty(folder)?;
    let mut bind = program::command(&bindgen.cli);
    bind.args(["--target", "web", "--out-dir"])
        .arg(folder)
        .arg(&core);
    program::run(&mut bind)?;
    optimise(&folder.join("sectile_bg.wasm"))
}

/// The core as the compiler leaves it.
fn compile() -> Outcome<PathBuf> {
    program::run(&mut program::cargo([
        "fetch", "--quiet", "--locked", "--target", TARGET,
    ]))?;
    let mut build = program::cargo(["rustc", "--locked", "--release", "--lib"]);
    build.args([
        "--crate-type",
        "cdylib",
        "--no-default-features",
        "--target",
        TARGET,
    ]);
    hide_sources(&mut build)?;
    build.args([
        "--",
        "-C",
        "link-arg=--import-memory",
        "-C",
        INITIAL,
        "-C",
        STACK,
        "-C",
        CEILING,
    ]);
    program::run(&mut build)?;
    Ok(place::cargo_target()
        .join(TARGET)
        .join("release/sectile.wasm"))
}

/// Names the sources of dependencies alike on every machine.
///
/// Panic messages carry the paths of source files; without this the wasm holds the builder's home
/// folder and the registry's name, and two machines never build the same bytes.
fn hide_sources(build: &mut Command) -> Outcome {
    let home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| {
            let home = std::env::var_os(if cfg!(windows) { "USERPROFILE" } else { "HOME" })?;
            Some(PathBuf::from(home).join(".cargo"))
        });
    let Some(home) = home else { return Ok(()) };
    for folder in place::entries(&home.join("registry/src"))? {
        let flag = format!("--remap-path-prefix={}=crates", folder.display());
        // Joined by cargo to the flags of .cargo/config.toml.
        build
            .arg("--config")
            .arg(format!("target.{TARGET}.rustflags=['{flag}']"));
    }
    Ok(())
}

/// Builds the crate in `folder` for wasm and Node; hands back the folder of its binding.
pub(crate) fn bench_crate(folder: &Path) -> Outcome<PathBuf> {
    toolchain::wasm_target()?;
    let bindgen = bindgen::ensure()?;
    let name = folder
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let target = place::cargo_target().join("bench").join(&name);
    let mut build = program::cargo([
        "build",
        "--locked",
        "--release",
        "--lib",
        "--target",
        TARGET,
    ]);
    build.arg("--manifest-path").arg(folder.join("Cargo.toml"));
    program::run(build.arg("--target-dir").arg(&target))?;
    let built = place::entries(&target.join(TARGET).join("release"))?
        .into_iter()
        .find(|path| place::extension(path) == "wasm")
        .ok_or_else(|| format!("{} builds no wasm", place::shown(folder)))?;
    let binding = target.join("binding");
    let mut bind = program::command(&bindgen.cli);
    bind.args(["--target", "nodejs", "--out-dir"])
        .arg(&binding)
        .arg(built);
    program::run(&mut bind)?;
    Ok(binding)
}

/// Makes the wasm smaller, and takes out the names.
fn optimise(file: &Path) -> Outcome {
    // What rustc switches on for this target (and .cargo/config.toml, for simd).
    let features = [
        "--enable-simd",
        "--enable-bulk-memory",
        "--enable-bulk-memory-opt",
        "--enable-nontrapping-float-to-int",
        "--enable-sign-ext",
        "--enable-mutable-globals",
        "--enable-reference-types",
        "--enable-multivalue",
    ];
    let stripped = [
        "--strip-debug",
        "--strip-producers",
        "--strip-target-features",
    ];
    let smaller = file.with_extension("opt");
    let mut optimise = optimiser::command()?;
    // Functions merged into one another become too large for an engine to give registers well: a median
    // in a job loses a sixth of its speed. -Oz saves no bytes that travel.
    optimise
        .args(["--no-inline=*", "-O3"])
        .args(features)
        .args(stripped)
        .arg(file)
        .arg("-o")
        .arg(&smaller);
    program::run(&mut optimise)?;
    fs::rename(&smaller, file)
        .map_err(|error| format!("cannot replace {}: {error}", file.display()))
}
