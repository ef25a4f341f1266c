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

/// A part of the core that is a module of its own, so that a page of one kind fetches nothing of the other.
pub(crate) struct Module {
    /// The feature of the package that binds it.
    pub(crate) feature: &'static str,
    /// The binding's folder in the site.
    folder: &'static str,
    /// The binding's name, without its ending.
    pub(crate) name: &'static str,
    /// The most that its wasm may weigh as a server sends it, gzip at its best level, in bytes.
    pub(crate) most_gzip: usize,
}

/// The module of the Worker. No page takes it: the router, the tables of all layers and the assembly of jobs would
/// not fit into what a page may fetch. Its limit is that of all that is deployed, the script included.
pub(crate) const EDGE: Module = Module {
    feature: "wasm-edge",
    folder: "pkg/edge",
    name: "edge",
    most_gzip: 1_000_000,
};

/// The modules of the pages.
pub(crate) const MODULES: [Module; 3] = [
    Module {
        feature: "wasm-stack",
        folder: "pkg",
        name: "sectile",
        most_gzip: 154_000,
    },
    Module {
        feature: "wasm-ions",
        folder: "pkg/ions",
        name: "ions",
        most_gzip: 240_000,
    },
    Module {
        feature: "wasm-annotate",
        folder: "pkg/annotate",
        name: "annotate",
        most_gzip: 205_000,
    },
];

/// The features of all modules, as cargo takes them: what lints and tests of the bindings are built with.
pub(crate) fn features() -> String {
    let pages = MODULES.iter().map(|module| module.feature);
    pages.chain([EDGE.feature]).collect::<Vec<_>>().join(",")
}

/// Builds every module of the pages, checks what it imports, and writes bindings and types into `pkg` of the site.
pub(crate) fn build(site: &Path) -> Outcome {
    place::empty(&site.join("pkg"))?;
    MODULES
        .iter()
        .try_for_each(|module| bound(module, "web", site))
}

/// Builds the Worker's module into `pkg` of `folder`, with a binding that can be started any number of times.
pub(crate) fn build_edge(folder: &Path) -> Outcome {
    place::empty(&folder.join("pkg"))?;
    bound(&EDGE, "no-modules", folder)?;
    let binding = folder.join(EDGE.folder).join(format!("{}.js", EDGE.name));
    let made = factory(&place::read_text(&binding)?)?;
    place::write(&binding, made.as_bytes())
}

/// One module with its binding of that kind, in its folder below `to`.
fn bound(module: &Module, kind: &str, to: &Path) -> Outcome {
    toolchain::wasm_target()?;
    let bindgen = bindgen::ensure()?;
    program::run(&mut program::cargo([
        "fetch", "--quiet", "--locked", "--target", TARGET,
    ]))?;
    let core = compile(module)?;
    imports::check(&core)?;
    let mut bind = program::command(&bindgen.cli);
    bind.args(["--target", kind, "--out-name", module.name, "--out-dir"])
        .arg(to.join(module.folder))
        .arg(&core);
    program::run(&mut bind)?;
    optimise(&to.join(module.wasm()))
}

/// The binding for classic scripts as a module that exports a function: each call gives classes and functions with
/// an instance of their own.
///
/// A binding that is a module keeps its instance at module level, and an isolate loads a module once: after a trap
/// nothing could be started there any more. Here what still refers to the lost instance can never reach the new one.
fn factory(script: &str) -> Outcome<String> {
    let (start, end) = (
        "let wasm_bindgen = (function(exports) {",
        "})({ __proto__: null });",
    );
    let body = script.trim_end();
    body.strip_prefix(start)
        .and_then(|body| body.strip_suffix(end))
        .map(|body| format!("export default function binding(exports = {{}}) {{{body}}}\n"))
        .ok_or_else(|| {
            "wasm-bindgen's binding for scripts is not the one function that it was".into()
        })
}

impl Module {
    /// Where its wasm lies in the site.
    pub(crate) fn wasm(&self) -> PathBuf {
        Path::new(self.folder).join(format!("{}_bg.wasm", self.name))
    }
}

/// A module as the compiler leaves it.
fn compile(module: &Module) -> Outcome<PathBuf> {
    let target = place::cargo_target().join(module.feature);
    let mut build = program::cargo(["rustc", "--locked", "--release", "--lib"]);
    build.args([
        "--crate-type",
        "cdylib",
        "--no-default-features",
        "--features",
        module.feature,
        "--target",
        TARGET,
    ]);
    // A folder for each: the wasm has the same name in all, and cargo would take one for the other.
    build.arg("--target-dir").arg(&target);
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
    Ok(target.join(TARGET).join("release/sectile.wasm"))
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

#[cfg(test)]
mod tests {
    use super::factory;

    #[test]
    fn a_script_becomes_a_function_that_can_be_called_again() {
        let made = factory(
            "let wasm_bindgen = (function(exports) {\n    return 1;\n})({ __proto__: null });\n",
        );
        assert_eq!(
            made.as_deref(),
            Ok("export default function binding(exports = {}) {\n    return 1;\n}\n")
        );
        assert!(factory("export default 1;").is_err());
    }
}
