//! What the other commands need on a machine. Each piece looks first and installs only what is missing.

pub(crate) mod bindgen;
pub(crate) mod browser;
pub(crate) mod node;
pub(crate) mod numpy;
pub(crate) mod optimiser;
pub(crate) mod packages;
pub(crate) mod schemathesis;
pub(crate) mod toolchain;

use crate::Outcome;

/// Every piece at once, so that a fresh machine fails early and in one place.
pub(crate) fn everything() -> Outcome {
    toolchain::components()?;
    toolchain::wasm_target()?;
    let bindgen = bindgen::ensure()?;
    println!("wasm-bindgen: {}", bindgen.cli.display());
    let browser = browser::ensure()?;
    println!(
        "chromium: {}, chromedriver: {}",
        browser.chromium.display(),
        browser.driver.display()
    );
    match numpy::ensure() {
        Ok(python) => println!("numpy: that of {python}"),
        // One test is skipped then; a person may have no right to install it.
        Err(reason) => println!("numpy: none ({reason})"),
    }
    println!("schemathesis: {}", schemathesis::ensure()?.display());
    node::packages()?;
    println!("node packages: as package-lock.json says");
    println!("wasm-opt: {}", optimiser::ensure()?.display());
    Ok(())
}
