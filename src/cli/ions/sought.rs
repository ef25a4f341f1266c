//! Which m/z `ion` draws: those that were typed, and those of a formula's isotope peaks.

use sectile::ion::annotate::polarity;
use sectile::ion::formula::Composition;
use sectile::ion::formula::modifier::Modifier;
use sectile::ion::isotope::{Generation, Patterns};
use sectile::ion::window::Window;
use sectile::store::head::Head;
use serde_json::json;

use super::{instrument, typed};
use crate::cli::arguments::{Drawing, Mass, Polarity};
use crate::cli::failure::{Failure, Result};
use crate::cli::report::Report;

/// The m/z to draw, in order.
#[derive(Debug)]
pub struct Sought {
    pub masses: Vec<Mass>,
    pub windows: Vec<Window>,
    /// The ion that they are of, where it was given by its formula.
    pub ion: Option<String>,
}

/// Refuses a formula or an adduct that cannot be read.
pub fn check(drawing: &Drawing) -> Result<()> {
    parsed(drawing).map(|_| ())
}

fn parsed(drawing: &Drawing) -> Result<Option<(Composition, Option<Modifier>)>> {
    let Some(text) = &drawing.formula else {
        return Ok(None);
    };
    let formula = typed::formula(text)?;
    if let Some(name) = &drawing.resolving.analyzer {
        instrument::analyzer(name)?;
    }
    let adduct = drawing.adduct.as_ref();
    let adduct = adduct.map(|text| typed::modifier("--adduct", text));
    Ok(Some((formula, adduct.transpose()?)))
}

/// Settles the m/z for a store.
pub fn settle(drawing: &Drawing, head: &Head, report: &Report) -> Result<Sought> {
    let mut masses = drawing.mz.clone();
    let mut ion = None;
    if let Some((formula, adduct)) = parsed(drawing)? {
        let (name, peaks) = peaks(drawing, &formula, adduct, head, report)?;
        masses.extend(peaks);
        ion = Some(name);
    }
    let tolerance = drawing.tolerance();
    let windows = masses.iter().map(|mass| tolerance.around(mass.value));
    Ok(Sought {
        windows: windows.collect::<sectile::error::Result<_>>()?,
        masses,
        ion,
    })
}

/// The ion's name, and the m/z of the isotope peaks that are asked for.
fn peaks(
    drawing: &Drawing,
    formula: &Composition,
    adduct: Option<Modifier>,
    head: &Head,
    report: &Report,
) -> Result<(String, Vec<Mass>)> {
    let given: Vec<&str> = drawing.adduct.iter().map(String::as_str).collect();
    let asked = drawing.polarity.map(Polarity::charge);
    let charge = polarity::choose(&head.file, &head.meta.polarity, asked, &given);
    for warning in &charge.warnings {
        report.warn(warning);
    }
    let usual = polarity::usual(charge.charge)[0];
    let adduct = match adduct {
        Some(adduct) => adduct,
        None => {
            Modifier::parse(usual).map_err(|fault| Failure::failed(format!("{usual}: {fault}")))?
        }
    };
    let name = format!("{formula}{adduct}");
    let refused = |what: &str| Failure::input("parameter", format!("{name}: {what}"));
    if adduct.charge().is_some_and(|own| own != charge.charge) {
        return Err(refused(&format!(
            "its charge is not that of {} ions; leave out --polarity",
            polarity::name(charge.charge)
        )));
    }
    let whole = adduct.apply(formula).ok_or_else(|| {
        refused("the adduct takes away more than there is; choose another adduct")
    })?;
    let chosen = instrument::choose(&drawing.resolving, head.meta.instrument.as_deref())?;
    let mut patterns = Patterns::new(chosen.instrument, Generation::Current, charge.charge)?;
    let pattern = patterns.pattern(&whole)?;
    let there = usize::from(pattern.peaks);
    let asked = drawing.isotope.peaks();
    let asked = asked.start..asked.end.min(there);
    if asked.is_empty() {
        return Err(refused(&format!(
            "has {there} isotope peaks at this resolving power; choose --isotope 0 to {}",
            there.saturating_sub(1)
        )));
    }
    let mut fields = chosen.origins();
    fields["ion"] = json!(name);
    fields["adduct"] = json!(adduct.to_string());
    fields["charge"] = json!(charge.charge);
    fields["charge_from"] = json!(charge.from);
    fields["analyzer"] = json!(chosen.instrument.analyzer().name());
    fields["resolving_power"] = json!(chosen.power);
    fields["mz"] = json!(pattern.mz[..there]);
    fields["theory"] = json!(pattern.intensity[..there]);
    report.event("pattern", fields);
    report.detail(
        1,
        &format!(
            "{name} for {}, {} ions",
            chosen.sentence(),
            polarity::name(charge.charge)
        ),
    );
    let masses = pattern.mz[asked].iter().map(|mz| Mass {
        text: format!("{mz:.5}"),
        value: *mz,
    });
    Ok((name, masses.collect()))
}
