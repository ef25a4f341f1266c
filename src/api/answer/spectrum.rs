//! Spectra as documents: a pixel through the exposures of a stack, or through the m/z of a store.

use std::fmt::Write as _;

use super::number::{LONGEST, put, put_list, put_text};
use super::samples::Found;
use crate::api::reply::{JSON, Reply};
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::ion::spectrum::Spectrum;
use crate::stack::exposure::Stack;
use crate::store::BinTable;
use crate::store::head::Head;

/// Bytes of a document besides its lists.
const FRONT: u64 = 1 << 10;

/// Most bytes of the document of a pixel in so many exposures.
pub(super) fn samples_bytes(exposures: usize) -> u64 {
    FRONT + LONGEST * exposures as u64
}

/// Most bytes of the document of so many bins.
pub(super) fn mean_bytes(bins: u64) -> u64 {
    FRONT + 3 * LONGEST * bins
}

/// A document in the making, for which all room was taken at once.
fn text(most: u64, budget: &mut Budget) -> Result<String> {
    budget.reserve(most, "the document")?;
    let refused = || Error::Budget {
        need: most,
        have: budget.limit(),
        what: "the document".to_owned(),
    };
    let room = usize::try_from(most).map_err(|_| refused())?;
    let mut text = String::new();
    text.try_reserve_exact(room).map_err(|_| refused())?;
    Ok(text)
}

/// The document of a pixel of a stack: the value of every exposure, their median and scatter, how many there are.
pub(super) fn of_stack(
    found: &Found,
    stack: &Stack,
    (x, y): (u32, u32),
    budget: &mut Budget,
) -> Result<Reply> {
    let mut text = text(samples_bytes(found.values.len()), budget)?;
    let _ = write!(
        text,
        "{{\"x\":{x},\"y\":{y},\"count\":{},\"median\":",
        found.count
    );
    put(found.median, &mut text);
    text.push_str(",\"rms\":");
    put(found.rms, &mut text);
    put_unit(stack.unit.as_deref(), &mut text);
    put_sky(stack, (x, y), &mut text);
    text.push(',');
    put_list("values", found.values.iter().copied(), &mut text);
    Ok(close(text))
}

/// The document of a pixel of a store: every peak, by m/z.
pub(super) fn of_pixel(
    spectrum: &Spectrum<'_>,
    (x, y): (u32, u32),
    budget: &mut Budget,
) -> Result<Reply> {
    let peaks = spectrum.mz.len() as u64;
    let mut text = text(FRONT + 2 * LONGEST * peaks, budget)?;
    let acquired = spectrum.pixels > 0;
    let _ = write!(text, "{{\"x\":{x},\"y\":{y},\"acquired\":{acquired},");
    put_list("mz", spectrum.mz.iter().copied(), &mut text);
    text.push(',');
    put_list("intensity", spectrum.intensity.iter().copied(), &mut text);
    Ok(close(text))
}

/// The document of a store's table of bins: of those that have peaks m/z, mean and maximum.
pub(super) fn of_bins(head: &Head, bytes: &[u8], budget: &mut Budget) -> Result<Reply> {
    let table = BinTable::parse(head, bytes, budget)?;
    let bins = &head.layout.bins;
    let mut text = text(mean_bytes(table.filled(bins).count() as u64), budget)?;
    let _ = write!(text, "{{\"bin_ppm\":");
    put(bins.ppm, &mut text);
    text.push(',');
    put_list("mz", table.filled(bins).map(|(mz, ..)| mz), &mut text);
    text.push(',');
    let mean = table.filled(bins).map(|(_, mean, _)| f64::from(mean));
    put_list("mean", mean, &mut text);
    text.push(',');
    let max = table.filled(bins).map(|(.., max)| f64::from(max));
    put_list("max", max, &mut text);
    Ok(close(text))
}

/// Appends the unit of values.
pub(super) fn put_unit(unit: Option<&str>, text: &mut String) {
    text.push_str(",\"unit\":");
    match unit {
        Some(unit) => put_text(unit, text),
        None => text.push_str("null"),
    }
}

/// Appends longitude and latitude of a pixel, in degrees, where its header says them.
pub(super) fn put_sky(stack: &Stack, (x, y): (u32, u32), text: &mut String) {
    let sky = stack.wcs.as_ref();
    let Some(sky) = sky.and_then(|wcs| wcs.pixel_to_sky(f64::from(x), f64::from(y))) else {
        return;
    };
    text.push(',');
    put_list("sky", sky.into_iter(), text);
}

/// The reply of a document that lacks its last brace.
pub(super) fn close(mut text: String) -> Reply {
    text.push_str("}\n");
    Reply::new(200, JSON, text.into_bytes())
}
