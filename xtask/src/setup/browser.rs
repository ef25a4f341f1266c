//! Chromium and its web driver, for the tests in a browser.

use crate::setup::packages;
use crate::{Outcome, program};
use std::path::PathBuf;

/// A browser and the driver that belongs to it.
pub(crate) struct Browser {
    pub(crate) chromium: PathBuf,
    pub(crate) driver: PathBuf,
}

/// `CHROMIUM` and `CHROMEDRIVER` if set, else what is on PATH, else the system's packages.
pub(crate) fn ensure() -> Outcome<Browser> {
    if let Some(found) = found() {
        return Ok(found);
    }
    packages::install(
        &["chromium", "chromium-driver"],
        "Install Chromium (or Chrome) and the ChromeDriver of the same version, \
         and put both on PATH or name them in CHROMIUM and CHROMEDRIVER",
    )?;
    found().ok_or_else(|| "chromium and chromium-driver are installed but not on PATH".into())
}

fn found() -> Option<Browser> {
    let named = |name| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_file())
    };
    let names = [
        "chromium",
        "chromium-browser",
        "google-chrome-stable",
        "google-chrome",
        "chrome",
    ];
    let chromium = named("CHROMIUM").or_else(|| names.into_iter().find_map(program::find))?;
    let driver = named("CHROMEDRIVER").or_else(|| program::find("chromedriver"))?;
    Some(Browser { chromium, driver })
}
