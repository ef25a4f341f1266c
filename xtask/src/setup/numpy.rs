//! numpy, with which a test reads a store the way a stranger would.

use crate::setup::packages;
use crate::{Outcome, program};

/// `SECTILE_PYTHON` or `python3` if it has numpy, else the system's package.
pub(crate) fn ensure() -> Outcome {
    if there() {
        return Ok(());
    }
    packages::install(
        &["python3-numpy"],
        "Install numpy for python3, or name a Python that has it in SECTILE_PYTHON",
    )?;
    if there() {
        Ok(())
    } else {
        Err("python3-numpy is installed, but python3 cannot import numpy".into())
    }
}

fn there() -> bool {
    let python = std::env::var_os("SECTILE_PYTHON").unwrap_or_else(|| "python3".into());
    program::output(program::command(python).args(["-c", "import numpy"])).is_ok()
}
