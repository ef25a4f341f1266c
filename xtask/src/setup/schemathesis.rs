//! Schemathesis, which holds a running server to its `OpenAPI` document, in a Python environment of its own.
//!
//! `tests/openapi/requirements.txt` pins it and all that it stands on.

use crate::setup::bindgen::tools_folder;
use crate::{Outcome, place, program};
use std::path::{Path, PathBuf};

/// Pythons that may make the environment; it needs 3.10 or later.
const PYTHONS: [&str; 3] = ["python3", "/usr/bin/python3", "python"];

/// Finds the program in our own folder, and otherwise installs it there (a minute, once a machine).
pub(crate) fn ensure() -> Outcome<PathBuf> {
    let list = place::root().join("tests/openapi/requirements.txt");
    let wanted = place::read_text(&list)?;
    let version = version(&wanted).ok_or("tests/openapi/requirements.txt pins no schemathesis")?;
    let home = tools_folder()?
        .join("sectile")
        .join(format!("schemathesis-{version}"));
    let stamp = home.join("requirements.txt");
    let program = executable(&home, "schemathesis");
    // Written last, so that it stands for a complete installation of this very list.
    if program.is_file() && std::fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
        return Ok(program);
    }
    eprintln!(
        "setup: installing schemathesis {version} into {} (a minute, once)",
        home.display()
    );
    place::remove(&home)?;
    environment(&home)?;
    let mut install = program::command(executable(&home, "python"));
    install.args(["-m", "pip", "install", "--quiet", "--no-input"]);
    install.args(["--disable-pip-version-check", "--no-deps", "-r"]);
    program::run(install.arg(&list))?;
    place::write(&stamp, wanted.as_bytes())?;
    Ok(program)
}

/// A fresh environment made by the first Python that can.
fn environment(home: &Path) -> Outcome {
    let mut reasons = Vec::new();
    for python in PYTHONS {
        let made = program::run(program::command(python).args(["-m", "venv"]).arg(home));
        match made {
            Ok(()) => return Ok(()),
            Err(reason) => reasons.push(reason),
        }
        place::remove(home)?;
    }
    Err(format!(
        "no Python here makes an environment ({}); install Python 3.10 or later with its module venv",
        reasons.join("; ")
    ))
}

fn executable(home: &Path, name: &str) -> PathBuf {
    let folder = if cfg!(windows) { "Scripts" } else { "bin" };
    home.join(folder)
        .join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}

fn version(requirements: &str) -> Option<&str> {
    let mut lines = requirements.lines();
    lines.find_map(|line| line.trim().strip_prefix("schemathesis=="))
}

#[cfg(test)]
mod tests {
    use super::version;

    #[test]
    fn takes_the_version_of_the_program_itself() {
        let list = "# x\nhypothesis==6.1\nhypothesis-graphql==0.1\nschemathesis==4.2.1\n";
        assert_eq!(version(list), Some("4.2.1"));
        assert_eq!(version("requests==2.0\n"), None);
    }
}
