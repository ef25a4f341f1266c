//! Node and the packages of package-lock.json.

use crate::{Outcome, place, program};
use std::fs;
use std::time::SystemTime;

/// The oldest Node that the pages' tests and the library run on.
const OLDEST: u32 = 20;

/// Checks that Node is there and recent enough.
pub(crate) fn node() -> Outcome {
    let advice = format!("Node {OLDEST} or later is needed: install it and put it on PATH");
    let said = program::output(program::command("node").arg("--version"))
        .map_err(|reason| format!("{advice} ({reason})"))?;
    let major = said.trim().trim_start_matches('v').split('.').next();
    match major.and_then(|digits| digits.parse::<u32>().ok()) {
        Some(major) if major >= OLDEST => Ok(()),
        _ => Err(format!("{advice}; here is {}", said.trim())),
    }
}

/// `npm ci`, unless what is installed is what the lock file says.
pub(crate) fn packages() -> Outcome {
    node()?;
    let root = place::root();
    let lock = changed(&root.join("package-lock.json"))
        .ok_or("package-lock.json is missing from the clone")?;
    // npm writes this file last, so it stands for a complete installation.
    let installed = changed(&root.join("node_modules/.package-lock.json"));
    if installed.is_some_and(|installed| installed >= lock) {
        return Ok(());
    }
    eprintln!("setup: the node packages are missing or not those of package-lock.json");
    let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
    program::run(program::command(npm).args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]))
}

fn changed(path: &std::path::Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|found| found.modified()).ok()
}

#[cfg(test)]
mod tests {
    use crate::place;

    #[test]
    fn the_lock_file_names_no_place_to_download_from() {
        let lock = place::read_text(&place::root().join("package-lock.json"));
        assert!(
            lock.is_ok_and(|lock| lock.contains("\"integrity\"") && !lock.contains("\"resolved\""))
        );
    }
}
