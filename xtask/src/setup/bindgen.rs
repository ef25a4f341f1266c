//! The wasm-bindgen command line, of exactly the version that Cargo.lock names.
//!
//! Crate and command agree on an unversioned format, so "nearly the same version" fails late and oddly.

use crate::{Outcome, place, program};
use std::path::{Path, PathBuf};

/// The two programs of the package that are used.
pub(crate) struct Bindgen {
    pub(crate) cli: PathBuf,
    pub(crate) test_runner: PathBuf,
}

/// Finds them in our own folder, then on PATH, and otherwise builds them (minutes, once a machine).
pub(crate) fn ensure() -> Outcome<Bindgen> {
    let version = locked_version(&place::read_text(&place::root().join("Cargo.lock"))?)
        .ok_or("Cargo.lock names no wasm-bindgen")?;
    let home = tools_folder()?
        .join("sectile")
        .join(format!("wasm-bindgen-{version}"));
    let own = home.join("bin");
    let on_path = program::find("wasm-bindgen").and_then(|cli| cli.parent().map(Path::to_path_buf));
    for folder in std::iter::once(own.clone()).chain(on_path) {
        if let Some(found) = found_in(&folder, &version) {
            return Ok(found);
        }
    }
    install(&version, &home)?;
    found_in(&own, &version)
        .ok_or_else(|| format!("no working wasm-bindgen {version} in {}", own.display()))
}

fn install(version: &str, home: &Path) -> Outcome {
    eprintln!(
        "setup: building wasm-bindgen {version} into {} (some minutes, once)",
        home.display()
    );
    place::create(home)?;
    let mut install = program::cargo(["install", "wasm-bindgen-cli", "--version", version]);
    // Without --locked: its lock file asks for versions that a registry may no longer offer. Without
    // default features: TLS, only for web drivers on other machines. Barely optimised: it is faster to
    // build, and what it does here takes well under a second anyway.
    install.args(["--no-default-features", "--root"]).arg(home);
    install.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1");
    // Not the clone's own cargo settings, nor its build folder.
    install.current_dir(home).env_remove("CARGO_TARGET_DIR");
    program::run(&mut install)
}

fn found_in(folder: &Path, version: &str) -> Option<Bindgen> {
    let file = |name| folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    let found = Bindgen {
        cli: file("wasm-bindgen"),
        test_runner: file("wasm-bindgen-test-runner"),
    };
    if !found.cli.is_file() || !found.test_runner.is_file() {
        return None;
    }
    let said = program::output(program::command(&found.cli).arg("--version")).ok()?;
    (said.split_whitespace().nth(1) == Some(version)).then_some(found)
}

/// `SECTILE_TOOLS`, else the user's cache folder.
pub(super) fn tools_folder() -> Outcome<PathBuf> {
    let from = |name| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    from("SECTILE_TOOLS")
        .or_else(|| from("XDG_CACHE_HOME"))
        .or_else(|| from("HOME").map(|home| home.join(".cache")))
        .or_else(|| from("LOCALAPPDATA"))
        .ok_or_else(|| "set SECTILE_TOOLS to a folder for build tools: there is no HOME".into())
}

fn locked_version(lock: &str) -> Option<String> {
    let mut lines = lock.lines();
    lines.find(|line| *line == "name = \"wasm-bindgen\"")?;
    let version = lines.next()?.strip_prefix("version = \"")?;
    Some(version.trim_end_matches('"').to_owned())
}

#[cfg(test)]
mod tests {
    use super::locked_version;

    #[test]
    fn takes_the_version_of_the_crate_itself() {
        let lock = "[[package]]\nname = \"wasm-bindgen-macro\"\nversion = \"9.9.9\"\n\n\
                    [[package]]\nname = \"wasm-bindgen\"\nversion = \"0.2.130\"\n";
        assert_eq!(locked_version(lock).as_deref(), Some("0.2.130"));
        assert_eq!(
            locked_version("[[package]]\nname = \"png\"\nversion = \"1\"\n"),
            None
        );
    }
}
