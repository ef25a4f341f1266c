//! What decides a result, from a plain object.

use wasm_bindgen::prelude::*;

use crate::error::Error;
use crate::ion::annotate::{Request, polarity};
use crate::ion::formula::modifier::Modifier;
use crate::ion::isotope::{Analyzer, Instrument};
use crate::wasm::record;
use crate::wasm::{Thrown, thrown};

/// The resolving power at m/z 200 where none is stated.
const RESOLVING_POWER: f64 = 140_000.0;

/// A request, and what is to be warned of, from `{adducts, decoys, scoring, analyzer, resolving_power, ppm, hotspot,
/// charge, slice, store, polarity}`; the last two are the store's name and its own polarity, where there is one.
pub(super) fn read_request(wish: &JsValue) -> Result<(Request, Vec<String>), Thrown> {
    let texts = record::texts(wish, "adducts")?.unwrap_or_default();
    let analyzer = match record::text(wish, "analyzer")? {
        Some(name) => name.parse().map_err(thrown)?,
        None => Analyzer::default(),
    };
    let power = record::float(wish, "resolving_power")?.unwrap_or(RESOLVING_POWER);
    let instrument = Instrument::new(analyzer, power).map_err(thrown)?;
    let (charge, warnings) = charge(wish, &texts)?;
    let usual = Request::new(modifiers(&texts)?, instrument, charge);
    let decoys = match record::small(wish, "decoys")? {
        Some(decoys) => u8::try_from(decoys).map_err(|_| {
            let what = format!("{decoys} for each target are more than there are");
            wrong("decoys", what)
        })?,
        None => usual.decoys,
    };
    let scoring = match record::text(wish, "scoring")? {
        Some(name) => name.parse().map_err(thrown)?,
        None => usual.scoring,
    };
    let request = Request {
        decoys,
        scoring,
        ppm: record::float(wish, "ppm")?.unwrap_or(usual.ppm),
        hotspot: record::flag(wish, "hotspot"),
        slice: record::small(wish, "slice")?.unwrap_or(usual.slice),
        ..usual
    };
    Ok((request, warnings))
}

fn modifiers(texts: &[String]) -> Result<Vec<Modifier>, Thrown> {
    let read = |text: &String| {
        Modifier::parse(text).map_err(|fault| wrong("adducts", format!("{text:?}: {fault}")))
    };
    texts.iter().map(read).collect()
}

/// The charge, and what contradicts it.
fn charge(wish: &JsValue, adducts: &[String]) -> Result<(i8, Vec<String>), Thrown> {
    let asked = match record::float(wish, "charge")? {
        None => None,
        Some(1.0) => Some(1),
        Some(-1.0) => Some(-1),
        Some(other) => return Err(wrong("charge", format!("{other} is neither 1 nor -1"))),
    };
    let store = record::text(wish, "store")?;
    let stated = record::text(wish, "polarity")?.unwrap_or_default();
    let name = store.as_deref().unwrap_or_default();
    let chosen = polarity::choose(name, &stated, asked, adducts);
    // Without a store there is nothing that could be contradicted.
    let warnings = store.map(|_| chosen.warnings).unwrap_or_default();
    Ok((chosen.charge, warnings))
}

fn wrong(name: &'static str, what: String) -> Thrown {
    thrown(Error::Parameter { name, what })
}
