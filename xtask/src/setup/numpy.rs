//! A Python with numpy, with which a test reads a store the way a stranger would.

use crate::setup::packages;
use crate::{Outcome, program};

/// Where the system's packages put Python; `python3` may be another one that was installed beside it.
const SYSTEM: &str = "/usr/bin/python3";

/// `SECTILE_PYTHON` if that is set; else `python3` or the system's Python, whichever has numpy; else the
/// system's after numpy was installed for it.
pub(crate) fn ensure() -> Outcome<String> {
    if let Ok(named) = std::env::var("SECTILE_PYTHON") {
        return if has_numpy(&named) {
            Ok(named)
        } else {
            Err(format!("SECTILE_PYTHON names {named}, which has no numpy"))
        };
    }
    if let Some(python) = found() {
        return Ok(python);
    }
    packages::install(
        &["python3-numpy"],
        "Install numpy for python3, or name a Python that has it in SECTILE_PYTHON",
    )?;
    found().ok_or_else(|| {
        format!("python3-numpy is installed, but neither python3 nor {SYSTEM} can import numpy")
    })
}

fn found() -> Option<String> {
    let pythons = ["python3", SYSTEM].into_iter();
    pythons.map(str::to_owned).find(|python| has_numpy(python))
}

fn has_numpy(python: &str) -> bool {
    program::output(program::command(python).args(["-c", "import numpy"])).is_ok()
}
