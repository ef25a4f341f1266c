//! From what was read to a dataset, and what its user should know.

use crate::error::{Error, Result};
use crate::imzml::dataset::{Dataset, Grid, Mode, Polarity, Representation};
use crate::imzml::described::{SettingsTerms, Size};
use crate::imzml::document::Read;
use crate::imzml::index::Index;
use crate::imzml::term::Unit;

/// Makes a dataset of what was read; `at` is the end of the XML.
pub(super) fn dataset(mut read: Read, at: u64) -> Result<Dataset> {
    let format = |what: String| Error::Format {
        file: read.file.clone(),
        at,
        what,
    };
    if read.spectra.index.spectra.is_empty() {
        let what = "there is no spectrum in it, so there is no image";
        return Err(format(what.to_owned()));
    }
    let grid = read.spectra.index.grid()?.map_err(format)?;
    let duplicates = read.spectra.index.duplicates(&grid)?;
    let mut warnings = Vec::new();
    let polarity = read.terms.spectrum.polarity.unwrap_or_default();
    let representation = read.terms.spectrum.representation.unwrap_or_default();
    read.spectra.index.inherit(polarity, representation);
    let pixel_size = pixel_size(&read.settings, &mut warnings);
    grid_warnings(&read, &grid, &mut warnings);
    if duplicates > 0 {
        warnings.push(format!(
            "{duplicates} {} more than one spectrum: their intensities are summed",
            plural(duplicates, "position has", "positions have")
        ));
    }
    repair_warnings(&read, &mut warnings);
    let representation = representation_of(&read.spectra.index, &mut warnings);
    let (uuid, wrong_uuid) = read.terms.uuid();
    let (checksum, wrong_checksum) = read.terms.checksum();
    warnings.extend(wrong_uuid);
    warnings.extend(wrong_checksum);
    let mut dataset = Dataset {
        file: read.file,
        ibd: None,
        polarity: polarity_of(&read.spectra.index),
        representation,
        spectra: read.spectra.index.spectra,
        grid,
        pixel_size,
        mode: read.terms.mode,
        uuid,
        checksum,
        instrument: read.model,
        duplicates,
        warnings,
    };
    if dataset.mode == Some(Mode::Continuous) && dataset.spectra.len() > 1 && !shares(&dataset) {
        let what = "the file says \"continuous\", but its spectra have m/z arrays of their own, \
                    which are used";
        dataset.warnings.push(what.to_owned());
    }
    Ok(dataset)
}

/// Whether there is one m/z array or none.
fn shares(dataset: &Dataset) -> bool {
    dataset.shares_mz() || dataset.spectra.iter().all(|s| s.mz().len == 0)
}

fn plural(count: u64, one: &'static str, many: &'static str) -> &'static str {
    if count == 1 { one } else { many }
}

/// Sizes in µm. A y that is not given is as x: in imzML 1.1.1 pixels are squares unless it is.
fn pixel_size(settings: &SettingsTerms, warnings: &mut Vec<String>) -> [Option<f64>; 2] {
    let [x, y] = &settings.sizes;
    let Some(x) = x else {
        warnings.push("the file gives no pixel size, so it is unknown".to_owned());
        return [None; 2];
    };
    let along_x = micrometers("x", x, warnings);
    let along_y = match y {
        Some(y) if y.text.is_empty() => along_x,
        Some(y) => micrometers("y", y, warnings),
        None => along_x,
    };
    [along_x, along_y]
}

fn micrometers(axis: &str, size: &Size, warnings: &mut Vec<String>) -> Option<f64> {
    let text = &size.text;
    let value = text.parse::<f64>().ok();
    let value = value.filter(|value| value.is_finite() && *value > 0.0);
    let why = match (value, size.unit) {
        (Some(value), Unit::Length(factor)) => {
            let size = value * factor;
            if size.is_finite() && size > 0.0 {
                return Some(size);
            }
            "is no size"
        }
        (None, _) => "is no size",
        (_, Unit::Absent) => "has no unit",
        (_, Unit::Other) => "has a unit that is no length known here",
    };
    warnings.push(format!(
        "the pixel size along {axis}, \"{text}\", {why}, so it is unknown"
    ));
    None
}

fn grid_warnings(read: &Read, grid: &Grid, warnings: &mut Vec<String>) {
    if grid.x0 < 1 || grid.y0 < 1 {
        warnings.push(format!(
            "positions begin at x={} y={}, though imzML counts from 1: the smallest x and y are the \
             first column and row",
            grid.x0, grid.y0
        ));
    }
    let ends = read.spectra.index.ends().end;
    for (axis, name) in ["x", "y"].into_iter().enumerate() {
        let span = i64::from([grid.width, grid.height][axis]);
        let Some(declared) = read.settings.counts[axis] else {
            continue;
        };
        if declared != span && declared != i64::from(ends[axis]) {
            warnings.push(format!(
                "the file declares {declared} pixels along {name}, but its positions span {span} \
                 (up to {name}={}): the positions count",
                ends[axis]
            ));
        }
    }
}

fn repair_warnings(read: &Read, warnings: &mut Vec<String>) {
    let repairs = &read.spectra.repairs;
    let mut warn = |count: u64, what: &str| {
        if count > 0 {
            let arrays = plural(count, "array", "arrays");
            warnings.push(format!("{what} ({count} {arrays})"));
        }
    };
    warn(
        repairs.split_types,
        "the name and the accession of a data type differ: the encoded length decides between them, \
         or else the name",
    );
    warn(
        repairs.missing_types,
        "no data type is given: the encoded length shows how wide the numbers are, taken as floats",
    );
    warn(
        repairs.lengths,
        "no external encoded length (IMS:1000104) is given: it follows from the number of values",
    );
    warn(
        repairs.counts,
        "no external array length (IMS:1000103) is given: it follows from the encoded length or the \
         spectrum's default",
    );
    warn(
        repairs.offsets,
        "offsets ran over 32 bits: 2^32 is added for each time they turned negative",
    );
    warn(
        read.spectra.surplus,
        "a spectrum has more than one array of m/z or of intensities: the first counts",
    );
    if read.dangling > 0 {
        warnings.push(format!(
            "{} {} to groups of terms that are not there, the first to {:?}",
            read.dangling,
            plural(read.dangling, "reference", "references"),
            read.dangling_first
        ));
    }
    let count = read.spectra.index.spectra.len() as u64;
    if let Some(announced) = read.announced
        && announced != count
    {
        warnings.push(format!(
            "the file announces {announced} spectra, but has {count}"
        ));
    }
}

fn polarity_of(index: &Index) -> Polarity {
    match (index.positive > 0, index.negative > 0) {
        (true, true) => Polarity::Mixed,
        (true, false) => Polarity::Positive,
        (false, true) => Polarity::Negative,
        (false, false) => Polarity::Unknown,
    }
}

fn representation_of(index: &Index, warnings: &mut Vec<String>) -> Representation {
    let (centroid, profile) = (index.centroid, index.profile);
    match (centroid > 0, profile > 0) {
        (true, false) => Representation::Centroid,
        (false, true) => Representation::Profile,
        (true, true) => {
            warnings.push(format!(
                "{centroid} spectra are centroid and {profile} are profile; they are treated alike"
            ));
            Representation::Unknown
        }
        (false, false) => {
            let what = "the file does not say whether its spectra are centroid (MS:1000127) or \
                        profile (MS:1000128)";
            warnings.push(what.to_owned());
            Representation::Unknown
        }
    }
}
