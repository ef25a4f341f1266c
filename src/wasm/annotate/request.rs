//! What decides a result, from a plain object.

use wasm_bindgen::prelude::*;

use crate::error::Error;
use crate::ion::annotate::Request;
use crate::ion::formula::modifier::Modifier;
use crate::ion::isotope::{Analyzer, Instrument};
use crate::wasm::record;
use crate::wasm::{Thrown, thrown};

/// The resolving power at m/z 200 where none is stated.
const RESOLVING_POWER: f64 = 140_000.0;

/// A request from `{adducts, decoys, scoring, analyzer, resolving_power, ppm, hotspot, charge, slice, polarity}`;
/// `polarity` is the store's, for where neither `charge` nor an adduct tells it.
pub(super) fn read_request(wish: &JsValue) -> Result<Request, Thrown> {
    let targets = adducts(wish)?;
    let analyzer = match record::text(wish, "analyzer")? {
        Some(name) => name.parse().map_err(thrown)?,
        None => Analyzer::default(),
    };
    let power = record::float(wish, "resolving_power")?.unwrap_or(RESOLVING_POWER);
    let instrument = Instrument::new(analyzer, power).map_err(thrown)?;
    let charge = charge(wish, &targets)?;
    let usual = Request::new(targets, instrument, charge);
    let decoys = match record::small(wish, "decoys")? {
        Some(decoys) => u8::try_from(decoys).map_err(|_| {
            wrong(
                "decoys",
                format!("{decoys} for each target are more than there are"),
            )
        })?,
        None => usual.decoys,
    };
    let scoring = match record::text(wish, "scoring")? {
        Some(name) => name.parse().map_err(thrown)?,
        None => usual.scoring,
    };
    Ok(Request {
        decoys,
        scoring,
        ppm: record::float(wish, "ppm")?.unwrap_or(usual.ppm),
        hotspot: record::flag(wish, "hotspot"),
        slice: record::small(wish, "slice")?.unwrap_or(usual.slice),
        ..usual
    })
}

fn adducts(wish: &JsValue) -> Result<Vec<Modifier>, Thrown> {
    let texts = record::texts(wish, "adducts")?.unwrap_or_default();
    let read = |text: &String| {
        Modifier::parse(text).map_err(|fault| wrong("adducts", format!("{text:?}: {fault}")))
    };
    texts.iter().map(read).collect()
}

/// As stated; else as an adduct says; else as the store says; else positive.
fn charge(wish: &JsValue, targets: &[Modifier]) -> Result<i8, Thrown> {
    match record::float(wish, "charge")? {
        Some(1.0) => return Ok(1),
        Some(-1.0) => return Ok(-1),
        Some(other) => return Err(wrong("charge", format!("{other} is neither 1 nor -1"))),
        None => {}
    }
    if let Some(stated) = targets.iter().find_map(Modifier::charge) {
        return Ok(stated);
    }
    let polarity = record::text(wish, "polarity")?.unwrap_or_default();
    Ok(if polarity == "negative" { -1 } else { 1 })
}

fn wrong(name: &'static str, what: String) -> Thrown {
    thrown(Error::Parameter { name, what })
}
