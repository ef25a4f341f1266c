//! The static site: the pages as they are, the built core and the plot beside them.

use crate::setup::node;
use crate::{Outcome, addresses, place, wasm};
use std::path::Path;

/// Builds target/dist/site afresh. Any static host can serve it, under any path.
pub(crate) fn build() -> Outcome {
    let site = place::site();
    let pages = place::root().join("www");
    if !pages.join("index.html").is_file() {
        return Err(format!("{} has no index.html", pages.display()));
    }
    place::empty(&site)?;
    let copied = place::copy_tree(&pages, &site, |_| true)?;
    wasm::build(&site)?;
    plot(&site.join("vendor"))?;
    for name in ["LICENSE-MIT", "LICENSE-APACHE"] {
        place::write(&site.join(name), &place::read(&place::root().join(name))?)?;
    }
    addresses::check(&site)?;
    eprintln!(
        "site: {copied} files of www and the core in {}",
        place::shown(&site)
    );
    Ok(())
}

/// uPlot, which draws the spectra: the minified build of the package as a module, with its style and licence.
///
/// The package's own module is not minified, twice the size, and full of addresses in comments.
fn plot(vendor: &Path) -> Outcome {
    node::packages()?;
    let package = place::root().join("node_modules/uplot");
    let script = module(&place::read_text(&package.join("dist/uPlot.iife.min.js"))?)?;
    place::write(&vendor.join("uplot.js"), script.as_bytes())?;
    for (from, to) in [
        ("dist/uPlot.min.css", "uplot.css"),
        ("LICENSE", "LICENSE-uplot"),
    ] {
        place::write(&vendor.join(to), &place::read(&package.join(from))?)?;
    }
    Ok(())
}

/// The script, which puts one name into a page's globals, as a module that exports it. The first line
/// names a host, and gives way to one that names the licence.
fn module(script: &str) -> Outcome<String> {
    match script.split_once('\n') {
        Some((banner, body)) if banner.starts_with("/*!") && body.starts_with("var uPlot=") => {
            Ok(format!(
                "/*! uPlot 1.6.32, MIT: see LICENSE-uplot */\n{}\nexport default uPlot;\n",
                body.trim_end()
            ))
        }
        _ => Err("uPlot's script does not begin as that of version 1.6.32 does".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::module;

    #[test]
    fn a_script_becomes_a_module_without_an_address() {
        let made = module("/*! from somewhere */\nvar uPlot=function(){}();\n");
        assert_eq!(
            made.as_deref(),
            Ok(
                "/*! uPlot 1.6.32, MIT: see LICENSE-uplot */\nvar uPlot=function(){}();\nexport default uPlot;\n"
            )
        );
        assert!(module("var other=1").is_err());
    }
}
