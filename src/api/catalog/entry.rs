//! One dataset of the document.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::source;
use super::url::Origin;
use super::{Dataset, IonsEntry, Kind, MaskEntry, SourceEntry, StackEntry, Token};
use crate::api::route::is_name;
use crate::fits::hdu::Selection;
use crate::ion::isotope::{Analyzer, Instrument};
use crate::stack::mask::Meaning;
use crate::stack::median::MOST_EXPOSURES;

/// The name of the list that comes with the program.
pub const BUILT_IN: &str = "core";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stack {
    #[serde(rename = "type")]
    _kind: String,
    title: Option<String>,
    token: Option<String>,
    #[serde(default)]
    jobs: bool,
    exposures: Vec<Value>,
    hdu: Option<Value>,
    #[serde(default)]
    plane: u64,
    mask: Option<Value>,
    #[serde(default)]
    ignore_wcs: bool,
    #[serde(default)]
    ignore_units: bool,
    pyramid: Option<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Mask {
    hdu: Value,
    #[serde(default)]
    bits: Meaning,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ions {
    #[serde(rename = "type")]
    _kind: String,
    title: Option<String>,
    token: Option<String>,
    #[serde(default)]
    jobs: bool,
    store: Value,
    analyzer: Option<String>,
    resolving_power: Option<f64>,
    #[serde(default)]
    molecules: Map<String, Value>,
}

/// Reads a dataset; the error says what is wrong with it, naming the member.
pub(super) fn read(name: &str, value: &Value, origins: &[Origin]) -> Result<Dataset, String> {
    match value.get("type").and_then(Value::as_str) {
        Some("stack") => stack(name, members(value)?, origins),
        Some("ions") => ions(name, members(value)?, origins),
        Some(other) => Err(format!("`type` {other:?} is neither stack nor ions")),
        None => Err("`type` is missing; write stack or ions".to_owned()),
    }
}

/// Reads an object; the error names the member that is wrong.
pub(super) fn members<T: DeserializeOwned>(value: &Value) -> Result<T, String> {
    let Some(all) = value.as_object() else {
        return Err("it is no object".to_owned());
    };
    T::deserialize(value).map_err(|error| {
        // The derived reader does not say where it was: each member alone does.
        let guilty = all.iter().find_map(|(name, member)| {
            let alone = Map::from_iter([(name.clone(), member.clone())]);
            let error = T::deserialize(Value::Object(alone)).err()?.to_string();
            (!error.contains(" field `")).then(|| format!("`{name}`: {error}"))
        });
        guilty.unwrap_or_else(|| error.to_string())
    })
}
fn stack(name: &str, stack: Stack, origins: &[Origin]) -> Result<Dataset, String> {
    if stack.exposures.is_empty() || stack.exposures.len() > MOST_EXPOSURES {
        return Err(format!(
            "`exposures` holds {}; a stack has 1 to {MOST_EXPOSURES}",
            stack.exposures.len()
        ));
    }
    let numbered = stack.exposures.iter().enumerate();
    let exposures = numbered.map(|(at, value)| {
        source::read(value, origins).map_err(|why| format!("exposure {}: {why}", at + 1))
    });
    let mask = stack.mask.map(|mask| {
        let mask: Mask = members(&mask).map_err(|why| format!("`mask`: {why}"))?;
        let hdu = hdu("mask.hdu", &mask.hdu)?;
        Ok::<_, String>(MaskEntry {
            hdu,
            bits: mask.bits,
        })
    });
    let kind = Kind::Stack(StackEntry {
        exposures: exposures.collect::<Result<_, _>>()?,
        hdu: stack
            .hdu
            .map_or(Ok(Selection::Default), |value| hdu("hdu", &value))?,
        plane: stack.plane,
        mask: mask.transpose()?,
        ignore_wcs: stack.ignore_wcs,
        ignore_units: stack.ignore_units,
        pyramid: plain("pyramid", stack.pyramid.as_ref(), origins)?,
    });
    dataset(name, stack.title, stack.token, stack.jobs, kind)
}

fn ions(name: &str, ions: Ions, origins: &[Origin]) -> Result<Dataset, String> {
    let store = plain("store", Some(&ions.store), origins)?.ok_or("`store` is missing")?;
    let analyzer = ions.analyzer.map(|name| {
        Analyzer::of_instrument(&name)
            .ok_or_else(|| format!("`analyzer` {name:?} names none of tof, orbitrap, fticr"))
    });
    let analyzer = analyzer.transpose()?;
    if let Some(power) = ions.resolving_power
        && (!(1000.0..=1e8).contains(&power)
            || Instrument::new(analyzer.unwrap_or_default(), power).is_err())
    {
        return Err(format!(
            "`resolving_power` {power} is not from 1000 to 100000000"
        ));
    }
    let mut molecules = Vec::new();
    for (list, value) in &ions.molecules {
        if !is_name(list) || list == BUILT_IN {
            return Err(format!(
                "`molecules`: {list:?} is no name of a list: small letters, digits, . _ -, and not {BUILT_IN}, which is built in"
            ));
        }
        let file = plain(list, Some(value), origins)?.ok_or("a list is missing")?;
        molecules.push((list.clone(), file));
    }
    let kind = Kind::Ions(IonsEntry {
        store,
        analyzer,
        resolving_power: ions.resolving_power,
        molecules,
    });
    dataset(name, ions.title, ions.token, ions.jobs, kind)
}

/// A file that is no exposure.
fn plain(
    member: &str,
    value: Option<&Value>,
    origins: &[Origin],
) -> Result<Option<SourceEntry>, String> {
    let Some(value) = value else { return Ok(None) };
    let file = source::read(value, origins).map_err(|why| format!("`{member}`: {why}"))?;
    if file.image.is_some() {
        return Err(format!("`{member}`: `image` is for exposures"));
    }
    Ok(Some(file))
}

/// An HDU's name, name and version, or index, as a text or a number.
fn hdu(member: &str, value: &Value) -> Result<Selection, String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_u64() => number.to_string(),
        _ => return Err(format!("`{member}` is neither a text nor an index")),
    };
    text.parse()
        .map_err(|error: crate::error::Error| format!("`{member}`: {error}"))
}

fn dataset(
    name: &str,
    title: Option<String>,
    token: Option<String>,
    jobs: bool,
    kind: Kind,
) -> Result<Dataset, String> {
    if title
        .as_ref()
        .is_some_and(|title| title.len() > 1024 || title.chars().any(char::is_control))
    {
        return Err("`title` has more than 1024 bytes, or control characters".to_owned());
    }
    let token = token.map(|text| {
        Token::new(&text)
            .ok_or("`token` is not 1 to 512 letters, digits and -._~+/, with = at the end at most")
    });
    Ok(Dataset {
        name: name.to_owned(),
        title,
        kind,
        token: token.transpose()?,
        jobs,
    })
}
