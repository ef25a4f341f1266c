//! Where things lie.

use crate::Outcome;
use std::fs;
use std::path::{Path, PathBuf};

/// The folder with the workspace's `Cargo.toml`.
pub(crate) fn root() -> PathBuf {
    // What cargo says now: clones that share a build folder share this program too.
    let here = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    here.parent().map_or(here.clone(), Path::to_path_buf)
}

/// Where cargo puts what it builds.
pub(crate) fn cargo_target() -> PathBuf {
    let chosen = std::env::var_os("CARGO_TARGET_DIR").map_or("target".into(), PathBuf::from);
    root().join(chosen)
}

/// The static site. Always below the clone, wherever cargo builds: tests and hosts look for it here.
pub(crate) fn site() -> PathBuf {
    root().join("target/dist/site")
}

/// The npm package, ready for `npm pack` or `npm publish`.
pub(crate) fn npm() -> PathBuf {
    root().join("target/dist/npm")
}

/// The Worker: its modules, the core's binding for it, and under `bundle` what is deployed.
pub(crate) fn edge() -> PathBuf {
    root().join("target/dist/edge")
}

/// The demo stack and the pictures of it.
pub(crate) fn demo() -> PathBuf {
    root().join("target/demo")
}

/// `path` as a reader of the output knows it: relative to the clone where it lies inside.
pub(crate) fn shown(path: &Path) -> String {
    path.strip_prefix(root())
        .unwrap_or(path)
        .display()
        .to_string()
}

pub(crate) fn read(path: &Path) -> Outcome<Vec<u8>> {
    fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

pub(crate) fn read_text(path: &Path) -> Outcome<String> {
    fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

pub(crate) fn write(path: &Path, bytes: &[u8]) -> Outcome {
    if let Some(folder) = path.parent() {
        create(folder)?;
    }
    fs::write(path, bytes).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

pub(crate) fn create(folder: &Path) -> Outcome {
    fs::create_dir_all(folder)
        .map_err(|error| format!("cannot make the folder {}: {error}", folder.display()))
}

/// Makes `folder` empty, so that nothing of an earlier build is shipped.
pub(crate) fn empty(folder: &Path) -> Outcome {
    remove(folder)?;
    create(folder)
}

/// Removes a folder and all that is in it, if there is one.
pub(crate) fn remove(folder: &Path) -> Outcome {
    if folder.exists() {
        fs::remove_dir_all(folder)
            .map_err(|error| format!("cannot clear {}: {error}", folder.display()))?;
    }
    Ok(())
}

/// Every file below `folder`, in the order of their names; none if there is no such folder.
pub(crate) fn files(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(folder) = open.pop() {
        for path in entries(&folder)? {
            if path.is_dir() {
                open.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// What lies directly in `folder`, in the order of the names; nothing if there is no such folder.
pub(crate) fn entries(folder: &Path) -> Outcome<Vec<PathBuf>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let failed = |error| format!("cannot list {}: {error}", folder.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        found.push(entry.map_err(failed)?.path());
    }
    found.sort();
    Ok(found)
}

/// Copies every file of `from` that `wanted` admits into `to`; tells how many.
pub(crate) fn copy_tree(from: &Path, to: &Path, wanted: impl Fn(&Path) -> bool) -> Outcome<usize> {
    let mut copied = 0;
    for file in files(from)? {
        let inside = file.strip_prefix(from).map_err(|error| error.to_string())?;
        if wanted(inside) {
            write(&to.join(inside), &read(&file)?)?;
            copied += 1;
        }
    }
    Ok(copied)
}

/// The path's extension, or nothing.
pub(crate) fn extension(path: &Path) -> &str {
    path.extension().and_then(|end| end.to_str()).unwrap_or("")
}
