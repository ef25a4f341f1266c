//! The static site: the pages as they are, and the built core beside them.

use crate::{Outcome, addresses, place, wasm};

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
