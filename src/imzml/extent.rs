//! Whether an `.ibd` is the one that an index speaks of, and whether all arrays lie inside it.

use crate::error::{Error, Result};
use crate::imzml::dataset::{Array, Dataset, Partner, Spectrum};
use crate::imzml::value;

/// Bytes of the UUID that an `.ibd` begins with.
pub const UUID: u64 = 16;

/// See [`Dataset::settle`].
pub(super) fn settle(dataset: &mut Dataset, ibd: &str, size: u64, first16: &[u8]) -> Result<()> {
    dataset.ibd = Some(Partner {
        name: ibd.to_owned(),
        bytes: size,
    });
    let format = |at: u64, what: String| Error::Format {
        file: ibd.to_owned(),
        at,
        what,
    };
    let Some(found) = first16.first_chunk::<16>().filter(|_| size >= UUID) else {
        let what = format!(
            "the ibd has {size} bytes, too few for the UUID that it begins with; copy it again"
        );
        return Err(format(size, what));
    };
    match dataset.uuid {
        Some(stated) if stated != *found => dataset.warnings.push(format!(
            "the imzML states the UUID {}, but the ibd begins with {}: perhaps they are no pair; \
             what lies inside the ibd is read",
            hyphenated(&stated),
            hyphenated(found)
        )),
        _ => {}
    }
    let end = |spectrum: &Spectrum| spectrum.mz().end().max(spectrum.intensity().end());
    let outside = |spectrum: &Spectrum| end(spectrum) > size;
    if let Some(index) = dataset.spectra.iter().position(outside) {
        let Spectrum { x, y, .. } = dataset.spectra[index];
        let need = dataset.spectra.iter().map(end).max().unwrap_or(0);
        let bad = dataset.spectra.iter().filter(|s| outside(s)).count();
        let what = format!(
            "the ibd has {size} bytes, but the index of {} needs {need}: spectrum {index} (x={x} \
             y={y}) is the first of {bad} that do not lie inside; the file is cut short or belongs \
             to another imzML: copy it again",
            dataset.file
        );
        return Err(format(size, what));
    }
    let early = |s: &&Spectrum| {
        let begins = |array: Array| array.len > 0 && array.at < UUID;
        begins(s.mz()) || begins(s.intensity())
    };
    let early = dataset.spectra.iter().filter(early).count();
    if early > 0 {
        dataset.warnings.push(format!(
            "arrays of {early} spectra begin within the first {UUID} bytes of the ibd, where its \
             UUID should be"
        ));
    }
    Ok(())
}

/// A UUID as the imzML specification writes it: lower-case, with hyphens.
#[must_use]
pub fn hyphenated(uuid: &[u8; 16]) -> String {
    let digits = value::digits(uuid);
    let part = |from: usize, to: usize| digits.get(from..to).unwrap_or_default();
    [
        part(0, 8),
        part(8, 12),
        part(12, 16),
        part(16, 20),
        part(20, 32),
    ]
    .join("-")
}
