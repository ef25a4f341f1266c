//! The static site: the pages as they are, the built core and what they take from packages beside them.

use crate::setup::node;
use crate::{Outcome, addresses, place, wasm};
use std::path::Path;

/// Builds target/dist/site afresh, without the Worker. Any static host can serve it, under any path.
pub(crate) fn build() -> Outcome {
    let site = place::site();
    let pages = place::root().join("www");
    if !pages.join("index.html").is_file() {
        return Err(format!("{} has no index.html", pages.display()));
    }
    place::empty(&site)?;
    let copied = place::copy_tree(&pages, &site, |file| !file.starts_with("edge"))?;
    wasm::build(&site)?;
    node::packages()?;
    plot(&site.join("vendor"))?;
    zip(&site.join("vendor"))?;
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

/// client-zip, which writes the archives of images: the package's own module, which is minified, with its licence.
fn zip(vendor: &Path) -> Outcome {
    let package = place::root().join("node_modules/client-zip");
    let script = zip_module(&place::read_text(&package.join("index.js"))?)?;
    place::write(&vendor.join("client-zip.js"), script.as_bytes())?;
    place::write(
        &vendor.join("LICENSE-client-zip"),
        &place::read(&package.join("LICENSE.txt"))?,
    )?;
    Ok(())
}

/// The module as it is, below a line that names the licence.
fn zip_module(script: &str) -> Outcome<String> {
    if script.contains(" as makeZip") {
        Ok(format!(
            "/*! client-zip 2.5.1, MIT: see LICENSE-client-zip */\n{}\n",
            script.trim_end()
        ))
    } else {
        Err("client-zip's module does not export makeZip as that of version 2.5.1 does".into())
    }
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
    use super::{module, zip_module};

    #[test]
    fn the_archiver_is_the_version_that_is_known() {
        assert!(zip_module("export{N as makeZip};").is_ok_and(|made| made.starts_with("/*!")));
        assert!(zip_module("export{N as zip};").is_err());
    }

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
